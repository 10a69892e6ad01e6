#include "engines/replicas.h"

#include "algorithms/layout.h"
#include "core/vector.h"
#include "engines/compressor.h"

/* Entries that are mixed at a time. */
#define BLOCK 512
/* The weight of a round in the average distance. */
#define NEW_WEIGHT 0.125
/* An agent raises its level when that distance is this many times the largest |z|^2 of the first rounds, or of the
 * first rounds since it last did. Replicas that keep up stay below 1. */
#define GROWTH 4.0
#define LIMIT_ROUNDS 32
#define MOST_LEVELS 30
/* The weight of a round in the mean of a sum, relative to the share of the entries that is sent. Half of it costs up to
 * 20% more rounds on networks that mix well; without means, noise of mini-batches drives the agents apart. */
#define SMOOTHING 2.0

/* ---- memory --------------------------------------------------------------------------------------- */

/* A message begins with the level of its sender, a byte. */
static size_t message_bytes(const saddle_replicas *r, unsigned round)
{
    size_t bytes = 1;
    for (size_t f = 0; f < r->layout->fields; f++)
        if (saddle_field_is_sent(&r->layout->field[f], round))
            bytes += saddle_compressed_bytes(r->rule, r->layout->field[f].length);
    return bytes;
}

size_t saddle_replicas_length(const saddle_replicas *r, unsigned round)
{
    return (message_bytes(r, round) + sizeof(double) - 1) / sizeof(double);
}

/* Returns the share of a field's entries that a message contains. */
static double share_of(const saddle_compression *rule, const saddle_field *field)
{
    double sent = (double)saddle_compressed_entries(rule, field->length);
    return field->length > 0 ? sent / (double)field->length : 1.0;
}

double saddle_replicas_rate(const saddle_compression *rule, const saddle_layout *layout)
{
    double share = 1.0;
    for (size_t f = 0; f < layout->fields; f++)
        share = fmin(share, share_of(rule, &layout->field[f]));
    return saddle_compression_rate(rule, share, saddle_layout_has_sums(layout));
}

size_t saddle_replicas_measure(saddle_replicas *r, const saddle_instance *instance,
                               const saddle_layout *layout)
{
    size_t most = 0;
    r->instance = instance;
    r->rule = instance->compression;
    r->rate = saddle_replicas_rate(r->rule, layout);
    r->layout = layout;
    r->behind = saddle_whole_lines(layout->published);
    r->message = 2 * r->behind;
    for (size_t f = 0; f < layout->fields; f++)
        r->smoothing[f] = layout->field[f].kind == SADDLE_FIELD_SUM
                              ? fmin(1.0, SMOOTHING * share_of(r->rule, &layout->field[f]))
                              : 1.0;
    /* What is sent changes only where the rounds of a field begin or end. */
    for (size_t f = 0; f < layout->fields; f++) {
        most = saddle_larger(most, saddle_replicas_length(r, layout->field[f].first_round));
        most = saddle_larger(most, saddle_replicas_length(r, layout->field[f].last_round));
    }
    return r->message + most;
}

void saddle_replicas_take(saddle_replicas *r, saddle_link_table *table)
{
    size_t rows = table->messages + table->agents;
    r->read = saddle_allocator_block(table->allocator, rows, sizeof *r->read);
    r->weight = saddle_allocator_block(table->allocator, rows, sizeof *r->weight);
    r->mixed = saddle_link_table_take(table, SADDLE_OF_AGENT, r->behind * sizeof *r->mixed, 0);
    r->watch = saddle_link_table_take(table, SADDLE_OF_SOURCE, sizeof *r->watch,
                                      sizeof *r->watch / sizeof(uint64_t));
    for (size_t f = 0; f < r->layout->fields && r->mean == NULL; f++)
        if (r->smoothing[f] < 1.0)
            r->mean = saddle_link_table_take(table, SADDLE_OF_AGENT, r->behind * sizeof *r->mean,
                                             r->layout->published);
    saddle_link_table_row(table, r->behind, r->layout->published);
}

static bool is_constraint(const saddle_set *set)
{
    double lower;
    double upper;
    return !saddle_set_uniform_bounds(set, &lower, &upper) || isfinite(lower) || isfinite(upper);
}

void saddle_replicas_describe(saddle_replicas *r, const saddle_algorithm *algorithm,
                              const saddle_agent *agent)
{
    const saddle_instance *e = r->instance;
    saddle_view view;
    saddle_agent_view(algorithm, agent, &view);
    r->convex = !algorithm->traits.feasible && (is_constraint(e->x_set) || is_constraint(e->y_set));
    for (size_t f = 0; f < r->layout->fields; f++) {
        const double *field = agent->now + r->layout->field[f].offset;
        bool is_x = field == view.x && r->layout->field[f].length == e->problem->x_dim;
        bool is_y = field == view.y && r->layout->field[f].length == e->problem->y_dim;
        if (is_x || is_y) {
            r->begin[f] = is_x ? e->x0 : e->y0;
            if (r->convex)
                r->set[f] = is_x ? e->x_set : e->y_set;
        }
    }
}

