/*
 * The engines `cuda` and `cuda-host`: the agents' state is on a graphics card, or in a copy of its memory, and copied
 * back when something reads it: a trace point, a checkpoint, the end. The card is used through a module
 * (engines/cuda/card.h); everything else is as in the engine `threads`, bits included.
 */
#include "algorithms/sampling.h"
#include "core/base.h"
#include "core/clock.h"
#include "core/processors.h"
#include "core/scalar.h"
#include "engines/cuda/tables.h"
#include "problems/evaluate.h"

/* Iterations between two looks at the limits. */
#define STRETCH 64

typedef struct engine {
    saddle_local local; /* must be first: its functions are this engine's */
    const saddle_card_module *module;
    saddle_card *card;
    saddle_card_plan plan;
    bool behind;          /* the state in `local` is older than the card's */
    uint64_t plain_ifo;   /* IFO calls of all agents between refreshes */
    uint64_t refresh_ifo; /* at a refresh; where they are scheduled, at most */
    uint64_t *spent; /* per agent, counted from the copies of the card's; NULL: not scheduled */
    double *numbers; /* two per agent */
    size_t
        *counts; /* samples per agent: of a batch, then all; NULL: card_gradients() is not used */
    char failure[24]; /* why a copy failed; "": none did */
} engine;

static engine *engine_of(saddle_engine *base)
{
    return (engine *)base;
}

static const saddle_module *opened;

static saddle_status find_module(engine *e, saddle_error *error)
{
    const saddle_engine_class *kind = e->local.base.kind;
    char why[256];
    if (kind == &saddle_cuda_host_engine) {
        e->module = &saddle_card_on_host;
    } else {
        SADDLE_TRY(saddle_module_open(&opened, &kind->module, SADDLE_CARD_BYTES, error));
        e->module = (const saddle_card_module *)opened;
    }
    e->card = e->module->open(sizeof why, why);
    return e->card != NULL
               ? SADDLE_OK
               : saddle_fail(error, SADDLE_UNSUPPORTED,
                             "--engine: %s cannot be used: %s; use threads", kind->name, why);
}

/* ---- creating and freeing -------------------------------------------------------------------- */

static void destroy(saddle_engine *base)
{
    if (base == NULL)
        return;
    engine *e = engine_of(base);
    if (e->card != NULL)
        e->module->close(e->card);
    saddle_local_clear(&e->local);
    saddle_free(e->numbers);
    saddle_free(e->spent);
    saddle_free(e->counts);
    saddle_free(e);
}

static saddle_status fail(const engine *e, saddle_error *error)
{
    return saddle_fail(error, SADDLE_UNSUPPORTED, "--engine: %s failed: %s",
                       e->module->name(e->card), e->module->error(e->card));
}

/* Returns the IFO calls of an agent in an iteration. */
static uint64_t ifo_of(const engine *e, size_t i, bool refreshes)
{
    const saddle_device_steps *steps = &e->plan.steps;
    const saddle_agent *agent = &e->local.agent[i];
    size_t samples = agent->problem->samples[agent->id];
    uint64_t batch = saddle_batch_size(samples, steps->batch);
    return refreshes ? samples : steps->recursive ? 2 * batch : batch;
}

/* Copies the first state to the card. */
static saddle_status put_state(engine *e, saddle_error *error)
{
    const saddle_local *local = &e->local;
    const saddle_card_plan *c = &e->plan;
    size_t bytes = c->agents * c->stride * sizeof(double);
    size_t kept_bytes = c->agents * c->kept_stride * sizeof(double);
    const saddle_card_state state = {.clock = {local->iteration, local->iteration},
                                     .stop_at = UINT64_MAX};
    for (int parity = 0; parity < 2; parity++)
        e->module->pin(e->card, local->span[parity], bytes);
    e->module->pin(e->card, local->kept, kept_bytes);
    return e->module->put(e->card, c->span[local->parity], local->span[local->parity], bytes) &&
                   e->module->put(e->card, c->kept, local->kept, kept_bytes) &&
                   e->module->put(e->card, c->state, &state, sizeof state)
               ? SADDLE_OK
               : fail(e, error);
}

