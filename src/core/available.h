/*
 * How much memory can be had, and what is about to be taken.
 *
 * Whatever takes much memory announces it first, as a need made of parts, so that what cannot fit is refused
 * with numbers before any of it is taken. A need is what comes on top of saddle_memory_used(); the estimate
 * for a process is the largest sum of both that was ever announced.
 */
#ifndef SADDLE_CORE_AVAILABLE_H
#define SADDLE_CORE_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

/* What the program and the libraries that it uses (MPI, LAPACK, ARPACK, zlib, curl, stdio) take for
 * themselves in each process, thread stacks included. SADDLE_MEMORY is compared with this besides. */
#define SADDLE_LIBRARY_BYTES 6.4e7

/* Bytes that this process can still take if as many as `processes` on this machine want the same at once:
 * the least of its share of what the system has to spare (swap included), its share of what its control
 * groups leave, and what its own limit of addresses leaves. Infinite where nothing is known. */
double saddle_available_bytes(size_t processes);

/* Memory that is about to be taken. Begin with {0}. */
typedef struct saddle_need {
    double bytes;       /* of all parts */
    double most;        /* of the largest part */
    char largest[96];   /* its name */
    const char *remedy; /* what makes it smaller */
} saddle_need;

/* Add a part: `remedy` is advice such as "use fewer agents"; the rest its name, such as "the state of 5
 * agents". */
__attribute__((format(printf, 4, 5))) void
saddle_need_add(saddle_need *need, double bytes, const char *remedy, const char *format, ...);

/*
 * Announce a need; refuse it with SADDLE_NO_MEMORY if it cannot be had. `what` begins the message, such as
 * "this run". Without SADDLE_MEMORY in the environment, small needs are not looked into. SADDLE_MEMORY comes
 * before what the system says: the number of gigabytes that a process may take, or "inf".
 */
saddle_status saddle_need_check(const saddle_need *need, size_t processes, const char *what,
                                saddle_error *error);

/* The same for a need of one part. */
saddle_status saddle_need_check_one(double bytes, const char *what, const char *remedy,
                                    saddle_error *error);

/* Whether one more block may be taken: what was not announced is held to the same limits. */
bool saddle_available_allows(double bytes);
/* Forget why the last block was refused: the next failure has another reason. */
void saddle_available_forget(void);

/* The estimate for this process: the most that was ever announced, with what was in use then. */
double saddle_memory_announced(void);

#endif
