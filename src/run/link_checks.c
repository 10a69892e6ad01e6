/* Which algorithms support which links, and agents that leave and join. */
#include <string.h>

#include "algorithms/layout.h"
#include "core/status.h"
#include "graph/link_rule.h"
#include "run/run.h"

/* Refuses links for which the algorithm has no exact rule. */
static saddle_status check_losses(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    if (e->links == NULL || !saddle_link_rule_one_sided(e->links) ||
        saddle_layout_has_sums(&r->layout) || e->plan->network.inexact != SADDLE_INEXACT_NO)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_UNSUPPORTED,
        "links: %s has no conserved sums that would make up for what is lost in one direction, so "
        "that with links %.200s its agents would agree on a wrong answer; use agreed links, an "
        "algorithm that tracks gradients, or set inexact to own or stale to see how wrong it is",
        r->info.algorithm->name, e->plan->network.links);
}

/* Returns whether a layout has an iterate of a name and length that is sent. */
static bool has_iterate(const saddle_layout *layout, const char *name, size_t length)
{
    for (size_t f = 0; f < layout->fields; f++)
        if (layout->field[f].kind == SADDLE_FIELD_ITERATE && layout->field[f].length == length &&
            strcmp(layout->field[f].name, name) == 0)
            return true;
    return false;
}

/* Refuses churn if the algorithm cannot be restarted from an iterate. */
static saddle_status check_churn(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    const saddle_algorithm *a = r->info.algorithm;
    if (e->churn == NULL)
        return SADDLE_OK;
    if (!has_iterate(&r->layout, "x", e->problem->x_dim) ||
        !has_iterate(&r->layout, "y", e->problem->y_dim))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "churn: %s does not declare iterates x and y among its fields, from "
                           "which agents could start anew; use another algorithm",
                           a->name);
    if (a->wants_oracle != NULL && a->wants_oracle(r->parameters))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "churn: %s with these options needs a number that is computed from all "
                           "agents at once (gamma exact); use gamma local",
                           a->name);
    return SADDLE_OK;
}

saddle_status saddle_run_check_links(const saddle_run_state *r, saddle_error *error)
{
    SADDLE_TRY(check_losses(r, error));
    return check_churn(r, error);
}
