/*
 * What this process hands to MPI to be sent, counted by standing between the library and MPI.
 *
 * Collective calls are counted by their number and by the bytes that this process puts into them.
 */
#ifndef SADDLE_TEST_TRAFFIC_H
#define SADDLE_TEST_TRAFFIC_H

#include <stdint.h>

typedef struct test_traffic {
    uint64_t rounds;           /* calls that start persistent requests */
    uint64_t messages;         /* persistent sends started */
    uint64_t message_bytes;    /* their payload */
    uint64_t sends;            /* other messages */
    uint64_t send_bytes;       /* their payload */
    uint64_t collectives;      /* reductions, broadcasts and the like */
    uint64_t collective_bytes; /* what this process puts into them */
} test_traffic;

/* Counts since the last call, which they end. */
test_traffic test_traffic_take(void);

#endif