static saddle_status count_samples(engine *e, saddle_error *error)
{
    size_t agents = e->local.agents;
    e->counts = saddle_alloc(2 * agents, sizeof *e->counts);
    SADDLE_TRY(saddle_check_memory(e->counts, "the engine", error));
    for (size_t i = 0; i < agents; i++) {
        size_t samples = e->local.agent[i].problem->samples[e->local.agent[i].id];
        e->counts[i] = saddle_batch_size(samples, e->plan.steps.batch);
        e->counts[agents + i] = samples;
    }
    return SADDLE_OK;
}

static saddle_status make(engine *e, const saddle_engine_inputs *inputs, saddle_error *error)
{
    saddle_device_steps steps;
    saddle_device_problem problem;
    SADDLE_TRY(saddle_local_make(&e->local, inputs, saddle_processors(1), error));
    SADDLE_TRY(saddle_card_describe(&e->local, &steps, &problem, error));
    SADDLE_TRY(find_module(e, error));
    const saddle_card_inputs in = {e->module, e->card, &e->local, &steps, &problem};
    SADDLE_TRY(saddle_card_prepare(&e->plan, &in, error));
    for (size_t i = 0; i < e->local.agents; i++) {
        e->plain_ifo += ifo_of(e, i, false);
        e->refresh_ifo += ifo_of(e, i, true);
    }
    e->numbers = saddle_alloc_doubles(2 * e->local.agents);
    SADDLE_TRY(saddle_check_memory(e->numbers, "the engine", error));
    if (steps.scheduled) {
        e->spent = saddle_alloc(e->local.agents, sizeof *e->spent);
        SADDLE_TRY(saddle_check_memory(e->spent, "the engine", error));
    }
    if (e->plan.answers)
        SADDLE_TRY(count_samples(e, error));
    saddle_local_start(&e->local);
    return put_state(e, error);
}

static saddle_status create_as(const saddle_engine_class *kind, saddle_engine **out,
                               const saddle_engine_inputs *inputs, saddle_error *error)
{
    *out = NULL;
    engine *e = saddle_alloc(1, sizeof *e);
    SADDLE_TRY(saddle_check_memory(e, "the engine", error));
    e->local.base.kind = kind;
    saddle_status status = make(e, inputs, error);
    if (status != SADDLE_OK) {
        destroy(&e->local.base);
        return status;
    }
    *out = &e->local.base;
    return SADDLE_OK;
}

static saddle_status create(saddle_engine **out, const saddle_engine_inputs *inputs,
                            saddle_error *error)
{
    return create_as(&saddle_cuda_engine, out, inputs, error);
}

static saddle_status create_on_host(saddle_engine **out, const saddle_engine_inputs *inputs,
                                    saddle_error *error)
{
    return create_as(&saddle_cuda_host_engine, out, inputs, error);
}

static double bytes_of(const saddle_engine_inputs *inputs)
{
    return saddle_local_bytes(inputs, saddle_processors(1));
}

/* ---- advancing ------------------------------------------------------------------------------- */

static bool refreshes_at(const engine *e, uint64_t iteration)
{
    return (iteration + 1) % e->plan.steps.q == 0;
}

static bool out_of_time(const saddle_limits *limits)
{
    if (limits->interrupt != NULL && *limits->interrupt != 0)
        return true;
    return limits->deadline > 0.0 && saddle_clock_seconds() >= limits->deadline;
}

/* Returns the iterations after which the IFO calls of scheduled refreshes have to be looked at. */
static uint64_t safe_iterations(const engine *e, const saddle_limits *limits)
{
    uint64_t most = e->refresh_ifo > e->plain_ifo ? e->refresh_ifo : e->plain_ifo;
    if (e->spent == NULL || limits->max_ifo == 0)
        return UINT64_MAX;
    uint64_t left = limits->max_ifo > e->local.ifo ? limits->max_ifo - e->local.ifo : 0;
    return left / most > 1 ? left / most : 1;
}

