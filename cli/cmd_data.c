/* `saddle data list|info|fetch`: lists, describes and downloads data sets. */
#include <sys/stat.h>

#include "cli.h"
#include "core/compare.h"
#include "data/sources.h"
#include "files/pattern.h"
#include "instance/unused_options.h"
#include "json_output.h"
#include "run_display.h"

/* The most different labels that are listed with their counts. */
#define MOST_LABELS 20
/* The most columns that are listed, and the most bytes of the texts of one. */
#define MOST_COLUMNS 100
#define TEXT_WIDTH 50

/* ---- list ---------------------------------------------------------------------------------- */

static int run_list(const cli_arguments *arguments)
{
    (void)arguments;
    saddle_error error;
    size_t count;
    const saddle_data_source *source = saddle_data_sources(&count);
    cli_table *table = cli_table_create("lll");
    for (size_t k = 0; k < count; k++) {
        SADDLE_MALLOCED char *path = NULL;
        bool there = saddle_data_find(source[k].file, &path, &error) == SADDLE_OK;
        bool again = k > 0 && strcmp(source[k].name, source[k - 1].name) == 0;
        cli_table_words(table, again ? "" : source[k].name, there ? path : "missing",
                        source[k].summary);
    }
    cli_table_words(table, "synthetic", "built in",
                    "synthetic[:ROWS[:FEATURES]], census-like, learnable");
    cli_print("Data sets\n");
    cli_table_print(table);
    SADDLE_MALLOCED char *directory = NULL;
    const char *first = getenv("SADDLE_DATA");
    bool home = saddle_data_directory(&directory, &error) == SADDLE_OK;
    cli_print("\nSearched in $SADDLE_DATA (%s)",
              first != NULL && *first != '\0' ? first : "not set");
    if (home)
        cli_print(", then in %s.\n`saddle data fetch NAME` downloads a data set into the latter.\n",
                  directory);
    else
        cli_print(
            ".\nThere is no data directory: neither HOME nor XDG_DATA_HOME is an absolute path.\n");
    return CLI_OK;
}

const cli_command cli_data_list = {
    .name = "data list",
    .operands = "",
    .summary = "list the known data sets and where they are",
    .run = run_list,
};

/* ---- info ---------------------------------------------------------------------------------- */

/* The different labels, and how many rows have each if there are few. */
typedef struct label_counts {
    size_t different;
    double label[MOST_LABELS];
    const char *text[MOST_LABELS]; /* of the label; NULL: it is a number */
    size_t rows[MOST_LABELS];
} label_counts;

/* Counts labels, which must be sorted. */
static label_counts count_labels(const saddle_dataset *data)
{
    label_counts found = {.different = 0};
    size_t texts = 0;
    const char *const *text = saddle_columns_label_texts(data->columns, &texts);
    for (size_t first = 0, next; first < data->rows; first = next) {
        next = first + 1;
        while (next < data->rows && data->label[next] == data->label[first])
            next++;
        size_t at = found.different++;
        if (at >= MOST_LABELS)
            continue;
        found.label[at] = data->label[first];
        found.text[at] = text != NULL ? text[(size_t)data->label[first]] : NULL;
        found.rows[at] = next - first;
    }
    return found;
}

static void print_labels(const saddle_dataset *data)
{
    label_counts found = count_labels(data);
    if (found.different > MOST_LABELS) {
        cli_print("  labels      %zu different, from %.10g to %.10g\n", found.different,
                  data->label[0], data->label[data->rows - 1]);
        return;
    }
    for (size_t k = 0; k < found.different; k++) {
        cli_print("  %-10s  %g", k == 0 ? "labels" : "", found.label[k]);
        if (found.text[k] != NULL)
            cli_print(" (%s)", found.text[k]);
        cli_print(": %zu row%s (%.4g%%)\n", found.rows[k], SADDLE_PLURAL(found.rows[k]),
                  100.0 * (double)found.rows[k] / (double)data->rows);
    }
}

