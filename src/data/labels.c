/* Labels: finding the distinct ones, and converting them to signs, classes or numbers as a problem needs them. */
#include "core/compare.h"
#include "core/float_mode.h"
#include "data/dataset.h"

/* Up to this many distinct labels are collected in order, without sorting all labels. */
#define FEW_CLASSES 64

/* Returns the index of the first of the ascending distinct labels that is not below `label`. */
static size_t place_of(const double *classes, size_t count, double label)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (classes[low + half] < label) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

size_t saddle_labels_distinct(double *label, size_t count)
{
    size_t distinct = 0;
    size_t next = 0;
    size_t place = 0;
    /* Classes repeat: keep those found so far in order at the front. */
    for (; next < count && distinct < FEW_CLASSES; next++) {
        double found = label[next];
        if (place < distinct && label[place] == found)
            continue;
        place = place_of(label, distinct, found);
        if (place < distinct && label[place] == found)
            continue;
        memmove(label + place + 1, label + place, (distinct - place) * sizeof *label);
        label[place] = found;
        distinct++;
    }
    if (next == count)
        return distinct;
    memmove(label + distinct, label + next, (count - next) * sizeof *label);
    count -= next - distinct;
    distinct = 0;
    qsort(label, count, sizeof *label, saddle_compare_reals);
    for (size_t k = 0; k < count; k++)
        if (distinct == 0 || label[k] != label[distinct - 1])
            label[distinct++] = label[k];
    return distinct;
}

saddle_status saddle_dataset_classes(const saddle_dataset *data, double **out, size_t *count,
                                     saddle_error *error)
{
    *out = NULL;
    *count = 0;
    double *label = saddle_alloc_doubles(data->rows);
    SADDLE_TRY(saddle_check_memory(label, "the labels", error));
    memcpy(label, data->label, data->rows * sizeof *label);
    *out = label;
    *count = saddle_labels_distinct(label, data->rows);
    return SADDLE_OK;
}

size_t saddle_class_of(const double *classes, size_t count, double label)
{
    const double *found = bsearch(&label, classes, count, sizeof *classes, saddle_compare_reals);
    return found != NULL ? (size_t)(found - classes) : count;
}

/* Labels as messages list them: "0, 1, 2 and 7 more". */
typedef struct label_list {
    char text[256];
} label_list;

static label_list list_labels(const double *classes, size_t count)
{
    label_list list = {""};
    char text[SADDLE_REAL_SIZE];
    size_t shown = 0;
    for (; shown < count && strlen(list.text) + 64 < sizeof list.text; shown++)
        saddle_append(list.text, sizeof list.text, "%s%s", shown > 0 ? ", " : "",
                      saddle_print_real(classes[shown], 15, text));
    if (shown < count)
        saddle_append(list.text, sizeof list.text, " and %zu more", count - shown);
    return list;
}

static bool are_digits(const double *classes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (classes[k] != (double)k)
            return false;
    return count == 10;
}

/* Parses "7" or "5-9", including negative numbers ("-3--1") and exponents ("1e-3"). */
static bool parse_range(const char *item, const char *end, double *low, double *high)
{
    const char *stop = saddle_scan_real(item, end, low);
    *high = *low;
    return stop == end || (stop != NULL && *stop == '-' &&
                           saddle_scan_real(stop + 1, end, high) == end && *low <= *high);
}

/* Marks the labels that one item of the list names; there must be one, unless `any` is set. */
static saddle_status mark_item(const char *item, size_t length, bool any, const double *classes,
                               size_t count, bool *positive, saddle_error *error)
{
    double low = 0.0;
    double high = 0.0;
    bool found = false;
    if (!parse_range(item, item + length, &low, &high))
        return saddle_refuse(error,
                             "--positive: '%.*s' is neither a number nor a range such as 5-9",
                             (int)length, item);
    for (size_t k = 0; k < count; k++)
        if (classes[k] >= low && classes[k] <= high)
            positive[k] = found = true;
    if (found || any)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--positive: label '%.*s' does not occur in the data; its labels are %s",
                         (int)length, item, list_labels(classes, count).text);
}

/* Finds the list that "auto" stands for. */
static saddle_status find_rule(char **out, const double *classes, size_t count, saddle_error *error)
{
    char text[SADDLE_REAL_SIZE];
    if (count == 2 || are_digits(classes, count)) {
        *out = saddle_strdup(count == 2 ? saddle_print_real(classes[1], 15, text) : "5-9");
        return saddle_check_memory(*out, "the labels", error);
    }
    label_list seen = list_labels(classes, count);
    if (count == 1)
        return saddle_refuse(error,
                             "--data: two classes are needed, but the data have only 1 label (%s); "
                             "give rows of both",
                             seen.text);
    const char *last = saddle_print_real(classes[count - 1], 15, text);
    return saddle_refuse(error,
                         "--positive: two classes are needed, but the data have %zu different "
                         "labels (%s); give the positive ones, such as %s or %s,%s",
                         count, seen.text, last, list_labels(classes + count - 2, 1).text, last);
}

