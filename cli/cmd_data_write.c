/* `saddle data convert|split`: data sets in another format, or in parts. */
#include <string.h>

#include "cli.h"
#include "core/memory.h"
#include "core/status.h"
#include "files/pattern.h"
#include "run/plan_files.h"

#define FORMATS                                                                                   \
    "A file is written as its name ends: .npz (X and y, or compressed rows as scipy saves them, " \
    "with y), .csv (features, then the label, under a line of names), otherwise LIBSVM text."

static saddle_status load(const cli_arguments *arguments, saddle_dataset **out, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    saddle_data_options options = saddle_plan_data_options(plan);
    return saddle_dataset_load(out, arguments->operand[0], &options, plan->start.seed, error);
}

/* Refuse files that cannot be written or are among those that are read. */
static saddle_status check_output(const cli_arguments *arguments, const char *option,
                                  const char *path, saddle_error *error)
{
    saddle_path_list outputs = {.count = 0};
    saddle_path_list inputs = {.count = 0};
    SADDLE_TRY(cli_check_output(option, path, false, error));
    saddle_path_list_add(&outputs, option, path);
    saddle_data_add_inputs("NAME", arguments->operand[0], &inputs);
    return saddle_path_lists_check(&outputs, &inputs, error);
}

static saddle_status save(const saddle_dataset *data, const char *path, saddle_error *error)
{
    SADDLE_TRY(saddle_dataset_save(data, path, error));
    cli_print("%s: %zu rows, %zu features, %zu non-zeros\n", path, data->rows, data->features,
              data->nonzeros);
    return SADDLE_OK;
}

/* ---- convert ------------------------------------------------------------------------------- */

static int run_convert(const cli_arguments *arguments)
{
    saddle_error error;
    saddle_dataset *data = NULL;
    const char *path = arguments->operand[1];
    saddle_status status = check_output(arguments, "OUTPUT", path, &error);
    SADDLE_THEN(status, load(arguments, &data, &error));
    SADDLE_THEN(status, save(data, path, &error));
    saddle_dataset_free(data);
    return status == SADDLE_OK ? CLI_OK : cli_fail(&error);
}

const cli_command cli_data_convert = {
    .name = "data convert",
    .operands = "NAME OUTPUT",
    .least = 2,
    .most = 2,
    .summary = "write a data set in another format",
    .details = FORMATS,
    .words = "@FILE",
    .library = cli_data_fields,
    .run = run_convert,
};

/* ---- split --------------------------------------------------------------------------------- */

typedef struct options {
    cli_common common;
    const char *train;
    const char *test;
    uint64_t parts;
    double share;
    bool stratify;
} options;

static const saddle_option train_option =
    SADDLE_TEXT(SADDLE_OWN(options, train, RUN), "train", "Parts", "", "FILE",
                "The file of the training rows; with a %d or %02d, a file for each agent.");
static const saddle_option test_option =
    SADDLE_TEXT(SADDLE_OWN(options, test, RUN), "test", "Parts", "", "FILE",
                "The file of the held-out rows. Not given: there are none.");
static const saddle_option parts_option =
    SADDLE_INTEGER(SADDLE_OWN(options, parts, RUN), "parts", "Parts", "5", 1, 1e6, "M",
                   "How many files a --train with %d is.");
static const saddle_option share_option =
    SADDLE_REAL(SADDLE_OWN(options, share, RUN), "test-share", "Parts", "0.2", 0.0, 1.0, "S",
                "The share of the rows that is held out.");
static const saddle_option stratify_option =
    SADDLE_FLAG(SADDLE_OWN(options, stratify, RUN), "stratify", "Parts", "yes",
                "Every label has the same share in all parts, to within two rows.");
static const saddle_option *const split_own[] = {&train_option, &test_option,     &parts_option,
                                                 &share_option, &stratify_option, NULL};

/* The files to be written: held-out rows first, if any, then training rows. */
typedef struct parts {
    size_t count;
    size_t held_out; /* 1 or 0 */
    char **path;
    double *share;
    saddle_dataset **data;
} parts;

static void free_parts(parts *p)
{
    for (size_t k = 0; k < p->count; k++) {
        if (p->path != NULL)
            saddle_free(p->path[k]);
        if (p->data != NULL)
            saddle_dataset_free(p->data[k]);
    }
    saddle_free((void *)p->path);
    saddle_free(p->share);
    saddle_free((void *)p->data);
}

static saddle_status plan_parts(parts *p, const options *chosen, saddle_error *error)
{
    if (chosen->train == NULL)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "saddle data split needs --train, the file of the training rows, or "
                           "several with a %%d in its name");
    bool several = saddle_is_pattern(chosen->train);
    if (several)
        SADDLE_TRY(saddle_in_field("--train", saddle_pattern_check(chosen->train, error), error));
    size_t training = several ? (size_t)chosen->parts : 1;
    p->held_out = chosen->test != NULL;
    if (p->held_out + training < 2)
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "one part is no split; give --test, or a --train with %%d");
    if (p->held_out == 1 && !(chosen->share > 0.0 && chosen->share < 1.0))
        return saddle_fail(error, SADDLE_BAD_INPUT,
                           "--test-share: %g; give a share between 0 and 1", chosen->share);
    p->count = training + p->held_out;
    p->path = saddle_alloc(p->count, sizeof *p->path);
    p->share = saddle_alloc_doubles(p->count);
    p->data = saddle_alloc(p->count, sizeof(saddle_dataset *));
    bool good = p->path != NULL && p->share != NULL && p->data != NULL;
    double rest = p->held_out == 1 ? 1.0 - chosen->share : 1.0;
    for (size_t k = 0; good && k < p->count; k++) {
        bool test = k < p->held_out;
        p->share[k] = test ? chosen->share : rest / (double)training;
        p->path[k] = test      ? saddle_strdup(chosen->test)
                     : several ? saddle_pattern_name(chosen->train, k - p->held_out)
                               : saddle_strdup(chosen->train);
        good = p->path[k] != NULL;
    }
    return good ? SADDLE_OK : saddle_no_memory(error, "the parts");
}

static int run_split(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    saddle_error error;
    saddle_dataset *data = NULL;
    parts p = {.count = 0};
    saddle_status status = plan_parts(&p, chosen, &error);
    for (size_t k = 0; status == SADDLE_OK && k < p.count; k++)
        status = check_output(arguments, k < p.held_out ? "--test" : "--train", p.path[k], &error);
    if (status == SADDLE_OK && p.path != NULL && p.held_out == 1 &&
        strcmp(p.path[0], p.path[1]) == 0)
        status = saddle_fail(&error, SADDLE_BAD_INPUT,
                             "--test and --train are both '%s'; give two names", p.path[0]);
    SADDLE_THEN(status, load(arguments, &data, &error));
    SADDLE_THEN(status, saddle_dataset_split(data, p.share, p.count, chosen->stratify,
                                             arguments->plan.start.seed, p.data, &error));
    for (size_t k = 0; status == SADDLE_OK && k < p.count; k++)
        status = save(p.data[k], p.path[k], &error);
    saddle_dataset_free(data);
    free_parts(&p);
    return status == SADDLE_OK ? CLI_OK : cli_fail(&error);
}

const cli_command cli_data_split = {
    .name = "data split",
    .operands = "NAME",
    .least = 1,
    .most = 1,
    .summary = "divide a data set into training, held-out and agents' files",
    .details =
        "Rows are dealt out at random, by --seed, and keep their order within a file. " FORMATS,
    .words = "@FILE",
    .library = cli_data_fields,
    .own = split_own,
    .own_bytes = sizeof(options),
    .run = run_split,
};
