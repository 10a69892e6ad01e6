/* Writing the checkpoints of a run: when one is due, what it contains, and which are kept. */
#include <unistd.h>

#include "algorithms/layout.h"
#include "checkpoint/checkpoint.h"
#include "core/clock.h"

/* Seconds between two checkpoints by default. */
#define DEFAULT_SECONDS 60.0

struct saddle_checkpoint_writer {
    const saddle_run_info *info;
    saddle_engine *engine;
    saddle_checkpoint_numbers number; /* the ones that do not change during the run */
    saddle_recorded settings;         /* on rank 0 */
    char *directory;
    DIR *lock;                  /* the directory, locked by this run; NULL: not locked */
    uint64_t every;             /* iterations between two; 0: by time */
    double seconds;             /* between two; 0: by iterations */
    double moment;              /* time of the last one, or of the start of the run */
    uint64_t done;              /* iteration of the last one, or the first iteration of the run */
    char *newest;               /* NULL: none yet */
    char *older;                /* NULL: none */
    bool failing;               /* the last one could not be written */
    saddle_allocator allocator; /* of the buffers: */
    const saddle_agent **agent; /* of this process, by number */
    uint64_t *record;
    uint64_t *links; /* of one agent */
    double *memory;  /* the observer's */
};

/* ---- identification of the run --------------------------------------------------------------- */

/* Returns the doubles of the best solution, 0 if it is not kept. */
static size_t solution_size(const saddle_run_info *info)
{
    const saddle_problem *problem = info->instance->problem;
    return info->given->limits.stop_after > 0 ? problem->x_dim + problem->y_dim : 0;
}

static saddle_checkpoint_numbers sizes_of(const saddle_run_info *info, const saddle_layout *layout)
{
    const saddle_problem *problem = info->instance->problem;
    return (saddle_checkpoint_numbers){.agents = problem->agents,
                                       .x_dim = problem->x_dim,
                                       .y_dim = problem->y_dim,
                                       .published = layout->published,
                                       .kept = layout->kept,
                                       .memory = saddle_observer_memory(problem),
                                       .solution = solution_size(info),
                                       .links = saddle_checkpoint_link_words(info, layout),
                                       .row_words = sizeof(saddle_row) / 8};
}

saddle_checkpoint_numbers saddle_checkpoint_measure(const saddle_run_info *info)
{
    saddle_layout layout;
    saddle_algorithm_layout(info->algorithm, info->parameters, info->instance->problem, &layout);
    saddle_checkpoint_numbers number = sizes_of(info, &layout);
    number.data = info->fingerprint;
    return number;
}

/* ---- setting up ------------------------------------------------------------------------------ */

/* Parses "500" as iterations and "30s" as seconds. */
static saddle_status read_every(saddle_checkpoint_writer *k, const char *text, saddle_error *error)
{
    char number[64];
    size_t length = text != NULL ? strlen(text) : 0;
    k->seconds = text == NULL ? DEFAULT_SECONDS : 0.0;
    if (text == NULL || (saddle_parse_integer(text, &k->every) && k->every > 0))
        return SADDLE_OK;
    saddle_snprintf(number, sizeof number, "%.*s", (int)length - 1, text);
    if (text[length - 1] == 's' && length < sizeof number &&
        saddle_parse_real(number, &k->seconds) && k->seconds > 0.0)
        return SADDLE_OK;
    return saddle_refuse(error,
                         "--checkpoint-every: '%.80s' is neither a number of iterations, such as "
                         "500, nor a time, such as 30s; give one of these",
                         text);
}

/* Fails if the run resumes from a checkpoint older than a valid one in the same directory, because the
 * next ones would replace that. */
static saddle_status check_newer(const saddle_checkpoint_writer *k, const saddle_checkpoint *from,
                                 saddle_error *error)
{
    SADDLE_OWNED char *own = saddle_checkpoint_path(k->directory, from->number.iteration);
    SADDLE_TRY(saddle_check_memory(own, "the checkpoints", error));
    bool newer = true;
    for (size_t age = 0; newer; age++) {
        SADDLE_OWNED char *path = NULL;
        SADDLE_OWNED_BY(saddle_checkpoint_close_at) saddle_checkpoint *other = NULL;
        SADDLE_TRY(saddle_checkpoint_find(&path, k->directory, age, error));
        newer = path != NULL && strcmp(saddle_file_name(path), saddle_file_name(own)) > 0;
        if (newer && saddle_checkpoint_open(&other, path, NULL) == SADDLE_OK)
            return saddle_refuse(error,
                                 "--checkpoint: '%s' of iteration %" PRIu64
                                 " would be lost, because this run resumes from iteration %" PRIu64
                                 " and writes into the same directory; resume from that one, or "
                                 "give another directory",
                                 path, other->number.iteration, from->number.iteration);
    }
    return SADDLE_OK;
}

