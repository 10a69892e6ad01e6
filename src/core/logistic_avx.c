/* Four arguments at a time. Compiled for AVX; see CMakeLists.txt. */
#include "core/logistic.h"

#ifdef SADDLE_X86_VECTORS

#include <string.h>

#include <immintrin.h>
#include <sleef.h>

static void four(const double *z, double *loss, double *slope)
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d one = _mm256_set1_pd(1.0);
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d v = _mm256_loadu_pd(z);
    __m256d positive = _mm256_cmp_pd(v, zero, _CMP_GT_OQ);
    __m256d e = Sleef_cinz_expd4_u10avx(_mm256_or_pd(v, sign));
    if (loss != NULL)
        _mm256_storeu_pd(loss,
                         _mm256_add_pd(_mm256_and_pd(positive, v), Sleef_cinz_log1pd4_u10avx(e)));
    __m256d top = _mm256_blendv_pd(e, one, positive);
    _mm256_storeu_pd(slope, _mm256_div_pd(top, _mm256_add_pd(one, e)));
}

void saddle_logistic_avx(size_t count, const double *z, double *loss, double *slope)
{
    SADDLE_LOGISTIC_GROUPS(4, four);
}

#endif
