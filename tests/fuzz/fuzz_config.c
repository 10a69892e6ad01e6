/* The reader of configuration files. */
#include <saddle/plan.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static saddle_plan defaults;
    saddle_plan plan;
    saddle_plan copy;
    saddle_error error = {.message = ""};
    if (defaults.size == 0) {
        saddle_plan_defaults(&plan, sizeof plan);
        fuzz_promise(saddle_plan_copy(&defaults, &plan, &error) == SADDLE_OK,
                     "the defaults are a plan");
    }
    fuzz_promise(saddle_plan_copy(&plan, &defaults, &error) == SADDLE_OK, "plans can be copied");
    saddle_status status = saddle_plan_load(&plan, fuzz_file(bytes, size), &error);
    if (status != SADDLE_OK)
        fuzz_check_refusal(status, NULL, &error);
    for (size_t k = 0; k < saddle_plan_option_count(&plan); k++)
        fuzz_promise(saddle_plan_find(&plan, saddle_plan_option(&plan, k)->name) != NULL,
                     "every option is found by its name");
    fuzz_promise(saddle_plan_copy(&copy, &plan, &error) == SADDLE_OK,
                 "the fields hold what was accepted");
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
    return 0;
}
