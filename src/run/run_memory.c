/*
 * The memory that a run takes in addition to its instance.
 *
 * Every size is computed by a function next to the allocation. tests/unit/test_memory.c compares
 * the sum with what runs actually take.
 */
#include "core/memory_limits.h"
#include "core/sizes.h"
#include "core/world.h"
#include "instance/fingerprint.h"
#include "run/result.h"
#include "run/run.h"

/* Settings, paths and other texts. */
#define TEXT_BYTES 1e5
/* The largest number of rows that is counted: a longer run is likely to end before its last
 * iteration. */
#define LIKELY_ROWS 1e6
/* The number of outcomes that is assumed: four on training and four on held-out rows. */
#define USUAL_OUTCOMES 8

/* Returns the expected number of rows of the trace. */
static double count_rows(const saddle_run_state *r)
{
    const saddle_plan *plan = &r->given;
    double rows = (double)plan->limits.iterations / (double)r->trace_every + 2.0;
    if (r->trace_ifo > 0 || r->early_points)
        rows += SADDLE_DENSE_POINTS;
    return fmin(rows, LIKELY_ROWS);
}

/* Returns the number of bytes that measuring outcomes takes temporarily. */
static double outcome_bytes(const saddle_run_state *r)
{
    const saddle_problem *problem = r->info.network->problem;
    const saddle_dataset *held_out = r->info.network->held_out;
    if (problem->outcomes == NULL)
        return 0.0;
    size_t rows = (size_t)saddle_sizes_sum(problem->agents, problem->samples);
    if (held_out != NULL)
        rows = saddle_larger(rows, held_out->rows);
    size_t terms = saddle_world_sum_rows(problem->agents);
    return saddle_block_bytes(rows, problem->outcome_bytes) +
           saddle_block_bytes(saddle_problem_scratch(problem) +
                                  (1 + terms) * problem->response_size,
                              sizeof(double));
}

/* Returns the largest number of bytes that is taken temporarily, at different times: by states to resume from,
 * outcomes, the search for a stall, writing the model, and the fingerprint of the data. */
static double passing_bytes(const saddle_run_state *r)
{
    const saddle_instance *e = r->info.instance;
    double bytes = fmax(outcome_bytes(r), saddle_resume_bytes(&r->resumed, e->world->local));
    bytes = fmax(bytes, saddle_run_stall_bytes(e->world->agents));
    if (r->given.outputs.model != NULL)
        bytes = fmax(bytes, saddle_result_write_bytes(e));
    if (saddle_run_is_identified(r))
        bytes = fmax(
            bytes, saddle_block_bytes(saddle_fingerprint_doubles(r->info.network), sizeof(double)));
    return bytes;
}

saddle_status saddle_run_check_memory(const saddle_run_state *r, saddle_error *error)
{
    const saddle_instance *e = r->info.instance;
    const saddle_engine_class *engine = r->info.network->parts->engine;
    saddle_engine_inputs inputs = saddle_run_engine_inputs(r);
    const char *sizes = "use fewer agents or a smaller problem";
    double rows = count_rows(r);
    bool measured = r->info.network->problem->outcomes != NULL;
    bool per_agent = r->given.outputs.outcomes_per_agent;
    double row_bytes =
        saddle_result_row_bytes(rows, measured ? USUAL_OUTCOMES * (per_agent ? 4 : 1) : 0);
    saddle_need need = {0};
    if (engine->bytes != NULL)
        saddle_need_add(&need, engine->bytes(&inputs), sizes, "the state of %zu agent%s",
                        e->world->local, SADDLE_PLURAL(e->world->local));
    saddle_need_add(&need, saddle_result_bytes(e), sizes, "the solutions of %zu agent%s",
                    e->world->local, SADDLE_PLURAL(e->world->local));
    if (r->objective != NULL)
        saddle_need_add(&need, saddle_run_objective_bytes(r->objective), sizes,
                        "the objective of agents that leave and join");
    bool gap = r->given.outputs.gap != SADDLE_GAP_NEVER || r->given.outputs.gap_parts;
    saddle_need_add(&need, saddle_observer_bytes(e, &r->layout, gap) + TEXT_BYTES, sizes,
                    "measuring%s", gap ? ", which --gap never reduces" : "");
    if (measured)
        saddle_need_add(&need, saddle_outcomes_bytes(r->info.network, e, per_agent), sizes,
                        "outcomes");
    saddle_need_add(&need, row_bytes, "raise --trace-every", "%.0f rows of the trace", rows);
    if (r->given.outputs.checkpoint != NULL)
        saddle_need_add(&need, saddle_checkpoint_writer_bytes(&r->info, &r->layout), sizes,
                        "checkpoints");
    saddle_need_add(&need, passing_bytes(r), sizes, "outcomes, model and checkpoint");
    return saddle_need_check(&need, e->world->ranks_on_machine, "this run", error);
}
