/*
 * The multilayer perceptron: A_0 are the rows of the block, and for layers l = 1 .. L + 1
 *
 *   Z_l = A_{l-1} W_l + 1 b_l',   A_l = s(Z_l) for l <= L,   h = Z_{L+1}  (one unit)
 *
 * W_l is stored inputs by outputs, row by row, followed by b_l. So a sparse row times W_1 adds up
 * rows of W_1, and the data are never made dense. Backwards, from D_{L+1} = c,
 *
 *   grad W_l = A_{l-1}' D_l,   grad b_l = D_l' 1,   D_{l-1} = (D_l W_l') o s'(Z_{l-1}),
 *
 * where s' is computed from the value of s. |grad h|^2 of a row is sum_l |d_l|^2 (1 + |a_{l-1}|^2),
 * because its gradient in W_l is an outer product.
 *
 * Products run on the calling thread (core/product.h, models/sparse_layer.h).
 */
#include "core/elementary.h"
#include "core/product.h"
#include "core/rng.h"
#include "core/vector.h"
#include "data/rows.h"
#include "models/model.h"
#include "models/sparse_layer.h"

/* Limits that keep the number of parameters far below SIZE_MAX. */
enum { MOST_LAYERS = 16, MOST_UNITS = 65536 };

/* In the order of the choices of --activation. */
enum { RELU, TANH, ELU, SIGMOID };

typedef struct mlp {
    saddle_model model;             /* first: shares the address of the struct */
    size_t layers;                  /* L, the number of hidden layers */
    size_t width[MOST_LAYERS + 2];  /* width[0] = inputs, width[L + 1] = 1 */
    size_t offset[MOST_LAYERS + 2]; /* offset of W_l in the parameters, l = 1 .. L + 1 */
    size_t units;                   /* width[1] + ... + width[L] */
    size_t widest;                  /* largest width[l], l = 1 .. L + 1 */
    int activation;
} mlp;

/* Pointers into the scratch memory. */
typedef struct workspace {
    double *rows;      /* gathered dense rows, or scratch for saddle_sparse_backward() */
    double *hidden[2]; /* A_1, A_2, ... at each of two points */
    double *delta[2];  /* D_l and D_{l-1} */
    double *first;     /* D_1 of the other point */
} workspace;

static const mlp *mlp_of(const saddle_model *model)
{
    return (const mlp *)model;
}

static workspace workspace_of(const mlp *net, double *scratch)
{
    workspace w;
    w.rows = scratch;
    w.hidden[0] = w.rows + saddle_sparse_scratch(net->width[0]);
    w.hidden[1] = w.hidden[0] + SADDLE_MODEL_BLOCK * net->units;
    w.delta[0] = w.hidden[1] + SADDLE_MODEL_BLOCK * net->units;
    w.delta[1] = w.delta[0] + SADDLE_MODEL_BLOCK * net->widest;
    w.first = w.delta[1] + SADDLE_MODEL_BLOCK * net->widest;
    return w;
}

static size_t workspace_size(const mlp *net)
{
    return saddle_sparse_scratch(net->width[0]) +
           SADDLE_MODEL_BLOCK * (2 * net->units + 2 * net->widest + net->width[1]);
}

/* ---- activations ----------------------------------------------------------------------------- */

static double tanh_of(double z)
{
    double e = saddle_exp(-2.0 * fabs(z));
    return copysign((1.0 - e) / (1.0 + e), z);
}

