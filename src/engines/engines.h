/* The built-in engines. */
#ifndef SADDLE_ENGINES_H
#define SADDLE_ENGINES_H

#include "engines/engine.h"

extern const saddle_engine_class saddle_threads_engine;
extern const saddle_engine_class saddle_mpi_engine;

#endif
