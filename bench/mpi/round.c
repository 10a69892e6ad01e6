/*
 * What a round of the engine `mpi` costs, under mpirun with any number of processes:
 *
 * - against a bare exchange of the same bytes between the same processes, one agent in each, at the
 *   message size of PRECISION on a9a (x, y, p, d: 2 (123 + 6512) doubles) and at others. The agents
 *   do nothing but publish, so that only the engine's own work is between the messages;
 * - and how an iteration of PRECISION grows with the agents per process, on a ring.
 *
 * The two that are compared take turns, 25 or as many as the argument says, and the best turns are given:
 * whatever else runs on the machine can only add to a turn, and on a busy one adds to most.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include <saddle/saddle.h>

#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/status.h"
#include "instance/instance.h"
#include "observe/observer.h"

enum { MOST_TURNS = 25, TAG = 7 };

/* Seconds that a turn shall take. */
#define TURN_SECONDS 0.03

static void expect(saddle_status status, const saddle_error *error)
{
    if (status == SADDLE_OK)
        return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(EXIT_FAILURE);
}

/* ---- agents that only publish ------------------------------------------------------------------ */

static void idle_layout(const void *parameters, const saddle_problem *problem, saddle_layout *out)
{
    (void)problem;
    *out = (saddle_layout){.published = *(const size_t *)parameters, .rounds = 1};
}

static void idle_start(saddle_agent *agent, const double *x0, const double *y0)
{
    (void)agent;
    (void)x0;
    (void)y0;
}

static void idle_step(saddle_agent *agent)
{
    (void)agent;
}

static const saddle_phase idle_phases[] = {{"idle", .before = idle_step}, {.name = NULL}};

static const saddle_algorithm idle = {
    .name = "idle", .layout = idle_layout, .start = idle_start, .phases = idle_phases};

/* ---- an engine --------------------------------------------------------------------------------- */

static saddle_instance *make_instance(const char *const *assignment)
{
    saddle_error error;
    saddle_plan plan;
    saddle_instance *instance;
    saddle_plan_defaults(&plan, sizeof plan);
    for (; *assignment != NULL; assignment += 2)
        expect(saddle_plan_set(&plan, assignment[0], assignment[1], &error), &error);
    expect(saddle_instance_create(&instance, &plan, &error), &error);
    saddle_plan_free(&plan);
    return instance;
}

static saddle_engine *make_engine(saddle_instance *e, const saddle_algorithm *algorithm,
                                  const void *parameters)
{
    saddle_error error;
    saddle_engine *engine;
    saddle_engine_inputs inputs = {
        .instance = e, .algorithm = algorithm, .parameters = parameters, .threads = 1};
    expect(e->parts->engine->create(&engine, &inputs, &error), &error);
    return engine;
}

/* Seconds of so many iterations, of the slowest process. */
static double time_engine(saddle_engine *engine, uint64_t iterations)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = saddle_clock_seconds();
    engine->kind->advance(engine, &(saddle_limits){.iterations = iterations}, &fault);
    double seconds = saddle_clock_seconds() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/* ---- the bare exchange ------------------------------------------------------------------------- */

/* One agent per process: its neighbours are processes. */
typedef struct bare {
    MPI_Comm comm;
    int neighbours;
    int *neighbour;
    MPI_Request *request;
    double *out[2];
    double *in;
    size_t doubles;
} bare;

static void bare_open(bare *b, const saddle_graph *graph, size_t rank, size_t doubles)
{
    b->neighbours = (int)(graph->start[rank + 1] - graph->start[rank]);
    size_t count = (size_t)b->neighbours;
    b->neighbour = calloc(count, sizeof *b->neighbour);
    int *weight = calloc(count, sizeof *weight);
    b->request = calloc(2 * count, sizeof *b->request);
    b->doubles = doubles;
    for (int k = 0; k < 2; k++)
        b->out[k] = calloc(doubles, sizeof(double));
    b->in = calloc(count * doubles, sizeof(double));
    if (b->neighbour == NULL || weight == NULL || b->request == NULL || b->out[0] == NULL ||
        b->out[1] == NULL || b->in == NULL)
        exit(EXIT_FAILURE);
    /* Memory that was never written to is all one page, which is read from the cache. */
    for (size_t k = 0; k < doubles; k++)
        b->out[0][k] = b->out[1][k] = 1.0;
    for (size_t k = 0; k < count; k++) {
        b->neighbour[k] = (int)graph->neighbour[graph->start[rank] + k];
        weight[k] = 1;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, b->neighbours, b->neighbour, weight,
                                   b->neighbours, b->neighbour, weight, MPI_INFO_NULL, 0, &b->comm);
    free(weight);
}

static void bare_close(bare *b)
{
    MPI_Comm_free(&b->comm);
    free(b->neighbour);
    free(b->request);
    free(b->out[0]);
    free(b->out[1]);
    free(b->in);
}

static double time_bare(bare *b, uint64_t rounds)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = saddle_clock_seconds();
    for (uint64_t round = 0; round < rounds; round++) {
        for (int k = 0; k < b->neighbours; k++) {
            MPI_Irecv(b->in + (size_t)k * b->doubles, (int)b->doubles, MPI_DOUBLE, b->neighbour[k],
                      TAG, b->comm, &b->request[2 * (size_t)k]);
            MPI_Isend(b->out[round % 2], (int)b->doubles, MPI_DOUBLE, b->neighbour[k], TAG, b->comm,
                      &b->request[2 * (size_t)k + 1]);
        }
        MPI_Waitall(2 * b->neighbours, b->request, MPI_STATUSES_IGNORE);
    }
    double seconds = saddle_clock_seconds() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

