/*
 * The module of the engine `cuda` (card.h): the only file that needs nvcc. Every step of kernels.h is a kernel; the
 * iterations between two refreshes are CUDA graphs of 2 to 32 iterations. A second stream draws the batches of the next
 * window meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>

#include "engines/cuda/card.h"
#include "engines/cuda/kernels.h"

/* Graphs of 2, 4, ... iterations; the most blocks of memory. */
enum { GRAPHS = 5, MOST_BLOCKS = 64 };
/* The least compute capability, as 10 * major + minor, and the driver that this CUDA needs. */
enum { LEAST_CAPABILITY = 75 };
#define LEAST_DRIVER "580"

struct saddle_card {
    cudaStream_t main;
    cudaStream_t drawing;
    cudaEvent_t drawn[2]; /* the batches of a window, by parity of windows */
    cudaEvent_t done[2];  /* the iterations of a window */
    cudaEvent_t paced[2]; /* the iterations of a call of begin() */
    unsigned paces;
    uint64_t window; /* the first that is not drawn; UINT64_MAX: none is */
    cudaGraphExec_t graph[2][GRAPHS];
    size_t blocks;
    void *block[MOST_BLOCKS];
    size_t pins;
    void *pinned[MOST_BLOCKS];
    bool overlaps; /* a kernel can begin before the one before it has ended */
    cudaError_t failure;
    char name[300];
};

/* Blocks of move and settle are those of one tile of all agents, then of the next tile: what neighbours publish there
 * is then in the card's cache. */

/* ---- kernels --------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(128)
    draw_kernel(const __grid_constant__ saddle_card_plan c, uint64_t first)
{
    uint64_t k = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < (uint64_t)SADDLE_CARD_WINDOW * c.agents)
        saddle_card_draw(&c, first + k / c.agents, (uint32_t)(k % c.agents));
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    target_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    __shared__ saddle_card_pool pool;
    saddle_card_target(&c, parity, blockIdx.x / 2, blockIdx.x % 2 == 0, &pool);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    move_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity, bool refresh)
{
    __shared__ saddle_card_near near;
    saddle_card_move(&c, parity, refresh, blockIdx.x % c.groups, blockIdx.x / c.groups, &near);
}

template <bool recursive>
__global__ void __launch_bounds__(SADDLE_CARD_BATCH_THREADS, 3)
    batch_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    __shared__ saddle_card_shared shared;
    saddle_card_batch_step(&c, parity, blockIdx.x, recursive, &shared);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    schedule_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    __shared__ saddle_card_pool pool;
    saddle_card_schedule(&c, parity, blockIdx.x, &pool);
}

__global__ void __launch_bounds__(SADDLE_CARD_BATCH_THREADS, 3)
    estimate_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    __shared__ union {
        saddle_card_shared shared;
        saddle_card_pool pool;
    } memory;
    saddle_card_estimate(&c, parity, blockIdx.x, &memory.shared, &memory.pool);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    rows_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    saddle_card_rows(&c, parity, blockIdx.x / c.row_blocks, blockIdx.x % c.row_blocks);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    columns_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    saddle_card_columns(&c, parity, blockIdx.x);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    settle_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity)
{
    saddle_card_settle(&c, parity, blockIdx.x % c.agents, blockIdx.x / c.agents);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    answer_kernel(const __grid_constant__ saddle_card_plan c, unsigned parity, bool anew)
{
    saddle_card_answer(&c, parity, anew, blockIdx.x % c.agents, blockIdx.x / c.agents);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    norm_kernel(const __grid_constant__ saddle_card_plan c, const __grid_constant__ saddle_card_measure w)
{
    __shared__ saddle_card_pool pool;
    saddle_card_norm(&c, &w, blockIdx.x % 2, blockIdx.x / 2, &pool);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    slope_kernel(const __grid_constant__ saddle_card_plan c)
{
    saddle_card_slope(&c, blockIdx.x);
}

__global__ void __launch_bounds__(SADDLE_CARD_THREADS)
    mean_kernel(const __grid_constant__ saddle_card_plan c, const __grid_constant__ saddle_card_measure w)
{
    saddle_card_mean(&c, &w, blockIdx.x);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Records the first failure; returns whether there is none. */
static bool check(saddle_card *card, cudaError_t result)
{
    if (card->failure == cudaSuccess)
        card->failure = result;
    return card->failure == cudaSuccess;
}

static bool check_launch(saddle_card *card)
{
    return check(card, cudaGetLastError());
}

/* ---- the card -------------------------------------------------------------------------------- */

