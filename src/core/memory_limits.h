/*
 * How much memory is available, and checks before much of it is allocated.
 *
 * Code that is about to allocate much memory announces it first as a need, a sum of named items,
 * so that what cannot fit is refused with numbers before anything is allocated. A need comes on
 * top of saddle_memory_used(); the estimate for a process is the largest sum of both that was ever
 * announced.
 */
#pragma once

#include "core/base.h"

/* Bytes that the program and its libraries (MPI, LAPACK, ARPACK, zlib, stdio) take in each
 * process, thread stacks included. They count against SADDLE_MEMORY. */
#define SADDLE_LIBRARY_BYTES 6.4e7

/* Returns the bytes that this process can still allocate if `processes` processes on this
 * machine allocate the same: the least of its share of what the system has available (swap
 * included), its share of what its control groups leave, and what its limit on address space
 * leaves. Infinite where nothing is known. */
double saddle_available_bytes(size_t processes);

/* Memory that is about to be allocated. Initialise to {0}. */
typedef struct saddle_need {
    double bytes;       /* of all items */
    double most;        /* of the largest item */
    char largest[96];   /* its name */
    const char *remedy; /* advice on how to make it smaller */
} saddle_need;

/* Adds an item. `remedy` is advice such as "use fewer agents"; the format gives its name, such as
 * "the state of 5 agents". */
__attribute__((format(printf, 4, 5))) void
saddle_need_add(saddle_need *need, double bytes, const char *remedy, const char *format, ...);

/*
 * Announces a need; fails with SADDLE_NO_MEMORY if it does not fit. `what` begins the message,
 * such as "this run". SADDLE_MEMORY in the environment, the gigabytes that a process may take or
 * "inf", overrides what the system reports. Without it, small needs are not checked.
 */
saddle_status saddle_need_check(const saddle_need *need, size_t processes, const char *what,
                                saddle_error *error);

/* Like saddle_need_check(), for a need of one item. */
saddle_status saddle_need_check_one(double bytes, const char *what, const char *remedy,
                                    saddle_error *error);

/* Returns whether one more block may be allocated: the same limits hold for blocks that were not announced. If
 * not, the next message about a failed allocation says why. */
bool saddle_available_allows(double bytes);

/* Returns the estimate for this process: the largest need that was announced, plus what was in use then. */
double saddle_memory_announced(void);
