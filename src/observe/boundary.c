#include "observe/boundary.h"

#include "core/vector.h"
#include "observe/whitening.h"
#include "sets/set.h"

/* A point of a ball is on its boundary if its norm is this close to the radius. */
#define ON_BOUNDARY (1.0 - 1e-9)
/* What remains after this many passes of Newton's method is rounding, as in simplex.c. */
#define MOST_PASSES 96

size_t saddle_find_piece(const saddle_descent_state *s, size_t index, saddle_piece *out)
{
    const saddle_set *set = saddle_prox_set(s->given->prox);
    size_t count = 1;
    *out = (saddle_piece){.set = set};
    if (saddle_set_kind(set) == &saddle_set_blocks) {
        const saddle_set_block *block = saddle_set_block_list(set, &count);
        if (index < count)
            *out = (saddle_piece){.set = block[index].set, .offset = block[index].offset};
    }
    return count;
}

bool saddle_can_follow(const saddle_descent_state *s)
{
    saddle_piece f;
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++) {
        const saddle_set_class *kind = saddle_set_kind(f.set);
        if (!kind->separable && kind != &saddle_set_l2_ball && kind != &saddle_set_simplex)
            return false;
    }
    return true;
}

/* Returns the multiple of a piece's normal that is taken off a vector. What remains of it is orthogonal to the normal:
 * for a simplex in the inverse of the metric; for a ball in Euclidean terms, so that no multiple of
 * x leads downhill. */
static double part_along_normal(const saddle_descent_state *s, const saddle_piece *f,
                                const double *v)
{
    bool is_ball = saddle_set_kind(f->set) == &saddle_set_l2_ball;
    double product = 0.0;
    double square = 0.0;
    for (size_t k = f->offset; k < saddle_piece_end(f); k++)
        if (s->slope[k] != 0.0) {
            double weighted = s->normal[k] / (is_ball ? 1.0 : saddle_metric_at(s, k));
            product += weighted * v[k];
            square += weighted * s->normal[k];
        }
    return square > 0.0 ? product / square : 0.0;
}

static void remove_normal(const saddle_descent_state *s, const saddle_piece *f, double part,
                          double *v)
{
    for (size_t k = f->offset; k < saddle_piece_end(f); k++)
        if (s->slope[k] != 0.0)
            v[k] -= part * s->normal[k];
}

/* Returns whether x is on the boundary of a ball. */
static bool is_on_boundary(const saddle_descent_state *s, const saddle_piece *f)
{
    double square = saddle_norm2(saddle_set_dimension(f->set), s->x + f->offset);
    return sqrt(square) >= ON_BOUNDARY * saddle_set_kind(f->set)->norm_bound(f->set);
}

/* Returns whether a ball's boundary holds x back. */
static bool is_held(const saddle_descent_state *s, const saddle_piece *f)
{
    return saddle_norm2(saddle_set_dimension(f->set), s->normal + f->offset) > 0.0;
}

/* Finds the normal of a simplex or of the boundary of a ball. */
static void find_normal(saddle_descent_state *s, const saddle_piece *f)
{
    size_t dimension = saddle_set_dimension(f->set);
    memset(s->normal + f->offset, 0, dimension * sizeof *s->normal);
    memset(s->bend + f->offset, 0, dimension * sizeof *s->bend);
    if (saddle_set_kind(f->set) == &saddle_set_simplex)
        for (size_t k = f->offset; k < saddle_piece_end(f); k++)
            s->normal[k] = 1.0;
    if (saddle_set_kind(f->set) != &saddle_set_l2_ball)
        return;
    if (is_on_boundary(s, f))
        memcpy(s->normal + f->offset, s->x + f->offset, dimension * sizeof *s->normal);
}

void saddle_follow_boundary(saddle_descent_state *s, const saddle_piece *f)
{
    find_normal(s, f);
    double part = part_along_normal(s, f, s->slope);
    if (saddle_set_kind(f->set) == &saddle_set_l2_ball) {
        double bend = part < 0.0 ? -part : 0.0;
        for (size_t k = f->offset; k < saddle_piece_end(f); k++) {
            s->normal[k] = bend > 0.0 ? s->normal[k] : 0.0;
            s->bend[k] = bend;
        }
    }
    /* Coordinates of a simplex that are 0 stay there if their slope is above the mean of those that move. */
    for (bool more = saddle_set_kind(f->set) == &saddle_set_simplex; more;) {
        more = false;
        for (size_t k = f->offset; k < saddle_piece_end(f); k++)
            if (s->slope[k] != 0.0 && s->x[k] == 0.0 && s->slope[k] >= part) {
                s->slope[k] = 0.0;
                more = true;
            }
        part = part_along_normal(s, f, s->slope);
    }
    remove_normal(s, f, part, s->slope);
}

void saddle_remove_normals(const saddle_descent_state *s, double *change)
{
    saddle_piece f;
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++)
        remove_normal(s, &f, part_along_normal(s, &f, change), change);
}

