#include "files/pattern.h"

#include <dirent.h>
#include <unistd.h>

/* The largest N in %0Nd. */
#define MOST_WIDTH 9
/* Files with larger numbers are not part of a pattern. */
#define MOST_NUMBER UINT64_C(999999999999999)

bool saddle_is_pattern(const char *name)
{
    return strchr(name, '%') != NULL;
}

/* Returns the length of the %d or %0Nd at `at`, and its N in *width; 0 when there is none. */
static size_t read_place(const char *at, int *width)
{
    *width = 0;
    if (at[1] == 'd')
        return 2;
    if (at[1] != '0' || at[2] < '1' || at[2] > '0' + MOST_WIDTH || at[3] != 'd')
        return 0;
    *width = at[2] - '0';
    return 4;
}

saddle_status saddle_pattern_check(const char *pattern, saddle_error *error)
{
    int width;
    const char *place = pattern + strcspn(pattern, "%");
    if (*place != '\0' && read_place(place, &width) > 0 && strchr(place + 1, '%') == NULL)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "'%s' has a %% in it; use %%d or %%02d, once, for the number of an agent "
                         "from 0, as in part-%%d.libsvm",
                         pattern);
}

char *saddle_pattern_name(const char *pattern, size_t number)
{
    int width;
    const char *place = pattern + strcspn(pattern, "%");
    const char *rest = place + read_place(place, &width);
    return saddle_format("%.*s%0*zu%s", (int)(place - pattern), pattern, width, number, rest);
}

/* ---- existing files ---- */

saddle_status saddle_pattern_count(const char *pattern, size_t *out, saddle_error *error)
{
    const char *place = pattern + strcspn(pattern, "%");
    const char *before = place;
    while (before > pattern && before[-1] != '/')
        before--;
    size_t length = (size_t)(place - before);
    char *directory = before == pattern ? saddle_strdup(".")
                                        : saddle_format("%.*s", (int)(before - pattern), pattern);
    SADDLE_TRY(saddle_check_memory(directory, "a directory name", error));
    DIR *entries = opendir(directory);
    saddle_free(directory);
    struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        uint64_t number = 0;
        const char *digit = entry->d_name + length;
        if (strncmp(entry->d_name, before, length) != 0 ||
            !saddle_parse_integer_in(digit, strspn(digit, "0123456789"), &number) ||
            number < *out || number > MOST_NUMBER)
            continue;
        /* part-07 does not match part-%d. */
        SADDLE_OWNED char *name = saddle_pattern_name(pattern, (size_t)number);
        if (name != NULL && access(name, F_OK) == 0)
            *out = (size_t)number + 1;
    }
    if (entries != NULL)
        closedir(entries);
    return SADDLE_OK;
}

saddle_status saddle_no_first_file(const char *pattern, saddle_error *error)
{
    SADDLE_OWNED char *first = saddle_pattern_name(pattern, 0);
    SADDLE_TRY(saddle_check_memory(first, "a file name", error));
    saddle_refuse(error, "there is no file '%s'; files are numbered from 0", first);
    return SADDLE_BAD_INPUT;
}

saddle_status saddle_check_data_name(const char *path, saddle_error *error)
{
    static const char *const unwritten[] = {".gz", ".npy", ".idx"};
    const char *ending = strrchr(path, '.');
    if (saddle_is_pattern(path))
        return saddle_refuse(error,
                             "'%s' has a %% in it, which stands for several files where data are "
                             "read; give a name without it",
                             path);
    for (size_t k = 0; ending != NULL && k < sizeof unwritten / sizeof *unwritten; k++)
        if (strcmp(ending, unwritten[k]) == 0)
            return saddle_refuse(error,
                                 "'%s': %s files cannot be written; use a name that ends in .csv "
                                 "or .npz, or another ending for LIBSVM text",
                                 path, ending);
    return SADDLE_OK;
}
