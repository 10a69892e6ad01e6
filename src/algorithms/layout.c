#include "algorithms/layout.h"

#include "core/sizes.h"

void saddle_layout_add(saddle_layout *layout, const char *name, size_t length,
                       saddle_field_kind kind, size_t estimate)
{
    /* A field too many is counted but not stored, so that saddle_layout_check() can refuse it. */
    if (layout->fields < SADDLE_MOST_FIELDS)
        layout->field[layout->fields] =
            (saddle_field){.name = name,
                           .offset = layout->published,
                           .length = length,
                           .kind = kind,
                           .estimate = estimate,
                           .last_round = layout->rounds > 0 ? layout->rounds - 1 : 0};
    layout->fields++;
    layout->published += length;
}

size_t saddle_layout_longest(const saddle_layout *layout)
{
    size_t longest = 0;
    for (size_t f = 0; f < layout->fields; f++)
        longest = saddle_larger(longest, layout->field[f].length);
    return longest;
}

bool saddle_layout_has_sums(const saddle_layout *layout)
{
    for (size_t f = 0; f < layout->fields; f++)
        if (layout->field[f].kind == SADDLE_FIELD_SUM)
            return true;
    return false;
}

void saddle_layout_message(const saddle_layout *layout, unsigned round, size_t *offset,
                           size_t *count)
{
    *offset = 0;
    *count = layout->fields == 0 ? layout->published : 0;
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        if (!saddle_field_is_sent(field, round))
            continue;
        if (*count == 0)
            *offset = field->offset;
        *count = field->offset + field->length - *offset;
    }
}

void saddle_algorithm_layout(const saddle_algorithm *algorithm, const void *parameters,
                             const saddle_problem *problem, saddle_layout *out)
{
    memset(out, 0, sizeof *out);
    algorithm->layout(parameters, problem, out);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Returns whether [offset, offset + length) is within [0, size). */
static bool fits(size_t offset, size_t length, size_t size)
{
    return offset <= size && length <= size - offset;
}

/* Checks one field. */
static saddle_status check_field(const saddle_layout *layout, const saddle_field *field,
                                 const char *algorithm, saddle_error *error)
{
    unsigned rounds = layout->rounds > 0 ? layout->rounds : 1;
    if (field->first_round > field->last_round || field->last_round >= rounds)
        return saddle_fail(
            error, SADDLE_CHECK_FAILED,
            "algorithm %s: field %s is sent in rounds %u to %u, but an iteration has "
            "only rounds 0 to %u",
            algorithm, field->name, field->first_round, field->last_round, rounds - 1);
    if (field->kind == SADDLE_FIELD_ITERATE)
        return SADDLE_OK;
    if (!fits(field->estimate, field->length, layout->kept))
        return saddle_fail(
            error, SADDLE_CHECK_FAILED,
            "algorithm %s: field %s tracks an estimate of %zu doubles that lies outside "
            "the kept state of %zu doubles",
            algorithm, field->name, field->length, layout->kept);
    if (field->shift != 0.0 &&
        (!isfinite(field->shift) || !fits(field->shift_offset, field->length, layout->published)))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "algorithm %s: the estimate of field %s is shifted by %g times %zu "
                           "doubles that lie outside the span of %zu doubles",
                           algorithm, field->name, field->shift, field->length, layout->published);
    return SADDLE_OK;
}

/* Checks that the fields sent in a round are contiguous, because a message is one piece of the
 * span. */
static saddle_status check_round(const saddle_layout *layout, unsigned round, const char *algorithm,
                                 saddle_error *error)
{
    size_t offset;
    size_t count;
    saddle_layout_message(layout, round, &offset, &count);
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        if (field->length > 0 && field->offset >= offset && field->offset < offset + count &&
            !saddle_field_is_sent(field, round))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "algorithm %s: field %s is not sent in round %u, but fields before "
                               "and after it are; put fields of the same rounds next to each other",
                               algorithm, field->name, round);
    }
    return SADDLE_OK;
}

