/* Sums of rows, compiled with AVX-512F; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_SPARSE(name) name##_avx512
#include "models/sparse_kernel.h"

#endif
