/* Saved models: the file, the settings in it, and the problem that is made from them. */
#include <saddle/lab.h>

#include <math.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    saddle_predictor *predictor = NULL;
    saddle_error error = {.message = ""};
    saddle_status status = saddle_predictor_load(&predictor, fuzz_file(bytes, size), NULL, &error);
    if (status == SADDLE_OK)
        fuzz_promise(saddle_predictor_problem(predictor) != NULL &&
                         saddle_predictor_features(predictor) <= size,
                     "a model is no larger than its file");
    else
        fuzz_check_refusal(status, predictor, &error);
    saddle_predictor_free(predictor);
    saddle_saved_model *model = NULL;
    status = saddle_saved_model_load(&model, fuzz_file(bytes, size), &error);
    if (status == SADDLE_OK)
        fuzz_promise(model->agents > 0 && isfinite(model->x[0]), "copies are finite");
    else
        fuzz_check_refusal(status, model, &error);
    saddle_saved_model_free(model);
    return 0;
}
