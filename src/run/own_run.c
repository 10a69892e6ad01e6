/* A run in which this process knows only its own agent: no global sums after set-up. */
#include "algorithms/layout.h"
#include "core/clock.h"
#include "core/float_mode.h"
#include "core/vector.h"
#include "core/world.h"
#include "engines/link_state.h"
#include "files/file.h"
#include "run/result.h"
#include "run/run.h"

/* The rows of a trace whose distance is automatic. */
#define ROWS 200
/* Rounding error allowed in running sums, relative to the largest size of a sum and its estimate in the run. */
#define SUMS_AGREE 1e-9

typedef struct own_run {
    saddle_run_state r;
    const saddle_own_outputs *outputs;
    saddle_lines trace; /* no stream: none */
    bool unheard;       /* no message of a neighbour has come since the state was restored */
    bool recorded;      /* the trace has the row of the state that was restored */
    double size;        /* the largest of a sum and its estimate so far */
    double
        defect; /* by how much they differ, relative to it, together with what was sent and received */
    saddle_own_row row;
} own_run;

/* Finds where a variable is in what an agent publishes; false if it is elsewhere. */
static bool find(const saddle_agent *agent, const double *variable, size_t length, size_t *offset)
{
    uintptr_t first = (uintptr_t)agent->now;
    *offset = ((uintptr_t)variable - first) / sizeof *variable;
    return (uintptr_t)variable >= first && *offset + length <= agent->layout->published;
}

/* Returns the agent's distance from its neighbours; NaN if it does not send x and y. */
static double distance_of(const own_run *o, const saddle_agent *agent, const saddle_view *view)
{
    /* Compressed messages are added up in a replica, which follows the span. */
    bool compressed = o->r.info.instance->compression != NULL;
    size_t behind = compressed ? saddle_whole_lines(agent->layout->published) : 0;
    size_t x_dim = agent->problem->x_dim;
    size_t y_dim = agent->problem->y_dim;
    size_t x;
    size_t y;
    double sum = 0.0;
    if (!find(agent, view->x, x_dim, &x) || !find(agent, view->y, y_dim, &y))
        return (double)NAN;
    for (size_t k = 0; k < agent->degree; k++)
        sum += saddle_distance2(x_dim, view->x, agent->neighbour[k] + behind + x) +
               saddle_distance2(y_dim, view->y, agent->neighbour[k] + behind + y);
    return agent->degree > 0 ? sum / (double)agent->degree : 0.0;
}

/* Measures whether the agent's part of the trackers is conserved, if its links have running sums. */
static void measure_sums(own_run *o, const saddle_agent *agent)
{
    const saddle_engine *engine = o->r.engine;
    const saddle_layout *layout = agent->layout;
    double most = 0.0;
    double size = 0.0;
    for (size_t f = 0; f < layout->fields; f++) {
        const saddle_field *field = &layout->field[f];
        double sum;
        double weight;
        if (field->kind != SADDLE_FIELD_SUM)
            continue;
        engine->kind->defect(engine, agent, field, &sum, &weight);
        size += saddle_norm2(field->length, agent->now + field->offset);
        for (size_t k = 0; k < field->length; k++)
            size += pow(saddle_field_estimate(field, agent, k), 2);
        /* The weight is about 1. What is not a number stays. */
        if (!(weight <= o->defect))
            o->defect = weight;
        if (!(sum <= most))
            most = sum;
    }
    o->size = fmax(o->size, sqrt(size * (double)agent->agents));
    if (!(most <= o->defect * o->size))
        o->defect = most / o->size;
}

/* Measures the agent: an engine's task. */
static void measure(void *context, saddle_agent *agent)
{
    own_run *o = context;
    saddle_view view;
    saddle_agent_view(o->r.info.algorithm, agent, &view);
    o->row.loss = saddle_problem_value(agent->problem, agent->id, view.x, view.y, agent->scratch);
    o->row.distance = o->unheard ? (double)NAN : distance_of(o, agent, &view);
    if (saddle_link_state_has_maps(o->r.info.instance))
        measure_sums(o, agent);
}

/* Warns if the agent stays where it is although the iterations are over: an engine's task. */
static void warn_of_stall(void *context, saddle_agent *agent)
{
    own_run *o = context;
    char remedy[sizeof o->r.result->remedy] = "";
    saddle_stop why = saddle_run_find_own_stall(&o->r, agent, remedy, sizeof remedy);
    if (why != SADDLE_STOP_ITERATIONS)
        saddle_run_warn(&o->r, "at this agent %s%s; %s: agree on it with all owners",
                        why == SADDLE_STOP_STALLED ? "the run " : "", saddle_stop_text(why),
                        remedy[0] != '\0' ? remedy : "try shorter steps");
}

/* Copies the agent's x and y to the result: an engine's task. */
static void keep(void *context, saddle_agent *agent)
{
    own_run *o = context;
    saddle_result *result = o->r.result;
    saddle_view view;
    saddle_agent_view(o->r.info.algorithm, agent, &view);
    memcpy(result->x, view.x, result->x_dim * sizeof *view.x);
    memcpy(result->y, view.y, result->y_dim * sizeof *view.y);
}

/* Shows a row. */
static void show(own_run *o)
{
    const saddle_engine_class *engine = o->r.engine->kind;
    o->row.iteration = engine->iteration(o->r.engine);
    engine->for_each(o->r.engine, measure, o);
    if (o->outputs->row != NULL)
        o->outputs->row(o->outputs->context, &o->row);
}

