/* Rounds with a deadline: which messages are waited for, and which are used instead of those that are late. */
#include "peers/session_state.h"

/* Seconds between two greetings of neighbours that have not been met, and for which all are waited for at first. */
#define GREET_AGAIN 0.5
#define FIRST_WAIT 5.0
/* An agent leaves out iterations if a neighbour is this many ahead: fewer are made up for, as it does not wait then. */
enum { AHEAD = 4 };

bool saddle_session_hold(saddle_session *s, size_t slots)
{
    if (slots <= s->slots)
        return true;
    for (size_t k = 0; k < s->neighbours; k++) {
        saddle_round_message *more = saddle_alloc(slots, sizeof *more);
        if (more == NULL)
            return false;
        /* What has come so far is of rounds 0 and 1. */
        memcpy(more, s->neighbour[k].round, s->slots * sizeof *more);
        saddle_free(s->neighbour[k].round);
        s->neighbour[k].round = more;
    }
    s->slots = slots;
    return true;
}

void saddle_session_take_early(saddle_session *s, size_t k, const saddle_message *m)
{
    saddle_neighbour *from = &s->neighbour[k];
    saddle_round_message *into = &from->round[m->step % s->slots];
    from->late = false;
    if (from->silent) {
        from->silent = false;
        saddle_warn(s->with.warning, s->with.warning_context, "agent %zu is heard again",
                    from->agent);
    }
    if (m->step >= from->newest)
        from->newest = m->step + 1;
    if (m->step < from->next || (into->held && into->round > m->step))
        return;
    if (!saddle_session_keep(into, m->step, m->body, m->length))
        SADDLE_SESSION_FAIL(s, SADDLE_NO_MEMORY, "memory for the messages of a round is short");
}

/* Returns the message that takes part in a round: its own, or the newest of those before it that have the same number
 * in their iteration, and so the same fields; NULL: none. */
static saddle_round_message *message_for(const saddle_session *s, size_t k, uint64_t round)
{
    saddle_round_message *found = NULL;
    for (size_t n = 0; n < s->slots; n++) {
        saddle_round_message *m = &s->neighbour[k].round[n];
        bool fits = m->held && m->round <= round && (round - m->round) % s->per_iteration == 0;
        if (fits && (found == NULL || m->round > found->round))
            found = m;
    }
    return found;
}

/* Returns whether a neighbour is not waited for: its message is here, was lost, or cannot be expected. */
static bool is_ready(const saddle_neighbour *of, uint64_t round)
{
    return of->newest > round || of->done || of->late;
}

/* If all neighbours are late, one is waited for: rounds without any would not bring this agent further. */
static bool all_ready(const saddle_session *s, uint64_t round)
{
    size_t late = 0;
    for (size_t k = 0; k < s->neighbours; k++)
        if (!is_ready(&s->neighbour[k], round))
            return false;
        else
            late += s->neighbour[k].late && !s->neighbour[k].done;
    return late < s->neighbours || late == 0;
}

void saddle_session_forget(saddle_session *s, size_t k)
{
    saddle_neighbour *of = &s->neighbour[k];
    of->next = of->newest = 0;
    of->late = true;
    for (size_t n = 0; n < s->slots; n++)
        of->round[n].held = false;
}

/* Greets neighbours that have not been met, now and then. */
static void greet(saddle_session *s, double now)
{
    if (now - s->greeted < GREET_AGAIN)
        return;
    saddle_session_greet(s);
    s->greeted = now;
}

static bool all_heard(const saddle_session *s)
{
    for (size_t k = 0; k < s->neighbours; k++)
        if (s->neighbour[k].newest == 0 && !s->neighbour[k].done)
            return false;
    return true;
}

/* Writes a line of the log at once, so that it is there even if this process is killed. */
static void write_log(saddle_session *s)
{
    saddle_error error = {.message = ""};
    if (saddle_lines_flush(&s->log, "the log", &error) != SADDLE_OK)
        saddle_warn(s->with.warning, s->with.warning_context, "%s", error.message);
}

void saddle_session_catch_up(saddle_session *s)
{
    double begin = saddle_clock_seconds();
    double now = begin;
    double seconds = fmin(FIRST_WAIT, s->with.patience);
    if (s->log.stream != NULL) {
        saddle_fprintf(s->log.stream, "%" PRIu64 " return %zu\n", (uint64_t)s->rounds,
                       s->with.self);
        write_log(s);
    }
    while (!s->failed && !all_heard(s) && now - begin < seconds) {
        greet(s, now);
        saddle_session_look(s, SADDLE_LOOK);
        now = saddle_clock_seconds();
    }
}

