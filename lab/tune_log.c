/*
 * The log of a search: a head that describes the search, then one line per evaluation.
 *
 *   # saddle 0.3.0
 *   # problem: quadratic         every effective setting that can change a result
 *   # fingerprint: 6d1c...       saddle_run_info::fingerprint
 *   # objective: attained        and those of the search
 *   # budget: 100000
 *   rung,candidate,allotment,ifo,iterations,attained,eta-x,eta-y
 *   0,0,1250,1250,11,0.93,0.01,0.1
 *
 * A search continues only from a log of the same version, settings and contents. A line that is incomplete after a kill
 * or on a full disk is written again.
 */
#include "lab/tune.h"

#include <sys/stat.h>

#include "core/world.h"
#include "instance/fingerprint.h"
#include "lab/trace_build.h"

/* The name of the file in messages. */
#define WHAT "the log"

/* Columns before the values of options. */
#define FIXED_COLUMNS 6

/* ---- the head ------------------------------------------------------------------------------ */

/* The settings of a search: the data are named as the user gave them, although rows that were split for validation
 * are in memory. */
static const char *search_value(const void *source, const saddle_option *option,
                                char buffer[SADDLE_VALUE_SIZE])
{
    const saddle_tune_space *space = source;
    bool given = option->effect == SADDLE_EFFECT_SOURCE;
    return saddle_plan_text(given ? space->plan : &space->forecast.plan, option, buffer);
}

static void print_setting(FILE *f, const char *name, const char *value)
{
    if (*value != '\0')
        saddle_fprintf(f, "# %s: %s\n", name, value);
}

static void print_head(FILE *f, const saddle_wanted_run *run, const saddle_tuning *tuning)
{
    saddle_fprintf(f, "# saddle %s\n", saddle_version());
    for (size_t k = 0; k < saddle_plan_option_count(run->plan); k++) {
        const saddle_option *option = saddle_plan_option(run->plan, k);
        char buffer[SADDLE_VALUE_SIZE];
        if (!saddle_effect_in(option, run->may_differ))
            print_setting(f, option->name, run->values.value(run->values.source, option, buffer));
    }
    saddle_fprintf(f, "# fingerprint: %016" PRIx64 "\n", run->fingerprint);
    for (size_t k = 0; k < run->extras; k++)
        print_setting(f, run->extra[k][0] + strspn(run->extra[k][0], "-"), run->extra[k][1]);
    saddle_fprintf(f, "rung,candidate,allotment,ifo,iterations,%s", tuning->objective.name);
    for (size_t j = 0; j < tuning->option_count; j++)
        saddle_fprintf(f, ",%s", tuning->option[j]->name);
    fputc('\n', f);
}

/* The head as text, to be freed with free(); NULL if memory is short. */
static char *make_head(const saddle_wanted_run *run, const saddle_tuning *tuning)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    print_head(f, run, tuning);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- lines --------------------------------------------------------------------------------- */

static void print_trial(FILE *f, const saddle_tuning *tuning, const saddle_trial *trial)
{
    saddle_fprintf(f, "%zu,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", trial->rung, trial->candidate,
                   trial->allotment, trial->ifo, trial->iterations);
    char value[SADDLE_REAL_SIZE];
    fputs(trial->diverged ? "diverged" : saddle_print_real(trial->value, 17, value), f);
    for (size_t j = 0; j < tuning->option_count; j++)
        saddle_fprintf(f, ",%s", saddle_tuning_value(tuning, trial->candidate, j));
    fputc('\n', f);
}

