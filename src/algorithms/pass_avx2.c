/* The dense passes, compiled with AVX2; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_PASS(name) name##_avx2
#include "algorithms/pass_kernel.h"

#endif
