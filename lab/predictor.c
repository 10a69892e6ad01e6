/*
 * Loads saved models. A model file is untrusted: its sizes are checked against each other before
 * anything is allocated for them, its settings go through the same checks as a user's, and no file
 * that they name is opened, least of all a plug-in.
 */
#include "lab/predictor_state.h"

#include <sys/stat.h>

#include "core/float_mode.h"
#include "core/world.h"
#include "data/columns.h"
#include "data/dataset.h"
#include "models/ranking.h"
#include "problems/problems.h"
#include "run/model_file.h"

/* Up to this many agents are accepted without their copies in the file, because centralized
 * methods have one solution for all. */
#define CLAIMED_AGENTS 100000

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether a name can only be an option of an algorithm or problem that is not built in. */
static bool is_foreign(const saddle_plan *plan, const char *name)
{
    const saddle_algorithm *known;
    return plan->settings != NULL && saddle_plan_find(plan, name) == NULL &&
           (saddle_plugin_named(plan->problem.name) ||
            (plan->algorithm.name != NULL &&
             saddle_algorithm_find(&known, plan->algorithm.name, NULL) != SADDLE_OK));
}

/* Reads "name: value" lines; `text` is cut into pieces. */
static saddle_status read_lines(saddle_predictor *p, char *text, saddle_error *error)
{
    for (char *line = strsep(&text, "\n"); line != NULL; line = strsep(&text, "\n")) {
        char *value = strstr(line, ": ");
        saddle_error why;
        if (value == NULL) /* the end of the text */
            continue;
        *value = '\0';
        if (is_foreign(&p->plan, line))
            continue;
        saddle_status status = saddle_plan_set(&p->plan, line, value + 2, &why);
        if (status != SADDLE_OK)
            return saddle_fail(error, status,
                               "the settings in '%.300s' are not those of saddle %s: %.600s",
                               p->path, saddle_version(), why.message);
    }
    return SADDLE_OK;
}

/* Refuses a number of agents that the file merely claims, because some memory is allocated for
 * each. */
static saddle_status check_agents(const saddle_predictor *p, saddle_error *error)
{
    struct stat file;
    if (p->agents <= CLAIMED_AGENTS ||
        (stat(p->path, &file) == 0 && (size_t)file.st_size / sizeof(double) >= p->agents))
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%.300s' claims %zu agents, more than it has numbers; the file is damaged", p->path,
        p->agents);
}

static saddle_status read_settings(saddle_predictor *p, saddle_error *error)
{
    SADDLE_TRY(read_lines(p, p->model->settings, error));
    p->agents = (size_t)p->plan.network.agents;
    return check_agents(p, error);
}

static saddle_status read_model(saddle_predictor *p, saddle_error *error)
{
    SADDLE_TRY(saddle_saved_model_read_solution(&p->model, p->path, error));
    SADDLE_TRY(read_settings(p, error));
    if (p->model->columns != NULL)
        SADDLE_TRY(saddle_columns_parse(&p->columns, p->model->columns, error));
    if (p->agents > 0)
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%.300s' is not a model: it has 0 agents; there must be at least 1", p->path);
}

/* ---- the problem ----------------------------------------------------------------------------- */

/* Finds the model's problem if it is built in, otherwise loads the plug-in that the caller
 * names. */
static saddle_status find_kind(saddle_predictor *p, const char *plugin, saddle_error *error)
{
    const char *name = p->plan.problem.name;
    if (saddle_plugin_named(name)) {
        if (plugin == NULL)
            return saddle_refuse(
                error,
                "'%.300s' is a model of the plug-in %.300s, which is not loaded because a file "
                "names it; if you trust it, give %.300s as --problem",
                p->path, name, name);
        if (!saddle_plugin_named(plugin))
            return saddle_refuse(
                error,
                "--problem: '%.300s' is not a path; give that of the plug-in, such as %.300s",
                plugin, name);
        return saddle_problem_choose(&p->choice, plugin, error);
    }
    if (plugin != NULL)
        return saddle_refuse(
            error,
            "--problem: '%.300s' is a model of the built-in problem %.100s; leave out the problem",
            p->path, name);
    saddle_error why;
    if (saddle_problem_choose(&p->choice, name, &why) == SADDLE_OK)
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%.300s' is a model of problem '%.100s', which is neither built in nor a plug-in",
        p->path, name);
}

/* Creates every agent's samples and a network; a ring is the cheapest. */
static saddle_status make_inputs(saddle_predictor *p, saddle_error *error)
{
    SADDLE_TRY(saddle_dataset_new(&p->row, p->path, 1, p->model->features, 0, true, error));
    p->row->label[0] = 1.0;
    p->row->row_start[1] = 0;
    p->shard = saddle_alloc(p->agents, sizeof *p->shard);
    p->samples = saddle_alloc(p->agents, sizeof *p->samples);
    if (p->shard == NULL || p->samples == NULL)
        return saddle_no_memory(error, "the model");
    for (size_t i = 0; i < p->agents; i++) {
        p->shard[i] = p->row;
        p->samples[i] = 1;
    }
    SADDLE_TRY(saddle_graph_create(&p->graph, "ring", p->agents, 0, error));
    SADDLE_TRY(saddle_mixing_create(&p->mixing, p->graph, "metropolis", error));
    return saddle_world_alone(&p->world, p->agents, error);
}

