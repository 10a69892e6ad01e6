/* Resuming from a checkpoint: finding it and loading it. */
#include <sys/stat.h>

#include "checkpoint/checkpoint.h"
#include "core/world.h"

/* ---- finding it ------------------------------------------------------------------------------ */

/* What the `resume` option names. */
typedef struct resume_source {
    const char *place; /* NULL: do not resume */
    bool directory;    /* a directory, whose newest checkpoint is meant; otherwise a file */
    bool lenient;      /* accept the newest valid one, or none */
} resume_source;

static saddle_status read_source(resume_source *out, const saddle_plan *plan, saddle_error *error)
{
    struct stat status;
    const char *text = plan->outputs.resume;
    *out = (resume_source){.place = NULL};
    if (text == NULL || *text == '\0' || strcmp(text, "no") == 0)
        return SADDLE_OK;
    out->lenient = strcmp(text, "auto") == 0;
    out->place = text;
    out->directory = stat(text, &status) == 0 && S_ISDIR(status.st_mode);
    if (!out->lenient && strcmp(text, "yes") != 0)
        return SADDLE_OK;
    out->place = plan->outputs.checkpoint;
    out->directory = true;
    if (out->place != NULL && *out->place != '\0')
        return SADDLE_OK;
    return saddle_refuse(
        error, "--resume: neither a checkpoint nor a directory is given; give the directory of the "
               "checkpoints as --checkpoint, or as --resume the path of a directory or checkpoint");
}

/* Opens the newest checkpoint beside `refused` that is valid and belongs to this run; NULL when there is none. */
static saddle_checkpoint *find_other(const char *refused, const saddle_resuming_run *wanted)
{
    saddle_checkpoint *found = NULL;
    SADDLE_OWNED char *directory = saddle_directory_of(refused);
    char *path = NULL;
    for (size_t age = 0; directory != NULL && found == NULL; age++) {
        if (saddle_checkpoint_find(&path, directory, age, NULL) != SADDLE_OK || path == NULL)
            break;
        bool other = strcmp(saddle_file_name(path), saddle_file_name(refused)) != 0;
        if (other && saddle_checkpoint_open(&found, path, NULL) == SADDLE_OK && wanted != NULL &&
            saddle_resume_check(found, wanted, NULL) != SADDLE_OK) {
            saddle_checkpoint_close(found);
            found = NULL;
        }
        saddle_free(path);
    }
    return found;
}

/* Appends to an error message which other checkpoint can be used. */
static void name_alternative(const char *refused, const saddle_resuming_run *wanted,
                             saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_checkpoint_close_at)
    saddle_checkpoint *other = error != NULL ? find_other(refused, wanted) : NULL;
    if (other == NULL)
        return;
    saddle_error said = *error;
    saddle_fail(error, said.status,
                "%.600s; '%s' of iteration %" PRIu64 " is valid; resume from that one",
                said.message, other->path, other->number.iteration);
}

/* Opens a checkpoint. If it is not valid, and another one is, opens that one if `lenient`; otherwise names it. */
static saddle_status open_or_other(saddle_resumption *out, const char *path, bool lenient,
                                   saddle_error *error)
{
    saddle_error reason = {.message = ""};
    saddle_status status = saddle_checkpoint_open(&out->from, path, &reason);
    if (status == SADDLE_OK)
        return SADDLE_OK;
    if (status == SADDLE_BAD_INPUT && lenient)
        out->from = find_other(path, NULL);
    if (out->from != NULL) {
        out->refused = saddle_format("%s; resuming from '%s' of iteration %" PRIu64 " instead",
                                     reason.message, out->from->path, out->from->number.iteration);
        return SADDLE_OK;
    }
    if (error != NULL)
        *error = reason;
    name_alternative(path, NULL, error);
    return status;
}

/* Opens what the plan names, in this process. */
static saddle_status choose(saddle_resumption *out, const saddle_plan *plan, saddle_error *error)
{
    resume_source source;
    struct stat there;
    SADDLE_OWNED char *path = NULL;
    saddle_status status = read_source(&source, plan, error);
    if (status != SADDLE_OK || source.place == NULL)
        return status;
    if (!source.directory)
        return open_or_other(out, source.place, false, error);
    /* A directory that does not exist yet has no checkpoints. */
    if (!source.lenient || stat(source.place, &there) == 0 || errno != ENOENT)
        status = saddle_checkpoint_find(&path, source.place, 0, error);
    if (status == SADDLE_OK && path == NULL && !source.lenient)
        status = saddle_refuse(error,
                               "--resume: there is no checkpoint in '%s'; leave it out to start "
                               "from the beginning, or give auto to resume only if there is one",
                               source.place);
    SADDLE_THEN_IF(status, path != NULL, open_or_other(out, path, source.lenient, error));
    return status;
}

