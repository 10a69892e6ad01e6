/* Self-checks of a run: feasible iterates, and trackers whose mean is that of the estimates. */
#include "algorithms/layout.h"
#include "core/vector.h"
#include "engines/agent.h"
#include "engines/link_state.h"
#include "observe/observer_state.h"

/* Rounding error allowed in the self-checks, relative to the largest size seen in the run. */
#define CHECK_TOLERANCE 1e-9

/* A sum minus its estimate, such as p - v: its mean over agents must be 0. */
static void sum_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_field *field = ((const saddle_observer *)context)->field;
    const double *sum = agent->now + field->offset;
    for (size_t k = 0; k < field->length; k++)
        out[k] = sum[k] - saddle_field_estimate(field, agent, k);
}

/* The squared size of a sum and its estimate together: the scale of their rounding errors. */
static void sum_size_term(void *context, saddle_agent *agent, double *out)
{
    const saddle_field *field = ((const saddle_observer *)context)->field;
    out[0] = saddle_norm2(field->length, agent->now + field->offset) +
             saddle_norm2(field->length, agent->kept + field->estimate);
}

/* Sets o->field to the next sum of the table, from *f on. */
static bool next_sum(saddle_observer *o, size_t *f)
{
    while (*f < o->in.layout->fields && o->in.layout->field[*f].kind != SADDLE_FIELD_SUM)
        ++*f;
    if (*f == o->in.layout->fields)
        return false;
    o->field = &o->in.layout->field[(*f)++];
    return true;
}

/* Returns whether the links use running sums, which conserve each agent's sums separately. */
static bool has_running_sums(const saddle_observer *o)
{
    return saddle_link_state_has_maps(o->in.instance);
}

/* 0 if an agent's sum and its weight are conserved; otherwise by how much they are not. */
static void defect_task(void *context, saddle_agent *agent)
{
    saddle_observer *o = context;
    double sum;
    double weight;
    o->in.engine->kind->defect(o->in.engine, agent, o->field, &sum, &weight);
    bool good = sum <= o->defect_allowed && weight <= CHECK_TOLERANCE;
    o->per_agent[agent->id] = good ? 0.0 : sum + weight;
}

/* Checks each agent's running sums separately: their entries may be as large as all agents' together. */
static saddle_status check_running_sums(saddle_observer *o, double allowed, saddle_error *error)
{
    o->defect_allowed = allowed * sqrt((double)o->problem->agents);
    for (size_t f = 0; next_sum(o, &f);) {
        o->in.engine->kind->for_each(o->in.engine, defect_task, o);
        saddle_world_fill(o->in.instance->world, 1, o->per_agent);
        for (size_t i = 0; i < o->problem->agents; i++)
            if (!(o->per_agent[i] == 0.0))
                return saddle_fail(error, SADDLE_CHECK_FAILED,
                                   "self-check at iteration %llu: agent %zu's part of the tracker "
                                   "%s, together with "
                                   "what it sent and received, differs from the estimate that it "
                                   "tracks by %.3g (at "
                                   "most %.3g is rounding); an algorithm must mix its sums with "
                                   "saddle_agent_mix()",
                                   (unsigned long long)o->in.engine->kind->iteration(o->in.engine),
                                   i, o->field->name, o->per_agent[i], o->defect_allowed);
    }
    return SADDLE_OK;
}

/* Returns the squared size of all sums and their estimates, which is not finite if an entry is not. */
static double size_of_sums(saddle_observer *o)
{
    double size = 0.0;
    for (size_t f = 0; next_sum(o, &f);) {
        double more;
        const saddle_measurement what = {.kind = SADDLE_MEASURE_SUM_SIZE, .field = o->field};
        if (!saddle_observer_measure(o, what, &more))
            saddle_observer_average(o, 1, sum_size_term, &more);
        size += more;
    }
    return size;
}

bool saddle_observer_sums_are_finite(saddle_observer *o)
{
    return isfinite(size_of_sums(o));
}

static saddle_status check_sums(saddle_observer *o, saddle_error *error)
{
    /* Inexact rules and clipped messages lose part of the sums. */
    if (o->in.instance->plan->network.inexact != SADDLE_INEXACT_NO ||
        o->in.instance->clipping != NULL)
        return SADDLE_OK;
    /* One scale for all checks, because a sum may have been largest between two of them. */
    o->tracked_size = fmax(o->tracked_size, sqrt(size_of_sums(o)));
    double allowed = CHECK_TOLERANCE * o->tracked_size;
    if (has_running_sums(o))
        return check_running_sums(o, allowed, error);
    for (size_t f = 0; next_sum(o, &f);) {
        const saddle_measurement what = {.kind = SADDLE_MEASURE_SUM, .field = o->field};
        if (!saddle_observer_measure(o, what, o->both))
            saddle_observer_average(o, o->field->length, sum_term, o->both);
        double off = sqrt(saddle_norm2(o->field->length, o->both));
        if (!(off <= allowed))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "self-check at iteration %llu: the mean of the trackers %s over "
                               "agents differs from the mean of the estimates that they track by "
                               "%.3g (at most %.3g is rounding); gradient tracking is broken",
                               (unsigned long long)o->in.engine->kind->iteration(o->in.engine),
                               o->field->name, off, allowed);
    }
    return SADDLE_OK;
}

/* The distance of the agent's iterate from X and Y, relative to its size. */
static void feasibility_task(void *context, saddle_agent *agent)
{
    saddle_observer *o = context;
    saddle_view view;
    saddle_agent_view(o->in.algorithm, agent, &view);
    double x_off =
        saddle_set_distance(saddle_prox_set(o->in.instance->x_prox), view.x, agent->scratch);
    double y_off = saddle_set_distance(o->in.instance->y_set, view.y, agent->scratch);
    double x_size = 1.0 + sqrt(saddle_norm2(o->problem->x_dim, view.x));
    double y_size = 1.0 + sqrt(saddle_norm2(o->problem->y_dim, view.y));
    double worst = x_off / x_size;
    /* Keep a NaN from either. */
    if (!isnan(worst) && !(y_off / y_size <= worst))
        worst = y_off / y_size;
    o->per_agent[agent->id] = worst;
}

static saddle_status check_feasibility(saddle_observer *o, saddle_error *error)
{
    double outside;
    const saddle_measurement what = {.kind = SADDLE_MEASURE_OUTSIDE};
    if (saddle_observer_measure(o, what, &outside) && outside == 0.0)
        return SADDLE_OK;
    o->in.engine->kind->for_each(o->in.engine, feasibility_task, o);
    saddle_world_fill(o->in.instance->world, 1, o->per_agent);
    for (size_t i = 0; i < o->problem->agents; i++)
        if (!(o->per_agent[i] <= CHECK_TOLERANCE))
            return saddle_fail(
                error, SADDLE_CHECK_FAILED,
                "self-check at iteration %llu: agent %zu's iterate is outside X or Y by %.3g "
                "(relative; at most %.3g is rounding)",
                (unsigned long long)o->in.engine->kind->iteration(o->in.engine), i, o->per_agent[i],
                CHECK_TOLERANCE);
    return SADDLE_OK;
}

saddle_status saddle_observer_check(saddle_observer *o, saddle_error *error)
{
    SADDLE_TRY(saddle_mixing_check(o->in.instance->mixing, error));
    if (o->in.feasible)
        SADDLE_TRY(check_feasibility(o, error));
    return check_sums(o, error);
}
