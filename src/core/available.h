/* How much memory can still be had: asked before much of it is taken, so that what cannot fit is
 * refused with numbers instead of being killed half way. */
#ifndef SADDLE_CORE_AVAILABLE_H
#define SADDLE_CORE_AVAILABLE_H

#include <saddle/status.h>

/* Bytes that this process can still take: the least of what the system has to spare (swap included),
 * what its control groups leave and what its limit of addresses leaves. Infinite where nothing is
 * known. */
double saddle_available_bytes(void);

/* Refuse with SADDLE_NO_MEMORY what needs more bytes than that. `what` begins the message, such as
 * "the state of 5 agents". Small needs are not looked into. */
saddle_status saddle_available_check(double bytes, const char *what, saddle_error *error);

#endif
