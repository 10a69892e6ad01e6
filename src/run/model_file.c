/*
 * Model files: NumPy archives with the solution of a run and what is needed to use it. A
 * file that is read is untrusted: sizes are checked against each other and against the length of
 * the file before anything is allocated for them, and all numbers must be finite.
 */
#include "run/model_file.h"

#include <unistd.h>

#include "core/float_mode.h"
#include "core/vector.h"
#include "data/columns.h"
#include "files/npz.h"

void saddle_saved_model_free(saddle_saved_model *model)
{
    if (model == NULL)
        return;
    double *const vectors[] = {model->x_mean, model->y_mean, model->x,
                               model->y,      model->mean,   model->deviation};
    char *const texts[] = {model->problem, model->algorithm, model->version, model->settings,
                           model->columns};
    for (size_t k = 0; !model->borrowed && k < sizeof vectors / sizeof *vectors; k++)
        saddle_free(vectors[k]);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        saddle_free(texts[k]);
    saddle_free(model);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads an integer of the file. */
static saddle_status read_whole(const char *path, const char *name, size_t *out,
                                saddle_error *error)
{
    SADDLE_OWNED double *value = NULL;
    size_t rank;
    size_t shape[2];
    SADDLE_TRY(saddle_numpy_read(path, name, &value, &rank, shape, error));
    if (!(shape[0] * shape[1] == 1 && *value >= 0.0 && *value <= 0x1p53 && *value == floor(*value)))
        return saddle_refuse(error, "'%.300s' is not a model: its '%s' is not an integer", path,
                             name);
    *out = (size_t)*value;
    return SADDLE_OK;
}

/* Reads an array of finite numbers; shape[1] is 1 for a vector. */
static saddle_status read_array(const char *path, const char *name, size_t rank, double **out,
                                size_t shape[2], saddle_error *error)
{
    size_t found;
    SADDLE_TRY(saddle_numpy_read(path, name, out, &found, shape, error));
    size_t count = shape[0] * shape[1];
    size_t bad = saddle_first_nonfinite(count, *out);
    if (found == rank && count > 0 && bad == count)
        return SADDLE_OK;
    if (found != rank || count == 0)
        saddle_refuse(error,
                      "'%.300s' is not a model: its '%s' has rank %zu and %zu numbers; it must "
                      "have rank %zu and at least 1",
                      path, name, found, count, rank);
    else
        saddle_refuse(error,
                      "entry %zu of '%s' in '%.300s' is %g, but a model's numbers are finite; give "
                      "the file of a run that did not diverge",
                      bad, name, path, (*out)[bad]);
    saddle_free(*out);
    *out = NULL;
    return SADDLE_BAD_INPUT;
}

static saddle_status read_vector(const char *path, const char *name, double **out, size_t *length,
                                 saddle_error *error)
{
    size_t shape[2];
    SADDLE_TRY(read_array(path, name, 1, out, shape, error));
    *length = shape[0];
    return SADDLE_OK;
}

/* Reads xbar and the file's format, which says whether columns were scaled. Refuses files that are
 * not models, and models from before they could be used. */
static saddle_status read_first(saddle_saved_model *model, const char *path, bool *scaled,
                                saddle_error *error)
{
    size_t format = 0;
    saddle_error why;
    saddle_status status = read_vector(path, "xbar", &model->x_mean, &model->x_dim, &why);
    if (status != SADDLE_OK && access(path, R_OK) != 0)
        return saddle_fail(error, status, "%s", why.message);
    if (status != SADDLE_OK) {
        /* That remedy is for arrays of any kind. */
        char *remedy = strstr(why.message, "; give a saved model");
        if (remedy != NULL)
            *remedy = '\0';
        return saddle_fail(error, status,
                           "'%.300s' is not a model; give a model file that a run wrote (%.600s)",
                           path, why.message);
    }
    status = read_whole(path, "format", &format, &why);
    if (status == SADDLE_BAD_INPUT)
        return saddle_refuse(error,
                             "'%.300s' has xbar but not the settings of its run; write the model "
                             "again with saddle %s",
                             path, saddle_version());
    if (status != SADDLE_OK)
        return saddle_fail(error, status, "%s", why.message);
    if (format < 1 || format > SADDLE_SCALED_FORMAT)
        return saddle_refuse(
            error, "'%.300s' is a model of format %zu, but saddle %s reads formats 1 to %d", path,
            format, saddle_version(), SADDLE_SCALED_FORMAT);
    *scaled = format == SADDLE_SCALED_FORMAT;
    if (*scaled)
        return SADDLE_OK;
    double *mean = NULL;
    size_t length;
    status = read_vector(path, "mean", &mean, &length, error);
    saddle_free(mean);
    if (status == SADDLE_OK)
        return saddle_refuse(error,
                             "'%.300s' is not a model: its columns are scaled ('mean'), but its "
                             "format is %zu, which has no scaling",
                             path, format);
    return status == SADDLE_NO_MEMORY ? status : SADDLE_OK; /* otherwise there is none */
}

/* Reads how the columns were scaled. */
static saddle_status read_scaling(saddle_saved_model *model, const char *path, saddle_error *error)
{
    size_t count[2] = {0, 0};
    SADDLE_TRY(read_vector(path, "mean", &model->mean, &count[0], error));
    SADDLE_TRY(read_vector(path, "deviation", &model->deviation, &count[1], error));
    bool good = count[0] == model->features && count[1] == model->features;
    for (size_t k = 0; good && k < model->features; k++)
        good = model->deviation[k] >= 2.0 * DBL_MIN;
    return good ? SADDLE_OK
                : saddle_refuse(error,
                                "'%.300s' is not a model: its mean and deviation have %zu and %zu "
                                "entries for %zu features, or a deviation is not positive",
                                path, count[0], count[1], model->features);
}

/* Reads names and codings of the training data's columns, if there are any. */
static saddle_status read_columns(saddle_saved_model *model, const char *path, saddle_error *error)
{
    saddle_error why;
    saddle_columns *columns = NULL;
    saddle_status status = saddle_numpy_read_text(path, "columns", &model->columns, &why);
    if (status == SADDLE_BAD_INPUT && !saddle_numpy_has(path, "columns"))
        return SADDLE_OK;
    SADDLE_THEN(status, saddle_columns_parse(&columns, model->columns, &why));
    if (status == SADDLE_OK && columns->features != model->features)
        status = saddle_refuse(&why, "its columns have %zu features, but the model has %zu",
                               columns->features, model->features);
    saddle_columns_free(columns);
    if (status == SADDLE_OK)
        return status;
    return status == SADDLE_NO_MEMORY
               ? saddle_fail(error, status, "%s", why.message)
               : saddle_fail(error, status, "'%.300s' is not a model: %.600s", path, why.message);
}

/* Reads the settings, which are lines "name: value". */
static saddle_status read_settings(saddle_saved_model *model, const char *path, saddle_error *error)
{
    SADDLE_TRY(saddle_numpy_read_text(path, "settings", &model->settings, error));
    const char *next = NULL;
    for (const char *line = model->settings; line != NULL && *line != '\0'; line = next) {
        size_t length = strcspn(line, "\n");
        const char *colon = strstr(line, ": ");
        if (colon == NULL || colon >= line + length)
            return saddle_refuse(
                error,
                "'%.300s' is not a model: '%.*s' in its settings is not a line 'name: value'", path,
                length < 80 ? (int)length : 80, line);
        next = line[length] != '\0' ? line + length + 1 : NULL;
    }
    return SADDLE_OK;
}

static saddle_status read_solution(saddle_saved_model *model, const char *path, saddle_error *error)
{
    bool scaled = false;
    SADDLE_TRY(read_first(model, path, &scaled, error));
    SADDLE_TRY(read_settings(model, path, error));
    SADDLE_TRY(read_whole(path, "features", &model->features, error));
    SADDLE_TRY(read_columns(model, path, error));
    if (scaled)
        SADDLE_TRY(read_scaling(model, path, error));
    return read_vector(path, "ybar", &model->y_mean, &model->y_dim, error);
}

/* Reads what only describes a model, and the copies, which using it does not need. */
static saddle_status read_rest(saddle_saved_model *model, const char *path, saddle_error *error)
{
    size_t iteration = 0;
    size_t x[2];
    size_t y[2];
    SADDLE_TRY(read_whole(path, "iteration", &iteration, error));
    SADDLE_TRY(saddle_numpy_read_text(path, "problem", &model->problem, error));
    SADDLE_TRY(saddle_numpy_read_text(path, "algorithm", &model->algorithm, error));
    SADDLE_TRY(saddle_numpy_read_text(path, "version", &model->version, error));
    SADDLE_TRY(read_array(path, "x", 2, &model->x, x, error));
    SADDLE_TRY(read_array(path, "y", 2, &model->y, y, error));
    model->iteration = iteration;
    model->agents = x[0];
    if (x[0] == y[0] && x[1] == model->x_dim && y[1] == model->y_dim)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "'%.300s' is not a model: its x and y have the shapes (%zu, %zu) and "
                         "(%zu, %zu), but xbar and ybar have %zu and %zu entries",
                         path, x[0], x[1], y[0], y[1], model->x_dim, model->y_dim);
}

