#include "files/path_list.h"

#include <sys/stat.h>

#include "files/file.h"

void saddle_path_list_add(saddle_path_list *list, const char *what, const char *path)
{
    if (path == NULL || *path == '\0')
        return;
    saddle_path_entry *grown =
        saddle_grow(list->entry, list->count, &list->capacity, sizeof *grown);
    char *copy = saddle_format("%s%c%s", path, '\0', what);
    if (grown != NULL)
        list->entry = grown;
    if (grown == NULL || copy == NULL) {
        saddle_free(copy);
        list->short_of_memory = true;
        return;
    }
    list->entry[list->count++] = (saddle_path_entry){.path = copy, .what = copy + strlen(copy) + 1};
}

void saddle_path_list_add_rule(saddle_path_list *list, const char *what, const char *text)
{
    static const char *const prefix[] = {"file:", "schedule:", "replay:"};
    for (const char *at = text; *at != '\0'; at++)
        for (size_t k = 0; k < sizeof prefix / sizeof *prefix; k++) {
            const char *path = at + strlen(prefix[k]);
            if (strncmp(at, prefix[k], strlen(prefix[k])) != 0 ||
                (at > text && at[-1] != ',' && at[-1] != ':'))
                continue;
            saddle_path_list_add(list, what, path);
            SADDLE_OWNED char *item = saddle_format("%.*s", (int)strcspn(path, ","), path);
            list->short_of_memory = list->short_of_memory || item == NULL;
            if (strchr(path, ',') != NULL)
                saddle_path_list_add(list, what, item);
        }
}

void saddle_path_list_release(saddle_path_list *list)
{
    for (size_t k = 0; k < list->count; k++)
        saddle_free(list->entry[k].path);
    saddle_free(list->entry);
    memset(list, 0, sizeof *list);
}

/* ---- identity of files ----------------------------------------------------------------------- */

/* A file by its device and inode, or if it does not exist, by those of its directory and its name. */
typedef struct identity {
    uint64_t device;
    uint64_t inode;
    const char *name; /* "" if the file exists; borrowed from the path */
    const saddle_path_entry *entry;
    bool output;
} identity;

/* Returns false for a device or pipe, which cannot be overwritten. */
static bool identify(identity *out, const char *path)
{
    struct stat status;
    *out = (identity){.name = ""};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return false;
    if (stat(path, &status) != 0) {
        char parent[PATH_MAX] = ".";
        out->name = saddle_file_name(path);
        if (out->name != path)
            saddle_snprintf(parent, sizeof parent, "%.*s", (int)(out->name - path), path);
        if (stat(parent, &status) != 0) {
            out->name = path;
            return true;
        }
    }
    out->device = status.st_dev;
    out->inode = status.st_ino;
    return true;
}

static int compare(const identity *a, const identity *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool saddle_same_file(const char *a, const char *b)
{
    identity one;
    identity other;
    return identify(&one, a) && identify(&other, b) && compare(&one, &other) == 0;
}

/* ---- conflicts ------------------------------------------------------------------------------- */

/* Groups entries by file, outputs first, in their original order. */
static int by_file(const void *a, const void *b)
{
    const identity *one = a;
    const identity *other = b;
    int order = compare(one, other);
    if (order == 0 && one->output != other->output)
        return one->output ? -1 : 1;
    return order != 0 ? order : (one->entry > other->entry) - (one->entry < other->entry);
}

static size_t identify_all(identity *out, const saddle_path_list *list, bool output)
{
    size_t count = 0;
    for (size_t k = 0; k < list->count; k++)
        if (identify(&out[count], list->entry[k].path)) {
            out[count].entry = &list->entry[k];
            out[count++].output = output;
        }
    return count;
}

static saddle_status check(const saddle_path_list *outputs, const saddle_path_list *inputs,
                           saddle_error *error)
{
    SADDLE_OWNED identity *all = saddle_alloc(outputs->count + inputs->count, sizeof *all);
    if (all == NULL || outputs->short_of_memory || inputs->short_of_memory)
        return saddle_no_memory(error, "the paths of files");
    size_t count = identify_all(all, outputs, true);
    count += identify_all(all + count, inputs, false);
    qsort(all, count, sizeof *all, by_file);
    for (size_t k = 0; k + 1 < count; k++) {
        if (!all[k].output || compare(&all[k], &all[k + 1]) != 0)
            continue;
        /* Of two outputs, ask the user to change the later one. */
        const saddle_path_entry *one = all[k + all[k + 1].output].entry;
        const saddle_path_entry *other = all[k + !all[k + 1].output].entry;
        return saddle_refuse(
            error,
            "%s: '%.300s' is also the file of %s and would be overwritten; give another path",
            one->what, one->path, other->what);
    }
    return SADDLE_OK;
}

saddle_status saddle_path_lists_check(saddle_path_list *outputs, saddle_path_list *inputs,
                                      saddle_error *error)
{
    saddle_status status = check(outputs, inputs, error);
    saddle_path_list_release(outputs);
    saddle_path_list_release(inputs);
    return status;
}
