/* The parts of an experiment, for the files of this folder. */
#ifndef SADDLE_INSTANCE_EXPERIMENT_H
#define SADDLE_INSTANCE_EXPERIMENT_H

#include <saddle/run.h>

#include "problems/plugin.h"

struct saddle_experiment {
    saddle_settings *settings;
    const saddle_engine_class *engine; /* who runs the agents */
    size_t features;                   /* of every agent's rows; 0 without data */
    size_t *samples;                   /* rows of every agent; NULL without data */
    saddle_dataset **shard;   /* per agent, NULL where it is elsewhere; NULL without data */
    saddle_dataset *held_out; /* at process 0; NULL without --test-data */
    saddle_graph *graph;
    saddle_world *world; /* who is where */
    saddle_mixing *mixing;
    saddle_spectrum spectrum;
    saddle_plugin_object *plugin;     /* the shared object of own_problem; NULL: built in */
    const saddle_problem_class *kind; /* of own_problem; NULL for a user's own */
    saddle_problem *own_problem;      /* made here; NULL for a user's own */
    const saddle_problem *problem;    /* the one to solve */
    saddle_set *x_set;
    saddle_set *y_set;
    saddle_regularizer *regularizer;
    saddle_prox *x_prox;
    saddle_constants constants;
    double *x0;
    double *y0;
    /* For centralized algorithms: one agent that holds all data. Made when first asked for. */
    saddle_problem *pooled_problem;
    saddle_graph *pooled_graph;
    saddle_world *pooled_world;
    saddle_mixing *pooled_mixing;
};

/* Set up an experiment as saddle_experiment_create() does, with an engine that may be none of the
 * list. */
saddle_status saddle_experiment_create_on(saddle_experiment **out,
                                          const saddle_engine_class *engine,
                                          const saddle_settings *settings,
                                          const saddle_problem *problem, saddle_error *error);

/* Refuse settings that are not the same in all processes. Collective. */
saddle_status saddle_same_settings(const saddle_world *world, const saddle_settings *settings,
                                   saddle_error *error);
/* Load the data and give every agent here its rows: shard, samples, features. Collective. */
saddle_status saddle_make_shards(saddle_experiment *experiment, saddle_error *error);
/* Load the held-out rows, with as many features as the agents' data. Collective. */
saddle_status saddle_make_held_out(saddle_experiment *experiment, saddle_error *error);

/* What an algorithm runs on: the network, or one agent in everybody's place. */
typedef struct saddle_scene {
    const saddle_world *world;
    const saddle_problem *problem;
    const saddle_mixing *mixing;
    saddle_spectrum spectrum;
    saddle_constants constants;
    size_t copies; /* agents that each agent here stands for */
} saddle_scene;

/* The scene for a centralized or a decentralized algorithm. */
saddle_status saddle_experiment_scene(saddle_experiment *experiment, bool centralized,
                                      saddle_scene *out, saddle_error *error);

/* What can be said about a run without making it. */
typedef struct saddle_forecast {
    saddle_settings *settings; /* effective ones; owned by whoever asked */
    uint64_t most_ifo;         /* IFO calls that an iteration, or the start, makes at most */
    bool feasible;             /* whether every iterate is sure to be in X and Y */
} saddle_forecast;

/* Look ahead at a run: what refuses it refuses here, and no IFO call is made. */
saddle_status saddle_run_forecast(saddle_experiment *experiment, const saddle_settings *settings,
                                  saddle_forecast *out, saddle_error *error);

/* Features of the data; 0 without. */
size_t saddle_experiment_features(const saddle_experiment *experiment);

/* Whether an option is used when an experiment is set up, and not when it is run. */
bool saddle_experiment_shaped_by(const saddle_experiment *experiment, const char *name);

/* The largest local size. */
size_t saddle_experiment_most_samples(const saddle_experiment *experiment);

/* The rule of --init when neither the user nor the problem says. */
#define SADDLE_DEFAULT_INIT "normal:0.1"

/* Fill x0 and y0 from the settings' --init options, as process 0 sees them. Collective. */
saddle_status saddle_make_start(saddle_experiment *experiment, saddle_error *error);

#endif
