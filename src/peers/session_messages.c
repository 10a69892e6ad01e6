/* The messages of a session: what it sends, and what it does with those that come. */
#include <sodium/utils.h>

#include "peers/session_state.h"

/* The most messages that were not used and are reported. */
enum { MOST_NOTES = 20 };

/* ---- failures --------------------------------------------------------------------------------- */

saddle_status saddle_session_check(const saddle_session *s, saddle_error *error)
{
    if (!s->failed)
        return SADDLE_OK;
    return saddle_fail(error, s->reason.status, "%s", s->reason.message);
}

const volatile sig_atomic_t *saddle_session_pause(const saddle_session *s)
{
    return &s->pause;
}

/* Reports a message that was not used: not too often, as anyone who is listed can send them. */
static void note(saddle_session *s, size_t agent, const char *what)
{
    if (s->notes++ < MOST_NOTES)
        saddle_warn(s->with.warning, s->with.warning_context, "agent %zu sent %s; it is not used%s",
                    agent, what,
                    s->notes == MOST_NOTES ? ", and further ones are not reported" : "");
}

void saddle_session_reject(saddle_session *s, size_t k, uint64_t round, const char *what)
{
    char full[128];
    saddle_snprintf(full, sizeof full, "%s in round %llu", what, (unsigned long long)round);
    if (s->with.deadline > 0.0)
        note(s, s->neighbour[k].agent, full);
    else
        SADDLE_SESSION_FAIL(s, SADDLE_BAD_INPUT,
                            "agent %zu sent %s: if its owner finds no fault, agree on shorter "
                            "steps in the network file",
                            s->neighbour[k].agent, full);
}

/* Reports keys that are not listed. */
static void note_refused(saddle_session *s)
{
    saddle_refused_peer last = saddle_session_refused(s);
    char key[2 * SADDLE_KEY_BYTES + 1];
    if (last.count == s->refused)
        return;
    bool first = s->refused == 0;
    s->refused = last.count;
    sodium_bin2hex(key, sizeof key, last.key, sizeof last.key);
    if (first)
        saddle_warn(s->with.warning, s->with.warning_context,
                    "a process at %s has the key %s, which is not that of a neighbour that dials "
                    "this agent; it is refused, and further ones are not reported",
                    last.address, key);
}

/* ---- sending ---------------------------------------------------------------------------------- */

/* Sends a message to a neighbour; one that is lost will be asked for. */
static void send_to(saddle_session *s, size_t k, const saddle_message *message)
{
    unsigned char header[SADDLE_MESSAGE_HEADER];
    saddle_message_seal(&s->rule, message, header);
    s->table->send(s->sockets, k, header, sizeof header, message->body, message->length);
}

/* Sends what this agent itself has to say. */
void saddle_session_say(saddle_session *s, size_t k, saddle_message_kind kind, uint64_t step,
                        const void *body, size_t length)
{
    const saddle_message message = {.kind = kind,
                                    .agent = (uint32_t)s->with.self,
                                    .incarnation = s->incarnation,
                                    .step = step,
                                    .body = length > 0 ? body : NULL,
                                    .length = length};
    send_to(s, k, &message);
}

void saddle_session_hello(saddle_session *s, size_t k)
{
    unsigned char body[SADDLE_POSITION + 64];
    size_t length = strlen(saddle_version());
    saddle_session_position(s, body);
    memcpy(body + SADDLE_POSITION, saddle_version(), length);
    saddle_session_say(s, k, SADDLE_MESSAGE_HELLO,
                       s->neighbour[k].met ? s->neighbour[k].incarnation : 0, body,
                       SADDLE_POSITION + length);
}

static size_t index_of(const saddle_session *s, size_t agent)
{
    size_t k = 0;
    while (k < s->neighbours && s->neighbour[k].agent != agent)
        k++;
    return k;
}

void saddle_session_pass_on(void *context, size_t to, const saddle_message *message)
{
    saddle_session *s = context;
    if (!s->replaying)
        send_to(s, index_of(s, to), message);
}

void saddle_session_say_round(saddle_session *s, size_t k, uint64_t round)
{
    const saddle_round_message *m = s->kept > 0 ? &s->sent[round % s->kept] : NULL;
    if (m != NULL && m->held && m->round == round)
        saddle_session_say(s, k, SADDLE_MESSAGE_ROUND, round, m->bytes, m->size);
}