/* Lets the problem compute the gradients that the agents need after a move. */
static void request(const engine *e, uint64_t iteration, unsigned parity)
{
    const saddle_card_plan *c = &e->plan;
    const saddle_problem *problem = e->local.inputs.instance->problem;
    bool all = refreshes_at(e, iteration);
    size_t slot = iteration % (2 * SADDLE_CARD_WINDOW) * c->agents * c->batch_stride;
    const saddle_card_requests requests = {
        .stream = e->module->stream(e->card),
        .count = all ? e->counts + c->agents : e->counts,
        .sample = all ? NULL : c->batch + slot,
        .sample_stride = c->batch_stride,
        .points = c->steps.recursive && !all ? 2 : 1,
        .point = {c->span[1 - parity], c->span[parity]},
        .stride = c->stride,
        .gradient = {c->answer, c->answer + c->agents * ((size_t)c->x_dim + c->y_dim)}};
    problem->card_gradients(problem, &requests);
}

/* Does what module->begin() does, with the problem's gradients. */
static bool begin_answered(const engine *e, uint64_t first, unsigned parity, uint64_t count)
{
    const saddle_card_module *module = e->module;
    for (uint64_t t = first; t < first + count; t++, parity = 1 - parity) {
        bool refreshes = refreshes_at(e, t);
        if (!module->move(e->card, &e->plan, t, parity, refreshes))
            return false;
        request(e, t, parity);
        if (!module->follow(e->card, &e->plan, t, parity, refreshes))
            return false;
    }
    return true;
}

/* Begins iterations until a limit, and sets *ended, or until IFO calls have to be looked at; returns the last one. */
static uint64_t begin(engine *e, const saddle_limits *limits, uint64_t end, bool *ended,
                      bool *failed)
{
    const saddle_local *local = &e->local;
    uint64_t iteration = local->iteration;
    uint64_t safe = safe_iterations(e, limits);
    uint64_t last = safe < end - iteration ? iteration + safe : end;
    uint64_t ifo = local->ifo;
    uint64_t stretch = e->counts != NULL ? 1 : STRETCH;
    *ended = iteration >= end;
    while (!*ended && !*failed && iteration < last) {
        uint64_t first = iteration;
        while (!*ended && iteration < last && iteration - first < stretch) {
            ifo += refreshes_at(e, iteration) ? e->refresh_ifo : e->plain_ifo;
            iteration++;
            *ended = iteration >= end ||
                     (e->spent == NULL && limits->max_ifo > 0 && ifo >= limits->max_ifo);
        }
        unsigned parity = (unsigned)((first - local->iteration) % 2) ^ local->parity;
        *failed = e->counts != NULL
                      ? !begin_answered(e, first, parity, iteration - first)
                      : !e->module->begin(e->card, &e->plan, first, parity, iteration - first);
        *ended = *ended || out_of_time(limits);
    }
    return iteration;
}

/* Counts the IFO calls of all agents in the iterations from `first` on; returns false if a copy failed. */
static bool count_ifo(engine *e, uint64_t first, uint64_t last)
{
    uint64_t refreshes = last / e->plan.steps.q - first / e->plan.steps.q;
    uint64_t *now = (uint64_t *)(void *)e->numbers;
    if (e->spent != NULL &&
        !e->module->get(e->card, now, e->plan.spent, e->local.agents * sizeof *now))
        return false;
    for (size_t i = 0; i < e->local.agents; i++) {
        e->local.agent[i].ifo +=
            e->spent != NULL
                ? now[i] - e->spent[i]
                : refreshes * ifo_of(e, i, true) + (last - first - refreshes) * ifo_of(e, i, false);
    }
    if (e->spent != NULL)
        memcpy(e->spent, now, e->local.agents * sizeof *now);
    e->local.ifo = saddle_local_ifo(&e->local);
    return true;
}

/* Copies the state from the card. */
static void fetch(engine *e)
{
    const saddle_local *local = &e->local;
    const saddle_card_plan *c = &e->plan;
    size_t bytes = c->agents * c->stride * sizeof(double);
    if (!e->behind)
        return;
    e->behind = false;
    if (!e->module->get(e->card, local->span[local->parity], c->span[local->parity], bytes) ||
        !e->module->get(e->card, local->kept, c->kept, c->agents * c->kept_stride * sizeof(double)))
        saddle_snprintf(e->failure, sizeof e->failure, "%s", e->module->error(e->card));
}

