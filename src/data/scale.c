/*
 * Statistics of columns, and what they say about scaling. Three passes over the rows find extremes,
 * means and deviations. Values are multiplied by a power of two that makes the largest of their column
 * about 1, which is exact, so that no sum or square overflows or underflows.
 */
#include "data/scale.h"

#include "core/world.h"
#include "data/columns.h"
#include "data/rows.h"

/* Deviations within a factor of this, and means of at most this many deviations, do no harm. */
#define HARMLESS 5.0
/* Columns have one unit if there are this many, and half of them have the same extremes to within
 * this fraction of the range of all. */
#define UNIT_COLUMNS 4
#define SAME_EXTREME 0.1
/* A warning names at most this many columns. */
#define MOST_NAMES 5
/* Powers of two beyond 2^LARGEST_POWER are not needed to keep squares in range. */
#define LARGEST_POWER 1000

/* ---- statistics ------------------------------------------------------------------------------ */

/* Adds a value that is not 0 of feature k. */
typedef void value_adder(saddle_column_statistics *s, size_t k, double value, double *out);

/* Adds all values that are not 0, row by row. */
SADDLE_INLINE void add_values(saddle_column_statistics *s, const saddle_dataset *data,
                              value_adder *add, double *out)
{
    for (size_t row = 0; data->dense != NULL && row < data->rows; row++)
        for (size_t k = 0; k < data->features; k++) {
            double value = data->dense[row * data->features + k];
            if (value != 0.0)
                add(s, k, value, out);
        }
    for (size_t e = 0; data->dense == NULL && e < data->row_start[data->rows]; e++)
        if (saddle_entry_value(data, e) != 0.0)
            add(s, data->column[e], saddle_entry_value(data, e), out);
}

/* First pass; `least` holds negated values. */
SADDLE_INLINE void add_extremes(saddle_column_statistics *s, size_t k, double value, double *out)
{
    (void)out;
    s->most[k] = value > s->most[k] ? value : s->most[k];
    s->least[k] = -value > s->least[k] ? -value : s->least[k];
    if (fabs(value) != 1.0)
        s->other[k] = 1.0;
}

/* Returns the power of two by which values of a column are multiplied. */
static double unit_of(const saddle_column_statistics *s, size_t k)
{
    int power;
    frexp(fmax(fabs(s->most[k]), fabs(s->least[k])), &power);
    power = power > LARGEST_POWER ? LARGEST_POWER : power;
    return ldexp(1.0, power < -LARGEST_POWER ? LARGEST_POWER : -power);
}

/* Second pass: numbers and sums of values. `deviation` holds the powers of two until the third. */
SADDLE_INLINE void add_totals(saddle_column_statistics *s, size_t k, double value, double *out)
{
    out[k] += 1.0;
    out[s->features + k] += value * s->deviation[k];
}

/* Third pass: sums of differences from the mean, and of their squares. */
SADDLE_INLINE void add_squares(saddle_column_statistics *s, size_t k, double value, double *out)
{
    double d = value * s->deviation[k] - s->mean[k];
    out[k] += d;
    out[s->features + k] += d * d;
}

/* The context of an agent's terms. */
typedef struct passes {
    saddle_column_statistics *s;
    saddle_dataset *const *shard;
} passes;

static void total_terms(void *context, size_t agent, double *out)
{
    const passes *p = context;
    memset(out, 0, 2 * p->s->features * sizeof *out);
    add_values(p->s, p->shard[agent], add_totals, out);
}

static void square_terms(void *context, size_t agent, double *out)
{
    const passes *p = context;
    memset(out, 0, 2 * p->s->features * sizeof *out);
    add_values(p->s, p->shard[agent], add_squares, out);
}

/* First pass, and the number of rows. Collective. */
static void find_extremes(saddle_column_statistics *s, const saddle_world *world,
                          saddle_dataset *const *shard)
{
    int64_t rows = 0;
    for (size_t k = 0; k < s->features; k++)
        s->most[k] = s->least[k] = -INFINITY;
    for (size_t i = 0; i < world->local; i++) {
        add_values(s, shard[world->here[i]], add_extremes, NULL);
        rows += (int64_t)shard[world->here[i]]->rows;
    }
    world->add_words(world, 1, &rows);
    world->largest(world, 3 * s->features, s->most);
    s->rows = (double)rows;
    for (size_t k = 0; k < s->features; k++)
        s->least[k] = -s->least[k];
}

/* Takes the sums of the second pass: extremes include 0 where it occurs, and means are in the unit of
 * their column. */
static void take_totals(saddle_column_statistics *s, bool intercept)
{
    double nonzeros = 0.0;
    for (size_t k = 0; k < s->features; k++) {
        s->nonzero[k] = s->sums[k];
        nonzeros += s->nonzero[k];
        if (s->nonzero[k] < s->rows) {
            s->most[k] = fmax(s->most[k], 0.0);
            s->least[k] = fmin(s->least[k], 0.0);
        }
    }
    s->sparse = 4.0 * nonzeros <= s->rows * (double)s->features;
    s->centred = intercept && !s->sparse;
    for (size_t k = 0; k < s->features; k++)
        s->mean[k] = s->centred ? s->sums[s->features + k] / s->rows : 0.0;
}

