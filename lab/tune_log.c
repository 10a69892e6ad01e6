/*
 * The log of a search: a head that describes the search, then one line per evaluation.
 *
 *   # saddle 0.3.0
 *   # problem: quadratic         every effective setting that can change a result
 *   # fingerprint: 6d1c...       the contents of data and network
 *   # budget: 100000             and those of the search
 *   # search: batch=2,4,8        if there is such a list
 *   rung,candidate,allotment,ifo,iterations,metric,eta-x,eta-y
 *   0,0,1250,1250,11,0.93,0.01,0.1
 *
 * A search continues from a log only if the head is the one that it would write itself. A line that is incomplete after
 * a kill or on a full disk is written again.
 */
#include "lab/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/memory.h"
#include "core/print.h"
#include "core/status.h"
#include "core/text.h"
#include "files/line_reader.h"
#include "instance/fingerprint.h"

/* The name of the file in messages. */
#define WHAT "the log"

/* The line with the hash of the contents of data and network. */
#define FINGERPRINT "# fingerprint: "
/* Columns before the values of options. */
#define FIXED_COLUMNS 6

/* ---- the head ------------------------------------------------------------------------------ */

bool saddle_tune_ignores(const saddle_option *option)
{
    return option->effect == SADDLE_EFFECT_ENGINE || option->effect == SADDLE_EFFECT_LENGTH ||
           option->effect == SADDLE_EFFECT_OUTPUT || option->effect == SADDLE_EFFECT_RECORD;
}

/* Prints the head. The data are named as the user gave them, although rows that were split for
 * validation are in memory. */
static void print_head(FILE *f, const saddle_tuning *tuning, const saddle_instance *instance,
                       const saddle_plan *given, const saddle_plan *plan)
{
    saddle_fprintf(f, "# saddle %s\n", saddle_version());
    for (size_t k = 0; k < saddle_plan_option_count(plan); k++) {
        const saddle_option *option = saddle_plan_option(plan, k);
        bool source = option->effect == SADDLE_EFFECT_SOURCE;
        const char *text = SADDLE_PLAN_TEXT(source ? given : plan, option);
        if (*text != '\0' && !saddle_tune_ignores(option))
            saddle_fprintf(f, "# %s: %s\n", option->name, text);
    }
    saddle_fprintf(f, FINGERPRINT "%016" PRIx64 "\n", instance->parts->fingerprint);
    if (instance->held_out != NULL)
        saddle_fprintf(f, "# held-out rows: %zu\n", instance->held_out->rows);
    saddle_fprintf(f, "# budget: %" PRIu64 "\n# candidates: %zu\n", tuning->budget,
                   tuning->candidates);
    if (tuning->search != NULL)
        saddle_fprintf(f, "# search: %s\n", tuning->search);
    saddle_fprintf(f, "rung,candidate,allotment,ifo,iterations,%s", tuning->objective.name);
    for (size_t j = 0; j < tuning->option_count; j++)
        saddle_fprintf(f, ",%s", tuning->option[j]->name);
    fputc('\n', f);
}

/* The head as text, to be freed with free(); NULL if memory is short. */
static char *make_head(const saddle_tuning *tuning, const saddle_instance *instance,
                       const saddle_plan *given, const saddle_plan *plan)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    if (f == NULL)
        return NULL;
    print_head(f, tuning, instance, given, plan);
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

/* Compares the current line, which may be incomplete, with the head from `wanted` on; returns
 * the next line of the head, or NULL if they differ. */
static const char *match_head(const saddle_line_reader *in, const char *wanted)
{
    size_t length = in->ended ? strcspn(wanted, "\n") : strlen(in->line);
    if (strncmp(in->line, wanted, length) != 0 || in->line[length] != '\0')
        return NULL;
    return wanted + length + in->ended;
}

/* Whether a power cut destroyed a block of the current line: a file system leaves NULs there,
 * which the reader shows as this. */
static bool is_lost(const saddle_line_reader *in)
{
    return strchr(in->line, '\x01') != NULL;
}

/* Reads the lines of a log, which must begin with `head`; *used receives the bytes of complete
 * lines, 0 if the head is incomplete. */