/* Creates the directory, or checks that it may be used: it must not contain checkpoints of another run. */
static saddle_status prepare_directory(saddle_checkpoint_writer *k, const saddle_checkpoint *from,
                                       saddle_error *error)
{
    SADDLE_OWNED char *home = from != NULL ? saddle_directory_of(from->path) : NULL;
    SADDLE_OWNED char *there = NULL;
    saddle_status status = saddle_make_directory("--checkpoint", k->directory, error);
    if (status == SADDLE_OK && access(k->directory, W_OK | X_OK) != 0)
        status =
            saddle_refuse(error, "--checkpoint: cannot write to '%s': %s; give another directory",
                          k->directory, strerror(errno));
    /* Two runs in the same directory would remove each other's checkpoints. */
    SADDLE_THEN(status, saddle_lock_directory(&k->lock, k->directory, "--checkpoint", error));
    SADDLE_THEN(status, saddle_checkpoint_find(&there, k->directory, 0, error));
    bool own = home != NULL && saddle_same_directory(home, k->directory);
    if (status == SADDLE_OK && there != NULL && !own)
        status = saddle_refuse(error,
                               "--checkpoint: '%s' already has checkpoints of a run; resume that "
                               "run, or give another directory",
                               k->directory);
    SADDLE_THEN_IF(status, own, check_newer(k, from, error));
    if (status == SADDLE_OK && own)
        k->newest = saddle_strdup(from->path);
    if ((from != NULL && home == NULL) || (status == SADDLE_OK && own && k->newest == NULL))
        status = saddle_no_memory(error, "the checkpoints");
    return status;
}

/* Allocates the buffers of a writer of checkpoints with these numbers. */
static void take_buffers(saddle_checkpoint_writer *k, size_t local)
{
    saddle_allocator *allocator = &k->allocator;
    k->agent = saddle_allocator_block(allocator, local, sizeof *k->agent);
    k->record = saddle_allocator_block(allocator, 1, saddle_checkpoint_record(&k->number));
    k->memory = saddle_allocator_block(allocator, (size_t)k->number.memory, sizeof *k->memory);
    if (k->number.links > 0)
        k->links = saddle_allocator_block(allocator, saddle_checkpoint_most_link_words(k->info),
                                          sizeof *k->links);
}

double saddle_checkpoint_writer_bytes(const saddle_run_info *info, const saddle_layout *layout)
{
    saddle_checkpoint_writer k = {
        .info = info, .number = sizes_of(info, layout), .allocator = {.count_only = true}};
    take_buffers(&k, info->instance->world->local);
    return k.allocator.bytes;
}

static saddle_status set_up(saddle_checkpoint_writer *k, const saddle_resumption *resumption,
                            saddle_error *error)
{
    const saddle_plan *plan = k->info->given;
    const saddle_world *world = k->info->instance->world;
    k->directory = saddle_strdup(plan->outputs.checkpoint);
    take_buffers(k, world->local);
    if (k->directory == NULL || k->allocator.failed)
        return saddle_no_memory(error, "the checkpoints");
    SADDLE_TRY(read_every(k, plan->outputs.checkpoint_every, error));
    if (k->info->network->world->rank == 0)
        SADDLE_TRY(prepare_directory(k, resumption->from, error));
    /* Note the settings now, while the files of the plug-ins are still those that were loaded. */
    if (k->info->network->world->rank == 0)
        SADDLE_TRY(saddle_record_settings(&k->settings, k->info->plan, k->info->given,
                                          k->info->network->plan, true, error));
    k->number.settings = k->settings.count;
    return SADDLE_OK;
}

