/* `saddle eval` and `saddle predict`: apply a saved model to data. */
#include "cli.h"
#include "files/file.h"
#include "json_output.h"
#include "run/plan_files.h"

/* The library options that control how data are read; --problem is for the model of a plug-in. */
#define SCORING_FIELDS                                                                            \
    CLI_FIELDS(outputs.model), CLI_FIELDS(problem.data), CLI_FIELDS(problem.format),              \
        CLI_FIELDS(problem.header), CLI_FIELDS(problem.label_column), CLI_FIELDS(problem.labels), \
        CLI_FIELDS(problem.missing), CLI_FIELDS(problem.drop_columns), CLI_FIELDS(problem.name),  \
        CLI_FIELDS(engine.threads)
static CLI_PLAN_FIELDS(eval_library, CLI_FIELDS(problem.positive), SCORING_FIELDS);
static CLI_PLAN_FIELDS(predict_library, SCORING_FIELDS);

/* Options that are required, or whose default is the model's. */
static CLI_PLAN_FIELDS(undecided, CLI_FIELDS(problem.name), CLI_FIELDS(problem.data),
                       CLI_FIELDS(problem.header), CLI_FIELDS(problem.label_column),
                       CLI_FIELDS(problem.positive), CLI_FIELDS(problem.missing),
                       CLI_FIELDS(problem.drop_columns));

typedef struct options {
    cli_common common;
    const char *output; /* NULL: standard output */
    bool coefficients;
} options;

static const saddle_option *const eval_own[] = {&cli_option_config, &cli_option_json, NULL};
static const saddle_option *const predict_own[] = {
    CLI_FILES(OUTPUT, options, output, "output", SADDLE_OUTPUT_HEADING, "", "FILE",
              "Write the scores to FILE; -o is the same. The file appears only once it is "
              "complete. Not given: standard output."),
    CLI_OPTION(FLAG, options, coefficients, "coefficients", SADDLE_OUTPUT_HEADING, "no",
               "Write the coefficients of a linear model instead of scores. They are in the units "
               "of the data, one per line, each with a tab and the name or number of its feature; "
               "the intercept is last. --data is not needed."),
    &cli_option_config, NULL};

/* A model and the rows to apply it to. */
typedef struct job {
    saddle_predictor *predictor;
    saddle_dataset *data;
} job;

static saddle_status require(const cli_arguments *arguments, bool there, const char *name,
                             const char *what, saddle_error *error)
{
    if (there)
        return SADDLE_OK;
    return saddle_refuse(error, "saddle %s needs --%s, %s; `saddle help %s` explains it",
                         arguments->command->name, name, what, arguments->command->name);
}

static saddle_status load_model(saddle_predictor **out, const cli_arguments *arguments,
                                saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    SADDLE_TRY(require(arguments, plan->outputs.model != NULL, "model",
                       "a file that `saddle run --model` wrote", error));
    const char *plugin = SADDLE_GIVEN(plan, problem.name) ? plan->problem.name : NULL;
    return saddle_predictor_load(out, plan->outputs.model, plugin, error);
}

static saddle_status open_job(job *out, const cli_arguments *arguments, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    *out = (job){.predictor = NULL};
    SADDLE_TRY(load_model(&out->predictor, arguments, error));
    SADDLE_TRY(
        require(arguments, SADDLE_GIVEN(plan, problem.data), "data", "the rows to score", error));
    saddle_data_options how = saddle_plan_data_options(plan);
    if (!SADDLE_GIVEN(plan, problem.label_column))
        how.label_column = NULL;
    SADDLE_TRY(saddle_predictor_data(out->predictor, &out->data, plan->problem.data, &how, error));
    cli_warn_unread(plan, out->data->formats);
    return SADDLE_OK;
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
    cli_print("%s, a model of %s, on %s: %zu row%s\n", arguments->plan.outputs.model,
              saddle_predictor_problem(j->predictor)->name, arguments->plan.problem.data,
              j->data->rows, SADDLE_PLURAL(j->data->rows));
    cli_table *table = cli_table_create("ll");
    for (size_t k = 0; k < count; k++) {
        char number[CLI_NUMBER];
        cli_table_words(table, outcome[k].name,
                        isnan(outcome[k].value) ? "not defined"
                                                : saddle_print_real(outcome[k].value, 6, number));
    }
    cli_table_print(table);
}