/* What is known of a data set besides its rows. */
typedef struct findings {
    size_t files; /* 0: built in */
    char *path;   /* of a single file, owned; NULL otherwise */
    uint64_t bytes;
    double row_nonzeros;   /* mean number of non-zeros per row */
    double density;        /* fraction of the entries that are not zero */
    double least, largest; /* value of all features; 0 if there are no entries */
} findings;

static void find_origin(findings *o, const char *name)
{
    struct stat status;
    if (saddle_is_pattern(name) && saddle_data_count_files(name, &o->files, NULL) == SADDLE_OK)
        return;
    o->files = 0;
    if (saddle_data_find(name, &o->path, NULL) == SADDLE_OK && stat(o->path, &status) == 0) {
        o->files = 1;
        o->bytes = (uint64_t)status.st_size;
    }
}

static void print_origin(const findings *o)
{
    char size[CLI_NUMBER];
    if (o->path != NULL)
        cli_print("  file        %s, %s\n", o->path, saddle_bytes_text((double)o->bytes, size));
    else if (o->files > 0)
        cli_print("  files       %zu, numbered from 0\n", o->files);
    else
        cli_print("  file        none: generated\n");
}

/* Prints texts of a column in parentheses, as many as fit on a line, in quotes if they contain a comma. */
static void print_texts(const char *const *text, size_t count)
{
    size_t shown = 0;
    for (size_t used = 0; shown < count && used + strlen(text[shown]) < TEXT_WIDTH; shown++) {
        const char *quote = strchr(text[shown], ',') != NULL ? "'" : "";
        cli_print("%s%s%s%s", shown > 0 ? ", " : " (", quote, text[shown], quote);
        used += strlen(text[shown]) + 2;
    }
    cli_print(shown < count ? "%s%zu more)" : ")", shown > 0 ? ", and " : " (", count - shown);
}

/* Prints the columns: their names, features and texts. */
static void print_columns(const saddle_columns *columns)
{
    const char *heading = "columns";
    size_t count = saddle_columns_count(columns);
    for (size_t k = 0; k < count && k < MOST_COLUMNS; k++) {
        size_t first;
        size_t features;
        size_t texts;
        const char *const *text = saddle_columns_texts(columns, k, &texts);
        saddle_columns_features(columns, k, &first, &features);
        cli_print("  %-10s  %s: ", heading, saddle_columns_name(columns, k));
        heading = "";
        if (features > 1)
            cli_print("features %zu to %zu", first + 1, first + features);
        else
            cli_print("feature %zu", first + 1);
        if (text != NULL)
            print_texts(text, texts);
        cli_print("\n");
    }
    if (count > MOST_COLUMNS)
        cli_print("              and %zu more\n", count - MOST_COLUMNS);
}

static void measure(findings *o, const saddle_dataset *data)
{
    size_t entries = data->dense != NULL ? data->rows * data->features : data->nonzeros;
    double all = (double)data->rows * (double)data->features;
    const double *value = data->dense != NULL ? data->dense : data->value;
    o->row_nonzeros = data->rows > 0 ? (double)data->nonzeros / (double)data->rows : 0.0;
    o->density = all > 0.0 ? (double)data->nonzeros / all : 0.0;
    bool zeros = (double)data->nonzeros < all;
    /* Values that are all 1 are not stored. */
    o->least = zeros || entries == 0 ? 0.0 : value == NULL ? 1.0 : value[0];
    o->largest = value == NULL && entries > 0 ? 1.0 : o->least;
    for (size_t k = 0; value != NULL && k < entries; k++) {
        o->least = fmin(o->least, value[k]);
        o->largest = fmax(o->largest, value[k]);
    }
}

static void print_warning(void *context, const char *message)
{
    (void)context;
    cli_print_field("", "%s", message);
}