/* ---- what is measured -------------------------------------------------------------------------- */

static double least(const double *values, size_t count)
{
    double best = values[0];
    for (size_t k = 1; k < count; k++)
        best = values[k] < best ? values[k] : best;
    return best;
}

/* Rounds that take about a turn; the same in all processes. */
static uint64_t rounds_of(double seconds_of_ten)
{
    double rounds = 10.0 * TURN_SECONDS / seconds_of_ten;
    return rounds < 10.0 ? 10 : rounds > 5000.0 ? 5000 : (uint64_t)rounds;
}

static void measure_round(size_t rank, size_t ranks, const char *topology, size_t doubles,
                          int turns)
{
    char agents[32];
    snprintf(agents, sizeof agents, "%zu", ranks);
    const char *const assignment[] = {"engine", "mpi",     "problem",  "quadratic", "agents",
                                      agents,   "samples", "1",        "x-dim",     "1",
                                      "y-dim",  "1",       "topology", topology,    NULL};
    saddle_instance *e = make_instance(assignment);
    saddle_engine *engine = make_engine(e, &idle, &doubles);
    bare b;
    bare_open(&b, e->graph, rank, doubles);
    time_engine(engine, 10);
    double ten[3];
    for (int k = 0; k < 3; k++)
        ten[k] = time_bare(&b, 10);
    uint64_t rounds = rounds_of(least(ten, 3));
    double ours[MOST_TURNS];
    double theirs[MOST_TURNS];
    for (int turn = 0; turn < turns; turn++) {
        ours[turn] = time_engine(engine, rounds) / (double)rounds;
        theirs[turn] = time_bare(&b, rounds) / (double)rounds;
    }
    double our_best = least(ours, (size_t)turns);
    double their_best = least(theirs, (size_t)turns);
    if (rank == 0)
        printf("%-10s %10zu %10llu %12.2f %12.2f %8.2f\n", topology, 8 * doubles,
               (unsigned long long)rounds, 1e6 * our_best, 1e6 * their_best, our_best / their_best);
    bare_close(&b);
    engine->kind->destroy(engine);
    saddle_instance_free(e);
}

static void measure_growth(size_t rank, size_t ranks, size_t each, int turns)
{
    char agents[32];
    snprintf(agents, sizeof agents, "%zu", ranks * each);
    const char *const assignment[] = {"engine", "mpi",  "agents",   agents, "samples", "100",
                                      "q",      "1000", "topology", "ring", NULL};
    saddle_error error;
    saddle_instance *e = make_instance(assignment);
    const saddle_algorithm *algorithm;
    saddle_configuration configuration = {.instance = e, .given = &e->plan->steps};
    saddle_layout layout;
    expect(saddle_algorithm_find(&algorithm, "precision", &error), &error);
    expect(saddle_instance_steps(e, e->plan, &configuration.steps, &error), &error);
    void *parameters = saddle_alloc(1, algorithm->size);
    if (parameters == NULL)
        expect(saddle_no_memory(&error, "the algorithm's parameters"), &error);
    saddle_plan_read_own(e->plan, algorithm->options, parameters);
    expect(algorithm->init(parameters, &configuration, &error), &error);
    saddle_algorithm_layout(algorithm, parameters, e->problem, &layout);
    saddle_engine *engine = make_engine(e, algorithm, parameters);
    time_engine(engine, 10);
    uint64_t rounds = rounds_of(time_engine(engine, 10));
    double seconds[MOST_TURNS];
    for (int turn = 0; turn < turns; turn++)
        seconds[turn] = time_engine(engine, rounds) / (double)rounds;
    double us = 1e6 * least(seconds, (size_t)turns);
    if (rank == 0)
        printf("%10zu %12.2f %12.3f %14.1f\n", each, us, us / (double)each,
               8e-3 * (double)(2 * layout.published + layout.kept));
    engine->kind->destroy(engine);
    if (algorithm->release != NULL)
        algorithm->release(parameters);
    saddle_free(parameters);
    saddle_instance_free(e);
}

int main(int count, char **argument)
{
    long asked = count > 1 ? strtol(argument[1], NULL, 10) : MOST_TURNS;
    int turns = asked < 1 ? 1 : asked > MOST_TURNS ? MOST_TURNS : (int)asked;
    size_t rank;
    saddle_error error;
    int ranks;
    expect(saddle_mpi_init(&rank, &error), &error);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t a9a = (size_t)2 * (123 + 6512);
    const size_t size[] = {16, 1024, a9a, 16 * a9a};
    if (rank == 0)
        printf("A round of %d processes with one agent each, the best of %d turns\n"
               "%-10s %10s %10s %12s %12s %8s\n",
               ranks, turns, "topology", "bytes", "rounds", "saddle us", "bare us", "ratio");
    for (size_t k = 0; ranks > 1 && k < sizeof size / sizeof *size; k++)
        measure_round(rank, (size_t)ranks, ranks > 2 ? "ring" : "path", size[k], turns);
    if (ranks > 3)
        measure_round(rank, (size_t)ranks, "complete", a9a, turns);
    if (rank == 0)
        printf("\nAn iteration of PRECISION on a ring, 100 samples each\n"
               "%10s %12s %12s %14s\n",
               "agents", "us", "us/agent", "state KB/agent");
    for (size_t each = 2; each <= 64; each *= 2)
        measure_growth(rank, (size_t)ranks, each, turns);
    saddle_mpi_finalize(false);
    return EXIT_SUCCESS;
}