/* ---- receiving -------------------------------------------------------------------------------- */

/* Keeps the bytes of a round; false if memory is short. */
bool saddle_session_keep(saddle_round_message *m, uint64_t round, const void *bytes, size_t size)
{
    if (size > m->room) {
        saddle_free(m->bytes);
        m->bytes = saddle_alloc_unset(size, 1);
        m->room = m->bytes != NULL ? size : 0;
    }
    m->held = m->bytes != NULL || size == 0;
    m->round = round;
    m->size = size;
    if (m->held && size > 0)
        memcpy(m->bytes, bytes, size);
    return m->held;
}

/* Says that a process of a neighbour cannot take part. */
static void refuse_process(saddle_session *s, size_t k, uint32_t incarnation, const char *why)
{
    note(s, s->neighbour[k].agent, why);
    saddle_session_say(s, k, SADDLE_MESSAGE_REFUSED, incarnation, NULL, 0);
}

/* Checks the version in a hello. */
static bool same_version(saddle_session *s, size_t k, const saddle_message *m)
{
    const char *own = saddle_version();
    bool whole = m->length >= SADDLE_POSITION;
    const char *version = whole ? (const char *)m->body + SADDLE_POSITION : "";
    size_t length = whole ? m->length - SADDLE_POSITION : 0;
    if (length == strlen(own) && memcmp(version, own, length) == 0)
        return true;
    SADDLE_SESSION_FAIL(
        s, SADDLE_UNSUPPORTED, "agent %zu runs saddle %s, and this is %s; install the same version",
        s->neighbour[k].agent, saddle_excerpt_of(version, version + length).text, own);
    return false;
}

/* Takes in a process of a neighbour: its first, or one that follows another. */
static void take_hello(saddle_session *s, size_t k, const saddle_message *m)
{
    saddle_neighbour *from = &s->neighbour[k];
    bool known = from->met && m->incarnation == from->incarnation;
    if (!same_version(s, k, m))
        return;
    if (!known) {
        uint64_t ahead;
        const char *why = saddle_session_cannot_follow(s, m->body, &ahead);
        if (why != NULL) {
            refuse_process(s, k, m->incarnation, why);
            return;
        }
        if (s->with.deadline > 0.0 && from->met)
            saddle_session_forget(s, k);
        from->ahead = ahead;
        from->incarnation = m->incarnation;
        from->met = true;
    }
    /* It has not met this process, but at most an earlier one. */
    if (m->step != s->incarnation)
        saddle_session_hello(s, k);
    if (!known && s->rounds > s->taken)
        saddle_session_say(s, k, SADDLE_MESSAGE_AGAIN, s->taken, NULL, 0);
    /* From the last message it learns how far the run is. */
    if (!known && s->with.deadline > 0.0 && s->rounds > 0)
        saddle_session_say_round(s, k, s->rounds - 1);
}

static void take_refused(saddle_session *s, size_t k, const saddle_message *m)
{
    if (m->step == s->incarnation)
        SADDLE_SESSION_FAIL(s, SADDLE_IO,
                            "agent %zu does not take this process in: the run has continued "
                            "without it, or is another one; start it with --resume auto and the "
                            "checkpoints of its run, or start all agents again",
                            s->neighbour[k].agent);
}

void saddle_session_say_done(saddle_session *s, size_t k)
{
    saddle_session_say(s, k, SADDLE_MESSAGE_DONE, s->neighbour[k].done, NULL, 0);
}

static void take_done(saddle_session *s, size_t k, const saddle_message *m)
{
    s->neighbour[k].done = true;
    /* What was said to an earlier process of the neighbour is lost. */
    if (s->finished && m->step == 0)
        saddle_session_say_done(s, k);
}

static void take_left(saddle_session *s, size_t k, const saddle_message *m)
{
    bool known = m->step > SADDLE_OK && m->step <= SADDLE_UNSUPPORTED;
    if (s->rounds > 0 && s->with.deadline > 0.0 && m->step == SADDLE_IO)
        saddle_session_call_gone(s, k, "its process has ended");
    else if (!s->neighbour[k].done)
        SADDLE_SESSION_FAIL(
            s, SADDLE_IO, "agent %zu ended: %s; its owner knows more", s->neighbour[k].agent,
            known ? saddle_status_text((saddle_status)m->step) : "it does not say why");
}

