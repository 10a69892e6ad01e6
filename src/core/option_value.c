#include "core/option_value.h"
#include "core/base.h"

/* The most choices an option may have. */
#define MOST_CHOICES 32
/* The size of the description of valid values. */
#define DESCRIPTION_SIZE 256

/* Returns whether a text means "no value": "" or "auto" where that is the default. Flags and
 * choices always have a value. */
static bool is_absent(const saddle_option *option, const char *text)
{
    return option->kind != SADDLE_OPTION_FLAG && option->kind != SADDLE_OPTION_CHOICE &&
           (*text == '\0' || strcmp(text, "auto") == 0) && strcmp(text, option->fallback) == 0;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* Cuts a copy of "a|b|c" in `buffer` into words. Returns their number; 0 when the list is
 * missing, too long or has too many words. */
static size_t cut_choices(const char *text, char buffer[SADDLE_VALUE_SIZE],
                          const char *word[MOST_CHOICES])
{
    size_t count = 0;
    size_t bytes = text != NULL ? strlen(text) + 1 : SIZE_MAX;
    if (bytes > SADDLE_VALUE_SIZE)
        return 0;
    char *rest = memcpy(buffer, text, bytes);
    while (rest != NULL) {
        if (count == MOST_CHOICES)
            return 0;
        word[count] = strsep(&rest, "|");
        if (*word[count++] == '\0')
            return 0;
    }
    return count;
}

static saddle_status read_choice(const saddle_option *option, const char *text, int *out,
                                 saddle_error *why)
{
    char buffer[SADDLE_VALUE_SIZE];
    const char *word[MOST_CHOICES];
    size_t count = cut_choices(option->choices, buffer, word);
    if (count == 0)
        return saddle_fail(why, SADDLE_CHECK_FAILED, "its choices are not a list such as 'a|b|c'");
    for (size_t k = 0; k < count; k++)
        if (strcmp(text, word[k]) == 0) {
            *out = (int)k;
            return SADDLE_OK;
        }
    char list[2 * SADDLE_VALUE_SIZE];
    char *end = list;
    for (size_t k = 0; k < count; k++)
        end = stpcpy(stpcpy(end, k > 0 ? ", " : ""), word[k]);
    return saddle_refuse(why, "'%s' is not one of %.600s%s", SADDLE_EXCERPT(text), list,
                         saddle_suggest(text, word, count).text);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Appends one limit of a range, such as " and at most 1", if there is one. Whole numbers are written in full, others
 * with up to 15 digits. */
static void append_limit(char text[DESCRIPTION_SIZE], const char *words, double limit)
{
    if (limit == floor(limit) && fabs(limit) <= 0x1p53)
        saddle_append(text, DESCRIPTION_SIZE, " %s %.0f", words, limit);
    else if (isfinite(limit))
        saddle_append(text, DESCRIPTION_SIZE, " %s %.15g", words, limit);
}

/* Describes the valid values of a number: "a number above 0 and at most 1, or auto". */
static const char *describe_number(const saddle_option *option, char text[DESCRIPTION_SIZE])
{
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    const char *kind = whole ? "a whole number" : "a number";
    saddle_snprintf(text, DESCRIPTION_SIZE, "%s", kind);
    append_limit(text, option->above_minimum ? "above" : "of at least", option->minimum);
    const char *at_most = strcmp(text, kind) == 0 ? "of at most" : "and at most";
    if (whole && option->maximum >= 0x1p64)
        saddle_append(text, DESCRIPTION_SIZE, " %s %llu", at_most, (unsigned long long)UINT64_MAX);
    else
        append_limit(text, at_most, option->maximum);
    if (strcmp(option->fallback, "auto") == 0)
        saddle_append(text, DESCRIPTION_SIZE, ", or auto");
    return text;
}

/* Compares integers, because not every uint64_t is a double. The minimum is not negative. */
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

/* Returns whether a text is a number that overflows, such as 1e400. */
static bool is_too_large(const char *text)
{
    char *end = NULL;
    if (text[strspn(text, "0123456789+-.eE")] != '\0' || *text == '\0')
        return false;
    double value = strtod_l(text, &end, saddle_c_locale());
    return *end == '\0' && isinf(value);
}

static saddle_status read_integer(const saddle_option *option, const char *text, uint64_t *out,
                                  saddle_error *why)
{
    char right[DESCRIPTION_SIZE];
    double real = NAN;
    if (saddle_parse_integer(text, out)) {
        if (whole_in_range(option, *out))
            return SADDLE_OK;
        real = (double)*out;
    } else if (saddle_parse_real(text, &real) && real > 0x1p53 && real < 0x1p64 &&
               text[strspn(text, "0123456789")] != '\0') {
        return saddle_refuse(why,
                             "'%s' is above 2^53 and not in plain digits; write out all its digits",
                             SADDLE_EXCERPT(text));
    }
    bool whole = real == floor(real) || is_too_large(text);
    return saddle_refuse(why, "'%s' is %s; give %s", SADDLE_EXCERPT(text),
                         whole ? "out of range" : "not a whole number",
                         describe_number(option, right));
}

static saddle_status read_real(const saddle_option *option, const char *text, double *out,
                               saddle_error *why)
{
    char right[DESCRIPTION_SIZE];
    bool number = saddle_parse_real(text, out);
    bool above = option->above_minimum ? *out > option->minimum : *out >= option->minimum;
    if (number && above && *out <= option->maximum)
        return SADDLE_OK;
    return saddle_refuse(why, "'%s' is %s; give %s", SADDLE_EXCERPT(text),
                         number               ? "out of range"
                         : is_too_large(text) ? "too large for a double"
                                              : "not a number",
                         describe_number(option, right));
}

/* ---- any kind -------------------------------------------------------------------------------- */

/* What separates names and values in texts. */
#define NOT_IN_NAMES " \t\n\r,=:|*'\"/\\"

saddle_status saddle_option_check(const saddle_option *option, saddle_error *error)
{
    bool named = option->name != NULL && *option->name != '\0';
    if (!named || option->fallback == NULL)
        return saddle_fail(error, SADDLE_CHECK_FAILED, "an option '%s' lacks a name or a default",
                           named ? option->name : "");
    if (*option->name == '-' || strpbrk(option->name, NOT_IN_NAMES) != NULL)
        return saddle_fail(
            error, SADDLE_CHECK_FAILED,
            "option '%s': a name is made from letters, digits and, inside it, hyphens; "
            "correct its declaration",
            SADDLE_EXCERPT(option->name));
    bool whole = option->kind == SADDLE_OPTION_INTEGER;
    bool number = whole || option->kind == SADDLE_OPTION_REAL;
    if (number && (!(option->minimum <= option->maximum) || (whole && !(option->minimum >= 0.0))))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "option '%s': no %s lies within [%g, %g]; correct its declaration",
                           option->name, whole ? "natural number" : "number", option->minimum,
                           option->maximum);
    return SADDLE_OK;
}

static saddle_status read_flag(const char *text, bool *out, saddle_error *why)
{
    static const char *const word[2][4] = {{"no", "false", "off", "0"}, {"yes", "true", "on", "1"}};
    for (int yes = 0; yes < 2; yes++)
        for (int k = 0; k < 4; k++)
            if (strcmp(text, word[yes][k]) == 0) {
                *out = yes != 0;
                return SADDLE_OK;
            }
    return saddle_refuse(why, "'%s' is neither yes nor no; give yes or no", SADDLE_EXCERPT(text));
}

/* Traces and models contain one setting per line: a line end in a value would forge another setting. */
static saddle_status check_text(const char *text, saddle_error *why)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7F)
            return saddle_refuse(
                why,
                "'%s' has a control character, such as a line end, in it; give a value without it",
                SADDLE_EXCERPT(text));
    return SADDLE_OK;
}

