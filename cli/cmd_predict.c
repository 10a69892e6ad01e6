/* `saddle eval` and `saddle predict`: a saved model on data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Of the library's options, how to read the data; --problem for a plug-in's model. */
static const char *const eval_library[] = {
    "model", "data", "format", "label-column", "labels", "positive", "problem", "threads", NULL};
static const char *const predict_library[] = {"model",  "data",    "format",  "label-column",
                                              "labels", "problem", "threads", NULL};

/* What is not given of these is needed, or the model's. */
static const char *const undecided[] = {"problem", "data", "label-column", "positive", NULL};

static const saddle_option output = {.name = "output",
                                     .group = CLI_OUTPUT,
                                     .kind = SADDLE_OPTION_TEXT,
                                     .fallback = "",
                                     .metavar = "FILE",
                                     .help = "Write the scores to FILE, whole or not at all; -o is "
                                             "short for it. Not given: standard output."};
static const saddle_option *const eval_own[] = {&cli_option_config, NULL};
static const saddle_option *const predict_own[] = {&output, &cli_option_config, NULL};

/* A model and the rows it is used on. */
typedef struct job {
    saddle_predictor *predictor;
    saddle_dataset *data;
} job;

/* The value of an option if the user gave it, otherwise NULL. */
static const char *given(const saddle_settings *settings, const char *name)
{
    return saddle_settings_given(settings, name) ? saddle_settings_text(settings, name) : NULL;
}

static saddle_status require(const cli_arguments *arguments, const char *name, const char *what,
                             saddle_error *error)
{
    const char *text = given(arguments->settings, name);
    if (text != NULL && *text != '\0')
        return SADDLE_OK;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "saddle %s needs --%s, %s; `saddle help %s` explains it",
                       arguments->command->name, name, what, arguments->command->name);
}

static saddle_status open_job(job *out, const cli_arguments *arguments, saddle_error *error)
{
    const saddle_settings *settings = arguments->settings;
    *out = (job){.predictor = NULL};
    saddle_status status =
        require(arguments, "model", "a file that `saddle run --model` wrote", error);
    if (status == SADDLE_OK)
        status = require(arguments, "data", "the rows to score", error);
    if (status == SADDLE_OK)
        status = saddle_predictor_load(&out->predictor, saddle_settings_text(settings, "model"),
                                       given(settings, "problem"), error);
    saddle_data_options how = {.format = given(settings, "format"),
                               .label_column = given(settings, "label-column"),
                               .labels = given(settings, "labels"),
                               .threads = (int)saddle_settings_integer(settings, "threads")};
    if (status == SADDLE_OK)
        status = saddle_predictor_data(out->predictor, &out->data,
                                       saddle_settings_text(settings, "data"), &how, error);
    return status;
}

static void close_job(job *j)
{
    saddle_dataset_free(j->data);
    saddle_predictor_free(j->predictor);
}

/* ---- eval ---------------------------------------------------------------------------------- */

static void print_measures(const job *j, const cli_arguments *arguments,
                           const saddle_outcome *outcome, size_t count)
{
    printf("%s, a model of %s, on %s: %zu rows\n",
           saddle_settings_text(arguments->settings, "model"),
           saddle_predictor_problem(j->predictor)->name,
           saddle_settings_text(arguments->settings, "data"), j->data->rows);
    cli_table *table = cli_table_create("ll");
    for (size_t k = 0; k < count; k++) {
        char number[CLI_NUMBER];
        cli_table_add(table, "%s", outcome[k].name);
        cli_table_add(table, "%s",
                      isnan(outcome[k].value) ? "not defined"
                                              : saddle_number_text(outcome[k].value, 6, number));
    }
    cli_table_print(table);
}

/* Without labels there is nothing to compare scores with. */
static saddle_status check_labels(const cli_arguments *arguments, saddle_error *error)
{
    static const char *const name[] = {"label-column", "labels"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++)
        if (strcmp(saddle_settings_text(arguments->settings, name[k]), "none") == 0)
            return saddle_fail(error, SADDLE_BAD_INPUT,
                               "--%s: 'none' leaves saddle eval nothing to compare scores with; "
                               "`saddle predict` does without labels",
                               name[k]);
    return SADDLE_OK;
}