static void take_round(saddle_session *s, size_t k, const saddle_message *m)
{
    saddle_round_message *into = &s->neighbour[k].round[m->step % 2];
    uint64_t next = s->neighbour[k].next;
    /* Others were used, or this one is here already: it was sent again. */
    bool wanted = m->step - next < 2 && !into->held;
    if (wanted && !saddle_session_keep(into, m->step, m->body, m->length))
        SADDLE_SESSION_FAIL(s, SADDLE_NO_MEMORY, "memory for the messages of a round is short");
}

/* Uses a message of a neighbour. */
static void use(saddle_session *s, size_t k, const saddle_message *m)
{
    saddle_error error = {.message = ""};
    saddle_neighbour *from = &s->neighbour[k];
    bool forwarded = m->kind == SADDLE_MESSAGE_RECORD;
    if (!forwarded && m->agent != from->agent)
        note(s, from->agent, "a message in the name of another agent");
    else if (s->check != NULL)
        saddle_session_take_check(s, k, m);
    else if (m->kind == SADDLE_MESSAGE_CHECK)
        saddle_session_answer(s, k, m->step);
    else if (m->kind == SADDLE_MESSAGE_HELLO && !(from->met && m->incarnation < from->incarnation))
        take_hello(s, k, m);
    else if (m->kind == SADDLE_MESSAGE_REFUSED)
        take_refused(s, k, m);
    else if (!from->met || (m->agent == from->agent && m->incarnation > from->incarnation))
        return; /* its hello was lost; what comes before it will be asked for */
    else if (m->agent == from->agent && m->incarnation < from->incarnation)
        refuse_process(s, k, m->incarnation,
                       "a message of a process that another one has followed");
    else if (forwarded || m->kind == SADDLE_MESSAGE_MISSING) {
        saddle_status status = saddle_flood_take(s->flood, from->agent, m, &error);
        if (status == SADDLE_NO_MEMORY || status == SADDLE_CHECK_FAILED)
            SADDLE_SESSION_FAIL(s, status, "%s", error.message);
        else if (error.message[0] != '\0')
            note(s, from->agent, error.message);
    } else if (m->kind == SADDLE_MESSAGE_ROUND && s->with.deadline > 0.0)
        saddle_session_take_early(s, k, m);
    else if (m->kind == SADDLE_MESSAGE_ROUND)
        take_round(s, k, m);
    else if (m->kind == SADDLE_MESSAGE_AGAIN)
        saddle_session_say_round(s, k, m->step);
    else if (m->kind == SADDLE_MESSAGE_DONE)
        take_done(s, k, m);
    else if (m->kind == SADDLE_MESSAGE_LEFT)
        take_left(s, k, m);
    /* An answer is to a check that this process does not make. */
}

bool saddle_session_look(saddle_session *s, int milliseconds)
{
    size_t k;
    const unsigned char *bytes;
    size_t size;
    saddle_message message;
    saddle_error error = {.message = ""};
    if (s->with.interrupt != NULL && *s->with.interrupt != 0) {
        SADDLE_SESSION_FAIL(s, SADDLE_IO, "interrupted");
        return false;
    }
    if (!s->table->receive(s->sockets, milliseconds, &k, &bytes, &size)) {
        note_refused(s);
        return false;
    }
    saddle_status status = saddle_message_read(&s->rule, bytes, size, &message, &error);
    s->neighbour[k].heard = saddle_clock_seconds();
    if (status == SADDLE_OK)
        use(s, k, &message);
    else if (s->check != NULL)
        saddle_snprintf(s->check[k].problem, sizeof s->check[k].problem, "%s", error.message);
    else if (status == SADDLE_UNSUPPORTED && !s->neighbour[k].met)
        SADDLE_SESSION_FAIL(s, status, "agent %zu: %s", s->neighbour[k].agent, error.message);
    else
        note(s, s->neighbour[k].agent, error.message);
    return true;
}
