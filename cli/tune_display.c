#include "tune_display.h"

#include "core/outcome_name.h"
#include "lab/tune.h"

/* The most candidates in the final table. */
#define SHOWN_CANDIDATES 5

const char *tune_settings_text(const saddle_tuning *t, size_t candidate, char out[TUNE_SETTINGS])
{
    out[0] = '\0';
    for (size_t j = 0; j < t->option_count; j++)
        saddle_append(out, TUNE_SETTINGS, "%s--%s %s", j > 0 ? " " : "", t->option[j]->name,
                      saddle_tuning_value(t, candidate, j));
    return out;
}

/* Writes a value of the objective. What is attained differs by little between good candidates. */
static const char *value_text(const saddle_tuning *t, double value, char out[SADDLE_REAL_SIZE])
{
    saddle_snprintf(out, SADDLE_REAL_SIZE, saddle_tune_is_attained(t) ? "%.9g" : "%.4e", value);
    return out;
}

static void on_begin(void *context, const saddle_tuning *t)
{
    const tune_display *d = context;
    if (t->recommended_budget > 0)
        cli_warn("--budget: %" PRIu64
                 " IFO calls allow only %zu candidates of %s, too few to choose from; %" PRIu64
                 " allow %zu",
                 t->budget, t->candidates, t->algorithm->name, t->recommended_budget,
                 t->points < SADDLE_TUNE_FEW ? t->points : (size_t)SADDLE_TUNE_FEW);
    if (d->quiet)
        return;
    char text[1024];
    saddle_snprintf(text, sizeof text, "%s: %zu candidates for", t->algorithm->name, t->candidates);
    for (size_t j = 0; j < t->option_count; j++)
        saddle_append(text, sizeof text, "%s --%s", j > 0 ? "," : "", t->option[j]->name);
    saddle_append(text, sizeof text,
                  " in %zu rung%s; a budget of %" PRIu64
                  " IFO calls allows %s%zu candidates at %" PRIu64
                  " calls or more each; the grid has %zu",
                  t->rungs, t->rungs == 1 ? "" : "s", t->budget,
                  t->affordable == SADDLE_TUNE_MOST_CANDIDATES ? "at least " : "", t->affordable,
                  t->least_allotment, t->points);
    if (d->rows->held_out != NULL)
        saddle_append(text, sizeof text, "; ranked by %s on %zu of %zu rows, which are held out",
                      saddle_outcome_name_of(t->objective.name).measure, d->rows->held_out->rows,
                      d->rows->held_out->rows + d->rows->train->rows);
    cli_wrap(0, 2, "%s", text);
    cli_flush_or_stop();
}

static void on_trial(void *context, const saddle_tuning *t, const saddle_trial *trial)
{
    const tune_display *d = context;
    if (!d->quiet)
        cli_progress("%s: rung %zu/%zu  %.0f%% of the budget  candidate %zu: %s %.6g",
                     t->algorithm->name, trial->rung + 1, t->rungs,
                     100.0 * (double)t->spent / (double)t->budget, trial->candidate,
                     t->objective.name, trial->value);
}

static void on_rung(void *context, const saddle_tuning *t, const saddle_trial *best)
{
    const tune_display *d = context;
    cli_progress_clear();
    if (d->quiet)
        return;
    char text[TUNE_SETTINGS];
    char value[SADDLE_REAL_SIZE];
    char line[TUNE_SETTINGS + 256];
    cli_print("  ");
    saddle_snprintf(line, sizeof line,
                    "rung %zu: %zu candidate%s, at most %" PRIu64
                    " IFO calls each; best %s %s at %s",
                    best->rung + 1, t->field[best->rung], SADDLE_PLURAL(t->field[best->rung]),
                    best->allotment, t->objective.name, value_text(t, best->value, value),
                    tune_settings_text(t, best->candidate, text));
    cli_wrap(2, 10, "%s", line);
    cli_flush_or_stop();
}

static void on_warning(void *context, const char *message)
{
    (void)context;
    cli_progress_clear();
    cli_warn("%s", message);
}

saddle_tune_hooks tune_display_hooks(tune_display *d, const volatile sig_atomic_t *interrupt)
{
    return (saddle_tune_hooks){.context = d,
                               .begin = on_begin,
                               .trial = on_trial,
                               .rung = on_rung,
                               .warning = on_warning,
                               .interrupt = interrupt};
}

void tune_print_ranking(const saddle_tuning *t)
{
    cli_table *table = cli_table_create("lrrrrl");
    cli_table_words(table, "rank", "rung", t->objective.name, "IFO", "iterations", "settings");
    for (size_t k = 0; k < t->candidates; k++) {
        size_t candidate = t->ranking[k];
        const saddle_trial *last = saddle_tuning_last(t, candidate);
        if ((k >= SHOWN_CANDIDATES && candidate != 0) || last == NULL)
            continue;
        char text[TUNE_SETTINGS];
        char value[SADDLE_REAL_SIZE];
        cli_table_add(table, "%zu", k + 1);
        cli_table_add(table, "%zu", last->rung + 1);
        if (last->diverged)
            cli_table_add(table, "diverged");
        else
            cli_table_add(table, "%s", value_text(t, last->value, value));
        cli_table_add(table, "%" PRIu64, last->ifo);
        cli_table_add(table, "%" PRIu64, last->iterations);
        cli_table_add(table, "%s%s", tune_settings_text(t, candidate, text),
                      candidate == 0 ? " (the default)" : "");
    }
    cli_print("\n");
    cli_table_print(table);
    cli_wrap(0, 0, "ranked by the last rung of each, the longest; the default is in every rung");
}
