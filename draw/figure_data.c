/* Writes the points of curves for gnuplot: axes, thinning, means with bands. */
#include "draw/figure_data.h"
#include "core/compare.h"

/* The rest of a run after the end of the mean is drawn if it is more than this fraction of the
 * mean's range. */
#define SHORTEST_TAIL 0.05
/* Longer curves are thinned; a picture of this size cannot show more points. */
#define MOST_POINTS ((size_t)1200)

/* The start of curves is cut off if the rest takes less than this fraction of the height. */
#define STEEP 0.5
/* Curves count as the same if their distance is at most this fraction of the height. */
#define SAME 0.004
/* They must have at least this fraction of the width in common. */
#define IN_COMMON 0.8

/* ---- axes ---------------------------------------------------------------------------------- */

/* Widens a range by a run's values on one axis, for x of at least `from`; *below: one of them is
 * not positive. */
static void extend(const figure_run *run, bool vertical, double from, figure_axis *a, bool *below)
{
    for (size_t k = 0; k < run->count; k++) {
        double value = vertical ? run->y[k] : run->x[k];
        if (!isfinite(value) || !(run->x[k] >= from))
            continue;
        if (a->logarithmic && !(value > 0.0)) {
            *below = true;
            continue;
        }
        a->low = fmin(a->low, value);
        a->high = fmax(a->high, value);
    }
}

/* Chooses a unit, such as "(millions)", if numbers would be long. */
static void choose_unit(figure_axis *a)
{
    static const struct {
        double least;
        double unit;
        const char *text;
    } units[] = {{1e12, 1e12, " (trillions)"},
                 {1e9, 1e9, " (billions)"},
                 {1e6, 1e6, " (millions)"},
                 {1e5, 1e3, " (thousands)"}};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
        if (a->high >= units[k].least && a->high < 1e15) {
            a->unit = units[k].unit;
            a->unit_text = units[k].text;
            return;
        }
}

/* The range of all curves on one axis, for x of at least `from`. */
static figure_axis measure(const figure_panel *panel, bool vertical, double from, bool *below)
{
    figure_scale scale = vertical ? panel->y_scale : panel->x_scale;
    figure_axis a = {.logarithmic = scale == FIGURE_LOG,
                     .low = (double)INFINITY,
                     .high = -(double)INFINITY,
                     .unit = 1.0,
                     .unit_text = ""};
    *below = false;
    for (size_t c = 0; c < panel->curves; c++)
        for (size_t r = 0; r < panel->curve[c].runs; r++)
            extend(&panel->curve[c].run[r], vertical, from, &a, below);
    if (a.logarithmic && !(a.high > 0.0 && (*below || a.high / a.low >= 10.0)))
        a.logarithmic = false;
    return a;
}

figure_axis figure_axis_make(const figure_panel *panel, bool vertical)
{
    bool below;
    figure_axis a = measure(panel, vertical, -(double)INFINITY, &below);
    if (a.logarithmic) {
        a.low = pow(10.0, floor(log10(a.low)) - (below ? 1.0 : 0.0));
        if (vertical)
            a.high = pow(10.0, ceil(log10(a.high)));
    } else if (!vertical) {
        choose_unit(&a);
    } else if (panel->y_from > 0.0) {
        bool ignored;
        figure_axis x = measure(panel, false, -(double)INFINITY, &ignored);
        figure_axis late = measure(panel, true, panel->y_from * x.high, &ignored);
        late.fixed = late.high > late.low && late.high - late.low < STEEP * (a.high - a.low);
        double margin = 0.08 * (late.high - late.low);
        late.low -= margin;
        late.high += margin;
        late.unit_text = " (start cut off)";
        return late.fixed ? late : a;
    }
    return a;
}

/* A value in the coordinates of the axis; NaN leaves a gap. */
static double coordinate(const figure_axis *a, double value)
{
    if (!isfinite(value))
        return (double)NAN;
    if (a->logarithmic && !(value > a->low))
        return a->low;
    return value / a->unit;
}

/* ---- curves -------------------------------------------------------------------------------- */

/* A value as it is interpolated: its logarithm on a logarithmic axis; `drawn`: as the axis shows it. */
static double scaled(const figure_axis *a, double value, bool drawn)
{
    double shown = drawn ? coordinate(a, value) : value;
    return a->logarithmic ? log(shown) : shown;
}

