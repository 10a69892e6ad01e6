/* One run: an algorithm on an experiment, from configuration to result. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint.h"
#include "core/available.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/settings.h"
#include "core/status.h"
#include "core/vector.h"
#include "instance/experiment.h"
#include "instance/run_options.h"
#include "observe/observer.h"
#include "observe/outcomes.h"
#include "observe/trace.h"
#include "run/result.h"

/* Seconds between two calls of the progress hook. */
#define PROGRESS_SECONDS 0.2
/* Trace points of a run when the user does not say. */
#define DEFAULT_POINTS 200
/* Iterations between two self-checks; they cost about as much as one iteration. */
#define CHECK_EVERY 64
/* A metric so many times that of the start, or 1, that still grows from each of so many trace points to
 * the next will not come back. It is a sum of squares: the iterates are a million times off. */
#define RUNAWAY 1e12
#define RUNAWAY_POINTS 4

/* A run at work. */
typedef struct run {
    saddle_experiment *experiment;
    const saddle_settings *settings;
    const saddle_hooks *hooks; /* never NULL */
    const saddle_algorithm *algorithm;
    saddle_scene scene; /* the network, or one agent in its place */
    void *parameters;
    saddle_engine *engine;
    saddle_observer *observer;
    saddle_trace_writer *trace;
    saddle_outcome_file *outcomes;
    saddle_result *result;
    saddle_steps steps;
    uint64_t iterations;
    uint64_t trace_every;
    uint64_t trace_ifo; /* a trace point every so many IFO calls, too; 0: no */
    uint64_t last_check;
    saddle_resumption resumed;         /* where the run goes on from */
    saddle_checkpoint_context context; /* what its checkpoints are tied to */
    saddle_checkpoint_writer *writer;  /* NULL: no checkpoints */
    saddle_row row;     /* the last one; after advance() that of the present iteration */
    double seconds;     /* spent iterating, as all processes know */
    double unshared;    /* more of them, which only this process knows */
    bool interrupted;   /* whether a process was, as all know */
    double *suspicious; /* PLACE numbers per agent, while a divergence is looked into */
} run;

/* Whether this process writes the files. */
static bool writes(const run *r)
{
    return r->scene.world->rank == 0;
}

/* Learn how a step went in all processes. */
static saddle_status agree(const run *r, saddle_status status, saddle_error *error)
{
    return saddle_world_agree(r->experiment->world, status, error);
}

static void warn(const run *r, const char *message)
{
    if (r->hooks->warning != NULL)
        r->hooks->warning(r->hooks->context, message);
}

/* Whether the algorithm reads an option. */
static bool uses_option(const run *r, const char *name)
{
    for (const saddle_option *const *option = r->algorithm->options; *option != NULL; option++)
        if (strcmp((*option)->name, name) == 0)
            return true;
    return false;
}

/* ---- effective settings -------------------------------------------------------------------- */

/* A problem's local size, or 0 where agents have different ones. */
static double common_samples(const saddle_problem *problem)
{
    for (size_t i = 1; i < problem->agents; i++)
        if (problem->samples[i] != problem->samples[0])
            return 0.0;
    return (double)problem->samples[0];
}

/* n, and |S| of the agents that run, where they are the same at all agents. */
static saddle_status set_samples(const run *r, saddle_settings *settings, saddle_error *error)
{
    double n = common_samples(r->experiment->problem);
    double pool = common_samples(r->scene.problem);
    saddle_status status = SADDLE_OK;
    if (n > 0.0)
        status = saddle_settings_fill(settings, "samples", n, error);
    if (status == SADDLE_OK && pool > 0.0)
        status = saddle_settings_fill(settings, "batch", ceil(sqrt(pool)), error);
    return status;
}

