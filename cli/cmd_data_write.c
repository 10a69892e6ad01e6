/* `saddle data generate|convert|split`: writes data sets: synthetic ones, in another format, or
 * in parts. */
#include "cli.h"
#include "data/dataset.h"
#include "files/file.h"
#include "files/pattern.h"
#include "instance/plan.h"
#include "run/plan_files.h"

#define FORMATS                                                                         \
    "The ending of a file's name decides its format: .npz (X and y, or sparse rows as " \
    "scipy saves them, with y), .csv (a line of names, then features and label), "      \
    "otherwise LIBSVM text."

static saddle_status load(const cli_arguments *arguments, saddle_dataset **out, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    saddle_data_options options = saddle_plan_data_options(plan);
    SADDLE_TRY(saddle_dataset_load(out, arguments->operand[0], &options, plan->start.seed, error));
    cli_warn_unread(plan, (*out)->formats);
    return SADDLE_OK;
}

/* Adds a file that will be written; refuses one that cannot be. */
static saddle_status add_output(saddle_path_list *outputs, const char *option, const char *path,
                                saddle_error *error)
{
    SADDLE_TRY(cli_check_output(option, path, false, error));
    SADDLE_TRY(saddle_in_field(option, saddle_check_data_name(path, error), error));
    saddle_path_list_add(outputs, option, path);
    return SADDLE_OK;
}

/* Refuses outputs that are also inputs, or one file under two names. Frees the list. */
static saddle_status check_outputs(const cli_arguments *arguments, saddle_path_list *outputs,
                                   saddle_error *error)
{
    saddle_path_list inputs = {.count = 0};
    saddle_data_add_inputs("NAME", arguments->operand[0], &inputs);
    return saddle_path_lists_check(outputs, &inputs, error);
}

static void print_size(const saddle_dataset *data, const char *path)
{
    cli_print("%s: %zu row%s, %zu feature%s, %zu non-zero%s\n", path, data->rows,
              SADDLE_PLURAL(data->rows), data->features, SADDLE_PLURAL(data->features),
              data->nonzeros, SADDLE_PLURAL(data->nonzeros));
}

static saddle_status save(const saddle_dataset *data, const char *path, saddle_error *error)
{
    SADDLE_TRY(saddle_dataset_save(data, path, error));
    print_size(data, path);
    return SADDLE_OK;
}

/* ---- generate ------------------------------------------------------------------------------ */

typedef struct generate_options {
    cli_common common;
    uint64_t rows;
    uint64_t features;
} generate_options;

static int run_generate(const cli_arguments *arguments)
{
    const generate_options *chosen = arguments->own;
    const char *path = arguments->operand[0];
    saddle_error error;
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *data = NULL;
    SADDLE_OWNED_BY(saddle_path_list_release) saddle_path_list outputs = {.count = 0};
    CLI_TRY(add_output(&outputs, "PATH", path, &error));
    CLI_TRY(saddle_dataset_generate(&data, (size_t)chosen->rows, (size_t)chosen->features,
                                    arguments->plan.start.seed, &error));
    CLI_TRY(save(data, path, &error));
    return CLI_OK;
}

static const saddle_option *const generate_own[] = {
    CLI_OPTION(INTEGER, generate_options, rows, "rows", "Data", "32561", 1, 0x1p40, "N",
               "Number of samples."),
    CLI_OPTION(INTEGER, generate_options, features, "features", "Data", "123", 1, 0x1p31, "N",
               "Number of features."),
    NULL};
static CLI_PLAN_FIELDS(generate_library, CLI_FIELDS(start.seed));

const cli_command cli_data_generate = {
    .name = "data generate",
    .operands = "PATH",
    .summary = "write a synthetic data set",
    .details = "The data resemble a9a: binary features in one-hot groups, about a quarter of the "
               "rows positive, and labels that can be learned. " FORMATS,
    .values = "@FILE",
    .library = generate_library,
    .own = generate_own,
    .own_bytes = sizeof(generate_options),
    .run = run_generate,
};

/* ---- convert ------------------------------------------------------------------------------- */

