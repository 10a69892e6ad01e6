#include "instance/settings.h"

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "core/text.h"
#include "files/yaml.h"

/* The most choices an option has. */
#define MOST_CHOICES 32
/* Room for a value as shown in a message, and for a description of what would be right. */
#define SHOWN_SIZE 80
#define DESCRIPTION_SIZE 512

/* Who set a value. A later one may overrule those before it in this list. */
typedef enum origin { FROM_DEFAULT, FROM_FILE, FROM_CALLER } origin;

/* One option with its value. */
typedef struct entry {
    const saddle_option *option; /* borrowed */
    origin from;
    char *text;       /* owned */
    double real;      /* NaN when the value is no number */
    uint64_t integer; /* 0 when the value is no whole number */
    int choice;       /* its place among the choices; -1: none of them */
    bool flag;
} entry;

struct saddle_settings {
    size_t count;
    entry *entries;
    const char **name; /* of every option, for lists of candidates */
};

/* The choices of an option, cut at their bars. */
typedef struct choices {
    char buffer[DESCRIPTION_SIZE];
    const char *word[MOST_CHOICES];
    size_t count;
} choices;

/* ---------------------------------------------------------------- what a value may be */

/* A value as it may stand in a one-line message: not too long, no control characters. */
static const char *show(const char *value, char shown[SHOWN_SIZE])
{
    size_t room = SHOWN_SIZE - sizeof "...";
    size_t length = strnlen(value, room + 1);
    bool cut = length > room;
    if (cut) {
        /* Not in the middle of a UTF-8 character. */
        for (length = room; length > 0 && ((unsigned char)value[length] & 0xC0) == 0x80; length--)
            continue;
    }
    for (size_t k = 0; k < length; k++)
        shown[k] = (unsigned char)value[k] < ' ' || value[k] == 0x7F ? '?' : value[k];
    memcpy(shown + length, cut ? "..." : "", cut ? sizeof "..." : 1);
    return shown;
}

/* Cut "a|b|c"; false when it is missing, too long or has too many. */
static bool cut_choices(choices *out, const char *text)
{
    out->count = 0;
    size_t bytes = text != NULL ? strlen(text) + 1 : SIZE_MAX;
    if (bytes > sizeof out->buffer)
        return false;
    memcpy(out->buffer, text, bytes);
    char *rest = out->buffer;
    for (char *word = strsep(&rest, "|"); word != NULL; word = strsep(&rest, "|")) {
        if (out->count == MOST_CHOICES || *word == '\0')
            return false;
        out->word[out->count++] = word;
    }
    return true;
}

/* One side of a range, such as " and at most 1"; "" when it has no limit. Whole numbers are written
 * in full, others in up to 15 digits. */
static const char *limit_text(char text[SHOWN_SIZE], const char *words, double limit)
{
    text[0] = '\0';
    if (limit == floor(limit) && fabs(limit) <= 0x1p53)
        snprintf(text, SHOWN_SIZE, " %s %.0f", words, limit);
    else if (isfinite(limit))
        snprintf(text, SHOWN_SIZE, " %s %.15g", words, limit);
    return text;
}

/* What would be right for a number: "a number above 0 and at most 1, or auto". */
static void describe_number(const saddle_option *option, char text[DESCRIPTION_SIZE])
{
    char low[SHOWN_SIZE];
    char high[SHOWN_SIZE];
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    limit_text(low, option->above_minimum ? "above" : "of at least", option->minimum);
    const char *at_most = low[0] != '\0' ? "and at most" : "of at most";
    if (whole && option->maximum >= 0x1p64)
        snprintf(high, sizeof high, " %s %llu", at_most, (unsigned long long)UINT64_MAX);
    else
        limit_text(high, at_most, option->maximum);
    snprintf(text, DESCRIPTION_SIZE, "%s%s%s%s", whole ? "a whole number" : "a number", low, high,
             strcmp(option->fallback, "auto") == 0 ? ", or auto" : "");
}

/* Compared as whole numbers, because not every uint64_t is a double; the minimum is not negative.
 */