/* The scaled value of a run at x by interpolation; NaN outside of its range and in gaps. */
static double value_at(const figure_run *run, double x, const figure_axis *a, bool drawn)
{
    if (run->count == 0 || !(x >= run->x[0]) || !(x <= run->x[run->count - 1]))
        return (double)NAN;
    size_t low = 0;
    size_t high = run->count - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (run->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double left = scaled(a, run->y[low], drawn);
    double right = scaled(a, run->y[high], drawn);
    double width = run->x[high] - run->x[low];
    double share = width > 0.0 ? (x - run->x[low]) / width : 1.0;
    /* Exactly at a point its neighbour, which may be a gap, does not count. */
    if (!(share > 0.0))
        return left;
    return share < 1.0 ? left + share * (right - left) : right;
}

/* Whether two runs look the same. */
static bool same_run(const figure_run *left, const figure_run *right, const figure_axis *y)
{
    enum { LOOKS = 100 };
    if (left->count < 2 || right->count < 2)
        return false;
    double first = fmax(left->x[0], right->x[0]);
    double last = fmin(left->x[left->count - 1], right->x[right->count - 1]);
    double height = scaled(y, y->high, true) - scaled(y, y->low, true);
    double longest =
        fmax(left->x[left->count - 1], right->x[right->count - 1]) - fmin(left->x[0], right->x[0]);
    if (!(last - first >= IN_COMMON * longest && longest > 0.0))
        return false;
    for (int k = 0; k <= LOOKS; k++) {
        double x = first + (last - first) * k / LOOKS;
        double apart = fabs(value_at(left, x, y, true) - value_at(right, x, y, true));
        if (!(apart <= SAME * height))
            return false;
    }
    return true;
}

bool figure_same_curve(const figure_curve *left, const figure_curve *right, const figure_axis *y)
{
    if (left->runs != right->runs || left->runs == 0)
        return false;
    for (size_t r = 0; r < left->runs; r++)
        if (!same_run(&left->run[r], &right->run[r], y))
            return false;
    return true;
}

/* ---- means with bands ----------------------------------------------------------------------- */

/* A point of a mean with its band. */
typedef struct mean_point {
    double x, mean, low, high;
} mean_point;

typedef struct mean_band {
    size_t count;
    mean_point *point; /* owned */
} mean_band;

/* Computes mean and band at one x; `value` is scratch for one value per run. */
static void summarize(mean_band *out, const figure_curve *curve, double x, const figure_axis *y,
                      double *value)
{
    mean_point *point = &out->point[out->count++];
    double sum = 0.0;
    for (size_t r = 0; r < curve->runs; r++) {
        value[r] = value_at(&curve->run[r], x, y, false);
        sum += value[r];
    }
    double mean = sum / (double)curve->runs;
    *point = (mean_point){x, (double)NAN, (double)NAN, (double)NAN};
    if (!isfinite(mean))
        return;
    qsort(value, curve->runs, sizeof *value, saddle_compare_reals);
    double last = (double)(curve->runs - 1);
    double low = value[(size_t)floor(0.1 * last)];
    double high = value[(size_t)ceil(0.9 * last)];
    *point = y->logarithmic ? (mean_point){x, exp(mean), exp(low), exp(high)}
                            : (mean_point){x, mean, low, high};
}

/* The range of the axis that all runs cover. */
static bool common_range(const figure_curve *curve, double *low, double *high)
{
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    for (size_t r = 0; r < curve->runs; r++) {
        const figure_run *run = &curve->run[r];
        if (run->count == 0)
            return false;
        *low = fmax(*low, run->x[0]);
        *high = fmin(*high, run->x[run->count - 1]);
    }
    return *low <= *high;
}

/* Computes mean and band over the range of the axis that all runs cover, at points of the first
 * run, at most MOST_POINTS of them. The result is empty if the runs have no x in common. On a
 * logarithmic axis, logarithms of values are averaged and interpolated, and values of 0 and less
 * are gaps. */
static saddle_status mean_band_make(mean_band *out, const figure_curve *curve, const figure_axis *y,
                                    saddle_error *error)
{
    *out = (mean_band){.count = 0};
    double low;
    double high;
    if (!common_range(curve, &low, &high))
        return SADDLE_OK;
    const figure_run *first = &curve->run[0];
    size_t stride = first->count / MOST_POINTS + 1;
    out->point = saddle_alloc(first->count / stride + 3, sizeof *out->point);
    double *value = saddle_alloc(curve->runs, sizeof *value);
    if (out->point == NULL || value == NULL) {
        saddle_free(out->point);
        saddle_free(value);
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory for the mean of %zu runs",
                           curve->runs);
    }
    summarize(out, curve, low, y, value);
    for (size_t k = 0; k < first->count; k += stride)
        if (first->x[k] > low && first->x[k] < high)
            summarize(out, curve, first->x[k], y, value);
    if (high > low)
        summarize(out, curve, high, y, value);
    saddle_free(value);
    return SADDLE_OK;
}

