#include "observe/group_norms.h"

#include "core/vector.h"
#include "sets/kernel.h"

static size_t group_end(const saddle_descent_state *s, size_t start)
{
    return s->n - start < s->group_size ? s->n : start + s->group_size;
}

void saddle_add_group_slopes(saddle_descent_state *s)
{
    for (size_t start = 0, end; s->group_weight > 0.0 && start < s->n; start = end) {
        end = group_end(s, start);
        double norm = saddle_norm(end - start, s->x + start);
        double slope = saddle_norm(end - start, s->slope + start);
        double factor = slope > s->group_weight ? 1.0 - s->group_weight / slope : 0.0;
        for (size_t k = start; k < end; k++)
            if (norm > 0.0)
                s->slope[k] += s->group_weight * (s->x[k] / norm);
            else
                s->slope[k] *= factor;
    }
}

void saddle_add_group_bends(saddle_descent_state *s)
{
    for (size_t start = 0, end; s->group_weight > 0.0 && start < s->n; start = end) {
        end = group_end(s, start);
        double norm = saddle_norm(end - start, s->x + start);
        double largest = 0.0;
        for (size_t k = start; k < end; k++)
            largest = fmax(largest, s->given->metric[k]);
        for (size_t k = start; k < end; k++)
            s->bend[k] += norm > 0.0
                              ? s->group_weight / norm * (1.0 - (s->x[k] / norm) * (s->x[k] / norm))
                              : (largest - s->given->metric[k]) / s->length;
    }
}

void saddle_find_inverse_norms(const saddle_descent_state *s, double *out)
{
    for (size_t start = 0, end; s->group_weight > 0.0 && start < s->n; start = end) {
        end = group_end(s, start);
        double norm = saddle_norm(end - start, s->x + start);
        for (size_t k = start; k < end; k++)
            out[k] = norm > 0.0 ? 1.0 / norm : 0.0;
    }
}

double saddle_group_entry(const saddle_descent_state *s, const double *inverse_norm, size_t k,
                          size_t c, double entry)
{
    if (s->group_weight == 0.0)
        return entry;
    if (inverse_norm[k] == 0.0 || inverse_norm[c] == 0.0)
        return 0.0;
    if (k / s->group_size != c / s->group_size)
        return entry;
    return entry - s->group_weight * inverse_norm[k] * (s->x[k] * inverse_norm[k]) *
                       (s->x[c] * inverse_norm[k]);
}

void saddle_stop_groups_at_zero(const saddle_descent_state *s)
{
    for (size_t start = 0, end; s->group_weight > 0.0 && start < s->n; start = end) {
        end = group_end(s, start);
        if (saddle_dot(end - start, s->x + start, s->next + start) >= 0.0)
            continue;
        for (size_t k = start; k < end; k++)
            s->next[k] = 0.0;
    }
}

void saddle_change_group_slopes(const saddle_descent_state *s, double *change)
{
    for (size_t start = 0, end; s->group_weight > 0.0 && start < s->n; start = end) {
        end = group_end(s, start);
        double before = saddle_norm(end - start, s->x + start);
        double after = saddle_norm(end - start, s->next + start);
        for (size_t k = start; k < end; k++) {
            change[k] -= s->bend[k] * (s->next[k] - s->x[k]);
            if (before > 0.0 && after > 0.0)
                change[k] += s->group_weight * (s->next[k] / after - s->x[k] / before);
        }
    }
}
