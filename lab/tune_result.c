/* The objective of a search, its result, and its configuration file. */
#include "lab/tune.h"

#include "core/float_mode.h"
#include "core/outcome_name.h"
#include "files/file.h"
#include "instance/plan.h"
#include "observe/outcomes.h"
#include "observe/trace.h"
#include "run/plan_files.h"

const char *saddle_tuning_value(const saddle_tuning *tuning, size_t candidate, size_t option)
{
    return tuning->value[candidate * tuning->option_count + option];
}

const saddle_trial *saddle_tuning_last(const saddle_tuning *tuning, size_t candidate)
{
    for (size_t k = tuning->trial_count; k-- > 0;)
        if (tuning->trials[k].candidate == candidate)
            return &tuning->trials[k];
    return NULL;
}

int saddle_trial_order(const void *a, const void *b)
{
    const saddle_trial *left = a;
    const saddle_trial *right = b;
    if (left->cost != right->cost)
        return left->cost < right->cost ? -1 : 1;
    return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

/* Later rungs first, then by saddle_trial_order(). */
static int by_rung(const void *a, const void *b)
{
    const saddle_trial *left = a;
    const saddle_trial *right = b;
    if (left->rung != right->rung)
        return left->rung > right->rung ? -1 : 1;
    return saddle_trial_order(a, b);
}

saddle_status saddle_tuning_rank(saddle_tuning *t, saddle_error *error)
{
    SADDLE_OWNED saddle_trial *last = saddle_alloc(t->candidates, sizeof *last);
    SADDLE_TRY(saddle_check_memory(last, "the ranking", error));
    size_t count = 0;
    for (size_t c = 0; c < t->candidates; c++) {
        const saddle_trial *trial = saddle_tuning_last(t, c);
        last[count++] =
            trial != NULL ? *trial : (saddle_trial){.candidate = c, .cost = (double)INFINITY};
    }
    qsort(last, count, sizeof *last, by_rung);
    for (size_t k = 0; k < count; k++)
        t->ranking[k] = last[k].candidate;
    return SADDLE_OK;
}

void saddle_tuning_free(saddle_tuning *tuning)
{
    if (tuning == NULL)
        return;
    saddle_free(tuning->hold);
    saddle_free(tuning->search);
    saddle_tune_axes_free(tuning->listed);
    saddle_free(tuning->option);
    saddle_free(tuning->value);
    saddle_free(tuning->trials);
    saddle_free(tuning->ranking);
    saddle_plan_free(&tuning->plan);
    saddle_algorithm_release(tuning->choice);
    saddle_free(tuning);
}

/* ---- the answer as a file ------------------------------------------------------------------ */

/* Prints a YAML string in single quotes. */
static void print_quoted(FILE *f, const char *text)
{
    fputc('\'', f);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', f);
        fputc(*text, f);
    }
    fputc('\'', f);
}

saddle_status saddle_tuning_save(const saddle_tuning *tuning, const char *path, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, tuning, path);
    saddle_output output;
    SADDLE_TRY(saddle_plan_keep_inputs(&tuning->plan, path, error));
    SADDLE_TRY(saddle_output_open(&output, path, error));
    const saddle_trial *best = saddle_tuning_last(tuning, tuning->ranking[0]);
    FILE *f = output.stream;
    if (best != NULL)
        saddle_fprintf(
            f, "# saddle %s: the best of %zu candidate%s, %s %.9g after %" PRIu64 " IFO calls\n",
            saddle_version(), tuning->candidates, SADDLE_PLURAL(tuning->candidates),
            tuning->objective.name, best->value, best->ifo);
    const saddle_plan *plan = &tuning->plan;
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        if (!saddle_plan_given(plan, option))
            continue;
        saddle_fprintf(f, "%s: ", option->name);
        print_quoted(f, SADDLE_PLAN_TEXT(plan, option));
        fputc('\n', f);
    }
    return saddle_output_commit(&output, error);
}

/* ---- the objective: a column of every trace, or an outcome ----------------------------------- */

/* By what candidates of every problem can be compared: what they attain, and columns of the trace. */
static const char *const common[] = {"attained", "metric", "loss", "primal", "stationarity"};
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
    return saddle_refuse(error,
                         "--objective: '%s' is not an objective of problem %s%s; give attained, "
                         "metric, loss, primal or stationarity%s%s",
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
        saddle_snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : common[0]);
        return SADDLE_OK;
    }
    if (instance->problem->outcomes != NULL)
        SADDLE_TRY(saddle_outcomes_of(instance->problem, &own, instance->x0, instance->y0, outcome,
                                      &count, error));
    saddle_outcome_name given = saddle_outcome_name_of(name);
    const char *bare = given.measure;
    if (given.rows == SADDLE_ROWS_TEST && count > 0 && !has_held_out(instance))
        return saddle_refuse(error,
                             "--objective: there are no held-out rows for '%s'; give --test-data, "
                             "or set --objective to %s",
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
    return saddle_refuse(error,
                         "--objective: '%s' cannot compare candidates with different problems, "
                         "which the search '%.200s' makes; %s",
                         name, t->search,
                         instance->problem->outcomes != NULL
                             ? "give an outcome on held-out rows, such as accuracy"
                             : "the problem has no outcomes, so search options of the algorithm");
}

bool saddle_tune_is_attained(const saddle_tuning *tuning)
{
    return strcmp(tuning->objective.name, common[0]) == 0;
}

double saddle_tune_value(const saddle_tuning *tuning, const saddle_result *result, size_t row)
{
    const char *name = tuning->objective.name;
    if (saddle_tune_is_attained(tuning)) {
        const saddle_row *at = &result->rows[row];
        double lacks = row + 1 == result->row_count ? result->gap.agents : 0.0;
        return at->primal + fmax(at->primal - at->loss, 0.0) + lacks;
    }
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
