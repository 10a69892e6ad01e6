/* Checks of the neighbours of a session: questions and answers, in which no neighbour takes part in a run. */
#include <time.h>

#include "peers/session_state.h"

/* Seconds between two questions, and in which this process still answers when it knows all. */
#define ASK_EVERY 0.25
#define LINGER 1.0
/* Bytes of the time in front of an answer's version. */
enum { TIME = 8 };

/* Returns the microseconds since 1970. */
static uint64_t wall_clock(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void saddle_session_answer(saddle_session *s, size_t k, uint64_t question)
{
    unsigned char body[64];
    uint64_t now = wall_clock();
    size_t length = strlen(saddle_version());
    for (unsigned n = 0; n < TIME; n++)
        body[n] = (unsigned char)(now >> 8 * n);
    memcpy(body + TIME, saddle_version(), length);
    saddle_session_say(s, k, SADDLE_MESSAGE_ANSWER, question, body, TIME + length);
}

static void ask(saddle_session *s)
{
    for (size_t k = 0; k < s->neighbours; k++)
        saddle_session_say(s, k, SADDLE_MESSAGE_CHECK, wall_clock(), saddle_version(),
                           strlen(saddle_version()));
}

/* Takes the times of an answer: the clock of the one that took the least time counts. */
static void take_times(saddle_check *check, const saddle_message *m)
{
    uint64_t time = 0;
    double now = (double)wall_clock();
    for (unsigned n = 0; n < TIME; n++)
        time |= (uint64_t)m->body[n] << 8 * n;
    double delay = (now - (double)m->step) * 1e-6;
    if (check->answered && !(delay < check->delay))
        return;
    check->answered = true;
    check->delay = delay;
    check->clock = (double)time * 1e-6 - 0.5e-6 * (now + (double)m->step);
}

void saddle_session_take_check(saddle_session *s, size_t k, const saddle_message *m)
{
    saddle_check *check = &s->check[k];
    const char *own = saddle_version();
    size_t before = m->kind == SADDLE_MESSAGE_ANSWER  ? TIME
                    : m->kind == SADDLE_MESSAGE_HELLO ? SADDLE_POSITION
                                                      : 0;
    if ((m->kind != SADDLE_MESSAGE_CHECK && before == 0) || m->length < before)
        return;
    const char *version = m->length > before ? (const char *)m->body + before : "";
    size_t length = m->length - before;
    if (m->kind == SADDLE_MESSAGE_CHECK)
        saddle_session_answer(s, k, m->step);
    check->heard = length == strlen(own) && memcmp(version, own, length) == 0;
    check->problem[0] = '\0';
    if (!check->heard)
        saddle_snprintf(check->problem, sizeof check->problem,
                        "it runs saddle %s, and this is %s; install the same version",
                        saddle_excerpt_of(version, version + length).text, own);
    else if (m->kind == SADDLE_MESSAGE_ANSWER)
        take_times(check, m);
}

static bool all_answered(const saddle_session *s)
{
    for (size_t k = 0; k < s->neighbours; k++)
        if (!s->check[k].answered)
            return false;
    return true;
}

bool saddle_session_check_all(saddle_session *s, double seconds, saddle_check *out)
{
    double end = saddle_clock_seconds() + seconds;
    double again = 0.0;
    bool all = false;
    s->check = out;
    for (size_t k = 0; k < s->neighbours; k++)
        out[k] = (saddle_check){.agent = s->neighbour[k].agent,
                                .dialled = saddle_session_dialled(&s->with, s->neighbour[k].agent)};
    for (double now; !s->failed && (now = saddle_clock_seconds()) < end;) {
        if (now > again) {
            ask(s);
            again = now + ASK_EVERY;
        }
        saddle_session_look(s, SADDLE_LOOK);
        for (size_t k = 0; k < s->neighbours; k++)
            out[k].link = s->table->link(s->sockets, k);
        if (!all && (all = all_answered(s)))
            end = fmin(end, now + LINGER);
    }
    return all;
}
