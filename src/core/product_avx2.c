/* Products of dense matrices, compiled for AVX2; see CMakeLists.txt. */
#ifdef SADDLE_X86_VECTORS

#define SADDLE_PRODUCT(name) name##_avx2
#include "core/product_kernel.h"

#endif