saddle_status saddle_checkpoint_writer_create(saddle_checkpoint_writer **out,
                                              const saddle_run_info *info, saddle_engine *engine,
                                              const saddle_resumption *resumption,
                                              saddle_error *error)
{
    const saddle_plan *plan = info->given;
    *out = NULL;
    if (plan->outputs.checkpoint == NULL && plan->outputs.checkpoint_every != NULL)
        return saddle_refuse(error, "--checkpoint-every: no directory is given; give one as "
                                    "--checkpoint, the path of a directory");
    if (plan->outputs.checkpoint == NULL)
        return SADDLE_OK;
    saddle_checkpoint_writer *k = saddle_alloc(1, sizeof *k);
    saddle_status status = saddle_check_memory(k, "the checkpoints", error);
    if (k != NULL) {
        k->info = info;
        k->engine = engine;
        k->number = saddle_checkpoint_measure(info);
        k->moment = saddle_clock_seconds();
        k->done = engine->kind->iteration(engine);
        status = set_up(k, resumption, error);
    }
    status = saddle_world_agree(info->network->world, status, error);
    if (status == SADDLE_OK)
        *out = k;
    else
        saddle_checkpoint_writer_free(k);
    return status;
}

void saddle_checkpoint_writer_free(saddle_checkpoint_writer *k)
{
    if (k == NULL)
        return;
    saddle_unlock_directory(k->lock);
    saddle_recorded_free(&k->settings);
    saddle_free(k->directory);
    saddle_free(k->newest);
    saddle_free(k->older);
    saddle_allocator_free(&k->allocator);
    saddle_free(k);
}

const char *saddle_checkpoint_writer_newest(const saddle_checkpoint_writer *writer)
{
    return writer->newest;
}

/* ---- when one is due ------------------------------------------------------------------------- */

void saddle_checkpoint_writer_limit(const saddle_checkpoint_writer *k, saddle_limits *limits)
{
    uint64_t iteration = k->engine->kind->iteration(k->engine);
    if (k->every > 0 && k->every - iteration % k->every < limits->iterations)
        limits->iterations = k->every - iteration % k->every;
    if (k->every == 0)
        limits->deadline = fmin(limits->deadline, k->moment + k->seconds);
}

