/* Constraint sets: the list of them, making one from its text, and the calls on any of them. */
#include "sets/set.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "sets/kernel.h"
#include "sets/parameter.h"

#define COUNT (sizeof info / sizeof *info)

/* Three views of the one list, in the same order. */
static const saddle_set_info info[] = {
#define ROW(identifier, name, synopsis, summary) {synopsis, summary},
    SADDLE_SETS(ROW)
#undef ROW
};
static const char *const names[] = {
#define ROW(identifier, name, synopsis, summary) name,
    SADDLE_SETS(ROW)
#undef ROW
};
static const saddle_set_class *const classes[] = {
#define ROW(identifier, name, synopsis, summary) &saddle_set_##identifier,
    SADDLE_SETS(ROW)
#undef ROW
};

const saddle_set_info *saddle_set_list(size_t *count)
{
    *count = COUNT;
    return info;
}

saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                saddle_error *error)
{
    *out = NULL;
    size_t index;
    saddle_status status = saddle_find_name("set", text, names, COUNT, &index, error);
    if (status != SADDLE_OK)
        return status;
    if (dimension == 0)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "the set '%.200s' has dimension 0; vectors have at least 1 entry", text);
    saddle_set *set = saddle_alloc(1, classes[index]->size);
    if (set == NULL)
        return saddle_no_memory(error, "a set");
    set->class = classes[index];
    set->info = &info[index];
    set->dimension = dimension;
    set->text = saddle_strdup(text);
    status = set->text == NULL ? saddle_no_memory(error, "a set") : set->class->parse(set, error);
    if (status != SADDLE_OK) {
        saddle_set_free(set);
        return status;
    }
    *out = set;
    return SADDLE_OK;
}

void saddle_set_free(saddle_set *set)
{
    if (set == NULL)
        return;
    if (set->class->free != NULL)
        set->class->free(set);
    saddle_free(set->text);
    saddle_free(set);
}

const char *saddle_set_text(const saddle_set *set)
{
    return set->text;
}

size_t saddle_set_dimension(const saddle_set *set)
{
    return set->dimension;
}

/* What project() needs, and for distance() a copy of the vector before it. */
size_t saddle_set_scratch(const saddle_set *set)
{
    return set->dimension + (set->class->scratch == NULL ? 0 : set->class->scratch(set));
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
    return set->class->uniform_bounds != NULL && set->class->uniform_bounds(set, lower, upper);
}

void saddle_set_range(const saddle_set *set, double *lower, double *upper)
{
    set->class->range(set, lower, upper);
}

double saddle_set_norm_bound(const saddle_set *set)
{
    if (set->class->norm_bound != NULL)
        return set->class->norm_bound(set);
    double lower;
    double upper;
    saddle_set_range(set, &lower, &upper);
    return fmax(fabs(lower), fabs(upper)) * sqrt((double)set->dimension);
}

void saddle_set_project(const saddle_set *set, double *v, double *scratch)
{
    set->class->project(set, v, scratch);
}

double saddle_set_distance(const saddle_set *set, const double *v, double *scratch)
{
    size_t count = set->dimension;
    memcpy(scratch, v, count * sizeof *v);
    set->class->project(set, scratch, scratch + count);
    for (size_t k = 0; k < count; k++)
        scratch[k] -= v[k];
    return saddle_norm(count, scratch);
}