/* Sets `marked` where a list names a distinct label. Unless `any` is set, every item must occur and some
 * label must remain unmarked. */
static saddle_status mark(const char *rule, bool any, const double *classes, size_t count,
                          bool *marked, saddle_error *error)
{
    size_t length;
    const char *rest = rule;
    for (const char *item; (item = saddle_next_item(&rest, &length)) != NULL;)
        SADDLE_TRY(mark_item(item, length, any, classes, count, marked, error));
    size_t chosen = 0;
    for (size_t k = 0; k < count; k++)
        chosen += marked[k];
    if (chosen == count && !any)
        return saddle_refuse(
            error, "--positive: the labels '%s' cover every row; leave some label negative", rule);
    return SADDLE_OK;
}

/* Determines the list of positive labels; a given one is checked. */
static saddle_status settle_signs(const char *wanted, const double *classes, size_t count,
                                  char **rule, saddle_error *error)
{
    if (wanted == NULL)
        return find_rule(rule, classes, count, error);
    SADDLE_OWNED bool *marked = saddle_alloc(count, sizeof *marked);
    SADDLE_TRY(saddle_check_memory(marked, "the labels", error));
    SADDLE_TRY(mark(wanted, false, classes, count, marked, error));
    *rule = saddle_strdup(wanted);
    return saddle_check_memory(*rule, "the labels", error);
}

/* ---- classes ---- */

/* Formats classes as "0,1,2.5"; the caller frees it. NULL when memory is short. */
static char *print_classes(const double *classes, size_t count)
{
    char *list = saddle_alloc(count, SADDLE_REAL_SIZE);
    char *end = list;
    for (size_t k = 0; list != NULL && k < count; k++) {
        char text[SADDLE_REAL_SIZE];
        end += saddle_snprintf(end, SADDLE_REAL_SIZE, "%s%s", k > 0 ? "," : "",
                               saddle_print_real(classes[k], 15, text));
    }
    return list;
}

saddle_status saddle_labels_parse(const char *list, double **out, size_t *count,
                                  saddle_error *error)
{
    size_t items = 1;
    for (const char *at = list; *at != '\0'; at++)
        items += *at == ',';
    *count = 0;
    *out = saddle_alloc_doubles(items);
    SADDLE_TRY(saddle_check_memory(*out, "the classes", error));
    size_t length;
    size_t k = 0;
    const char *rest = list;
    for (const char *item; (item = saddle_next_item(&rest, &length)) != NULL; k++)
        if (saddle_scan_real(item, item + length, &(*out)[k]) != item + length) {
            saddle_free(*out);
            *out = NULL;
            return saddle_refuse(error,
                                 "--classes: '%.*s' is not a number; give the labels of the "
                                 "classes separated by commas, such as 0,1,2",
                                 (int)length, item);
        }
    *count = saddle_labels_distinct(*out, items);
    return SADDLE_OK;
}

/* Fails because a label is not among the classes. */
static saddle_status not_a_class(double label, const double *classes, size_t count,
                                 saddle_error *error)
{
    return saddle_refuse(
        error, "label %s is not among the classes %s; remove its rows, or train with that class",
        list_labels(&label, 1).text, list_labels(classes, count).text);
}

/* Formats the classes of a problem as *rule; fails if they are too few or too many. */
static saddle_status print_rule(const double *classes, size_t count, char **rule,
                                saddle_error *error)
{
    if (count < 2 || count > SADDLE_MOST_CLASSES)
        return saddle_refuse(
            error,
            "--classes: the problem needs 2 to %d classes, but there %s %zu %slabel%s (%s); %s",
            SADDLE_MOST_CLASSES, count == 1 ? "is only" : "are", count,
            count == 1 ? "" : "different ", SADDLE_PLURAL(count), list_labels(classes, count).text,
            count == 1 ? "give rows of several classes"
                       : "for labels that are measurements, choose a regression problem");
    *rule = print_classes(classes, count);
    return saddle_check_memory(*rule, "the classes", error);
}

static saddle_status settle_classes(const char *wanted, const double *label, size_t count,
                                    char **rule, saddle_error *error)
{
    SADDLE_OWNED double *classes = NULL;
    size_t listed = 0;
    if (wanted == NULL)
        return print_rule(label, count, rule, error);
    SADDLE_TRY(saddle_labels_parse(wanted, &classes, &listed, error));
    for (size_t k = 0; k < count; k++)
        if (saddle_class_of(classes, listed, label[k]) == listed)
            SADDLE_TRY(
                saddle_in_field("--classes", not_a_class(label[k], classes, listed, error), error));
    return print_rule(classes, listed, rule, error);
}

/* ---- conversion for a problem ---- */

static bool is_auto(const char *list)
{
    return list == NULL || strcmp(list, "auto") == 0;
}