/* The settings that matter to this run, without "auto" where there is a value for it. */
static saddle_status make_effective(run *r, saddle_error *error)
{
    const saddle_experiment *e = r->experiment;
    const saddle_problem_class *kind = e->kind;
    const saddle_option *const *tables[3] = {saddle_run_options(), r->algorithm->options,
                                             kind != NULL ? kind->options : NULL};
    saddle_settings **out = &r->result->settings;
    saddle_status status = saddle_settings_build(out, (const saddle_option *const *const *)tables,
                                                 kind != NULL ? 3 : 2, error);
    for (size_t k = 0; status == SADDLE_OK && k < saddle_settings_count(*out); k++) {
        const char *name = saddle_settings_option(*out, k)->name;
        const saddle_settings *from =
            saddle_experiment_shaped_by(e, name) ? e->settings : r->settings;
        status = saddle_settings_set(*out, name, saddle_settings_text(from, name), error);
    }
    if (status == SADDLE_OK && e->own_problem == NULL)
        status = saddle_settings_set(*out, "problem", e->problem->name, error);
    /* It leaves no mark on what comes out. */
    if (status == SADDLE_OK)
        status = saddle_settings_set(*out, "resume", "", error);
    /* First: what an algorithm has its own rule for is not filled in by the general ones below. */
    if (status == SADDLE_OK && r->algorithm->resolve != NULL)
        status = r->algorithm->resolve(r->parameters, *out, error);
    const struct {
        const char *name;
        double value;
    } real[] = {{"nu", r->steps.nu},
                {"eta", r->steps.eta},
                {"tau", r->steps.tau},
                {"alpha", r->steps.alpha},
                {"metric-tau", r->steps.tau},
                {"q", (double)r->steps.q},
                {"agents", (double)e->problem->agents},
                {"trace-every", (double)r->trace_every}};
    for (size_t k = 0; status == SADDLE_OK && k < sizeof real / sizeof *real; k++)
        status = saddle_settings_fill(*out, real[k].name, real[k].value, error);
    if (status == SADDLE_OK)
        status = set_samples(r, *out, error);
    const char *init = e->problem->start != NULL ? "auto" : SADDLE_DEFAULT_INIT;
    if (!saddle_settings_auto(e->settings, "init"))
        init = saddle_settings_text(e->settings, "init");
    const char *const text[][2] = {{"x-set", saddle_set_text(e->x_set)},
                                   {"y-set", saddle_set_text(e->y_set)},
                                   {"init", init},
                                   {"init-x", init},
                                   {"init-y", init}};
    for (size_t k = 0; status == SADDLE_OK && k < sizeof text / sizeof *text; k++)
        if (saddle_settings_auto(*out, text[k][0]))
            status = saddle_settings_set(*out, text[k][0], text[k][1], error);
    if (status == SADDLE_OK && e->own_problem != NULL && e->problem->resolve != NULL)
        status = e->problem->resolve(e->problem, *out, error);
    return status;
}

/* ---- set-up -------------------------------------------------------------------------------- */

/* Whether every iterate is sure to be in X and in Y, and the bound on nu and eta that decides it.
 */
static bool look_at_steps(const run *r, double *bound, bool *x_safe, bool *y_safe)
{
    const saddle_experiment *e = r->experiment;
    bool always = r->algorithm->traits.feasible;
    *bound = saddle_mixing_min_self_weight(r->scene.mixing);
    /* Weights have 40 bits: that of a rule that says 1/10 may be a little less. */
    double allowed = *bound * (1.0 + 1e-11);
    *x_safe = always || r->steps.nu <= allowed || saddle_set_is_whole_space(e->x_set);
    *y_safe = always || r->steps.eta <= allowed || saddle_set_is_whole_space(e->y_set);
    return *x_safe && *y_safe;
}

/* Whether every iterate is sure to be in X and Y. Warns when the steps of the PRECISION family are
 * too long for its iterates to be convex combinations of feasible points. */
static bool stays_feasible(const run *r)
{
    double bound;
    bool x_safe;
    bool y_safe;
    if (look_at_steps(r, &bound, &x_safe, &y_safe))
        return true;
    const char *what = x_safe ? "eta is" : y_safe ? "nu is" : "nu and eta are";
    const char *where = x_safe ? "Y" : y_safe ? "X" : "X and Y";
    char message[256];
    snprintf(message, sizeof message,
             "%s above the smallest self-weight min_i M_ii = %.4g: iterates may leave %s", what,
             bound, where);
    warn(r, message);
    return false;
}

static saddle_status make_engine(run *r, saddle_error *error)
{
    saddle_experiment *e = r->experiment;
    saddle_engine_inputs inputs = {
        .world = r->scene.world,
        .problem = r->scene.problem,
        .mixing = r->scene.mixing,
        .x_prox = e->x_prox,
        .y_set = e->y_set,
        .algorithm = r->algorithm,
        .parameters = r->parameters,
        .x0 = e->x0,
        .y0 = e->y0,
        .seed = saddle_settings_integer(e->settings, "seed"),
        .threads = (unsigned)saddle_settings_integer(r->settings, "threads"),
        .scratch = saddle_observer_scratch(r->scene.problem, e->x_prox, e->y_set),
    };
    if (r->resumed.from != NULL) {
        inputs.iteration = r->resumed.from->number.iteration;
        inputs.restore = saddle_resume_agent;
        inputs.restore_context = &r->resumed;
    }
    double begin = saddle_clock_seconds();
    saddle_status status = e->engine->create(&r->engine, &inputs, error);
    r->unshared = saddle_clock_seconds() - begin;
    return status;
}

static saddle_status make_observer(run *r, saddle_error *error)
{
    saddle_experiment *e = r->experiment;
    saddle_observer_inputs inputs = {
        .engine = r->engine,
        .world = r->scene.world,
        .algorithm = r->algorithm,
        .problem = r->scene.problem,
        .mixing = r->scene.mixing,
        .x_prox = e->x_prox,
        .y_set = e->y_set,
        .steps = r->steps,
        .metric_tau = saddle_settings_real(r->result->settings, "metric-tau"),
        /* The potential is a statement about bounds, not about estimates. */
        .constants = uses_option(r, "nu") && !r->scene.constants.estimated
                         ? r->scene.constants
                         : (saddle_constants){.lipschitz = 0.0},
        .copies = r->scene.copies,
        .feasible = stays_feasible(r),
    };
    saddle_status status = saddle_observer_create(&r->observer, &inputs, error);
    if (status == SADDLE_OK && r->resumed.from != NULL)
        saddle_observer_recall(r->observer, r->resumed.memory);
    return status;
}

