/* Fingerprints: short sums of what a run depends on, to tell whether two are of the same. */
#ifndef SADDLE_INSTANCE_FINGERPRINT_H
#define SADDLE_INSTANCE_FINGERPRINT_H

#include "instance/instance.h"

/* Each puts the first 64 bits of a SHA-256 into *out; false when memory is short. */
bool saddle_fingerprint_graph(const saddle_graph *graph, uint64_t *out);
bool saddle_fingerprint_mixing(const saddle_mixing *mixing, uint64_t *out);
bool saddle_fingerprint_churn(const saddle_churn *churn, uint64_t *out);
bool saddle_fingerprint_links(const saddle_link_rule *links, const saddle_graph *graph,
                              uint64_t *out);
bool saddle_fingerprint_data(const saddle_dataset *data, uint64_t *out);

/* Network, data, start, and what sets and h do to a few points: the same for any placement of the agents. Collective. */
saddle_status saddle_fingerprint_instance(const saddle_instance *instance, uint64_t *out,
                                          saddle_error *error);

/* Refuse what an option names when its fingerprint is not that of process 0: two machines may hold
 * different files of one name. `taken` says whether there was memory to take it. Collective. */
saddle_status saddle_same_contents(const saddle_world *world, const char *option, const char *text,
                                   bool taken, uint64_t fingerprint, saddle_error *error);

#endif
