/* Two arguments at a time, on arm64, where every processor has these vectors. */
#include "core/logistic.h"

#ifdef __aarch64__

#include <string.h>

#include <arm_neon.h>
#include <sleef.h>

static void two(const double *z, double *loss, double *slope)
{
    const float64x2_t one = vdupq_n_f64(1.0);
    float64x2_t v = vld1q_f64(z);
    uint64x2_t positive = vcgtzq_f64(v);
    float64x2_t e = Sleef_cinz_expd2_u10advsimdnofma(vnegq_f64(vabsq_f64(v)));
    if (loss != NULL) {
        float64x2_t clipped = vbslq_f64(positive, v, vdupq_n_f64(0.0));
        vst1q_f64(loss, vaddq_f64(clipped, Sleef_cinz_log1pd2_u10advsimdnofma(e)));
    }
    vst1q_f64(slope, vdivq_f64(vbslq_f64(positive, one, e), vaddq_f64(one, e)));
}

void saddle_logistic_neon(size_t count, const double *z, double *loss, double *slope)
{
    SADDLE_LOGISTIC_GROUPS(2, two);
}

#endif
