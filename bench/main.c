/* saddle_bench PART ...: what the measuring parts share, and the choice between them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

double bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(size_t count, double *value)
{
    qsort(value, count, sizeof *value, ascending);
    return 0.5 * (value[(count - 1) / 2] + value[count / 2]);
}

void bench_print_list(const char *name, size_t count, const double *value)
{
    printf("\"%s\": [", name);
    for (size_t k = 0; k < count; k++)
        printf("%s%.9g", k > 0 ? ", " : "", value[k]);
    printf("]");
}

double bench_peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

size_t bench_count(const char *what, const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value == 0) {
        fprintf(stderr, "saddle_bench: %s '%s' is not a whole number from 1\n", what, text);
        exit(2);
    }
    return (size_t)value;
}

void bench_require(saddle_status status, const saddle_error *error)
{
    if (status == SADDLE_OK)
        return;
    fprintf(stderr, "saddle_bench: %s\n", error->message);
    exit(2);
}

void bench_plan(saddle_plan *out, int count, char **word)
{
    saddle_error error;
    saddle_plan_defaults(out, sizeof *out);
    for (int k = 0; k < count; k++) {
        char name[64];
        const char *value = strchr(word[k], '=');
        if (value == NULL || value - word[k] >= (long)sizeof name) {
            fprintf(stderr, "saddle_bench: '%s' is not OPTION=VALUE\n", word[k]);
            exit(2);
        }
        snprintf(name, sizeof name, "%.*s", (int)(value - word[k]), word[k]);
        bench_require(saddle_plan_set(out, name, value + 1, &error), &error);
    }
}

int main(int count, char **argument)
{
    static const struct {
        const char *name;
        bench_part *part;
        int least; /* arguments */
        const char *usage;
    } parts[] = {
        {"iterate", bench_iterate, 2, "REPEATS ITERATIONS [OPTION=VALUE...]"},
        {"triad", bench_triad, 3, "BYTES THREADS REPEATS"},
        {"load", bench_load, 3, "FILE THREADS REPEATS"},
        {"kernels", bench_kernels, 1, "REPEATS [OPTION=VALUE...]"},
        {"many", bench_many, 2, "RUNS ITERATIONS [OPTION=VALUE...]"},
    };
    const size_t known = sizeof parts / sizeof *parts;
    for (size_t k = 0; k < known; k++)
        if (count >= 2 && strcmp(argument[1], parts[k].name) == 0 && count - 2 >= parts[k].least)
            return parts[k].part(count - 2, argument + 2);
    for (size_t k = 0; k < known; k++)
        fprintf(stderr, "usage: saddle_bench %s %s\n", parts[k].name, parts[k].usage);
    return 2;
}