/* ---- points -------------------------------------------------------------------------------- */

/* A point in the coordinates of the axes. */
typedef struct dot {
    double x, y;
} dot;

/* Writes a line of points, followed by a gap. A single point between gaps is written twice,
 * slightly apart, because it would not be a line. */
static void write_line(FILE *f, const dot *line, size_t count, const figure_axis *x)
{
    for (size_t k = 0; k < count; k++)
        saddle_fprintf(f, "%.9g %.9g\n", line[k].x, line[k].y);
    if (count == 1)
        saddle_fprintf(f, "%.9g %.9g\n", line[0].x + 0.006 * x->high / x->unit, line[0].y);
    fputc('\n', f);
}

/* Writes points as a data block; an empty line is a gap. A long run is thinned, but the largest
 * and smallest points of each stretch are kept. */
static void write_points(FILE *f, const char *name, const figure_run *run, size_t from,
                         const figure_axis *x, const figure_axis *y)
{
    size_t count = run->count - from;
    size_t stride = count > MOST_POINTS ? 2 * count / MOST_POINTS : 1;
    dot line[2 * MOST_POINTS];
    size_t length = 0;
    saddle_fprintf(f, "%s << EOD\n", name);
    for (size_t k = from; k < run->count; k += stride) {
        size_t end = k + stride < run->count ? k + stride : run->count;
        size_t low = k;
        size_t high = k;
        for (size_t j = k; j < end; j++) {
            low = run->y[j] < run->y[low] ? j : low;
            high = run->y[j] > run->y[high] ? j : high;
        }
        size_t kept[] = {low < high ? low : high, low < high ? high : low};
        for (size_t j = 0; j < (kept[0] == kept[1] ? 1u : 2u); j++) {
            dot at = {coordinate(x, run->x[kept[j]]), coordinate(y, run->y[kept[j]])};
            bool gap = isnan(at.x) || isnan(at.y);
            if (gap || length == 2 * MOST_POINTS) {
                write_line(f, line, length, x);
                length = 0;
            }
            if (!gap)
                line[length++] = at;
        }
    }
    write_line(f, line, length, x);
    fputs("EOD\n", f);
}

static void write_band(FILE *f, const char *name, const mean_band *b, const figure_axis *x,
                       const figure_axis *y)
{
    saddle_fprintf(f, "%s << EOD\n", name);
    for (size_t k = 0; k < b->count; k++) {
        const mean_point *at = &b->point[k];
        double value = coordinate(y, at->mean);
        if (isnan(value))
            fputc('\n', f);
        else
            saddle_fprintf(f, "%.9g %.9g %.9g %.9g\n", coordinate(x, at->x), value,
                           coordinate(y, at->low), coordinate(y, at->high));
    }
    fputs("EOD\n", f);
}

/* The index where the rest of a run after the mean's range begins, including the point before it
 * so that the lines join; the end of the run if the rest is too short. */
static size_t beyond(const figure_run *run, const mean_band *b)
{
    double first = b->count > 0 ? b->point[0].x : -(double)INFINITY;
    double last = b->count > 0 ? b->point[b->count - 1].x : -(double)INFINITY;
    if (run->count == 0 || run->x[run->count - 1] - last <= SHORTEST_TAIL * fmax(last - first, 0.0))
        return run->count;
    size_t k = 0;
    while (k < run->count && run->x[k] <= last)
        k++;
    return k > 0 ? k - 1 : 0;
}

saddle_status figure_write_data(FILE *f, const figure_curve *curve, const char *name,
                                const figure_axis *x, const figure_axis *y, saddle_error *error)
{
    if (curve->runs == 1) {
        write_points(f, name, &curve->run[0], 0, x, y);
        return SADDLE_OK;
    }
    mean_band b;
    SADDLE_TRY(mean_band_make(&b, curve, y, error));
    write_band(f, name, &b, x, y);
    for (size_t r = 0; r < curve->runs; r++) {
        char tail[64];
        saddle_snprintf(tail, sizeof tail, "%sR%zu", name, r);
        write_points(f, tail, &curve->run[r], beyond(&curve->run[r], &b), x, y);
    }
    saddle_free(b.point);
    return SADDLE_OK;
}