/* Sends all processes the head that rank 0 has read. */
static saddle_status share_head(saddle_resumption *r, const saddle_world *world,
                                saddle_error *error)
{
    void *head = r->from != NULL ? r->from->head : NULL;
    void *path = r->from != NULL ? r->from->path : NULL;
    size_t bytes = r->from != NULL ? r->from->head_bytes : 0;
    size_t length = r->from != NULL ? strlen(r->from->path) + 1 : 0;
    saddle_status status = saddle_world_copy(world, &head, &bytes, "a checkpoint", error);
    SADDLE_THEN(status, saddle_world_copy(world, &path, &length, "a checkpoint", error));
    SADDLE_THEN_IF(status, r->from == NULL && bytes > 0,
                   saddle_checkpoint_decode(&r->from, path, head, bytes, error));
    if (world->rank > 0) {
        saddle_free(head);
        saddle_free(path);
    }
    return saddle_world_agree(world, status, error);
}

saddle_status saddle_resume_open(saddle_resumption *out, const saddle_plan *plan,
                                 const saddle_world *world, saddle_error *error)
{
    memset(out, 0, sizeof *out);
    saddle_status status = SADDLE_OK;
    if (world->rank == 0)
        status = saddle_in_field("--resume", choose(out, plan, error), error);
    status = saddle_world_agree(world, status, error);
    SADDLE_THEN(status, share_head(out, world, error));
    if (status != SADDLE_OK)
        saddle_resume_close(out);
    return status;
}

/* ---- loading it ------------------------------------------------------------------------------ */

/* Allocates all blocks of a resumption in a process with `local` agents, or counts their bytes. */
static void take_blocks(saddle_resumption *r, size_t local)
{
    const saddle_checkpoint_numbers *n = &r->from->number;
    saddle_allocator *a = &r->allocator;
    r->record_size = saddle_checkpoint_record(n) / sizeof *r->record;
    r->memory = saddle_allocator_block(a, (size_t)n->memory, sizeof *r->memory);
    r->rows = saddle_allocator_block(a, (size_t)n->rows, sizeof *r->rows);
    r->outcomes = saddle_allocator_block(a, (size_t)(n->rows * n->outcomes), sizeof *r->outcomes);
    r->solution = saddle_allocator_block(a, (size_t)n->solution, sizeof *r->solution);
    /* The last record is one on its way to another process. */
    r->record = saddle_allocator_block(a, local + 1, saddle_checkpoint_record(n));
    if (n->links == 0)
        return;
    /* The links of all agents, until each process has taken over those of its own. */
    r->links = saddle_allocator_block(a, (size_t)n->links, sizeof *r->links);
    r->link_start = saddle_allocator_block(a, (size_t)n->agents + 1, sizeof *r->link_start);
}

double saddle_resume_bytes(const saddle_resumption *r, size_t local)
{
    saddle_resumption counted = {.from = r->from, .allocator = {.count_only = true}};
    if (r->from != NULL)
        take_blocks(&counted, local);
    return counted.allocator.bytes;
}

/* Reads `count` numbers of 8 bytes that all processes need. */
static saddle_status load_block(const saddle_resumption *r, void *block, uint64_t count,
                                saddle_error *error)
{
    size_t bytes = (size_t)count * 8;
    saddle_status status =
        r->world->rank == 0 ? saddle_checkpoint_get(r->from, block, bytes, error) : SADDLE_OK;
    SADDLE_TRY(saddle_world_agree(r->world, status, error));
    r->world->share(r->world, 0, bytes, block);
    return SADDLE_OK;
}

/* Reads the agents' records and sends them to the agents' ranks. If rank 0 cannot read on, it still
 * sends what the others wait for. */
static saddle_status load_records(const saddle_resumption *r, saddle_error *error)
{
    const saddle_world *world = r->world;
    size_t bytes = r->record_size * sizeof *r->record;
    saddle_status status = SADDLE_OK;
    uint64_t *next = r->record;
    for (size_t i = 0; i < world->agents; i++) {
        bool here = saddle_world_has(world, i);
        uint64_t *record = here ? next : r->record + world->local * r->record_size;
        if (world->rank == 0 && status == SADDLE_OK)
            status = saddle_checkpoint_get(r->from, record, bytes, error);
        if (world->home[i] != 0 && (here || world->rank == 0))
            world->transfer(world, 0, world->home[i], bytes, record);
        if (here && status == SADDLE_OK && record[0] != i)
            status = saddle_refuse(
                error,
                "the checkpoint '%s' is damaged: the record of agent %zu is of agent %" PRIu64,
                r->from->path, i, record[0]);
        next += here ? r->record_size : 0;
    }
    return saddle_world_agree(world, status, error);
}

