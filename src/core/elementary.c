#include "core/elementary.h"

#include <sleef.h>

#include "core/logistic.h"
#include "core/vector.h"

double saddle_exp(double v)
{
    return Sleef_cinz_expd1_u10purec(v);
}

double saddle_log(double v)
{
    return Sleef_cinz_logd1_u10purec(v);
}

double saddle_sinpi(double v)
{
    return Sleef_cinz_sinpid1_u05purec(v);
}

double saddle_softplus(double z)
{
    double tail = Sleef_cinz_log1pd1_u10purec(Sleef_cinz_expd1_u10purec(-fabs(z)));
    return (z > 0.0 ? z : 0.0) + tail;
}

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
#if defined(__aarch64__)
    saddle_logistic_neon(count, z, loss, slope);
#else
    SADDLE_WIDEST_OF(saddle_logistic_plain, saddle_logistic_avx, saddle_logistic_avx512)
    (count, z, loss, slope);
#endif
}