/* ---- a message ------------------------------------------------------------------------------------ */

static saddle_rng draws_of(const saddle_replicas *r, size_t sender, size_t field, uint64_t number)
{
    saddle_rng draw;
    saddle_rng_init(&draw, r->instance->seed, SADDLE_RNG_COMPRESS,
                    sender * SADDLE_MOST_FIELDS + field, number);
    return draw;
}

/* Adds the message in a row to the replica there. */
static void apply_message(const saddle_replicas *r, size_t sender, double *row, uint64_t number,
                          unsigned round, double *scratch)
{
    const unsigned char *packed = (const unsigned char *)(row + r->message) + 1;
    for (size_t f = 0; f < r->layout->fields; f++) {
        const saddle_field *field = &r->layout->field[f];
        double *replica = row + r->behind + field->offset;
        if (!saddle_field_is_sent(field, round))
            continue;
        saddle_rng draw = draws_of(r, sender, f, number);
        saddle_compressed_add(r->rule, &draw, field->length, packed, replica);
        packed += saddle_compressed_bytes(r->rule, field->length);
        if (r->set[f] != NULL)
            saddle_set_project(r->set[f], replica, scratch);
    }
}

void saddle_replicas_receive(const saddle_replicas *r, size_t sender, double *row,
                             uint64_t iteration, unsigned round, double *scratch)
{
    apply_message(r, sender, row, saddle_round_number(r->layout, iteration, round), round, scratch);
}

double saddle_replicas_unusable(const saddle_replicas *r, const unsigned char *message,
                                unsigned round, double most)
{
    const unsigned char *packed = message + 1;
    for (size_t f = 0; f < r->layout->fields; f++) {
        const saddle_field *field = &r->layout->field[f];
        if (!saddle_field_is_sent(field, round))
            continue;
        for (size_t k = 0; k < saddle_compressed_numbers(r->rule, field->length); k++) {
            double number;
            memcpy(&number, packed + k * sizeof number, sizeof number);
            if (!(fabs(number) <= most))
                return number;
        }
        packed += saddle_compressed_bytes(r->rule, field->length);
    }
    return 0.0;
}

SADDLE_KERNEL static void subtract(size_t count, const double *restrict a, const double *restrict b,
                                   double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = a[k] - b[k];
}

/* mean += weight (z - mean) */
SADDLE_KERNEL static void smooth(size_t count, double weight, const double *restrict z,
                                 double *restrict mean)
{
    for (size_t k = 0; k < count; k++)
        mean[k] += weight * (z[k] - mean[k]);
}

/* Returns what the replica of field f follows: the field of the next row, or its mean over rounds. */
static const double *followed(saddle_replicas *r, const saddle_agent *agent, size_t i, size_t f)
{
    const saddle_field *field = &r->layout->field[f];
    const double *z = agent->next + field->offset;
    if (r->smoothing[f] >= 1.0)
        return z;
    double *mean = r->mean + i * r->behind + field->offset;
    smooth(field->length, r->smoothing[f], z, mean);
    return mean;
}

/* Records the distance |z - z^|^2 of field f, whose size is |z|^2; returns whether it exceeds its limit. */
static bool falls_behind(saddle_replica_watch *watch, size_t f, uint64_t number, double distance,
                         double size)
{
    watch->distance[f] += NEW_WEIGHT * (distance - watch->distance[f]);
    if (number >= watch->limited_from && watch->limit[f] > 0.0)
        return watch->distance[f] > watch->limit[f];
    if (GROWTH * size > watch->limit[f])
        watch->limit[f] = GROWTH * size;
    return false;
}

/* Returns the level that goes with messages: a rate that was given stays as it is. */
static unsigned char level_of(const saddle_replicas *r, const saddle_replica_watch *watch)
{
    return r->rule->backs_off ? (unsigned char)watch->level : 0;
}

/* Packs the difference between the span of the next row and the replica of the row before, for a round. */
static void pack(saddle_replicas *r, const saddle_agent *agent, size_t i, uint64_t number,
                 unsigned round)
{
    unsigned char *message = (unsigned char *)(agent->next + r->message);
    unsigned char *at = message + 1;
    bool behind = false;
    for (size_t f = 0; f < r->layout->fields; f++) {
        const saddle_field *field = &r->layout->field[f];
        const double *before = agent->now + r->behind + field->offset;
        double *replica = agent->next + r->behind + field->offset;
        if (saddle_field_is_sent(field, round)) {
            saddle_rng draw = draws_of(r, agent->id, f, number);
            subtract(field->length, followed(r, agent, i, f), before, replica);
            saddle_compress(r->rule, &draw, field->length, replica, at);
            at += saddle_compressed_bytes(r->rule, field->length);
            behind |= falls_behind(&r->watch[i], f, number, saddle_norm2(field->length, replica),
                                   saddle_norm2(field->length, agent->next + field->offset));
        }
        memcpy(replica, before, field->length * sizeof *replica);
    }
    if (number == 0)
        r->watch[i].limited_from = LIMIT_ROUNDS;
    if (behind && r->watch[i].level < MOST_LEVELS) {
        r->watch[i].level++;
        r->watch[i].limited_from = number + LIMIT_ROUNDS;
    }
    message[0] = level_of(r, &r->watch[i]);
    apply_message(r, agent->id, agent->next, number, round, agent->scratch);
}

