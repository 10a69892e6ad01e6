/* Products of dense matrices, compiled for AVX-512F; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_PRODUCT(name) name##_avx512
#include "core/product_kernel.h"

#endif
