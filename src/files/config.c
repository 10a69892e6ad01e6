#include "files/config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cyaml/cyaml.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"

/* Far above any list of options, and small enough to read in one go. */
#define MOST_BYTES ((size_t)1 << 20)
/* A name or a libcyaml message; longer ones are cut. */
#define WORD_SIZE 256

/* Where libcyaml puts the value of one name: a string, or an array of `count` strings. */
typedef struct slot {
    void *value;
    uint64_t count;
} slot;

struct saddle_config {
    const char *const *name; /* borrowed */
    size_t count;
    char *path;
    char *content; /* the file */
    size_t bytes;
    char **value; /* per name; NULL when not given */
};

/* What libcyaml said, from the several lines it logs for one error. */
typedef struct report {
    char message[WORD_SIZE]; /* the first line, without its "Load: " */
    char field[WORD_SIZE];   /* the name whose value it was reading, or "" */
    unsigned long line;      /* 0 when not said */
    unsigned long column;
} report;

static const cyaml_schema_value_t list_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

/* Read "(line: 3, column: 5)". */
static void read_place(report *said, const char *text)
{
    static const char line[] = "(line: ";
    static const char column[] = ", column: ";
    char *end = NULL;
    said->line = strtoul(text + sizeof line - 1, &end, 10);
    if (strncmp(end, column, sizeof column - 1) == 0)
        said->column = strtoul(end + sizeof column - 1, NULL, 10);
}

__attribute__((format(printf, 3, 0))) static void keep_report(cyaml_log_t level, void *context,
                                                              const char *format, va_list arguments)
{
    static const char prefix[] = "Load: ";
    report *said = context;
    char text[2 * WORD_SIZE];
    (void)level;
    vsnprintf(text, sizeof text, format, arguments);
    /* Names from the file may hold anything; a message is one line. */
    for (char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            *at = at[1] == '\0' ? '\0' : '?';
    const char *place = strstr(text, "(line: ");
    if (place != NULL) {
        /* The innermost place comes first; the rest of the backtrace leads outwards. */
        const char *field = strstr(text, "in mapping field '");
        if (said->line == 0)
            read_place(said, place);
        if (said->field[0] == '\0' && field != NULL)
            sscanf(field, "in mapping field '%255[^']'", said->field);
    } else if (said->message[0] == '\0' && strstr(text, "Backtrace") == NULL) {
        bool prefixed = strncmp(text, prefix, sizeof prefix - 1) == 0;
        snprintf(said->message, sizeof said->message, "%.*s", WORD_SIZE - 1,
                 prefixed ? text + sizeof prefix - 1 : text);
    }
}

static cyaml_config_t loader(report *said)
{
    memset(said, 0, sizeof *said);
    return (cyaml_config_t){.log_fn = keep_report,
                            .log_ctx = said,
                            .mem_fn = cyaml_mem,
                            .log_level = CYAML_LOG_WARNING,
                            .flags = CYAML_CFG_NO_ALIAS};
}

/* The schema of a mapping to `bytes` of slots; a document that holds nothing is allowed. */
static cyaml_schema_value_t mapping_of(const cyaml_schema_field_t *field, size_t bytes)
{
    return (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                  .flags = CYAML_FLAG_POINTER_NULL,
                                  .data_size = (uint32_t)bytes,
                                  .mapping = {.fields = field}};
}

/*
 * libcyaml reports the place of a bad value rightly but, for a bad name, the place before it. So
 * ask again with a schema that refuses whatever value this one name has and ignores all others.
 */
void saddle_config_place(const saddle_config *config, const char *name,
                         char place[SADDLE_PLACE_SIZE])
{
    const cyaml_schema_field_t field[] = {
        {.key = name,
         .value = {.type = CYAML_ENUM, .flags = CYAML_FLAG_STRICT, .data_size = sizeof(int)}},
        {.key = NULL}};
    cyaml_schema_value_t schema = mapping_of(field, sizeof(int));
    report said;
    cyaml_config_t settings = loader(&said);
    settings.flags = CYAML_CFG_IGNORE_UNKNOWN_KEYS;
    cyaml_data_t *data = NULL;
    cyaml_err_t status = cyaml_load_data((const uint8_t *)config->content, config->bytes, &settings,
                                         &schema, &data, NULL);
    if (status != CYAML_OK && said.line > 0 && strcmp(said.field, name) == 0)
        snprintf(place, SADDLE_PLACE_SIZE, "%s:%lu:%lu", config->path, said.line, said.column);
    else
        snprintf(place, SADDLE_PLACE_SIZE, "%s", config->path);
    if (data != NULL)
        cyaml_free(&settings, &schema, data, 0);
}

static saddle_status refuse_unknown(const saddle_config *config, const char *name,
                                    saddle_error *error)
{
    char place[SADDLE_PLACE_SIZE];
    saddle_config_place(config, name, place);
    const char *near = saddle_closest(name, config->name, config->count);
    if (near == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: unknown option '%s'; --help lists the options", place, name);
    return saddle_fail(error, SADDLE_BAD_INPUT, "%s: unknown option '%s'; did you mean '%s'?",
                       place, name, near);
}

static saddle_status refuse_syntax(const saddle_config *config, const report *said,
                                   saddle_error *error)
{
    static const char prefix[] = "libyaml: ";
    const char *why = said->message;
    if (strncmp(why, prefix, sizeof prefix - 1) == 0)
        why += sizeof prefix - 1;
    if (said->line == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: not YAML: %s; write lines of the form 'name: value'", config->path,
                           why);
    return saddle_fail(
        error, SADDLE_BAD_INPUT,
        "%s:%lu:%lu: not YAML from here on: %s; write lines of the form 'name: value'",
        config->path, said->line, said->column, why);
}

/* One line for what libcyaml said in several. */
static saddle_status refuse(const saddle_config *config, cyaml_err_t status, const report *said,
                            saddle_error *error)
{
    char name[WORD_SIZE];
    char place[SADDLE_PLACE_SIZE];
    if (status == CYAML_ERR_OOM)
        return saddle_no_memory(error, "a configuration file");
    if (status == CYAML_ERR_LIBYAML_PARSER)
        return refuse_syntax(config, said, error);
    if (sscanf(said->message, "Unexpected key: %255[^\n]", name) == 1)
        return refuse_unknown(config, name, error);
    if (sscanf(said->message, "Mapping field already seen: %255[^\n]", name) == 1) {
        saddle_config_place(config, name, place);
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: option '%s' stands here and again below; keep one of the two",
                           place, name);
    }
    if (status == CYAML_ERR_ALIAS)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s:%lu:%lu: aliases (*name) are not supported; write the value itself",
                           config->path, said->line, said->column);
    if (said->field[0] != '\0' && strstr(said->message, "Expecting STRING") != NULL) {
        saddle_config_place(config, said->field, place);
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "%s: option '%s' has a nested value; give one value or a flat list",
                           place, said->field);
    }
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "%s: not a list of options; write lines of the form 'name: value'",
                       config->path);
}

