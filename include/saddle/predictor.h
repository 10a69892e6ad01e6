/**
 * @file predictor.h
 * @brief Saved models at work: scores of rows, and what they are worth.
 *
 *     saddle_predictor *predictor;               // what saddle_result_save() wrote
 *     saddle_predictor_load(&predictor, "model.npz", NULL, &error);
 *     saddle_dataset *data;                      // rows that fit it
 *     saddle_predictor_data(predictor, &data, "a9a.t", NULL, &error);
 *     saddle_outcome outcome[SADDLE_MOST_MEASURES];
 *     size_t count;
 *     saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, &error);
 *
 * The model is the agents' mean, (xbar, ybar). Its file carries the run's effective settings, from
 * which the problem is made anew without its samples.
 */
#ifndef SADDLE_PREDICTOR_H
#define SADDLE_PREDICTOR_H

#include <stddef.h>

#include <saddle/data.h>
#include <saddle/plan.h>
#include <saddle/problem.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A saved model, ready for use. */
typedef struct saddle_predictor saddle_predictor;

/**
 * Read a model file. Refused with the reason: a file that is none, one without the settings or from a
 * later version, a problem that scores no data.
 * @param[out] out     NULL on failure. Free with saddle_predictor_free().
 * @param      plugin  PATH[:OPTIONS] of the shared object of a plug-in's model: a path in a file is not
 *                     followed, whoever may have written it. NULL for built-in problems.
 */
SADDLE_API saddle_status saddle_predictor_load(saddle_predictor **out, const char *path,
                                               const char *plugin, saddle_error *error);
/** Free. NULL is allowed. */
SADDLE_API void saddle_predictor_free(saddle_predictor *predictor);

/** The plan of the run that made the model, nothing automatic. Borrowed. */
SADDLE_API const saddle_plan *saddle_predictor_plan(const saddle_predictor *predictor);
/** The problem, without samples. Borrowed. */
SADDLE_API const saddle_problem *saddle_predictor_problem(const saddle_predictor *predictor);
/** Features of the rows it was made from. */
SADDLE_API size_t saddle_predictor_features(const saddle_predictor *predictor);

/**
 * Load rows for the model, by name as saddle_dataset_load(): LIBSVM rows are padded with zeros to its
 * features; data with more of them are refused. Labels stay as they are read.
 * @param options  how to read a file; NULL, or NULL label_column: as the run did.
 */
SADDLE_API saddle_status saddle_predictor_data(const saddle_predictor *predictor,
                                               saddle_dataset **out, const char *name,
                                               const saddle_data_options *options,
                                               saddle_error *error);

/** The score of every row: out[row], above 0 for +1. Labels do not matter. */
SADDLE_API saddle_status saddle_predictor_scores(const saddle_predictor *predictor,
                                                 const saddle_dataset *data, double *out,
                                                 saddle_error *error);

/** The most that saddle_predictor_evaluate() finds. */
#define SADDLE_MOST_MEASURES (SADDLE_MOST_OUTCOMES + 4)

/**
 * What the model is worth on labelled rows: the problem's own outcomes, and those of `accuracy` (share
 * of rows whose score has the sign of the label), `auc`, `loss` (mean of log(1 + exp(-label score))) and
 * `positive_share` (of the rows' labels) that are not among them.
 * @param positive  which labels are positive, as for saddle_dataset_label(); NULL or "auto": as the run
 *                  decided.
 * @param[out] out  room for SADDLE_MOST_MEASURES; NaN where one is not defined, such as the auc of one
 *                  class.
 */
SADDLE_API saddle_status saddle_predictor_evaluate(const saddle_predictor *predictor,
                                                   const saddle_dataset *data, const char *positive,
                                                   saddle_outcome *out, size_t *count,
                                                   saddle_error *error);

/** Write numbers to a file, one per line, so that they read back equal. Atomic. */
SADDLE_API saddle_status saddle_save_numbers(const double *number, size_t count, const char *path,
                                             saddle_error *error);

#ifdef __cplusplus
}
#endif
#endif
