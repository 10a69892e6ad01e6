/* Lists of algorithms, as --algorithms gives them. */
#pragma once

#include "instance/algorithm_choice.h"

/* The most algorithms in a list. */
#define ALGORITHM_NAMES_MOST 64

typedef struct algorithm_names {
    size_t count;
    saddle_algorithm_choice *choice[ALGORITHM_NAMES_MOST];   /* owned */
    const saddle_algorithm *algorithm[ALGORITHM_NAMES_MOST]; /* of each choice */
} algorithm_names;

/* Reads "a,b,c" or "all"; an entry is a name or a plug-in, PATH[:name=value,name=value]. Release
 * the result even after a failure. */
saddle_status saddle_algorithm_names_read(algorithm_names *out, const char *text,
                                          saddle_error *error);
/* Frees what a list owns. */
void saddle_algorithm_names_release(algorithm_names *names);
