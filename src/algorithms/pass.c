/* The dense passes for any processor, and the choice of the widest version that this processor
 * supports. */
#define SADDLE_PASS(name) name##_plain
#include "algorithms/pass_kernel.h"

static void move(const saddle_agent *agent, const saddle_pass *pass)
{
#ifdef SADDLE_X86_VECTORS
    int bits = saddle_vector_bits();
    if (bits == 512) {
        saddle_pass_move_avx512(agent, pass);
        return;
    }
    if (bits == 256) {
        saddle_pass_move_avx2(agent, pass);
        return;
    }
#endif
    saddle_pass_move_plain(agent, pass);
}

/* tracker = mixed - c (next - now) */
SADDLE_KERNEL static void track_move(size_t count, double c, const double *restrict mixed,
                                     const double *restrict now, const double *restrict next,
                                     double *restrict tracker)
{
    for (size_t k = 0; k < count; k++)
        tracker[k] = mixed[k] - c * (next[k] - now[k]);
}

void saddle_pass_move(const saddle_agent *agent, const saddle_pass *pass)
{
    if (agent->mixed == NULL || pass->tracker == NULL) {
        move(agent, pass);
        return;
    }
    /* The links have already mixed the direction. */
    saddle_pass alone = *pass;
    alone.tracker = NULL;
    move(agent, &alone);
    size_t first = pass->range.first;
    track_move(pass->range.last - first, pass->curvature, agent->mixed + pass->direction + first,
               agent->now + pass->offset + first, pass->next + first, pass->tracker + first);
}

static void follow(const saddle_agent *agent, const saddle_track *track)
{
#ifdef SADDLE_X86_VECTORS
    int bits = saddle_vector_bits();
    if (bits == 512) {
        saddle_pass_track_avx512(agent, track);
        return;
    }
    if (bits == 256) {
        saddle_pass_track_avx2(agent, track);
        return;
    }
#endif
    saddle_pass_track_plain(agent, track);
}

void saddle_pass_track(const saddle_agent *agent, const saddle_track *track)
{
    if (agent->mixed == NULL) {
        follow(agent, track);
        return;
    }
    /* The links have already mixed the sums: use the result with weight 1. */
    saddle_agent alone = *agent;
    alone.now = agent->mixed;
    alone.degree = 0;
    alone.self_weight = 1.0;
    follow(&alone, track);
}
