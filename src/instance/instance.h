/*
 * Making an instance.
 *
 * It is made by a table of stages (instance.c). One loop runs them and agrees with the other
 * processes after each, so that all continue or all fail. A stage that communicates does so before
 * it can fail.
 */
#pragma once

#include <saddle/instance.h>

#include "core/base.h"
#include "data/dataset.h"
#include "data/scale.h"
#include "engines/engine.h"
#include "graph/churn.h"
#include "graph/clip_rule.h"
#include "graph/compression.h"
#include "graph/link_rule.h"
#include "instance/plan.h"
#include "problems/problem_choice.h"

/* What an instance owns; NULL for objects that are in the caller's memory. */
struct saddle_instance_parts {
    saddle_plan plan;
    saddle_plan given; /* the same before automatic values were resolved */
    const saddle_engine_class *engine;
    saddle_world *processes; /* the processes, until agents are placed on them */
    saddle_world *world;
    saddle_graph *graph;
    saddle_mixing *mixing;
    saddle_link_rule *links;
    saddle_churn *churn;            /* NULL: no agent leaves or joins */
    saddle_compression compression; /* used unless it is none */
    saddle_clip_rule clipping;      /* used unless it is none */
    saddle_problem_choice choice;   /* of the problem; no kind: the caller's own */
    saddle_problem_inputs inputs;   /* of the problem, for its lifetime */
    void *options;                  /* the problem class's options struct */
    saddle_problem *problem;
    double *weight;           /* of every agent in the objective; NULL: all count the same */
    saddle_problem *weighted; /* the problem with weighted agents; NULL: they are not weighted */
    size_t *samples;          /* of every agent */
    saddle_dataset *data;     /* one file for all agents, until it is split */
    saddle_dataset **shard;   /* per agent; NULL for an agent of another process, or without data */
    unsigned formats;         /* of all agents' data, as saddle_dataset::formats */
    saddle_column_statistics statistics; /* of the columns, if they are scaled; otherwise empty */
    char unscaled
        [SADDLE_SCALE_TEXT]; /* warns of columns that should be scaled; "": there are none */
    saddle_dataset *held_out;
    saddle_columns *columns;  /* of the data; NULL: they have no names */
    saddle_columns **scanned; /* of the files of the agents in this process; NULL: one file */
    double *numbers;          /* one per agent, for exchanges */
    double *label; /* distinct labels of the agents in this process, if each has its own rows */
    size_t label_count;
    double *classes;     /* distinct labels of all agents, in that case */
    double *class_label; /* the file's labels of the problem's classes */
    saddle_set *x_set;
    saddle_set *y_set;
    saddle_regularizer *regularizer;
    saddle_prox *x_prox;
    double *x0;
    double *y0;
    uint64_t fingerprint; /* 0: not computed yet */
};

/* One stage of making an instance. */
typedef saddle_status saddle_stage(saddle_instance *instance, saddle_error *error);

/* Stages of the network: network_stages.c. */
saddle_stage saddle_stage_compare_plans, saddle_stage_count_files, saddle_stage_read_links,
    saddle_stage_read_compression, saddle_stage_graph, saddle_stage_place_agents,
    saddle_stage_mixing, saddle_stage_read_clipping, saddle_stage_complete_links,
    saddle_stage_read_churn, saddle_stage_share_spectrum;
/* Stages of the agents' data: data_stages.c. */
saddle_stage saddle_stage_samples, saddle_stage_read_data, saddle_stage_split_data,
    saddle_stage_share_sizes, saddle_stage_held_out;
/* Fails because an agent's file could not be read for a reason, or does not exist. */
saddle_status saddle_refuse_agent_file(size_t agent, const char *name, const saddle_error *why,
                                       saddle_error *error);
/* Stages of the columns and labels of the agents' files: column_stages.c. */
saddle_stage saddle_stage_scan_columns, saddle_stage_share_columns, saddle_stage_list_labels,
    saddle_stage_share_labels;
/* Converts the labels of one file to the kind that the problem needs. */
saddle_status saddle_instance_label(saddle_instance *e, saddle_dataset *data, saddle_error *error);
/* Decides whether columns are scaled, and scales all rows: scale_stage.c. */
saddle_stage saddle_stage_scale;
/* Writes what was scaled, such as "13 columns to mean 0 and deviation 1"; "" if nothing was. */
void saddle_scale_text(const saddle_instance *instance, char out[SADDLE_SCALE_TEXT]);
/* Stages of the starting point: start.c. */
saddle_stage saddle_stage_start, saddle_stage_share_start;

/* Returns the name of an agent's file, to be freed; NULL if memory is short. */
char *saddle_agent_file(const saddle_plan *plan, size_t agent);
/* Returns whether each agent has its own rows, in a file or in memory. */
bool saddle_data_is_divided(const saddle_instance *instance);
/* Returns whether, in addition, the problem's outcomes need the score of every row in one
 * process. */
bool saddle_scores_are_private(const saddle_instance *instance);

/* Makes an instance like saddle_instance_create(), with an engine that need not be in the list
 * of engines. */
saddle_status saddle_instance_create_on(saddle_instance **out, const saddle_engine_class *engine,
                                        const saddle_plan *plan, saddle_error *error);

/* Makes the instance that a centralized algorithm runs on: one agent that holds all data. It
 * borrows from `instance`. Free with saddle_instance_free(). */
saddle_status saddle_instance_pool(saddle_instance **out, const saddle_instance *instance,
                                   saddle_error *error);

/* Takes the constants that the problem knows over X and Y; 0 means unknown. */
saddle_status saddle_instance_take_constants(saddle_instance *instance, saddle_error *error);

/* Returns the smallest M_ii of any agent in any round. */
double saddle_instance_least_self_weight(const saddle_instance *instance);

/* Computes what the theory says about an instance; epsilon and what depends on the start are set to
 * NaN. Returns SADDLE_UNSUPPORTED if L or mu is unknown and could not be estimated: step_sizes.c. */
saddle_status saddle_theory_bounds(const saddle_instance *instance, double tau, double c_gamma,
                                   saddle_theory *out, saddle_error *error);

/* Returns the rule by which a problem with this kind of labels reads them: the plan's options `positive`
 * and `classes`, once they are settled. */
saddle_label_rule saddle_plan_label_rule(const saddle_plan *plan, saddle_label_kind kind);

/* The default rule of the starting point, if the problem has none. */
#define SADDLE_DEFAULT_INIT "normal:0.1"
SADDLE_RELEASES(saddle_instance, saddle_instance_free)
