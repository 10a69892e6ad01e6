/* Checkpoints: complete files, nearly all of which fail the hash, and heads without hash. */
#include <saddle/lab.h>

#include "checkpoint/checkpoint_file.h"
#include "fuzz.h"

static void examine(const char *path)
{
    saddle_checkpoint_info info;
    saddle_plan plan = {.settings = NULL};
    saddle_error error = {.message = ""};
    saddle_status status = saddle_checkpoint_examine(path, &info, &plan, &error);
    if (status == SADDLE_OK)
        fuzz_promise(info.agents > 0 && info.rows > 0, "a checkpoint has agents and rows");
    else
        fuzz_check_refusal(status, plan.settings, &error);
    saddle_plan_free(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    examine(fuzz_file(bytes, size));
    saddle_checkpoint *head = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_checkpoint_decode(&head, "head", bytes, size, &error);
    if (status == SADDLE_OK)
        fuzz_promise(head->number.settings <= size / 3, "settings are no longer than their head");
    else
        fuzz_check_refusal(status, head, &error);
    saddle_checkpoint_close(head);
    return 0;
}