static double sigmoid_of(double z)
{
    double e = saddle_exp(-fabs(z));
    return z >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

/* v = s(v), entry by entry; NaN stays NaN. */
static void activate(int kind, size_t count, double *v)
{
    switch (kind) {
    case RELU:
        for (size_t k = 0; k < count; k++)
            v[k] = v[k] <= 0.0 ? 0.0 : v[k];
        break;
    case TANH:
        for (size_t k = 0; k < count; k++)
            v[k] = tanh_of(v[k]);
        break;
    case ELU:
        for (size_t k = 0; k < count; k++)
            v[k] = v[k] <= 0.0 ? saddle_exp(v[k]) - 1.0 : v[k];
        break;
    case SIGMOID:
        for (size_t k = 0; k < count; k++)
            v[k] = sigmoid_of(v[k]);
        break;
    }
}

/* d *= s'(z), given a = s(z). */
static void multiply_slope(int kind, size_t count, const double *a, double *d)
{
    switch (kind) {
    case RELU:
        for (size_t k = 0; k < count; k++)
            d[k] = a[k] <= 0.0 ? 0.0 : d[k];
        break;
    case TANH:
        for (size_t k = 0; k < count; k++)
            d[k] *= 1.0 - a[k] * a[k];
        break;
    case ELU:
        for (size_t k = 0; k < count; k++)
            d[k] *= a[k] <= 0.0 ? a[k] + 1.0 : 1.0;
        break;
    case SIGMOID:
        for (size_t k = 0; k < count; k++)
            d[k] *= a[k] * (1.0 - a[k]);
        break;
    }
}

/* ---- one layer ------------------------------------------------------------------------------- */

/* Copies the dense rows of a block's index into contiguous memory. */
static void gather_rows(const saddle_rows_block *block, double *gathered)
{
    const saddle_dataset *data = block->data;
    for (size_t k = 0; data->dense != NULL && block->index != NULL && k < block->count; k++)
        memcpy(gathered + k * data->features, data->dense + block->index[k] * data->features,
               data->features * sizeof *gathered);
}

/* Returns the block's dense rows in contiguous memory: in place, or as gathered. */
static const double *dense_rows(const saddle_rows_block *block, const double *gathered)
{
    return block->index != NULL ? gathered
                                : block->data->dense + block->first * block->data->features;
}

/* out (count x outputs) = in (count x inputs) W + 1 b' */
static void apply_layer(size_t count, size_t inputs, size_t outputs, const double *in,
                        const double *weight, const double *bias, double *out)
{
    if (outputs == 1) {
        for (size_t k = 0; k < count; k++)
            out[k] = saddle_dot(inputs, in + k * inputs, weight) + *bias;
        return;
    }
    for (size_t k = 0; k < count; k++)
        memcpy(out + k * outputs, bias, outputs * sizeof *out);
    saddle_add_product((saddle_product_size){count, outputs, inputs}, saddle_by_rows(in, inputs),
                       saddle_by_rows(weight, outputs), out);
}

/* Computes the first layer. Rows may have fewer columns than W_1 has rows; missing entries count
 * as zero. */
static void apply_first(const mlp *net, const saddle_rows_block *block, const workspace *space,
                        const double *w, double *out)
{
    const saddle_dataset *data = block->data;
    size_t outputs = net->width[1];
    const double *bias = w + net->width[0] * outputs;
    if (data->dense != NULL) {
        apply_layer(block->count, data->features, outputs, dense_rows(block, space->rows), w, bias,
                    out);
        return;
    }
    for (size_t k = 0; k < block->count; k++)
        memcpy(out + k * outputs, bias, outputs * sizeof *out);
    saddle_sparse_forward(block, outputs, w, out);
}

/* gW += in' delta */
static void pull_weight(size_t count, size_t inputs, size_t outputs, const double *in,
                        const double *delta, double *g)
{
    if (outputs == 1) {
        for (size_t k = 0; k < count; k++)
            saddle_axpy(inputs, delta[k], in + k * inputs, g);
        return;
    }
    saddle_add_product((saddle_product_size){inputs, outputs, count}, saddle_transposed(in, inputs),
                       saddle_by_rows(delta, outputs), g);
}

/* before (count x inputs) = delta (count x outputs) W' */
static void push_delta(size_t count, size_t inputs, size_t outputs, const double *delta,
                       const double *weight, double *before)
{
    memset(before, 0, count * inputs * sizeof *before);
    if (outputs == 1) {
        for (size_t k = 0; k < count; k++)
            saddle_axpy(inputs, delta[k], weight, before + k * inputs);
        return;
    }
    saddle_add_product((saddle_product_size){count, inputs, outputs},
                       saddle_by_rows(delta, outputs), saddle_transposed(weight, outputs), before);
}

/* square[k] += |d_k|^2 (1 + |a_k|^2), where a_k are the layer's inputs; `in` NULL: the rows of
 * the data. */
static void add_squares(const saddle_rows_block *block, size_t inputs, size_t outputs,
                        const double *in, const double *delta, double *square)
{
    for (size_t k = 0; k < block->count; k++) {
        double norm2 =
            in != NULL ? saddle_norm2(inputs, in + k * inputs) : saddle_block_norm2(block, k);
        square[k] += saddle_norm2(outputs, delta + k * outputs) * (1.0 + norm2);
    }
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Computes the scores, after gather_rows(); stores A_1, A_2, ... in `hidden`. */
static void run_forward(const mlp *net, const saddle_rows_block *block, const workspace *space,
                        const double *w, double *h, double *hidden)
{
    size_t count = block->count;
    apply_first(net, block, space, w, hidden);
    activate(net->activation, count * net->width[1], hidden);
    for (size_t l = 2; l <= net->layers + 1; l++) {
        size_t inputs = net->width[l - 1];
        size_t outputs = net->width[l];
        bool last = l == net->layers + 1;
        double *out = last ? h : hidden + SADDLE_MODEL_BLOCK * inputs;
        const double *weight = w + net->offset[l];
        apply_layer(count, inputs, outputs, hidden, weight, weight + inputs * outputs, out);
        if (!last)
            activate(net->activation, count * outputs, out);
        hidden = out;
    }
}

/* gb += D' 1 */
static void pull_bias(size_t count, size_t outputs, const double *delta, double *g)
{
    for (size_t k = 0; k < count; k++)
        saddle_axpy(outputs, 1.0, delta + k * outputs, g);
}

/* g += sum_k c[k] grad h_k in all layers but the first, using the A_l that run_forward() stored.
 * Returns D_1, which is in one of the two deltas. */
static double *run_backward(const mlp *net, const saddle_rows_block *block, const double *w,
                            const double *c, double *g, double *square, const double *hidden,
                            double *const delta[2])
{
    size_t count = block->count;
    double *here = delta[0];
    double *before = delta[1];
    const double *a = hidden + SADDLE_MODEL_BLOCK * net->units;
    memcpy(here, c, count * sizeof *here);
    for (size_t l = net->layers + 1; l > 1; l--) {
        size_t inputs = net->width[l - 1];
        size_t outputs = net->width[l];
        a -= SADDLE_MODEL_BLOCK * inputs;
        pull_bias(count, outputs, here, g + net->offset[l] + inputs * outputs);
        pull_weight(count, inputs, outputs, a, here, g + net->offset[l]);
        if (square != NULL)
            add_squares(block, inputs, outputs, a, here, square);
        push_delta(count, inputs, outputs, here, w + net->offset[l], before);
        multiply_slope(net->activation, count * inputs, a, before);
        double *swap = here;
        here = before;
        before = swap;
    }
    return here;
}

/* Adds the gradient in the first layer, given D_1, after forward() or forward2() with the same
 * scratch. */
static void pull_first(const mlp *net, const saddle_rows_block *block, const workspace *space,
                       const double *delta, double *g)
{
    size_t outputs = net->width[1];
    pull_bias(block->count, outputs, delta, g + net->width[0] * outputs);
    if (block->data->dense != NULL)
        pull_weight(block->count, block->data->features, outputs, dense_rows(block, space->rows),
                    delta, g);
    else
        saddle_sparse_backward(block, outputs, delta, g, space->rows);
}

static void forward(const saddle_model *model, const saddle_rows_block *block, const double *w,
                    double *h, double *scratch)
{
    const mlp *net = mlp_of(model);
    workspace space = workspace_of(net, scratch);
    gather_rows(block, space.rows);
    run_forward(net, block, &space, w, h, space.hidden[0]);
}

static void backward(const saddle_model *model, const saddle_rows_block *block, const double *w,
                     const double *c, double *g, double *square, double *scratch)
{
    const mlp *net = mlp_of(model);
    workspace space = workspace_of(net, scratch);
    if (square != NULL)
        memset(square, 0, block->count * sizeof *square);
    const double *delta = run_backward(net, block, w, c, g, square, space.hidden[0], space.delta);
    pull_first(net, block, &space, delta, g);
    if (square != NULL)
        add_squares(block, net->width[0], net->width[1], NULL, delta, square);
}

static void forward2(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                     const double *w0, double *h1, double *h0, double *scratch)
{
    const mlp *net = mlp_of(model);
    workspace space = workspace_of(net, scratch);
    gather_rows(block, space.rows);
    run_forward(net, block, &space, w1, h1, space.hidden[0]);
    run_forward(net, block, &space, w0, h0, space.hidden[1]);
}

static void backward2(const saddle_model *model, const saddle_rows_block *block, const double *w1,
                      const double *w0, const double *c1, double *c0, double *g, double *scratch)
{
    const mlp *net = mlp_of(model);
    workspace space = workspace_of(net, scratch);
    size_t units = block->count * net->width[1];
    for (size_t k = 0; k < block->count; k++)
        c0[k] = -c0[k];
    const double *delta = run_backward(net, block, w1, c1, g, NULL, space.hidden[0], space.delta);
    memcpy(space.first, delta, units * sizeof *delta);
    delta = run_backward(net, block, w0, c0, g, NULL, space.hidden[1], space.delta);
    saddle_axpy(units, 1.0, delta, space.first);
    /* The rows are the same at both points, so the first layer, by far the largest, is processed
     * once. */
    pull_first(net, block, &space, space.first, g);
}

/*
 * Draws normal weights of variance gain / inputs, which preserves the magnitude of signals from
 * layer to layer; the gain is 2 if the activation drops about half of them (He et al. 2015),
 * otherwise 1. Biases are 0.
 */
static void initialize(const saddle_model *model, uint64_t seed, double *w)
{
    const mlp *net = mlp_of(model);
    memset(w, 0, model->parameters * sizeof *w);
    for (size_t l = 1; l <= net->layers + 1; l++) {
        bool halved = net->activation == RELU || net->activation == ELU;
        double gain = halved && l <= net->layers ? 2.0 : 1.0;
        double deviation = sqrt(gain / (double)net->width[l - 1]);
        saddle_rng rng;
        saddle_rng_init(&rng, seed, SADDLE_RNG_INIT, 0, l);
        for (size_t k = 0; k < net->width[l - 1] * net->width[l]; k++)
            w[net->offset[l] + k] = deviation * saddle_rng_normal(&rng);
    }
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Parses "H1,H2,..." into width[1 ..]; returns false if it is malformed. */
static bool read_widths(mlp *net, const char *text)
{
    char piece[16];
    for (;;) {
        size_t length = strcspn(text, ",");
        uint64_t units = 0;
        if (net->layers == MOST_LAYERS || length >= sizeof piece)
            return false;
        memcpy(piece, text, length);
        piece[length] = '\0';
        if (!saddle_parse_integer(piece, &units) || units < 1 || units > MOST_UNITS)
            return false;
        net->width[++net->layers] = (size_t)units;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

static void lay_out(mlp *net)
{
    size_t parameters = 0;
    net->width[net->layers + 1] = 1;
    for (size_t l = 1; l <= net->layers + 1; l++) {
        net->offset[l] = parameters;
        parameters += (net->width[l - 1] + 1) * net->width[l];
        net->units += l <= net->layers ? net->width[l] : 0;
        net->widest = net->width[l] > net->widest ? net->width[l] : net->widest;
    }
    net->model.parameters = parameters;
    net->model.first_units = net->width[1];
    net->model.scratch = workspace_size(net);
}

saddle_status saddle_mlp_create(saddle_model **out, size_t inputs, const char *widths,
                                int activation, saddle_error *error)
{
    *out = NULL;
    mlp *net = saddle_alloc(1, sizeof *net);
    SADDLE_TRY(saddle_check_memory(net, "the model", error));
    if (!read_widths(net, widths)) {
        saddle_free(net);
        return saddle_refuse(error,
                             "--score: 'mlp:%s' is not of the form mlp:H1[,H2,...]; give 1 to %d "
                             "widths from 1 to %d, such as mlp:64,32",
                             widths, MOST_LAYERS, MOST_UNITS);
    }
    net->activation = activation;
    net->width[0] = inputs;
    net->model = (saddle_model){
        .inputs = inputs,
        .forward = forward,
        .backward = backward,
        .forward2 = forward2,
        .backward2 = backward2,
        .initialize = initialize,
    };
    lay_out(net);
    *out = &net->model;
    return SADDLE_OK;
}
