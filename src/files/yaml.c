#include "files/yaml.h"

#include <yaml.h>

#include "files/file.h"

/* Far above any list of options, and small enough to compare every name with those before it. */
#define MOST_BYTES ((size_t)1 << 20)
#define MOST_ENTRIES 4096

#define WANTED "a YAML file of 'name: value' lines"
#define REMEDY "; write lines of the form 'name: value'"

/* A file being read. */
typedef struct reader {
    const char *path;
    char *content; /* the file */
    size_t bytes;
    char *text; /* scratch for a value; escapes make it at most half as long again */
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    saddle_yaml *out;
    saddle_error *error;
} reader;

/* Fails with the position of a mark. */
#define refuse(in, mark, ...) \
    saddle_fail_at((in)->error, (in)->path, (mark).line + 1, (mark).column + 1, __VA_ARGS__)

static saddle_status no_memory(const reader *in)
{
    return saddle_no_memory(in->error, "a configuration file");
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Returns the position of a byte, for errors that libyaml locates by offset only. */
static yaml_mark_t mark_of(const reader *in, size_t offset)
{
    yaml_mark_t mark = {.index = offset};
    for (size_t k = 0; k < offset && k < in->bytes; k++) {
        bool newline = in->content[k] == '\n';
        mark.line += newline;
        mark.column = newline ? 0 : mark.column + 1;
    }
    return mark;
}

static saddle_status refuse_syntax(const reader *in)
{
    const yaml_parser_t *parser = &in->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return no_memory(in);
    if (parser->error == YAML_READER_ERROR)
        return refuse(in, mark_of(in, parser->problem_offset), "not YAML: %s" REMEDY,
                      parser->problem);
    if (parser->context == NULL || parser->context_mark.line == parser->problem_mark.line)
        return refuse(in, parser->problem_mark, "not YAML: %s" REMEDY, parser->problem);
    return refuse(in, parser->problem_mark, "not YAML: %s, %s from line %zu" REMEDY,
                  parser->problem, parser->context, parser->context_mark.line + 1);
}

/* Moves to the next event; *type receives its type. */
static saddle_status next(reader *in, yaml_event_type_t *type)
{
    yaml_event_delete(&in->event);
    bool parsed = yaml_parser_parse(&in->parser, &in->event);
    *type = in->event.type;
    return parsed ? SADDLE_OK : refuse_syntax(in);
}

/* Appends the current scalar to the scratch text. A NUL, which would hide what follows it, is replaced. */
static char *append_scalar(const reader *in, char *end)
{
    for (size_t k = 0; k < in->event.data.scalar.length; k++) {
        char letter = (char)in->event.data.scalar.value[k];
        *end++ = (char)(letter != '\0' ? letter : '\x01');
    }
    *end = '\0';
    return end;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Reads the name at the current event. It must not repeat an earlier one. */
static saddle_status take_name(reader *in, saddle_yaml_entry *entry)
{
    if (in->event.type != YAML_SCALAR_EVENT)
        return refuse(in, in->event.start_mark, "not a list of options" REMEDY);
    if (in->out->count > MOST_ENTRIES)
        return refuse(in, in->event.start_mark, "more than %d options" REMEDY, MOST_ENTRIES);
    append_scalar(in, in->text);
    entry->name_line = in->event.start_mark.line + 1;
    entry->name_column = in->event.start_mark.column + 1;
    entry->name = saddle_strdup(in->text);
    if (entry->name == NULL)
        return no_memory(in);
    for (const saddle_yaml_entry *other = in->out->entry; other < entry; other++)
        if (strcmp(other->name, entry->name) == 0)
            return refuse(in, in->event.start_mark,
                          "option '%s' was already given on line %zu; remove one of the two",
                          SADDLE_EXCERPT(other->name), other->name_line);
    return SADDLE_OK;
}

/* Reads the value at the current event: a scalar, or a list, whose items are joined by commas. */
static saddle_status take_value(reader *in, saddle_yaml_entry *entry)
{
    yaml_mark_t start = in->event.start_mark;
    yaml_event_type_t type = in->event.type;
    bool list = type == YAML_SEQUENCE_START_EVENT;
    saddle_status status = list ? next(in, &type) : SADDLE_OK;
    char *end = in->text;
    *end = '\0';
    while (status == SADDLE_OK && type == YAML_SCALAR_EVENT) {
        end = append_scalar(in, end);
        if (!list)
            break;
        status = next(in, &type);
        if (type == YAML_SCALAR_EVENT)
            *end++ = ',';
    }
    if (status != SADDLE_OK)
        return status;
    if (type == YAML_ALIAS_EVENT)
        return refuse(in, in->event.start_mark,
                      "aliases (*name) are not supported; write the value itself");
    if (type != (list ? YAML_SEQUENCE_END_EVENT : YAML_SCALAR_EVENT))
        return refuse(in, start, "option '%s' has a nested value; give one value or a flat list",
                      SADDLE_EXCERPT(entry->name));
    entry->line = start.line + 1;
    entry->column = start.column + 1;
    entry->value = saddle_strdup(in->text);
    return entry->value != NULL ? SADDLE_OK : no_memory(in);
}

/* Reads the entries of the mapping that has just begun. */
static saddle_status take_entries(reader *in)
{
    yaml_event_type_t type;
    saddle_status status;
    while ((status = next(in, &type)) == SADDLE_OK && type != YAML_MAPPING_END_EVENT) {
        saddle_yaml_entry *entry = &in->out->entry[in->out->count++];
        status = take_name(in, entry);
        SADDLE_THEN(status, next(in, &type));
        SADDLE_THEN(status, take_value(in, entry));
        if (status != SADDLE_OK)
            break;
    }
    return status;
}

/* Reads a stream that is empty or has one document, which is empty or one mapping. */
static saddle_status take_stream(reader *in)
{
    yaml_event_type_t type = YAML_NO_EVENT;
    for (int documents = 0; type != YAML_STREAM_END_EVENT;) {
        SADDLE_TRY(next(in, &type));
        if (type == YAML_DOCUMENT_START_EVENT && documents++ > 0)
            SADDLE_TRY(refuse(in, in->event.start_mark,
                              "a second document; keep only one, without '---' lines"));
        else if (type == YAML_MAPPING_START_EVENT)
            SADDLE_TRY(take_entries(in));
        else if (type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT ||
                 (type == YAML_SCALAR_EVENT && in->event.data.scalar.length > 0))
            SADDLE_TRY(refuse(in, in->event.start_mark, "not a list of options" REMEDY));
    }
    return SADDLE_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

static saddle_status read_content(reader *in)
{
    FILE *stream;
    saddle_status status = saddle_reading_open(&stream, in->path, WANTED, in->error);
    if (status != SADDLE_OK)
        return status;
    in->bytes = fread(in->content, 1, MOST_BYTES + 1, stream);
    if (ferror(stream))
        status = saddle_refuse(in->error, "cannot read '%s': %s; give " WANTED, in->path,
                               strerror(errno));
    else if (in->bytes > MOST_BYTES)
        status = saddle_refuse(in->error, "'%s' is longer than %zu bytes; give " WANTED, in->path,
                               MOST_BYTES);
    fclose(stream);
    return status;
}

saddle_status saddle_yaml_read(saddle_yaml *out, const char *path, saddle_error *error)
{
    reader in = {.path = path, .out = out, .error = error};
    out->count = 0;
    out->entry = saddle_alloc(MOST_ENTRIES + 1, sizeof *out->entry);
    in.content = saddle_alloc_unset(MOST_BYTES + 1, 1);
    in.text = saddle_alloc_unset(2 * (MOST_BYTES + 1), 1);
    saddle_status status;
    if (out->entry == NULL || in.content == NULL || in.text == NULL ||
        !yaml_parser_initialize(&in.parser))
        status = no_memory(&in);
    else
        status = read_content(&in);
    if (status == SADDLE_OK) {
        yaml_parser_set_input_string(&in.parser, (const unsigned char *)in.content, in.bytes);
        status = take_stream(&in);
    }
    yaml_event_delete(&in.event);
    yaml_parser_delete(&in.parser);
    saddle_free(in.content);
    saddle_free(in.text);
    return status;
}

void saddle_yaml_free(saddle_yaml *yaml)
{
    for (size_t k = 0; yaml->entry != NULL && k < yaml->count; k++) {
        saddle_free(yaml->entry[k].name);
        saddle_free(yaml->entry[k].value);
    }
    saddle_free(yaml->entry);
    *yaml = (saddle_yaml){NULL, 0};
}