/* Reads the current line; false if it does not belong to this search. */
static bool read_trial(saddle_line_reader *in, const saddle_tuning *tuning, saddle_trial *out)
{
    uint64_t number[FIXED_COLUMNS - 1];
    for (size_t k = 0; k + 1 < FIXED_COLUMNS; k++)
        if (!saddle_parse_integer(saddle_line_reader_field(in, ","), &number[k]))
            return false;
    *out = (saddle_trial){.rung = number[0],
                          .candidate = number[1],
                          .allotment = number[2],
                          .ifo = number[3],
                          .iterations = number[4]};
    const char *value = saddle_line_reader_field(in, ",");
    out->diverged = value != NULL && strcmp(value, "diverged") == 0;
    out->value = (double)INFINITY;
    if (!out->diverged && !saddle_parse_real(value, &out->value))
        return false;
    out->cost = saddle_tune_cost(tuning, out);
    if (out->candidate >= tuning->candidates || out->ifo > out->allotment)
        return false;
    for (size_t j = 0; j < tuning->option_count; j++) {
        const char *text = saddle_line_reader_field(in, ",");
        if (text == NULL || strcmp(text, saddle_tuning_value(tuning, out->candidate, j)) != 0)
            return false;
    }
    return saddle_line_reader_field(in, ",") == NULL;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Whether a file ends within its head, as after a full disk. */
static bool ends_in_head(const char *path, const char *head)
{
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return false;
    int c = 0;
    while (*head != '\0' && (c = getc(f)) == (unsigned char)*head)
        head++;
    fclose(f);
    return *head != '\0' && c == EOF;
}

/* Whether a power cut destroyed a block of the current line: a file system leaves NULs there,
 * which the reader shows as this. */
static bool is_lost(const saddle_line_reader *in)
{
    return strchr(in->line, '\x01') != NULL;
}

/* Reads the evaluations; *used receives the bytes of complete lines. */
static saddle_status read_trials(saddle_line_reader *in, saddle_tune_log *log,
                                 const saddle_tuning *tuning, size_t *used, saddle_error *error)
{
    size_t capacity = 0;
    *used = in->bytes;
    while (saddle_line_reader_next(in, error) && in->ended && !is_lost(in)) {
        saddle_trial *grown = saddle_grow(log->trials, log->count, &capacity, sizeof *grown);
        SADDLE_TRY(saddle_check_memory(grown, "the log", error));
        log->trials = grown;
        if (!read_trial(in, tuning, &grown[log->count]))
            return saddle_line_reader_refuse(in, in->line, error,
                                             "evaluation %zu does not belong to this search; "
                                             "start again in another directory",
                                             log->count + 1);
        log->count++;
        *used = in->bytes;
    }
    return in->status;
}

/* Reads a log, which may be empty; *used receives the bytes of complete lines, 0 if the head is incomplete. */
static saddle_status read_log(saddle_tune_log *log, const char *head, const saddle_wanted_run *run,
                              const saddle_tuning *tuning, size_t *used, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_line_reader_close) saddle_line_reader in = {.path = log->lines.path};
    SADDLE_OWNED_BY(saddle_trace_free_at) saddle_trace *there = NULL;
    if (ends_in_head(log->lines.path, head))
        return SADDLE_OK;
    SADDLE_TRY(saddle_line_reader_open(&in, log->lines.path, "the log of a search", error));
    SADDLE_TRY(saddle_trace_read_head(&there, &in, error));
    SADDLE_TRY(saddle_trace_check_run(there, run, error));
    return read_trials(&in, log, tuning, used, error);
}

/* Refuses a log that exists, unless it is to be continued. */
static saddle_status check_new(const saddle_tune_log *log, saddle_error *error)
{
    struct stat status;
    if (fstat(fileno(log->lines.stream), &status) != 0 || status.st_size == 0)
        return SADDLE_OK;
    return saddle_refuse(
        error, "'%s' already exists; give --resume to continue it, or choose another output",
        log->lines.path);
}

