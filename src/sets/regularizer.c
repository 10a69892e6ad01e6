/* Regularizers: the list of them, making one from text, and the calls on any of them. */
#include "sets/regularizer.h"

#include "core/memory.h"
#include "core/status.h"
#include "sets/parameter.h"

static const saddle_regularizer_class *const list[] = {
    &saddle_regularizer_zero,
    &saddle_regularizer_l1,
    &saddle_regularizer_elastic_net,
    &saddle_regularizer_group_l2,
};

enum { COUNT = sizeof list / sizeof *list };

const saddle_regularizer_class *const *saddle_regularizer_list(size_t *count)
{
    *count = COUNT;
    return list;
}

/* Refuse a class with a required part missing. */
static saddle_status check_class(const saddle_regularizer_class *kind, saddle_error *error)
{
    const char *missing = kind->name == NULL || *kind->name == '\0' ? "name"
                          : kind->size < sizeof(saddle_regularizer)
                              ? "size of a struct that begins with saddle_regularizer"
                          : kind->value == NULL ? "value function"
                          : (kind->weights == NULL) == (kind->shrink == NULL)
                              ? "weights function, or shrink function in its place"
                              : NULL;
    if (missing == NULL)
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT, "a class of regularizers has no %s; set it",
                       missing);
}

/* Fill in a regularizer by its options and its parse(). */
static saddle_status complete(saddle_regularizer *regularizer, char *options, saddle_error *error)
{
    const saddle_regularizer_class *kind = regularizer->kind;
    saddle_status status = saddle_read_options(kind->options, kind->parse != NULL, kind->name,
                                               options, regularizer, error);
    SADDLE_THEN_IF(status, kind->parse != NULL, kind->parse(regularizer, error));
    return status;
}

/* Make a regularizer of a class; `plugin` is the regularizer's from here on. */
static saddle_status make(saddle_regularizer **out, const saddle_regularizer_class *kind,
                          const char *text, void *context, size_t dimension,
                          saddle_plugin_object *plugin, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (dimension == 0)
        status = saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the regularizer '%.200s' has dimension 0; vectors have at least 1 entry", text);
    SADDLE_THEN(status, check_class(kind, error));
    saddle_regularizer *regularizer = status == SADDLE_OK ? saddle_alloc(1, kind->size) : NULL;
    if (regularizer == NULL) {
        saddle_plugin_close(plugin);
        return status != SADDLE_OK ? status : saddle_no_memory(error, "a regularizer");
    }
    char *options;
    regularizer->kind = kind;
    regularizer->context = context;
    regularizer->dimension = dimension;
    regularizer->plugin = plugin;
    regularizer->owned =
        saddle_copy_text(text, &regularizer->text, &regularizer->argument, &options);
    status = regularizer->owned != NULL ? complete(regularizer, options, error)
                                        : saddle_no_memory(error, "a regularizer");
    if (status == SADDLE_OK)
        *out = regularizer;
    else
        saddle_regularizer_free(regularizer);
    return status;
}

/* A regularizer of the class in a plug-in. */
static saddle_status load(saddle_regularizer **out, saddle_plugin_object *plugin, const char *text,
                          size_t dimension, saddle_error *error)
{
    const saddle_regularizer_class *kind = plugin->exported->regularizer;
    if (kind == NULL) {
        saddle_status status = saddle_plugin_lacks(plugin, "regularizer", error);
        saddle_plugin_close(plugin);
        return status;
    }
    saddle_error said = {.message = ""};
    saddle_status status = make(out, kind, text, NULL, dimension, plugin, &said);
    return status == SADDLE_OK ? status : saddle_plugin_failed(text, status, &said, error);
}

saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                        size_t dimension, saddle_error *error)
{
    *out = NULL;
    const char *name[COUNT];
    for (size_t k = 0; k < COUNT; k++)
        name[k] = list[k]->name;
    size_t index;
    saddle_plugin_object *plugin;
    SADDLE_TRY(saddle_find_name("regularizer", text, name, COUNT, &index, &plugin, error));
    return plugin != NULL ? load(out, plugin, text, dimension, error)
                          : make(out, list[index], text, NULL, dimension, NULL, error);
}

saddle_status saddle_regularizer_from_class(saddle_regularizer **out,
                                            const saddle_regularizer_class *kind,
                                            const char *argument, void *context, size_t dimension,
                                            saddle_error *error)
{
    *out = NULL;
    SADDLE_TRY(check_class(kind, error));
    char *text = saddle_class_text(kind->name, argument);
    if (text == NULL)
        return saddle_no_memory(error, "a regularizer");
    saddle_status status = make(out, kind, text, context, dimension, NULL, error);
    saddle_free(text);
    return status;
}

void saddle_regularizer_free(saddle_regularizer *regularizer)
{
    if (regularizer == NULL)
        return;
    saddle_plugin_object *plugin = regularizer->plugin;
    if (regularizer->kind->release != NULL)
        regularizer->kind->release(regularizer);
    saddle_free(regularizer->owned);
    saddle_free(regularizer);
    saddle_plugin_close(plugin);
}

const char *saddle_regularizer_text(const saddle_regularizer *regularizer)
{
    return regularizer->text;
}

bool saddle_regularizer_is_zero(const saddle_regularizer *regularizer)
{
    return regularizer->is_zero;
}

double saddle_regularizer_value(const saddle_regularizer *regularizer, const double *v)
{
    return regularizer->is_zero ? 0.0 : regularizer->kind->value(regularizer, v);
}