/* Returns whether to write one now; rank 0's clock decides for all. */
static bool is_due(const saddle_checkpoint_writer *k, uint64_t iteration, bool last)
{
    const saddle_world *world = k->info->network->world;
    if (iteration == k->done)
        return false;
    unsigned char due = last || (k->every > 0 ? iteration % k->every == 0
                                              : saddle_clock_seconds() >= k->moment + k->seconds);
    world->share(world, 0, sizeof due, &due);
    return due != 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes the head and all of the body except the agents. */
static saddle_status write_common(saddle_checkpoint_writer *k, saddle_checkpoint_stream *writer,
                                  const char *path, const saddle_checkpoint_moment *moment,
                                  saddle_error *error)
{
    saddle_checkpoint c = {
        .version = saddle_version(), .number = k->number, .settings = k->settings};
    const saddle_result *result = moment->result;
    c.number.iteration = k->engine->kind->iteration(k->engine);
    c.number.seconds = moment->seconds;
    c.number.last_check = moment->last_check;
    c.number.trace_ifo = moment->trace_ifo;
    c.number.rows = result->row_count;
    c.number.outcomes = result->outcome_count;
    c.outcome = result->outcome;
    SADDLE_TRY(saddle_checkpoint_begin(writer, path, &c, error));
    saddle_observer_remember(moment->observer, k->memory);
    saddle_checkpoint_put(writer, k->memory, (size_t)c.number.memory * sizeof *k->memory);
    saddle_checkpoint_put(writer, result->rows, result->row_count * sizeof *result->rows);
    saddle_checkpoint_put(writer, result->outcomes,
                          result->row_count * result->outcome_count * sizeof *result->outcomes);
    if (c.number.solution > 0) {
        saddle_checkpoint_put(writer, result->x_mean, result->x_dim * sizeof *result->x_mean);
        saddle_checkpoint_put(writer, result->y_mean, result->y_dim * sizeof *result->y_mean);
    }
    return SADDLE_OK;
}

static void find_agent(void *context, saddle_agent *agent)
{
    saddle_checkpoint_writer *k = context;
    k->agent[saddle_world_place(k->info->instance->world, agent->id)] = agent;
}

/* Fills in the record of an agent, whose index among those of this process is `here`. */
static void fill_record(const saddle_checkpoint_writer *k, size_t here, const saddle_result *result)
{
    const saddle_agent *agent = k->agent[here];
    uint64_t *to = k->record + SADDLE_RECORD_WORDS;
    k->record[0] = agent->id;
    k->record[1] = agent->ifo;
    memcpy(&k->record[2], &agent->clock, sizeof agent->clock);
    memcpy(to, agent->now, k->number.published * 8);
    memcpy(to + k->number.published, agent->kept, k->number.kept * 8);
    to += k->number.published + k->number.kept;
    if (k->number.solution == 0)
        return;
    memcpy(to, result->x + here * result->x_dim, result->x_dim * 8);
    memcpy(to + result->x_dim, result->y + here * result->y_dim, result->y_dim * 8);
}

/* Sends all records to rank 0, which writes them if `writer` is not NULL. */
static void write_agents(saddle_checkpoint_writer *k, const saddle_result *result,
                         saddle_checkpoint_stream *writer)
{
    const saddle_world *world = k->info->instance->world;
    size_t bytes = saddle_checkpoint_record(&k->number);
    size_t next = 0;
    k->engine->kind->for_each(k->engine, find_agent, k);
    for (size_t i = 0; i < world->agents; i++) {
        bool here = saddle_world_has(world, i);
        if (here)
            fill_record(k, next++, result);
        if (world->home[i] != 0 && (here || world->rank == 0))
            world->transfer(world, world->home[i], 0, bytes, k->record);
        if (writer != NULL)
            saddle_checkpoint_put(writer, k->record, bytes);
    }
    next = 0;
    for (size_t i = 0; k->number.links > 0 && i < world->agents; i++) {
        const saddle_agent *agent = saddle_world_has(world, i) ? k->agent[next++] : NULL;
        saddle_checkpoint_put_links(k->info, k->engine, agent, i, k->links, writer);
    }
}

/* Writes a checkpoint on rank 0; the other ranks send their agents' records. */
static saddle_status save(saddle_checkpoint_writer *k, const saddle_checkpoint_moment *moment,
                          saddle_error *error)
{
    saddle_checkpoint_stream writer;
    saddle_status status = SADDLE_OK;
    if (k->info->network->world->rank != 0) {
        write_agents(k, moment->result, NULL);
        return SADDLE_OK;
    }
    SADDLE_OWNED char *path =
        saddle_checkpoint_path(k->directory, k->engine->kind->iteration(k->engine));
    status = path != NULL ? write_common(k, &writer, path, moment, error)
                          : saddle_no_memory(error, "a checkpoint's path");
    write_agents(k, moment->result, status == SADDLE_OK ? &writer : NULL);
    SADDLE_THEN(status, saddle_checkpoint_end(&writer, error));
    if (status != SADDLE_OK)
        return status;
    saddle_free(k->older);
    k->older = k->newest;
    k->newest = saddle_taken(&path);
    saddle_checkpoint_prune(k->directory, k->newest, k->older);
    return SADDLE_OK;
}

/* Publishes the checkpoint, so that if a process hangs later, the others can report what to resume from. */
static void announce(const saddle_checkpoint_writer *k, uint64_t iteration)
{
    const saddle_instance *network = k->info->network;
    SADDLE_OWNED char *path = saddle_checkpoint_path(k->directory, iteration);
    if (path != NULL)
        saddle_engine_watch(network->parts->engine, network->world,
                            network->plan->engine.stall_seconds, path);
}

saddle_status saddle_checkpoint_write_due(saddle_checkpoint_writer *k,
                                          const saddle_checkpoint_moment *moment, bool last,
                                          saddle_error *error)
{
    uint64_t iteration = k->engine->kind->iteration(k->engine);
    if (!is_due(k, iteration, last))
        return SADDLE_OK;
    const saddle_world *world = k->info->network->world;
    saddle_status status = save(k, moment, error);
    /* All ranks must know whether it succeeded, to agree on what is due next. */
    world->share(world, 0, sizeof status, &status);
    bool quiet = status != SADDLE_OK && k->failing && !last;
    k->failing = status != SADDLE_OK;
    k->moment = saddle_clock_seconds();
    if (status == SADDLE_OK) {
        k->done = iteration;
        announce(k, iteration);
    }
    return quiet ? SADDLE_OK : status;
}
