#include "sets/term.h"

/* Messages repeat at most this much of a user's text, so that the remedy always fits. */
#define SHOWN "%.200s"

/* ---- making a term ---- */

/* Copies the text; `options` is another copy of what follows its first colon, which the parser
 * may modify. */
static saddle_status copy_text(saddle_term *term, const char *text, char **options,
                               saddle_error *error)
{
    size_t bytes = strlen(text) + 1;
    size_t name = strcspn(text, ":");
    size_t after = name + (text[name] == ':' ? 1 : 0);
    term->owned = saddle_alloc(2 * bytes, 1);
    if (term->owned == NULL)
        return saddle_no_memory(error, term->kind->name);
    memcpy(term->owned, text, bytes);
    memcpy(term->owned + bytes, text, bytes);
    term->text = term->owned;
    term->argument = term->owned + after;
    *options = term->owned + bytes + after;
    return SADDLE_OK;
}

/* Makes a term of a class that has been checked. Takes ownership of `plugin`. */
static saddle_status make(saddle_term **out, const saddle_term_class *kind, const char *text,
                          void *context, size_t dimension, saddle_plugin_object *plugin,
                          saddle_error *error)
{
    saddle_term *term = saddle_alloc(1, kind->size);
    if (term == NULL) {
        saddle_plugin_close(plugin);
        return saddle_no_memory(error, kind->name);
    }
    char *options;
    *term =
        (saddle_term){.kind = kind, .context = context, .dimension = dimension, .plugin = plugin};
    saddle_status status = copy_text(term, text, &options, error);
    if (status == SADDLE_OK && dimension == 0)
        status = saddle_refuse(error, "'" SHOWN "' has dimension 0; it must be at least 1", text);
    if (status == SADDLE_OK && dimension > SADDLE_MOST_DOUBLES)
        status = saddle_refuse(error, "'" SHOWN "' has dimension %zu; it can be at most %zu", text,
                               dimension, SADDLE_MOST_DOUBLES);
    SADDLE_THEN(status, saddle_plugin_options(kind->options, kind->init != NULL, kind->name,
                                              options, term, error));
    if (status == SADDLE_OK && kind->init != NULL) {
        saddle_error said = {.message = ""};
        status = saddle_pass_on(error, kind->init(term, &said), &said, "class", kind->name);
    }
    if (status == SADDLE_OK)
        *out = term;
    else
        saddle_term_free(term);
    return status;
}

saddle_status saddle_term_create(saddle_term **out, const saddle_catalog *catalog, const char *text,
                                 size_t dimension, saddle_error *error)
{
    *out = NULL;
    const void *kind;
    saddle_plugin_object *plugin;
    SADDLE_TRY(saddle_catalog_choose(catalog, text, &kind, &plugin, error));
    if (plugin == NULL)
        return make(out, kind, text, NULL, dimension, NULL, error);
    saddle_error said = {.message = ""};
    saddle_status status = make(out, kind, text, NULL, dimension, plugin, &said);
    return status == SADDLE_OK ? status : saddle_plugin_failed(text, status, &said, error);
}

saddle_status saddle_term_from_class(saddle_term **out, const saddle_catalog *catalog,
                                     const saddle_term_class *kind, const char *argument,
                                     void *context, size_t dimension, saddle_error *error)
{
    *out = NULL;
    SADDLE_TRY(saddle_catalog_check(catalog, kind, kind->name, error));
    bool bare = argument == NULL || *argument == '\0';
    SADDLE_OWNED char *text =
        saddle_format("%s%s%s", kind->name, bare ? "" : ":", bare ? "" : argument);
    if (text == NULL)
        return saddle_no_memory(error, kind->name);
    return make(out, kind, text, context, dimension, NULL, error);
}

void saddle_term_free(saddle_term *term)
{
    if (term == NULL)
        return;
    saddle_plugin_object *plugin = term->plugin;
    if (term->kind->release != NULL)
        term->kind->release(term);
    saddle_free(term->owned);
    saddle_free(term);
    saddle_plugin_close(plugin);
}

/* ---- parameters ---- */

saddle_status saddle_term_fields(saddle_fields *out, const saddle_term *term, saddle_error *error)
{
    saddle_fields wanted;
    saddle_split(&wanted, term->kind->synopsis);
    if (saddle_split(out, term->text) && out->count == wanted.count)
        return SADDLE_OK;
    return saddle_refuse(error, "'" SHOWN "' has the wrong number of fields; write %s", term->text,
                         term->kind->synopsis);
}

saddle_status saddle_term_number(double *out, const saddle_term *term, const saddle_fields *fields,
                                 size_t index, saddle_sign sign, saddle_error *error)
{
    const char *synopsis = term->kind->synopsis;
    double value;
    if (!saddle_parse_real(fields->field[index], &value))
        return saddle_refuse(error, "'" SHOWN "': '" SHOWN "' is not a finite number; write %s",
                             term->text, fields->field[index], synopsis);
    if (!(sign == SADDLE_POSITIVE ? value > 0.0 : value >= 0.0)) {
        saddle_fields name;
        saddle_split(&name, synopsis);
        return saddle_refuse(error, "'" SHOWN "': %.*s must be %s 0; write %s", term->text,
                             (int)strcspn(name.field[index], "]"), name.field[index],
                             sign == SADDLE_POSITIVE ? "above" : "at least", synopsis);
    }
    *out = value;
    return SADDLE_OK;
}

saddle_status saddle_term_numbers(const saddle_term *term, saddle_sign sign, double *const *out,
                                  saddle_error *error)
{
    saddle_fields fields;
    SADDLE_TRY(saddle_term_fields(&fields, term, error));
    for (size_t k = 1; k < fields.count; k++)
        SADDLE_TRY(saddle_term_number(out[k - 1], term, &fields, k, sign, error));
    return SADDLE_OK;
}
