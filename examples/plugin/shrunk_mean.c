/*
 * A problem as a plug-in: the mean of the agents' points while an adversary pulls it away.
 *
 *   f_ij(x, y) = 1/2 |x - a_ij|^2 + x'y - (rho / 2) |y|^2,   a_ij = (i, j mod 4)
 *
 * The maximum over y is |x|^2 / (2 rho), at y = x / rho, so the solution is the mean of all points
 * times rho / (rho + 1). Its option is given after the colon:
 *   saddle run --problem ./libshrunk_mean.so:rho=3
 */
#include <stdlib.h>

#include <saddle/saddle.h>

enum { SAMPLES = 20 };

typedef struct instance {
    saddle_problem problem; /* first */
    double rho;
    size_t *samples; /* one per agent */
} instance;

static void gradient(const saddle_problem *problem, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const instance *self = problem->self;
    (void)scratch;
    double sum = 0.0;
    for (size_t k = 0; k < batch->count; k++)
        sum += (double)(saddle_batch_sample(batch, k) % 4);
    gx[0] = x[0] - (double)agent + y[0];
    gx[1] = x[1] - sum / (double)batch->count + y[1];
    for (size_t k = 0; k < 2; k++)
        gy[k] = x[k] - self->rho * y[k];
}

static double value(const saddle_problem *problem, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const instance *self = problem->self;
    (void)scratch;
    double sum = 0.0;
    double dx = x[0] - (double)agent;
    for (size_t j = 0; j < SAMPLES; j++) {
        double dy = x[1] - (double)(j % 4);
        sum += 0.5 * (dx * dx + dy * dy) / SAMPLES;
    }
    return sum + x[0] * y[0] + x[1] * y[1] - 0.5 * self->rho * (y[0] * y[0] + y[1] * y[1]);
}

static void release(saddle_problem *problem)
{
    instance *self = problem->self;
    free(self->samples);
}

/* Its options, which are given after the colon. */
typedef struct options {
    double rho;
} options;

static const saddle_option rho =
    SADDLE_REAL_ABOVE(SADDLE_OWN(options, rho, INSTANCE), "rho", "Shrunk mean", "1", 0.0,
                      SADDLE_UNBOUNDED, "R", "The weakness of the adversary.");
static const saddle_option *const option_table[] = {&rho, NULL};

static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    instance *self = made;
    const options *chosen = inputs->options;
    self->rho = chosen->rho;
    self->problem.alpha = 1.0 / chosen->rho;
    self->samples = calloc(inputs->agents, sizeof *self->samples);
    if (self->samples == NULL)
        return saddle_fail(error, SADDLE_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < inputs->agents; i++)
        self->samples[i] = SAMPLES;
    self->problem.samples = self->samples;
    return SADDLE_OK;
}

static const saddle_problem_class shrunk_mean = {
    .name = "shrunk-mean",
    .summary = "the mean of the agents' points when an adversary pulls it away",
    .options = option_table,
    .options_size = sizeof(options),
    .size = sizeof(instance),
    .init = init,
    .common = {.x_dim = 2, .y_dim = 2, .gradient = gradient, .value = value, .release = release}};

const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &shrunk_mean};