/* Refuses sizes that do not fit together. */
static saddle_status check_problem(const saddle_predictor *p, saddle_error *error)
{
    const saddle_problem *problem = p->problem;
    SADDLE_TRY(saddle_problem_check(problem, error));
    if (problem->scores == NULL)
        return saddle_refuse(error, "'%.300s' is a model of problem %s, which does not score rows",
                             p->path, problem->name);
    if (problem->x_dim != p->model->x_dim)
        return saddle_refuse(error,
                             "'%.300s' has %zu entries in xbar, but problem %s with its settings "
                             "has %zu; the file is damaged, or the plug-in is a different one",
                             p->path, p->model->x_dim, problem->name, problem->x_dim);
    return SADDLE_OK;
}

static saddle_status make_problem(saddle_predictor *p, const char *plugin, saddle_error *error)
{
    saddle_status status = find_kind(p, plugin, error);
    const saddle_problem_class *kind = p->choice.kind;
    const saddle_plugin_object *object = p->choice.plugin;
    if (kind == NULL)
        return status;
    if (!kind->needs_data)
        status = saddle_refuse(error,
                               "'%.300s' is a model of problem %s, which is not made from data and "
                               "does not score rows",
                               p->path, kind->name);
    /* A built-in model has at least as many numbers as features, so a false number of features
     * is found before anything is allocated for it. */
    if (status == SADDLE_OK &&
        (p->model->features == 0 ||
         (object == NULL && p->model->features > p->model->x_dim + p->model->y_dim)))
        status = saddle_refuse(error,
                               "'%.300s' claims %zu features for %zu numbers; the file is damaged",
                               p->path, p->model->features, p->model->x_dim + p->model->y_dim);
    SADDLE_THEN(status, make_inputs(p, error));
    if (status != SADDLE_OK)
        return status;
    if (kind->options_size > 0) {
        p->options = saddle_alloc(1, kind->options_size);
        SADDLE_TRY(saddle_check_memory(p->options, "the problem's options", error));
    }
    saddle_plan_read_own(&p->plan, kind->options, p->options);
    status = saddle_problem_read_options(&p->choice, p->options, error);
    size_t classes = 0;
    SADDLE_THEN_IF(
        status, kind->labels == SADDLE_LABELS_CLASSES,
        saddle_labels_parse(p->plan.problem.classes != NULL ? p->plan.problem.classes : "",
                            &p->class_label, &classes, error));
    p->inputs = (saddle_problem_inputs){.options = p->options,
                                        .argument = object != NULL ? object->argument : "",
                                        .agents = p->agents,
                                        .features = p->model->features,
                                        .samples = p->samples,
                                        .shard = p->shard,
                                        .columns = p->columns,
                                        .classes = p->class_label,
                                        .class_count = classes,
                                        .seed = p->plan.start.seed,
                                        .mixing = p->mixing,
                                        .world = p->world,
                                        .scoring = true};
    SADDLE_THEN(status, saddle_problem_make(&p->choice, &p->problem, &p->inputs, error));
    SADDLE_THEN_IF(status, kind->join != NULL, kind->join(p->problem, &p->inputs, error));
    return status == SADDLE_OK ? check_problem(p, error) : status;
}

/* Forgets a y with one entry per sample of the run, which says nothing about other rows. */
static saddle_status match_y(saddle_predictor *p, saddle_error *error)
{
    if (p->problem->y_dim == p->model->y_dim)
        return SADDLE_OK;
    saddle_free(p->model->y_mean);
    p->model->y_dim = p->problem->y_dim;
    p->model->y_mean = saddle_alloc_doubles(p->model->y_dim);
    SADDLE_TRY(saddle_check_memory(p->model->y_mean, "the model", error));
    for (size_t k = 0; k < p->model->y_dim; k++)
        p->model->y_mean[k] = (double)NAN;
    return SADDLE_OK;
}

saddle_status saddle_predictor_load(saddle_predictor **out, const char *path, const char *plugin,
                                    saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, path);
    SADDLE_OWNED_BY(saddle_predictor_free_at) saddle_predictor *p = saddle_alloc(1, sizeof *p);
    SADDLE_TRY(saddle_check_memory(p, "the model", error));
    saddle_plan_defaults(&p->plan, sizeof p->plan);
    p->path = saddle_strdup(path);
    SADDLE_TRY(saddle_check_memory(p->path, "the model", error));
    SADDLE_TRY(read_model(p, error));
    SADDLE_TRY(make_problem(p, plugin, error));
    SADDLE_TRY(match_y(p, error));
    *out = saddle_taken(&p);
    return SADDLE_OK;
}

void saddle_predictor_free(saddle_predictor *p)
{
    if (p == NULL)
        return;
    saddle_problem_free(p->problem);
    saddle_problem_release(&p->choice);
    saddle_world_free(p->world);
    saddle_mixing_free(p->mixing);
    saddle_graph_free(p->graph);
    saddle_dataset_free(p->row);
    saddle_free((void *)p->shard);
    saddle_free(p->samples);
    saddle_saved_model_free(p->model);
    saddle_free(p->options);
    saddle_free(p->class_label);
    saddle_columns_free(p->columns);
    saddle_plan_free(&p->plan);
    saddle_free(p->path);
    saddle_free(p);
}

const saddle_plan *saddle_predictor_plan(const saddle_predictor *predictor)
{
    return &predictor->plan;
}

const saddle_problem *saddle_predictor_problem(const saddle_predictor *predictor)
{
    return predictor->problem;
}

size_t saddle_predictor_features(const saddle_predictor *predictor)
{
    return predictor->model->features;
}

const saddle_columns *saddle_predictor_columns(const saddle_predictor *predictor)
{
    return predictor->columns;
}