/* The text of a value: the string, or the strings of a list with commas between. */
static char *text_of(const slot *from, bool list)
{
    if (!list)
        return saddle_strdup(from->value);
    char *const *word = from->value;
    size_t bytes = 1;
    for (uint64_t k = 0; k < from->count; k++)
        bytes += strlen(word[k]) + 1;
    char *text = saddle_alloc(bytes, 1);
    char *end = text;
    for (uint64_t k = 0; text != NULL && k < from->count; k++) {
        if (k > 0)
            *end++ = ',';
        end = stpcpy(end, word[k]);
    }
    return text;
}

static saddle_status keep_values(saddle_config *config, const cyaml_schema_field_t *field,
                                 const slot *slots, saddle_error *error)
{
    for (size_t k = 0; k < config->count; k++) {
        bool list = field[k].value.type == CYAML_SEQUENCE;
        /* A list of nothing has no memory, but is there: the file made it a list. */
        if (slots[k].value == NULL && !list)
            continue;
        config->value[k] = text_of(&slots[k], list);
        if (config->value[k] == NULL)
            return saddle_no_memory(error, "a configuration file");
    }
    return SADDLE_OK;
}

/* Expect a list for a name where a single value was expected before; false when it was already. */
static bool expect_list(const saddle_config *config, cyaml_schema_field_t *field, const char *name)
{
    for (size_t k = 0; k < config->count; k++)
        if (strcmp(config->name[k], name) == 0 && field[k].value.type == CYAML_STRING) {
            field[k].value.type = CYAML_SEQUENCE;
            field[k].value.data_size = sizeof(char *);
            field[k].value.sequence.entry = &list_entry;
            field[k].value.sequence.min = 0;
            field[k].value.sequence.max = CYAML_UNLIMITED;
            return true;
        }
    return false;
}

