/* How much memory can still be had: asked before much of it is taken, so that what cannot fit is
 * refused with numbers instead of being killed half way. */
#ifndef SADDLE_CORE_AVAILABLE_H
#define SADDLE_CORE_AVAILABLE_H

#include <stddef.h>

#include <saddle/status.h>

/* Bytes that this process can still take if as many as `processes` on this machine want the same at once:
 * the least of its share of what the system has to spare (swap included), its share of what its control
 * groups leave, and what its own limit of addresses leaves. Infinite where nothing is known. */
double saddle_available_bytes(size_t processes);

/*
 * Refuse with SADDLE_NO_MEMORY what needs more bytes than that. `what` begins the message, such as "the
 * state of 5 agents". Small needs are not looked into. The user's word comes first: SADDLE_MEMORY in the
 * environment is the number of gigabytes that a process may take, or "inf".
 */
saddle_status saddle_available_check(double bytes, size_t processes, const char *what,
                                     saddle_error *error);

#endif