static saddle_status check_fields(const saddle_layout *layout, const char *algorithm,
                                  saddle_error *error)
{
    size_t end = 0;
    if (layout->rounds > SADDLE_MOST_ROUNDS)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "algorithm %s: its layout has %u rounds per iteration; at most %d are "
                           "possible",
                           algorithm, layout->rounds, SADDLE_MOST_ROUNDS);
    if (layout->fields > SADDLE_MOST_FIELDS)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "algorithm %s: its layout has %zu fields; at most %d are possible",
                           algorithm, layout->fields, SADDLE_MOST_FIELDS);
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        if (field->name == NULL || field->offset != end)
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "algorithm %s: field %s has offset %zu, but the field before it "
                               "ends at %zu; use saddle_layout_add()",
                               algorithm, field->name != NULL ? field->name : "(without a name)",
                               field->offset, end);
        end += field->length;
    }
    if (layout->fields > 0 && end != layout->published)
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "algorithm %s: its fields have %zu doubles in all, but published is %zu",
                           algorithm, end, layout->published);
    /* The set of fields that are sent changes only at the first and after the last round of a
     * field. */
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        SADDLE_TRY(check_field(layout, field, algorithm, error));
        SADDLE_TRY(check_round(layout, field->first_round, algorithm, error));
        SADDLE_TRY(check_round(layout, field->last_round, algorithm, error));
    }
    return SADDLE_OK;
}

/* Returns whether a variable is a multiple of a double away from the beginning of a state. */
static bool is_aligned(const double *state, const double *variable)
{
    return ((uintptr_t)variable - (uintptr_t)state) % sizeof *state == 0;
}

/* Returns whether a variable of a view is NULL or lies within the span or the kept state. */
static bool is_state(const saddle_agent *agent, const saddle_layout *layout, const double *variable,
                     size_t length)
{
    if (variable == NULL)
        return true;
    return is_aligned(agent->now, variable) &&
           ((variable >= agent->now && variable <= agent->now + layout->published &&
             fits((size_t)(variable - agent->now), length, layout->published)) ||
            (variable >= agent->kept && variable <= agent->kept + layout->kept &&
             fits((size_t)(variable - agent->kept), length, layout->kept)));
}

/* Checks the pointers of view() on a zeroed agent, because view() does not read values. */
static saddle_status check_view(const saddle_algorithm *algorithm, const void *parameters,
                                const saddle_problem *problem, const saddle_layout *layout,
                                saddle_error *error)
{
    double *state = saddle_alloc_doubles(layout->published + layout->kept + 1);
    SADDLE_TRY(saddle_check_memory(state, "an agent's state", error));
    saddle_agent agent = {.agents = problem->agents,
                          .problem = problem,
                          .parameters = parameters,
                          .now = state,
                          .kept = state + layout->published};
    saddle_view view;
    saddle_agent_view(algorithm, &agent, &view);
    const struct {
        const char *name;
        const double *variable;
        size_t length;
        bool wanted;
    } viewed[] = {{"x", view.x, problem->x_dim, true},
                  {"y", view.y, problem->y_dim, true},
                  {"v", view.v, problem->x_dim, false},
                  {"u", view.u, problem->y_dim, false}};
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < sizeof viewed / sizeof *viewed; k++)
        if ((viewed[k].wanted && viewed[k].variable == NULL) ||
            !is_state(&agent, layout, viewed[k].variable, viewed[k].length))
            status = saddle_fail(
                error, SADDLE_CHECK_FAILED,
                "algorithm %s: view() must set %s to %zu doubles within its span of "
                "%zu doubles or its kept state of %zu doubles",
                algorithm->name, viewed[k].name, viewed[k].length, layout->published, layout->kept);
    saddle_free(state);
    return status;
}

saddle_status saddle_layout_check(const saddle_algorithm *algorithm, const void *parameters,
                                  const saddle_problem *problem, const saddle_layout *layout,
                                  saddle_error *error)
{
    SADDLE_TRY(check_fields(layout, algorithm->name, error));
    return check_view(algorithm, parameters, problem, layout, error);
}

uint64_t saddle_algorithm_most_ifo(const saddle_algorithm *algorithm, const void *parameters,
                                   const saddle_problem *problem)
{
    if (algorithm->most_ifo != NULL)
        return algorithm->most_ifo(parameters, problem);
    return 2 * saddle_sizes_sum(problem->agents, problem->samples);
}

void saddle_agent_view(const saddle_algorithm *algorithm, const saddle_agent *agent,
                       saddle_view *out)
{
    *out = (saddle_view){.x = NULL};
    algorithm->view(agent, out);
}
