/* What a program with another ABI number sends to the others of its job. */
#include <saddle/status.h>

#undef SADDLE_ABI
#define SADDLE_ABI 4099u

#include "engines/mpi_peers.c"