static bool is_constant(const saddle_column_statistics *s, size_t k)
{
    return !(s->most[k] > s->least[k]);
}

/* Takes the sums of the third pass. The sum of differences, which is 0 but for rounding errors,
 * corrects the mean and the deviation. The deviation of a constant column is its size. */
static void take_squares(saddle_column_statistics *s)
{
    for (size_t k = 0; k < s->features; k++) {
        double count = s->centred ? s->rows : s->nonzero[k];
        double zeros = s->rows - s->nonzero[k];
        double unit = s->deviation[k];
        double shift = s->centred ? (s->sums[k] - zeros * s->mean[k]) / count : 0.0;
        double square = s->sums[s->features + k] + zeros * s->mean[k] * s->mean[k];
        s->mean[k] = (s->mean[k] + shift) / unit;
        s->deviation[k] =
            count > 0.0 ? sqrt(fmax(square / count - shift * shift, 0.0)) / unit : 0.0;
        if (is_constant(s, k)) {
            s->mean[k] = s->centred ? s->most[k] : 0.0;
            s->deviation[k] = fabs(s->most[k]);
        }
    }
}

/* Returns whether a data set has a value besides -1, 0 and 1. */
static bool has_other(const saddle_dataset *data)
{
    const double *value = data->dense != NULL ? data->dense : data->value;
    size_t entries = data->dense != NULL ? data->rows * data->features : data->nonzeros;
    for (size_t k = 0; value != NULL && k < entries; k++) /* NULL: all values are 1 */
        if (value[k] != 0.0 && fabs(value[k]) != 1.0)
            return true;
    return false;
}

/* The same for all agents. Collective. */
static bool any_other(const saddle_world *world, saddle_dataset *const *shard)
{
    double other = 0.0;
    for (size_t i = 0; i < world->local; i++)
        if (has_other(shard[world->here[i]]))
            other = 1.0;
    world->largest(world, 1, &other);
    return other > 0.0;
}

saddle_status saddle_statistics_find(saddle_column_statistics *out, const saddle_world *world,
                                     saddle_dataset *const *shard, size_t features, bool intercept,
                                     saddle_error *error)
{
    *out = (saddle_column_statistics){.features = 0};
    if (!any_other(world, shard))
        return SADDLE_OK;
    double *block = saddle_alloc(features, 8 * sizeof *block);
    *out = (saddle_column_statistics){.features = features, .most = block};
    saddle_status status = saddle_check_memory(block, "the statistics of columns", error);
    status = saddle_world_agree(world, status, error);
    if (status != SADDLE_OK || block == NULL)
        return status;
    double **const array[] = {&out->least, &out->other, &out->nonzero, &out->mean, &out->deviation};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        *array[k] = block + (k + 1) * features;
    out->sums = block + 6 * features;
    passes p = {out, shard};
    find_extremes(out, world, shard);
    for (size_t k = 0; k < features; k++)
        out->deviation[k] = out->other[k] > 0.0 ? unit_of(out, k) : 1.0;
    SADDLE_TRY(saddle_world_sum(world, 2 * features, total_terms, &p, out->sums, error));
    take_totals(out, intercept);
    SADDLE_TRY(saddle_world_sum(world, 2 * features, square_terms, &p, out->sums, error));
    take_squares(out);
    return SADDLE_OK;
}