/* Opens the file and reads it. */
static saddle_status open_file(saddle_tune_log *log, const saddle_wanted_run *run,
                               const saddle_tuning *tuning, bool resume, saddle_error *error)
{
    size_t used = 0;
    SADDLE_MALLOCED char *head = make_head(run, tuning);
    SADDLE_TRY(saddle_check_memory(head, "the log", error));
    SADDLE_TRY(saddle_lines_open(&log->lines, log->path, "--output", true, error));
    SADDLE_TRY(resume ? read_log(log, head, run, tuning, &used, error) : check_new(log, error));
    SADDLE_TRY(saddle_lines_cut(&log->lines, used, WHAT, error));
    if (used == 0) {
        fputs(head, log->lines.stream);
        SADDLE_TRY(saddle_lines_flush(&log->lines, WHAT, error));
    }
    return SADDLE_OK;
}

/* Opens the log in the process that has the file. */
static saddle_status open_own(saddle_tune_log *log, const saddle_tune_space *space,
                              const saddle_tuning *tuning, uint64_t fingerprint, bool resume,
                              saddle_error *error)
{
    const saddle_instance *instance = space->instance;
    char rows[32] = "";
    char budget[32];
    char candidates[32];
    if (instance->held_out != NULL)
        saddle_snprintf(rows, sizeof rows, "%zu", instance->held_out->rows);
    saddle_snprintf(budget, sizeof budget, "%" PRIu64, tuning->budget);
    saddle_snprintf(candidates, sizeof candidates, "%zu", tuning->candidates);
    const char *const extra[][2] = {{"held-out rows", rows},
                                    {"--objective", tuning->objective.name},
                                    {"--budget", budget},
                                    {"--candidates", candidates},
                                    {"--search", tuning->search != NULL ? tuning->search : ""},
                                    {"--hold", tuning->hold != NULL ? tuning->hold : ""}};
    const saddle_wanted_run run = {
        .what = "search",
        .remedy = "give the options of that search, or start again in another directory",
        .plan = &space->forecast.plan,
        .given = space->plan,
        .values = {space, search_value},
        .may_differ = SADDLE_TUNE_IGNORED,
        .extra = extra,
        .extras = sizeof extra / sizeof *extra,
        .fingerprint = fingerprint};
    return open_file(log, &run, tuning, resume, error);
}

saddle_status saddle_tune_log_open(saddle_tune_log *log, const saddle_tune_space *space,
                                   const saddle_tuning *tuning, const saddle_tune_inputs *inputs,
                                   saddle_error *error)
{
    const saddle_world *world = space->instance->world;
    memset(log, 0, sizeof *log);
    if (inputs->log == NULL)
        return SADDLE_OK;
    saddle_status status = SADDLE_OK;
    uint64_t fingerprint; /* which the forecast then has, with that of the link model */
    saddle_forecast again;
    SADDLE_TRY(saddle_fingerprint_instance(space->instance, &fingerprint, error));
    SADDLE_TRY(saddle_run_forecast(space->instance, space->plan, &again, error));
    saddle_plan_free(&again.plan);
    log->path = inputs->log;
    if (world->rank == 0)
        status = open_own(log, space, tuning, again.fingerprint, inputs->resume, error);
    SADDLE_TRY(saddle_world_agree(world, status, error));
    void *trials = log->trials;
    size_t bytes = log->count * sizeof *log->trials;
    status = saddle_world_copy(world, &trials, &bytes, "the log", error);
    log->trials = trials;
    log->count = bytes / sizeof *log->trials;
    return status;
}

saddle_status saddle_tune_log_write(saddle_tune_log *log, const saddle_tuning *tuning,
                                    const saddle_trial *trial, saddle_error *error)
{
    if (log->lines.stream == NULL)
        return SADDLE_OK;
    print_trial(log->lines.stream, tuning, trial);
    return saddle_lines_flush(&log->lines, WHAT, error);
}

void saddle_tune_log_close(saddle_tune_log *log)
{
    saddle_lines_close(&log->lines, WHAT, NULL);
    saddle_free(log->trials);
    memset(log, 0, sizeof *log);
}