/* Refuse what the algorithm or the problem cannot do. */
static saddle_status check_traits(const run *r, saddle_error *error)
{
    const saddle_experiment *e = r->experiment;
    const saddle_algorithm *a = r->algorithm;
    if (*saddle_settings_text(r->settings, "outcomes") != '\0' && e->problem->outcomes == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT, "--outcomes: problem %s has none; leave it out",
                           e->problem->name);
    if (a->traits.centralized && e->world->ranks > 1)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s is centralized: it needs all data at one place, but they are in %zu "
                           "processes; use --engine threads",
                           a->name, e->world->ranks);
    if (!a->traits.x_set && !saddle_set_is_whole_space(e->x_set))
        return saddle_fail(
            error, SADDLE_UNSUPPORTED,
            "%s handles no constraint on x, but X is %s; give --x-set none or choose "
            "another algorithm",
            a->name, saddle_set_text(e->x_set));
    if (!a->traits.y_set && !saddle_set_is_whole_space(e->y_set))
        return saddle_fail(
            error, SADDLE_UNSUPPORTED,
            "%s handles no constraint on y, but Y is %s; give --y-set none or choose "
            "another algorithm",
            a->name, saddle_set_text(e->y_set));
    if (!a->traits.regularizer && !saddle_regularizer_is_zero(e->regularizer))
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "%s handles no nonsmooth regularizer, but h is %s; give --regularizer "
                           "none or choose another algorithm",
                           a->name, saddle_regularizer_text(e->regularizer));
    return SADDLE_OK;
}

static saddle_status configure(run *r, saddle_error *error)
{
    saddle_experiment *e = r->experiment;
    saddle_status status =
        saddle_algorithm_find(&r->algorithm, saddle_settings_text(r->settings, "algorithm"), error);
    if (status == SADDLE_OK)
        status = check_traits(r, error);
    if (status == SADDLE_OK)
        status = saddle_experiment_scene(e, r->algorithm->traits.centralized, &r->scene, error);
    if (status == SADDLE_OK)
        status = saddle_experiment_steps(e, r->settings, &r->steps, error);
    if (status != SADDLE_OK)
        return status;
    saddle_algorithm_inputs inputs = {.settings = r->settings,
                                      .problem = r->scene.problem,
                                      .mixing = r->scene.mixing,
                                      .x_prox = e->x_prox,
                                      .y_set = e->y_set,
                                      .steps = r->steps,
                                      .constants = r->scene.constants,
                                      .spectrum = r->scene.spectrum};
    return r->algorithm->configure(&r->parameters, &inputs, error);
}

/* Refuse a run whose agents cannot fit, before memory is taken for them, here or in another process. */
static saddle_status check_memory(const run *r, saddle_error *error)
{
    saddle_layout layout;
    r->algorithm->layout(r->parameters, r->scene.problem, &layout);
    const saddle_problem *problem = r->scene.problem;
    double state = 2.0 * (double)layout.published + (double)layout.kept;
    double copies = (double)problem->x_dim + (double)problem->y_dim;
    double bytes = 8.0 * (state + copies);
    size_t agents = r->scene.world->local;
    char what[96];
    snprintf(what, sizeof what, "the state of %zu agents, %.3g MB each,", agents, bytes / 1e6);
    return saddle_available_check((double)agents * bytes, r->scene.world->together, what, error);
}

/* All that comes before the agents are made. */
static saddle_status settle(run *r, saddle_error *error)
{
    r->iterations = saddle_settings_integer(r->settings, "iterations");
    r->trace_every = saddle_settings_integer(r->settings, "trace-every");
    if (r->resumed.from != NULL) {
        if (r->trace_every == 0)
            r->trace_every = saddle_resume_trace_every(&r->resumed);
        r->trace_ifo = r->resumed.from->number.trace_ifo;
    } else if (r->trace_every == 0) {
        uint64_t max_ifo = saddle_settings_integer(r->settings, "max-ifo");
        r->trace_every = r->iterations / DEFAULT_POINTS > 0 ? r->iterations / DEFAULT_POINTS : 1;
        /* The budget may end the run long before its iterations would. */
        r->trace_ifo = max_ifo / DEFAULT_POINTS;
    }
    saddle_status status = configure(r, error);
    if (status == SADDLE_OK)
        status = check_memory(r, error);
    if (status == SADDLE_OK)
        status = saddle_result_create(&r->result, r->scene.world, r->scene.problem, error);
    if (status == SADDLE_OK)
        r->result->features = saddle_experiment_features(r->experiment);
    if (status == SADDLE_OK)
        status = make_effective(r, error);
    return status;
}

/* ---- several processes ---------------------------------------------------------------------- */