static void explain(cudaError_t result, size_t size, char *why)
{
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (result == cudaErrorInsufficientDriver && driver == 0)
        snprintf(why, size, "there is no driver of NVIDIA; install version " LEAST_DRIVER " or later");
    else if (result == cudaErrorInsufficientDriver)
        snprintf(why, size,
                 "the driver of NVIDIA is for CUDA %d.%d; install version " LEAST_DRIVER " or later",
                 driver / 1000, driver % 1000 / 10);
    else if (result == cudaErrorNoDevice)
        snprintf(why, size, "there is no graphics card of NVIDIA");
    else
        snprintf(why, size, "%s", cudaGetErrorString(result));
}

static bool make_streams(saddle_card *card)
{
    bool made = check(card, cudaStreamCreateWithFlags(&card->main, cudaStreamNonBlocking)) &&
                check(card, cudaStreamCreateWithFlags(&card->drawing, cudaStreamNonBlocking));
    for (int k = 0; made && k < 2; k++)
        made = check(card, cudaEventCreateWithFlags(&card->drawn[k], cudaEventDisableTiming)) &&
               check(card, cudaEventCreateWithFlags(&card->done[k], cudaEventDisableTiming)) &&
               check(card, cudaEventCreateWithFlags(&card->paced[k], cudaEventDisableTiming));
    return made;
}

static void close_card(saddle_card *card)
{
    if (card == NULL)
        return;
    for (auto &graphs : card->graph)
        for (cudaGraphExec_t graph : graphs)
            if (graph != NULL)
                cudaGraphExecDestroy(graph);
    while (card->pins > 0)
        cudaHostUnregister(card->pinned[--card->pins]);
    while (card->blocks > 0)
        cudaFree(card->block[--card->blocks]);
    for (int k = 0; k < 2; k++)
        for (cudaEvent_t event : {card->drawn[k], card->done[k], card->paced[k]})
            if (event != NULL)
                cudaEventDestroy(event);
    for (cudaStream_t stream : {card->main, card->drawing})
        if (stream != NULL)
            cudaStreamDestroy(stream);
    free(card);
}

static saddle_card *open_card(size_t size, char *why)
{
    int count = 0;
    int number = 0;
    cudaDeviceProp device;
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess)
        result = cudaGetDevice(&number);
    if (result == cudaSuccess)
        result = cudaGetDeviceProperties(&device, number);
    if (result != cudaSuccess) {
        explain(result, size, why);
        return NULL;
    }
    if (10 * device.major + device.minor < LEAST_CAPABILITY) {
        snprintf(why, size, "%s has compute capability %d.%d, and 7.5 is needed", device.name,
                 device.major, device.minor);
        return NULL;
    }
    saddle_card *card = (saddle_card *)calloc(1, sizeof *card);
    if (card == NULL) {
        snprintf(why, size, "there is not enough memory");
        return NULL;
    }
    card->window = UINT64_MAX;
    card->overlaps = device.major >= 9;
    snprintf(card->name, sizeof card->name, "%s", device.name);
    if (!make_streams(card)) {
        explain(card->failure, size, why);
        close_card(card);
        return NULL;
    }
    return card;
}

static double free_bytes(saddle_card *card)
{
    size_t left = 0;
    size_t all = 0;
    return check(card, cudaMemGetInfo(&left, &all)) ? (double)left : 0.0;
}

static void *take(saddle_card *card, size_t bytes)
{
    void *block = NULL;
    if (card->blocks == MOST_BLOCKS || cudaMalloc(&block, bytes) != cudaSuccess)
        return NULL;
    card->block[card->blocks++] = block;
    return check(card, cudaMemset(block, 0, bytes)) ? block : NULL;
}