/* Finds the value that is not finite in the state that the last iteration computed: the algorithm looks for it, as
 * it does after sums that are not finite. */
static void find_fault(engine *e, saddle_fault *fault)
{
    const double nan[SADDLE_BLOCK_SUMS] = {(double)NAN, (double)NAN};
    saddle_local *local = &e->local;
    const saddle_phase *phases = local->inputs.algorithm->phases;
    fetch(e);
    for (size_t i = 0; i < local->agents && fault->kind == SADDLE_FAULT_NONE; i++) {
        saddle_agent *agent =
            saddle_local_lend(local, 0, i, 1 - local->parity, local->iteration - 1);
        if (e->spent != NULL)
            agent->request.variance =
                agent->kept[e->plan.x_dim + e->plan.y_dim + 1 + SADDLE_SCHEDULE_SIGMA2];
        for (const saddle_phase *phase = phases; phase->name != NULL; phase++)
            if (phase->after != NULL)
                phase->after(agent, nan, nan);
        *fault = agent->fault;
    }
    /* It may have changed the state. */
    e->behind = true;
    fetch(e);
}

/* Does iterations until a limit, a fault, or IFO calls have to be looked at; returns whether there is more to do. */
static bool advance_some(engine *e, const saddle_limits *limits, uint64_t end, saddle_fault *fault)
{
    saddle_local *local = &e->local;
    bool failed = e->failure[0] != '\0';
    bool ended;
    uint64_t first = local->iteration;
    uint64_t last = begin(e, limits, end, &ended, &failed);
    saddle_card_state state;
    failed = !e->module->wait(e->card, &e->plan, &state) || failed;
    bool stopped = !failed && state.stop_at <= last;
    last = stopped ? state.stop_at : last;
    failed = failed || !count_ifo(e, first, last);
    if (failed) {
        const char *why = e->failure[0] != '\0' ? e->failure : e->module->error(e->card);
        *fault = (saddle_fault){.kind = SADDLE_FAULT_DEVICE, .iteration = first};
        saddle_snprintf(fault->variable, sizeof fault->variable, "%s", why);
        return false;
    }
    local->iteration = last;
    local->parity ^= (unsigned)((last - first) % 2);
    e->behind = e->behind || last > first;
    if (stopped)
        find_fault(e, fault);
    return !stopped && !ended && (limits->max_ifo == 0 || local->ifo < limits->max_ifo);
}

static void advance(saddle_engine *base, const saddle_limits *limits, saddle_fault *fault)
{
    engine *e = engine_of(base);
    saddle_local *local = &e->local;
    uint64_t first = local->iteration;
    uint64_t end =
        limits->iterations < UINT64_MAX - first ? first + limits->iterations : UINT64_MAX;
    while (advance_some(e, limits, end, fault)) {
    }
    for (size_t i = 0; i < local->agents; i++)
        saddle_local_lend(local, 0, i, local->parity, local->iteration);
}

/* ---- the functions that read the state ------------------------------------------------------- */

/* Measures `count` numbers; returns false if a copy failed. */
static bool take(engine *e, saddle_card_measure what, size_t count, double *out)
{
    const saddle_card_plan *c = &e->plan;
    what.parity = e->local.parity;
    return e->failure[0] == '\0' && e->module->measure(e->card, c, &what) &&
           e->module->get(e->card, out, c->result, count * sizeof *out);
}

/* Computes means over agents of squared norms of two pieces, or of their sums. */
static bool take_norms(engine *e, saddle_card_piece x, saddle_card_piece y, bool together,
                       double *out)
{
    size_t agents = e->plan.agents;
    const double *first = e->numbers;
    double sums[2] = {0.0, 0.0};
    if (!take(e, (saddle_card_measure){.kind = SADDLE_CARD_NORMS, .piece = {x, y}}, 2 * agents,
              e->numbers))
        return false;
    for (size_t i = 0; i < agents; i++) {
        sums[0] = saddle_add(sums[0], together ? first[i] + first[agents + i] : first[i]);
        sums[1] = saddle_add(sums[1], first[agents + i]);
    }
    for (int k = 0; k < (together ? 1 : 2); k++)
        out[k] = saddle_multiply(sums[k], 1.0 / (double)agents);
    return true;
}

