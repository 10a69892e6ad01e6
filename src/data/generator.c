/*
 * An a9a-like data set generated from a seed.
 *
 * a9a is the census-income data as 14 one-hot groups over 123 features; rows have 11 to 14 ones because
 * three of the groups are sometimes missing. Here every group draws its category from p_c ~ (c + 1)^-skew,
 * and the label is +1 with probability 1 / (1 + exp(-(b + sum of the weights of the categories drawn))).
 * The weights are normal, scaled so that the score has a fixed standard deviation (which determines how
 * learnable the labels are); the intercept b is calibrated so that 24% of the labels are positive.
 *
 * Row k depends only on (seed, k), and the weights only on the seed, so the first rows of a larger data
 * set are the rows of a smaller one. Cost: O(groups log features) per row.
 */
#include "core/elementary.h"
#include "core/float_mode.h"
#include "core/rng.h"
#include "data/dataset.h"

#define GROUPS 14
#define A9A_FEATURES 123
#define POSITIVE 0.24
/* Standard deviation of the score: the ranking by the true score then has an AUC of about 0.9. */
#define SPREAD 2.7
#define PILOT_ROWS 16384

/* Streams of SADDLE_RNG_GENERATOR, as the `agent` of the key. */
enum { STREAM_ROW = 0, STREAM_MODEL = 1, STREAM_PILOT = 2 };

/* The groups of a9a: age, work class, weight, education (two), marital status, occupation,
 * relationship, race, sex, capital gain and loss, hours, country. */
static const struct {
    size_t size;
    double skew;
    double missing; /* probability that the group is not set */
} a9a_group[GROUPS] = {{5, 0.0, 0.0}, {8, 2.0, 0.056}, {5, 0.0, 0.0},    {16, 1.0, 0.0},
                       {5, 0.5, 0.0}, {7, 1.3, 0.0},   {14, 0.5, 0.057}, {6, 1.0, 0.0},
                       {5, 2.5, 0.0}, {2, -1.0, 0.0},  {2, 3.5, 0.0},    {2, 4.3, 0.0},
                       {5, 0.8, 0.0}, {41, 3.7, 0.018}};

struct model {
    size_t features;
    size_t groups;
    size_t start[GROUPS + 1]; /* first feature of each group */
    double *upto;             /* per feature: probability of it or an earlier one of its group */
    double *weight;           /* per feature */
    double intercept;
};

/* Gives each group at least two features and divides the rest in a9a's proportions. */
static void lay_out(struct model *model)
{
    model->groups = model->features / 2 < GROUPS ? model->features / 2 : GROUPS;
    uint64_t total = 0;
    for (size_t g = 0; g < model->groups; g++)
        total += a9a_group[g].size - 2;
    uint64_t spare = model->features - 2 * model->groups;
    uint64_t seen = 0;
    for (size_t g = 0; g < model->groups; g++) {
        seen += a9a_group[g].size - 2;
        /* cppcheck-suppress zerodiv; the first group alone has more than two features */
        model->start[g + 1] = (size_t)(2 * (g + 1) + spare * seen / total);
    }
}

static void set_probabilities(struct model *model)
{
    for (size_t g = 0; g < model->groups; g++) {
        double sum = 0.0;
        for (size_t k = model->start[g]; k < model->start[g + 1]; k++) {
            double rank = (double)(k - model->start[g] + 1);
            sum += saddle_exp(-a9a_group[g].skew * saddle_log(rank));
            model->upto[k] = sum;
        }
        for (size_t k = model->start[g]; k < model->start[g + 1]; k++)
            model->upto[k] /= sum;
    }
}

/* Returns the variance of group g's contribution to the score. */
static double group_variance(const struct model *model, size_t g)
{
    double mean = 0.0;
    double square = 0.0;
    double before = 0.0;
    double present = 1.0 - a9a_group[g].missing;
    for (size_t k = model->start[g]; k < model->start[g + 1]; k++) {
        double p = present * (model->upto[k] - before);
        before = model->upto[k];
        mean += p * model->weight[k];
        square += p * model->weight[k] * model->weight[k];
    }
    return square - mean * mean;
}

static void draw_weights(struct model *model, uint64_t seed)
{
    saddle_rng rng;
    saddle_rng_init(&rng, seed, SADDLE_RNG_GENERATOR, STREAM_MODEL, 0);
    for (size_t k = 0; k < model->features; k++)
        model->weight[k] = saddle_rng_normal(&rng);
    double variance = 0.0;
    for (size_t g = 0; g < model->groups; g++)
        variance += group_variance(model, g);
    double scale = SPREAD / sqrt(variance);
    for (size_t k = 0; k < model->features; k++)
        model->weight[k] *= scale;
}

