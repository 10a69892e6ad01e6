#include "draw/trace_groups.h"

#include "files/file.h"
#include "files/plugin.h"
#include "instance/same_run.h"

/* The most settings in a label. */
#define MOST_NAMED 3

/* The state of the grouping. */
typedef struct work {
    const saddle_trace *const *trace;
    size_t count;
    trace_groups *out;
} work;

/* The effects of settings in which the runs of a group may differ. */
#define FREE (SADDLE_EFFECTS(RECORD) | SADDLE_EFFECTS(OUTPUT) | SADDLE_EFFECTS(ENGINE))

bool saddle_option_separates(const saddle_option *option)
{
    return !saddle_effect_in(option, FREE) && !SADDLE_IS_FIELD(option, start.seed) &&
           !SADDLE_IS_FIELD(option, algorithm.name);
}

/* The value of a setting; NULL if a trace does not have one whose default is not to be there, because versions of
 * the program have different options. */
static const char *known_value(const void *trace, const saddle_option *option,
                               char buffer[SADDLE_VALUE_SIZE])
{
    const char *value = saddle_trace_setting(trace, option->name);
    (void)buffer;
    return *value == '\0' && *option->fallback != '\0' ? NULL : value;
}

/* The comparison of two traces. */
static saddle_difference difference(const work *w, const saddle_trace *a, const saddle_trace *b)
{
    return (saddle_difference){.options = &w->out->options,
                               .here = {a, known_value},
                               .there = {b, known_value},
                               .may_differ = FREE};
}

static bool differ(const work *w, const saddle_trace *a, const saddle_trace *b,
                   const saddle_option *option)
{
    saddle_difference d = difference(w, a, b);
    return saddle_setting_differs(&d, option);
}

/* Whether two traces differ in more than what depends on their seeds. With `loosely`, options
 * that can be "auto" are assumed to have been. */
static bool apart(const work *w, const saddle_trace *a, const saddle_trace *b, bool loosely)
{
    saddle_difference d = difference(w, a, b);
    while (saddle_next_difference(&d))
        if (saddle_option_separates(d.option) &&
            !(loosely && strcmp(d.option->fallback, "auto") == 0))
            return true;
    return false;
}

/* Whether two traces have the same algorithm, by name and title. Plug-ins with a title are compared
 * by path instead of name: their options are settings of their own. */
static bool same_algorithm(const saddle_trace *a, const saddle_trace *b)
{
    const char *left = saddle_trace_setting(a, "algorithm");
    const char *right = saddle_trace_setting(b, "algorithm");
    const char *title = saddle_trace_setting(a, "title");
    if (*left == '\0' || *right == '\0' || strcmp(title, saddle_trace_setting(b, "title")) != 0)
        return false;
    if (!saddle_plugin_named(left) || *title == '\0')
        return strcmp(left, right) == 0;
    size_t path = strcspn(left, ":");
    return path == strcspn(right, ":") && strncmp(left, right, path) == 0;
}

/* The first trace of a group. */
static const saddle_trace *first_of(const work *w, size_t group)
{
    return w->trace[w->out->group[group].first];
}

/* Whether traces a and b have the same settings, except what depends on their seeds. */
static bool alike(const work *w, size_t a, size_t b, bool loosely)
{
    return same_algorithm(w->trace[a], w->trace[b]) && !apart(w, w->trace[a], w->trace[b], loosely);
}

/* Whether the groups that begin with traces a and b have a seed in common. */
static bool share_seed(const work *w, size_t a, size_t b)
{
    const size_t *first = w->out->of;
    for (size_t i = 0; i < w->count; i++)
        for (size_t j = 0; first[i] == a && j < w->count; j++)
            if (first[j] == b && strcmp(saddle_trace_setting(w->trace[i], "seed"),
                                        saddle_trace_setting(w->trace[j], "seed")) == 0)
                return true;
    return false;
}

/* Finds for every trace the first one of its group. */
static void find_first(work *w)
{
    size_t *first = w->out->of;
    for (size_t k = 0; k < w->count; k++)
        while (first[k] < k && !(first[first[k]] == first[k] && alike(w, first[k], k, false)))
            first[k]++;
    /* Join groups that were probably given the same settings: their seeds differ, and so do only
     * settings that the program chooses if they are not given. */
    for (size_t a = 0; a < w->count; a++)
        for (size_t b = a + 1; first[a] == a && b < w->count; b++)
            if (first[b] == b && alike(w, a, b, true) && !share_seed(w, a, b))
                for (size_t k = b; k < w->count; k++)
                    first[k] = first[k] == b ? a : first[k];
}