static bool measure_field(engine *e, const saddle_measurement *what, double *out)
{
    const saddle_field *f = what->field;
    uint32_t count = (uint32_t)f->length;
    const saddle_card_piece sum = {.at = f->offset, .count = count};
    const saddle_card_piece kept = {.kept = true, .at = f->estimate, .count = count};
    return what->kind == SADDLE_MEASURE_SUM
               ? take(e,
                      (saddle_card_measure){.kind = SADDLE_CARD_MEAN,
                                            .piece = {sum},
                                            .tracks = true,
                                            .estimate = f->estimate,
                                            .shift = f->shift,
                                            .shifted = f->shift_offset},
                      count, out)
               : take_norms(e, sum, kept, true, out);
}

static bool measure(saddle_engine *base, const saddle_measurement *what, double *out)
{
    engine *e = engine_of(base);
    const saddle_card_plan *c = &e->plan;
    const saddle_device_set *x_set = &c->steps.x;
    const saddle_device_set *y_set = &c->steps.y;
    uint32_t both = c->x_dim + c->y_dim;
    saddle_card_piece x = {.count = c->x_dim, .lower = x_set->lower, .upper = x_set->upper};
    saddle_card_piece y = {
        .at = c->x_dim, .count = c->y_dim, .lower = y_set->lower, .upper = y_set->upper};
    saddle_card_measure of_all = {.kind = SADDLE_CARD_MEAN, .piece = {{.count = both}}};
    switch (what->kind) {
    case SADDLE_MEASURE_ITERATES:
        of_all.at_point = true;
        return take(e, of_all, both, out);
    case SADDLE_MEASURE_SURVEY:
        if (c->answers)
            return false;
        of_all.kind = SADDLE_CARD_SURVEY;
        of_all.piece[0].count = both = c->auc ? c->columns : both;
        out[both] = 0.0;
        return take(e, of_all, both, out);
    case SADDLE_MEASURE_DISTANCE:
        x.minus = c->point;
        y.minus = c->point + c->x_dim;
        return take_norms(e, x, y, false, out);
    case SADDLE_MEASURE_SIZE:
        return take_norms(e, x, y, true, out);
    case SADDLE_MEASURE_OUTSIDE:
        x.outside = y.outside = true;
        return x_set->shape == SADDLE_DEVICE_BOX && y_set->shape == SADDLE_DEVICE_BOX &&
               take_norms(e, x, y, true, out);
    default:
        return measure_field(e, what, out);
    }
}

static void for_each(saddle_engine *base, saddle_agent_task *task, void *context)
{
    fetch(engine_of(base));
    saddle_local_for_each(base, task, context);
}

static void mean(saddle_engine *base, size_t size, saddle_agent_term *term, void *context,
                 double *out)
{
    fetch(engine_of(base));
    saddle_local_mean(base, size, term, context, out);
}

#define FUNCTIONS                                                                                  \
    .bytes = bytes_of, .destroy = destroy, .advance = advance, .for_each = for_each, .mean = mean, \
    .iteration = saddle_local_iteration, .cost = saddle_local_cost, .defect = saddle_local_defect, \
    .level = saddle_local_level, .save_links = saddle_local_save_links, .measure = measure,        \
    .membership = saddle_local_membership, .dead_direction = saddle_local_dead_direction

const saddle_engine_class saddle_cuda_engine = {
    .name = "cuda",
    .summary = "all agents on one graphics card of NVIDIA",
    .module = {.name = "cuda",
               .user = "--engine: cuda",
               .other = ", or use threads",
               .needs = "CUDA 13 with its nvcc",
               .unpackaged = true},
    .create = create,
    FUNCTIONS,
};

const saddle_engine_class saddle_cuda_host_engine = {
    .name = "cuda-host",
    .summary = "what cuda does, as loops on one processor: for tests",
    .create = create_on_host,
    FUNCTIONS,
};
