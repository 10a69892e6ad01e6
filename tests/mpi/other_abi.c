/* What the program says to the others of its job, with another ABI number. */
#include <saddle/status.h>

#undef SADDLE_ABI
#define SADDLE_ABI 4099u

#include "engines/mpi_peers.c"