/* Tell each other the time spent and whether anybody was interrupted, so that all processes decide
 * alike. */
static void confer(run *r)
{
    const saddle_world *world = r->scene.world;
    bool told = r->hooks->interrupt != NULL && *r->hooks->interrupt != 0;
    double news[] = {told ? 1.0 : 0.0, r->unshared};
    world->largest(world, sizeof news / sizeof *news, news);
    r->interrupted = news[0] > 0.0;
    r->seconds += news[1];
    r->unshared = 0.0;
}

/* ---- measuring ------------------------------------------------------------------------------ */

/* The variables that a divergence may show in. */
static const char *const variable_name[] = {"x", "y", "v (x-gradient)", "u (y-gradient)"};
/* What is noted of an agent: which of them, which entry, its value. */
enum { VARIABLE, ENTRY, VALUE, PLACE };

/* Of a state whose loss is not finite, the agent's entry that is not, or else its largest: a loss
 * may overflow before the iterate does. */
static void locate_task(void *context, saddle_agent *agent)
{
    const run *r = context;
    const saddle_problem *problem = r->scene.problem;
    double *found = r->suspicious + agent->id * PLACE;
    saddle_view view;
    r->algorithm->view(agent, &view);
    const struct {
        const double *values;
        size_t count;
    } variable[] = {{view.x, problem->x_dim},
                    {view.y, problem->y_dim},
                    {view.v, problem->x_dim},
                    {view.u, problem->y_dim}};
    double most = -1.0;
    for (size_t k = 0; k < sizeof variable / sizeof *variable; k++)
        for (size_t c = 0; variable[k].values != NULL && c < variable[k].count; c++) {
            double size = fabs(variable[k].values[c]);
            /* Gradients are larger than iterates and say less about who runs away. */
            if (size <= most || (k >= 2 && isfinite(size)))
                continue;
            found[VARIABLE] = (double)k;
            found[ENTRY] = (double)c;
            found[VALUE] = variable[k].values[c];
            if (!isfinite(size))
                return;
            most = size;
        }
}

/* The first agent with an entry that is not finite, or else the one with the largest entry. */
static saddle_status locate(run *r, saddle_fault *fault, saddle_error *error)
{
    const saddle_world *world = r->scene.world;
    size_t worst = 0;
    r->suspicious = saddle_alloc(world->agents, PLACE * sizeof *r->suspicious);
    saddle_status status =
        r->suspicious != NULL ? SADDLE_OK : saddle_no_memory(error, "the search for what diverged");
    status = agree(r, status, error);
    if (r->suspicious != NULL && status == SADDLE_OK) {
        const double *found = r->suspicious;
        r->engine->kind->for_each(r->engine, locate_task, r);
        saddle_world_fill(world, PLACE, r->suspicious);
        for (size_t i = 1; i < world->agents && isfinite(found[worst * PLACE + VALUE]); i++)
            if (!(fabs(found[i * PLACE + VALUE]) <= fabs(found[worst * PLACE + VALUE])))
                worst = i;
        found += worst * PLACE;
        *fault = (saddle_fault){.kind = SADDLE_FAULT_NONFINITE,
                                .agent = worst,
                                .index = (size_t)found[ENTRY],
                                .iteration = r->engine->kind->iteration(r->engine),
                                .value = found[VALUE]};
        snprintf(fault->variable, sizeof fault->variable, "%s",
                 variable_name[(size_t)found[VARIABLE]]);
    }
    saddle_free(r->suspicious);
    r->suspicious = NULL;
    return status;
}

/* Measure into r->row. Sets *diverged when the metric or a loss is not finite. */
static saddle_status measure(run *r, bool *diverged, saddle_error *error)
{
    r->row = (saddle_row){.seconds = r->seconds};
    saddle_status status = saddle_observe(r->observer, &r->row, error);
    *diverged = !isfinite(r->row.metric) || !isfinite(r->row.loss) || !isfinite(r->row.primal);
    return status;
}

/* What the means are worth now, into the result. */
static saddle_status evaluate(run *r, saddle_error *error)
{
    const saddle_problem *problem = r->experiment->problem;
    const saddle_dataset *held_out = r->experiment->held_out;
    saddle_result *result = r->result;
    const double *x = saddle_observer_x_mean(r->observer);
    const double *y = saddle_observer_y_mean(r->observer);
    if (problem->outcomes == NULL)
        return SADDLE_OK;
    saddle_status status =
        problem->outcomes(problem, NULL, x, y, result->train, &result->train_count, error);
    if (status == SADDLE_OK && held_out != NULL)
        status =
            problem->outcomes(problem, held_out, x, y, result->test, &result->test_count, error);
    return status;
}

/* A file that cannot be written does not end a run: its result can still be had. */
static saddle_status lose(run *r, saddle_status status, const saddle_error *reason)
{
    saddle_error *loss = &r->result->loss;
    char message[sizeof reason->message + 64];
    if (status != SADDLE_IO)
        return status;
    if (loss->status == SADDLE_OK)
        *loss = *reason;
    snprintf(message, sizeof message, "%s; the run goes on without", reason->message);
    warn(r, message);
    return SADDLE_OK;
}

