#include "core/elementary.h"

#include <math.h>

#include <sleef.h>

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
