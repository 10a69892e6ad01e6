/* The implementation of sums of rows. One file per instruction set includes it once, after
 * defining SADDLE_SPARSE(name) to name its version. All versions do the same operations in the
 * same order, so that they give the same bits. */
#include "core/pack.h"
#include "models/sparse_layer.h"

/* The number of packs of the result that are held in registers. */
enum { HELD = 4, STRIPE = HELD * SADDLE_PACK };

/* Computes a stripe of the result. */
SADDLE_INLINE void add_stripe(size_t entries, const double *value, const uint32_t *which,
                              size_t width, const double *rows, double *out)
{
    saddle_pack sum[HELD];
    for (size_t i = 0; i < HELD; i++)
        memcpy(&sum[i], out + i * SADDLE_PACK, sizeof sum[i]);
    for (size_t e = 0; e < entries; e++) {
        const double *row = rows + which[e] * width;
        double factor = value != NULL ? value[e] : 1.0;
        for (size_t i = 0; i < HELD; i++) {
            saddle_pack pack;
            memcpy(&pack, row + i * SADDLE_PACK, sizeof pack);
            sum[i] += factor * pack;
        }
    }
    for (size_t i = 0; i < HELD; i++)
        memcpy(out + i * SADDLE_PACK, &sum[i], sizeof sum[i]);
}

void SADDLE_SPARSE(saddle_add_rows)(size_t entries, const double *value, const uint32_t *which,
                                    size_t width, const double *rows, double *out)
{
    size_t c = 0;
    for (; c + STRIPE <= width; c += STRIPE)
        add_stripe(entries, value, which, width, rows + c, out + c);
    for (size_t e = 0; c < width && e < entries; e++) {
        double factor = value != NULL ? value[e] : 1.0;
        for (size_t k = c; k < width; k++)
            out[k] += factor * rows[which[e] * width + k];
    }
}
