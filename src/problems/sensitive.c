#include "problems/sensitive.h"

#include "data/columns.h"
#include "data/dataset.h"
#include "data/rows.h"

/* The number of features that are checked between two exchanges. */
enum { BLOCK = 256 };

double saddle_visible_norm2(const saddle_sensitive *sensitive, const saddle_dataset *data,
                            size_t row)
{
    const bool *hidden = sensitive->hidden;
    double sum = 0.0;
    if (data->dense != NULL) {
        const double *a = data->dense + row * data->features;
        for (size_t k = 0; k < data->features; k++)
            sum += hidden[k] ? 0.0 : a[k] * a[k];
        return sum;
    }
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++) {
        double value = saddle_entry_value(data, k);
        sum += hidden[data->column[k]] ? 0.0 : value * value;
    }
    return sum;
}

static bool allocate(saddle_sensitive *self)
{
    size_t rows = 0;
    for (size_t k = 0; k < self->world->local; k++)
        rows += self->shard[self->world->here[k]]->rows;
    self->sign = saddle_alloc(self->world->agents, sizeof *self->sign);
    self->all_signs = saddle_alloc_doubles(rows);
    self->hidden = saddle_alloc(self->features, sizeof *self->hidden);
    return self->sign != NULL && self->all_signs != NULL && self->hidden != NULL;
}

static saddle_status read_signs(saddle_sensitive *self, saddle_error *error)
{
    double *next = self->all_signs;
    for (size_t k = 0; k < self->world->local; k++) {
        size_t i = self->world->here[k];
        const saddle_dataset *data = self->shard[i];
        self->sign[i] = next;
        for (size_t row = 0; row < data->rows; row++) {
            double attribute = saddle_row_entry(data, row, self->column);
            if (attribute != 0.0 && attribute != 1.0)
                return saddle_refuse(error,
                                     "--sensitive: feature %zu is %g in a row of agent %zu; a "
                                     "sensitive attribute must be 0 or 1",
                                     self->column + 1, attribute, i);
            *next++ = 2.0 * attribute - 1.0;
        }
    }
    return SADDLE_OK;
}

/* Finds the feature. Data that Saddle knows have a default, which is stored in *feature. */
static saddle_status find_feature(const saddle_problem_inputs *inputs, const char **feature,
                                  size_t *out, saddle_error *error)
{
    saddle_error why = {.message = ""};
    bool given = *feature != NULL;
    bool known = inputs->data != NULL && saddle_data_is_known(inputs->data);
    if (!given)
        *feature = known ? SADDLE_DEFAULT_SENSITIVE : "";
    saddle_status status =
        saddle_columns_feature(inputs->columns, inputs->features, *feature, out, &why);
    const char *remedy = strstr(why.message, "; ");
    if (status == SADDLE_OK)
        return SADDLE_OK;
    if (given || remedy == NULL)
        return saddle_fail(error, status, "--sensitive: %s", why.message);
    return saddle_fail(
        error, status, "--sensitive: %s%s",
        known ? "the default, feature " SADDLE_DEFAULT_SENSITIVE " of a9a, is not in these data"
              : "which feature of these data is the sensitive attribute is not known",
        remedy);
}

saddle_status saddle_sensitive_read(saddle_sensitive *out, const saddle_problem_inputs *inputs,
                                    const char **feature, const char *excluded, saddle_error *error)
{
    size_t features = inputs->features;
    *out = (saddle_sensitive){.shard = inputs->shard, .world = inputs->world, .features = features};
    SADDLE_TRY(find_feature(inputs, feature, &out->column, error));
    if (!allocate(out))
        return saddle_no_memory(error, "the problem");
    SADDLE_TRY(read_signs(out, error));
    if (excluded == NULL)
        out->hidden[out->column] = true;
    else if (strcmp(excluded, "none") != 0)
        return saddle_in_field(
            "--exclude-features",
            saddle_columns_mark(inputs->columns, features, excluded, out->hidden, error), error);
    return SADDLE_OK;
}

void saddle_sensitive_free(saddle_sensitive *sensitive)
{
    saddle_free(sensitive->all_signs);
    saddle_free(sensitive->sign);
    saddle_free(sensitive->hidden);
}

/* Returns whether a feature is 1 - S in every row of this process. */
static bool is_opposite(const saddle_sensitive *self, size_t column)
{
    for (size_t k = 0; k < self->world->local; k++) {
        const saddle_dataset *data = self->shard[self->world->here[k]];
        const double *sign = self->sign[self->world->here[k]];
        for (size_t row = 0; row < data->rows; row++)
            if (1.0 - 2.0 * saddle_row_entry(data, row, column) != sign[row])
                return false;
    }
    return true;
}

void saddle_sensitive_hide_opposites(saddle_sensitive *sensitive)
{
    const saddle_world *world = sensitive->world;
    for (size_t first = 0; first < sensitive->features; first += BLOCK) {
        size_t rest = sensitive->features - first;
        size_t count = rest < BLOCK ? rest : BLOCK;
        int64_t denied[BLOCK]; /* number of processes in which the feature is not 1 - S */
        for (size_t k = 0; k < count; k++)
            denied[k] = is_opposite(sensitive, first + k) ? 0 : 1;
        world->add_words(world, count, denied);
        for (size_t k = 0; k < count; k++)
            sensitive->hidden[first + k] = sensitive->hidden[first + k] || denied[k] == 0;
    }
}

/* The cost is quadratic in the length of the list, but the list is short. */
char *saddle_sensitive_list(const saddle_sensitive *sensitive)
{
    char *list = saddle_strdup("none");
    for (size_t column = 0; list != NULL && column < sensitive->features; column++)
        if (sensitive->hidden[column]) {
            bool first = strcmp(list, "none") == 0;
            char *longer =
                saddle_format("%s%s%zu", first ? "" : list, first ? "" : ",", column + 1);
            saddle_free(list);
            list = longer;
        }
    return list;
}

void saddle_count_decision(const saddle_sensitive *sensitive, const saddle_dataset *data,
                           size_t row, bool positive, saddle_decisions *counts)
{
    double attribute = saddle_row_entry(data, row, sensitive->column);
    size_t a = attribute == 1.0 ? 1 : 0;
    size_t b = data->label[row] > 0.0 ? 1 : 0;
    counts->group[a][b] += 1.0;
    counts->positive[a][b] += positive ? 1.0 : 0.0;
    counts->strange += attribute != 0.0 && attribute != 1.0 ? 1.0 : 0.0;
}

double saddle_parity_gap(const saddle_decisions *counts)
{
    double rate[2];
    for (size_t a = 0; a < 2; a++)
        rate[a] = (counts->positive[a][0] + counts->positive[a][1]) /
                  (counts->group[a][0] + counts->group[a][1]);
    return counts->strange > 0.0 ? NAN : fabs(rate[1] - rate[0]);
}

double saddle_odds_gap(const saddle_decisions *counts)
{
    double gap[2];
    for (size_t b = 0; b < 2; b++)
        gap[b] = fabs(counts->positive[1][b] / counts->group[1][b] -
                      counts->positive[0][b] / counts->group[0][b]);
    if (counts->strange > 0.0 || isnan(gap[0]) || isnan(gap[1]))
        return NAN;
    return fmax(gap[0], gap[1]);
}
