#include "peers/message.h"

static const unsigned char magic[4] = {'S', 'D', 'L', 'P'};

enum { VERSION = 4, KIND = 6, ZERO = 7, RUN = 8, AGENT = 24, BIRTH = 28, STEP = 32, LENGTH = 40 };
enum { CHECKSUM = 48, LANES = 4 };

static void put(unsigned char *out, unsigned bytes, uint64_t value)
{
    for (unsigned k = 0; k < bytes; k++)
        out[k] = (unsigned char)(value >> 8 * k);
}

static uint64_t get(const unsigned char *in, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < bytes; k++)
        value |= (uint64_t)in[k] << 8 * k;
    return value;
}

/* Mixes a word into a lane of the checksum. Both steps can be undone, so that another word gives another result. */
static uint64_t mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return lane ^ lane >> 32;
}

/* Mixes words in turn into the lanes; the last one is filled up with zeros. */
static void mix_all(uint64_t lane[LANES], const unsigned char *bytes, size_t length)
{
    uint64_t word[LANES];
    size_t k = 0;
    for (; k + sizeof word <= length; k += sizeof word) {
        memcpy(word, bytes + k, sizeof word);
        for (unsigned n = 0; n < LANES; n++)
            lane[n] = mix(lane[n], word[n]);
    }
    if (k == length)
        return;
    memset(word, 0, sizeof word);
    memcpy(word, bytes + k, length - k);
    for (unsigned n = 0; n < LANES; n++)
        lane[n] = mix(lane[n], word[n]);
}

/* Computes the checksum, which takes far less time than encryption. */
static uint64_t check(const unsigned char *header, const unsigned char *body, size_t length)
{
    uint64_t lane[LANES] = {1, 2, 3, 4};
    uint64_t sum = 0;
    mix_all(lane, header, CHECKSUM);
    mix_all(lane, body, length);
    for (unsigned n = 0; n < LANES; n++)
        sum = mix(sum, lane[n]);
    return sum;
}

void saddle_message_seal(const saddle_message_rule *rule, const saddle_message *message,
                         unsigned char header[SADDLE_MESSAGE_HEADER])
{
    memcpy(header, magic, sizeof magic);
    put(header + VERSION, 2, SADDLE_PEER_PROTOCOL);
    put(header + KIND, 1, (uint64_t)message->kind);
    put(header + ZERO, 1, 0);
    memcpy(header + RUN, rule->fingerprint, SADDLE_RUN_FINGERPRINT);
    put(header + AGENT, 4, message->agent);
    put(header + BIRTH, 4, message->incarnation);
    put(header + STEP, 8, message->step);
    put(header + LENGTH, 8, message->length);
    put(header + CHECKSUM, 8, check(header, message->body, message->length));
}

/* Checks what does not depend on the version: that these are a message, and whose. */
static saddle_status check_origin(const saddle_message_rule *rule, const unsigned char *bytes,
                                  size_t size, saddle_error *error)
{
    if (size < SADDLE_MESSAGE_HEADER || memcmp(bytes, magic, sizeof magic) != 0)
        return saddle_refuse(error, "%zu bytes that are not a message", size);
    unsigned version = (unsigned)get(bytes + VERSION, 2);
    if (version != SADDLE_PEER_PROTOCOL)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "it speaks version %u of the protocol, and this is version %d; install "
                           "the same version of saddle",
                           version, SADDLE_PEER_PROTOCOL);
    if (memcmp(bytes + RUN, rule->fingerprint, SADDLE_RUN_FINGERPRINT) != 0)
        return saddle_fail(error, SADDLE_UNSUPPORTED,
                           "its run has fingerprint %016llx, and this one %016llx; give all owners "
                           "the same network file",
                           (unsigned long long)get(bytes + RUN, 8),
                           (unsigned long long)get(rule->fingerprint, 8));
    return SADDLE_OK;
}

saddle_status saddle_message_read(const saddle_message_rule *rule, const unsigned char *bytes,
                                  size_t size, saddle_message *out, saddle_error *error)
{
    SADDLE_TRY(check_origin(rule, bytes, size, error));
    uint64_t length = get(bytes + LENGTH, 8);
    uint64_t agent = get(bytes + AGENT, 4);
    unsigned kind = bytes[KIND];
    if (length > SADDLE_MOST_BODY || length != size - SADDLE_MESSAGE_HEADER)
        return saddle_refuse(error, "a message of %zu bytes that claims a body of %llu", size,
                             (unsigned long long)length);
    if (kind < SADDLE_MESSAGE_HELLO || kind >= SADDLE_MESSAGE_KINDS || bytes[ZERO] != 0 ||
        agent >= rule->agents)
        return saddle_refuse(error, "a message of the unknown kind %u, or of agent %llu of %zu",
                             kind, (unsigned long long)agent, rule->agents);
    if (get(bytes + CHECKSUM, 8) != check(bytes, bytes + SADDLE_MESSAGE_HEADER, (size_t)length))
        return saddle_refuse(error, "a message with a wrong checksum");
    *out = (saddle_message){.kind = (saddle_message_kind)kind,
                            .agent = (uint32_t)agent,
                            .incarnation = (uint32_t)get(bytes + BIRTH, 4),
                            .step = get(bytes + STEP, 8),
                            .body = length > 0 ? bytes + SADDLE_MESSAGE_HEADER : NULL,
                            .length = (size_t)length};
    return SADDLE_OK;
}
