/* Messages of peers, and the exchange of records that takes them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "peers/flood.h"

static void send_nothing(void *context, size_t to, const saddle_message *message)
{
    uint64_t *sent = context;
    fuzz_promise(to == 1 || to == 2, "messages go to neighbours");
    fuzz_promise(message->length <= SADDLE_MOST_RECORD, "records are short");
    (*sent)++;
}

/* Reads one message; an accepted one is what would have been written, and is given to an exchange. */
static void take(const saddle_message_rule *rule, saddle_flood *flood, const uint8_t *bytes,
                 size_t size)
{
    unsigned char header[SADDLE_MESSAGE_HEADER];
    saddle_message message;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_message_read(rule, bytes, size, &message, &error);
    if (status != SADDLE_OK) {
        fuzz_check_refusal(status, NULL, &error);
        return;
    }
    saddle_message_seal(rule, &message, header);
    fuzz_promise(memcmp(header, bytes, sizeof header) == 0, "a header has one meaning");
    fuzz_promise(message.length + sizeof header == size, "a body ends with the message");
    if (message.kind != SADDLE_MESSAGE_RECORD && message.kind != SADDLE_MESSAGE_MISSING)
        return;
    status = saddle_flood_take(flood, 1, &message, &error);
    /* Two different records of one agent end a run. */
    if (status != SADDLE_OK && status != SADDLE_CHECK_FAILED)
        fuzz_check_refusal(status, NULL, &error);
}

/* The first byte: a length in units of 4 bytes of each message, and whether its checksum is made right. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const size_t neighbour[] = {1, 2};
    const saddle_message_rule rule = {.fingerprint = "", .agents = 3};
    uint64_t sent = 0;
    const saddle_flood_rule own = {.agents = 3,
                                   .neighbours = 2,
                                   .neighbour = neighbour,
                                   .send = send_nothing,
                                   .context = &sent};
    saddle_error error = {.message = ""};
    saddle_flood *flood = NULL;
    if (size < 2 || saddle_flood_create(&flood, &own, &error) != SADDLE_OK)
        return 0;
    size_t step = SADDLE_MESSAGE_HEADER + bytes[0] / 2;
    bool right = bytes[0] % 2 == 1;
    fuzz_promise(saddle_flood_begin(flood, "own", 3, &error) == SADDLE_OK, "an exchange begins");
    for (size_t at = 1; at < size; at += step) {
        size_t length = size - at < step ? size - at : step;
        uint8_t *copy = malloc(length);
        fuzz_promise(copy != NULL, "memory");
        memcpy(copy, bytes + at, length);
        if (right && length == step) {
            /* As its sender would have written it. */
            saddle_message message = {.kind = (saddle_message_kind)copy[6],
                                      .agent = copy[24] % 4,
                                      .step = copy[32] % 4,
                                      .body = copy + SADDLE_MESSAGE_HEADER,
                                      .length = length - SADDLE_MESSAGE_HEADER};
            saddle_message_seal(&rule, &message, copy);
        }
        take(&rule, flood, copy, length);
        free(copy);
    }
    fuzz_promise(sent <= 2 + 3 * size, "messages cause few others");
    saddle_flood_free(flood);
    return 0;
}
