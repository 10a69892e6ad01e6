/**
 * @file plugin.h
 * @brief Plug-ins: your own problems, algorithms, sets and regularizers in a shared object.
 *
 *     saddle run --problem ./libmine.so:OPTIONS --algorithm ./libmine.so --x-set ./libmine.so
 *
 * The object exports one constant, ::saddle_plugin, which lists what it provides:
 *
 *     #include <saddle/plugin.h>
 *     const saddle_plugin_table saddle_plugin = {
 *         .abi = SADDLE_ABI, .problem = &mine, .set = &half_space};
 *
 * The path must contain a /; no directories are searched. A class with a table of options takes
 * OPTIONS, the text after the first colon, as name=value,name=value; a class without one receives
 * the text unchanged. The object is not linked to libsaddle: it uses the functions of the
 * program or library that loads it. See docs/extending.md and examples/.
 */
#ifndef SADDLE_PLUGIN_H
#define SADDLE_PLUGIN_H

#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/problem.h>
#include <saddle/set.h>

/** What a plug-in provides. At least one of the pointers must not be NULL. */
typedef struct saddle_plugin_table {
    uint32_t abi;                                /**< SADDLE_ABI. Always the first member. */
    const saddle_problem_class *problem;         /**< For --problem. */
    const saddle_algorithm *algorithm;           /**< For --algorithm. */
    const saddle_set_class *set;                 /**< For --x-set and --y-set. */
    const saddle_regularizer_class *regularizer; /**< For --regularizer. */
} saddle_plugin_table;

/** The table of a plug-in. The plug-in defines it, not the library. */
SADDLE_EXTERN const saddle_plugin_table saddle_plugin __attribute__((visibility("default")));

#endif
