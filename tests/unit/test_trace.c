/* Reading traces: complete ones, those still being written, and files that are not traces. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saddle/lab.h>

#include "core/print.h"
#include "support.h"

#define HEAD "iteration,ifo,metric\n"

/* Writes a file of `length` bytes in the test's directory; static path. */
static const char *write_bytes(const char *bytes, size_t length)
{
    static char path[512];
    saddle_snprintf(path, sizeof path, "%s/trace.csv", saddle_test_directory());
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

static const char *write_text(const char *text)
{
    return write_bytes(text, strlen(text));
}

/* Reads a text that is a trace. */
static saddle_trace *read_text(const char *text)
{
    saddle_error error;
    saddle_trace *trace = NULL;
    assert_ok(saddle_trace_read(&trace, write_text(text), &error), error);
    return trace;
}

static void refuse_text(const char *text, const char *part)
{
    saddle_error error;
    saddle_trace *trace = (saddle_trace *)&error;
    assert_refused(saddle_trace_read(&trace, write_text(text), &error), error, SADDLE_BAD_INPUT,
                   part);
    ck_assert_ptr_null(trace);
    ck_assert_ptr_null(strchr(error.message, '\n'));
}

/* Lists the columns of a row in the trace's order. */
static void take_row(const saddle_row *row, double out[SADDLE_TRACE_COLUMNS])
{
    const double cell[SADDLE_TRACE_COLUMNS] = {(double)row->iteration,
                                               (double)row->cost.ifo,
                                               (double)row->cost.rounds,
                                               (double)row->cost.messages,
                                               (double)row->cost.bytes,
                                               row->seconds,
                                               row->cost.network_seconds,
                                               row->cost.age,
                                               row->present,
                                               row->components,
                                               row->loss,
                                               row->primal,
                                               row->metric,
                                               row->x_stationarity,
                                               row->x_consensus,
                                               row->y_consensus,
                                               row->y_gap,
                                               row->stationarity,
                                               row->potential,
                                               row->gap};
    memcpy(out, cell, sizeof cell);
}

/* Asserts that every cell of a trace is that of the result, bit for bit. */
static void compare_rows(const saddle_trace *trace, const saddle_result *result)
{
    ck_assert_uint_eq(trace->rows, result->row_count);
    bool simulated = result->plan.network.link_model != NULL;
    bool aged = strcmp(result->plan.network.links, "reliable") != 0;
    bool churn = result->plan.network.churn != NULL;
    size_t missing = (simulated ? 0U : 1U) + (aged ? 0U : 1U) + (churn ? 0U : 2U);
    ck_assert_uint_eq(trace->columns, SADDLE_TRACE_COLUMNS - missing);
    for (size_t r = 0; r < trace->rows; r++) {
        double cell[SADDLE_TRACE_COLUMNS];
        take_row(&result->rows[r], cell);
        for (size_t c = 0; c < SADDLE_TRACE_COLUMNS; c++) {
            const double *column = saddle_trace_column(trace, saddle_trace_column_name(c));
            if (!saddle_row_has(&result->rows[r], c)) {
                ck_assert(column == NULL && !(simulated && aged && churn));
                continue;
            }
            ck_assert_ptr_nonnull(column);
            if (isnan(cell[c]))
                ck_assert(isnan(column[r]));
            else
                ck_assert_mem_eq(&column[r], &cell[c], sizeof cell[c]);
        }
    }
    ck_assert_uint_eq(trace->agents, result->agents);
    ck_assert_mem_eq(trace->disagreement, result->disagreement,
                     result->agents * sizeof *result->disagreement);
    ck_assert_str_eq(trace->end, saddle_stop_text(result->stop));
    ck_assert_str_eq(trace->version, saddle_version());
}

/* Runs 12 iterations with a trace and a model in the test's directory. */
static saddle_result *make_run(char trace[512], char model[512], const char *link_model)
{
    saddle_error error;
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_snprintf(trace, 512, "%s/run.csv", saddle_test_directory());
    saddle_snprintf(model, 512, "%s/run.npz", saddle_test_directory());
    saddle_plan_defaults(&plan, sizeof plan);
    const char *const option[][2] = {
        {"problem", "quadratic"}, {"iterations", "12"}, {"trace-every", "5"},      {"seed", "3"},
        {"trace", trace},         {"model", model},     {"link-model", link_model}};
    for (size_t k = 0; k < sizeof option / sizeof *option; k++)
        assert_ok(saddle_plan_set(&plan, option[k][0], option[k][1], &error), error);
    assert_ok(saddle_instance_create(&instance, &plan, &error), error);
    assert_ok(saddle_run(instance, NULL, NULL, &result, &error), error);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return result;
}

TEST_LOOP(reads_what_a_run_wrote, 0, 2)
{
    saddle_error error;
    char path[512];
    char model[512];
    saddle_trace *trace = NULL;
    saddle_trace *memory = NULL;
    saddle_result *result = make_run(path, model, _i == 0 ? "" : "latency:0.5,compute:1e-7");
    assert_ok(saddle_trace_read(&trace, path, &error), error);
    compare_rows(trace, result);
    ck_assert_str_eq(trace->path, path);
    ck_assert_str_eq(saddle_trace_setting(trace, "problem"), "quadratic");
    ck_assert_str_eq(saddle_trace_setting(trace, "seed"), "3");
    ck_assert_str_eq(saddle_trace_setting(trace, "no such setting"), "");
    ck_assert_ptr_null(saddle_trace_column(trace, "no such column"));

    /* The same without the file. */
    assert_ok(saddle_result_trace(result, &memory, &error), error);
    compare_rows(memory, result);
    ck_assert_str_eq(memory->path, "precision-auto-seed3.csv");
    for (size_t k = 0; k < memory->entries; k++)
        ck_assert_str_eq(saddle_trace_setting(trace, memory->entry[k].name),
                         memory->entry[k].value);
    saddle_trace_free(memory);
    saddle_trace_free(trace);
    saddle_result_free(result);
}

TEST(reads_the_end_of_a_run)
{
    saddle_trace *trace =
        read_text(HEAD "0,10,0.5\n# disagreement: 0 2.5e-3  1e300\n# ended: all iterations done\n");
    ck_assert_uint_eq(trace->agents, 3);
    ck_assert_mem_eq(trace->disagreement, ((const double[]){0.0, 2.5e-3, 1e300}),
                     3 * sizeof(double));
    ck_assert_str_eq(trace->end, "all iterations done");
    saddle_trace_free(trace);
    /* A run that was resumed: its first end does not count. */
    trace = read_text(HEAD "0,10,0.5\n# disagreement: 1 2\n# ended: interrupted\n1,20,0.2\n");
    ck_assert_uint_eq(trace->agents, 0);
    ck_assert_ptr_null(trace->end);
    saddle_trace_free(trace);
    trace = read_text(HEAD "0,10,0.5\n# disagreement: 1 2\n1,20,0.2\n# disagreement: 3\n");
    ck_assert_uint_eq(trace->agents, 1);
    ck_assert_double_eq(trace->disagreement[0], 3.0);
    saddle_trace_free(trace);
    refuse_text(HEAD "0,10,0.5\n# disagreement: 1 x 2\n",
                ":3:19: 'x' is not a number; there is one for each agent here");
}

TEST(reads_what_a_run_is_writing)
{
    saddle_trace *trace = read_text("# saddle 1.2.3\n# seed: 7\n" HEAD);
    ck_assert_uint_eq(trace->rows, 0);
    ck_assert_ptr_nonnull(saddle_trace_column(trace, "metric"));
    ck_assert_str_eq(trace->version, "1.2.3");
    ck_assert_ptr_null(trace->end);
    saddle_trace_free(trace);

    trace = read_text(HEAD "0,10,0.5\n1,20,0.2"); /* the last line is not complete */
    ck_assert_uint_eq(trace->rows, 1);
    ck_assert_ptr_null(trace->end);
    saddle_trace_free(trace);

    trace = read_text(HEAD "0,10,0.5\n# ended: interrupted\n");
    ck_assert_str_eq(trace->end, "interrupted");
    saddle_trace_free(trace);

    trace = read_text(HEAD "0,10,0.5\n# ended: interrupted\n1,20,0.2\n"); /* resumed */
    ck_assert_uint_eq(trace->rows, 2);
    ck_assert_ptr_null(trace->end);
    saddle_trace_free(trace);
}

TEST(reads_odd_files)
{
    saddle_trace *trace = read_text(
        "\xEF\xBB\xBF# saddle 1\r\n# note\r\n# data: a: b, \"c\"\r\niteration , ifo,metric "
        "\r\n\r\n0, 10 ,\r\n 1,20,NaN\r\n2,30,-inf\r\n3,40,1e-300\r\n");
    ck_assert_str_eq(saddle_trace_setting(trace, "data"), "a: b, \"c\"");
    ck_assert_uint_eq(trace->entries, 1);
    ck_assert_uint_eq(trace->rows, 4);
    const double *metric = saddle_trace_column(trace, "metric");
    ck_assert(isnan(metric[0]) && isnan(metric[1]) && isinf(metric[2]) && metric[2] < 0.0);
    assert_near(metric[3], 1e-300, 0.0);
    assert_near(saddle_trace_column(trace, "ifo")[1], 20.0, 0.0);
    saddle_trace_free(trace);
}

TEST(grows_with_the_file)
{
    static char text[200000];
    size_t used = (size_t)saddle_snprintf(text, sizeof text, HEAD);
    for (int t = 0; t < 5000; t++)
        used +=
            (size_t)saddle_snprintf(text + used, sizeof text - used, "%d,%d,%d.5\n", t, 10 * t, t);
    saddle_trace *trace = read_text(text);
    ck_assert_uint_eq(trace->rows, 5000);
    for (size_t t = 0; t < 5000; t++)
        assert_near(saddle_trace_column(trace, "metric")[t], (double)t + 0.5, 0.0);
    saddle_trace_free(trace);
}

TEST(refuses_what_is_not_a_trace)
{
    refuse_text("", "holds no line of column names");
    refuse_text("# saddle 1\n# seed: 2\n", "holds no line of column names");
    refuse_text("0,1,2\n", ":1:1: '0' is not a column name");
    refuse_text("iteration,,metric\n", ":1:11: '' is not a column name");
    refuse_text(HEAD "0,10\n", ":2:1: 2 cells; the line of column names has 3");
    refuse_text(HEAD "0,10,1,2\n", ":2:1: 4 cells; the line of column names has 3");
    refuse_text("# c\n" HEAD "0,10,0.5\n1,x1,2\n", ":4:3: 'x1' is not a number");
    refuse_text(HEAD "0,10,1e999\n", ":2:6: '1e999' is not a number");
    refuse_text(HEAD "0,10,0x10\n", ":2:6: '0x10' is not a number");
    refuse_text(HEAD "0,10,\x1b[31m\n", ":2:6: '\\x1b[31m' is not a number");
    saddle_error error;
    saddle_trace *trace = NULL;
    const char bytes[] = "iteration\n1\0002\n";
    assert_refused(saddle_trace_read(&trace, write_bytes(bytes, sizeof bytes - 1), &error), error,
                   SADDLE_BAD_INPUT, ":2:1: '1\\x012' is not a number");
    assert_refused(saddle_trace_read(&trace, "/nonexistent/t.csv", &error), error, SADDLE_BAD_INPUT,
                   "cannot read '/nonexistent/t.csv'");
    assert_refused(saddle_trace_read(&trace, saddle_test_directory(), &error), error,
                   SADDLE_BAD_INPUT, "it is a directory; give the path of a trace");
}

TEST(bounds_memory)
{
    /* Many columns, and a line that does not end. */
    static char commas[4096];
    memset(commas, ',', sizeof commas - 2);
    refuse_text(commas, "holds no line of column names"); /* no newline: not complete */
    commas[sizeof commas - 2] = '\n';
    refuse_text(commas, "columns; a trace has at most");
    /* A head of more lines than any run writes, and invalid names. */
    size_t size = 0;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    for (int k = 0; k <= 1024; k++)
        saddle_fprintf(stream, "# name%d: 1\n", k);
    fputs(HEAD "0,10,5\n", stream);
    ck_assert_int_eq(fclose(stream), 0);
    refuse_text(text, ":1025:1: more than 1024 settings");
    memset(text, 'a', 4098);
    memcpy(text + 4098, ": 1\n", 5);
    text[0] = '#';
    text[1] = ' ';
    saddle_trace_free(read_text(strcat(text, HEAD "0,10,5\n")));
    memset(text, 'a', 4099);
    memcpy(text + 4099, ": 1\n", 5);
    text[0] = '#';
    text[1] = ' ';
    refuse_text(text, "a name in a trace has at most 4096");
    memset(text, 'a', 4106);
    static const char ended[] = "# ended: ";
    for (size_t k = 0; k + 1 < sizeof ended; k++)
        text[k] = ended[k];
    memcpy(text + 4106, "\n", 2);
    refuse_text(text, "at most 4096");
    free(text);
    saddle_error error;
    saddle_trace *trace = NULL;
    assert_refused(saddle_trace_read(&trace, "/dev/zero", &error), error, SADDLE_BAD_INPUT,
                   ":1:1: the line is longer than");
}

/* |row i - mean of the rows|^2. */
static double squared_distance(const double *copies, size_t agents, size_t dim, size_t i)
{
    double sum = 0.0;
    for (size_t k = 0; k < dim; k++) {
        double total = 0.0;
        for (size_t j = 0; j < agents; j++)
            total += copies[j * dim + k];
        sum += pow(copies[i * dim + k] - total / (double)agents, 2.0);
    }
    return sum;
}

TEST(measures_consensus_of_a_model)
{
    char path[512];
    char model[512];
    saddle_result *result = make_run(path, model, "");
    double sum = 0.0;
    for (size_t i = 0; i < result->agents; i++) {
        double wanted = squared_distance(result->x, result->agents, result->x_dim, i) +
                        squared_distance(result->y, result->agents, result->y_dim, i);
        ck_assert(wanted > 0.0);
        /* Rounding of the mean, which is of size 1, is multiplied by the distance. */
        double rounding = 1e-13 * wanted + 8 * DBL_EPSILON * sqrt(wanted);
        assert_near(result->disagreement[i], wanted, rounding);
        sum += wanted;
    }
    const saddle_row *last = &result->rows[result->row_count - 1];
    assert_near(last->x_consensus + last->y_consensus, sum, 1e-13 * sum);
    saddle_result_free(result);
}

TEST(chooses_levels)
{
    static const struct {
        double first[3], last[3]; /* of the runs, as many as are not 0 at the start */
        size_t levels;
        double level[SADDLE_MOST_LEVELS];
    } list[] = {
        {{5.0, 0.5}, {2e-3, 0.3}, 3, {1.0, 0.1, 0.01}},
        {{1.0}, {1e-2}, 2, {0.1, 0.01}}, /* below the start, at or above the best */
        {{1.0}, {3e-13}, 6, {1e-1, 1e-3, 1e-5, 1e-7, 1e-9, 1e-12}},
        /* Most of them where all runs pass, down to where rounding begins. */
        {{2.0, 2.0}, {4e-4, 1e-31}, 6, {1.0, 1e-1, 1e-2, 1e-3, 1e-13, 1e-23}},
        {{2.0, 2.0}, {0.3, 1e-5}, 6, {1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5}},
        {{2.0, 2.0}, {3.0, 1e-9}, 6, {1.0, 1e-1, 1e-3, 1e-5, 1e-7, 1e-9}},
        {{1.0}, {0.523}, 1, {0.53}},
        {{1.0, 1.0}, {0.0, 0.04}, 1, {0.1}}, /* the end that is not 0 decides */
        {{1.0}, {0.0}, 1, {0.0}},
        {{0.5, 0.5}, {(double)NAN, 0.9}, 1, {0.9}}, /* nothing was gained */
        {{0.5, (double)INFINITY}, {(double)INFINITY, 0.04}, 1, {0.1}},
        {{0.5}, {(double)NAN}, 0, {0.0}},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        saddle_metric_range range = {.runs = 0};
        double level[SADDLE_MOST_LEVELS];
        for (size_t r = 0; r < 3 && list[k].first[r] > 0.0; r++)
            saddle_metric_range_add(&range, list[k].first[r], list[k].last[r]);
        ck_assert_msg(saddle_levels_choose(&range, level) == list[k].levels, "case %zu", k);
        for (size_t l = 0; l < list[k].levels; l++)
            assert_near(level[l], list[k].level[l], 1e-15 * list[k].level[l]);
    }
}

TEST(a_level_is_reached_where_the_metric_stays)
{
    double metric[] = {4.0, 0.5, 2.0, 0.5, 0.1, 0.5};
    saddle_row rows[6] = {{0}};
    for (size_t k = 0; k < 6; k++)
        rows[k].metric = metric[k];
    ck_assert_uint_eq(saddle_levels_reached(metric, sizeof *metric, 6, 4.0), 0);
    ck_assert_uint_eq(saddle_levels_reached(metric, sizeof *metric, 6, 1.0), 3);
    ck_assert_uint_eq(saddle_levels_reached(metric, sizeof *metric, 6, 0.5), 3);
    ck_assert_uint_eq(saddle_levels_reached(metric, sizeof *metric, 6, 0.2), 6);
    ck_assert_uint_eq(saddle_levels_reached(&rows->metric, sizeof *rows, 6, 1.0), 3);
    metric[4] = (double)NAN;
    ck_assert_uint_eq(saddle_levels_reached(metric, sizeof *metric, 6, 1.0), 5);
}
