/**
 * @file plugin.h
 * @brief A problem of one's own in a shared object: `saddle run --problem ./libmine.so[:OPTIONS]`.
 *
 * The object exports one constant, ::saddle_plugin:
 *
 *     #include <saddle/plugin.h>
 *     const saddle_plugin_class saddle_plugin = {
 *         .abi = SADDLE_PLUGIN_ABI, .name = "mine", .create = create};
 *
 * It is loaded from the path given and searched for nowhere; OPTIONS, what follows the path's first
 * colon, is handed to create() as it stands. An object that calls functions of the library links
 * libsaddle.so; one that only fills in a ::saddle_problem links nothing. See docs/plugins.md and
 * examples/plugin/.
 */
#ifndef SADDLE_PLUGIN_H
#define SADDLE_PLUGIN_H

#include <stdint.h>

#include <saddle/problem.h>
#include <saddle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The binary interface of this header: it grows whenever a struct that plug-ins see changes. */
#define SADDLE_PLUGIN_ABI 4u

/** What a plug-in is. */
typedef struct saddle_plugin_class {
    uint32_t abi;        /**< SADDLE_PLUGIN_ABI. Always the first member. */
    uint32_t needs_data; /**< Not 0: it is made from --data, and inputs->shard is there. */
    uint32_t local_data; /**< Not 0: create() is content with the shards of the agents that are in
                              this process, inputs->world->here; the others' are NULL. Otherwise
                              data in several processes are refused. */
    const char *name;    /**< For messages and the header of a run. */
    const char *summary; /**< One line, for `saddle problems PATH`; may be NULL. */
    const char *options; /**< What may follow the colon, for the same; may be NULL. */
    /**
     * Make an instance.
     * @param[out] out      NULL on failure. Its destroy() is called before the object is unloaded.
     * @param      options  what followed the path's colon; "" when there was none.
     * @param      inputs   borrowed; they outlive the instance. The instance must be for exactly
     *                      inputs->agents agents.
     * @param      error    receives one line that names what is wrong, as by saddle_fail().
     */
    saddle_status (*create)(saddle_problem **out, const char *options,
                            const saddle_problem_inputs *inputs, saddle_error *error);
} saddle_plugin_class;

/** What the plug-in defines. The library does not. */
extern const saddle_plugin_class saddle_plugin __attribute__((visibility("default")));

/** A loaded plug-in. */
typedef struct saddle_plugin_object saddle_plugin_object;

/**
 * Load the object that PATH[:OPTIONS] names and check what it exports.
 * @param[out] out  NULL on failure. Free with saddle_plugin_close(), after every instance made from it.
 */
SADDLE_API saddle_status saddle_plugin_open(saddle_plugin_object **out, const char *text,
                                            saddle_error *error);
/** Unload. NULL is allowed. */
SADDLE_API void saddle_plugin_close(saddle_plugin_object *plugin);
/** What it exports. Borrowed from the object. */
SADDLE_API const saddle_plugin_class *saddle_plugin_exported(const saddle_plugin_object *plugin);

#ifdef __cplusplus
}
#endif
#endif
