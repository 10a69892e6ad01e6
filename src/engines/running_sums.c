#include "engines/running_sums.h"

#include "algorithms/layout.h"
#include "core/vector.h"

/* `hold` on networks that mix well and on others, and the largest lambda of the former. */
#define WELL_MIXED_PHI 0.9
#define LEAST_PHI 0.5
#define WELL_MIXED_LAMBDA 0.9
/* Entries that are collected at a time. */
#define BLOCK 512

/* ---- layout ----------------------------------------------------------------------------------- */

/* Returns the group of the fields that are sent in the same rounds as `field`; adds it if there is none. */
static size_t group_of(saddle_running_sums *sums, const saddle_field *field)
{
    size_t g = 0;
    while (g < sums->groups && (sums->group[g]->first_round != field->first_round ||
                                sums->group[g]->last_round != field->last_round))
        g++;
    if (g == sums->groups)
        sums->group[sums->groups++] = field;
    return g;
}

void saddle_running_sums_plan(saddle_running_sums *sums, const saddle_layout *layout, double lambda)
{
    memset(sums, 0, sizeof *sums);
    sums->hold = lambda <= WELL_MIXED_LAMBDA ? WELL_MIXED_PHI : LEAST_PHI;
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        if (field->kind != SADDLE_FIELD_SUM)
            continue;
        sums->field[sums->fields++] = (saddle_running_field){.offset = field->offset,
                                                             .length = field->length,
                                                             .at = sums->phi,
                                                             .group = group_of(sums, field)};
        sums->phi += field->length;
    }
    sums->width = sums->phi + sums->groups;
    sums->stride = saddle_whole_lines(sums->width);
    sums->behind = saddle_whole_lines(layout->published);
}

/* ---- a round ---------------------------------------------------------------------------------- */

/* z += weight (s - r), r = s */
SADDLE_KERNEL static void take_in(size_t count, double weight, const double *restrict s,
                                  double *restrict r, double *restrict z)
{
    for (size_t k = 0; k < count; k++) {
        z[k] += weight * (s[k] - r[k]);
        r[k] = s[k];
    }
}

SADDLE_KERNEL static void scale_to(size_t count, double factor, const double *restrict z,
                                   double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = z[k] * factor;
}

/* Adds what neighbours sent of entries [at, at + count) to z. */
static void take_in_all(const saddle_running_sums *sums, size_t at, size_t count, size_t messages,
                        const double *const *row, const double *weight, double *received, double *z)
{
    for (size_t j = 0; j < messages; j++)
        if (row[j] != NULL)
            take_in(count, weight[j], row[j] + sums->behind + at, received + j * sums->stride + at,
                    z + at);
}

void saddle_running_sums_collect(const saddle_running_sums *sums, unsigned round, size_t count,
                                 const double *const *row, const double *weight, double *received,
                                 double *z, double *mixed)
{
    for (size_t g = 0; g < sums->groups; g++)
        if (saddle_field_is_sent(sums->group[g], round))
            take_in_all(sums, sums->phi + g, 1, count, row, weight, received, z);
    for (size_t f = 0; f < sums->fields; f++) {
        const saddle_running_field *field = &sums->field[f];
        if (!saddle_field_is_sent(sums->group[field->group], round))
            continue;
        double inverse = 1.0 / z[sums->phi + field->group];
        for (size_t k = 0; k < field->length; k += BLOCK) {
            size_t length = field->length - k < BLOCK ? field->length - k : BLOCK;
            size_t at = field->at + k;
            take_in_all(sums, at, length, count, row, weight, received, z);
            scale_to(length, inverse, z + at, mixed + field->offset + k);
        }
    }
}

/* Pushes a field: z becomes what is left of it; share = 1 - M_ii. */
SADDLE_KERNEL static void push(size_t count, double share, const double *restrict s,
                               double *restrict next_s, double *restrict z)
{
    for (size_t k = 0; k < count; k++) {
        double sum = s[k] + z[k];
        z[k] -= share * (sum - s[k]);
        next_s[k] = sum;
    }
}

/* z += next - base; next = z / phi; then like push(). */
SADDLE_KERNEL static void add_and_push(size_t count, double inverse, double share,
                                       const double *restrict base, const double *restrict s,
                                       double *restrict next_s, double *restrict next,
                                       double *restrict z)
{
    for (size_t k = 0; k < count; k++) {
        double new = z[k] + (next[k] - base[k]);
        double sum = s[k] + new;
        next[k] = new *inverse;
        z[k] = new - share *(sum - s[k]);
        next_s[k] = sum;
    }
}