/* The algorithm of a trace; NULL: not in the file. */
static const char *algorithm_of(const saddle_trace *trace)
{
    const char *algorithm = saddle_trace_setting(trace, "algorithm");
    return *algorithm != '\0' ? algorithm : NULL;
}

/* The index of an algorithm in the list of algorithms; unknown ones come last. */
static size_t rank_of(const char *algorithm)
{
    size_t count;
    const saddle_algorithm *const *list = saddle_algorithm_list(&count);
    size_t k = 0;
    while (k < count && (algorithm == NULL || strcmp(list[k]->name, algorithm) != 0))
        k++;
    return k;
}

/* Makes the groups from the first trace of each, in the order of the list of algorithms. */
static void make_groups(work *w)
{
    trace_groups *g = w->out;
    for (size_t rank = 0; rank <= rank_of(NULL); rank++)
        for (size_t k = 0; k < w->count; k++)
            if (g->of[k] == k && rank_of(algorithm_of(w->trace[k])) == rank)
                g->group[g->groups++] =
                    (trace_group){.algorithm = algorithm_of(w->trace[k]), .first = k};
    for (size_t k = 0; k < w->count; k++) {
        size_t found = 0;
        while (g->group[found].first != g->of[k])
            found++;
        g->of[k] = found;
        g->group[found].count++;
        g->group[found].untuned = g->group[found].untuned ||
                                  strcmp(saddle_trace_setting(w->trace[k], "untuned"), "yes") == 0;
    }
}

/* Numbers the groups of each algorithm, whatever their titles. */
static void count_repeats(work *w)
{
    trace_groups *g = w->out;
    for (size_t a = 0; a < g->groups; a++)
        for (size_t b = 0; b < a; b++)
            g->group[a].repeat += same_algorithm(first_of(w, a), first_of(w, b)) ||
                                  (g->group[a].algorithm != NULL && g->group[b].algorithm != NULL &&
                                   strcmp(g->group[a].algorithm, g->group[b].algorithm) == 0);
}

/* ---- labels -------------------------------------------------------------------------------- */

/* Writes a value for a label; a number with four digits. */
static void shorten(const saddle_trace *trace, const char *name, char *out, size_t size)
{
    double number;
    const char *value = saddle_trace_setting(trace, name);
    if (strlen(value) > 6 && saddle_parse_real(value, &number))
        saddle_snprintf(out, size, "%.4g", number);
    else
        saddle_snprintf(out, size, "%s", value);
}

/* Whether groups of an algorithm differ from one of them in a setting; *short_is_enough: also if their
 * values are shortened. */
static bool tells_apart(const work *w, const trace_group *group, const saddle_option *option,
                        bool *short_is_enough)
{
    const saddle_trace *mine = w->trace[group->first];
    char own[256];
    char other[256];
    bool found = false;
    *short_is_enough = true;
    shorten(mine, option->name, own, sizeof own);
    for (size_t k = 0; k < w->out->groups; k++) {
        const saddle_trace *trace = first_of(w, k);
        if (!same_algorithm(trace, mine) || !differ(w, mine, trace, option))
            continue;
        found = true;
        shorten(trace, option->name, other, sizeof other);
        *short_is_enough = *short_is_enough && strcmp(own, other) != 0;
    }
    return found;
}

/* Prints ", nu 0.1, topology ring": the settings that distinguish a group from others of its
 * algorithm. */
static void print_differences(const work *w, const trace_group *group, FILE *out)
{
    size_t named = 0;
    for (size_t k = 0; k < saddle_plan_option_count(&w->out->options); k++) {
        const saddle_option *option = saddle_plan_option(&w->out->options, k);
        bool short_is_enough;
        if (!saddle_option_separates(option) || !tells_apart(w, group, option, &short_is_enough) ||
            named++ >= MOST_NAMED)
            continue;
        const saddle_trace *trace = w->trace[group->first];
        char text[256];
        shorten(trace, option->name, text, sizeof text);
        if (*text == '\0')
            saddle_fprintf(out, ", no %s", option->name);
        else
            saddle_fprintf(
                out, ", %s %s", option->name,
                short_is_enough
                    ? text
                    : saddle_excerpt_of(saddle_trace_setting(trace, option->name), NULL).text);
    }
}

/* Prints the title that a trace gives its algorithm, or the name of the algorithm's file; both if
 * another one has the same title. */