static void print_data(saddle_dataset *data, const char *name, const findings *o)
{
    cli_print("%s\n", name);
    print_origin(o);
    cli_print("  rows        %zu", data->rows);
    if (data->dropped > 0)
        cli_print(", %zu left out because of missing values", data->dropped);
    if (data->imputed > 0)
        cli_print(", %zu missing value%s filled in", data->imputed, SADDLE_PLURAL(data->imputed));
    cli_print("\n");
    cli_print("  features    %zu\n", data->features);
    cli_print("  non-zeros   %zu, %.4g per row\n", data->nonzeros, o->row_nonzeros);
    cli_print("  density     %.4g%%, stored %s\n", 100.0 * o->density,
              data->dense != NULL ? "dense" : "sparse");
    cli_print("  values      %.4g to %.4g\n", o->least, o->largest);
    saddle_report_scale(data, print_warning, NULL);
    print_columns(data->columns);
    print_labels(data);
}

static void add_columns(saddle_json *j, const saddle_columns *columns)
{
    size_t count = saddle_columns_count(columns);
    saddle_json_put(j, "columns [");
    for (size_t k = 0; k < count; k++) {
        size_t first;
        size_t features;
        size_t texts;
        const char *const *text = saddle_columns_texts(columns, k, &texts);
        saddle_columns_features(columns, k, &first, &features);
        saddle_json_put(j, "{ name %s first_feature %zu features %zu categories [",
                        saddle_columns_name(columns, k), first + 1, features);
        for (size_t c = 0; text != NULL && c < texts; c++)
            saddle_json_put(j, "%s", text[c]);
        saddle_json_put(j, "] }");
    }
    saddle_json_put(j, "]");
}

static void add_labels(saddle_json *j, const saddle_dataset *data)
{
    label_counts found = count_labels(data);
    bool any = found.different > 0;
    saddle_json_put(j, "labels { different %zu min %g max %g counts [", found.different,
                    any ? data->label[0] : (double)NAN,
                    any ? data->label[data->rows - 1] : (double)NAN);
    for (size_t k = 0; found.different <= MOST_LABELS && k < found.different; k++)
        saddle_json_put(j, "{ label %g text %s rows %zu }", found.label[k], found.text[k],
                        found.rows[k]);
    saddle_json_put(j, "] }");
}

static void print_json(const saddle_dataset *data, const cli_arguments *arguments,
                       const findings *o)
{
    saddle_json j;
    cli_json_begin(&j, arguments->command);
    cli_json_given(&j, arguments);
    saddle_json_put(&j, "name %s files %zu path %s bytes %g", arguments->operand[0], o->files,
                    o->path, o->path != NULL ? (double)o->bytes : (double)NAN);
    saddle_json_put(&j, "rows %zu dropped %zu imputed %zu features %zu nonzeros %zu", data->rows,
                    data->dropped, data->imputed, data->features, data->nonzeros);
    saddle_json_put(&j, "nonzeros_per_row %g density %g storage %s least_value %g largest_value %g",
                    o->row_nonzeros, o->density, data->dense != NULL ? "dense" : "sparse", o->least,
                    o->largest);
    add_columns(&j, data->columns);
    add_labels(&j, data);
    cli_json_end(&j);
}

static int run_info(const cli_arguments *arguments)
{
    const saddle_plan *plan = &arguments->plan;
    saddle_data_options options = saddle_plan_data_options(plan);
    saddle_error error;
    SADDLE_OWNED_BY(saddle_dataset_free_at) saddle_dataset *data = NULL;
    CLI_TRY(saddle_dataset_load(&data, arguments->operand[0], &options, plan->start.seed, &error));
    cli_warn_unread(plan, data->formats);
    const cli_common *common = arguments->own;
    findings o = {.files = 0};
    find_origin(&o, arguments->operand[0]);
    measure(&o, data);
    qsort(data->label, data->rows, sizeof *data->label, saddle_compare_reals);
    if (common->json)
        print_json(data, arguments, &o);
    else
        print_data(data, arguments->operand[0], &o);
    free(o.path);
    return CLI_OK;
}

CLI_PLAN_FIELDS(cli_data_fields, CLI_FIELDS(problem.format), CLI_FIELDS(problem.header),
                CLI_FIELDS(problem.label_column), CLI_FIELDS(problem.labels),
                CLI_FIELDS(problem.categories), CLI_FIELDS(problem.missing),
                CLI_FIELDS(problem.category_columns), CLI_FIELDS(problem.drop_columns),
                CLI_FIELDS(start.seed), CLI_FIELDS(engine.threads));