static void print_json(const job *j, const cli_arguments *arguments, const saddle_outcome *outcome,
                       size_t count)
{
    saddle_json json;
    cli_json_begin(&json, arguments->command);
    cli_json_given(&json, arguments);
    saddle_json_put(&json, "model %s problem %s data %s rows %zu dropped %zu outcomes {",
                    arguments->plan.outputs.model, saddle_predictor_problem(j->predictor)->name,
                    arguments->plan.problem.data, j->data->rows, j->data->dropped);
    for (size_t k = 0; k < count; k++)
        saddle_json_put(&json, "%s: %g", outcome[k].name, outcome[k].value);
    saddle_json_put(&json, "}");
    cli_json_end(&json);
}

/* Refuses data without labels: there is nothing to compare scores with. */
static saddle_status check_labels(const saddle_plan *plan, saddle_error *error)
{
    const char *const value[][2] = {{"label-column", plan->problem.label_column},
                                    {"labels", plan->problem.labels}};
    for (size_t k = 0; k < sizeof value / sizeof *value; k++)
        if (value[k][1] != NULL && strcmp(value[k][1], "none") == 0)
            return saddle_refuse(error,
                                 "--%s: 'none' leaves nothing to compare the scores with; `saddle "
                                 "predict` needs no labels",
                                 value[k][0]);
    return SADDLE_OK;
}

static int run_eval(const cli_arguments *arguments)
{
    saddle_error error;
    SADDLE_OWNED_BY(close_job) job j = {.predictor = NULL};
    saddle_outcome outcome[SADDLE_MOST_MEASURES];
    size_t count = 0;
    CLI_TRY(check_labels(&arguments->plan, &error));
    CLI_TRY(open_job(&j, arguments, &error));
    CLI_TRY(saddle_predictor_evaluate(j.predictor, j.data, arguments->plan.problem.positive,
                                      outcome, &count, &error));
    const options *chosen = arguments->own;
    if (chosen->common.json)
        print_json(&j, arguments, outcome, count);
    else
        print_measures(&j, arguments, outcome, count);
    return CLI_OK;
}

const cli_command cli_eval = {
    .name = "eval",
    .operands = "",
    .summary = "measure a saved model on labelled data",
    .details =
        "Prints the outcomes of the model's problem on the rows of --data (as the run does for "
        "--test-data), the accuracy, AUC and logistic loss of the scores, and the fraction of "
        "positive labels. `not defined` means that the number does not exist, such as the AUC of "
        "rows of one class. --model and --data are required. Unless given, the positive labels and "
        "the label column (by name if it has one) are those of the run. Data with more features "
        "than the model are refused; LIBSVM rows with fewer are padded with zeros.\n--problem is "
        "only for the model of a plug-in: the shared object is loaded only if it is named here.",
    .library = eval_library,
    .undecided = undecided,
    .own = eval_own,
    .own_bytes = sizeof(options),
    .run = run_eval,
};

/* ---- predict ------------------------------------------------------------------------------- */

