/* Eight arguments at a time. Compiled for AVX-512F; see CMakeLists.txt. */
#include "core/logistic.h"

#ifdef SADDLE_X86_VECTORS

#include <string.h>

#include <immintrin.h>
#include <sleef.h>

static void eight(const double *z, double *loss, double *slope)
{
    const __m512d zero = _mm512_setzero_pd();
    const __m512d one = _mm512_set1_pd(1.0);
    const __m512i sign = _mm512_set1_epi64((long long)0x8000000000000000ULL);
    __m512d v = _mm512_loadu_pd(z);
    __mmask8 positive = _mm512_cmp_pd_mask(v, zero, _CMP_GT_OQ);
    __m512d minus = _mm512_castsi512_pd(_mm512_or_epi64(_mm512_castpd_si512(v), sign));
    __m512d e = Sleef_cinz_expd8_u10avx512fnofma(minus);
    if (loss != NULL)
        _mm512_storeu_pd(loss, _mm512_add_pd(_mm512_maskz_mov_pd(positive, v),
                                             Sleef_cinz_log1pd8_u10avx512fnofma(e)));
    __m512d top = _mm512_mask_mov_pd(e, positive, one);
    _mm512_storeu_pd(slope, _mm512_div_pd(top, _mm512_add_pd(one, e)));
}

void saddle_logistic_avx512(size_t count, const double *z, double *loss, double *slope)
{
    SADDLE_LOGISTIC_GROUPS(8, eight);
}

#endif