static bool whole_in_range(const saddle_option *option, uint64_t value)
{
    double low = option->minimum;
    double high = option->maximum;
    if (!(low < 0x1p64))
        return false;
    bool above =
        option->above_minimum ? value > (uint64_t)floor(low) : value >= (uint64_t)ceil(low);
    return above && (high >= 0x1p64 || value <= (uint64_t)floor(high));
}

static bool real_in_range(const saddle_option *option, double value)
{
    bool above = option->above_minimum ? value > option->minimum : value >= option->minimum;
    return above && value <= option->maximum;
}

static saddle_status read_integer(entry *out, const char *text, saddle_error *why)
{
    char shown[SHOWN_SIZE];
    char right[DESCRIPTION_SIZE];
    double real = (double)NAN;
    describe_number(out->option, right);
    if (saddle_parse_integer(text, &out->integer)) {
        if (whole_in_range(out->option, out->integer)) {
            out->real = (double)out->integer;
            return SADDLE_OK;
        }
        real = (double)out->integer;
    } else if (saddle_parse_real(text, &real) && real > 0x1p53 && real < 0x1p64 &&
               text[strspn(text, "0123456789")] != '\0') {
        return saddle_fail(why, SADDLE_BAD_INPUT,
                           "'%s' is above 2^53 and not in plain digits; write out all its digits",
                           show(text, shown));
    }
    bool whole = real == floor(real);
    return saddle_fail(why, SADDLE_BAD_INPUT, "'%s' is %s; give %s", show(text, shown),
                       whole ? "out of range" : "not a whole number", right);
}

static saddle_status read_real(entry *out, const char *text, saddle_error *why)
{
    char shown[SHOWN_SIZE];
    char right[DESCRIPTION_SIZE];
    bool number = saddle_parse_real(text, &out->real);
    if (number && real_in_range(out->option, out->real))
        return SADDLE_OK;
    describe_number(out->option, right);
    return saddle_fail(why, SADDLE_BAD_INPUT, "'%s' is %s; give %s", show(text, shown),
                       number ? "out of range" : "not a number", right);
}

static saddle_status read_flag(entry *out, const char *text, saddle_error *why)
{
    static const char *const word[2][4] = {{"no", "false", "off", "0"}, {"yes", "true", "on", "1"}};
    for (int yes = 0; yes < 2; yes++)
        for (int k = 0; k < 4; k++)
            if (strcmp(text, word[yes][k]) == 0) {
                out->flag = yes != 0;
                return SADDLE_OK;
            }
    char shown[SHOWN_SIZE];
    return saddle_fail(why, SADDLE_BAD_INPUT, "'%s' is neither yes nor no; give yes or no",
                       show(text, shown));
}

