/* The links' state of an agent as words of a checkpoint: the same for any placement of the agents. */
#include <string.h>

#include "engines/link_state.h"

/* The position in a record that is being read or written. */
typedef struct record_cursor {
    uint64_t *at;
    bool save; /* copy into the record; otherwise out of it */
} record_cursor;

static void carry(record_cursor *c, void *block, size_t words)
{
    if (words > 0) {
        memcpy(c->save ? (void *)c->at : block, c->save ? block : (void *)c->at, words * 8);
        c->at += words;
    }
}

/* Returns the words of a row of published state. */
static size_t row_words(const saddle_link_state *s)
{
    return s->members.entries > 0 ? s->members.at + s->members.words : s->layout->published;
}

/* Returns the words of one message to an agent. */
static size_t message_words(const saddle_link_state *s)
{
    return s->kinds + (s->rule->burst > 0.0 ? 1 : 0) + (s->members.entries > 0 ? 1 : 0) +
           s->sums.width + (s->inexact == SADDLE_INEXACT_STALE ? row_words(s) : 0);
}

/* Returns the words of the rows of past rounds, which end a record. */
static size_t past_words(const saddle_link_state *s)
{
    return s->window > 0 ? (s->window + 1) * row_words(s) : 0;
}

size_t saddle_link_record_words(const saddle_instance *instance, const saddle_layout *layout,
                                size_t agent)
{
    saddle_link_state s = {.rule = NULL};
    const size_t *start = instance->graph->start;
    if (!saddle_link_state_needed(instance))
        return 0;
    saddle_link_state_measure(&s, instance, layout, 0);
    return 2 + (start[agent + 1] - start[agent]) * message_words(&s) + 2 * s.sums.width +
           (s.members.entries > 0 ? 3 + s.members.words : 0) + past_words(&s);
}

/* Copies the rows of past rounds of a source. */
static void carry_past(saddle_link_state *s, size_t source, record_cursor *c)
{
    for (size_t slot = 0; s->window > 0 && slot <= s->window; slot++)
        carry(c, s->past + (slot * s->sources + source) * s->stride, row_words(s));
}

static void carry_message(saddle_link_state *s, size_t k, record_cursor *c)
{
    carry(c, s->used + k * s->kinds, s->kinds);
    if (s->failing != NULL) {
        uint64_t failing = s->failing[k];
        carry(c, &failing, 1);
        s->failing[k] = failing != 0;
    }
    if (s->members.entries > 0)
        carry(c, &s->members.sent[k], 1);
    if (s->sums.fields > 0)
        carry(c, s->received + k * s->sums.stride, s->sums.width);
    if (s->stale != NULL)
        carry(c, s->stale + k * s->stride, row_words(s));
}

/* Copies agent i's map of who takes part, which is in `row`, and its membership state. */
static void carry_membership(saddle_link_state *s, size_t i, double *row, record_cursor *c)
{
    saddle_membership *m = &s->members;
    uint64_t stage = m->stage[i];
    carry(c, &stage, 1);
    m->stage[i] = (unsigned char)stage;
    carry(c, &m->messages[i], 1);
    carry(c, &m->bytes[i], 1);
    carry(c, row + m->at, m->words);
}

/* Copies all of agent i's state; its running sums are in `row`. */
static void carry_agent(saddle_link_state *s, size_t i, double *row, record_cursor *c)
{
    carry(c, &s->sent, 1);
    carry(c, &s->bytes, 1);
    for (size_t k = s->start[i]; k < s->start[i + 1]; k++)
        carry_message(s, k, c);
    if (s->sums.fields > 0) {
        carry(c, s->kept + i * s->sums.stride, s->sums.width);
        carry(c, row + s->sums.behind, s->sums.width);
    }
    if (s->members.entries > 0)
        carry_membership(s, i, row, c);
    carry_past(s, i, c);
}

void saddle_link_record_save(saddle_link_state *s, size_t i, double *row, uint64_t *words)
{
    record_cursor c = {.at = words, .save = true};
    carry_agent(s, i, row, &c);
}

/* Casts const away: a cursor with `save` unset does not write. */
static record_cursor reading(const uint64_t *words)
{
    record_cursor c = {.save = false};
    memcpy(&c.at, &words, sizeof c.at);
    return c;
}

void saddle_link_record_load(saddle_link_state *s, size_t i, double *row, const uint64_t *words)
{
    record_cursor c = reading(words);
    carry_agent(s, i, row, &c);
}

void saddle_link_record_load_ghost(saddle_link_state *s, size_t source, size_t agent,
                                   const uint64_t *words)
{
    size_t all = saddle_link_record_words(s->instance, s->layout, agent);
    record_cursor c = reading(words + all - past_words(s));
    carry_past(s, source, &c);
}