saddle_status saddle_labels_settle(saddle_label_kind kind, const char *wanted,
                                   const double *classes, size_t count, char **rule, char **known,
                                   saddle_error *error)
{
    *rule = NULL;
    *known = NULL;
    if (is_auto(wanted))
        wanted = NULL;
    if (kind == SADDLE_LABELS_REAL)
        return SADDLE_OK;
    if (kind == SADDLE_LABELS_CLASSES)
        return settle_classes(wanted, classes, count, rule, error);
    SADDLE_TRY(settle_signs(wanted, classes, count, rule, error));
    if (count > SADDLE_MOST_CLASSES)
        return SADDLE_OK;
    *known = print_classes(classes, count);
    return saddle_check_memory(*known, "the labels", error);
}

/* Fails because a label is neither positive nor among the known negative ones. Moves the latter to the front of
 * `known`. */
static saddle_status not_a_sign(double label, const char *positive, double *known, size_t count,
                                saddle_error *error)
{
    SADDLE_OWNED bool *marked = saddle_alloc(count, sizeof *marked);
    SADDLE_TRY(saddle_check_memory(marked, "the labels", error));
    SADDLE_TRY(mark(positive, true, known, count, marked, error));
    size_t negative = 0;
    for (size_t k = 0; k < count; k++)
        if (!marked[k])
            known[negative++] = known[k];
    return saddle_refuse(error,
                         "label %s is neither positive (%.200s) nor negative (%s) in the training "
                         "data; remove its rows, or recode them",
                         list_labels(&label, 1).text, positive, list_labels(known, negative).text);
}

/* Refuses an unmarked label that is not among those of the list `known`; "auto" or NULL: any label is. */
static saddle_status check_negative(const saddle_label_rule *rule, const double *classes,
                                    size_t count, const bool *marked, saddle_error *error)
{
    SADDLE_OWNED double *known = NULL;
    size_t listed = 0;
    if (is_auto(rule->classes))
        return SADDLE_OK;
    SADDLE_TRY(saddle_labels_parse(rule->classes, &known, &listed, error));
    for (size_t k = 0; k < count; k++)
        if (!marked[k] && saddle_class_of(known, listed, classes[k]) == listed)
            SADDLE_TRY(not_a_sign(classes[k], rule->positive, known, listed, error));
    return SADDLE_OK;
}

static saddle_status apply_signs(const saddle_label_rule *rule, saddle_dataset *data,
                                 saddle_error *error)
{
    SADDLE_OWNED double *classes = NULL;
    size_t count = 0;
    SADDLE_TRY(saddle_dataset_classes(data, &classes, &count, error));
    SADDLE_OWNED bool *marked = saddle_alloc(count, sizeof *marked);
    SADDLE_TRY(saddle_check_memory(marked, "the labels", error));
    SADDLE_TRY(mark(rule->positive, true, classes, count, marked, error));
    SADDLE_TRY(check_negative(rule, classes, count, marked, error));
    for (size_t k = 0; k < data->rows; k++)
        data->label[k] = marked[saddle_class_of(classes, count, data->label[k])] ? 1.0 : -1.0;
    return SADDLE_OK;
}

static saddle_status apply_classes(const char *rule, saddle_dataset *data, saddle_error *error)
{
    SADDLE_OWNED double *classes = NULL;
    size_t count = 0;
    SADDLE_TRY(saddle_labels_parse(rule, &classes, &count, error));
    for (size_t k = 0; k < data->rows; k++) {
        size_t place = saddle_class_of(classes, count, data->label[k]);
        if (place == count)
            SADDLE_TRY(not_a_class(data->label[k], classes, count, error));
        else
            data->label[k] = (double)place;
    }
    return SADDLE_OK;
}

saddle_status saddle_labels_apply(const saddle_label_rule *rule, saddle_dataset *data,
                                  saddle_error *error)
{
    return rule->kind == SADDLE_LABELS_REAL    ? SADDLE_OK
           : rule->kind == SADDLE_LABELS_SIGNS ? apply_signs(rule, data, error)
                                               : apply_classes(rule->classes, data, error);
}

/* ---- signs, for callers with their own data ---- */

saddle_status saddle_dataset_positive(const saddle_dataset *data, const char *positive, char **out,
                                      saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, data);
    SADDLE_OWNED double *classes = NULL;
    size_t count = 0;
    SADDLE_TRY(saddle_dataset_classes(data, &classes, &count, error));
    return settle_signs(is_auto(positive) ? NULL : positive, classes, count, out, error);
}

saddle_status saddle_dataset_make_binary(saddle_dataset *data, const char *positive,
                                         saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, data);
    SADDLE_OWNED char *rule = NULL;
    SADDLE_TRY(saddle_dataset_positive(data, positive, &rule, error));
    return saddle_dataset_label(data, rule, error);
}

saddle_status saddle_dataset_label(saddle_dataset *data, const char *positive, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, data, positive);
    const saddle_label_rule rule = {.kind = SADDLE_LABELS_SIGNS, .positive = positive};
    return apply_signs(&rule, data, error);
}
