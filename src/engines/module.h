/*
 * Modules: shared objects with what needs libraries that most users do not have, such as an MPI. A module is
 * opened when an engine is asked for, and stays open, so the program itself does not load those libraries.
 *
 * A module calls no function of the library: it exports a table of functions, `saddle_module_table`, which begins with
 * a saddle_module. So it works the same for the program, for libsaddle.so and for programs that contain
 * libsaddle.a.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <saddle/status.h>

/* The first field of every table. Other versions must understand it, so it never changes. */
typedef struct saddle_module {
    const char *version; /* of the sources that it was built from */
    size_t bytes;        /* of the whole table */
} saddle_module;

/* Whose module to open. */
typedef struct saddle_module_name {
    const char *name;  /* "mpi" for libsaddle-mpi.so */
    const char *user;  /* begins messages, such as "--engine: mpi" */
    const char *other; /* a remedy that ends messages, such as ", or use threads"; "" for none */
    const char
        *needs; /* what must be installed to build and load it: its upstream and Debian names */
    bool unpackaged; /* there is no Debian package of it, as of libsaddle-mpi.so */
} saddle_module_name;

/*
 * Opens a module, unless it is open already. It is looked for in the directory that the environment variable
 * SADDLE_MODULES names, or else near the program or library that contains this code, and where modules were
 * to be installed. Signal dispositions stay as they are. Fails with SADDLE_UNSUPPORTED if it is not installed,
 * has another version or cannot be loaded.
 * @param bytes  of the table that the caller expects.
 */
saddle_status saddle_module_open(const saddle_module **out, const saddle_module_name *module,
                                 size_t bytes, saddle_error *error);

/* The dispositions of all signals. */
typedef struct saddle_signals {
    struct sigaction action[_NSIG];
} saddle_signals;

/* Records the dispositions, before calling a library that changes them without being asked. */
void saddle_signals_save(saddle_signals *out);
/* Sets them back. */
void saddle_signals_restore(const saddle_signals *saved);
