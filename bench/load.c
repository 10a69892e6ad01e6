/* Time to read a data file into memory, from the page cache once it has been read. */
#include <stdio.h>

#include "bench.h"

enum { MOST_REPEATS = 1000 };

int bench_load(int count, char **argument)
{
    (void)count;
    static double seconds[MOST_REPEATS];
    saddle_error error;
    saddle_dataset *data;
    saddle_data_options options = {.abi = SADDLE_ABI,
                                   .threads = bench_count("THREADS", argument[1])};
    size_t repeats = bench_count("REPEATS", argument[2]);
    size_t rows = 0;
    size_t nonzeros = 0;
    repeats = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;
    /* The first time, unmeasured, brings the file into the page cache. */
    bench_require(saddle_dataset_load(&data, argument[0], &options, 1, &error), &error);
    for (size_t k = 0; k < repeats; k++) {
        saddle_dataset_free(data);
        double begin = bench_clock();
        bench_require(saddle_dataset_load(&data, argument[0], &options, 1, &error), &error);
        seconds[k] = bench_clock() - begin;
        rows = data->rows;
        nonzeros = data->nonzeros;
    }
    saddle_dataset_free(data);
    printf("{\"rows\": %zu, \"nonzeros\": %zu, \"threads\": %llu, ", rows, nonzeros,
           (unsigned long long)options.threads);
    bench_print_list("seconds_of_repeats", repeats, seconds);
    printf(", \"seconds\": %.9g", bench_median(repeats, seconds));
    printf(", \"best_seconds\": %.9g}\n", seconds[0]);
    return 0;
}