/* Returns the field's value that means "no value". */
static saddle_option_value no_value(const saddle_option *option)
{
    switch (option->kind) {
    case SADDLE_OPTION_INTEGER:
        return (saddle_option_value){
            .integer = option->minimum > 0.0 || option->above_minimum ? 0 : UINT64_MAX};
    case SADDLE_OPTION_REAL:
        return (saddle_option_value){.real = NAN};
    case SADDLE_OPTION_CHOICE:
    case SADDLE_OPTION_FLAG:
    case SADDLE_OPTION_TEXT:
        break;
    }
    return (saddle_option_value){.text = NULL};
}

saddle_status saddle_option_read(const saddle_option *option, const char *text,
                                 saddle_option_value *out, saddle_error *why)
{
    *out = no_value(option);
    if (is_absent(option, text))
        return SADDLE_OK;
    switch (option->kind) {
    case SADDLE_OPTION_FLAG:
        return read_flag(text, &out->flag, why);
    case SADDLE_OPTION_INTEGER:
        return read_integer(option, text, &out->integer, why);
    case SADDLE_OPTION_REAL:
        return read_real(option, text, &out->real, why);
    case SADDLE_OPTION_CHOICE:
        return read_choice(option, text, &out->choice, why);
    case SADDLE_OPTION_TEXT:
        out->text = text;
        return check_text(text, why);
    }
    return saddle_fail(why, SADDLE_CHECK_FAILED, "it is of an unknown kind");
}