/* Does the same for a field that is not pushed. */
SADDLE_KERNEL static void add(size_t count, double inverse, const double *restrict base,
                              double *restrict next, double *restrict z)
{
    for (size_t k = 0; k < count; k++) {
        z[k] += next[k] - base[k];
        next[k] = z[k] * inverse;
    }
}

void saddle_running_sums_start(const saddle_running_sums *sums, double self_weight, unsigned round,
                               double *row, double *z)
{
    double *s = row + sums->behind;
    memset(s, 0, sums->width * sizeof *s);
    for (size_t f = 0; f < sums->fields; f++)
        memcpy(z + sums->field[f].at, row + sums->field[f].offset,
               sums->field[f].length * sizeof *z);
    for (size_t g = 0; g < sums->groups; g++)
        z[sums->phi + g] = 1.0;
    /* s = 0 and s' = z: nothing is rounded. */
    for (size_t f = 0; f < sums->fields; f++)
        if (saddle_field_is_sent(sums->group[sums->field[f].group], round)) {
            memcpy(s + sums->field[f].at, z + sums->field[f].at, sums->field[f].length * sizeof *s);
            saddle_axpy(sums->field[f].length, -(1.0 - self_weight), s + sums->field[f].at,
                        z + sums->field[f].at);
        }
    for (size_t g = 0; g < sums->groups; g++)
        if (saddle_field_is_sent(sums->group[g], round)) {
            s[sums->phi + g] = 1.0;
            z[sums->phi + g] -= 1.0 - self_weight;
        }
}

void saddle_running_sums_publish(const saddle_running_sums *sums, const saddle_agent *agent,
                                 unsigned round, unsigned next_round, double *z)
{
    const double *s = agent->now + sums->behind;
    double *next_s = agent->next + sums->behind;
    double share = 1.0 - agent->self_weight;
    for (size_t f = 0; f < sums->fields; f++) {
        const saddle_running_field *field = &sums->field[f];
        size_t at = field->at;
        size_t offset = field->offset;
        double phi = z[sums->phi + field->group];
        const double *base =
            saddle_field_is_sent(sums->group[field->group], round) ? agent->mixed : agent->now;
        if (saddle_field_is_sent(sums->group[field->group], next_round) && phi > sums->hold) {
            add_and_push(field->length, 1.0 / phi, share, base + offset, s + at, next_s + at,
                         agent->next + offset, z + at);
        } else {
            add(field->length, 1.0 / phi, base + offset, agent->next + offset, z + at);
            memcpy(next_s + at, s + at, field->length * sizeof *s);
        }
    }
    for (size_t g = 0; g < sums->groups; g++) {
        size_t at = sums->phi + g;
        if (saddle_field_is_sent(sums->group[g], next_round) && z[at] > sums->hold)
            push(1, share, s + at, next_s + at, z + at);
        else
            next_s[at] = s[at];
    }
}

/* ---- the invariant ---------------------------------------------------------------------------- */

/* Returns z + (1 - M_ii) s - sum_j M_ij r_ij at an entry. */
static double conserved(const saddle_running_sums *sums, const saddle_agent *agent, size_t at,
                        size_t count, const double *weight, double self_weight,
                        const double *received, const double *z)
{
    double total = z[at] + (1.0 - self_weight) * agent->now[sums->behind + at];
    for (size_t j = 0; j < count; j++)
        total -= weight[j] * received[j * sums->stride + at];
    return total;
}

double saddle_running_sums_defect(const saddle_running_sums *sums, const saddle_agent *agent,
                                  const saddle_field *field, size_t count, const double *weight,
                                  double self_weight, const double *received, const double *z,
                                  double *phi_defect)
{
    double largest = 0.0;
    size_t f = 0;
    while (sums->field[f].offset != field->offset)
        f++;
    *phi_defect = fabs(conserved(sums, agent, sums->phi + sums->field[f].group, count, weight,
                                 self_weight, received, z) -
                       1.0);
    for (size_t k = 0; k < field->length; k++) {
        double off = fabs(
            conserved(sums, agent, sums->field[f].at + k, count, weight, self_weight, received, z) -
            saddle_field_estimate(field, agent, k));
        if (isnan(off))
            return off;
        largest = fmax(largest, off);
    }
    return largest;
}
