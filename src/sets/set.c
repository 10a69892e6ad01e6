/* Constraint sets: the list of them, making one from text, and the calls on any of them. */
#include "sets/set.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/status.h"
#include "sets/kernel.h"
#include "sets/parameter.h"

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

/* Refuse a class with a required part missing. */
static saddle_status check_class(const saddle_set_class *kind, saddle_error *error)
{
    const char *missing = kind->name == NULL || *kind->name == '\0' ? "name"
                          : kind->size < sizeof(saddle_set)
                              ? "size of a struct that begins with saddle_set"
                          : kind->project == NULL ? "project function"
                                                  : NULL;
    if (missing == NULL)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT, "a class of sets has no %s; set it", missing);
}

/* Fill in a set by its options and its parse(). */
static saddle_status complete(saddle_set *set, char *options, saddle_error *error)
{
    const saddle_set_class *kind = set->kind;
    saddle_status status =
        saddle_read_options(kind->options, kind->parse != NULL, kind->name, options, set, error);
    SADDLE_THEN_IF(status, kind->parse != NULL, kind->parse(set, error));
    return status;
}

/* Make a set of a class; `plugin` is the set's from here on. */
static saddle_status make(saddle_set **out, const saddle_set_class *kind, const char *text,
                          void *context, size_t dimension, saddle_plugin_object *plugin,
                          saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (dimension == 0)
        status =
            saddle_fail(error, SADDLE_BAD_INPUT,
                        "the set '%.200s' has dimension 0; vectors have at least 1 entry", text);
    SADDLE_THEN(status, check_class(kind, error));
    saddle_set *set = status == SADDLE_OK ? saddle_alloc(1, kind->size) : NULL;
    if (set == NULL) {
        saddle_plugin_close(plugin);
        return status != SADDLE_OK ? status : saddle_no_memory(error, "a set");
    }
    char *options;
    set->kind = kind;
    set->context = context;
    set->dimension = dimension;
    set->plugin = plugin;
    set->owned = saddle_copy_text(text, &set->text, &set->argument, &options);
    status = set->owned != NULL ? complete(set, options, error) : saddle_no_memory(error, "a set");
    if (status == SADDLE_OK)
        *out = set;
    else
        saddle_set_free(set);
    return status;
}

/* A set of the class in a plug-in. */
static saddle_status load(saddle_set **out, saddle_plugin_object *plugin, const char *text,
                          size_t dimension, saddle_error *error)
{
    const saddle_set_class *kind = plugin->exported->set;
    if (kind == NULL) {
        saddle_status status = saddle_plugin_lacks(plugin, "set", error);
        saddle_plugin_close(plugin);
        return status;
    }
    saddle_error said = {.message = ""};
    saddle_status status = make(out, kind, text, NULL, dimension, plugin, &said);
    return status == SADDLE_OK ? status : saddle_plugin_failed(text, status, &said, error);
}

saddle_status saddle_set_create(saddle_set **out, const char *text, size_t dimension,
                                saddle_error *error)
{
    *out = NULL;
    const char *name[COUNT];
    for (size_t k = 0; k < COUNT; k++)
        name[k] = list[k]->name;
    size_t index;
    saddle_plugin_object *plugin;
    SADDLE_TRY(saddle_find_name("set", text, name, COUNT, &index, &plugin, error));
    return plugin != NULL ? load(out, plugin, text, dimension, error)
                          : make(out, list[index], text, NULL, dimension, NULL, error);
}

saddle_status saddle_set_from_class(saddle_set **out, const saddle_set_class *kind,
                                    const char *argument, void *context, size_t dimension,
                                    saddle_error *error)
{
    *out = NULL;
    SADDLE_TRY(check_class(kind, error));
    char *text = saddle_class_text(kind->name, argument);
    if (text == NULL)
        return saddle_no_memory(error, "a set");
    saddle_status status = make(out, kind, text, context, dimension, NULL, error);
    saddle_free(text);
    return status;
}

void saddle_set_free(saddle_set *set)
{
    if (set == NULL)
        return;
    saddle_plugin_object *plugin = set->plugin;
    if (set->kind->release != NULL)
        set->kind->release(set);
    saddle_free(set->owned);
    saddle_free(set);
    saddle_plugin_close(plugin);
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
    return set->dimension + (set->kind->scratch == NULL ? 0 : set->kind->scratch(set));
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
    return set->kind->uniform_bounds != NULL && set->kind->uniform_bounds(set, lower, upper);
}

void saddle_set_range(const saddle_set *set, double *lower, double *upper)
{
    *lower = -INFINITY;
    *upper = INFINITY;
    if (set->kind->range != NULL)
        set->kind->range(set, lower, upper);
}

double saddle_set_norm_bound(const saddle_set *set)
{
    if (set->kind->norm_bound != NULL)
        return set->kind->norm_bound(set);
    double lower;
    double upper;
    saddle_set_range(set, &lower, &upper);
    return fmax(fabs(lower), fabs(upper)) * sqrt((double)set->dimension);
}

void saddle_set_project(const saddle_set *set, double *v, double *scratch)
{
    set->kind->project(set, v, scratch);
}

double saddle_set_distance(const saddle_set *set, const double *v, double *scratch)
{
    size_t count = set->dimension;
    memcpy(scratch, v, count * sizeof *v);
    set->kind->project(set, scratch, scratch + count);
    for (size_t k = 0; k < count; k++)
        scratch[k] -= v[k];
    return saddle_norm(count, scratch);
}
