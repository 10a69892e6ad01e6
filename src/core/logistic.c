#include "core/logistic.h"

#include <math.h>

#include <sleef.h>

#include "core/elementary.h"
#include "core/vector.h"

void saddle_logistic_plain(size_t count, const double *z, double *loss, double *slope)
{
    for (size_t k = 0; k < count; k++) {
        double e = Sleef_cinz_expd1_u10purec(-fabs(z[k]));
        if (loss != NULL)
            loss[k] = (z[k] > 0.0 ? z[k] : 0.0) + Sleef_cinz_log1pd1_u10purec(e);
        slope[k] = (z[k] > 0.0 ? 1.0 : e) / (1.0 + e);
    }
}

void saddle_logistic(size_t count, const double *z, double *loss, double *slope)
{
#ifdef SADDLE_X86_VECTORS
    int bits = saddle_vector_bits();
    if (bits == 512) {
        saddle_logistic_avx512(count, z, loss, slope);
        return;
    }
    if (bits == 256) {
        saddle_logistic_avx(count, z, loss, slope);
        return;
    }
#endif
    saddle_logistic_plain(count, z, loss, slope);
}
