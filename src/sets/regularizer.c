/* The list of regularizers, making one from text, and functions for all of them. */
#include "sets/set.h"

#include "core/float_mode.h"
#include "sets/term.h"

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

static const char *missing(const void *kind)
{
    const saddle_regularizer_class *h = kind;
    return h->term.size < sizeof(saddle_regularizer)
               ? "size of a struct that begins with saddle_regularizer"
           : h->value == NULL                            ? "value function"
           : (h->weights == NULL) == (h->shrink == NULL) ? "weights function or shrink function"
                                                         : NULL;
}

static const saddle_catalog catalog = {.what = "regularizer",
                                       .list = list,
                                       .count = COUNT,
                                       .fields = true,
                                       .exported = offsetof(saddle_plugin_table, regularizer),
                                       .missing = missing};

saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                        size_t dimension, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, text);
    saddle_term *made;
    SADDLE_TRY(saddle_term_create(&made, &catalog, text, dimension, error));
    *out = (saddle_regularizer *)made;
    return SADDLE_OK;
}

saddle_status saddle_regularizer_from_class(saddle_regularizer **out,
                                            const saddle_regularizer_class *kind,
                                            const char *argument, void *context, size_t dimension,
                                            saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, kind);
    saddle_term *made;
    SADDLE_TRY(
        saddle_term_from_class(&made, &catalog, &kind->term, argument, context, dimension, error));
    *out = (saddle_regularizer *)made;
    return SADDLE_OK;
}

void saddle_regularizer_free(saddle_regularizer *regularizer)
{
    saddle_term_free((saddle_term *)regularizer);
}

const char *saddle_regularizer_text(const saddle_regularizer *regularizer)
{
    return regularizer->term.text;
}

bool saddle_regularizer_is_zero(const saddle_regularizer *regularizer)
{
    return regularizer->is_zero;
}

double saddle_regularizer_value(const saddle_regularizer *regularizer, const double *v)
{
    return regularizer->is_zero ? 0.0 : saddle_regularizer_kind(regularizer)->value(regularizer, v);
}
