/*
 * The pieces of an iteration, each by itself at the sizes of an instance and through the
 * interfaces that algorithms use: mixing with the neighbours, the projection of y, the difference of
 * gradients over a mini-batch, drawing the mini-batch, a full gradient. One agent after another, so
 * that data and vectors come from where they would in a run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/memory.h"
#include "core/rng.h"

enum { MOST_REPEATS = 1000, ROUNDS = 20 };

/* What the kernels work on: every agent's span of x, y, p, d as PRECISION publishes it. */
typedef struct bed {
    const saddle_problem *problem;
    const saddle_mixing *mixing;
    const saddle_set *y_set;
    saddle_agent *agent;
    const double **neighbour;
    double *span;
    double *out;
    double *scratch;
    uint32_t *index;
    uint64_t *mark;
    size_t width; /* of a span */
    size_t batch;
    uint64_t draws;
} bed;

typedef void kernel(bed *b, size_t i);

static void mix(bed *b, size_t i)
{
    saddle_agent_mix(&b->agent[i], 0, b->width, b->out);
}

static void project(bed *b, size_t i)
{
    (void)i;
    saddle_set_project(b->y_set, b->out, b->scratch);
}

static void draw(bed *b, size_t i)
{
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, i, b->draws++);
    saddle_rng_choose(&rng, b->problem->samples[i], b->batch, b->index, b->mark);
}

static void difference(bed *b, size_t i)
{
    const double *x0 = b->span + i * b->width;
    const double *x1 = b->span + (i + 1) % b->problem->agents * b->width;
    size_t x_dim = b->problem->x_dim;
    saddle_batch batch = {.index = b->index, .count = b->batch};
    draw(b, i);
    saddle_problem_difference(b->problem, i, &batch, x1, x1 + x_dim, x0, x0 + x_dim, b->out,
                              b->out + x_dim, b->scratch);
}

static void full_gradient(bed *b, size_t i)
{
    const double *x = b->span + i * b->width;
    size_t x_dim = b->problem->x_dim;
    saddle_batch all = {.index = NULL, .count = b->problem->samples[i]};
    saddle_problem_gradient(b->problem, i, &all, x, x + x_dim, b->out, b->out + x_dim, b->scratch);
}

/* Seconds for all agents once: the median over repeats, and the best. */
static double measure(bed *b, kernel *body, size_t repeats, double *best)
{
    static double seconds[MOST_REPEATS];
    for (size_t k = 0; k < repeats; k++) {
        double begin = bench_clock();
        for (size_t round = 0; round < ROUNDS; round++)
            for (size_t i = 0; i < b->problem->agents; i++)
                body(b, i);
        seconds[k] = (bench_clock() - begin) / ROUNDS;
    }
    double median = bench_median(repeats, seconds);
    *best = seconds[0];
    return median;
}

static void lay_out(bed *b, saddle_instance *instance)
{
    b->problem = instance->problem;
    b->mixing = instance->mixing;
    b->y_set = instance->y_set;
    size_t agents = b->problem->agents;
    size_t samples = b->problem->samples[0];
    const saddle_graph *graph = b->mixing->graph;
    b->width = 2 * (b->problem->x_dim + b->problem->y_dim);
    b->batch = (size_t)ceil(sqrt((double)samples));
    b->agent = saddle_alloc(agents, sizeof *b->agent);
    b->neighbour = saddle_alloc(2 * graph->edges, sizeof *b->neighbour);
    b->span = saddle_alloc_doubles(agents * b->width);
    b->out = saddle_alloc_doubles(b->width);
    b->scratch =
        saddle_alloc_doubles(saddle_problem_scratch(b->problem) + saddle_set_scratch(b->y_set));
    b->index = saddle_alloc(samples, sizeof *b->index);
    b->mark = saddle_alloc(saddle_rng_mark_words(samples), sizeof *b->mark);
    if (b->agent == NULL || b->neighbour == NULL || b->span == NULL || b->out == NULL ||
        b->scratch == NULL || b->index == NULL || b->mark == NULL) {
        fprintf(stderr, "saddle_bench: out of memory for the kernels\n");
        exit(1);
    }
    saddle_rng rng;
    saddle_rng_init(&rng, 1, SADDLE_RNG_TEST, 0, 0);
    for (size_t k = 0; k < agents * b->width; k++)
        b->span[k] = 0.1 * saddle_rng_uniform(&rng);
    for (size_t k = 0; k < 2 * graph->edges; k++)
        b->neighbour[k] = b->span + graph->neighbour[k] * b->width;
    for (size_t i = 0; i < agents; i++)
        b->agent[i] = (saddle_agent){.id = i,
                                     .problem = b->problem,
                                     .now = b->span + i * b->width,
                                     .degree = graph->start[i + 1] - graph->start[i],
                                     .neighbour = b->neighbour + graph->start[i],
                                     .weight = b->mixing->weight + graph->start[i],
                                     .self_weight = b->mixing->self_weight[i]};
}

static void clear(bed *b)
{
    saddle_free(b->agent);
    saddle_free(b->neighbour);
    saddle_free(b->span);
    saddle_free(b->out);
    saddle_free(b->scratch);
    saddle_free(b->index);
    saddle_free(b->mark);
}

int bench_kernels(int count, char **argument)
{
    saddle_error error;
    size_t repeats = bench_count("REPEATS", argument[0]);
    saddle_plan plan;
    saddle_instance *instance;
    bench_plan(&plan, count - 1, argument + 1);
    bed b = {0};
    repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    bench_require(saddle_instance_create(&instance, &plan, &error), &error);
    lay_out(&b, instance);

    double agents = (double)b.problem->agents;
    double both = (double)(b.problem->x_dim + b.problem->y_dim);
    double edges = (double)b.mixing->graph->edges;
    const struct {
        const char *name;
        kernel *body;
        double bytes; /* that must move; 0: not a matter of memory */
    } kernels[] = {
        /* Own span and neighbours' read, one written. */
        {"mix", mix, 8.0 * 2.0 * both * (2.0 * agents + 2.0 * edges)},
        /* y read and written. */
        {"project", project, 8.0 * 2.0 * agents * (double)b.problem->y_dim},
        {"draw", draw, 0.0},
        /* Two points read, one difference written. */
        {"difference", difference, 8.0 * 3.0 * agents * both},
        {"full gradient", full_gradient, 0.0},
    };
    printf("{\"agents\": %zu, \"batch\": %zu, \"working_set\": %.0f, \"kernels\": [",
           b.problem->agents, b.batch, 8.0 * agents * (double)b.width);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        double best;
        double median = measure(&b, kernels[k].body, repeats, &best);
        printf("%s{\"name\": \"%s\", \"bytes\": %.0f, ", k > 0 ? ", " : "", kernels[k].name,
               kernels[k].bytes);
        printf("\"seconds\": %.9g, \"best_seconds\": %.9g}", median, best);
    }
    printf("]}\n");
    clear(&b);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return 0;
}
