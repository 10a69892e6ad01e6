/* Columns in a saved model: what can be parsed is printed and parsed again with the same result. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "data/columns.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    saddle_columns *columns = NULL;
    saddle_columns *again = NULL;
    saddle_error error = {.message = ""};
    char *text = saddle_alloc(size + 1, 1);
    if (text == NULL)
        return 0;
    memcpy(text, bytes, size);
    saddle_status status = saddle_columns_parse(&columns, text, &error);
    if (status == SADDLE_OK) {
        char *printed = saddle_columns_print(columns, true);
        fuzz_promise(printed != NULL &&
                         saddle_columns_parse(&again, printed, &error) == SADDLE_OK &&
                         again->count == columns->count && again->features == columns->features,
                     "columns that are printed are read alike");
        free(printed);
    } else {
        fuzz_check_refusal(status, columns, &error);
    }
    saddle_columns_free(columns);
    saddle_columns_free(again);
    saddle_free(text);
    return 0;
}
