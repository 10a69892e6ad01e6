/*
 * Powers of one interval, [lower, upper]^n: none, box:LO:HI, nonneg and linf-ball:R. The projection
 * clips each coordinate in O(n).
 */
#include "sets/kernel.h"
#include "sets/set.h"
#include "sets/term.h"

typedef struct interval {
    saddle_set base;
    double lower; /* possibly -inf */
    double upper; /* possibly inf */
} interval;

static saddle_status init_none(void *self, saddle_error *error)
{
    interval *set = self;
    set->lower = -INFINITY;
    set->upper = INFINITY;
    return saddle_term_numbers(&set->base.term, SADDLE_POSITIVE, NULL, error);
}

static saddle_status init_nonneg(void *self, saddle_error *error)
{
    interval *set = self;
    set->upper = INFINITY;
    return saddle_term_numbers(&set->base.term, SADDLE_POSITIVE, NULL, error);
}

static saddle_status init_ball(void *self, saddle_error *error)
{
    interval *set = self;
    SADDLE_TRY(
        saddle_term_numbers(&set->base.term, SADDLE_POSITIVE, (double *[]){&set->upper}, error));
    set->lower = -set->upper;
    return SADDLE_OK;
}

/* Parses a finite number, "inf" or "-inf". */
static bool read_bound(const char *field, double *out)
{
    if (strcmp(field, "inf") == 0)
        *out = INFINITY;
    else if (strcmp(field, "-inf") == 0)
        *out = -INFINITY;
    else
        return saddle_parse_real(field, out);
    return true;
}

/* Refuses bounds that leave the set empty. */
static saddle_status init_box(void *self, saddle_error *error)
{
    interval *set = self;
    const saddle_term *term = &set->base.term;
    const char *synopsis = term->kind->synopsis;
    saddle_fields fields;
    SADDLE_TRY(saddle_term_fields(&fields, term, error));
    double *bound[2] = {&set->lower, &set->upper};
    for (size_t i = 0; i < 2; i++)
        if (!read_bound(fields.field[i + 1], bound[i]))
            return saddle_refuse(error, "'%.200s': '%.200s' is not a number, inf or -inf; write %s",
                                 term->text, fields.field[i + 1], synopsis);
    if (!(set->lower <= set->upper))
        return saddle_refuse(error, "'%.200s': LO is above HI; write %s with LO <= HI", term->text,
                             synopsis);
    if (set->lower == INFINITY || set->upper == -INFINITY)
        return saddle_refuse(
            error, "'%.200s' contains no finite number; write %s with LO < inf and HI > -inf",
            term->text, synopsis);
    return SADDLE_OK;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project_none(const saddle_set *set, double *v, double *scratch)
{
    (void)set;
    (void)v;
    (void)scratch;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the signature is the table's */
static void project(const saddle_set *set, double *v, double *scratch)
{
    const interval *self = (const interval *)set;
    (void)scratch;
    saddle_clip(set->term.dimension, self->lower, self->upper, v);
}

static void range(const saddle_set *set, double *lower, double *upper)
{
    *lower = ((const interval *)set)->lower;
    *upper = ((const interval *)set)->upper;
}

static bool uniform_bounds(const saddle_set *set, double *lower, double *upper)
{
    range(set, lower, upper);
    return true;
}

#define INTERVAL(id, form, words, start)                                 \
    .term = {.name = (id),                                               \
             .synopsis = (form),                                         \
             .summary = (words),                                         \
             .size = sizeof(interval),                                   \
             .init = (start)},                                           \
    .range = range, .uniform_bounds = uniform_bounds, .separable = true, \
    .l1_rule = SADDLE_PROX_SHRINK_PROJECT

const saddle_set_class saddle_set_none = {
    INTERVAL("none", "none", "the whole space: no constraint", init_none),
    .project = project_none,
    .group_rule = SADDLE_PROX_SHRINK_PROJECT,
};

const saddle_set_class saddle_set_bounded = {
    INTERVAL("box", "box:LO:HI", "LO <= x_k <= HI for every entry; LO may be -inf and HI inf",
             init_box),
    .project = project,
};

const saddle_set_class saddle_set_nonneg = {
    INTERVAL("nonneg", "nonneg", "x_k >= 0 for every entry", init_nonneg),
    .project = project,
    .group_rule = SADDLE_PROX_PROJECT_SHRINK,
};

const saddle_set_class saddle_set_linf_ball = {
    INTERVAL("linf-ball", "linf-ball:R", "|x_k| <= R for every entry", init_ball),
    .project = project,
};
