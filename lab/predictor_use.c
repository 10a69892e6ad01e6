/* Applies saved models: scores of rows, and the quality of the scores. */
#include "core/elementary.h"
#include "core/float_mode.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "data/scale.h"
#include "files/file.h"
#include "instance/instance.h"
#include "lab/predictor_state.h"
#include "models/ranking.h"
#include "observe/outcomes.h"

/* Refuses rows with another number of features. */
static saddle_status check_rows(const saddle_predictor *p, const saddle_dataset *data,
                                saddle_error *error)
{
    if (data->features == p->model->features)
        return saddle_dataset_check_names(data, p->columns, error);
    bool label_taken = data->features + 1 == p->model->features;
    return saddle_refuse(error,
                         "'%.300s' has %zu feature%s, but the model '%.300s' was trained on %zu; "
                         "give rows of the same kind%s",
                         data->name, data->features, SADDLE_PLURAL(data->features), p->path,
                         p->model->features,
                         label_taken ? "; set --label-column to none if no column is a label" : "");
}

saddle_status saddle_predictor_data(const saddle_predictor *predictor, saddle_dataset **out,
                                    const char *name, const saddle_data_options *options,
                                    saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, predictor, name);
    saddle_data_options how = {.abi = SADDLE_ABI};
    if (options != NULL)
        how = *options;
    how.features = predictor->model->features;
    if (how.header == SADDLE_HEADER_AUTO)
        how.header = predictor->plan.problem.header;
    how.label_by_name = how.label_column == NULL;
    if (how.label_column == NULL)
        how.label_column = predictor->plan.problem.label_column;
    if (how.missing == SADDLE_MISSING_REFUSE)
        how.missing = predictor->plan.problem.missing;
    if (how.drop_columns == NULL)
        how.drop_columns = predictor->plan.problem.drop_columns;
    how.columns = predictor->columns;
    SADDLE_TRY(saddle_dataset_load(out, name, &how, predictor->plan.start.seed, error));
    return saddle_dataset_finish(out, check_rows(predictor, *out, error));
}

/* Creates rows that are scaled as those of the run, with own labels. */
static saddle_status take_rows(const saddle_predictor *p, const saddle_dataset *data,
                               saddle_dataset **out, saddle_error *error)
{
    *out = NULL;
    SADDLE_TRY(check_rows(p, data, error));
    SADDLE_TRY(saddle_dataset_view(out, data, error));
    const saddle_scaling scaling = {p->model->features, p->model->mean, p->model->deviation};
    if (p->model->mean == NULL)
        return SADDLE_OK;
    return saddle_dataset_finish(out, saddle_dataset_scale(out, &scaling, error));
}

/* Computes the scores of scaled rows. */
static saddle_status score_rows(const saddle_predictor *p, const saddle_dataset *rows, double *out,
                                saddle_error *error)
{
    return p->problem->scores(p->problem, rows, p->model->x_mean, p->model->y_mean, out, error);
}

saddle_status saddle_predictor_scores(const saddle_predictor *predictor, const saddle_dataset *data,
                                      double *out, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, predictor, data, out);
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *rows = NULL;
    SADDLE_TRY(take_rows(predictor, data, &rows, error));
    return score_rows(predictor, rows, out, error);
}

saddle_status saddle_predictor_coefficients(const saddle_predictor *predictor, double *out,
                                            saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, predictor, out);
    const saddle_problem *problem = predictor->problem;
    const saddle_saved_model *model = predictor->model;
    if (problem->linear == NULL || !problem->linear(problem, model->x_mean, model->y_mean, out))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "'%.300s' is not a linear model, so it has no coefficients",
                           predictor->path);
    for (size_t k = 0; model->mean != NULL && k < model->features; k++) {
        out[k] /= model->deviation[k];
        out[model->features] -= out[k] * model->mean[k];
    }
    return SADDLE_OK;
}

/* Appends an outcome unless the problem itself has it. */
static void append(saddle_outcome *out, size_t *count, saddle_outcome outcome)
{
    for (size_t k = 0; k < *count; k++)
        if (strcmp(out[k].name, outcome.name) == 0)
            return;
    out[(*count)++] = outcome;
}

