/* The time that has passed, for traces and time limits; it never enters a result. */
#ifndef SADDLE_CORE_CLOCK_H
#define SADDLE_CORE_CLOCK_H

/* Seconds since some fixed moment; never runs backwards, whatever happens to the wall clock. */
double saddle_clock_seconds(void);

#endif
