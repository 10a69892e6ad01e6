#include "peers/flood.h"

#include <stdlib.h>

#include "core/compare.h"

typedef struct record {
    bool held;
    uint32_t incarnation;
    size_t bytes;
    unsigned char *body;
} record;

/* The exchanges before, now and next, in turn. */
enum { EXCHANGES = 3 };

struct saddle_flood {
    saddle_flood_rule rule;
    uint64_t step;             /* of the exchange */
    record *record[EXCHANGES]; /* of all agents, by step % EXCHANGES */
    size_t held[EXCHANGES];    /* number of those that are held */
};

static unsigned slot_of(uint64_t step)
{
    return (unsigned)(step % EXCHANGES);
}

static void clear(saddle_flood *flood, unsigned slot)
{
    for (size_t i = 0; flood->record[slot] != NULL && i < flood->rule.agents; i++) {
        saddle_free(flood->record[slot][i].body);
        flood->record[slot][i] = (record){.held = false};
    }
    flood->held[slot] = 0;
}

void saddle_flood_free(saddle_flood *flood)
{
    if (flood == NULL)
        return;
    for (unsigned slot = 0; slot < EXCHANGES; slot++) {
        clear(flood, slot);
        saddle_free(flood->record[slot]);
    }
    saddle_free(flood);
}

saddle_status saddle_flood_create(saddle_flood **out, const saddle_flood_rule *rule,
                                  saddle_error *error)
{
    bool good = true;
    *out = NULL;
    saddle_flood *flood = saddle_alloc(1, sizeof *flood);
    SADDLE_TRY(saddle_check_memory(flood, "the records of set-up", error));
    flood->rule = *rule;
    for (unsigned slot = 0; slot < EXCHANGES; slot++) {
        flood->record[slot] = saddle_alloc(rule->agents, sizeof(record));
        good = good && flood->record[slot] != NULL;
    }
    if (!good) {
        saddle_flood_free(flood);
        return saddle_no_memory(error, "the records of set-up");
    }
    *out = flood;
    return SADDLE_OK;
}

static void send_record(const saddle_flood *flood, size_t to, uint64_t step, size_t agent)
{
    const record *r = &flood->record[slot_of(step)][agent];
    const saddle_message message = {.kind = SADDLE_MESSAGE_RECORD,
                                    .agent = (uint32_t)agent,
                                    .incarnation = r->incarnation,
                                    .step = step,
                                    .body = r->body,
                                    .length = r->bytes};
    flood->rule.send(flood->rule.context, to, &message);
}

/* Keeps a record and passes it on to all neighbours except the one that it came from. */
static saddle_status keep(saddle_flood *flood, size_t from, const saddle_message *message,
                          saddle_error *error)
{
    record *r = &flood->record[slot_of(message->step)][message->agent];
    unsigned char *body = NULL;
    if (message->length > 0) {
        body = saddle_alloc_unset(message->length, 1);
        SADDLE_TRY(saddle_check_memory(body, "the records of set-up", error));
        memcpy(body, message->body, message->length);
    }
    *r = (record){
        .held = true, .incarnation = message->incarnation, .bytes = message->length, .body = body};
    flood->held[slot_of(message->step)]++;
    for (size_t k = 0; k < flood->rule.neighbours; k++)
        if (flood->rule.neighbour[k] != from)
            send_record(flood, flood->rule.neighbour[k], message->step, message->agent);
    return SADDLE_OK;
}

saddle_status saddle_flood_begin(saddle_flood *flood, const void *bytes, size_t size,
                                 saddle_error *error)
{
    const saddle_message own = {.kind = SADDLE_MESSAGE_RECORD,
                                .agent = (uint32_t)flood->rule.self,
                                .incarnation = flood->rule.incarnation,
                                .step = ++flood->step,
                                .body = size > 0 ? bytes : NULL,
                                .length = size};
    clear(flood, slot_of(flood->step + 1));
    return keep(flood, flood->rule.self, &own, error);
}

static bool is_neighbour(const saddle_flood *flood, size_t agent)
{
    return bsearch(&agent, flood->rule.neighbour, flood->rule.neighbours, sizeof agent,
                   saddle_compare_sizes) != NULL;
}