static bool put(saddle_card *card, void *to, const void *from, size_t bytes)
{
    return check(card, cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}

static bool get(saddle_card *card, void *to, const void *from, size_t bytes)
{
    return check(card, cudaStreamSynchronize(card->main)) &&
           check(card, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static void pin(saddle_card *card, void *block, size_t bytes)
{
    if (card->pins < MOST_BLOCKS &&
        cudaHostRegister(block, bytes, cudaHostRegisterDefault) == cudaSuccess)
        card->pinned[card->pins++] = block;
    else
        cudaGetLastError(); /* copies are then slower */
}

/* ---- iterations ------------------------------------------------------------------------------ */

/* Launches a kernel that may begin before the one before it has ended, where the card can do that. */
template <typename... Types, typename... Arguments>
static void launch_early(saddle_card *card, void (*kernel)(Types...), unsigned blocks,
                         unsigned threads, const Arguments &...arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = blocks;
    launch.blockDim = threads;
    launch.stream = card->main;
    launch.attrs = &early;
    launch.numAttrs = card->overlaps ? 1 : 0;
    check(card, cudaLaunchKernelEx(&launch, kernel, arguments...));
}

static void launch_move(saddle_card *card, const saddle_card_plan *c, unsigned parity, bool dense)
{
    if (c->target != NULL)
        target_kernel<<<2 * c->agents, SADDLE_CARD_THREADS, 0, card->main>>>(*c, parity);
    if (c->steps.scheduled)
        schedule_kernel<<<c->agents, SADDLE_CARD_THREADS, 0, card->main>>>(*c, parity);
    launch_early(card, move_kernel, c->groups * c->tiles, SADDLE_CARD_THREADS, *c, parity, dense);
}

static void launch_settle(saddle_card *card, const saddle_card_plan *c, unsigned parity)
{
    settle_kernel<<<c->agents * c->tiles, SADDLE_CARD_THREADS, 0, card->main>>>(*c, parity);
}

static void launch_plain(saddle_card *card, const saddle_card_plan *c, unsigned parity)
{
    bool recursive = c->steps.recursive;
    launch_move(card, c, parity, !recursive);
    if (c->steps.scheduled)
        estimate_kernel<<<c->agents, c->batch_threads, 0, card->main>>>(*c, parity);
    else
        launch_early(card, recursive ? batch_kernel<true> : batch_kernel<false>, c->agents,
                     c->batch_threads, *c, parity);
    if (!recursive || c->steps.scheduled)
        launch_settle(card, c, parity);
}

static void launch_rows(saddle_card *card, const saddle_card_plan *c, unsigned parity)
{
    unsigned lists = (unsigned)((c->lists + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS);
    rows_kernel<<<c->agents * c->row_blocks, SADDLE_CARD_THREADS, 0, card->main>>>(*c, parity);
    columns_kernel<<<lists, SADDLE_CARD_THREADS, 0, card->main>>>(*c, parity);
}

static bool launch_refresh(saddle_card *card, const saddle_card_plan *c, unsigned parity)
{
    launch_move(card, c, parity, true);
    launch_rows(card, c, parity);
    launch_settle(card, c, parity);
    return check_launch(card);
}

/* Makes the graph of 2 << k iterations from a parity on. */
static bool make_graph(saddle_card *card, const saddle_card_plan *c, unsigned parity, int k)
{
    cudaGraph_t graph = NULL;
    if (!check(card, cudaStreamBeginCapture(card->main, cudaStreamCaptureModeThreadLocal)))
        return false;
    for (int t = 0; t < 2 << k; t++)
        launch_plain(card, c, (parity + (unsigned)t) % 2);
    bool made = check(card, cudaStreamEndCapture(card->main, &graph)) &&
                check(card, cudaGraphInstantiate(&card->graph[parity][k], graph, 0));
    if (graph != NULL)
        cudaGraphDestroy(graph);
    return made;
}

/* Launches iterations without refreshes. */
static bool launch_run(saddle_card *card, const saddle_card_plan *c, unsigned parity, uint64_t count)
{
    for (int k = GRAPHS - 1; k >= 0; k--)
        for (; count >= (uint64_t)2 << k; count -= (uint64_t)2 << k)
            if ((card->graph[parity][k] == NULL && !make_graph(card, c, parity, k)) ||
                !check(card, cudaGraphLaunch(card->graph[parity][k], card->main)))
                return false;
    if (count > 0)
        launch_plain(card, c, parity);
    return check_launch(card);
}

/* Draws the batches of a window once the iterations of the window before the last one are done. */
static bool draw(saddle_card *card, const saddle_card_plan *c, uint64_t window)
{
    unsigned blocks = (unsigned)((c->agents * SADDLE_CARD_WINDOW + 127) / 128);
    if (!check(card, cudaStreamWaitEvent(card->drawing, card->done[window % 2], 0)))
        return false;
    draw_kernel<<<blocks, 128, 0, card->drawing>>>(*c, window * SADDLE_CARD_WINDOW);
    return check_launch(card) && check(card, cudaEventRecord(card->drawn[window % 2], card->drawing));
}

/* Makes sure that the batches of a window and of the next one are drawn or being drawn. */
static bool enter_window(saddle_card *card, const saddle_card_plan *c, uint64_t window)
{
    if (card->window == UINT64_MAX)
        card->window = window;
    for (; card->window <= window + 1; card->window++)
        if (!draw(card, c, card->window))
            return false;
    return check(card, cudaStreamWaitEvent(card->main, card->drawn[window % 2], 0));
}

/* Does the iterations [t, end) of one window. */
static bool launch_window(saddle_card *card, const saddle_card_plan *c, uint64_t t, uint64_t end,
                          unsigned parity)
{
    while (t < end) {
        uint64_t refresh = (t / c->steps.q + 1) * c->steps.q - 1;
        uint64_t count = (refresh < end ? refresh : end) - t;
        bool launched = count > 0 ? launch_run(card, c, parity, count)
                                  : launch_refresh(card, c, parity);
        count = count > 0 ? count : 1;
        t += count;
        parity = (parity + (unsigned)(count % 2)) % 2;
        if (!launched)
            return false;
    }
    return true;
}

/* Waits for the iterations of the last call but one. */
static bool pace(saddle_card *card)
{
    unsigned k = card->paces++ % 2;
    return check(card, cudaEventRecord(card->paced[k], card->main)) &&
           check(card, cudaEventSynchronize(card->paced[1 - k]));
}

static bool begin(saddle_card *card, const saddle_card_plan *c, uint64_t iteration, unsigned parity,
                  uint64_t count)
{
    uint64_t last = iteration + count;
    for (uint64_t t = iteration; t < last;) {
        uint64_t window = t / SADDLE_CARD_WINDOW;
        uint64_t window_end = (window + 1) * SADDLE_CARD_WINDOW;
        uint64_t end = window_end < last ? window_end : last;
        if (!enter_window(card, c, window) || !launch_window(card, c, t, end, parity))
            return false;
        if (end == window_end && !check(card, cudaEventRecord(card->done[window % 2], card->main)))
            return false;
        parity = (parity + (unsigned)((end - t) % 2)) % 2;
        t = end;
    }
    return pace(card);
}

static bool move(saddle_card *card, const saddle_card_plan *c, uint64_t iteration, unsigned parity,
                 bool refreshes)
{
    if (!enter_window(card, c, iteration / SADDLE_CARD_WINDOW))
        return false;
    launch_move(card, c, parity, refreshes || !c->steps.recursive);
    return check_launch(card);
}

static bool follow(saddle_card *card, const saddle_card_plan *c, uint64_t iteration,
                   unsigned parity, bool refreshes)
{
    uint64_t next = iteration + 1;
    answer_kernel<<<c->agents * c->tiles, SADDLE_CARD_THREADS, 0, card->main>>>(
        *c, parity, refreshes || !c->steps.recursive);
    if (next % SADDLE_CARD_WINDOW == 0 &&
        !check(card, cudaEventRecord(card->done[iteration / SADDLE_CARD_WINDOW % 2], card->main)))
        return false;
    return check_launch(card) && pace(card);
}

static void *stream_of(const saddle_card *card)
{
    return card->main;
}

static bool measure(saddle_card *card, const saddle_card_plan *c, const saddle_card_measure *w)
{
    unsigned blocks = (w->piece[0].count + SADDLE_CARD_THREADS - 1) / SADDLE_CARD_THREADS;
    if (w->kind == SADDLE_CARD_SURVEY) {
        launch_rows(card, c, SADDLE_CARD_POINT);
        slope_kernel<<<c->agents, SADDLE_CARD_THREADS, 0, card->main>>>(*c);
    }
    if (w->kind == SADDLE_CARD_NORMS)
        norm_kernel<<<2 * c->agents, SADDLE_CARD_THREADS, 0, card->main>>>(*c, *w);
    else
        mean_kernel<<<blocks, SADDLE_CARD_THREADS, 0, card->main>>>(*c, *w);
    return check_launch(card);
}

static bool wait(saddle_card *card, const saddle_card_plan *c, saddle_card_state *out)
{
    return get(card, out, c->state, sizeof *out);
}

static const char *name_of(const saddle_card *card)
{
    return card->name;
}

static const char *error_of(const saddle_card *card)
{
    return cudaGetErrorName(card->failure);
}

extern "C" __attribute__((visibility("default"))) const saddle_card_module saddle_module_table;
const saddle_card_module saddle_module_table = {
    .module = {SADDLE_VERSION, SADDLE_CARD_BYTES},
    .open = open_card,
    .close = close_card,
    .free_bytes = free_bytes,
    .take = take,
    .put = put,
    .get = get,
    .pin = pin,
    .begin = begin,
    .move = move,
    .follow = follow,
    .stream = stream_of,
    .wait = wait,
    .measure = measure,
    .name = name_of,
    .error = error_of,
};
