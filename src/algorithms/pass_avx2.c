/* The dense passes, compiled for AVX2 alone; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_PASS(name) name##_avx2
#include "algorithms/pass_kernel.h"

#endif
