/* The list of constraint sets, making one from text, and functions for all of them. */
#include "sets/set.h"

#include "core/float_mode.h"
#include "sets/kernel.h"
#include "sets/term.h"

static const saddle_set_class *const list[] = {
    &saddle_set_none,    &saddle_set_bounded, &saddle_set_nonneg,    &saddle_set_simplex,
    &saddle_set_l2_ball, &saddle_set_l1_ball, &saddle_set_linf_ball, &saddle_set_blocks,
};

enum { COUNT = sizeof list / sizeof *list };

const saddle_set_class *const *saddle_set_list(size_t *count)
{
    *count = COUNT;
    return list;
}

static const char *missing(const void *kind)
{
    const saddle_set_class *set = kind;
    return set->term.size < sizeof(saddle_set) ? "size of a struct that begins with saddle_set"
           : set->project == NULL              ? "project function"
                                               : NULL;
}

static const saddle_catalog catalog = {.what = "set",
                                       .list = list,
                                       .count = COUNT,
                                       .fields = true,
                                       .exported = offsetof(saddle_plugin_table, set),
                                       .missing = missing};

static size_t own_scratch(const saddle_set *set)
{
    return saddle_set_kind(set)->scratch == NULL ? 0 : saddle_set_kind(set)->scratch(set);
}

/* Returns a new set in `*out`, unless its class needs more scratch than can be allocated. */
static saddle_status finish_set(saddle_set **out, saddle_term *made, saddle_status status,
                                saddle_error *error)
{
    saddle_set *set = (saddle_set *)made;
    size_t scratch = status == SADDLE_OK ? own_scratch(set) : 0;
    if (scratch > SADDLE_MOST_DOUBLES) {
        status =
            saddle_refuse(error, "set %s needs %zu doubles of scratch; at most %zu are possible",
                          set->term.kind->name, scratch, SADDLE_MOST_DOUBLES);
        saddle_set_free(set);
        set = NULL;
    }
    *out = set;
    return status;
}

saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, text);
    saddle_term *made;
    saddle_status status = saddle_term_create(&made, &catalog, text, dimension, error);
    return finish_set(out, made, status, error);
}

saddle_status saddle_set_from_class(saddle_set **out, const saddle_set_class *kind,
                                    const char *argument, void *context, size_t dimension,
                                    saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, kind);
    saddle_term *made;
    saddle_status status =
        saddle_term_from_class(&made, &catalog, &kind->term, argument, context, dimension, error);
    return finish_set(out, made, status, error);
}

void saddle_set_free(saddle_set *set)
{
    saddle_term_free((saddle_term *)set);
}

const char *saddle_set_text(const saddle_set *set)
{
    return set->term.text;
}

size_t saddle_set_dimension(const saddle_set *set)
{
    return set->term.dimension;
}

/* distance() needs a copy of the vector in addition to the scratch of project(). */
size_t saddle_set_scratch(const saddle_set *set)
{
    return set->term.dimension + own_scratch(set);
}

bool saddle_set_is_whole_space(const saddle_set *set)
{
    double lower;
    double upper;
    return saddle_set_uniform_bounds(set, &lower, &upper) && lower == -INFINITY &&
           upper == INFINITY;
}

bool saddle_set_uniform_bounds(const saddle_set *set, double *lower, double *upper)
{
    return saddle_set_kind(set)->uniform_bounds != NULL &&
           saddle_set_kind(set)->uniform_bounds(set, lower, upper);
}

void saddle_set_range(const saddle_set *set, double *lower, double *upper)
{
    *lower = -INFINITY;
    *upper = INFINITY;
    if (saddle_set_kind(set)->range != NULL)
        saddle_set_kind(set)->range(set, lower, upper);
}

double saddle_set_norm_bound(const saddle_set *set)
{
    if (saddle_set_kind(set)->norm_bound != NULL)
        return saddle_set_kind(set)->norm_bound(set);
    double lower;
    double upper;
    saddle_set_range(set, &lower, &upper);
    return fmax(fabs(lower), fabs(upper)) * sqrt((double)set->term.dimension);
}

void saddle_set_project(const saddle_set *set, double *v, double *scratch)
{
    saddle_set_kind(set)->project(set, v, scratch);
}

double saddle_set_distance(const saddle_set *set, const double *v, double *scratch)
{
    size_t count = set->term.dimension;
    memcpy(scratch, v, count * sizeof *v);
    saddle_set_kind(set)->project(set, scratch, scratch + count);
    for (size_t k = 0; k < count; k++)
        scratch[k] -= v[k];
    return saddle_norm(count, scratch);
}