/* ---- a round -------------------------------------------------------------------------------------- */

void saddle_replicas_begin(const saddle_replicas *r, double *row)
{
    memset(row + r->behind, 0, r->behind * sizeof *row);
    for (size_t f = 0; f < r->layout->fields; f++)
        if (r->begin[f] != NULL)
            memcpy(row + r->behind + r->layout->field[f].offset, r->begin[f],
                   r->layout->field[f].length * sizeof *row);
}

void saddle_replicas_start(saddle_replicas *r, saddle_agent *agent, size_t i)
{
    if (r->mean != NULL)
        memcpy(r->mean + i * r->behind, agent->next, r->layout->published * sizeof *r->mean);
    pack(r, agent, i, 0, 0);
}

void saddle_replicas_restore(const saddle_replicas *r, size_t source, double *row)
{
    ((unsigned char *)(row + r->message))[0] = level_of(r, &r->watch[source]);
}

/* out = z + sum_j w_j (z^_j - z^) */
SADDLE_KERNEL static void mix_sum(size_t count, size_t offset, size_t degree,
                                  const double *const *neighbour, const double *weight,
                                  const double *restrict z, const double *restrict replica,
                                  double *restrict out)
{
    for (size_t k = 0; k < count; k++)
        out[k] = z[k];
    for (size_t j = 0; j < degree; j++) {
        const double *other = neighbour[j] + offset;
        double w = weight[j];
        for (size_t k = 0; k < count; k++)
            out[k] += w * (other[k] - replica[k]);
    }
}

static void mix_sums(const saddle_replicas *r, const saddle_agent *agent, size_t degree,
                     const double *const *read, const double *weight, unsigned round, double *mixed)
{
    for (size_t f = 0; f < r->layout->fields; f++) {
        const saddle_field *field = &r->layout->field[f];
        if (field->kind != SADDLE_FIELD_SUM || !saddle_field_is_sent(field, round))
            continue;
        for (size_t k = 0; k < field->length; k += BLOCK) {
            size_t at = field->offset + k;
            size_t count = field->length - k < BLOCK ? field->length - k : BLOCK;
            mix_sum(count, at, degree, read, weight, agent->now + at, agent->now + r->behind + at,
                    mixed + at);
        }
    }
}

static unsigned level_in(const saddle_replicas *r, const double *row)
{
    return ((const unsigned char *)(row + r->message))[0];
}

void saddle_replicas_collect(saddle_replicas *r, saddle_agent *agent, size_t i,
                             const double *const *rows, unsigned round)
{
    size_t degree = r->start[i + 1] - r->start[i];
    const double **read = r->read + r->start[i] + i;
    double *weight = r->weight + r->start[i] + i;
    double *mixed = r->mixed + i * r->behind;
    unsigned own = level_in(r, agent->now);
    double others = 0.0;
    for (size_t k = 0; k < degree; k++) {
        unsigned level = level_in(r, rows[k]);
        read[k] = rows[k] + r->behind;
        weight[k] = ldexp(r->rate, -(int)(level > own ? level : own)) * agent->weight[k];
        others += weight[k];
    }
    mix_sums(r, agent, degree, read, weight, round, mixed);
    /* If iterates are mixed like sums, the own replica is one more neighbour. */
    read[degree] = agent->now + r->behind;
    weight[degree] = -others;
    agent->neighbour = read;
    agent->weight = weight;
    agent->degree = r->convex ? degree : degree + 1;
    agent->self_weight = r->convex ? 1.0 - others : 1.0;
    agent->mixed = mixed;
}

void saddle_replicas_publish(saddle_replicas *r, saddle_agent *agent, size_t i, unsigned round)
{
    const saddle_mixing *mixing = r->instance->mixing;
    bool last = round + 1 >= r->layout->rounds;
    unsigned next = last ? 0 : round + 1;
    agent->degree = r->start[i + 1] - r->start[i];
    agent->weight = mixing->weight + mixing->graph->start[agent->id];
    agent->self_weight = mixing->self_weight[agent->id];
    pack(r, agent, i, saddle_round_number(r->layout, agent->iteration, round) + 1, next);
}
