#include "graph/clip_rule.h"

#include "core/registry.h"

typedef enum clip_kind { NONE, LIARS, RADIUS } clip_kind;

typedef struct clip_form {
    const char *synopsis; /* first: it is found by it */
    clip_kind kind;
} clip_form;

static const clip_form none = {"none", NONE};
static const clip_form liars = {"liars:F", LIARS};
static const clip_form radius = {"radius:R", RADIUS};
static const clip_form *const forms[] = {&none, &liars, &radius};

saddle_status saddle_clip_rule_read(saddle_clip_rule *out, const char *text, bool *used,
                                    saddle_error *error)
{
    const void *found;
    uint64_t count = 0;
    SADDLE_TRY(
        saddle_registry_find(&found, "clipping", text, forms, sizeof forms / sizeof *forms, error));
    const clip_form *form = found;
    const char *colon = strchr(text, ':');
    *out = (saddle_clip_rule){.liars = 0};
    *used = form->kind != NONE;
    if (*used != (colon != NULL))
        return saddle_refuse(error, "'%s' is not of the form %s", SADDLE_EXCERPT(text),
                             form->synopsis);
    if (form->kind == LIARS && (!saddle_parse_integer(colon + 1, &count) || count == 0))
        return saddle_refuse(error,
                             "F, the neighbours of an agent that may lie, must be a whole number "
                             "of at least 1 (got '%s')",
                             SADDLE_EXCERPT(colon + 1));
    if (form->kind == RADIUS &&
        (!saddle_parse_real(colon + 1, &out->radius) || !(out->radius > 0.0)))
        return saddle_refuse(error, "R, the radius, must be a number above 0 (got '%s')",
                             SADDLE_EXCERPT(colon + 1));
    out->liars = (size_t)count;
    return SADDLE_OK;
}

saddle_status saddle_clip_rule_check(const saddle_clip_rule *rule, const saddle_graph *graph,
                                     saddle_error *error)
{
    for (size_t i = 0; i < graph->agents; i++) {
        size_t degree = graph->start[i + 1] - graph->start[i];
        if (degree <= rule->liars && degree > 0)
            return saddle_refuse(error,
                                 "liars:%zu needs %zu neighbours of every agent, and agent %zu has "
                                 "%zu; give a denser --topology",
                                 rule->liars, rule->liars + 1, i, degree);
    }
    return SADDLE_OK;
}
