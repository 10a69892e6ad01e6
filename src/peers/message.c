#include "peers/message.h"

#include <sodium/crypto_generichash.h>

static const unsigned char magic[4] = {'S', 'D', 'L', 'P'};

enum { VERSION = 4, KIND = 6, ZERO = 7, RUN = 8, AGENT = 24, BIRTH = 28, STEP = 32, LENGTH = 40 };
enum { CHECKSUM = 48, CHECKSUM_BYTES = 8 };

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

/* Computes the checksum: BLAKE2b with 16 bytes, of which 8 are used. */
static void check(const unsigned char *header, const unsigned char *body, size_t length,
                  unsigned char out[crypto_generichash_BYTES_MIN])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES_MIN);
    crypto_generichash_update(&state, header, CHECKSUM);
    if (length > 0)
        crypto_generichash_update(&state, body, length);
    crypto_generichash_final(&state, out, crypto_generichash_BYTES_MIN);
}

void saddle_message_seal(const saddle_message_rule *rule, const saddle_message *message,
                         unsigned char header[SADDLE_MESSAGE_HEADER])
{
    unsigned char sum[crypto_generichash_BYTES_MIN];
    memcpy(header, magic, sizeof magic);
    put(header + VERSION, 2, SADDLE_PEER_PROTOCOL);
    put(header + KIND, 1, (uint64_t)message->kind);
    put(header + ZERO, 1, 0);
    memcpy(header + RUN, rule->fingerprint, SADDLE_RUN_FINGERPRINT);
    put(header + AGENT, 4, message->agent);
    put(header + BIRTH, 4, message->incarnation);
    put(header + STEP, 8, message->step);
    put(header + LENGTH, 8, message->length);
    check(header, message->body, message->length, sum);
    memcpy(header + CHECKSUM, sum, CHECKSUM_BYTES);
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
    unsigned char sum[crypto_generichash_BYTES_MIN];
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
    check(bytes, bytes + SADDLE_MESSAGE_HEADER, (size_t)length, sum);
    if (memcmp(bytes + CHECKSUM, sum, CHECKSUM_BYTES) != 0)
        return saddle_refuse(error, "a message with a wrong checksum");
    *out = (saddle_message){.kind = (saddle_message_kind)kind,
                            .agent = (uint32_t)agent,
                            .incarnation = (uint32_t)get(bytes + BIRTH, 4),
                            .step = get(bytes + STEP, 8),
                            .body = length > 0 ? bytes + SADDLE_MESSAGE_HEADER : NULL,
                            .length = (size_t)length};
    return SADDLE_OK;
}