static saddle_status read_lines(saddle_line_reader *in, const char *head, saddle_tune_log *log,
                                const saddle_tuning *tuning, size_t *used, saddle_error *error)
{
    const char *wanted = head;
    size_t capacity = 0;
    while (saddle_line_reader_next(in, error)) {
        if (*wanted != '\0') {
            const char *next = match_head(in, wanted);
            if (next == NULL && strncmp(in->line, FINGERPRINT, strlen(FINGERPRINT)) == 0 &&
                strncmp(wanted, FINGERPRINT, strlen(FINGERPRINT)) == 0)
                return saddle_fail(
                    error, SADDLE_BAD_INPUT,
                    "'%.300s' belongs to another search: the contents of the data or the network "
                    "have changed since; restore the files, or start again in another directory",
                    in->path);
            if (next == NULL)
                return saddle_fail(
                    error, SADDLE_BAD_INPUT,
                    "'%.300s' belongs to another search: it says '%s' where this one has '%.*s'; "
                    "give the options of that search, or start again in another directory",
                    in->path, SADDLE_EXCERPT(in->line), (int)strcspn(wanted, "\n"), wanted);
            wanted = next;
        } else if (is_lost(in)) {
            break;
        } else if (in->ended) {
            saddle_trial *grown = saddle_grow(log->trials, log->count, &capacity, sizeof *grown);
            SADDLE_TRY(saddle_check_memory(grown, "the log", error));
            log->trials = grown;
            if (!read_trial(in, tuning, &grown[log->count]))
                return saddle_line_reader_refuse(in, in->line, error,
                                                 "evaluation %zu does not belong to this search; "
                                                 "start again in another directory",
                                                 log->count + 1);
            log->count++;
        }
        if (*wanted == '\0' && in->ended)
            *used = in->bytes;
    }
    return in->status;
}

/* Reads a log, which may be empty. */
static saddle_status read_log(saddle_tune_log *log, const char *head, const saddle_tuning *tuning,
                              size_t *used, saddle_error *error)
{
    saddle_line_reader in;
    saddle_status status =
        saddle_line_reader_open(&in, log->lines.path, "the log of a search", error);
    SADDLE_THEN(status, read_lines(&in, head, log, tuning, used, error));
    saddle_line_reader_close(&in);
    return status;
}

/* Refuses a log that exists, unless it is to be continued. */
static saddle_status check_new(const saddle_tune_log *log, saddle_error *error)
{
    struct stat status;
    if (fstat(fileno(log->lines.stream), &status) != 0 || status.st_size == 0)
        return SADDLE_OK;
    return saddle_fail(
        error, SADDLE_BAD_INPUT,
        "resume: '%s' already exists; give this option to continue it, or choose another output",
        log->lines.path);
}

/* Opens the file and reads it. */
static saddle_status open_file(saddle_tune_log *log, const saddle_instance *instance,
                               const saddle_tuning *tuning, const saddle_tune_inputs *inputs,
                               const saddle_plan *plan, const saddle_forecast *forecast,
                               saddle_error *error)
{
    size_t used = 0;
    char *head = make_head(tuning, instance, plan, &forecast->plan);
    SADDLE_TRY(saddle_check_memory(head, "the log", error));
    saddle_status status = saddle_lines_open(&log->lines, inputs->log, "output", true, error);
    SADDLE_THEN(status,
                inputs->resume ? read_log(log, head, tuning, &used, error) : check_new(log, error));
    SADDLE_THEN(status, saddle_lines_cut(&log->lines, used, WHAT, error));
    if (status == SADDLE_OK && used == 0) {
        fputs(head, log->lines.stream);
        status = saddle_lines_flush(&log->lines, WHAT, error);
    }
    free(head);
    return status;
}

/* Sends the evaluations that process 0 has read to all processes. */
static saddle_status share_trials(saddle_tune_log *log, const saddle_world *world,
                                  saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    world->share(world, 0, sizeof log->count, &log->count);
    if (world->rank > 0) {
        log->trials = saddle_alloc(log->count, sizeof *log->trials);
        if (log->trials == NULL)
            status = saddle_no_memory(error, "the log");
    }
    status = saddle_world_agree(world, status, error);
    if (status == SADDLE_OK && log->count > 0)
        world->share(world, 0, log->count * sizeof *log->trials, log->trials);
    return status;
}

saddle_status saddle_tune_log_open(saddle_tune_log *log, const saddle_instance *instance,
                                   const saddle_tuning *tuning, const saddle_tune_inputs *inputs,
                                   const saddle_plan *plan, const saddle_forecast *forecast,
                                   saddle_error *error)
{
    const saddle_world *world = instance->world;
    memset(log, 0, sizeof *log);
    if (inputs->log == NULL)
        return SADDLE_OK;
    saddle_status status = SADDLE_OK;
    uint64_t fingerprint; /* which the instance keeps for the head */
    SADDLE_TRY(saddle_fingerprint_instance(instance, &fingerprint, error));
    log->path = inputs->log;
    if (world->rank == 0)
        status = open_file(log, instance, tuning, inputs, plan, forecast, error);
    status = saddle_world_agree(world, status, error);
    return status == SADDLE_OK ? share_trials(log, world, error) : status;
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
