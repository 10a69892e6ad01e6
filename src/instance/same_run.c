#include "instance/same_run.h"

#include <unistd.h>

#include "core/sha256.h"
#include "core/world.h"
#include "files/file.h"
#include "files/plugin.h"
#include "graph/link_model.h"

/* ---- differences ----------------------------------------------------------------------------- */

const char *saddle_plan_value(const void *plan, const saddle_option *option,
                              char buffer[SADDLE_VALUE_SIZE])
{
    return saddle_plan_text(plan, option, buffer);
}

/* Returns whether two texts of an option are the same number, such as 1e3 and 1000. */
static bool is_same_number(const saddle_option *option, const char *a, const char *b)
{
    double real[2];
    uint64_t whole[2];
    if (option->kind == SADDLE_OPTION_INTEGER && saddle_parse_integer(a, &whole[0]) &&
        saddle_parse_integer(b, &whole[1]))
        return whole[0] == whole[1];
    return (option->kind == SADDLE_OPTION_REAL || option->kind == SADDLE_OPTION_INTEGER) &&
           saddle_parse_real(a, &real[0]) && saddle_parse_real(b, &real[1]) && real[0] == real[1];
}

bool saddle_setting_differs(saddle_difference *d, const saddle_option *option)
{
    const char *a = d->here.value(d->here.source, option, d->buffer[0]);
    const char *b = d->there.value(d->there.source, option, d->buffer[1]);
    d->option = option;
    d->value_here = a;
    d->value_there = b;
    if (a == NULL || b == NULL || strcmp(a, b) == 0)
        return false;
    return !is_same_number(option, a, b);
}

bool saddle_next_difference(saddle_difference *d)
{
    while (d->next < saddle_plan_option_count(d->options)) {
        const saddle_option *option = saddle_plan_option(d->options, d->next++);
        if (!saddle_effect_in(option, d->may_differ) && saddle_setting_differs(d, option))
            return true;
    }
    return false;
}

/* ---- settings as texts ----------------------------------------------------------------------- */

static void write_sum(FILE *out, const char *before, const unsigned char *sum)
{
    fputs(before, out);
    for (size_t k = 0; k < 8; k++)
        saddle_fprintf(out, "%02x", sum[k]);
}

/* Writes a piece of a value, with the path of a plug-in replaced by its contents. */
static void write_piece(FILE *out, const char *text, size_t length)
{
    char piece[PATH_MAX];
    unsigned char sum[SADDLE_SHA256_BYTES];
    saddle_snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    if (length >= sizeof piece || !saddle_plugin_named(piece) || !saddle_plugin_sum(piece, sum)) {
        fwrite(text, 1, length, out);
        return;
    }
    write_sum(out, SADDLE_PLUGIN_VALUE, sum);
    fputs(piece + strcspn(piece, ":"), out);
}

bool saddle_recorded_plugin_is(const char *recorded, const char *text)
{
    SADDLE_MALLOCED char *value = NULL;
    size_t bytes = 0;
    FILE *out = saddle_plugin_named(text) ? open_memstream(&value, &bytes) : NULL;
    if (out == NULL)
        return false;
    write_piece(out, text, strcspn(text, ":"));
    bool same = fclose(out) == 0 &&
                strncmp(value, SADDLE_PLUGIN_VALUE, strlen(SADDLE_PLUGIN_VALUE)) == 0 &&
                strncmp(recorded, value, bytes) == 0;
    return same;
}

/* Writes the contents of a text file, or its path if it cannot be opened. */
static void write_file(FILE *out, const char *path)
{
    unsigned char sum[SADDLE_SHA256_BYTES];
    FILE *file = NULL;
    size_t bytes;
    saddle_status status =
        saddle_reading_open_regular(&file, path, "the path of a text file", &bytes, NULL);
    if (status == SADDLE_OK && saddle_sha256_file(fileno(file), bytes, sum))
        write_sum(out, SADDLE_FILE_VALUE, sum);
    else
        fputs(path, out);
    if (file != NULL)
        fclose(file);
}

static void write_value(FILE *out, const saddle_option *option, const char *text, bool files)
{
    bool churn = SADDLE_IS_FIELD(option, network.churn) && *text != '\0';
    if (files && (churn || (SADDLE_IS_FIELD(option, network.link_model) &&
                            saddle_link_model_is_file(text)))) {
        write_file(out, text);
        return;
    }
    if (option->files != SADDLE_FILES_CODE || strchr(text, '/') == NULL) {
        fputs(text, out);
        return;
    }
    /* A set of blocks, such as blocks:2*./mine.so,*none, can contain a plug-in. */
    for (size_t length; *text != '\0'; text += length) {
        length = strcspn(text, ",*");
        write_piece(out, text, length);
        if (text[length] != '\0')
            fputc(text[length++], out);
    }
}

/* Writes the value with which the run was given an option; nothing if it was not. */
static void write_given(FILE *out, const saddle_option *option, const saddle_plan *given)
{
    if (given != NULL && saddle_plan_in_memory(given, option))
        fputs("=" SADDLE_IN_MEMORY, out);
    else if (given != NULL && saddle_plan_given(given, option) &&
             !SADDLE_IS_FIELD(option, outputs.resume))
        saddle_fprintf(out, "=%s", SADDLE_PLAN_TEXT(given, option));
}