void saddle_statistics_free(saddle_column_statistics *s)
{
    saddle_free(s->most);
    s->most = NULL;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Returns whether a column can be scaled. */
static bool can_scale(const saddle_column_statistics *s, const bool *left, size_t k)
{
    return s->other[k] > 0.0 && !left[k] && s->deviation[k] >= 2.0 * DBL_MIN;
}

/* Returns how far a column is from mean 0 and deviation 1; at most HARMLESS: not far. A small constant does no harm. */
static double distance(const saddle_column_statistics *s, size_t k)
{
    double deviation = s->deviation[k];
    double far = fmax(deviation, fabs(s->mean[k]) / deviation);
    return s->sparse || is_constant(s, k) ? far : fmax(far, 1.0 / deviation);
}

static bool is_uneven(const saddle_column_statistics *s, const bool *left, size_t k)
{
    return can_scale(s, left, k) && distance(s, k) > HARMLESS;
}

bool saddle_statistics_one_unit(const saddle_column_statistics *s)
{
    double least = INFINITY;
    double most = -INFINITY;
    size_t columns = 0;
    size_t full = 0;
    for (size_t k = 0; k < s->features; k++)
        if (!is_constant(s, k)) {
            least = fmin(least, s->least[k]);
            most = fmax(most, s->most[k]);
            columns++;
        }
    double slack = SAME_EXTREME * most - SAME_EXTREME * least;
    for (size_t k = 0; k < s->features; k++)
        full += !is_constant(s, k) && s->least[k] <= least + slack && s->most[k] >= most - slack;
    return columns >= UNIT_COLUMNS && 2 * full >= columns;
}

bool saddle_statistics_uneven(const saddle_column_statistics *s, const bool *left)
{
    for (size_t k = 0; k < s->features; k++)
        if (is_uneven(s, left, k))
            return !saddle_statistics_one_unit(s);
    return false;
}

size_t saddle_statistics_settle(saddle_column_statistics *s, const bool *left)
{
    size_t count = 0;
    for (size_t k = 0; k < s->features; k++) {
        bool scaled = can_scale(s, left, k);
        count += scaled;
        s->mean[k] = scaled ? s->mean[k] : 0.0;
        s->deviation[k] = scaled ? s->deviation[k] : 1.0;
    }
    return count;
}

/* ---- warnings -------------------------------------------------------------------------------- */

/* Inserts a feature into the farthest ones, of which there are `count`: the farthest first, equal ones
 * from left to right. */
static void rank(const saddle_column_statistics *s, size_t top[MOST_NAMES], size_t count,
                 size_t own)
{
    size_t at = count < MOST_NAMES ? count : MOST_NAMES;
    for (; at > 0 && distance(s, top[at - 1]) < distance(s, own); at--)
        if (at < MOST_NAMES)
            top[at] = top[at - 1];
    if (at < MOST_NAMES)
        top[at] = own;
}

/* Appends the name of a feature's column or, if the file has no names, its number in the file. Features that are not
 * from columns of a file have their own number. One-hot features are not scaled, so a column has only one. */
static void append_name(const saddle_columns *columns, size_t feature, char out[SADDLE_SCALE_TEXT])
{
    size_t k = 0;
    while (columns != NULL && k < columns->count && feature != columns->column[k].first)
        k++;
    if (columns == NULL || k == columns->count) {
        saddle_append(out, SADDLE_SCALE_TEXT, "%zu", feature + 1);
        return;
    }
    const char *quote = columns->named ? "'" : "";
    saddle_append(out, SADDLE_SCALE_TEXT, "%s%s%s", quote, SADDLE_EXCERPT(columns->column[k].name),
                  quote);
}

/* Returns the mean of a column, or 0 where it is nothing but rounding errors. */
static double shown_mean(const saddle_column_statistics *s, size_t k)
{
    return fabs(s->mean[k]) > 1e-9 * s->deviation[k] ? s->mean[k] : 0.0;
}

/* Warns of a large unit of all columns, such as that of bytes. */
static void warn_of_unit(const saddle_column_statistics *s, char out[SADDLE_SCALE_TEXT])
{
    double most = 0.0;
    double deviation = 0.0;
    for (size_t k = 0; k < s->features; k++)
        if (!is_constant(s, k)) {
            most = fmax(most, fmax(fabs(s->most[k]), fabs(s->least[k])));
            deviation = fmax(deviation, s->deviation[k]);
        }
    if (deviation > HARMLESS)
        saddle_append(out, SADDLE_SCALE_TEXT,
                      "the columns have one unit, with values up to %.6g; divide all of them by "
                      "that, otherwise learning may be slow or fail",
                      most);
}

void saddle_scale_warning(const saddle_column_statistics *s, const bool *left,
                          const saddle_columns *columns, const char *remedy,
                          char out[SADDLE_SCALE_TEXT])
{
    size_t count = 0;
    size_t top[MOST_NAMES];
    out[0] = '\0';
    for (size_t k = 0; k < s->features; k++)
        if (is_uneven(s, left, k))
            rank(s, top, count++, k);
    if (count == 0)
        return;
    if (saddle_statistics_one_unit(s)) {
        warn_of_unit(s, out);
        return;
    }
    saddle_append(out, SADDLE_SCALE_TEXT, "%s%s ", columns != NULL ? "column" : "feature",
                  SADDLE_PLURAL(count));
    for (size_t k = 0; k < MOST_NAMES && k < count; k++) {
        saddle_append(out, SADDLE_SCALE_TEXT, "%s", k > 0 ? ", " : "");
        append_name(columns, top[k], out);
        if (is_constant(s, top[k]))
            saddle_append(out, SADDLE_SCALE_TEXT, " (always %.6g)", s->most[top[k]]);
        else if (s->centred)
            saddle_append(out, SADDLE_SCALE_TEXT, " (mean %.3g, deviation %.3g)",
                          shown_mean(s, top[k]), s->deviation[top[k]]);
        else
            saddle_append(out, SADDLE_SCALE_TEXT, " (values around %.3g)", s->deviation[top[k]]);
    }
    if (count > MOST_NAMES)
        saddle_append(out, SADDLE_SCALE_TEXT, " and %zu more", count - MOST_NAMES);
    saddle_append(out, SADDLE_SCALE_TEXT, " %s far from mean 0 and deviation 1; %s",
                  count > 1 ? "are" : "is", remedy);
}