static void print_title(const work *w, const trace_group *group, FILE *out)
{
    const saddle_trace *mine = w->trace[group->first];
    const char *title = saddle_trace_setting(mine, "title");
    const char *file = saddle_plugin_label(group->algorithm);
    const char *end = file + strcspn(file, ":");
    bool shared = false;
    for (size_t k = 0; k < w->out->groups; k++)
        shared = shared || (!same_algorithm(first_of(w, k), mine) &&
                            strcmp(saddle_trace_setting(first_of(w, k), "title"), title) == 0);
    if (*title == '\0')
        fputs(SADDLE_EXCERPT(file), out);
    else if (shared && saddle_plugin_named(group->algorithm))
        saddle_fprintf(out, "%s (%s)", SADDLE_EXCERPT(title), saddle_excerpt_of(file, end).text);
    else
        fputs(SADDLE_EXCERPT(title), out);
}

static saddle_status make_label(const work *w, trace_group *group, saddle_error *error)
{
    size_t size = 0;
    FILE *out = open_memstream(&group->label, &size);
    SADDLE_TRY(saddle_check_memory(out, "the name of a curve", error));
    if (group->algorithm == NULL) {
        saddle_put_shown(out, saddle_file_name(w->trace[group->first]->path));
    } else {
        const saddle_algorithm *known = NULL;
        saddle_algorithm_find(&known, group->algorithm, NULL);
        bool titled = *saddle_trace_setting(w->trace[group->first], "title") != '\0';
        if (known != NULL && known->title != NULL && !titled)
            fputs(known->title, out);
        else
            print_title(w, group, out);
        print_differences(w, group, out);
    }
    if (fclose(out) == 0)
        return SADDLE_OK;
    return saddle_no_memory(error, "the name of a curve");
}

/* ---- own options -------------------------------------------------------------------------- */

/* The number of lines of a head that are options: those before what follows from them. */
static size_t count_options(const saddle_trace *trace)
{
    static const char *const after[] = {"title", "fingerprint", "untuned"};
    size_t count = 0;
    for (; count < trace->entries; count++)
        for (size_t k = 0; k < sizeof after / sizeof *after; k++)
            if (strcmp(trace->entry[count].name, after[k]) == 0)
                return count;
    return count;
}

/* Adds the options of traces that the library does not have, such as those of a plug-in. What their values can be
 * is not known, so they may be automatic. */
static saddle_status add_own(work *w, saddle_error *error)
{
    size_t most = 0;
    size_t count = 0;
    for (size_t t = 0; t < w->count; t++)
        most += count_options(w->trace[t]);
    w->out->own = calloc(most + 1, sizeof *w->out->own);
    SADDLE_TRY(saddle_check_memory(w->out->own, "groups of traces", error));
    for (size_t t = 0; t < w->count; t++)
        for (size_t k = 0; k < count_options(w->trace[t]); k++) {
            const char *name = w->trace[t]->entry[k].name;
            saddle_option *own = &w->out->own[count];
            const saddle_option *const one[] = {own, NULL};
            if (saddle_plan_find(&w->out->options, name) != NULL)
                continue;
            *own = (saddle_option){.name = name,
                                   .kind = SADDLE_OPTION_TEXT,
                                   .fallback = "auto",
                                   .home = SADDLE_HOME_OWN};
            count++;
            SADDLE_TRY(saddle_plan_add_options(&w->out->options, one, error));
        }
    return SADDLE_OK;
}

/* ---- the public part ----------------------------------------------------------------------- */

saddle_status saddle_trace_groups_make(trace_groups *out, const saddle_trace *const *trace,
                                       size_t count, saddle_error *error)
{
    *out = (trace_groups){.group = calloc(count + 1, sizeof *out->group),
                          .of = calloc(count + 1, sizeof *out->of)};
    if (out->group == NULL || out->of == NULL) {
        saddle_trace_groups_release(out);
        return saddle_no_memory(error, "groups of traces");
    }
    saddle_plan_defaults(&out->options, sizeof out->options);
    saddle_status status = saddle_plan_add_options(&out->options, NULL, error);
    work w = {.trace = trace, .count = count, .out = out};
    SADDLE_THEN(status, add_own(&w, error));
    if (status == SADDLE_OK) {
        find_first(&w);
        make_groups(&w);
        count_repeats(&w);
        for (size_t k = 0; status == SADDLE_OK && k < out->groups; k++)
            status = make_label(&w, &out->group[k], error);
    }
    if (status != SADDLE_OK)
        saddle_trace_groups_release(out);
    return status;
}

void saddle_trace_groups_release(trace_groups *g)
{
    for (size_t k = 0; g->group != NULL && k < g->groups; k++)
        free(g->group[k].label);
    saddle_plan_free(&g->options);
    free(g->own);
    free(g->group);
    free(g->of);
    *g = (trace_groups){.groups = 0};
}
