/* The objective of a search: a column of every trace, or an outcome. */
#include <math.h>
#include <string.h>

#include "core/outcome_name.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "lab/tune.h"
#include "observe/outcomes.h"
#include "observe/trace.h"

/* Columns of every trace by which candidates can be compared. */
static const char *const common[] = {"metric", "loss", "primal", "stationarity"};
enum { COMMON = sizeof common / sizeof *common };

bool saddle_tune_is_outcome(const char *objective)
{
    for (size_t k = 0; k < COMMON; k++)
        if (objective == NULL || strcmp(objective, common[k]) == 0)
            return false;
    return true;
}

/* Whether the instance has held-out rows, which only process 0 holds. */
static bool has_held_out(const saddle_instance *instance)
{
    return instance->plan->problem.test_rows != NULL || instance->plan->problem.test_data != NULL;
}

static saddle_status unknown(const saddle_instance *instance, const char *name,
                             const saddle_outcome *outcome, size_t count, saddle_error *error)
{
    char list[600] = "";
    for (size_t k = 0; k < count; k++)
        saddle_append(list, sizeof list, ", %s", outcome[k].name);
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "objective: '%s' is not an objective of problem %s%s; give metric, loss, "
                       "primal or stationarity%s%s",
                       SADDLE_EXCERPT(name), saddle_shown_name(instance->problem->name),
                       count > 0 ? "" : ", which has no outcomes",
                       count > 0 ? ", or an outcome:" : "", count > 0 ? list + 1 : "");
}

saddle_status saddle_tune_objective(saddle_outcome_column *out, const saddle_instance *instance,
                                    const char *name, saddle_error *error)
{
    saddle_outcome outcome[SADDLE_MOST_OUTCOMES];
    saddle_outcome_rows own = {.held_out = NULL};
    size_t count = 0;
    *out = (saddle_outcome_column){.better = SADDLE_SMALLER};
    if (!saddle_tune_is_outcome(name)) {
        saddle_snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : "metric");
        return SADDLE_OK;
    }
    if (instance->problem->outcomes != NULL)
        SADDLE_TRY(saddle_outcomes_of(instance->problem, &own, instance->x0, instance->y0, outcome,
                                      &count, error));
    saddle_outcome_name given = saddle_outcome_name_of(name);
    const char *bare = given.measure;
    if (given.rows == SADDLE_ROWS_TEST && count > 0 && !has_held_out(instance))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "objective: there are no held-out rows for '%s'; give test-data, or "
                           "set objective to %s",
                           SADDLE_EXCERPT(name), bare);
    for (size_t k = 0; k < count; k++)
        if (strcmp(outcome[k].name, bare) == 0) {
            bool held_out = given.rows != SADDLE_ROWS_TRAIN && has_held_out(instance);
            saddle_outcome_name_write(out->name, sizeof out->name,
                                      held_out ? SADDLE_ROWS_TEST : SADDLE_ROWS_TRAIN, bare,
                                      SADDLE_OF_MEAN_MODEL);
            out->better = outcome[k].better;
            return SADDLE_OK;
        }
    return unknown(instance, name, outcome, count, error);
}

saddle_status saddle_tune_check_objective(const saddle_tuning *t, const saddle_instance *instance,
                                          saddle_error *error)
{
    const char *name = t->objective.name;
    const saddle_problem_class *kind = instance->kind;
    bool held_out = saddle_outcome_name_of(name).rows == SADDLE_ROWS_TEST ||
                    (kind != NULL && !kind->needs_data);
    if (!t->listed->changes_problem || (saddle_tune_is_outcome(name) && held_out))
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "objective: '%s' cannot compare candidates with different problems, which "
                       "the search '%.200s' makes; %s",
                       name, t->search,
                       instance->problem->outcomes != NULL
                           ? "give an outcome on held-out rows, such as accuracy"
                           : "the problem has no outcomes, so search options of the algorithm");
}

double saddle_tune_value(const saddle_tuning *tuning, const saddle_result *result, size_t row)
{
    const char *name = tuning->objective.name;
    size_t column = saddle_trace_column_find(name);
    if (column < SADDLE_TRACE_COLUMNS)
        return saddle_row_cell(&result->rows[row], column);
    for (size_t k = 0; k < result->outcome_count; k++)
        if (strcmp(result->outcome[k].name, name) == 0)
            return result->outcomes[row * result->outcome_count + k];
    return (double)NAN;
}

double saddle_tune_cost(const saddle_tuning *tuning, const saddle_trial *trial)
{
    if (trial->diverged)
        return (double)INFINITY;
    return tuning->objective.better == SADDLE_LARGER ? -trial->value : trial->value;
}