static saddle_status check_output(const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    SADDLE_TRY(cli_check_output("--output", chosen->output, false, error));
    saddle_path_list_add(&outputs, "--output", chosen->output);
    saddle_path_list_add(&inputs, "--model", arguments->plan.outputs.model);
    saddle_plan_add_inputs(&arguments->plan, &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

/* Writes the coefficients of a linear model. */
static saddle_status write_coefficients(const saddle_predictor *predictor, FILE *stream,
                                        saddle_error *error)
{
    size_t features = saddle_predictor_features(predictor);
    SADDLE_OWNED double *w = saddle_alloc(features + 1, sizeof *w);
    SADDLE_TRY(saddle_check_memory(w, "the coefficients", error));
    SADDLE_TRY(saddle_predictor_coefficients(predictor, w, error));
    for (size_t k = 0; k <= features; k++) {
        char number[SADDLE_REAL_SIZE];
        SADDLE_OWNED char *name =
            k < features ? saddle_columns_feature_name(saddle_predictor_columns(predictor), k)
                         : saddle_strdup("(intercept)");
        SADDLE_TRY(saddle_check_memory(name, "the coefficients", error));
        saddle_fprintf(stream, "%s\t", saddle_print_real(w[k], 17, number));
        saddle_put_shown(stream, name);
        fputc('\n', stream);
    }
    return SADDLE_OK;
}

static saddle_status save_coefficients(const saddle_predictor *predictor, const char *path,
                                       saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_output_discard) saddle_output file = {.stream = NULL};
    SADDLE_TRY(saddle_output_open(&file, path, error));
    SADDLE_TRY(write_coefficients(predictor, file.stream, error));
    return saddle_output_commit(&file, error);
}

static int run_coefficients(const cli_arguments *arguments)
{
    saddle_error error;
    SADDLE_OWNED_BY(close_job) job j = {.predictor = NULL};
    const char *path = ((const options *)arguments->own)->output;
    CLI_TRY(load_model(&j.predictor, arguments, &error));
    CLI_TRY(path != NULL ? save_coefficients(j.predictor, path, &error)
                         : write_coefficients(j.predictor, stdout, &error));
    return CLI_OK;
}

static int run_predict(const cli_arguments *arguments)
{
    saddle_error error;
    SADDLE_OWNED_BY(close_job) job j = {.predictor = NULL};
    char number[SADDLE_REAL_SIZE];
    const options *chosen = arguments->own;
    const char *path = chosen->output;
    CLI_TRY(check_output(arguments, &error));
    if (chosen->coefficients)
        return run_coefficients(arguments);
    CLI_TRY(open_job(&j, arguments, &error));
    SADDLE_OWNED double *score = saddle_alloc(j.data->rows, sizeof *score);
    CLI_TRY(saddle_check_memory(score, "the scores", &error));
    if (j.data->dropped > 0)
        return cli_refuse("--missing: %zu row%s of '%s' lack%s a value and cannot be scored; give "
                          "rows without missing values, or train with --missing impute",
                          j.data->dropped, SADDLE_PLURAL(j.data->dropped),
                          arguments->plan.problem.data, j.data->dropped == 1 ? "s" : "");
    CLI_TRY(saddle_predictor_scores(j.predictor, j.data, score, &error));
    if (path != NULL)
        CLI_TRY(saddle_save_numbers(score, j.data->rows, path, &error));
    for (size_t row = 0; path == NULL && row < j.data->rows; row++)
        puts(saddle_print_real(score[row], 17, number));
    return CLI_OK;
}

const cli_command cli_predict = {
    .name = "predict",
    .operands = "",
    .summary = "score the rows of a data set with a saved model",
    .details =
        "Prints one score per line, in the order of the rows. A score above 0 predicts the "
        "positive class; the larger its absolute value, the more confident the prediction. --model "
        "and --data are required. --coefficients writes those of a linear model instead. Labels of "
        "the data are ignored, and a CSV file with column names "
        "need not have a label column; for other files without labels, give --label-column none "
        "(CSV) or --labels none (IDX). Data with more features than the model are refused; LIBSVM "
        "rows with fewer are padded with zeros.\n--problem is only for the model of a plug-in: the "
        "shared object is loaded only if it is named here.",
    .library = predict_library,
    .undecided = undecided,
    .own = predict_own,
    .own_bytes = sizeof(options),
    .run = run_predict,
};
