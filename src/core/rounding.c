#include "core/rounding.h"

#include <math.h>

double saddle_round_significant(double v)
{
    int exponent = 0;
    double fraction = frexp(v, &exponent);
    return ldexp(rint(ldexp(fraction, 40)), exponent - 40);
}
