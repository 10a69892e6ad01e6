#include "instance/split_file.h"

#include "core/status.h"
#include "instance/plan.h"

saddle_status saddle_split_csv_file(const saddle_plan *plan, const char *name,
                                    const saddle_division *how, char *const *path, size_t *size,
                                    bool *copied, saddle_error *error)
{
    saddle_data_options options = saddle_plan_data_options(plan);
    *copied = false;
    for (size_t p = 0; p < how->parts; p++)
        if (!saddle_is_csv_name(path[p]))
            return SADDLE_OK;
    return saddle_csv_split(name, &options, how, path, size, copied, error);
}
