/* Sums of rows, compiled with AVX2; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_SPARSE(name) name##_avx2
#include "models/sparse_kernel.h"

#endif
