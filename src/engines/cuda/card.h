/*
 * What the engine `cuda` and its module share: the memory of a card, the steps of an iteration on it, and the functions
 * by which the engine uses it. The module (module_cuda.cu) implements them for a card, on_host.c as loops on the
 * processor. Both run the functions of kernels.h, block by block.
 */
#ifndef SADDLE_ENGINES_CUDA_CARD_H
#define SADDLE_ENGINES_CUDA_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/device_steps.h"
#include "engines/module.h"

/* Batches are drawn for this many iterations at once; twice as many are kept. */
#define SADDLE_CARD_WINDOW ((uint64_t)32)
/* Rows of a batch that a block works on at a time, columns whose sums it computes at a time, and its threads: more for
 * batches, so that few of them have a sample as well as a column of a9a with 81 samples. */
#define SADDLE_CARD_CHUNK 128
#define SADDLE_CARD_COLUMNS 1024
#define SADDLE_CARD_THREADS 256
#define SADDLE_CARD_BATCH_THREADS 288
/* The most agents whose tiles a block moves. */
#define SADDLE_CARD_MOST_GROUP 16

/* The columns of sums over rows behind those of the features, for auc: card_auc.h. */
enum { SADDLE_AUC_BIAS, SADDLE_AUC_POSITIVE, SADDLE_AUC_NEGATIVE, SADDLE_AUC_Y, SADDLE_AUC_REST };

/* How far the card has come. Which clock is right changes with every iteration: parity 0 reads the first. */
typedef struct saddle_card_state {
    uint64_t clock[2]; /* the iteration whose state is in span[parity] */
    uint64_t
        stop_at; /* nothing is computed from this iteration on; UINT64_MAX: no such iteration */
} saddle_card_state;

/* The memory of a card and the constants of a run. Pointers are to the card's memory. */
typedef struct saddle_card_plan {
    uint32_t agents;
    uint32_t x_dim;
    uint32_t y_dim;
    uint32_t
        features; /* of a row; the entries of x behind them are an intercept, or as in card_auc.h */
    uint32_t columns; /* sums over rows: x_dim, or more (card_auc.h) */
    size_t stride;    /* doubles between two agents' spans */
    size_t kept_stride;
    /* Coordinates are divided into tiles of SADDLE_CARD_THREADS, those of x first. */
    uint32_t x_tiles;
    uint32_t tiles;
    /* A block moves a tile of this many agents. */
    uint32_t group;
    uint32_t groups;
    uint32_t batch_threads; /* of the blocks of mini-batches, at most SADDLE_CARD_BATCH_THREADS */
    /* The network: neighbours of agent i are neighbour[start[i]], ... */
    const uint32_t *start;
    const uint32_t *neighbour;
    const double *weight;
    const double *self_weight;
    /* The rows of all agents, one after another; either `dense` or entries, whose values are 1 if NULL. */
    const uint64_t *first_row; /* of each agent, and one more */
    const double *label;
    const double *dense;
    const uint64_t *row_start;
    const uint32_t *column;
    const double *value;
    /* The entries by agent, part, column and row: list (agent * parts + part) * x_dim + column. */
    uint32_t parts;      /* of a refresh, at most */
    uint32_t row_blocks; /* of an agent, at most */
    uint64_t lists;
    const uint64_t *list_start;
    const uint32_t *list_row; /* within the agent */
    const double *list_value;
    const uint32_t *part_rows;  /* per agent: the rows of a part of a refresh */
    const uint32_t *batch_size; /* per agent */
    const uint32_t *batch_part; /* per agent: the samples of a part of a batch */
    size_t batch_stride;
    size_t change_stride; /* of `change` and refresh_batch */
    size_t mark_stride;
    double sample_cost;     /* saddle_sample_cost() */
    uint32_t x_block;       /* coordinates of a block of x */
    const double *row_norm; /* per row, of refreshes that measure the variance: |a|^2 */
    uint64_t seed;
    uint64_t purpose; /* of the batches' random numbers */
    uint64_t refresh_purpose;
    saddle_device_steps steps;
    bool plain; /* all weights, steps and bounds are 0 or between 2^-60 and 2^60, or infinite */
    /* The problem: problems/device_problem.h. */
    double huber; /* infinite: square loss; 0: logistic loss */
    double loss_weight;
    const double *agent_weight;
    double regularizer;
    double bend;
    double penalty_slope;
    double penalty_length;
    bool auc; /* with these two numbers, in place of all above: card_auc.h */
    double share;
    double ridge;
    bool answers; /* instead, the problem computes gradients: `answer` */
    /* State. */
    double *span[2];
    double *kept;       /* v | u | stall counter, of each agent */
    uint64_t *moved_at; /* per agent: the iteration after the last one that moved y, and x */
    saddle_card_state *state;
    /* Work. */
    uint32_t *batch;         /* per iteration of two windows and agent */
    uint64_t *mark;          /* per iteration of a window and agent; zero */
    uint32_t *refresh_batch; /* per agent: the samples of a scheduled refresh */
    uint32_t *refresh_count;
    uint64_t *refresh_mark; /* per agent; zero */
    uint64_t *spent;        /* per agent: IFO calls, where refreshes are scheduled */
    double *change;         /* per agent and sample of a batch: of its entry of u */
    double *sum;            /* per agent and column: of a part of a batch */
    double *total;          /* per agent, part and column */
    double *along;          /* per row; for auc three more per row: card_auc.h */
    double
        *answer; /* per agent: of a gradient in x and y; then, for differences, those to subtract */
    double *gy;  /* per agent and entry of y; without refreshes, zero between iterations */
    double *target; /* per agent and entry of x and y: x~ and y~, where they are not only clipped */
    double *point;  /* x and y */
    double *result; /* of measurements */
    double *scratch; /* three times as much */
} saddle_card_plan;

