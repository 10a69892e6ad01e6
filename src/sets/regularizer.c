/* Regularizers: the list of them, making one from its text, and the calls on any of them. */
#include "sets/regularizer.h"

#include "core/memory.h"
#include "core/status.h"
#include "sets/parameter.h"

#define COUNT (sizeof info / sizeof *info)

/* Three views of the one list, in the same order. */
static const saddle_set_info info[] = {
#define ROW(identifier, name, synopsis, summary) {synopsis, summary},
    SADDLE_REGULARIZERS(ROW)
#undef ROW
};
static const char *const names[] = {
#define ROW(identifier, name, synopsis, summary) name,
    SADDLE_REGULARIZERS(ROW)
#undef ROW
};
static const saddle_regularizer_class *const classes[] = {
#define ROW(identifier, name, synopsis, summary) &saddle_regularizer_##identifier,
    SADDLE_REGULARIZERS(ROW)
#undef ROW
};

const saddle_set_info *saddle_regularizer_list(size_t *count)
{
    *count = COUNT;
    return info;
}

saddle_status saddle_regularizer_create(saddle_regularizer **out, const char *text,
                                        size_t dimension, saddle_error *error)
{
    *out = NULL;
    size_t index;
    saddle_status status = saddle_find_name("regularizer", text, names, COUNT, &index, error);
    if (status != SADDLE_OK)
        return status;
    if (dimension == 0)
        return saddle_fail(
            error, SADDLE_BAD_INPUT,
            "the regularizer '%.200s' has dimension 0; vectors have at least 1 entry", text);
    saddle_regularizer *regularizer = saddle_alloc(1, classes[index]->size);
    if (regularizer == NULL)
        return saddle_no_memory(error, "a regularizer");
    regularizer->class = classes[index];
    regularizer->info = &info[index];
    regularizer->dimension = dimension;
    regularizer->text = saddle_strdup(text);
    status = regularizer->text == NULL ? saddle_no_memory(error, "a regularizer")
                                       : regularizer->class->parse(regularizer, error);
    if (status != SADDLE_OK) {
        saddle_regularizer_free(regularizer);
        return status;
    }
    *out = regularizer;
    return SADDLE_OK;
}

void saddle_regularizer_free(saddle_regularizer *regularizer)
{
    if (regularizer == NULL)
        return;
    saddle_free(regularizer->text);
    saddle_free(regularizer);
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
    return regularizer->is_zero ? 0.0 : regularizer->class->value(regularizer, v);
}