/* Records a row. A trace that cannot be written does not end the run: that is reported once. */
static void record(own_run *o)
{
    saddle_error error = {.message = ""};
    show(o);
    if (o->trace.stream == NULL)
        return;
    saddle_fprintf(o->trace.stream, "%llu,%.3f,%.17g,%.17g\n", (unsigned long long)o->row.iteration,
                   o->row.seconds, o->row.loss, o->row.distance);
    if (saddle_lines_flush(&o->trace, "the trace", &error) != SADDLE_OK)
        saddle_run_warn(&o->r, "%s", error.message);
}

/* Returns the bytes of a trace's lines up to those of an iteration, and takes the seconds of the last; 0 if there is no
 * trace. */
static size_t rows_until(own_run *o, uint64_t iteration)
{
    char line[256];
    size_t bytes = 0;
    FILE *f = fopen(o->outputs->trace, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL && strchr(line, '\n') != NULL) {
        size_t digits = strcspn(line, ",");
        uint64_t at;
        if (line[digits] == ',' && saddle_parse_integer_in(line, digits, &at)) {
            if (at > iteration)
                break;
            char *seconds = line + digits + 1;
            seconds[strcspn(seconds, ",\n")] = '\0';
            saddle_parse_real(seconds, &o->row.seconds);
            o->recorded = at == iteration;
        }
        bytes = (size_t)ftello(f);
    }
    if (f != NULL)
        fclose(f);
    return bytes;
}

static saddle_status open_trace(own_run *o, saddle_error *error)
{
    uint64_t iteration = o->r.engine->kind->iteration(o->r.engine);
    if (o->outputs->trace == NULL)
        return SADDLE_OK;
    size_t kept = iteration > 0 ? rows_until(o, iteration) : 0;
    SADDLE_TRY(saddle_lines_open(&o->trace, o->outputs->trace, "trace", kept > 0, error));
    if (kept > 0)
        return saddle_lines_cut(&o->trace, kept, "the trace", error);
    const saddle_world *world = o->r.info.instance->world;
    saddle_fprintf(o->trace.stream, "# saddle %s: agent %zu of %zu, algorithm %s\n",
                   saddle_version(), world->here[0], world->agents, o->r.info.algorithm->name);
    fputs("iteration,seconds,loss,distance\n", o->trace.stream);
    return SADDLE_OK;
}

static saddle_status iterate(own_run *o, saddle_error *error)
{
    const saddle_world *world = o->r.info.instance->world;
    uint64_t last = o->r.given.limits.iterations;
    uint64_t every = o->outputs->every;
    if (every == 0)
        every = last > ROWS ? last / ROWS : 1;
    uint64_t first = o->r.engine->kind->iteration(o->r.engine);
    o->unheard = first > 0;
    if ((first % every == 0 || first == last) && !o->recorded)
        record(o);
    else
        show(o);
    o->unheard = false;
    for (uint64_t done = first; done < last; done = o->r.engine->kind->iteration(o->r.engine)) {
        saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
        double begin = saddle_clock_seconds();
        uint64_t left = every - done % every;
        const saddle_limits limits = {.iterations = left < last - done ? left : last - done};
        o->r.engine->kind->advance(o->r.engine, &limits, &fault);
        o->row.seconds += saddle_clock_seconds() - begin;
        SADDLE_TRY(saddle_world_check(world, error));
        if (fault.kind != SADDLE_FAULT_NONE)
            return saddle_fail(error, SADDLE_NUMERIC,
                               "diverged at iteration %llu: %s[%zu] of agent %zu is %g; agree on "
                               "smaller steps",
                               (unsigned long long)fault.iteration, fault.variable, fault.index,
                               fault.agent, fault.value);
        record(o);
        if (!(o->defect <= SUMS_AGREE))
            return saddle_fail(error, SADDLE_CHECK_FAILED,
                               "self-check at iteration %llu: this agent's part of the trackers, "
                               "together with what it sent and received, differs from its "
                               "estimates by %.3g of their size; please report this",
                               (unsigned long long)o->row.iteration, o->defect);
    }
    return SADDLE_OK;
}

/* Writes the model; the run has a row only so that the model knows its iteration. */
static saddle_status save(own_run *o, saddle_error *error)
{
    const saddle_row row = {.iteration = o->row.iteration};
    const char *const path[] = {o->outputs->model, o->outputs->copy};
    o->r.engine->kind->for_each(o->r.engine, warn_of_stall, o);
    o->r.engine->kind->for_each(o->r.engine, keep, o);
    SADDLE_TRY(saddle_result_append(o->r.result, &row, o->r.outcome, error));
    for (size_t k = 0; k < sizeof path / sizeof *path; k++)
        if (path[k] != NULL)
            SADDLE_TRY(saddle_result_save_own(o->r.result, path[k], error));
    return SADDLE_OK;
}

saddle_status saddle_run_own(const saddle_instance *instance, const saddle_plan *plan,
                             const saddle_own_outputs *outputs, saddle_warning *warning,
                             void *context, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    const saddle_hooks hooks = {.context = context, .warning = warning};
    own_run o = {.outputs = outputs};
    o.r =
        (saddle_run_state){.info = {.network = instance, .instance = instance, .given = &o.r.given},
                           .hooks = &hooks,
                           .begin = saddle_clock_seconds(),
                           .alone = true};
    saddle_status status = saddle_run_take_plan(&o.r, plan, error);
    status = saddle_run_agree(&o.r, status, error);
    SADDLE_THEN(status, saddle_run_prepare(&o.r, error));
    SADDLE_THEN(status, saddle_run_agree(&o.r, open_trace(&o, error), error));
    SADDLE_THEN(status, iterate(&o, error));
    SADDLE_THEN(status, save(&o, error));
    saddle_status closed =
        saddle_lines_close(&o.trace, "the trace", status == SADDLE_OK ? error : NULL);
    saddle_result_free(o.r.result);
    saddle_run_release(&o.r);
    return status == SADDLE_OK ? closed : status;
}
