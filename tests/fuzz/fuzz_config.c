/* The reader of configuration files. */
#include <saddle/settings.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static saddle_settings *defaults;
    saddle_settings *settings = NULL;
    saddle_error error = {.message = ""};
    if (defaults == NULL)
        fuzz_promise(saddle_settings_create(&defaults, &error) == SADDLE_OK, "there are defaults");
    fuzz_promise(saddle_settings_copy(&settings, defaults, &error) == SADDLE_OK,
                 "settings can be copied");
    saddle_status status = saddle_settings_load(settings, fuzz_file(bytes, size), &error);
    if (status != SADDLE_OK)
        fuzz_check_refusal(status, NULL, &error);
    for (size_t k = 0; k < saddle_settings_count(settings); k++)
        fuzz_promise(saddle_settings_text(settings, saddle_settings_option(settings, k)->name) !=
                         NULL,
                     "every option has a value");
    saddle_settings_free(settings);
    return 0;
}
