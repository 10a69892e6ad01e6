#include "core/outcome_name.h"

static const char *const rows_name[SADDLE_ROWS_NONE] = {"test_", "train_"};
static const char *const statistic_name[SADDLE_STATISTICS] = {"", "_agent_min", "_agent_mean",
                                                              "_agent_max"};

saddle_outcome_name saddle_outcome_name_of(const char *column)
{
    saddle_outcome_name name = {.measure = column};
    while (name.rows < SADDLE_ROWS_NONE &&
           strncmp(column, rows_name[name.rows], strlen(rows_name[name.rows])) != 0)
        name.rows++;
    if (name.rows < SADDLE_ROWS_NONE)
        name.measure += strlen(rows_name[name.rows]);
    size_t whole = strlen(name.measure);
    name.length = (int)whole;
    for (int s = SADDLE_AGENT_MIN; s < SADDLE_STATISTICS; s++) {
        size_t ending = strlen(statistic_name[s]);
        if (whole > ending && strcmp(name.measure + whole - ending, statistic_name[s]) == 0) {
            name.statistic = (saddle_statistic)s;
            name.length = (int)(whole - ending);
        }
    }
    return name;
}

void saddle_outcome_name_write(char *out, size_t size, saddle_measured_rows rows,
                               const char *measure, saddle_statistic statistic)
{
    saddle_snprintf(out, size, "%s%s%s", rows_name[rows], measure, statistic_name[statistic]);
}

bool saddle_outcome_same(const saddle_outcome_name *a, const saddle_outcome_name *b)
{
    return a->rows == b->rows && a->length == b->length &&
           memcmp(a->measure, b->measure, (size_t)a->length) == 0;
}