/* Waits until all neighbours are ready; those that are not when the time has passed are late. */
static void wait_until_ready(saddle_session *s, uint64_t round)
{
    double begin = saddle_clock_seconds();
    while (!s->failed) {
        while (saddle_session_look(s, 0))
            ;
        if (all_ready(s, round))
            return;
        double now = saddle_clock_seconds();
        double left = begin + s->with.deadline - now;
        if (!(left > 0.0))
            break;
        greet(s, now);
        saddle_session_look(s, (int)fmin(ceil(1e3 * left), SADDLE_LOOK));
    }
    for (size_t k = 0; k < s->neighbours; k++)
        if (!is_ready(&s->neighbour[k], round))
            s->neighbour[k].late = true;
}

void saddle_session_call_gone(saddle_session *s, size_t k, const char *why)
{
    saddle_neighbour *of = &s->neighbour[k];
    if (!of->silent)
        saddle_warn(s->with.warning, s->with.warning_context,
                    "agent %zu is gone: %s; the run continues without it until it is heard again",
                    of->agent, why);
    of->silent = of->late = true;
}

/* Calls neighbours gone that have been silent for too long; fails if all are. */
static void check_silence(saddle_session *s)
{
    char why[64];
    double now = saddle_clock_seconds();
    size_t silent = 0;
    saddle_snprintf(why, sizeof why, "nothing from it for %g seconds", s->with.patience);
    for (size_t k = 0; k < s->neighbours; k++) {
        const saddle_neighbour *of = &s->neighbour[k];
        if (of->late && !of->done && now - fmax(of->heard, s->begin) > s->with.patience)
            saddle_session_call_gone(s, k, why);
        silent += of->silent;
    }
    if (silent == s->neighbours && silent > 0)
        SADDLE_SESSION_FAIL(s, SADDLE_IO,
                            "nothing from agent %zu for %g seconds, and no other neighbour is "
                            "left; is its process running, and can its address be reached?",
                            s->neighbour[0].agent, s->with.patience);
}

void saddle_session_take_by_deadline(saddle_session *s, uint64_t round, size_t size,
                                     saddle_take_message *take, void *context)
{
    wait_until_ready(s, round);
    check_silence(s);
    for (size_t k = 0; !s->failed && k < s->neighbours; k++) {
        saddle_neighbour *of = &s->neighbour[k];
        saddle_round_message *m = message_for(s, k, round);
        if (of->newest > round + (uint64_t)AHEAD * s->per_iteration)
            s->pause = 1;
        if (m == NULL)
            continue;
        m->held = false;
        of->next = m->round + 1;
        if (m->size >= size)
            take(context, k, m->round, m->bytes, m->size);
        else
            SADDLE_SESSION_FAIL(s, SADDLE_BAD_INPUT,
                                "agent %zu sent %zu bytes in round %llu, and %zu were due; give "
                                "all agents the same build of saddle",
                                of->agent, m->size, (unsigned long long)m->round, size);
    }
    s->taken = round + 1;
}

void saddle_session_log_used(saddle_session *s, size_t k, uint64_t round, uint64_t age, bool gone)
{
    saddle_neighbour *of = &s->neighbour[k];
    bool same = age == of->logged;
    if (s->log.stream == NULL || (same && gone == of->logged_gone))
        return;
    if (gone != of->logged_gone)
        saddle_fprintf(s->log.stream, "%" PRIu64 " %s %zu %zu\n", round, gone ? "gone" : "back",
                       s->with.self, of->agent);
    of->logged = age;
    of->logged_gone = gone;
    if (!same && age == SADDLE_REPLAY_LOST)
        saddle_fprintf(s->log.stream, "%" PRIu64 " lost %zu %zu\n", round, s->with.self, of->agent);
    else if (!same)
        saddle_fprintf(s->log.stream, "%" PRIu64 " late %zu %zu %" PRIu64 "\n", round, s->with.self,
                       of->agent, age);
    write_log(s);
}

uint64_t saddle_session_skip(saddle_session *s, uint64_t done)
{
    uint64_t newest = 0;
    if (s->failed || s->with.deadline <= 0.0)
        return 0;
    s->pause = 0;
    for (size_t k = 0; k < s->neighbours; k++)
        if (s->neighbour[k].newest > newest)
            newest = s->neighbour[k].newest;
    /* The iteration that the neighbour has begun; the last one is made. */
    uint64_t begun = newest > 0 ? (newest - 1) / s->per_iteration : 0;
    if (s->with.last > 0 && begun >= s->with.last)
        begun = s->with.last - 1;
    if (begun <= done + AHEAD)
        return 0;
    if (s->log.stream != NULL) {
        saddle_fprintf(s->log.stream, "%" PRIu64 " skip %zu %" PRIu64 "\n", done * s->per_iteration,
                       s->with.self, (begun - done) * s->per_iteration);
        write_log(s);
    }
    return begun - done;
}