static saddle_status read_choice(entry *out, const char *text, saddle_error *why)
{
    const saddle_option *option = out->option;
    choices allowed;
    if (!cut_choices(&allowed, option->choices))
        return saddle_fail(why, SADDLE_CHECK_FAILED, "its choices are not a list such as 'a|b|c'");
    for (size_t k = 0; k < allowed.count; k++)
        if (strcmp(text, allowed.word[k]) == 0) {
            out->choice = (int)k;
            return SADDLE_OK;
        }
    if (strcmp(option->fallback, "auto") == 0 && allowed.count < MOST_CHOICES)
        allowed.word[allowed.count++] = "auto";
    char list[2 * DESCRIPTION_SIZE];
    char *end = list;
    for (size_t k = 0; k < allowed.count; k++)
        end = stpcpy(stpcpy(end, k > 0 ? ", " : ""), allowed.word[k]);
    char shown[SHOWN_SIZE];
    const char *near = saddle_closest(text, allowed.word, allowed.count);
    return saddle_fail(why, SADDLE_BAD_INPUT, "'%s' is not one of %.600s%s%s%s", show(text, shown),
                       list, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

/* Settings are echoed one to a line, in traces and models: a line end would forge another. */
static saddle_status read_text(const char *text, saddle_error *why)
{
    char shown[SHOWN_SIZE];
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return saddle_fail(why, SADDLE_BAD_INPUT,
                               "'%s' has a control character, such as a line end, in it; give a "
                               "value without",
                               show(text, shown));
    return SADDLE_OK;
}

/* Read a text into the numbers of an entry; `why` gets the reason without the option's name. */
static saddle_status read_value(entry *out, const char *text, saddle_error *why)
{
    const saddle_option *option = out->option;
    out->real = (double)NAN;
    out->integer = 0;
    out->choice = -1;
    out->flag = false;
    /* A flag is yes or no: its field has no third value. */
    bool special =
        option->kind != SADDLE_OPTION_FLAG && (*text == '\0' || strcmp(text, "auto") == 0);
    if (special && strcmp(text, option->fallback) == 0)
        return SADDLE_OK;
    switch (option->kind) {
    case SADDLE_OPTION_FLAG:
        return read_flag(out, text, why);
    case SADDLE_OPTION_INTEGER:
        return read_integer(out, text, why);
    case SADDLE_OPTION_REAL:
        return read_real(out, text, why);
    case SADDLE_OPTION_CHOICE:
        return read_choice(out, text, why);
    case SADDLE_OPTION_TEXT:
        return read_text(text, why);
    }
    return saddle_fail(why, SADDLE_CHECK_FAILED, "it is of an unknown kind");
}

/* Replace the value of an entry; it keeps its old one on failure. */
static saddle_status assign(entry *out, const char *text, origin from, saddle_error *why)
{
    entry fresh = {.option = out->option, .from = from};
    saddle_status status = read_value(&fresh, text, why);
    if (status != SADDLE_OK)
        return status;
    /* All ways to say yes are echoed as one. */
    const char *decision = fresh.flag ? "yes" : "no";
    fresh.text = saddle_strdup(fresh.option->kind == SADDLE_OPTION_FLAG ? decision : text);
    if (fresh.text == NULL)
        return saddle_no_memory(why, "a setting");
    saddle_free(out->text);
    *out = fresh;
    return SADDLE_OK;
}

/* ---------------------------------------------------------------- making a store */

static entry *find(const saddle_settings *settings, const char *name)
{
    for (size_t k = 0; k < settings->count; k++)
        if (strcmp(settings->name[k], name) == 0)
            return &settings->entries[k];
    return NULL;
}

/* Room for so many options, none in it yet. */
static saddle_settings *make_room(size_t count)
{
    saddle_settings *settings = saddle_alloc(1, sizeof *settings);
    if (settings == NULL)
        return NULL;
    settings->entries = saddle_alloc(count, sizeof *settings->entries);
    settings->name = saddle_alloc(count, sizeof *settings->name);
    if (settings->entries != NULL && settings->name != NULL)
        return settings;
    saddle_settings_free(settings);
    return NULL;
}

/* Append an option at its default. */
static saddle_status add(saddle_settings *settings, const saddle_option *option,
                         saddle_error *error)
{
    if (option->name == NULL || option->fallback == NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED, "an option '%s' lacks a name or a default",
                           option->name != NULL ? option->name : "");
    const entry *same = find(settings, option->name);
    if (same != NULL && same->option == option)
        return SADDLE_OK;
    if (same != NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s' is declared twice; share one declaration", option->name);
    bool number = option->kind == SADDLE_OPTION_INTEGER || option->kind == SADDLE_OPTION_REAL;
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    if (number && (!(option->minimum <= option->maximum) || (whole && !(option->minimum >= 0.0))))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s': no %s lies within [%g, %g]; correct its declaration",
                           option->name, whole ? "natural number" : "number", option->minimum,
                           option->maximum);
    settings->entries[settings->count].option = option;
    settings->name[settings->count] = option->name;
    saddle_error why = {0};
    saddle_status status =
        assign(&settings->entries[settings->count++], option->fallback, FROM_DEFAULT, &why);
    if (status == SADDLE_OK || status == SADDLE_NO_MEMORY)
        return status == SADDLE_OK ? SADDLE_OK : saddle_no_memory(error, "a setting");
    return saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option '%s': %.900s",
                       option->name, why.message);
}

saddle_status saddle_settings_build(saddle_settings **out,
                                    const saddle_option *const *const *tables, size_t table_count,
                                    saddle_error *error)
{
    *out = NULL;
    size_t most = 0;
    for (size_t t = 0; t < table_count; t++)
        for (const saddle_option *const *option = tables[t]; *option != NULL; option++)
            most++;
    saddle_settings *settings = make_room(most);
    if (settings == NULL)
        return saddle_no_memory(error, "the settings");
    for (size_t t = 0; t < table_count; t++)
        for (const saddle_option *const *option = tables[t]; *option != NULL; option++) {
            saddle_status status = add(settings, *option, error);
            if (status != SADDLE_OK) {
                saddle_settings_free(settings);
                return status;
            }
        }
    *out = settings;
    return SADDLE_OK;
}

/* Append a copy of every entry of another store to one that has the room. */
static bool append_copies(saddle_settings *to, const saddle_settings *from)
{
    for (size_t k = 0; k < from->count; k++) {
        char *text = saddle_strdup(from->entries[k].text);
        if (text == NULL)
            return false;
        to->name[to->count] = from->name[k];
        to->entries[to->count] = from->entries[k];
        to->entries[to->count++].text = text;
    }
    return true;
}

/* Exchange the contents of two stores. */
static void exchange(saddle_settings *a, saddle_settings *b)
{
    saddle_settings old = *a;
    *a = *b;
    *b = old;
}

saddle_status saddle_settings_add(saddle_settings *settings, const saddle_option *const *options,
                                  saddle_error *error)
{
    /* All of the table or nothing of it. Texts stay where they are: fields may point to them. */
    size_t before = settings->count;
    size_t more = 0;
    while (options[more] != NULL)
        more++;
    saddle_settings *longer = make_room(before + more);
    if (longer == NULL)
        return saddle_no_memory(error, "the settings");
    memcpy(longer->entries, settings->entries, before * sizeof *longer->entries);
    memcpy((void *)longer->name, (const void *)settings->name, before * sizeof *longer->name);
    longer->count = before;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < more; k++)
        status = add(longer, options[k], error);
    if (status == SADDLE_OK)
        exchange(settings, longer);
    for (size_t k = 0; k < before; k++)
        longer->entries[k].text = NULL;
    saddle_settings_free(longer);
    return status;
}

