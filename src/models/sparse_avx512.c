/* Sums of rows, compiled for AVX-512F alone; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_SPARSE(name) name##_avx512
#include "models/sparse_kernel.h"

#endif
