#include "graph/replay.h"

#include "graph/reading.h"

#define FORM \
    "a line is `round lost|gone|back I J`, `round late I J ROUNDS` or `round skip I ROUNDS`"

/* The most rounds that a message can be late: this many copies of all are kept. */
#define MOST_LATE 10000000

typedef struct reading {
    saddle_replay *replay;
    const saddle_graph *graph;
    size_t capacity;
} reading;

/* Reads what happens to whom: a link, or an agent that skips. */
static saddle_status read_which(saddle_line_reader *in, const reading *r, const char *word,
                                size_t *which, saddle_error *error)
{
    size_t agent[2];
    bool presence = strcmp(word, "gone") == 0 || strcmp(word, "back") == 0;
    if (strcmp(word, "skip") != 0) {
        SADDLE_TRY(saddle_read_link(in, r->graph, FORM, agent, which, error));
        *which += presence ? r->replay->positions + r->replay->agents : 0;
        return SADDLE_OK;
    }
    SADDLE_TRY(saddle_read_agent(in, r->graph->agents, FORM, &agent[0], error));
    *which = r->replay->positions + agent[0];
    return SADDLE_OK;
}

static saddle_status read_event(saddle_line_reader *in, void *context, saddle_error *error)
{
    reading *r = context;
    saddle_replay *replay = r->replay;
    saddle_replay_event event = {.rounds = SADDLE_REPLAY_LOST};
    SADDLE_TRY(saddle_read_round(in, 0, FORM, &event.round, error));
    const char *word = saddle_line_reader_field(in, " \t");
    bool late = word != NULL && strcmp(word, "late") == 0;
    bool skip = word != NULL && strcmp(word, "skip") == 0;
    if (word != NULL && strcmp(word, "return") == 0)
        return saddle_line_reader_refuse(in, word, error,
                                         "here an agent has come back from its checkpoint; such a "
                                         "run cannot be replayed yet");
    if (!late && !skip &&
        (word == NULL ||
         (strcmp(word, "lost") != 0 && strcmp(word, "gone") != 0 && strcmp(word, "back") != 0)))
        return saddle_line_reader_refuse(in, word != NULL ? word : in->rest, error, FORM);
    if (strcmp(word, "back") == 0)
        event.rounds = 0;
    SADDLE_TRY(read_which(in, r, word, &event.which, error));
    const char *at = in->rest;
    if (late || skip)
        SADDLE_TRY(saddle_read_round(in, 0, FORM, &event.rounds, error));
    if (late && (event.rounds > event.round || event.rounds > MOST_LATE))
        return saddle_line_reader_refuse(in, at, error,
                                         "a message of round %" PRIu64 " cannot be late by more "
                                         "rounds than that, or than %d",
                                         event.round, MOST_LATE);
    SADDLE_TRY(saddle_read_end(in, FORM, error));
    if (late && event.rounds > replay->latest)
        replay->latest = event.rounds;
    saddle_replay_event *grown =
        saddle_grow(replay->event, replay->count, &r->capacity, sizeof *grown);
    SADDLE_TRY(saddle_check_memory(grown, "the log", error));
    replay->event = grown;
    replay->event[replay->count++] = event;
    return SADDLE_OK;
}

static int compare(const void *a, const void *b)
{
    const saddle_replay_event *x = a;
    const saddle_replay_event *y = b;
    int which = (x->which > y->which) - (x->which < y->which);
    return which != 0 ? which : (x->round > y->round) - (x->round < y->round);
}

saddle_status saddle_replay_read(saddle_replay *out, const char *path, const saddle_graph *graph,
                                 saddle_error *error)
{
    reading r = {.replay = out, .graph = graph};
    *out = (saddle_replay){.positions = 2 * graph->edges, .agents = graph->agents};
    SADDLE_TRY(saddle_read_lines(path, SADDLE_WANTED_TEXT_FILE, read_event, &r, error));
    if (out->count > 0)
        qsort(out->event, out->count, sizeof *out->event, compare);
    for (size_t k = 1; k < out->count; k++)
        if (compare(&out->event[k - 1], &out->event[k]) == 0)
            return saddle_refuse(error,
                                 "'%.300s' has two lines about one link or agent in round %" PRIu64
                                 "; give each agent's log once",
                                 path, out->event[k].round);
    return SADDLE_OK;
}

void saddle_replay_clear(saddle_replay *replay)
{
    saddle_free(replay->event);
    memset(replay, 0, sizeof *replay);
}

/* Returns the last event of `which` up to a round; NULL: there is none. */
static const saddle_replay_event *last_event(const saddle_replay *replay, size_t which,
                                             uint64_t round)
{
    const saddle_replay_event key = {.which = which, .round = round};
    size_t low = 0; /* events before `low` are not after the key, those from `high` on are */
    size_t high = replay->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&replay->event[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && replay->event[low - 1].which == which ? &replay->event[low - 1] : NULL;
}

uint64_t saddle_replay_age(const saddle_replay *replay, size_t position, uint64_t round)
{
    const saddle_replay_event *event = last_event(replay, position, round);
    return event != NULL ? event->rounds : 0;
}

bool saddle_replay_silent(const saddle_replay *replay, size_t position, uint64_t round)
{
    size_t which = replay->positions + replay->agents + position;
    const saddle_replay_event *event = last_event(replay, which, round);
    return event != NULL && event->rounds > 0;
}

bool saddle_replay_skips(const saddle_replay *replay, size_t agent, uint64_t round)
{
    const saddle_replay_event *event = last_event(replay, replay->positions + agent, round);
    return event != NULL && round - event->round < event->rounds;
}