saddle_status saddle_settings_copy(saddle_settings **out, const saddle_settings *from,
                                   saddle_error *error)
{
    *out = NULL;
    saddle_settings *copy = make_room(from->count);
    if (copy == NULL || !append_copies(copy, from)) {
        saddle_settings_free(copy);
        saddle_no_memory(error, "the settings");
        return SADDLE_NO_MEMORY;
    }
    *out = copy;
    return SADDLE_OK;
}

void saddle_settings_free(saddle_settings *settings)
{
    if (settings == NULL)
        return;
    for (size_t k = 0; settings->entries != NULL && k < settings->count; k++)
        saddle_free(settings->entries[k].text);
    saddle_free(settings->entries);
    saddle_free((void *)settings->name);
    saddle_free(settings);
}

/* ---------------------------------------------------------------- setting values */

static saddle_status refuse_unknown(const saddle_settings *settings, const char *name,
                                    saddle_error *error)
{
    char shown[SHOWN_SIZE];
    const char *near = saddle_closest(name, settings->name, settings->count);
    if (near == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option '%s'; --help lists the options",
                           show(name, shown));
    return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option '%s'; did you mean '%s'?",
                       show(name, shown), near);
}

/* Replace a value that the caller, or a run that found it, gives as text. */
static saddle_status assign_named(entry *chosen, const char *text, origin from, saddle_error *error)
{
    saddle_error why = {0};
    saddle_status status = assign(chosen, text, from, &why);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status, "%s: %.900s", chosen->option->name, why.message);
}

saddle_status saddle_settings_set(saddle_settings *settings, const char *name, const char *text,
                                  saddle_error *error)
{
    entry *chosen = find(settings, name);
    if (chosen == NULL)
        return refuse_unknown(settings, name, error);
    return assign_named(chosen, text != NULL ? text : "", FROM_CALLER, error);
}

/* Take over an entry of a file unless the caller has set its option; `why` gets the reason of a
 * refusal. */