/* Write r->row, and what the means are worth, to the files. */
static saddle_status write_row(run *r, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    saddle_error reason = {.message = ""};
    if (r->trace != NULL)
        status = lose(r, saddle_trace_write(r->trace, &r->row, &reason), &reason);
    if (status == SADDLE_OK && r->outcomes != NULL)
        status = lose(r, saddle_outcomes_write(r->outcomes, r->row.iteration, r->result, &reason),
                      &reason);
    if (status != SADDLE_OK && error != NULL)
        *error = reason;
    return status;
}

/* Check the state, if it is time to, and record r->row, unless nothing has moved since the last one:
 * a run may be interrupted while it measures. */
static saddle_status record(run *r, bool last, saddle_error *error)
{
    const saddle_row *row = &r->row;
    const saddle_result *result = r->result;
    bool again =
        result->row_count > 0 && result->rows[result->row_count - 1].iteration == row->iteration;
    saddle_status status = SADDLE_OK;
    if (last || row->iteration == 0 || row->iteration >= r->last_check + CHECK_EVERY) {
        status = saddle_observer_check(r->observer, error);
        r->last_check = row->iteration;
    }
    if (status != SADDLE_OK)
        return status;
    if (last || *saddle_settings_text(r->settings, "outcomes") != '\0')
        status = evaluate(r, error);
    if (again)
        return agree(r, status, error);
    if (status == SADDLE_OK)
        status = saddle_result_append(r->result, row, error);
    if (status == SADDLE_OK)
        status = write_row(r, error);
    status = agree(r, status, error);
    if (status == SADDLE_OK && r->hooks->row != NULL)
        r->hooks->row(r->hooks->context, row);
    return status;
}

/* The first row. A start where the losses are not finite is refused before anything is written. */
static saddle_status measure_start(run *r, saddle_error *error)
{
    bool diverged = false;
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_status status = measure(r, &diverged, error);
    if (status != SADDLE_OK || !diverged)
        return status;
    status = locate(r, &fault, error);
    if (status != SADDLE_OK)
        return status;
    return saddle_fail(error, SADDLE_BAD_INPUT,
                       "the losses at the starting point (--init %s) are not finite: agent %zu, "
                       "variable %s[%zu] is %g; start closer to zero or check the data",
                       saddle_settings_text(r->settings, "init"), fault.agent, fault.variable,
                       fault.index, fault.value);
}

/* Find the checkpoint to go on from, if one is asked for, and bring agents and observer to where
 * the run begins. */
static saddle_status set_out(run *r, saddle_error *error)
{
    saddle_status status = saddle_same_settings(r->experiment->world, r->settings, error);
    if (status == SADDLE_OK)
        status = saddle_resume_open(&r->resumed, r->settings, r->experiment->world, error);
    if (status == SADDLE_OK && r->resumed.refused != NULL)
        warn(r, r->resumed.refused);
    if (status == SADDLE_OK)
        status = agree(r, settle(r, error), error);
    if (status != SADDLE_OK)
        return status;
    r->context = (saddle_checkpoint_context){.experiment = r->experiment,
                                             .scene = &r->scene,
                                             .algorithm = r->algorithm,
                                             .parameters = r->parameters,
                                             .settings = r->settings,
                                             .effective = r->result->settings};
    status = saddle_resume_load(&r->resumed, &r->context, error);
    if (status == SADDLE_OK)
        status = agree(r, make_engine(r, error), error);
    if (status == SADDLE_OK)
        status =
            saddle_checkpoint_writer_create(&r->writer, &r->context, r->engine, &r->resumed, error);
    if (status == SADDLE_OK)
        status = agree(r, make_observer(r, error), error);
    if (status != SADDLE_OK)
        return status;
    confer(r);
    return r->resumed.from == NULL ? measure_start(r, error) : SADDLE_OK;
}

/* Open the files that this process writes. */
static saddle_status open_files(run *r, const saddle_run_info *info, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    const char *path = saddle_settings_text(r->settings, "trace");
    if (*path != '\0')
        status = saddle_trace_open(&r->trace, path, info, error);
    path = saddle_settings_text(r->settings, "outcomes");
    if (status == SADDLE_OK && *path != '\0')
        status = saddle_outcomes_open(&r->outcomes, path, error);
    return status;
}

/* Record the rows that a run which goes on has already. */
static saddle_status recall_rows(run *r, saddle_error *error)
{
    const saddle_checkpoint *from = r->resumed.from;
    const saddle_row *rows = r->resumed.rows;
    saddle_status status = SADDLE_OK;
    for (size_t k = 0; status == SADDLE_OK && k < from->number.rows; k++) {
        status = saddle_result_append(r->result, &rows[k], error);
        if (status == SADDLE_OK && r->trace != NULL)
            status = saddle_trace_write(r->trace, &rows[k], error);
    }
    saddle_outcome_table table = {
        .train = from->number.train, .test = from->number.test, .values = r->resumed.outcomes};
    memcpy(table.name, from->outcome, sizeof table.name);
    if (status == SADDLE_OK && r->outcomes != NULL)
        status = saddle_outcomes_replay(r->outcomes, &table, rows, from->number.rows, error);
    r->row = rows[from->number.rows - 1];
    r->seconds = from->number.seconds;
    r->last_check = from->number.last_check;
    saddle_resume_forget(&r->resumed);
    return agree(r, status, error);
}