static saddle_status read_model(saddle_saved_model **out, const char *path, bool complete,
                                saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_saved_model_free_at)
    saddle_saved_model *model = saddle_alloc(1, sizeof *model);
    SADDLE_TRY(saddle_check_memory(model, "the model", error));
    SADDLE_TRY(read_solution(model, path, error));
    SADDLE_TRY(complete ? read_rest(model, path, error) : SADDLE_OK);
    *out = saddle_taken(&model);
    return SADDLE_OK;
}

saddle_status saddle_saved_model_read_solution(saddle_saved_model **out, const char *path,
                                               saddle_error *error)
{
    *out = NULL;
    return read_model(out, path, false, error);
}

saddle_status saddle_saved_model_load(saddle_saved_model **out, const char *path,
                                      saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, path);
    return read_model(out, path, true, error);
}

/* ---- writing --------------------------------------------------------------------------------- */

saddle_status saddle_model_check_name(const char *path, saddle_error *error)
{
    if (path == NULL || !saddle_has_ending(path, ".npy"))
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--model: '%.300s' ends in .npy, the ending of a single array; "
                         "give a name that ends in .npz",
                         path);
}

saddle_status saddle_saved_model_write(const saddle_saved_model *model, saddle_fetch_row *fetch,
                                       void *x_context, void *y_context, const char *path,
                                       saddle_error *error)
{
    SADDLE_TRY(saddle_model_check_name(path, error));
    bool scaled = model->mean != NULL;
    uint64_t format = scaled ? SADDLE_SCALED_FORMAT : 1;
    uint64_t features = model->features;
    saddle_array arrays[15] = {
        {"format", SADDLE_ARRAY_WORD, .data = &format},
        {"xbar", SADDLE_ARRAY_REAL, 1, {model->x_dim}, model->x_mean, NULL, NULL},
        {"ybar", SADDLE_ARRAY_REAL, 1, {model->y_dim}, model->y_mean, NULL, NULL},
        {"x", SADDLE_ARRAY_REAL, 2, {model->agents, model->x_dim}, model->x, fetch, x_context},
        {"y", SADDLE_ARRAY_REAL, 2, {model->agents, model->y_dim}, model->y, fetch, y_context},
        {"iteration", SADDLE_ARRAY_WORD, .data = &model->iteration},
        {"problem", SADDLE_ARRAY_TEXT, .data = model->problem},
        {"algorithm", SADDLE_ARRAY_TEXT, .data = model->algorithm},
        {"version", SADDLE_ARRAY_TEXT, .data = model->version},
        {"features", SADDLE_ARRAY_WORD, .data = &features},
        {"settings", SADDLE_ARRAY_TEXT, .data = model->settings},
    };
    size_t count = 11;
    if (model->columns != NULL)
        arrays[count++] = (saddle_array){"columns", SADDLE_ARRAY_TEXT, .data = model->columns};
    if (scaled) {
        arrays[count++] = (saddle_array){
            "mean", SADDLE_ARRAY_REAL, 1, {model->features}, model->mean, NULL, NULL};
        arrays[count++] = (saddle_array){
            "deviation", SADDLE_ARRAY_REAL, 1, {model->features}, model->deviation, NULL, NULL};
    }
    return saddle_npz_write(path, arrays, count, error);
}

saddle_status saddle_saved_model_save(const saddle_saved_model *model, const char *path,
                                      saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, model, path);
    SADDLE_REQUIRE(error, model->x_mean, model->y_mean, model->x, model->y, model->problem,
                   model->algorithm, model->version, model->settings);
    return saddle_saved_model_write(model, NULL, NULL, NULL, path, error);
}
