/* The result of a search for step sizes, and its configuration file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/float_mode.h"
#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "files/file.h"
#include "instance/plan.h"
#include "lab/tune.h"

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
    saddle_trial *last = saddle_alloc(t->candidates, sizeof *last);
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
    saddle_free(last);
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
    SADDLE_TRY(saddle_output_open(&output, path, error));
    const saddle_trial *best = saddle_tuning_last(tuning, tuning->ranking[0]);
    FILE *f = output.stream;
    if (best != NULL)
        saddle_fprintf(
            f, "# saddle %s: the best of %zu candidate%s, %s %.6g after %" PRIu64 " IFO calls\n",
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
