/* The steps rows, columns, settle and answer of kernels.h. */
#ifndef SADDLE_ENGINES_CUDA_CARD_REFRESH_H
#define SADDLE_ENGINES_CUDA_CARD_REFRESH_H

#include "engines/cuda/card_auc.h"

/* At the new point, or, without a parity, at c->point. */
enum { SADDLE_CARD_POINT = 2 };

/* Returns whether a step has nothing to do, because the iterations have stopped. */
SADDLE_STEP bool saddle_card_skips(const saddle_card_plan *c, unsigned parity)
{
    return parity != SADDLE_CARD_POINT && saddle_card_stopped(c, c->state->clock[parity]);
}

/* The step rows of kernels.h, for a tile of an agent's rows. */
SADDLE_STEP void saddle_card_rows(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                  uint32_t tile)
{
    const double *next =
        parity == SADDLE_CARD_POINT ? c->point : c->span[1 - parity] + agent * c->stride;
    uint64_t first = c->first_row[agent];
    uint64_t rows = c->first_row[agent + 1] - first;
    uint64_t begin = (uint64_t)tile * SADDLE_CARD_THREADS;
    double scale = c->loss_weight * (1.0 / (double)rows * c->agent_weight[agent]);
    if (saddle_card_skips(c, parity))
        return;
    SADDLE_EACH(k, SADDLE_CARD_THREADS)
    {
        uint64_t j = begin + k;
        double loss;
        double slope;
        if (j >= rows)
            continue;
        double label = -c->label[first + j];
        bool dense = c->dense != NULL;
        double t = saddle_card_dot(c, first + j, dense ? 0 : c->row_start[first + j],
                                   dense ? 0 : c->row_start[first + j + 1], next, NULL, 0);
        if (c->auc) {
            saddle_card_pulls own = saddle_card_pull(c, label, t, next, next[c->x_dim], scale);
            double *beside = c->along + c->first_row[c->agents] + 3 * (first + j);
            if (parity == SADDLE_CARD_POINT)
                saddle_card_value_of_row(c, label, t, next, &own);
            c->along[first + j] = own.h;
            beside[0] = own.c;
            beside[1] = own.y;
            beside[2] = own.rest;
            continue;
        }
        saddle_card_loss(c, label, t, &loss, &slope);
        label = saddle_card_inner(c, label);
        slope = saddle_multiply(saddle_multiply(label, next[c->x_dim + j]), slope);
        c->along[first + j] = saddle_multiply(scale, slope);
        c->gy[agent * (size_t)c->y_dim + j] = saddle_multiply(scale, loss);
    }
}

/* The sum of a column behind the bias over rows [begin, end) of an agent; at trace points, statistics are scaled. */
SADDLE_STEP double saddle_card_sum_blocks(const saddle_card_plan *c, unsigned parity,
                                          uint32_t agent, uint32_t kind, uint64_t begin,
                                          uint64_t end)
{
    uint64_t first = c->first_row[agent];
    const double *beside = c->along + c->first_row[c->agents] + 3 * first;
    uint32_t which = kind < SADDLE_AUC_Y ? 0 : kind - SADDLE_AUC_Y + 1;
    double scale = 1.0 / (double)(c->first_row[agent + 1] - first) * c->agent_weight[agent];
    double sum = 0.0;
    for (uint64_t block = begin; block < end; block += SADDLE_CARD_CHUNK) {
        uint64_t last = end - block < SADDLE_CARD_CHUNK ? end : block + SADDLE_CARD_CHUNK;
        double own = 0.0;
        for (uint64_t j = block; j < last; j++)
            if (saddle_card_counts(kind, -c->label[first + j]))
                own = saddle_add(own, beside[3 * j + which]);
        bool scaled = parity == SADDLE_CARD_POINT && which > 0;
        sum = saddle_add(sum, scaled ? saddle_multiply(scale, own) : own);
    }
    return sum;
}

/* The sum of a column over the rows of a part of an agent. */
SADDLE_STEP double saddle_card_sum_list(const saddle_card_plan *c, unsigned parity, uint64_t list)
{
    uint32_t agent = (uint32_t)(list / ((uint64_t)c->parts * c->columns));
    const double *along = c->along + c->first_row[agent];
    double sum = 0.0;
    uint64_t column = list % c->columns;
    if (c->dense != NULL || column >= c->features) {
        uint64_t part = list / c->columns % c->parts;
        uint64_t rows = c->first_row[agent + 1] - c->first_row[agent];
        uint64_t begin = part * c->part_rows[agent];
        uint64_t end = begin + c->part_rows[agent] < rows ? begin + c->part_rows[agent] : rows;
        if (column > c->features)
            return saddle_card_sum_blocks(c, parity, agent, (uint32_t)(column - c->features), begin,
                                          end);
        SADDLE_UNROLL
        for (uint64_t j = begin; j < end; j++)
            sum += column == c->features
                       ? along[j]
                       : along[j] * c->dense[(c->first_row[agent] + j) * c->features + column];
        return saddle_flush(sum);
    }
    uint64_t end = c->list_start[list + 1];
    for (uint64_t e = c->list_start[list]; e < end; e += SADDLE_CARD_LONG_GROUP) {
        double term[SADDLE_CARD_LONG_GROUP];
        uint32_t row[SADDLE_CARD_LONG_GROUP];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_LONG_GROUP; l++)
            row[l] = c->list_row[e + l < end ? e + l : end - 1];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_LONG_GROUP; l++)
            term[l] = along[row[l]];
        SADDLE_UNROLL_ALL
        for (uint32_t l = 0; l < SADDLE_CARD_LONG_GROUP; l++)
            if (e + l < end)
                sum += c->list_value != NULL ? term[l] * c->list_value[e + l] : term[l];
    }
    return saddle_flush(sum);
}

