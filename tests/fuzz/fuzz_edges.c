/* The reader of edge lists, and what is computed from any network that it accepts. */
#include <stdio.h>

#include <saddle/graph.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[128];
    snprintf(text, sizeof text, "file:%s", fuzz_file(bytes, size));
    saddle_graph *graph = NULL;
    saddle_mixing *mixing = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_graph_create(&graph, text, 0, 1, &error);
    if (status != SADDLE_OK) {
        fuzz_check_refusal(status, graph, &error);
        return 0;
    }
    fuzz_promise(graph->agents > 1 && graph->edges + 1 >= graph->agents, "a network is connected");
    if (graph->agents <= 64 &&
        saddle_mixing_create(&mixing, graph, "metropolis", &error) == SADDLE_OK)
        fuzz_promise(saddle_mixing_check(mixing, &error) == SADDLE_OK,
                     "the weights are stochastic");
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    return 0;
}