/* Reads the body. */
static saddle_status load(saddle_resumption *r, const saddle_run_info *info, saddle_error *error)
{
    const saddle_checkpoint_numbers *n = &r->from->number;
    r->world = info->instance->world;
    take_blocks(r, r->world->local);
    saddle_status status =
        r->allocator.failed ? saddle_no_memory(error, "a checkpoint") : SADDLE_OK;
    SADDLE_TRY(saddle_world_agree(r->world, status, error));
    for (size_t i = 0; n->links > 0 && i < r->world->agents; i++)
        r->link_start[i + 1] = r->link_start[i] + saddle_checkpoint_agent_words(info, i);
    SADDLE_TRY(load_block(r, r->memory, n->memory, error));
    SADDLE_TRY(load_block(r, r->rows, n->rows * n->row_words, error));
    SADDLE_TRY(load_block(r, r->outcomes, n->rows * n->outcomes, error));
    SADDLE_TRY(load_block(r, r->solution, n->solution, error));
    SADDLE_TRY(load_records(r, error));
    return n->links > 0 ? load_block(r, r->links, n->links, error) : SADDLE_OK;
}

saddle_status saddle_resume_load(saddle_resumption *r, const saddle_run_info *info,
                                 saddle_error *error)
{
    const saddle_world *world = info->network->world;
    if (r->from == NULL)
        return SADDLE_OK;
    const saddle_checkpoint_numbers number = saddle_checkpoint_measure(info);
    const saddle_resuming_run wanted = {.info = info, .number = &number};
    saddle_status status = saddle_resume_check(r->from, &wanted, error);
    if (status != SADDLE_OK && world->rank == 0)
        name_alternative(r->from->path, &wanted, error);
    status = saddle_world_agree(world, status, error);
    return status == SADDLE_OK ? load(r, info, error) : status;
}

const char *saddle_resume_setting(const saddle_resumption *r, const char *name)
{
    const saddle_setting *setting = saddle_recorded_find(&r->from->settings, name);
    return setting != NULL ? setting->effective : "";
}

bool saddle_resume_was_given(const saddle_resumption *r, const char *name)
{
    const saddle_setting *setting = saddle_recorded_find(&r->from->settings, name);
    return setting != NULL && setting->given != NULL && strcmp(setting->given, "auto") != 0;
}

const uint64_t *saddle_resume_links(void *resumption, size_t agent)
{
    const saddle_resumption *r = resumption;
    return r->links + r->link_start[agent];
}

void saddle_resume_agent(void *resumption, saddle_agent *agent)
{
    const saddle_resumption *r = resumption;
    const saddle_checkpoint_numbers *n = &r->from->number;
    const uint64_t *record = r->record + saddle_world_place(r->world, agent->id) * r->record_size;
    agent->ifo = record[1];
    memcpy(&agent->clock, &record[2], sizeof agent->clock);
    record += SADDLE_RECORD_WORDS;
    memcpy(agent->next, record, n->published * sizeof *agent->next);
    memcpy(agent->kept, record + n->published, n->kept * sizeof *agent->kept);
}

void saddle_resume_solution(const saddle_resumption *r, saddle_result *result)
{
    const saddle_checkpoint_numbers *n = &r->from->number;
    size_t x_bytes = result->x_dim * sizeof(double);
    size_t y_bytes = result->y_dim * sizeof(double);
    if (n->solution == 0)
        return;
    memcpy(result->x_mean, r->solution, x_bytes);
    memcpy(result->y_mean, r->solution + result->x_dim, y_bytes);
    for (size_t k = 0; k < result->local; k++) {
        const uint64_t *record =
            r->record + k * r->record_size + SADDLE_RECORD_WORDS + n->published + n->kept;
        memcpy(result->x + k * result->x_dim, record, x_bytes);
        memcpy(result->y + k * result->y_dim, record + result->x_dim, y_bytes);
    }
}

void saddle_resume_forget(saddle_resumption *r)
{
    saddle_allocator_free(&r->allocator);
    *r = (saddle_resumption){.from = r->from, .refused = r->refused, .world = r->world};
}

void saddle_resume_close(saddle_resumption *r)
{
    saddle_resume_forget(r);
    saddle_checkpoint_close(r->from);
    saddle_free(r->refused);
    memset(r, 0, sizeof *r);
}
