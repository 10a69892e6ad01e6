/* How a process takes the place of an earlier one of its agent: what it says of itself, what it repeats, and what is
 * saved for it. */
#include "peers/session_state.h"

enum { WORD = 8 };

static void put(unsigned char *out, uint64_t value)
{
    memcpy(out, &value, WORD);
}

static uint64_t get(const unsigned char *in)
{
    uint64_t value;
    memcpy(&value, in, WORD);
    return value;
}

/* ---- positions -------------------------------------------------------------------------------- */

void saddle_session_position(const saddle_session *s, unsigned char out[SADDLE_POSITION])
{
    put(out, s->exchanges);
    put(out + WORD, s->taken);
    memcpy(out + (size_t)2 * WORD, s->digest, WORD);
}

const char *saddle_session_cannot_follow(const saddle_session *s,
                                         const unsigned char position[SADDLE_POSITION],
                                         uint64_t *round)
{
    uint64_t exchanges = get(position);
    uint64_t kept = s->rounds < s->kept ? s->rounds : s->kept;
    *round = get(position + WORD);
    if (exchanges == s->exchanges && memcmp(position + (size_t)2 * WORD, s->digest, WORD) != 0)
        return "a hello from another run, which was set up with other data";
    /* It needs the next exchange, and the records of two are there. */
    if (exchanges + 2 < saddle_flood_step(s->flood))
        return "a hello from before the set-up of this run";
    if (*round + kept < s->rounds && s->with.deadline <= 0.0)
        return "a hello from before the rounds whose messages are kept";
    return NULL;
}

/* ---- exchanges -------------------------------------------------------------------------------- */

/* The log has, for each agent, the bytes of its record and their number before them. */
void saddle_session_replay(saddle_session *s, const unsigned char *bytes, size_t size)
{
    size_t agents = s->with.graph->agents;
    saddle_error error = {.message = ""};
    size_t own_size;
    const void *own = saddle_flood_record(s->flood, s->with.self, &own_size);
    for (size_t i = 0; i < agents && !s->failed; i++) {
        size_t length = size >= WORD ? (size_t)get(bytes) : SIZE_MAX;
        if (size < WORD || length > size - WORD) {
            SADDLE_SESSION_FAIL(s, SADDLE_BAD_INPUT, "the checkpoint's set-up is damaged");
            return;
        }
        const unsigned char *record = bytes + WORD;
        const saddle_message message = {.kind = SADDLE_MESSAGE_RECORD,
                                        .agent = (uint32_t)i,
                                        .step = saddle_flood_step(s->flood),
                                        .body = length > 0 ? record : NULL,
                                        .length = length};
        if (i == s->with.self &&
            (length != own_size || (length > 0 && memcmp(record, own, length) != 0)))
            SADDLE_SESSION_FAIL(s, SADDLE_BAD_INPUT,
                                "the data or the settings of this agent are not those of its "
                                "checkpoint (exchange %llu); restore them, or start all agents "
                                "again",
                                (unsigned long long)saddle_flood_step(s->flood));
        else if (i != s->with.self && saddle_flood_take(s->flood, i, &message, &error) != SADDLE_OK)
            SADDLE_SESSION_FAIL(s, error.status, "%s", error.message);
        bytes += WORD + length;
        size -= WORD + length;
    }
}

void saddle_session_note_exchange(saddle_session *s, bool known)
{
    size_t agents = s->with.graph->agents;
    crypto_generichash_state sum;
    saddle_error error = {.message = ""};
    if (s->failed)
        return;
    SADDLE_OWNED saddle_store_piece *piece = saddle_alloc(2 * agents, sizeof *piece);
    SADDLE_OWNED uint64_t *length = saddle_alloc(agents, sizeof *length);
    if (piece == NULL || length == NULL) {
        SADDLE_SESSION_FAIL(s, SADDLE_NO_MEMORY, "memory for the set-up is short");
        return;
    }
    crypto_generichash_init(&sum, s->digest, sizeof s->digest, sizeof s->digest);
    for (size_t i = 0; i < agents; i++) {
        size_t size;
        const void *record = saddle_flood_record(s->flood, i, &size);
        length[i] = size;
        piece[2 * i] = (saddle_store_piece){&length[i], WORD};
        piece[2 * i + 1] = (saddle_store_piece){record, size};
        crypto_generichash_update(&sum, (const unsigned char *)&length[i], WORD);
        crypto_generichash_update(&sum, record, size);
    }
    crypto_generichash_final(&sum, s->digest, sizeof s->digest);
    s->exchanges++;
    if (s->with.store != NULL && !known &&
        saddle_store_add(s->with.store, piece, 2 * agents, &error) != SADDLE_OK)
        SADDLE_SESSION_FAIL(s, error.status, "%s", error.message);
}

/* ---- rounds ----------------------------------------------------------------------------------- */

/*
 * A state: the length of the agent's own part, that part, the number of rounds, the number of messages, and for each of
 * them, which are the last that were sent, its round, its length and its bytes.
 */

