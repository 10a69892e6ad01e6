/**
 * @file plugin.h
 * @brief Problems, algorithms, sets and regularizers of your own in a shared object.
 *
 *     saddle run --problem ./libmine.so:OPTIONS --algorithm ./libmine.so --x-set ./libmine.so
 *
 * The object exports one constant, ::saddle_plugin, with whatever it has:
 *
 *     #include <saddle/plugin.h>
 *     const saddle_plugin_table saddle_plugin = {
 *         .abi = SADDLE_ABI, .problem = &mine, .set = &half_space};
 *
 * It is loaded from the path given, which has a / in it, and searched for nowhere. OPTIONS, what follows
 * the path's first colon, are name=value,name=value for a class that has a table of options; one that has none
 * gets the text as it is. An object that calls functions of the library links libsaddle.so; one that
 * only fills in tables links nothing. See docs/plugins.md and examples/.
 */
#ifndef SADDLE_PLUGIN_H
#define SADDLE_PLUGIN_H

#include <stdint.h>

#include <saddle/algorithm.h>
#include <saddle/problem.h>
#include <saddle/set.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a plug-in has. Pointers may be NULL, but not all of them. */
typedef struct saddle_plugin_table {
    uint32_t abi;                                /**< SADDLE_ABI. Always the first member. */
    const saddle_problem_class *problem;         /**< For --problem. */
    const saddle_algorithm *algorithm;           /**< For --algorithm. */
    const saddle_set_class *set;                 /**< For --x-set and --y-set. */
    const saddle_regularizer_class *regularizer; /**< For --regularizer. */
} saddle_plugin_table;

/** What the plug-in defines. The library does not. */
extern const saddle_plugin_table saddle_plugin __attribute__((visibility("default")));

#ifdef __cplusplus
}
#endif
#endif