static saddle_status begin(run *r, saddle_error *error)
{
    saddle_status status = set_out(r, error);
    if (status != SADDLE_OK)
        return status;
    saddle_run_info info = {
        .settings = r->result->settings,
        .algorithm = r->algorithm,
        .problem = r->scene.problem,
        .mixing = r->scene.mixing,
        .spectrum = r->scene.spectrum,
        .constants = r->scene.constants,
        .steps = r->steps,
        .x_set = saddle_set_text(r->experiment->x_set),
        .y_set = saddle_set_text(r->experiment->y_set),
        .iterations = r->iterations,
        .resumed = r->resumed.from != NULL ? r->resumed.from->path : NULL,
        .start = r->engine->kind->iteration(r->engine),
    };
    status = agree(r, writes(r) ? open_files(r, &info, error) : SADDLE_OK, error);
    if (status == SADDLE_OK && r->resumed.from != NULL)
        status = recall_rows(r, error);
    if (status == SADDLE_OK && r->hooks->begin != NULL)
        r->hooks->begin(r->hooks->context, &info);
    return status;
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* Why the run must end at the present iteration, or -1. */
static int stop_reason(const run *r, uint64_t iteration, const saddle_cost *cost)
{
    uint64_t max_ifo = saddle_settings_integer(r->settings, "max-ifo");
    uint64_t max_rounds = saddle_settings_integer(r->settings, "max-rounds");
    double max_seconds = saddle_settings_real(r->settings, "max-seconds");
    if (r->interrupted)
        return SADDLE_STOP_INTERRUPTED;
    if (max_ifo > 0 && cost->ifo >= max_ifo)
        return SADDLE_STOP_IFO;
    if (max_rounds > 0) {
        saddle_layout layout;
        r->algorithm->layout(r->parameters, r->scene.problem, &layout);
        if (layout.rounds > 0 && cost->rounds + layout.rounds > max_rounds)
            return SADDLE_STOP_ROUNDS;
    }
    if (max_seconds > 0.0 && r->seconds >= max_seconds)
        return SADDLE_STOP_SECONDS;
    if (iteration >= r->iterations)
        return SADDLE_STOP_ITERATIONS;
    return -1;
}

/* Iterations until a budget of rounds is spent. */
static uint64_t rounds_left(const run *r, const saddle_cost *cost)
{
    uint64_t max_rounds = saddle_settings_integer(r->settings, "max-rounds");
    saddle_layout layout;
    r->algorithm->layout(r->parameters, r->scene.problem, &layout);
    if (max_rounds == 0 || layout.rounds == 0)
        return UINT64_MAX;
    return (max_rounds - cost->rounds) / layout.rounds;
}

/* Write a checkpoint if one is due. One that cannot be written does not end the run: the last one
 * is still there. */
static void keep(run *r, bool last)
{
    saddle_error error = {.message = ""};
    const saddle_checkpoint_moment moment = {.seconds = r->seconds,
                                             .last_check = r->last_check,
                                             .trace_ifo = r->trace_ifo,
                                             .observer = r->observer,
                                             .result = r->result,
                                             .outcomes = r->outcomes};
    char message[sizeof error.message + 64];
    if (r->writer == NULL ||
        saddle_checkpoint_write_due(r->writer, &moment, last, &error) == SADDLE_OK)
        return;
    snprintf(message, sizeof message, "no checkpoint: %s%s", error.message,
             last ? "" : "; the run goes on without");
    warn(r, message);
}

/* Advance to the next trace point or stop; calls the progress hook on the way. */
static void advance(run *r, saddle_fault *fault, int *stop)
{
    uint64_t iteration = r->engine->kind->iteration(r->engine);
    uint64_t target = (r->row.iteration / r->trace_every + 1) * r->trace_every;
    double max_seconds = saddle_settings_real(r->settings, "max-seconds");
    saddle_cost cost;
    uint64_t ifo_target =
        r->trace_ifo > 0 ? (r->row.cost.ifo / r->trace_ifo + 1) * r->trace_ifo : UINT64_MAX;
    for (;;) {
        r->engine->kind->cost(r->engine, &cost);
        confer(r);
        *stop = stop_reason(r, iteration, &cost);
        if (fault->kind == SADDLE_FAULT_NONE)
            keep(r, *stop >= 0);
        if (*stop >= 0 || iteration >= target || cost.ifo >= ifo_target ||
            fault->kind != SADDLE_FAULT_NONE)
            return;
        double now = saddle_clock_seconds();
        uint64_t left = rounds_left(r, &cost);
        saddle_limits limits = {
            .iterations = target < r->iterations ? target - iteration : r->iterations - iteration,
            .max_ifo = saddle_settings_integer(r->settings, "max-ifo"),
            .ifo_budget = saddle_settings_integer(r->settings, "max-ifo"),
            .deadline = now + PROGRESS_SECONDS,
            .interrupt = r->hooks->interrupt,
        };
        if (left < limits.iterations)
            limits.iterations = left;
        /* Measuring must not change what is measured: only the budget itself cuts inner loops. */
        if (ifo_target < limits.max_ifo)
            limits.max_ifo = ifo_target;
        if (max_seconds > 0.0)
            limits.deadline = fmin(limits.deadline, now + max_seconds - r->seconds);
        if (r->writer != NULL)
            saddle_checkpoint_writer_limit(r->writer, &limits);
        r->engine->kind->advance(r->engine, &limits, fault);
        r->unshared += saddle_clock_seconds() - now;
        iteration = r->engine->kind->iteration(r->engine);
        if (r->hooks->progress != NULL)
            r->hooks->progress(r->hooks->context, iteration, r->seconds + r->unshared);
    }
}

static saddle_status stalled(const saddle_fault *fault, saddle_error *error)
{
    return saddle_fail(error, SADDLE_CHECK_FAILED,
                       "self-check at iteration %llu: agent %zu's recursive differences of %s have "
                       "been exactly zero for many iterations although its iterate moves; the "
                       "problem's difference() or gradient() does not depend on the point",
                       (unsigned long long)fault->iteration, fault->agent, fault->variable);
}

/* Whether the metric, just measured, grows without bound: far above where it began, and more so at
 * every one of the last trace points. */
static bool runs_away(const run *r)
{
    const saddle_row *rows = r->result->rows;
    size_t count = r->result->row_count;
    if (count < RUNAWAY_POINTS || !(r->row.metric > RUNAWAY * fmax(rows[0].metric, 1.0)))
        return false;
    double later = r->row.metric;
    for (size_t k = 1; k < RUNAWAY_POINTS; k++) {
        if (!(rows[count - k].metric < later))
            return false;
        later = rows[count - k].metric;
    }
    return true;
}

/* End with SADDLE_STOP_DIVERGED; the place is found now if it is not known yet. */
static saddle_status diverge(run *r, saddle_fault *fault, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    if (fault->kind == SADDLE_FAULT_NONE)
        status = locate(r, fault, error);
    if (status == SADDLE_OK && runs_away(r) && isfinite(fault->value))
        fault->kind = SADDLE_FAULT_RUNAWAY;
    r->result->stop = SADDLE_STOP_DIVERGED;
    r->result->fault = *fault;
    return status;
}

/* Record r->row; *ended is set when it is the last one. */
static saddle_status arrive(run *r, int stop, bool *ended, saddle_error *error)
{
    double tolerance = saddle_settings_real(r->settings, "tolerance");
    if (tolerance > 0.0 && r->row.metric <= tolerance)
        stop = SADDLE_STOP_TOLERANCE;
    *ended = stop >= 0;
    if (*ended)
        r->result->stop = (saddle_stop)stop;
    return record(r, *ended, error);
}

static saddle_status loop(run *r, saddle_error *error)
{
    saddle_fault fault = {.kind = SADDLE_FAULT_NONE};
    saddle_cost cost;
    saddle_status status = SADDLE_OK;
    bool ended = false;
    r->engine->kind->cost(r->engine, &cost);
    confer(r);
    int stop = stop_reason(r, 0, &cost);
    if (r->resumed.from == NULL)
        status = arrive(r, stop, &ended, error);
    while (status == SADDLE_OK && !ended) {
        advance(r, &fault, &stop);
        if (fault.kind == SADDLE_FAULT_STALLED)
            return stalled(&fault, error);
        if (fault.kind != SADDLE_FAULT_NONE)
            return diverge(r, &fault, error);
        bool diverged = false;
        status = measure(r, &diverged, error);
        if (status == SADDLE_OK && (diverged || runs_away(r)))
            return diverge(r, &fault, error);
        if (status == SADDLE_OK)
            status = arrive(r, stop, &ended, error);
    }
    return status;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void copy_task(void *context, saddle_agent *agent)
{
    const run *r = context;
    saddle_result *result = r->result;
    saddle_view view;
    r->algorithm->view(agent, &view);
    size_t place = saddle_world_place(r->scene.world, agent->id);
    memcpy(result->x + place * result->x_dim, view.x, result->x_dim * sizeof(double));
    memcpy(result->y + place * result->y_dim, view.y, result->y_dim * sizeof(double));
}

static saddle_status conclude(run *r, saddle_error *error)
{
    saddle_result *result = r->result;
    memcpy(result->x_mean, saddle_observer_x_mean(r->observer), result->x_dim * sizeof(double));
    memcpy(result->y_mean, saddle_observer_y_mean(r->observer), result->y_dim * sizeof(double));
    r->engine->kind->for_each(r->engine, copy_task, r);
    r->engine->kind->cost(r->engine, &result->cost);
    const char *kept = r->writer != NULL ? saddle_checkpoint_writer_newest(r->writer) : NULL;
    result->checkpoint = saddle_strdup(kept);
    if (kept != NULL && result->checkpoint == NULL) {
        saddle_no_memory(error, "the checkpoint's path");
        return SADDLE_NO_MEMORY;
    }
    return SADDLE_OK;
}

/* Write the model; what goes wrong here costs the file alone. */
static void save_model(run *r)
{
    saddle_result *result = r->result;
    saddle_error reason = {.message = ""};
    const char *path = saddle_settings_text(r->settings, "model");
    if (result == NULL || *path == '\0' || result->stop == SADDLE_STOP_DIVERGED)
        return;
    saddle_status status = saddle_result_write(result, r->scene.world, path, &reason);
    result->saved = status == SADDLE_OK;
    if (status == SADDLE_OK || result->loss.status != SADDLE_OK)
        return;
    result->loss = reason;
    /* A place that was fine when the run began. */
    if (status == SADDLE_BAD_INPUT)
        result->loss.status = SADDLE_IO;
}

/* Say in the trace, if there is one, why the run ended, and close it. */
static saddle_status close_trace(const run *r, saddle_status outcome, saddle_error *error)
{
    if (r->trace == NULL)
        return SADDLE_OK;
    saddle_status status = saddle_trace_end(r->trace,
                                            outcome == SADDLE_OK ? saddle_stop_text(r->result->stop)
                                                                 : saddle_status_text(outcome),
                                            error);
    saddle_status closed = saddle_trace_close(r->trace, status == SADDLE_OK ? error : NULL);
    return status != SADDLE_OK ? status : closed;
}

/* Close the files, and tell all processes what came of them. */
static void close_files(run *r, saddle_status outcome)
{
    saddle_error reason = {.message = ""};
    saddle_error last = {.message = ""};
    saddle_status trace = close_trace(r, outcome, &reason);
    saddle_status outcomes = saddle_outcomes_close(r->outcomes, &last);
    if (outcome != SADDLE_OK || r->result == NULL)
        return;
    saddle_error *loss = &r->result->loss;
    if (loss->status == SADDLE_OK && trace != SADDLE_OK)
        *loss = reason;
    if (loss->status == SADDLE_OK && outcomes != SADDLE_OK)
        *loss = last;
    r->experiment->world->share(r->experiment->world, 0, sizeof *loss, loss);
}

saddle_status saddle_experiment_run(saddle_experiment *experiment, const saddle_settings *settings,
                                    const saddle_hooks *hooks, saddle_result **out,
                                    saddle_error *error)
{
    static const saddle_hooks no_hooks = {.context = NULL};
    *out = NULL;
    run r = {.experiment = experiment,
             .settings = settings != NULL ? settings : experiment->settings,
             .hooks = hooks != NULL ? hooks : &no_hooks};
    /* Process 0 speaks for all. */
    saddle_hooks silent = {.interrupt = r.hooks->interrupt};
    if (experiment->world->rank > 0)
        r.hooks = &silent;
    saddle_status status = begin(&r, error);
    if (status == SADDLE_OK)
        status = loop(&r, error);
    if (status == SADDLE_OK)
        status = conclude(&r, error);
    status = agree(&r, status, error);
    if (status == SADDLE_OK)
        save_model(&r);
    close_files(&r, status);
    saddle_observer_free(r.observer);
    saddle_checkpoint_writer_free(r.writer);
    saddle_resume_close(&r.resumed);
    if (r.engine != NULL)
        r.engine->kind->destroy(r.engine);
    if (r.algorithm != NULL && r.parameters != NULL)
        r.algorithm->release(r.parameters);
    if (status == SADDLE_OK)
        *out = r.result;
    else
        saddle_result_free(r.result);
    return status;
}

/* The most IFO calls of one iteration. */
static uint64_t most_ifo(const run *r)
{
    if (r->algorithm->most_ifo != NULL)
        return r->algorithm->most_ifo(r->parameters, r->scene.problem);
    uint64_t samples = 0;
    for (size_t i = 0; i < r->scene.problem->agents; i++)
        samples += r->scene.problem->samples[i];
    return 2 * samples;
}

saddle_status saddle_run_forecast(saddle_experiment *experiment, const saddle_settings *settings,
                                  saddle_forecast *out, saddle_error *error)
{
    run r = {.experiment = experiment, .settings = settings};
    memset(out, 0, sizeof *out);
    saddle_status status = settle(&r, error);
    if (status == SADDLE_OK) {
        double bound;
        bool x_safe;
        bool y_safe;
        out->feasible = look_at_steps(&r, &bound, &x_safe, &y_safe);
        out->most_ifo = most_ifo(&r);
        out->settings = r.result->settings;
        r.result->settings = NULL;
    }
    if (r.algorithm != NULL && r.parameters != NULL)
        r.algorithm->release(r.parameters);
    saddle_result_free(r.result);
    return status;
}