static int run_eval(const cli_arguments *arguments)
{
    saddle_error error;
    job j = {.predictor = NULL};
    saddle_outcome outcome[SADDLE_MOST_MEASURES];
    size_t count = 0;
    saddle_status status = check_labels(arguments, &error);
    if (status == SADDLE_OK)
        status = open_job(&j, arguments, &error);
    if (status == SADDLE_OK)
        status = saddle_predictor_evaluate(
            j.predictor, j.data, given(arguments->settings, "positive"), outcome, &count, &error);
    if (status == SADDLE_OK)
        print_measures(&j, arguments, outcome, count);
    close_job(&j);
    return status == SADDLE_OK ? CLI_OK : cli_fail(&error);
}

const cli_command cli_eval = {
    .name = "eval",
    .operands = "",
    .summary = "what a saved model is worth on data",
    .details =
        "Prints the outcomes of the model's problem on the rows of --data, as --test-data of the "
        "run would have, accuracy, auc and logistic loss of the scores, and the share of positive "
        "labels; not defined: there is no such number, as the auc of rows of one class. --model "
        "and --data are needed. Labels are positive by the run's rule, and --label-column is the "
        "run's, unless given. Data with more features than the model are refused; LIBSVM rows with "
        "fewer are filled up with zeros.\n"
        "--problem is for the model of a plug-in alone: the shared object is loaded only when "
        "named here.",
    .library = eval_library,
    .undecided = undecided,
    .own = eval_own,
    .run = run_eval,
};

/* ---- predict ------------------------------------------------------------------------------- */

static saddle_status check_output(const cli_arguments *arguments, saddle_error *error)
{
    const saddle_settings *settings = arguments->settings;
    const char *path = saddle_settings_text(settings, "output");
    saddle_status status = cli_check_output("--output", path, false, error);
    if (status == SADDLE_OK)
        status = cli_check_distinct("--output", path, "--model",
                                    saddle_settings_text(settings, "model"), error);
    if (status == SADDLE_OK)
        status = cli_check_inputs("--output", path, settings, error);
    return status;
}

static int run_predict(const cli_arguments *arguments)
{
    saddle_error error;
    job j = {.predictor = NULL};
    double *score = NULL;
    const char *path = saddle_settings_text(arguments->settings, "output");
    saddle_status status = check_output(arguments, &error);
    if (status == SADDLE_OK)
        status = open_job(&j, arguments, &error);
    if (status == SADDLE_OK)
        score = calloc(j.data->rows, sizeof *score);
    if (status == SADDLE_OK && score == NULL) {
        saddle_fail(&error, SADDLE_NO_MEMORY, "out of memory for the scores");
        status = SADDLE_NO_MEMORY;
    }
    if (status == SADDLE_OK)
        status = saddle_predictor_scores(j.predictor, j.data, score, &error);
    if (status == SADDLE_OK && *path != '\0')
        status = saddle_save_numbers(score, j.data->rows, path, &error);
    for (size_t row = 0; status == SADDLE_OK && *path == '\0' && row < j.data->rows; row++)
        printf("%.17g\n", score[row]);
    free(score);
    close_job(&j);
    return status == SADDLE_OK ? CLI_OK : cli_fail(&error);
}

const cli_command cli_predict = {
    .name = "predict",
    .operands = "",
    .summary = "write a saved model's score of every row of data",
    .details = "One number per line, in the order of the rows: above 0 the model says positive, "
               "otherwise negative; the larger, the surer. --model and --data are needed. Labels "
               "of the data do not matter; where there are none, say --label-column none (CSV) or "
               "--labels none (IDX). Data with more features than the model are refused; "
               "LIBSVM rows with fewer are filled up with zeros.\n"
               "--problem is for the model of a plug-in alone: the shared object is loaded only "
               "when named here.",
    .library = predict_library,
    .undecided = undecided,
    .own = predict_own,
    .run = run_predict,
};