/* What is measured. */
typedef enum saddle_card_measure_kind {
    SADDLE_CARD_MEAN,  /* means over agents of entries of the span, minus estimates */
    SADDLE_CARD_NORMS, /* squared norms of parts of each agent's state */
    SADDLE_CARD_SURVEY /* means over agents of gradients in x and losses at plan->point */
} saddle_card_measure_kind;

/* Entries of an agent's span, or of what it keeps. */
typedef struct saddle_card_piece {
    bool kept;
    size_t at;
    uint32_t count;
    const double *minus; /* what is subtracted; NULL: nothing */
    bool outside;        /* subtracts what is nearest between the bounds */
    double lower;
    double upper;
} saddle_card_piece;

typedef struct saddle_card_measure {
    saddle_card_measure_kind kind;
    unsigned parity;
    saddle_card_piece piece[2]; /* the norms of the second follow those of the first; MEAN: one */
    bool at_point;              /* MEAN: it is also plan->point */
    bool tracks;                /* there is an estimate */
    size_t estimate;            /* in what agents keep */
    double shift; /* times these entries of the span, is subtracted from what is kept */
    size_t shifted;
} saddle_card_measure;

/* An open card. */
typedef struct saddle_card saddle_card;

/* The table of the module. Functions that return false leave a message in saddle_card_error(). */
typedef struct saddle_card_module {
    saddle_module module;
    /* Finds a card that can be used. Returns NULL, and why not in `why`. */
    saddle_card *(*open)(size_t size, char *why);
    /* Frees the card's memory. NULL is allowed. */
    void (*close)(saddle_card *card);
    /* Returns the bytes of the card's memory that are free. */
    double (*free_bytes)(saddle_card *card);
    /* Takes zeroed memory; NULL: there is not enough. close() frees it. */
    void *(*take)(saddle_card *card, size_t bytes);
    /* Copies to the card, and from it. */
    bool (*put)(saddle_card *card, void *to, const void *from, size_t bytes);
    bool (*get)(saddle_card *card, void *to, const void *from, size_t bytes);
    /* Makes copies from and to memory of the process faster, as far as that is possible. */
    void (*pin)(saddle_card *card, void *block, size_t bytes);
    /* Begins `count` iterations from `iteration` on, whose state is in plan->span[parity], after those begun
     * before. Returns when about as many of them are left to do. */
    bool (*begin)(saddle_card *card, const saddle_card_plan *plan, uint64_t iteration,
                  unsigned parity, uint64_t count);
    /* Begins one iteration as far as it needs no gradients, and given plan->answer, the rest. */
    bool (*move)(saddle_card *card, const saddle_card_plan *plan, uint64_t iteration,
                 unsigned parity, bool refreshes);
    bool (*follow)(saddle_card *card, const saddle_card_plan *plan, uint64_t iteration,
                   unsigned parity, bool refreshes);
    /* Returns the stream in whose order a card works; NULL: there is none. */
    void *(*stream)(const saddle_card *card);
    /* Waits for all iterations begun, and reports how far the card has come. */
    bool (*wait)(saddle_card *card, const saddle_card_plan *plan, saddle_card_state *out);
    /* Measures, after wait(), into plan->result. */
    bool (*measure)(saddle_card *card, const saddle_card_plan *plan,
                    const saddle_card_measure *what);
    /* Describes the card, such as by its name. */
    const char *(*name)(const saddle_card *card);
    /* Describes why a function returned false. */
    const char *(*error)(const saddle_card *card);
} saddle_card_module;

/* Differs between builds whose tables or plans differ: saddle_module_open() compares it. */
#define SADDLE_CARD_BYTES (sizeof(saddle_card_module) + sizeof(saddle_card_plan))

/* Runs the same plan as loops on the processor. */
extern const saddle_card_module saddle_card_on_host;

#endif