static saddle_status apply(const saddle_settings *settings, const saddle_yaml_entry *from,
                           saddle_error *why)
{
    char shown[SHOWN_SIZE];
    entry *chosen = find(settings, from->name);
    if (chosen == NULL) {
        const char *near = saddle_closest(from->name, settings->name, settings->count);
        return saddle_fail(why, SADDLE_BAD_INPUT, "unknown option '%s'; %s%s%s",
                           show(from->name, shown), near != NULL ? "did you mean '" : "",
                           near != NULL ? near : "--help lists the options",
                           near != NULL ? "'?" : "");
    }
    saddle_error reason = {0};
    entry checked = {.option = chosen->option};
    saddle_status status;
    bool given = chosen->from == FROM_CALLER;
    if (chosen->option->not_in_file)
        status = saddle_fail(&reason, SADDLE_BAD_INPUT, "not allowed in a file; give it directly");
    else if (!given && chosen->option->no_path_in_file && strchr(from->value, '/') != NULL)
        status = saddle_fail(&reason, SADDLE_BAD_INPUT,
                             "'%.200s' is a plug-in, and no path to one in a file is followed; "
                             "if you trust it, give %.200s as the %s",
                             from->value, from->value, from->name);
    else
        status = given ? read_value(&checked, from->value, &reason)
                       : assign(chosen, from->value, FROM_FILE, &reason);
    return status == SADDLE_OK ? SADDLE_OK
                               : saddle_fail(why, status, "%s: %.800s", from->name, reason.message);
}

saddle_status saddle_settings_load(saddle_settings *settings, const char *path, saddle_error *error)
{
    /* All of the file or nothing of it: work on a copy and exchange. */
    saddle_settings *copy = NULL;
    saddle_yaml file = {0};
    saddle_status status = saddle_yaml_read(&file, path, error);
    SADDLE_THEN(status, saddle_settings_copy(&copy, settings, error));
    for (size_t k = 0; status == SADDLE_OK && k < file.count; k++) {
        saddle_error why = {0};
        status = apply(copy, &file.entry[k], &why);
        if (status != SADDLE_OK)
            saddle_fail(error, status, "%s:%zu:%zu: %s", path, file.entry[k].line,
                        file.entry[k].column, why.message);
    }
    if (status == SADDLE_OK)
        exchange(settings, copy);
    saddle_yaml_free(&file);
    saddle_settings_free(copy);
    return status;
}

/* ---------------------------------------------------------------- asking */

size_t saddle_settings_count(const saddle_settings *settings)
{
    return settings->count;
}

const saddle_option *saddle_settings_option(const saddle_settings *settings, size_t index)
{
    return index < settings->count ? settings->entries[index].option : NULL;
}

const saddle_option *saddle_settings_find(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->option : NULL;
}

/* The entry of an option; NULL: it is not in the store. */
static entry *entry_of(const saddle_settings *settings, const saddle_option *option)
{
    for (size_t k = 0; k < settings->count; k++)
        if (settings->entries[k].option == option)
            return &settings->entries[k];
    return NULL;
}

bool saddle_settings_given(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    return found != NULL && found->from != FROM_DEFAULT;
}

const char *saddle_settings_text(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->text : NULL;
}

const char *saddle_settings_value(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    return found != NULL ? found->text : "";
}

double saddle_settings_number(const saddle_settings *settings, const saddle_option *option)
{
    const entry *found = entry_of(settings, option);
    return found != NULL ? found->real : (double)NAN;
}

/* ---------------------------------------------------------------- typed fields */

/* Whether a text stands for no value: "" or "auto" where that is the default. */
static bool is_absent(const saddle_option *option, const char *text)
{
    return (*text == '\0' || strcmp(text, "auto") == 0) && strcmp(text, option->fallback) == 0;
}

/* What the field of a whole number holds for "auto". */
static uint64_t automatic_integer(const saddle_option *option)
{
    return option->minimum > 0.0 || option->above_minimum ? 0 : UINT64_MAX;
}

static void write_field(const entry *e, void *target)
{
    void *field = (char *)target + e->option->offset;
    bool absent = is_absent(e->option, e->text);
    switch (e->option->kind) {
    case SADDLE_OPTION_FLAG:
        *(bool *)field = e->flag;
        return;
    case SADDLE_OPTION_INTEGER:
        *(uint64_t *)field = absent ? automatic_integer(e->option) : e->integer;
        return;
    case SADDLE_OPTION_REAL:
        *(double *)field = e->real;
        return;
    case SADDLE_OPTION_CHOICE:
        *(int *)field = e->choice;
        return;
    case SADDLE_OPTION_TEXT:
        *(const char **)field = absent ? NULL : e->text;
        return;
    }
}

