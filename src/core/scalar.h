/*
 * Arithmetic on single doubles for a processor and for a graphics card, with the bits of the threads that run agents:
 * numbers too small to be normal become 0, and exp and log1p are those of SLEEF's functions
 * Sleef_cinz_expd1_u10purec and Sleef_cinz_log1pd1_u10purec, as far as the logistic loss needs them. Their polynomials
 * and the order of their operations are SLEEF's (https://sleef.org, Boost Software License 1.0); test_scalar compares
 * them bit by bit. The compiler may not contract a * b + c.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/device_code.h"

/* Returns the bits of a double. */
SADDLE_BOTH uint64_t saddle_double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Returns the double that has these bits. */
SADDLE_BOTH double saddle_bits_double(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* v, or a zero of its sign if it is not normal */
SADDLE_BOTH double saddle_flush(double v)
{
    uint64_t bits = saddle_double_bits(v);
    return (bits & 0x7ff0000000000000u) == 0 ? saddle_bits_double(bits & 0x8000000000000000u) : v;
}

/* a + b, flushed */
SADDLE_BOTH double saddle_add(double a, double b)
{
    return saddle_flush(a + b);
}

/* a - b, flushed */
SADDLE_BOTH double saddle_subtract(double a, double b)
{
    return saddle_flush(a - b);
}

/* a * b, flushed */
SADDLE_BOTH double saddle_multiply(double a, double b)
{
    return saddle_flush(a * b);
}

/* a / b, flushed */
SADDLE_BOTH double saddle_divide(double a, double b)
{
    return saddle_flush(a / b);
}

/* a + b, flushed unless it is known that this changes nothing */
SADDLE_BOTH double saddle_add_if(bool flush, double a, double b)
{
    return flush ? saddle_flush(a + b) : a + b;
}

/* The same of a - b. */
SADDLE_BOTH double saddle_subtract_if(bool flush, double a, double b)
{
    return flush ? saddle_flush(a - b) : a - b;
}

/* The same of a * b. */
SADDLE_BOTH double saddle_multiply_if(bool flush, double a, double b)
{
    return flush ? saddle_flush(a * b) : a * b;
}

/* Whether v is neither infinite nor NaN. */
SADDLE_BOTH int saddle_is_finite(double v)
{
    return (saddle_double_bits(v) & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}

/* 2^q for a q of a normal number */
SADDLE_BOTH double saddle_power_of_two(int q)
{
    return saddle_bits_double((uint64_t)(q + 1023) << 52);
}

/* c1 x + c0 */
SADDLE_BOTH double saddle_poly2(double x, double c1, double c0)
{
    return x * c1 + c0;
}

/* The polynomial with four coefficients, in pairs; x2 = x x. */
SADDLE_BOTH double saddle_poly4(double x, double x2, double c3, double c2, double c1, double c0)
{
    return x2 * saddle_poly2(x, c3, c2) + saddle_poly2(x, c1, c0);
}

/* exp(v) for v <= 0 or NaN */
SADDLE_BOTH double saddle_exp_negative(double v)
{
    double whole = rint(v * 1.442695040888963407359924681001892137426645954152985934135449406931);
    double s = whole * -.69314718055966295651160180568695068359375 + v;
    s = whole * -2.8235290563031577e-13 + s;
    double s2 = s * s;
    double s4 = s2 * s2;
    double low = saddle_poly4(s, s2, 0.00138888888889774492207962, 0.00833333333331652721664984,
                              0.0416666666666665047591422, 0.166666666666666851703837);
    double middle =
        saddle_poly4(s, s2, 2.75573911234900471893338e-07, 2.75572362911928827629423e-06,
                     2.4801587159235472998791e-05, 0.000198412698960509205564975);
    double high = saddle_poly2(s, 2.08860621107283687536341e-09, 2.51112930892876518610661e-08);
    double u = s4 * s4 * high + (s4 * middle + low);
    u = u * s + 0.5;
    u = s2 * u + s + 1.0;
    if (v < -1000.0)
        return 0.0;
    int q = v == v ? (int)whole : 0;
    u = u * saddle_power_of_two(q >> 1);
    return saddle_multiply(u, saddle_power_of_two(q - (q >> 1)));
}

/* v without the last 27 bits of its fraction, so that products of two such numbers are exact */
SADDLE_BOTH double saddle_upper(double v)
{
    return saddle_bits_double(saddle_double_bits(v) & 0xfffffffff8000000u);
}

/* log(1 + v) for 0 <= v <= 1 or NaN */
SADDLE_BOTH double saddle_log1p_small(double v)
{
    /* 1 + v = 2^e (1 + m) with 1 + m from 3/4 to 3/2 */
    int e = (v + 1.0) * (1.0 / 0.75) >= 2.0;
    double t = e ? 0.5 : 1.0;
    double m = v * t + (t - 1.0);
    double whole = (double)e;
    double ln2 = whole * 0.693147180559945286226764;
    double ln2_rest = whole * 2.319046813846299558417771e-17;
    /* x + x_rest = m / (2 + m) */
    double d = 2.0 + m;
    double d_rest = (2.0 - d) + m;
    double r = 1.0 / d;
    double dh = saddle_upper(d);
    double dl = d - dh;
    double rh = saddle_upper(r);
    double rl = r - rh;
    double mh = saddle_upper(m);
    double ml = m - mh;
    double x = m * r;
    double left = (((1.0 - dh * rh) - dh * rl) - dl * rh) - dl * rl;
    double u = ((((mh * rh - x) + mh * rl) + ml * rh) + ml * rl) + x * left;
    double x_rest = r * (0.0 - x * d_rest) + u;
    double x2 = x * x;
    double x4 = x2 * x2;
    double high = x4 * 0.1532076988502701353e+0 +
                  saddle_poly2(x2, 0.1525629051003428716e+0, 0.1818605932937785996e+0);
    double low = saddle_poly4(x2, x4, 0.2222214519839380009e+0, 0.2857142932794299317e+0,
                              0.3999999999635251990e+0, 0.6666666666667333541e+0);
    double p = x4 * x4 * high + low;
    /* ln2 + 2 (x + x_rest) + x^3 p */
    double sum = ln2 + x * 2.0;
    double sum_rest = (((ln2 - sum) + x * 2.0) + ln2_rest) + x_rest * 2.0;
    double term = x2 * x * p;
    double total = sum + term;
    return total + (((sum - total) + term) + sum_rest);
}

/* log(1 + exp(z)) and its derivative, as saddle_logistic() computes them */
SADDLE_BOTH void saddle_logistic_at(double z, double *loss, double *slope)
{
    double e = saddle_exp_negative(-fabs(z));
    *loss = (z > 0.0 ? z : 0.0) + saddle_log1p_small(e);
    *slope = (z > 0.0 ? 1.0 : e) / (1.0 + e);
}
