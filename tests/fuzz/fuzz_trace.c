/* The reader of traces. */
#include <saddle/lab.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    saddle_trace *trace = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_trace_read(&trace, fuzz_file(bytes, size), &error);
    if (status == SADDLE_OK && trace != NULL) {
        fuzz_promise(trace->columns > 0, "a trace has columns");
        fuzz_promise(trace->rows * trace->columns <= size, "a trace is no larger than its file");
        volatile double sum = 0.0;
        for (size_t c = 0; c < trace->columns; c++)
            for (size_t r = 0; r < trace->rows; r++)
                sum = sum + trace->value[c][r];
    } else {
        fuzz_check_refusal(status, trace, &error);
    }
    saddle_trace_free(trace);
    return 0;
}