saddle_status saddle_options_check(const saddle_option *const *options, saddle_error *error)
{
    saddle_option_value value;
    saddle_error why = {.message = ""};
    for (size_t k = 0; options != NULL && options[k] != NULL; k++) {
        const saddle_option *option = options[k];
        SADDLE_TRY(saddle_option_check(option, error));
        for (size_t other = 0; other < k; other++)
            if (strcmp(options[other]->name, option->name) == 0)
                return saddle_fail(error, SADDLE_CHECK_FAILED,
                                   "option '%s' is declared twice; give each its own name",
                                   option->name);
        if (saddle_option_read(option, option->fallback, &value, &why) != SADDLE_OK)
            return saddle_fail(error, SADDLE_CHECK_FAILED, "the default of option '%s': %.900s",
                               option->name, why.message);
    }
    return SADDLE_OK;
}

/* ---- fields ---------------------------------------------------------------------------------- */

size_t saddle_option_bytes(const saddle_option *option)
{
    static const size_t bytes[] = {[SADDLE_OPTION_FLAG] = sizeof(bool),
                                   [SADDLE_OPTION_INTEGER] = sizeof(uint64_t),
                                   [SADDLE_OPTION_REAL] = sizeof(double),
                                   [SADDLE_OPTION_CHOICE] = sizeof(int),
                                   [SADDLE_OPTION_TEXT] = sizeof(const char *)};
    return bytes[option->kind];
}

void saddle_option_write(const saddle_option *option, const saddle_option_value *value,
                         void *target)
{
    memcpy((char *)target + option->offset, value, saddle_option_bytes(option));
}

void saddle_option_default(const saddle_option *option, void *target)
{
    saddle_option_value value;
    /* The default was checked when the table was first used. */
    saddle_option_read(option, option->fallback, &value, NULL);
    saddle_option_write(option, &value, target);
}

bool saddle_option_holds(const saddle_option *option, const void *field,
                         const saddle_option_value *value)
{
    saddle_option_value there;
    memcpy(&there, field, saddle_option_bytes(option));
    if (option->kind == SADDLE_OPTION_REAL)
        return there.real == value->real || (isnan(there.real) && isnan(value->real));
    if (option->kind == SADDLE_OPTION_TEXT && there.text != NULL && value->text != NULL)
        return strcmp(there.text, value->text) == 0;
    return memcmp(field, value, saddle_option_bytes(option)) == 0;
}

