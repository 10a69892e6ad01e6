/* Fingerprints: short hashes of what a run depends on, to check whether two runs have the same
 * inputs. */
#pragma once

#include "core/sha256.h"
#include "graph/link_model.h"
#include "instance/instance.h"

/* Adds the contents of an object of the instance to a hash; returns the object's text for messages,
 * NULL if there is none. */
typedef const char *saddle_contents(const saddle_instance *instance, saddle_sha256 *sum);
saddle_contents saddle_graph_contents, saddle_mixing_contents, saddle_links_contents,
    saddle_churn_contents, saddle_data_contents;

/* Computes the fingerprint of network, data, start, and the results of sets, h and, without data,
 * the problem's functions on a few points, which the instance keeps. It does not depend on the
 * placement of the agents on processes. Collective. */
saddle_status saddle_fingerprint_instance(const saddle_instance *instance, uint64_t *out,
                                          saddle_error *error);

/* Returns the number of doubles that it takes meanwhile, for one agent after the other. */
size_t saddle_fingerprint_doubles(const saddle_instance *instance);

/* Adds the contents of a link model (NULL: there is none), which belongs to a run, to the fingerprint
 * of the instance. Collective unless the instance already keeps its fingerprint. */
saddle_status saddle_fingerprint_run(const saddle_instance *instance,
                                     const saddle_link_model *model, uint64_t *out,
                                     saddle_error *error);

/* Appends the given files that the fingerprint depends on, such as " --data people.csv, --links
 * schedule:links.txt". */
void saddle_append_inputs(const saddle_plan *plan, char *out, size_t size);

/* Refuses an object, made from an option, whose contents are not those of process 0, because two
 * machines may have different files of the same name. Collective. */
saddle_status saddle_same_contents(const saddle_instance *instance, const saddle_world *world,
                                   const char *option, saddle_contents *contents,
                                   saddle_error *error);
