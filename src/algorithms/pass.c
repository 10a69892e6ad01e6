/* The dense passes for any processor, and the choice of the widest version that this one has. */
#define SADDLE_PASS(name) name##_plain
#include "algorithms/pass_kernel.h"

void saddle_pass_move(const saddle_agent *agent, const saddle_pass *pass)
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

void saddle_pass_track(const saddle_agent *agent, const saddle_track *track)
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