/* Measures the quality of scores for rows labelled +1 and -1. */
static saddle_status measure(const saddle_dataset *data, const double *score, saddle_outcome *out,
                             size_t *count, saddle_error *error)
{
    double correct = 0.0;
    double auc = NAN;
    double loss = 0.0;
    double positives = 0.0;
    double rows = (double)data->rows;
    for (size_t row = 0; row < data->rows; row++) {
        positives += data->label[row] > 0.0 ? 1.0 : 0.0;
        correct += (score[row] > 0.0) == (data->label[row] > 0.0) ? 1.0 : 0.0;
        loss += saddle_softplus(-data->label[row] * score[row]);
    }
    SADDLE_TRY(saddle_ranking_auc(data->rows, score, data->label, &auc, error));
    double accuracy = isnan(loss) ? (double)NAN : correct / rows;
    append(out, count, (saddle_outcome){"accuracy", accuracy, SADDLE_LARGER});
    append(out, count, (saddle_outcome){"auc", auc, SADDLE_LARGER});
    append(out, count, (saddle_outcome){"loss", loss / rows, SADDLE_SMALLER});
    append(out, count, (saddle_outcome){"positive_share", positives / rows, SADDLE_SMALLER});
    return SADDLE_OK;
}

/* Refuses labels of text, which are the numbers of their categories here, if those of the training were numbers. */
static saddle_status check_labels(const saddle_predictor *p, const saddle_dataset *data,
                                  saddle_error *error)
{
    size_t known;
    size_t own;
    const char *const *text = saddle_columns_label_texts(data->columns, &own);
    saddle_columns_label_texts(p->columns, &known);
    if (own == 0 || known > 0)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "'%.300s' has labels such as '%s', but the model was trained on numbers; "
                         "give such labels, or set --positive to those that count as positive",
                         data->name, SADDLE_EXCERPT(text[0]));
}

/* Replaces the labels of `data` by what the problem makes of them, then measures. */
static saddle_status evaluate(const saddle_predictor *p, saddle_dataset *data, const char *positive,
                              double *score, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    saddle_label_kind kind = p->choice.kind->labels;
    saddle_label_rule rule = saddle_plan_label_rule(&p->plan, kind);
    saddle_outcome_rows rows = {.held_out = data};
    bool given = kind == SADDLE_LABELS_SIGNS && positive != NULL && strcmp(positive, "auto") != 0;
    /* Labels may be given as texts of the label column. */
    SADDLE_OWNED char *list = given ? saddle_columns_label_list(data->columns, positive) : NULL;
    if (given && list == NULL)
        return saddle_no_memory(error, "the labels");
    if (given)
        rule = (saddle_label_rule){.kind = kind, .positive = list};
    SADDLE_TRY(given ? SADDLE_OK : check_labels(p, data, error));
    SADDLE_TRY(saddle_labels_apply(&rule, data, error));
    SADDLE_TRY(score_rows(p, data, score, error));
    if (p->problem->outcomes != NULL)
        SADDLE_TRY(saddle_outcomes_of(p->problem, &rows, p->model->x_mean, p->model->y_mean, out,
                                      count, error));
    return kind == SADDLE_LABELS_SIGNS ? measure(data, score, out, count, error) : SADDLE_OK;
}

static saddle_status no_labels(const saddle_predictor *p, const saddle_dataset *data,
                               saddle_error *error)
{
    const char *label = p->columns != NULL ? p->columns->label.name : NULL;
    bool named = label != NULL && *label != '\0';
    return saddle_refuse(
        error, "'%.300s' has no label column%s%s%s to compare scores with; give labelled rows",
        data->name, named ? " '" : "", named ? SADDLE_EXCERPT(label) : "", named ? "'" : "");
}

saddle_status saddle_predictor_evaluate(const saddle_predictor *predictor,
                                        const saddle_dataset *data, const char *positive,
                                        saddle_outcome *out, size_t *count, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, predictor, data, out, count);
    *count = 0;
    if (data->unlabelled)
        return no_labels(predictor, data, error);
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *rows = NULL;
    SADDLE_TRY(take_rows(predictor, data, &rows, error));
    SADDLE_OWNED double *score = saddle_alloc_doubles(data->rows);
    SADDLE_TRY(saddle_check_memory(score, "the scores", error));
    return evaluate(predictor, rows, positive, score, out, count, error);
}

saddle_status saddle_save_numbers(const double *number, size_t count, const char *path,
                                  saddle_error *error)
{
    SADDLE_REQUIRE(error, number, path);
    saddle_output file;
    char text[SADDLE_REAL_SIZE];
    SADDLE_TRY(saddle_output_open(&file, path, error));
    /* A failed write shows when the stream is committed. */
    for (size_t k = 0; k < count; k++)
        saddle_fprintf(file.stream, "%s\n", saddle_print_real(number[k], 17, text));
    return saddle_output_commit(&file, error);
}