void saddle_option_default(const saddle_option *option, void *target)
{
    /* A default has been checked when a store was first made from its table. */
    entry e = {.option = option};
    read_value(&e, option->fallback, NULL);
    union {
        const char *constant;
        char *text;
    } fallback = {.constant = option->fallback};
    e.text = fallback.text;
    write_field(&e, target);
}

void saddle_settings_write(const saddle_settings *settings, saddle_option_home home, void *target)
{
    for (size_t k = 0; k < settings->count; k++)
        if (settings->entries[k].option->home == home)
            write_field(&settings->entries[k], target);
}

void saddle_settings_write_one(const saddle_settings *settings, const saddle_option *option,
                               void *target)
{
    const entry *found = entry_of(settings, option);
    if (found != NULL)
        write_field(found, target);
}

void saddle_settings_write_table(const saddle_settings *settings,
                                 const saddle_option *const *options, void *target)
{
    for (; *options != NULL; options++)
        if ((*options)->home == SADDLE_HOME_OWN)
            saddle_settings_write_one(settings, *options, target);
}

/* The text of a field, in `room` unless it is a text itself. NULL: the number of a choice that there is
 * not. */
static const char *field_text(const saddle_option *option, const void *target, choices *room)
{
    const void *field = (const char *)target + option->offset;
    switch (option->kind) {
    case SADDLE_OPTION_FLAG:
        return *(const bool *)field ? "yes" : "no";
    case SADDLE_OPTION_INTEGER:
        if (*(const uint64_t *)field == automatic_integer(option) &&
            is_absent(option, option->fallback))
            return option->fallback;
        snprintf(room->buffer, sizeof room->buffer, "%llu",
                 (unsigned long long)*(const uint64_t *)field);
        return room->buffer;
    case SADDLE_OPTION_REAL:
        if (isnan(*(const double *)field) && is_absent(option, option->fallback))
            return option->fallback;
        return saddle_print_real(*(const double *)field, 15, room->buffer);
    case SADDLE_OPTION_CHOICE: {
        int choice = *(const int *)field;
        if (choice < 0 && is_absent(option, option->fallback))
            return option->fallback;
        bool known =
            cut_choices(room, option->choices) && choice >= 0 && (size_t)choice < room->count;
        return known ? room->word[choice] : NULL;
    }
    case SADDLE_OPTION_TEXT:
        return *(const char *const *)field != NULL ? *(const char *const *)field : option->fallback;
    }
    return NULL;
}

/* Whether a field holds the entry's value. */
static bool is_same(const entry *e, const void *target, const char *text)
{
    const void *field = (const char *)target + e->option->offset;
    if (e->option->kind == SADDLE_OPTION_REAL && !is_absent(e->option, e->text))
        return e->real == *(const double *)field;
    if (e->option->kind == SADDLE_OPTION_INTEGER && !is_absent(e->option, e->text))
        return e->integer == *(const uint64_t *)field;
    return text == e->text || strcmp(text, e->text) == 0;
}

static saddle_status read_field(entry *e, const void *target, bool given, saddle_error *error)
{
    choices room;
    const char *text = field_text(e->option, target, &room);
    if (text == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "%s: choice number %d is not one of %s",
                           e->option->name,
                           *(const int *)(const void *)((const char *)target + e->option->offset),
                           e->option->choices);
    if (is_same(e, target, text))
        return SADDLE_OK;
    return assign_named(e, text, given ? FROM_CALLER : e->from, error);
}

saddle_status saddle_settings_read(saddle_settings *settings, saddle_option_home home,
                                   const void *target, bool given, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < settings->count; k++)
        if (settings->entries[k].option->home == home)
            status = read_field(&settings->entries[k], target, given, error);
    return status;
}

saddle_status saddle_settings_read_table(saddle_settings *settings,
                                         const saddle_option *const *options, const void *target,
                                         saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    for (; status == SADDLE_OK && *options != NULL; options++) {
        entry *found = entry_of(settings, *options);
        if ((*options)->home == SADDLE_HOME_OWN && found != NULL)
            status = read_field(found, target, false, error);
    }
    return status;
}
