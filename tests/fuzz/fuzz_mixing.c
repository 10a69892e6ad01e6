/* The reader of mixing weights. */
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
    fuzz_promise(saddle_graph_create(&graph, "ring", 4, 1, &error) == SADDLE_OK, "a ring is made");
    saddle_status status = saddle_mixing_create(&mixing, graph, text, &error);
    if (status == SADDLE_OK)
        fuzz_promise(saddle_mixing_check(mixing, &error) == SADDLE_OK,
                     "the weights are stochastic");
    else
        fuzz_check_refusal(status, mixing, &error);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    return 0;
}