/* Takes off a move what is along the normal of a piece, in the matrix, which moves other pieces too. */
static void remove_from_move(const saddle_descent_state *s, const saddle_piece *f, double *move)
{
    double product = 0.0;
    double square = 0.0;
    memset(s->white, 0, s->n * sizeof *s->white);
    for (size_t k = f->offset; k < saddle_piece_end(f); k++)
        if (s->slope[k] != 0.0)
            product += (s->white[k] = s->normal[k]) * move[k];
    if (product == 0.0)
        return;
    saddle_apply_inverse(s, s->white);
    for (size_t k = f->offset; k < saddle_piece_end(f); k++)
        square += s->normal[k] * s->white[k];
    saddle_axpy(s->n, -product / square, s->white, move);
}

void saddle_make_tangent(const saddle_descent_state *s, double *move)
{
    saddle_piece f;
    for (size_t i = 0; s->given->matrix != NULL && i < saddle_find_piece(s, i, &f); i++)
        remove_from_move(s, &f, move);
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++) {
        double product = 0.0;
        double square = 0.0;
        for (size_t k = f.offset; k < saddle_piece_end(&f); k++)
            if (s->slope[k] != 0.0) {
                product += s->normal[k] * move[k];
                square += s->normal[k] * s->normal[k] / saddle_metric_at(s, k);
            }
        for (size_t k = f.offset; k < saddle_piece_end(&f) && square > 0.0; k++)
            if (s->slope[k] != 0.0)
                move[k] -= product / square * s->normal[k] / saddle_metric_at(s, k);
    }
}

/* Projects the next point onto a simplex in the metric: next - theta / metric, but at least 0, where theta is such that
 * the sum is right, by Newton's method from the left (as in simplex.c). Coordinates that do not move stay. */
static void move_into_simplex(const saddle_descent_state *s, const saddle_piece *f)
{
    double theta = 0.0;
    double total;
    double unused;
    saddle_set_kind(f->set)->range(f->set, &unused, &total);
    bool more = true;
    for (int passes = 0; more && passes < MOST_PASSES; passes++) {
        double sum = -total;
        double rate = 0.0;
        for (size_t k = f->offset; k < saddle_piece_end(f); k++) {
            double weight = s->slope[k] != 0.0 ? 1.0 / saddle_metric_at(s, k) : 0.0;
            if (s->next[k] > theta * weight) {
                sum += s->next[k] - theta * weight;
                rate += weight;
            }
        }
        more = rate > 0.0 && sum > 0.0;
        if (more)
            theta += sum / rate;
    }
    for (size_t k = f->offset; k < saddle_piece_end(f); k++)
        if (s->slope[k] != 0.0)
            s->next[k] = fmax(s->next[k] - theta / saddle_metric_at(s, k), 0.0);
}

void saddle_move_into_simplices(const saddle_descent_state *s)
{
    saddle_piece f;
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++)
        if (saddle_set_kind(f.set) == &saddle_set_simplex)
            move_into_simplex(s, &f);
}

/* Returns how far from x a direction leaves a ball, at most 1. */
static double way_out(const saddle_descent_state *s, const saddle_piece *f)
{
    size_t dimension = saddle_set_dimension(f->set);
    double radius = saddle_set_kind(f->set)->norm_bound(f->set);
    double room = radius * radius - saddle_norm2(dimension, s->x + f->offset);
    double along = saddle_dot(dimension, s->x + f->offset, s->direction + f->offset);
    double square = saddle_norm2(dimension, s->direction + f->offset);
    if (!(square + 2.0 * along > room))
        return 1.0;
    return fmax(room, 0.0) / (along + sqrt(along * along + square * fmax(room, 0.0)));
}

double saddle_longest_move(const saddle_descent_state *s)
{
    double longest = 1.0;
    saddle_piece f;
    for (size_t i = 0; i < saddle_find_piece(s, i, &f); i++) {
        size_t dimension = saddle_set_dimension(f.set);
        if (saddle_set_kind(f.set) != &saddle_set_l2_ball || dimension == 0)
            continue;
        double moved = sqrt(saddle_norm2(dimension, s->direction + f.offset));
        double radius = sqrt(saddle_norm2(dimension, s->x + f.offset));
        if (is_held(s, &f) && longest * moved > 0.5 * radius)
            longest = 0.5 * radius / moved;
        else if (!is_held(s, &f) && s->given->matrix != NULL)
            longest = fmin(longest, way_out(s, &f));
    }
    return longest;
}

bool saddle_hold_balls(saddle_descent_state *s)
{
    bool held = false;
    saddle_piece f;
    for (size_t i = 0; s->given->matrix != NULL && i < saddle_find_piece(s, i, &f); i++)
        if (saddle_set_kind(f.set) == &saddle_set_l2_ball && is_on_boundary(s, &f) &&
            !is_held(s, &f) &&
            saddle_dot(saddle_set_dimension(f.set), s->x + f.offset, s->direction + f.offset) >
                0.0) {
            memcpy(s->normal + f.offset, s->x + f.offset,
                   saddle_set_dimension(f.set) * sizeof *s->normal);
            held = true;
        }
    return held;
}