/* Reads a number of the state, and what is left of it. */
static uint64_t take_number(const unsigned char **at, size_t *left)
{
    uint64_t value = *left >= WORD ? get(*at) : UINT64_MAX;
    size_t step = *left >= WORD ? WORD : *left;
    *at += step;
    *left -= step;
    return value;
}

/* Continues the rounds of the saved state; false if it is not one. */
static bool restore(saddle_session *s)
{
    size_t left = 0;
    const unsigned char *at =
        s->with.store != NULL ? saddle_store_state(s->with.store, &left) : NULL;
    if (at == NULL)
        return true;
    uint64_t own = take_number(&at, &left);
    if (own > left)
        return false;
    at += own;
    left -= (size_t)own;
    uint64_t rounds = take_number(&at, &left);
    uint64_t count = take_number(&at, &left);
    for (uint64_t n = 0; n < count; n++) {
        uint64_t round = take_number(&at, &left);
        uint64_t size = take_number(&at, &left);
        if (size > left || round >= rounds ||
            !saddle_session_keep(&s->sent[round % s->kept], round, at, (size_t)size))
            return false;
        at += size;
        left -= (size_t)size;
    }
    /* With a deadline, what the earlier process sent last is not sent again. */
    s->sent[0].held = s->sent[0].held && s->with.deadline <= 0.0;
    s->rounds = rounds;
    s->taken = rounds;
    for (size_t k = 0; s->with.deadline <= 0.0 && k < s->neighbours; k++)
        s->neighbour[k].next = rounds;
    return left == 0;
}

saddle_status saddle_session_begin_rounds(saddle_session *s, unsigned per_iteration,
                                          saddle_error *error)
{
    s->per_iteration = per_iteration > 0 ? per_iteration : 1;
    if (s->with.deadline > 0.0 && !saddle_session_hold(s, (size_t)2 * s->per_iteration))
        return saddle_no_memory(error, "the messages of a round");
    /* A neighbour has saved its state at most so many rounds before the one that it takes part in, and one more has
     * been sent. With a deadline, no message is sent again. */
    s->kept = s->with.deadline > 0.0 ? 1 : (size_t)s->with.repeat * per_iteration + 2;
    s->sent = saddle_alloc(s->kept, sizeof *s->sent);
    if (s->sent == NULL) {
        s->kept = 0;
        return saddle_no_memory(error, "the messages of a round");
    }
    return restore(s) ? SADDLE_OK
                      : saddle_refuse(error, "the checkpoint of this agent is damaged, or memory "
                                             "is short; start all agents again");
}

const void *saddle_session_state(const saddle_session *s, size_t *bytes)
{
    size_t left = 0;
    const unsigned char *at =
        s->with.store != NULL ? saddle_store_state(s->with.store, &left) : NULL;
    uint64_t own = at != NULL ? take_number(&at, &left) : 0;
    *bytes = own <= left ? (size_t)own : 0;
    return at;
}

bool saddle_session_saves(const saddle_session *s)
{
    return s->with.store != NULL && s->with.repeat > 0;
}

uint64_t saddle_session_next_save(const saddle_session *s, uint64_t iteration)
{
    uint64_t repeat = s->with.repeat;
    if (!saddle_session_saves(s))
        return UINT64_MAX;
    uint64_t next = iteration - iteration % repeat + repeat;
    return s->with.last > iteration && s->with.last < next ? s->with.last : next;
}

void saddle_session_save(saddle_session *s, const void *state, size_t bytes, bool must)
{
    saddle_error error = {.message = ""};
    uint64_t head[3] = {bytes, s->rounds, 0};
    size_t count = 0;
    SADDLE_OWNED saddle_store_piece *piece = saddle_alloc(3 + 2 * s->kept, sizeof *piece);
    SADDLE_OWNED uint64_t *number = saddle_alloc(2 * s->kept, sizeof *number);
    saddle_status status =
        piece != NULL && number != NULL ? SADDLE_OK : saddle_no_memory(&error, "a checkpoint");
    if (status == SADDLE_OK) {
        piece[count++] = (saddle_store_piece){&head[0], WORD};
        piece[count++] = (saddle_store_piece){state, bytes};
        piece[count++] = (saddle_store_piece){&head[1], (size_t)2 * WORD};
    }
    for (size_t n = 0; status == SADDLE_OK && n < s->kept; n++) {
        const saddle_round_message *m = &s->sent[n];
        if (!m->held)
            continue;
        head[2]++;
        number[2 * n] = m->round;
        number[2 * n + 1] = m->size;
        piece[count++] = (saddle_store_piece){&number[2 * n], (size_t)2 * WORD};
        piece[count++] = (saddle_store_piece){m->bytes, m->size};
    }
    SADDLE_THEN(status, saddle_store_save(s->with.store, piece, count, &error));
    if (status != SADDLE_OK && must)
        SADDLE_SESSION_FAIL(s, status, "%s", error.message);
    else if (status != SADDLE_OK && !s->unsaved)
        saddle_warn(s->with.warning, s->with.warning_context,
                    "%s; while this lasts, a process that ends cannot be followed by another one",
                    error.message);
    s->unsaved = status != SADDLE_OK;
}
