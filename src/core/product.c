/* Products of dense matrices for any processor, and the choice of the widest version that the processor supports. */
#define SADDLE_PRODUCT(name) name##_plain
#include "core/product_kernel.h"

void saddle_add_product(saddle_product_size size, saddle_matrix a, saddle_matrix b, double *c)
{
    SADDLE_WIDEST_OF(saddle_add_product_plain, saddle_add_product_avx2, saddle_add_product_avx512)
    (size, a, b, c);
}
