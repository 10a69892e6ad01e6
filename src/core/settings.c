#include "core/settings.h"

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
    bool automatic = strcmp(out->option->fallback, "auto") == 0;
    return saddle_fail(why, SADDLE_BAD_INPUT, "'%s' is neither yes nor no; give yes%s",
                       show(text, shown), automatic ? ", no or auto" : " or no");
}

static saddle_status read_choice(const saddle_option *option, const char *text, saddle_error *why)
{
    choices allowed;
    if (!cut_choices(&allowed, option->choices))
        return saddle_fail(why, SADDLE_CHECK_FAILED, "its choices are not a list such as 'a|b|c'");
    for (size_t k = 0; k < allowed.count; k++)
        if (strcmp(text, allowed.word[k]) == 0)
            return SADDLE_OK;
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
    out->flag = false;
    bool special = *text == '\0' || strcmp(text, "auto") == 0;
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
        return read_choice(option, text, why);
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
    bool decided =
        fresh.option->kind == SADDLE_OPTION_FLAG && *text != '\0' && strcmp(text, "auto") != 0;
    const char *decision = fresh.flag ? "yes" : "no";
    fresh.text = saddle_strdup(decided ? decision : text);
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
                           "option --%s is declared twice; share one declaration", option->name);
    bool number = option->kind == SADDLE_OPTION_INTEGER || option->kind == SADDLE_OPTION_REAL;
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    if (number && (!(option->minimum <= option->maximum) || (whole && !(option->minimum >= 0.0))))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option --%s: no %s lies within [%g, %g]; correct its declaration",
                           option->name, whole ? "natural number" : "number", option->minimum,
                           option->maximum);
    settings->entries[settings->count].option = option;
    settings->name[settings->count] = option->name;
    saddle_error why = {0};
    saddle_status status =
        assign(&settings->entries[settings->count++], option->fallback, FROM_DEFAULT, &why);
    if (status == SADDLE_OK || status == SADDLE_NO_MEMORY)
        return status == SADDLE_OK ? SADDLE_OK : saddle_no_memory(error, "a setting");
    return saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option --%s: %.900s",
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
    /* All of the table or nothing of it: work on a copy and exchange. */
    size_t more = 0;
    while (options[more] != NULL)
        more++;
    saddle_settings *copy = make_room(settings->count + more);
    saddle_status status = SADDLE_OK;
    if (copy == NULL || !append_copies(copy, settings))
        status = saddle_no_memory(error, "the settings");
    for (size_t k = 0; status == SADDLE_OK && k < more; k++)
        status = add(copy, options[k], error);
    if (status == SADDLE_OK)
        exchange(settings, copy);
    saddle_settings_free(copy);
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
        return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option --%s; --help lists the options",
                           show(name, shown));
    return saddle_fail(error, SADDLE_BAD_INPUT, "unknown option --%s; did you mean --%s?",
                       show(name, shown), near);
}

saddle_status saddle_settings_settle(saddle_settings *settings, const char *name, const char *text,
                                     saddle_error *error)
{
    entry *chosen = find(settings, name);
    if (chosen == NULL)
        return refuse_unknown(settings, name, error);
    saddle_error why = {0};
    saddle_status status = assign(chosen, text != NULL ? text : "", chosen->from, &why);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    return saddle_fail(error, status, "--%s: %.900s", name, why.message);
}

saddle_status saddle_settings_set(saddle_settings *settings, const char *name, const char *text,
                                  saddle_error *error)
{
    entry *chosen = find(settings, name);
    saddle_status status = saddle_settings_settle(settings, name, text, error);
    if (status == SADDLE_OK && chosen != NULL)
        chosen->from = FROM_CALLER;
    return status;
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
                             "if you trust it, give --%s %.200s",
                             from->value, from->name, from->value);
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
    if (status == SADDLE_OK)
        status = saddle_settings_copy(&copy, settings, error);
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

bool saddle_settings_given(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL && found->from != FROM_DEFAULT;
}

bool saddle_settings_auto(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL && strcmp(found->text, "auto") == 0;
}

const char *saddle_settings_text(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->text : NULL;
}

double saddle_settings_real(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->real : (double)NAN;
}

uint64_t saddle_settings_integer(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL ? found->integer : 0;
}

bool saddle_settings_flag(const saddle_settings *settings, const char *name)
{
    const entry *found = find(settings, name);
    return found != NULL && found->flag;
}

saddle_status saddle_settings_set_real(saddle_settings *settings, const char *name, double value,
                                       saddle_error *error)
{
    /* The shortest of these that reads back equal. */
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (saddle_parse_real(text, &back) && back == value)
            break;
    }
    return saddle_settings_set(settings, name, text, error);
}

saddle_status saddle_settings_fill(saddle_settings *settings, const char *name, double value,
                                   saddle_error *error)
{
    if (saddle_settings_find(settings, name) == NULL || !saddle_settings_auto(settings, name))
        return SADDLE_OK;
    return saddle_settings_set_real(settings, name, value, error);
}