/* Every name is an optional string until the file turns out to hold a list for it. */
static saddle_status parse(saddle_config *config, cyaml_schema_field_t *field, saddle_error *error)
{
    for (size_t k = 0; k < config->count; k++) {
        field[k].key = config->name[k];
        field[k].data_offset = (uint32_t)(k * sizeof(slot) + offsetof(slot, value));
        field[k].count_offset = (uint32_t)(k * sizeof(slot) + offsetof(slot, count));
        field[k].count_size = sizeof(uint64_t);
        field[k].value = (cyaml_schema_value_t){
            CYAML_VALUE_STRING(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, char, 0, CYAML_UNLIMITED)};
    }
    cyaml_schema_value_t schema = mapping_of(field, config->count * sizeof(slot));
    report said;
    cyaml_config_t settings;
    cyaml_err_t loaded;
    cyaml_data_t *data = NULL;
    do {
        settings = loader(&said);
        loaded = cyaml_load_data((const uint8_t *)config->content, config->bytes, &settings,
                                 &schema, &data, NULL);
    } while (loaded == CYAML_ERR_INVALID_VALUE && strstr(said.message, "SEQUENCE_START") != NULL &&
             expect_list(config, field, said.field));
    saddle_status status = SADDLE_OK;
    if (loaded != CYAML_OK)
        status = refuse(config, loaded, &said, error);
    else if (said.message[0] != '\0')
        status = saddle_fail(error, SADDLE_BAD_INPUT,
                             "%s: holds several documents; keep one, without '---' lines between",
                             config->path);
    else if (data != NULL)
        status = keep_values(config, field, data, error);
    if (data != NULL)
        cyaml_free(&settings, &schema, data, 0);
    return status;
}

static saddle_status read_content(saddle_config *config, saddle_error *error)
{
    FILE *stream;
    saddle_status status =
        saddle_reading_open(&stream, config->path, "a YAML file of 'name: value' lines", error);
    if (status != SADDLE_OK)
        return status;
    config->content = saddle_alloc(MOST_BYTES + 1, 1);
    if (config->content == NULL) {
        status = saddle_no_memory(error, "a configuration file");
    } else {
        config->bytes = fread(config->content, 1, MOST_BYTES + 1, stream);
        if (ferror(stream))
            status = saddle_fail(error, SADDLE_BAD_INPUT,
                                 "cannot read '%s': %s; give a YAML file of 'name: value' lines",
                                 config->path, strerror(errno));
        else if (config->bytes > MOST_BYTES)
            status = saddle_fail(error, SADDLE_BAD_INPUT,
                                 "'%s' is longer than %zu bytes; give a YAML file of "
                                 "'name: value' lines",
                                 config->path, MOST_BYTES);
    }
    fclose(stream);
    return status;
}

saddle_status saddle_config_read(saddle_config **out, const char *path, const char *const *name,
                                 size_t count, saddle_error *error)
{
    *out = NULL;
    saddle_config *config = saddle_alloc(1, sizeof *config);
    if (config == NULL)
        return saddle_no_memory(error, "a configuration file");
    cyaml_schema_field_t *field = saddle_alloc(count + 1, sizeof *field);
    config->name = name;
    config->count = count;
    config->path = saddle_strdup(path);
    config->value = saddle_alloc(count, sizeof *config->value);
    saddle_status status = SADDLE_NO_MEMORY;
    if (field == NULL || config->path == NULL || config->value == NULL)
        saddle_no_memory(error, "a configuration file");
    else
        status = read_content(config, error);
    if (status == SADDLE_OK)
        status = parse(config, field, error);
    saddle_free(field);
    if (status == SADDLE_OK)
        *out = config;
    else
        saddle_config_free(config);
    return status;
}

void saddle_config_free(saddle_config *config)
{
    if (config == NULL)
        return;
    for (size_t k = 0; config->value != NULL && k < config->count; k++)
        saddle_free(config->value[k]);
    saddle_free(config->value);
    saddle_free(config->content);
    saddle_free(config->path);
    saddle_free(config);
}

const char *saddle_config_value(const saddle_config *config, size_t index)
{
    return config->value[index];
}