static saddle_status take_record(saddle_flood *flood, size_t from, const saddle_message *message,
                                 saddle_error *error)
{
    const record *r = &flood->record[slot_of(message->step)][message->agent];
    if (message->length > SADDLE_MOST_RECORD)
        return saddle_refuse(error, "a record of %zu bytes; %zu are the most", message->length,
                             SADDLE_MOST_RECORD);
    if (r->held && (r->bytes != message->length ||
                    (r->bytes > 0 && memcmp(r->body, message->body, r->bytes) != 0)))
        return saddle_fail(error, SADDLE_CHECK_FAILED,
                           "agent %u has two different records in exchange %llu: it was started "
                           "again, or an agent that passed one on has changed it; start all "
                           "agents again",
                           message->agent, (unsigned long long)message->step);
    if (!r->held && message->agent == flood->rule.self)
        return saddle_refuse(error, "a record of this agent that it has not made");
    /* A neighbour speaks for itself: its own record comes from it. */
    if (r->held || (message->agent != from && is_neighbour(flood, message->agent)))
        return SADDLE_OK;
    return keep(flood, from, message, error);
}

/* Sends the records that a neighbour says it lacks. */
static saddle_status answer(const saddle_flood *flood, size_t to, const saddle_message *message,
                            saddle_error *error)
{
    unsigned slot = slot_of(message->step);
    if (message->length != (flood->rule.agents + 7) / 8)
        return saddle_refuse(error, "a list of %zu bytes for the records of %zu agents",
                             message->length, flood->rule.agents);
    for (size_t i = 0; i < flood->rule.agents; i++)
        if (flood->record[slot][i].held && (message->body[i / 8] >> i % 8 & 1) == 0)
            send_record(flood, to, message->step, i);
    return SADDLE_OK;
}

saddle_status saddle_flood_take(saddle_flood *flood, size_t from, const saddle_message *message,
                                saddle_error *error)
{
    if (message->step > flood->step + 2 || message->step == 0)
        return saddle_refuse(error, "exchange %llu, and this agent is at %llu",
                             (unsigned long long)message->step, (unsigned long long)flood->step);
    /* All agents have the records of earlier exchanges; those of the one after the next will be asked for by a process
     * that takes the place of another one, and begins the next. */
    if (message->step + 1 < flood->step || message->step == flood->step + 2)
        return SADDLE_OK;
    return message->kind == SADDLE_MESSAGE_RECORD ? take_record(flood, from, message, error)
                                                  : answer(flood, from, message, error);
}

void saddle_flood_ask(const saddle_flood *flood)
{
    unsigned char held[SADDLE_MOST_PEERS / 8] = {0};
    const record *list = flood->record[slot_of(flood->step)];
    size_t bytes = (flood->rule.agents + 7) / 8;
    if (flood->step == 0)
        return;
    for (size_t i = 0; i < flood->rule.agents; i++)
        held[i / 8] |= (unsigned char)((unsigned)list[i].held << i % 8);
    const saddle_message message = {.kind = SADDLE_MESSAGE_MISSING,
                                    .agent = (uint32_t)flood->rule.self,
                                    .incarnation = flood->rule.incarnation,
                                    .step = flood->step,
                                    .body = held,
                                    .length = bytes};
    for (size_t k = 0; k < flood->rule.neighbours; k++)
        flood->rule.send(flood->rule.context, flood->rule.neighbour[k], &message);
}

bool saddle_flood_complete(const saddle_flood *flood)
{
    return flood->held[slot_of(flood->step)] == flood->rule.agents;
}

uint64_t saddle_flood_step(const saddle_flood *flood)
{
    return flood->step;
}

const void *saddle_flood_record(const saddle_flood *flood, size_t agent, size_t *bytes)
{
    const record *r = &flood->record[slot_of(flood->step)][agent];
    *bytes = r->bytes;
    return r->body;
}

size_t saddle_flood_missing(const saddle_flood *flood)
{
    size_t agent = 0;
    while (agent < flood->rule.agents && flood->record[slot_of(flood->step)][agent].held)
        agent++;
    return agent;
}
