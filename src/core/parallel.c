#include "core/parallel.h"

#include <pthread.h>

#include "core/processors.h"

typedef struct job {
    void (*body)(void *context, size_t chunk);
    void *context;
    size_t chunk;
} job;

static void *work(void *argument)
{
    const job *own = argument;
    own->body(own->context, own->chunk);
    return NULL;
}

size_t saddle_parallel_chunks(uint64_t threads, size_t size, size_t least)
{
    uint64_t chunks = size / least + 1;
    if (chunks == 1)
        return 1;
    uint64_t most = threads > 0 ? threads : saddle_processors(1);
    if (most > SADDLE_MOST_PARALLEL)
        most = SADDLE_MOST_PARALLEL;
    return (size_t)(chunks < most ? chunks : most);
}

void saddle_parallel(size_t chunks, void (*body)(void *context, size_t chunk), void *context)
{
    pthread_t thread[SADDLE_MOST_PARALLEL];
    bool started[SADDLE_MOST_PARALLEL] = {false};
    job jobs[SADDLE_MOST_PARALLEL];
    for (size_t k = 1; k < chunks; k++) {
        jobs[k] = (job){.body = body, .context = context, .chunk = k};
        started[k] = pthread_create(&thread[k], NULL, work, &jobs[k]) == 0;
    }
    for (size_t k = 0; k < chunks; k++)
        if (!started[k])
            body(context, k);
    for (size_t k = 1; k < chunks; k++)
        if (started[k])
            pthread_join(thread[k], NULL);
}