/* The step columns of kernels.h, for a block of lists. */
SADDLE_STEP void saddle_card_columns(const saddle_card_plan *c, unsigned parity, uint32_t block)
{
    uint64_t begin = (uint64_t)block * SADDLE_CARD_THREADS;
    if (saddle_card_skips(c, parity))
        return;
    SADDLE_EACH(k, SADDLE_CARD_THREADS)
    if (begin + k < c->lists)
        c->total[begin + k] = saddle_card_sum_list(c, parity, begin + k);
}

/* Returns the sum of a column over all samples or a batch. */
SADDLE_STEP double saddle_card_add_parts(const saddle_card_plan *c, bool all, uint32_t agent,
                                         uint32_t column)
{
    const double *total = c->total + (size_t)agent * c->parts * c->columns + column;
    uint64_t rows = c->first_row[agent + 1] - c->first_row[agent];
    uint64_t parts = all ? (rows + c->part_rows[agent] - 1) / c->part_rows[agent] : 1;
    double sum = total[0];
    for (uint64_t part = 1; part < parts; part++)
        sum = saddle_add(sum, total[part * c->columns]);
    return sum;
}

/* Returns the new v of a column. */
SADDLE_STEP double saddle_card_refresh_x(const saddle_card_plan *c, bool all, uint32_t agent,
                                         uint32_t column, double x)
{
    return saddle_add(saddle_card_add_parts(c, all, agent, column), saddle_card_bend(c, x));
}

/* Returns the new u, or u + c y, of an entry. */
SADDLE_STEP double saddle_card_refresh_y(const saddle_card_plan *c, bool all, uint32_t agent,
                                         uint32_t k, double y)
{
    if (c->auc)
        return saddle_add(saddle_card_add_parts(c, all, agent, c->x_dim),
                          saddle_card_ridge(c, y, 0.0));
    double unequal = saddle_subtract(saddle_multiply(c->penalty_length, y), 1.0);
    double g = c->gy[agent * (size_t)c->y_dim + k];
    g = saddle_subtract(g, saddle_multiply(c->penalty_slope, unequal));
    if (!c->steps.recursive || c->steps.scheduled)
        c->gy[agent * (size_t)c->y_dim + k] = 0.0;
    if (!c->steps.recursive)
        return g;
    return saddle_add(g, saddle_multiply(c->steps.curvature, y));
}

/* The step settle of kernels.h, for a tile of an agent. */
SADDLE_STEP void saddle_card_settle(const saddle_card_plan *c, unsigned parity, uint32_t agent,
                                    uint32_t tile)
{
    uint64_t iteration = c->state->clock[parity];
    saddle_card_tile u = saddle_card_tile_of(c, tile);
    const double *now = c->span[parity] + agent * c->stride;
    double *next = c->span[1 - parity] + agent * c->stride;
    double *kept = c->kept + agent * c->kept_stride + u.point;
    SADDLE_EACH(k, agent == 0 && tile == 0)
    saddle_card_tick(c, parity, iteration);
    if (saddle_card_stopped(c, iteration) ||
        (c->steps.scheduled && !saddle_card_refreshes(c, iteration, agent)))
        return;
    SADDLE_EACH(i, u.count)
    {
        uint32_t k = u.first + i;
        double point = next[u.point + k];
        double old = kept[k];
        double new_one = u.is_x
                             ? saddle_card_refresh_x(c, c->steps.q != UINT64_MAX, agent, k, point)
                             : saddle_card_refresh_y(c, c->steps.q != UINT64_MAX, agent, k, point);
        kept[k] = new_one;
        saddle_card_check(c, iteration, new_one);
        if (!c->steps.tracking)
            continue;
        double g = saddle_add(next[u.tracker + k], saddle_subtract(new_one, old));
        if (!u.is_x && c->steps.recursive) {
            double move = saddle_subtract(point, now[u.point + k]);
            g = saddle_subtract(g, saddle_multiply(c->steps.curvature, move));
        }
        next[u.tracker + k] = g;
    }
}

/* The result of saddle_problem::card_gradients for an entry: new estimates, or what they change by. */
SADDLE_STEP double saddle_card_answer_of(const saddle_card_plan *c, bool anew, uint32_t agent,
                                         size_t at)
{
    size_t both = (size_t)c->x_dim + c->y_dim;
    double weight = c->agent_weight[agent];
    double g = saddle_multiply(weight, c->answer[agent * both + at]);
    return anew ? g
                : saddle_subtract(
                      g, saddle_multiply(weight, c->answer[(c->agents + agent) * both + at]));
}

/* (7) and (8) for a tile of coordinates, given the gradients of saddle_problem::card_gradients. */
SADDLE_STEP void saddle_card_answer(const saddle_card_plan *c, unsigned parity, bool anew,
                                    uint32_t agent, uint32_t tile)
{
    uint64_t iteration = c->state->clock[parity];
    saddle_card_tile u = saddle_card_tile_of(c, tile);
    double *next = c->span[1 - parity] + agent * c->stride;
    double *kept = c->kept + agent * c->kept_stride + u.point;
    SADDLE_EACH(k, agent == 0 && tile == 0)
    saddle_card_tick(c, parity, iteration);
    if (saddle_card_stopped(c, iteration))
        return;
    SADDLE_EACH(i, u.count)
    {
        uint32_t k = u.first + i;
        double old = kept[k];
        double given = saddle_card_answer_of(c, anew, agent, u.point + k);
        double new_one = anew ? given : saddle_add(given, old);
        kept[k] = new_one;
        saddle_card_check(c, iteration, new_one);
        if (c->steps.tracking)
            next[u.tracker + k] = saddle_add(next[u.tracker + k], saddle_subtract(new_one, old));
    }
}

#endif
