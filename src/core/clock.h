/* Elapsed time, for traces and time limits. Results never depend on it. */
#ifndef SADDLE_CORE_CLOCK_H
#define SADDLE_CORE_CLOCK_H

/* Returns the seconds since some fixed moment. Never runs backwards, even if the wall clock is set. */
double saddle_clock_seconds(void);

#endif
