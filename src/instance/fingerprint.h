/* Fingerprints: short hashes of what a run depends on, to check whether two runs have the same
 * inputs. */
#ifndef SADDLE_INSTANCE_FINGERPRINT_H
#define SADDLE_INSTANCE_FINGERPRINT_H

#include "instance/instance.h"

/* Each stores the first 64 bits of a SHA-256 in *out; returns false if memory is short. */
bool saddle_fingerprint_graph(const saddle_graph *graph, uint64_t *out);
bool saddle_fingerprint_mixing(const saddle_mixing *mixing, uint64_t *out);
bool saddle_fingerprint_churn(const saddle_churn *churn, uint64_t *out);
bool saddle_fingerprint_links(const saddle_link_rule *links, const saddle_graph *graph,
                              uint64_t *out);
bool saddle_fingerprint_data(const saddle_dataset *data, uint64_t *out);

/* Computes the fingerprint of network, data, start, and the results of sets and h on a few
 * points. It does not depend on the placement of the agents on processes. Collective. */
saddle_status saddle_fingerprint_instance(const saddle_instance *instance, uint64_t *out,
                                          saddle_error *error);

/* Refuses the value of an option if its fingerprint is not that of process 0, because two
 * machines may have different files of the same name. `taken` says whether the fingerprint could
 * be computed. Collective. */
saddle_status saddle_same_contents(const saddle_world *world, const char *option, const char *text,
                                   bool taken, uint64_t fingerprint, saddle_error *error);

#endif