static const char *next_text(char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

saddle_setting *saddle_recorded_index(char **at, size_t count)
{
    saddle_setting *setting = saddle_alloc(count, sizeof *setting);
    for (size_t k = 0; setting != NULL && k < count; k++) {
        setting[k].name = next_text(at);
        setting[k].effective = next_text(at);
        const char *given = next_text(at);
        setting[k].given = *given == '=' ? given + 1 : NULL;
    }
    return setting;
}

saddle_status saddle_record_settings(saddle_recorded *out, const saddle_plan *plan,
                                     const saddle_plan *given, const saddle_plan *instance_given,
                                     bool files, saddle_error *error)
{
    *out = (saddle_recorded){.count = saddle_plan_option_count(plan)};
    FILE *f = open_memstream(&out->text, &out->bytes);
    SADDLE_TRY(saddle_check_memory(f, "the settings", error));
    for (size_t k = 0; k < out->count; k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        saddle_fprintf(f, "%s%c", option->name, '\0');
        write_value(f, option, SADDLE_PLAN_TEXT(plan, option), files);
        fputc('\0', f);
        write_given(f, option, option->stage == SADDLE_STAGE_INSTANCE ? instance_given : given);
        fputc('\0', f);
    }
    bool good = ferror(f) == 0;
    good = fclose(f) == 0 && good;
    char *at = out->text;
    if (good)
        out->setting = saddle_recorded_index(&at, out->count);
    return saddle_check_memory(out->setting, "the settings", error);
}

void saddle_recorded_free(saddle_recorded *recorded)
{
    saddle_free(recorded->setting);
    free(recorded->text);
    *recorded = (saddle_recorded){.count = 0};
}

const saddle_setting *saddle_recorded_find(const saddle_recorded *recorded, const char *name)
{
    for (size_t k = 0; k < recorded->count; k++)
        if (strcmp(recorded->setting[k].name, name) == 0)
            return &recorded->setting[k];
    return NULL;
}

const char *saddle_recorded_value(const void *recorded, const saddle_option *option,
                                  char buffer[SADDLE_VALUE_SIZE])
{
    const saddle_setting *setting = saddle_recorded_find(recorded, option->name);
    (void)buffer;
    return setting != NULL ? setting->effective : NULL;
}

/* ---- several processes ----------------------------------------------------------------------- */

/* Returns whether the value of an option for plug-ins names one, whose file may be missing here. */
static bool names_plugin(const char *value)
{
    return strstr(value, SADDLE_PLUGIN_VALUE) != NULL || strchr(value, '/') != NULL;
}

/* Refuses a setting that is not that of process 0, which runs on the host `first`. */
static saddle_status refuse_plan(const saddle_world *world, const saddle_plan *plan,
                                 const saddle_difference *d, const char *host, const char *first,
                                 saddle_error *error)
{
    if (d->option->files == SADDLE_FILES_CODE && names_plugin(d->value_here) &&
        names_plugin(d->value_there))
        return saddle_refuse(error,
                             "--%s: the plug-in '%.300s' of process %zu on %s is not the same file "
                             "as that of process 0 on %s; copy one file to all hosts",
                             d->option->name, SADDLE_PLAN_TEXT(plan, d->option), world->rank, host,
                             first);
    return saddle_refuse(error,
                         "--%s: process %zu has '%.200s', but process 0 has '%.200s'; give all "
                         "processes the same options and the same files",
                         d->option->name, world->rank, d->value_here, d->value_there);
}

/* The texts of a recorded setting: its name, its value, and what was given. */
enum { TEXTS = 3 };

/* Returns how many texts with their ends a block has. */
static size_t count_texts(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t k = 0; k < bytes; k++)
        count += text[k] == '\0';
    return count;
}

saddle_status saddle_compare_plans(const saddle_world *world, const saddle_plan *plan,
                                   saddle_error *error)
{
    saddle_recorded own = {.count = 0};
    saddle_recorded first = {.count = 0};
    char host[64] = "";
    char first_host[sizeof host] = "";
    if (world->ranks == 1)
        return SADDLE_OK;
    gethostname(host, sizeof host - 1);
    memcpy(first_host, host, sizeof host);
    world->share(world, 0, sizeof first_host, first_host);
    first_host[sizeof first_host - 1] = '\0';
    saddle_status status = saddle_record_settings(&own, plan, NULL, NULL, false, error);
    status = saddle_world_agree(world, status, error);
    first.count = own.count;
    world->share(world, 0, sizeof first.count, &first.count);
    void *text = world->rank == 0 ? own.text : NULL;
    first.bytes = own.bytes;
    SADDLE_THEN(status, saddle_world_copy(world, &text, &first.bytes, "the settings", error));
    /* A peer may say anything: there must be as many texts as are read. */
    if (status == SADDLE_OK &&
        (first.count != own.count || count_texts(text, first.bytes) != TEXTS * own.count))
        status = saddle_refuse(error, "process 0 has other options; give all processes the same "
                                      "build of saddle");
    if (status == SADDLE_OK && world->rank > 0) {
        char *at = text;
        first.setting = saddle_recorded_index(&at, first.count);
        status = saddle_check_memory(first.setting, "the settings", error);
    }
    saddle_difference d = {.options = plan,
                           .here = {&own, saddle_recorded_value},
                           .there = {&first, saddle_recorded_value}};
    /* The number of threads and pinning may differ between processes. */
    while (status == SADDLE_OK && world->rank > 0 && saddle_next_difference(&d))
        if (!SADDLE_IS_FIELD(d.option, engine.threads) && !SADDLE_IS_FIELD(d.option, engine.pin))
            status = refuse_plan(world, plan, &d, host, first_host, error);
    saddle_free(first.setting);
    if (world->rank > 0)
        saddle_free(text);
    saddle_recorded_free(&own);
    return status;
}