static int run_convert(const cli_arguments *arguments)
{
    saddle_error error;
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *data = NULL;
    const char *path = arguments->operand[1];
    SADDLE_OWNED_BY(saddle_path_list_release) saddle_path_list outputs = {.count = 0};
    if (saddle_same_file(arguments->operand[0], path))
        return cli_refuse("input and output are the same file '%.300s'; give another output", path);
    CLI_TRY(add_output(&outputs, "OUTPUT", path, &error));
    CLI_TRY(check_outputs(arguments, &outputs, &error));
    CLI_TRY(load(arguments, &data, &error));
    CLI_TRY(save(data, path, &error));
    return CLI_OK;
}

const cli_command cli_data_convert = {
    .name = "data convert",
    .operands = "NAME OUTPUT",
    .summary = "write a data set in another format",
    .details = FORMATS,
    .values = "@FILE",
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

static const saddle_option parts_option =
    SADDLE_INTEGER(SADDLE_OWN(options, parts, RUN), "parts", "Parts", "5", 1, 1e6, "M",
                   "Number of training files, if --train contains %d.");
static const saddle_option share_option =
    SADDLE_REAL(SADDLE_OWN(options, share, RUN), "test-share", "Parts", "0.2", -SADDLE_UNBOUNDED,
                SADDLE_UNBOUNDED, "S", "Fraction of the rows that is held out.");
static const saddle_option *const split_own[] = {
    CLI_FILES(OUTPUT, options, train, "train", "Parts", "", "FILE",
              "File of the training rows. With %d or %02d in its name, one file per agent."),
    CLI_FILES(OUTPUT, options, test, "test", "Parts", "", "FILE",
              "File of the held-out rows. Not given: no rows are held out."),
    &parts_option,
    &share_option,
    CLI_OPTION(FLAG, options, stratify, "stratify", "Parts", "yes",
               "Give every label the same share in all parts, to within two rows. This is the "
               "default; --stratify=no assigns rows regardless of their labels."),
    NULL};

/* The files to write: held-out rows first, if any, then training rows. */
typedef struct parts {
    size_t count;
    size_t held_out; /* 1 or 0 */
    char **path;
    double *share;
    size_t *size; /* rows of each, once they are copied */
    saddle_dataset **data;
    saddle_output *file; /* which all appear together */
} parts;

static void free_parts(parts *p)
{
    for (size_t k = 0; k < p->count; k++) {
        if (p->path != NULL)
            saddle_free(p->path[k]);
        if (p->data != NULL)
            saddle_dataset_free(p->data[k]);
        if (p->file != NULL)
            saddle_output_discard(&p->file[k]);
    }
    saddle_free(p->file);
    saddle_free((void *)p->path);
    saddle_free(p->share);
    saddle_free(p->size);
    saddle_free((void *)p->data);
}

/* Refuses options that would have no effect. */
static saddle_status check_use(const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    const saddle_plan *plan = &arguments->plan;
    if (!saddle_is_pattern(chosen->train) && saddle_plan_given(plan, &parts_option))
        return saddle_refuse(
            error,
            "--parts: --train is the single file '%s'; put %%d into its name, or leave out --parts",
            SADDLE_EXCERPT(chosen->train));
    if (chosen->test == NULL && saddle_plan_given(plan, &share_option))
        return saddle_refuse(
            error, "--test-share: no rows are held out; give --test, or leave out --test-share");
    return SADDLE_OK;
}

static saddle_status plan_parts(parts *p, const cli_arguments *arguments, saddle_error *error)
{
    const options *chosen = arguments->own;
    if (chosen->train == NULL)
        return saddle_refuse(error, "saddle data split needs --train, the file of the training "
                                    "rows (several with %%d in its name)");
    SADDLE_TRY(check_use(arguments, error));
    bool several = saddle_is_pattern(chosen->train);
    if (several)
        SADDLE_TRY(saddle_in_field("--train", saddle_pattern_check(chosen->train, error), error));
    size_t training = several ? (size_t)chosen->parts : 1;
    p->held_out = chosen->test != NULL;
    if (p->held_out + training < 2)
        return saddle_refuse(
            error,
            "there is only one part; give --test, or --train with %%d and at least 2 --parts");
    if (p->held_out == 1 && !(chosen->share > 0.0 && chosen->share < 1.0))
        return saddle_refuse(error, "--test-share: give a number above 0 and below 1 (got %g)",
                             chosen->share);
    p->count = training + p->held_out;
    p->path = saddle_alloc(p->count, sizeof *p->path);
    p->share = saddle_alloc_doubles(p->count);
    p->size = saddle_alloc(p->count, sizeof *p->size);
    p->data = saddle_alloc(p->count, sizeof(saddle_dataset *));
    p->file = saddle_alloc(p->count, sizeof *p->file);
    bool good = p->path != NULL && p->share != NULL && p->size != NULL && p->data != NULL &&
                p->file != NULL;
    double rest = p->held_out == 1 ? 1.0 - chosen->share : 1.0;
    for (size_t k = 0; good && k < p->count; k++) {
        bool test = k < p->held_out;
        p->share[k] = test ? chosen->share : rest / (double)training;
        p->path[k] = !test && several ? saddle_pattern_name(chosen->train, k - p->held_out)
                                      : saddle_strdup(test ? chosen->test : chosen->train);
        good = p->path[k] != NULL;
    }
    return good ? SADDLE_OK : saddle_no_memory(error, "the parts");
}

/* Copies the rows if input and outputs are CSV; *copied receives whether they are. */
static saddle_status copy_parts(parts *p, const cli_arguments *arguments,
                                const saddle_division *how, bool *copied, saddle_error *error)
{
    const saddle_plan *plan = &arguments->plan;
    saddle_data_options reading = saddle_plan_data_options(plan);
    SADDLE_TRY(
        saddle_csv_split(arguments->operand[0], &reading, how, p->path, p->size, copied, error));
    if (*copied)
        cli_warn_unread(plan, SADDLE_FORMAT_BIT(SADDLE_FORMAT_CSV));
    for (size_t k = 0; *copied && k < p->count; k++)
        cli_print("%s: %zu row%s\n", p->path[k], p->size[k], SADDLE_PLURAL(p->size[k]));
    return SADDLE_OK;
}

/* Reads the rows and saves each part in the format of its file. */
static saddle_status convert_parts(parts *p, const cli_arguments *arguments,
                                   const saddle_division *how, saddle_error *error)
{
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *data = NULL;
    SADDLE_TRY(load(arguments, &data, error));
    SADDLE_TRY(saddle_dataset_split(data, how->share, how->parts, how->stratify, how->seed, p->data,
                                    error));
    for (size_t k = 0; k < p->count; k++) {
        SADDLE_TRY(saddle_dataset_begin(&p->file[k], p->data[k], p->path[k], error));
        SADDLE_TRY(saddle_output_finish(&p->file[k], error));
    }
    SADDLE_TRY(saddle_outputs_commit(p->file, p->count, error));
    for (size_t k = 0; k < p->count; k++)
        print_size(p->data[k], p->path[k]);
    return SADDLE_OK;
}

static int run_split(const cli_arguments *arguments)
{
    const options *chosen = arguments->own;
    saddle_error error;
    bool copied = false;
    SADDLE_OWNED_BY(free_parts) parts p = {.count = 0};
    SADDLE_OWNED_BY(saddle_path_list_release) saddle_path_list outputs = {.count = 0};
    CLI_TRY(plan_parts(&p, arguments, &error));
    /* Training rows first, so that if --train and --test are one file, the message is about
     * --test. */
    for (size_t k = p.held_out; k < p.count; k++)
        CLI_TRY(add_output(&outputs, "--train", p.path[k], &error));
    if (p.held_out == 1)
        CLI_TRY(add_output(&outputs, "--test", p.path[0], &error));
    CLI_TRY(check_outputs(arguments, &outputs, &error));
    const saddle_division how = {p.share, p.count, chosen->stratify, arguments->plan.start.seed};
    CLI_TRY(copy_parts(&p, arguments, &how, &copied, &error));
    if (!copied)
        CLI_TRY(convert_parts(&p, arguments, &how, &error));
    return CLI_OK;
}

const cli_command cli_data_split = {
    .name = "data split",
    .operands = "NAME",
    .summary = "split a data set into training, held-out and per-agent files",
    .details =
        "Rows are assigned at random (--seed) and keep their order within a file. From a CSV "
        "file to .csv files, lines are copied as they are. " FORMATS,
    .values = "@FILE",
    .library = cli_data_fields,
    .own = split_own,
    .own_bytes = sizeof(options),
    .run = run_split,
};
