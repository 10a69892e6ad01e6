#include "models/ranking.h"

typedef struct ranked {
    double score;
    bool positive;
} ranked;

static int by_score(const void *a, const void *b)
{
    double left = ((const ranked *)a)->score;
    double right = ((const ranked *)b)->score;
    return (left > right) - (left < right);
}

/* Returns twice the number of pairs in the right order, where ties count half, for sorted rows. */
static uint64_t pairs_won(size_t count, const ranked *row)
{
    uint64_t won = 0;
    uint64_t below = 0; /* negatives with a smaller score */
    for (size_t begin = 0; begin < count;) {
        uint64_t positives = 0;
        uint64_t negatives = 0;
        size_t k = begin;
        for (; k < count && row[k].score == row[begin].score; k++) {
            positives += row[k].positive ? 1 : 0;
            negatives += row[k].positive ? 0 : 1;
        }
        won += positives * (2 * below + negatives);
        below += negatives;
        begin = k;
    }
    return won;
}

saddle_status saddle_ranking_auc(size_t count, const double *score, const double *label,
                                 double *out, saddle_error *error)
{
    SADDLE_OWNED ranked *row = saddle_alloc(count, sizeof *row);
    SADDLE_TRY(saddle_check_memory(row, "the area under the curve", error));
    uint64_t positives = 0;
    bool numbers = true;
    for (size_t k = 0; k < count; k++) {
        row[k] = (ranked){.score = score[k], .positive = label[k] > 0.0};
        positives += row[k].positive ? 1 : 0;
        numbers = numbers && !isnan(score[k]);
    }
    *out = NAN;
    if (numbers && positives > 0 && positives < count) {
        qsort(row, count, sizeof *row, by_score);
        double pairs = (double)positives * (double)(count - positives);
        *out = (double)pairs_won(count, row) / (2.0 * pairs);
    }
    return SADDLE_OK;
}

/* Computes mean and variance of the scores of one class; NaN if it is empty. */
static void moments(size_t count, const double *score, const double *label, bool positive,
                    double *mean, double *variance)
{
    double members = 0.0;
    double sum = 0.0;
    double square = 0.0;
    for (size_t k = 0; k < count; k++)
        if ((label[k] > 0.0) == positive) {
            members += 1.0;
            sum += score[k];
        }
    *mean = sum / members;
    for (size_t k = 0; k < count; k++)
        if ((label[k] > 0.0) == positive)
            square += (score[k] - *mean) * (score[k] - *mean);
    *variance = square / members;
}

double saddle_ranking_pair_loss(size_t count, const double *score, const double *label)
{
    double mean[2];
    double variance[2];
    moments(count, score, label, false, &mean[0], &variance[0]);
    moments(count, score, label, true, &mean[1], &variance[1]);
    double margin = 1.0 - mean[1] + mean[0];
    return margin * margin + variance[0] + variance[1];
}