const char *saddle_option_text(const saddle_option *option, const void *field,
                               char buffer[SADDLE_VALUE_SIZE])
{
    saddle_option_value there;
    const char *word[MOST_CHOICES];
    size_t count;
    saddle_option_value none = no_value(option);
    if (is_absent(option, option->fallback) && saddle_option_holds(option, field, &none))
        return option->fallback;
    memcpy(&there, field, saddle_option_bytes(option));
    switch (option->kind) {
    case SADDLE_OPTION_FLAG:
        return there.flag ? "yes" : "no";
    case SADDLE_OPTION_INTEGER:
        saddle_snprintf(buffer, SADDLE_VALUE_SIZE, "%llu", (unsigned long long)there.integer);
        return buffer;
    case SADDLE_OPTION_REAL:
        return saddle_print_real(there.real, 15, buffer);
    case SADDLE_OPTION_CHOICE:
        count = cut_choices(option->choices, buffer, word);
        return there.choice >= 0 && (size_t)there.choice < count ? word[there.choice] : NULL;
    case SADDLE_OPTION_TEXT:
        return there.text != NULL ? there.text : option->fallback;
    }
    return NULL;
}

/* ---- lists of options ------------------------------------------------------------------------ */

static saddle_status refuse_name(const saddle_option *const *options, const char *name,
                                 saddle_error *error)
{
    char list[SADDLE_VALUE_SIZE] = "";
    for (; *options != NULL; options++)
        if ((*options)->home != SADDLE_HOME_OWN && strcmp((*options)->name, name) == 0)
            return saddle_refuse(
                error,
                "'%s' is an option of all algorithms, not of this list; give it outside the list",
                SADDLE_EXCERPT(name));
        else if ((*options)->home == SADDLE_HOME_OWN)
            saddle_append(list, sizeof list, "%s%s", *list == '\0' ? "" : ", ", (*options)->name);
    return saddle_refuse(error, "there is no option '%s'; the options are: %s",
                         SADDLE_EXCERPT(name), *list == '\0' ? "none" : list);
}

/* Returns whether a name occurs before `word` in a list that is already cut at '=' and ',' up to there. */
static bool is_repeated(const char *list, const char *word)
{
    for (const char *name = list; name < word;) {
        if (strcmp(name, word) == 0)
            return true;
        name += strlen(name) + 1;
        name += strlen(name) + 1;
    }
    return false;
}

/* Reads one "name=value", at `word` in the list, into its field. */
static saddle_status parse_one(const saddle_option *const *options, const char *list, char *word,
                               void *target, saddle_error *error)
{
    char *equals = strchr(word, '=');
    if (equals == NULL)
        return saddle_refuse(error,
                             "'%s' is not of the form name=value; give options separated by commas",
                             SADDLE_EXCERPT(word));
    *equals = '\0';
    const saddle_option *const *chosen = options;
    while (*chosen != NULL &&
           ((*chosen)->home != SADDLE_HOME_OWN || strcmp((*chosen)->name, word) != 0))
        chosen++;
    if (*chosen == NULL)
        return refuse_name(options, word, error);
    if (is_repeated(list, word))
        return saddle_refuse(error, "%s is given twice; leave one out", word);
    saddle_option_value value;
    saddle_error why = {.message = ""};
    saddle_status status = saddle_option_read(*chosen, equals + 1, &value, &why);
    if (status != SADDLE_OK)
        return saddle_fail(error, status, "%s: %.900s", word, why.message);
    saddle_option_write(*chosen, &value, target);
    return SADDLE_OK;
}

saddle_status saddle_options_parse(const saddle_option *const *options, char *list, void *target,
                                   saddle_error *error)
{
    for (size_t k = 0; options[k] != NULL; k++) {
        SADDLE_TRY(saddle_option_check(options[k], error));
        if (options[k]->home == SADDLE_HOME_OWN)
            saddle_option_default(options[k], target);
    }
    char *rest = *list != '\0' ? list : NULL;
    for (char *word = strsep(&rest, ","); word != NULL; word = strsep(&rest, ","))
        SADDLE_TRY(parse_one(options, list, word, target, error));
    return SADDLE_OK;
}