/* Draws the feature of group g that is set, or `features` when the group is missing. */
static size_t draw_category(const struct model *model, size_t g, saddle_rng *rng)
{
    if (a9a_group[g].missing > 0.0 && saddle_rng_uniform(rng) < a9a_group[g].missing)
        return model->features;
    double u = saddle_rng_uniform(rng);
    size_t low = model->start[g];
    size_t high = model->start[g + 1] - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u < model->upto[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Draws the features of a row; returns their number, and their score without the intercept in *score. */
static size_t draw_row(const struct model *model, saddle_rng *rng, uint32_t *column, double *score)
{
    size_t count = 0;
    *score = 0.0;
    for (size_t g = 0; g < model->groups; g++) {
        size_t k = draw_category(model, g, rng);
        if (k == model->features)
            continue;
        column[count++] = (uint32_t)k;
        *score += model->weight[k];
    }
    return count;
}

static double probability(double score)
{
    return 1.0 / (1.0 + saddle_exp(-score));
}

/* Finds by bisection the intercept for which the mean probability over pilot rows is right. */
static void calibrate(struct model *model, uint64_t seed, double *score)
{
    for (size_t k = 0; k < PILOT_ROWS; k++) {
        uint32_t column[GROUPS];
        saddle_rng rng;
        saddle_rng_init(&rng, seed, SADDLE_RNG_GENERATOR, STREAM_PILOT, k);
        draw_row(model, &rng, column, &score[k]);
    }
    double low = -100.0;
    double high = 100.0;
    for (int step = 0; step < 50; step++) {
        model->intercept = 0.5 * (low + high);
        double sum = 0.0;
        for (size_t k = 0; k < PILOT_ROWS; k++)
            sum += probability(score[k] + model->intercept);
        if (sum < POSITIVE * PILOT_ROWS)
            low = model->intercept;
        else
            high = model->intercept;
    }
}

static saddle_status make_model(struct model *model, size_t features, uint64_t seed,
                                saddle_error *error)
{
    *model = (struct model){.features = features,
                            .upto = saddle_alloc_doubles(features),
                            .weight = saddle_alloc_doubles(features)};
    SADDLE_OWNED double *score = saddle_alloc_doubles(PILOT_ROWS);
    bool good = model->upto != NULL && model->weight != NULL && score != NULL;
    if (good) {
        lay_out(model);
        set_probabilities(model);
        draw_weights(model, seed);
        calibrate(model, seed, score);
    }
    return good ? SADDLE_OK : saddle_no_memory(error, "the generator's model");
}

static void fill(saddle_dataset *data, const struct model *model, uint64_t seed)
{
    size_t entries = 0;
    for (size_t k = 0; k < data->rows; k++) {
        saddle_rng rng;
        double score = 0.0;
        saddle_rng_init(&rng, seed, SADDLE_RNG_GENERATOR, STREAM_ROW, k);
        entries += draw_row(model, &rng, data->column + entries, &score);
        double chance = probability(score + model->intercept);
        data->label[k] = saddle_rng_uniform(&rng) < chance ? 1.0 : -1.0;
        data->row_start[k + 1] = entries;
    }
    data->nonzeros = entries;
}

saddle_status saddle_dataset_generate(saddle_dataset **out, size_t rows, size_t features,
                                      uint64_t seed, saddle_error *error)
{
    SADDLE_STANDARD_FLOATS;
    SADDLE_REQUIRE(error, out);
    *out = NULL;
    if (features == 0)
        features = A9A_FEATURES;
    if (features < 2 || features > UINT32_MAX)
        return saddle_refuse(error, "synthetic data cannot have %zu features; give 2 to %lu",
                             features, (unsigned long)UINT32_MAX);
    if (rows < 1 || rows > UINT32_MAX)
        return saddle_refuse(error, "synthetic data cannot have %zu rows; give 1 to %lu", rows,
                             (unsigned long)UINT32_MAX);
    struct model model;
    saddle_dataset *data = NULL;
    saddle_status status = make_model(&model, features, seed, error);
    /* Allocate for every group in every row; one percent stays unused. */
    SADDLE_THEN(status, saddle_dataset_new(&data, "synthetic", rows, features, rows * model.groups,
                                           true, error));
    if (status == SADDLE_OK)
        fill(data, &model, seed);
    saddle_free(model.upto);
    saddle_free(model.weight);
    *out = data;
    return status;
}
