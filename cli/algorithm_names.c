/* Reads lists of algorithms. */
#include "algorithm_names.h"

static saddle_status add(algorithm_names *names, const char *text, saddle_error *error)
{
    if (names->count == ALGORITHM_NAMES_MOST)
        return saddle_refuse(error, "--algorithms: at most %d algorithms are allowed",
                             ALGORITHM_NAMES_MOST);
    saddle_algorithm_choice *choice;
    SADDLE_TRY(saddle_in_field("--algorithms", saddle_algorithm_open(&choice, text, error), error));
    names->choice[names->count] = choice;
    names->algorithm[names->count++] = choice->algorithm;
    /* The names become names of files and curves, so they must differ. */
    for (size_t k = 0; k + 1 < names->count; k++)
        if (strcmp(names->algorithm[k]->name, choice->algorithm->name) == 0)
            return saddle_refuse(error,
                                 "--algorithms: '%s' is named twice; give each algorithm once, or "
                                 "one plug-in with different options",
                                 choice->algorithm->name);
    return SADDLE_OK;
}

static saddle_status add_all(algorithm_names *names, saddle_error *error)
{
    size_t count;
    const saddle_algorithm *const *all = saddle_algorithm_list(&count);
    for (size_t k = 0; k < count; k++)
        SADDLE_TRY(add(names, all[k]->name, error));
    return SADDLE_OK;
}

saddle_status saddle_algorithm_names_read(algorithm_names *out, const char *text,
                                          saddle_error *error)
{
    *out = (algorithm_names){.count = 0};
    if (strcmp(text, "all") == 0)
        return add_all(out, error);
    SADDLE_OWNED char *copy = saddle_strdup(text);
    SADDLE_TRY(saddle_check_memory(copy, "the list of algorithms", error));
    for (char *rest = copy; rest != NULL;)
        SADDLE_TRY(add(out, saddle_algorithm_next(&rest), error));
    return SADDLE_OK;
}

void saddle_algorithm_names_release(algorithm_names *names)
{
    for (size_t k = 0; k < names->count; k++)
        saddle_algorithm_release(names->choice[k]);
    names->count = 0;
}
