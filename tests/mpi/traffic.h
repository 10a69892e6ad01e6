/*
 * What this process gives MPI to send, counted by intercepting the library's calls.
 *
 * Collective calls are counted by number and by the bytes that this process contributes.
 */
#pragma once

#include <stdint.h>

typedef struct test_traffic {
    uint64_t rounds;           /* calls that start persistent requests */
    uint64_t messages;         /* persistent sends started */
    uint64_t message_bytes;    /* their payload */
    uint64_t sends;            /* other messages */
    uint64_t send_bytes;       /* their payload */
    uint64_t collectives;      /* reductions, broadcasts and the like */
    uint64_t collective_bytes; /* what this process contributes */
} test_traffic;

/* Returns the counts since the last call and resets them. */
test_traffic test_traffic_take(void);
