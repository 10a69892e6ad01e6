/* The ranking of a search for settings. */
#include <inttypes.h>

#include "cli.h"
#include "core/text.h"
#include "result_tables.h"

/* The most candidates of the table at the end. */
#define SHOWN_CANDIDATES 5

const char *cli_tuning_settings(const saddle_tuning *t, size_t candidate, char out[512])
{
    out[0] = '\0';
    for (size_t j = 0; j < t->option_count; j++)
        saddle_append(out, 512, "%s--%s %s", j > 0 ? " " : "", t->option[j]->name,
                      saddle_tuning_value(t, candidate, j));
    return out;
}

void cli_print_tuning(const saddle_tuning *t)
{
    cli_table *table = cli_table_create("lrrrl");
    cli_table_words(table, "rank", t->objective.name, "IFO", "iterations", "settings");
    for (size_t k = 0; k < t->candidates; k++) {
        size_t candidate = t->ranking[k];
        const saddle_trial *last = saddle_tuning_last(t, candidate);
        if ((k >= SHOWN_CANDIDATES && candidate != 0) || last == NULL)
            continue;
        char text[512];
        cli_table_add(table, "%zu", k + 1);
        if (last->diverged)
            cli_table_add(table, "diverged");
        else
            cli_table_add(table, "%.4e", last->value);
        cli_table_add(table, "%" PRIu64, last->ifo);
        cli_table_add(table, "%" PRIu64, last->iterations);
        cli_table_add(table, "%s%s", cli_tuning_settings(t, candidate, text),
                      candidate == 0 ? " (the default)" : "");
    }
    cli_print("\n");
    cli_table_print(table);
}
