/* The dense passes, compiled with AVX-512F; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_PASS(name) name##_avx512
#include "algorithms/pass_kernel.h"

#endif
