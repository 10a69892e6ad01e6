/* The list of algorithms, finding one by its name, and how each chooses automatic values. */
#include "algorithms/algorithms.h"

#include "core/registry.h"

static const saddle_algorithm *const algorithms[] = {
#define SADDLE_ALGORITHM_ADDRESS(algorithm) &algorithm,
    SADDLE_ALGORITHMS(SADDLE_ALGORITHM_ADDRESS)
#undef SADDLE_ALGORITHM_ADDRESS
};

enum { COUNT = sizeof algorithms / sizeof *algorithms };

const saddle_algorithm *const *saddle_algorithm_list(size_t *count)
{
    *count = COUNT;
    return algorithms;
}

saddle_status saddle_algorithm_find(const saddle_algorithm **out, const char *name,
                                    saddle_error *error)
{
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    SADDLE_REQUIRE(error, name);
    const void *found;
    saddle_status status =
        saddle_registry_find(&found, "algorithm", name, algorithms, COUNT, error);
    *out = found;
    return status;
}

const char *saddle_automatic_rule(const saddle_algorithm *algorithm, const saddle_option *option)
{
    const saddle_automatic *a = algorithm->automatic;
    while (a != NULL && a->option != NULL && a->option != option)
        a++;
    return a != NULL && a->option != NULL ? a->rule : "";
}

/* Appends a rule, once for all built-in algorithms that have it; `k` is the first candidate. */
static void append_shared_rule(size_t k, const saddle_option *option, char *out, size_t size)
{
    const char *rule = saddle_automatic_rule(algorithms[k], option);
    size_t sharing[COUNT] = {0};
    size_t count = 0;
    for (size_t j = 0; j < COUNT; j++)
        if (strcmp(saddle_automatic_rule(algorithms[j], option), rule) == 0)
            sharing[count++] = j;
    if (*rule == '\0' || sharing[0] < k)
        return;
    for (size_t j = 0; j < count; j++)
        saddle_append(out, size, "%s%s",
                      j == 0           ? "\nauto for "
                      : j + 1 == count ? " and "
                                       : ", ",
                      algorithms[sharing[j]]->title);
    saddle_append(out, size, ": %s.", rule);
}

const char *saddle_option_help(const saddle_option *option, const saddle_algorithm *algorithm,
                               char *out, size_t size)
{
    if (option == NULL || out == NULL || size == 0)
        return out;
    saddle_snprintf(out, size, "%s", option->help);
    for (size_t k = 0; k < COUNT && algorithm == NULL; k++)
        append_shared_rule(k, option, out, size);
    if (algorithm != NULL && *saddle_automatic_rule(algorithm, option) != '\0')
        saddle_append(out, size, "\nauto for %s: %s.",
                      algorithm->title != NULL ? algorithm->title : algorithm->name,
                      saddle_automatic_rule(algorithm, option));
    return out;
}