static const saddle_option *const info_own[] = {&cli_option_json, NULL};

const cli_command cli_data_info = {
    .name = "data info",
    .operands = "NAME",
    .summary = "show the size, density and labels of a data set",
    .details = "NAME is a file, a name from `saddle data list`, or synthetic[:ROWS[:FEATURES]].",
    .values = "@FILE",
    .library = cli_data_fields,
    .own = info_own,
    .own_bytes = sizeof(cli_common),
    .run = run_info,
};

/* ---- fetch --------------------------------------------------------------------------------- */

typedef struct fetch_choices {
    cli_common common;
    const char *from;
    const char *directory;
    const char *accept;
    bool force;
} fetch_choices;

static const saddle_option directory = SADDLE_TEXT(
    SADDLE_OWN(fetch_choices, directory, RUN), "directory", "Download", "", "DIR",
    "Directory for the files. Not given: $XDG_DATA_HOME/saddle or ~/.local/share/saddle.");
static bool on_fetch(void *context, const char *file, uint64_t done, uint64_t total)
{
    const volatile sig_atomic_t *const *interrupt = context;
    char have[CLI_NUMBER];
    char all[CLI_NUMBER] = "";
    if (total > 0)
        cli_progress("%s: %s of %s (%.0f%%)", file, saddle_bytes_text((double)done, have),
                     saddle_bytes_text((double)total, all), 100.0 * (double)done / (double)total);
    else
        cli_progress("%s: %s", file, saddle_bytes_text((double)done, have));
    return **interrupt != 0;
}

/* Prints the paths of the files of a data set. */
static void print_fetched(const char *name, const char *where)
{
    size_t count;
    const saddle_data_source *source = saddle_data_sources(&count);
    for (size_t k = 0; k < count; k++)
        if (saddle_source_belongs(&source[k], name))
            cli_print("%s/%s\n", where, source[k].file);
}

static int run_fetch(const cli_arguments *arguments)
{
    const fetch_choices *chosen = arguments->own;
    const char *name = arguments->operand[0];
    const volatile sig_atomic_t *interrupt = cli_catch_interrupts();
    saddle_fetch_options options = {.abi = SADDLE_ABI,
                                    .mirror = chosen->from,
                                    .directory = chosen->directory,
                                    .accept = chosen->accept,
                                    .force = chosen->force,
                                    .progress = on_fetch,
                                    .context = &interrupt};
    saddle_error error;
    SADDLE_MALLOCED char *standard = NULL;
    if (options.directory == NULL)
        CLI_TRY(saddle_data_directory(&standard, &error));
    saddle_status status = saddle_data_fetch(name, &options, &error);
    cli_progress_clear();
    if (status != SADDLE_OK) {
        int code = cli_fail(&error);
        return *interrupt != 0 ? CLI_INTERRUPTED : code;
    }
    print_fetched(name, options.directory != NULL ? options.directory : standard);
    return CLI_OK;
}

static const saddle_option *const fetch_own[] = {
    CLI_OPTION(TEXT, fetch_choices, from, "from", "Download", "", "URL",
               "Download URL/FILE instead of the data set's own address."),
    &directory,
    CLI_OPTION(
        TEXT, fetch_choices, accept, "accept", "Download", "", "SHA256",
        "Accept a file with this SHA-256 sum. Without it, only the expected sum is accepted."),
    CLI_OPTION(FLAG, fetch_choices, force, "force", "Download", "no",
               "Download even if a valid file is there."),
    NULL};

const cli_command cli_data_fetch = {
    .name = "data fetch",
    .operands = "NAME",
    .summary = "download a data set and check its SHA-256 sum",
    .details = "Prints the paths of the files. An interrupted download resumes where it stopped; a "
               "file is moved into place only if its SHA-256 sum is right.",
    .values = "@SOURCE",
    .own = fetch_own,
    .own_bytes = sizeof(fetch_choices),
    .run = run_fetch,
};
