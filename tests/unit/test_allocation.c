/*
 * Memory that runs out at any point: the k-th allocation fails, for every k that a short piece of work
 * makes. Each time the call must report it, free everything and not crash.
 *
 * The work covers everything in include/saddle/ that allocates memory, except downloads (which need a
 * server) and plug-ins (which need a compiler). Allocations by other libraries are not counted.
 *
 * The program is linked so that the library's aligned_alloc() and saddle_free() calls come here.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <saddle/lab.h>

#include "core/memory.h"
#include "core/print.h"
#include "instances.h"
#include "support.h"

/* ---- the allocator --------------------------------------------------------------------------- */

static atomic_long asked;   /* allocations so far */
static atomic_long failing; /* the one that fails, from 1; 0: none */
static atomic_long living;  /* blocks allocated and not freed */

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_saddle_free(void *block);
void __wrap_saddle_free(void *block);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (atomic_fetch_add(&asked, 1) + 1 == atomic_load(&failing))
        return NULL;
    void *block = __real_aligned_alloc(alignment, size);
    if (block != NULL)
        atomic_fetch_add(&living, 1);
    return block;
}

void __wrap_saddle_free(void *block)
{
    if (block != NULL)
        atomic_fetch_sub(&living, 1);
    __real_saddle_free(block);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* A task that allocates memory and frees all of it, whatever happens. */
typedef saddle_status work(const void *what, saddle_error *error);

/* Runs a task with enough memory; returns the number of its allocations. */
static long measure(work *task, const void *what, const char *label)
{
    saddle_error error = {.message = ""};
    atomic_store(&failing, 0);
    atomic_store(&asked, 0);
    atomic_store(&living, 0);
    assert_ok(task(what, &error), error);
    ck_assert_msg(atomic_load(&living) == 0, "%s: %ld blocks are left behind", label,
                  atomic_load(&living));
    ck_assert_msg(atomic_load(&asked) > 0, "%s: takes no memory through the library", label);
    return atomic_load(&asked);
}

/* Runs a task with the k-th allocation failing, for k = 1, 2, ... until it makes fewer than k. Unless
 * every allocation is `needed`, the task may succeed; it must not fail for another reason. */
static void starve_or_not(work *task, const void *what, const char *label, bool needed)
{
    long all = measure(task, what, label);
    long refused = 0;
    for (long k = 1; k <= all; k++) {
        saddle_error error = {.message = ""};
        atomic_store(&asked, 0);
        atomic_store(&failing, k);
        saddle_status status = task(what, &error);
        atomic_store(&failing, 0);
        ck_assert_msg(atomic_load(&living) == 0,
                      "%s: allocation %ld failed, and %ld blocks are left behind", label, k,
                      atomic_load(&living));
        if (!needed && status == SADDLE_OK)
            continue;
        refused++;
        ck_assert_msg(status == SADDLE_NO_MEMORY,
                      "%s: allocation %ld of %ld failed, and the call returned '%s' (%s)", label, k,
                      all, saddle_status_text(status), error.message);
        ck_assert_msg(strstr(error.message, "memory") != NULL, "%s: allocation %ld: '%s'", label, k,
                      error.message);
    }
    ck_assert_msg(refused > 0, "%s: not one of %ld allocations matters", label, all);
}

/* For tasks that need every allocation. */
static void starve(work *task, const void *what, const char *label)
{
    starve_or_not(task, what, label, true);
}

/* For tasks that can do without some allocations. */
static void starve_softly(work *task, const void *what, const char *label)
{
    starve_or_not(task, what, label, false);
}

/* Frees a text that the library handed over. */
static void give_back(char *text)
{
    if (text != NULL)
        atomic_fetch_sub(&living, 1);
    free(text);
}

/* Builds a plan from a NULL-terminated list of name=value. */
static saddle_status plan_of(const char *const *assignment, saddle_plan *out, saddle_error *error)
{
    saddle_status status = SADDLE_OK;
    saddle_plan_defaults(out, sizeof *out);
    for (; status == SADDLE_OK && *assignment != NULL; assignment++) {
        char name[64];
        const char *equals = strchr(*assignment, '=');
        saddle_snprintf(name, sizeof name, "%.*s", (int)(equals - *assignment), *assignment);
        status = saddle_plan_set(out, name, equals + 1, error);
    }
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Creates and runs an instance, with all outputs. A model that cannot be written is an error of its own,
 * not a failure of the run. */
static saddle_status whole_run(const void *what, saddle_error *error)
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_status status = plan_of(what, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_plan_resume(&plan, NULL, error);
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, NULL, NULL, &result, error);
    if (status == SADDLE_OK && result->output_error.status != SADDLE_OK) {
        *error = result->output_error;
        status = result->output_error.status;
    }
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

/* Every problem under an algorithm, and every algorithm on some problem. */
static const char *const combination[][2] = {
    {"robust-logistic", "precision"},
    {"robust-logistic", "precision+"},
    {"auc", "prox-gt-sgda"},
    {"fair", "gt-gda"},
    {"group-dro", "precision"},
    {"robust-regression", "precision"},
    {"poisoning", "prox-dsgda"},
    {"policy-evaluation", "dposg"},
    {"quadratic", "dppsp"},
    {"robust-logistic", "cspsg"},
    {"quadratic", "gda"},
    {"auc", "sgda"},
    {"quadratic", "minimax-ppa"},
    {"quadratic", "sreda"},
    {"quadratic", "sreda-boost"},
};
enum { COMBINATIONS = sizeof combination / sizeof *combination, MOST_ITEMS = 12 };

typedef struct list {
    char text[MOST_ITEMS][256];
    const char *item[MOST_ITEMS + 1];
    size_t count;
} list;

__attribute__((format(printf, 2, 3))) static void add(list *to, const char *format, ...)
{
    va_list arguments;
    ck_assert_uint_lt(to->count, MOST_ITEMS);
    va_start(arguments, format);
    saddle_vsnprintf(to->text[to->count], sizeof to->text[0], format, arguments);
    va_end(arguments);
    to->item[to->count] = to->text[to->count];
    to->count++;
}

/* Returns a data file with so few rows that reading it a thousand times takes no time. */
static const char *few_rows(void)
{
    static char path[4200];
    saddle_dataset *data = NULL;
    saddle_error error = {.message = ""};
    saddle_snprintf(path, sizeof path, "%s/few.libsvm", saddle_test_directory());
    assert_ok(saddle_dataset_generate(&data, 25, 8, 1, &error), error);
    assert_ok(saddle_dataset_save_libsvm(data, path, &error), error);
    saddle_dataset_free(data);
    return path;
}

/* Adds the settings of a short run on small data, with all the files that it can write. The gap, which costs more than
 * the run, allocates the same for every problem: it is measured once in a network and once in a pool. */
static void add_run(list *to, const char *problem, const char *algorithm)
{
    const saddle_problem_class *kind = NULL;
    ck_assert_int_eq(saddle_problem_find(&kind, problem, NULL), SADDLE_OK);
    add(to, "problem=%s", problem);
    add(to, "algorithm=%s", algorithm);
    add(to, "trace=%s/t.csv", saddle_test_directory());
    add(to, "model=%s/m.npz", saddle_test_directory());
    add(to, "iterations=2");
    add(to, "threads=2");
    if (strcmp(algorithm, "precision+") != 0 && strcmp(algorithm, "gda") != 0)
        add(to, "gap=never");
    if (!kind->needs_data)
        add(to, "samples=4");
    if (strcmp(problem, "quadratic") == 0)
        add(to, "x-set=none");
    if (kind->needs_data)
        add(to, "data=%s", few_rows());
    if (kind->needs_data && strcmp(problem, "robust-logistic") != 0)
        add(to, "test-data=%s", few_rows());
    if (strcmp(problem, "fair") == 0)
        add(to, "sensitive=2");
    if (strcmp(problem, "group-dro") == 0)
        add(to, "groups=2,label");
    if (strcmp(problem, "quadratic") != 0 && strcmp(problem, "robust-logistic") != 0)
        add(to, "outcomes-per-agent=yes");
    if (strcmp(algorithm, "gt-gda") == 0)
        add(to, "compress=top:0.1");
}

TEST_LOOP(a_run_survives_every_failed_allocation, 0, COMBINATIONS)
{
    list settings = {.count = 0};
    add_run(&settings, combination[_i][0], combination[_i][1]);
    char label[128];
    saddle_snprintf(label, sizeof label, "%s with %s", combination[_i][0], combination[_i][1]);
    starve(whole_run, settings.item, label);
}

/* Removes the checkpoints of an earlier run first. */
static saddle_status run_with_checkpoints(const void *what, saddle_error *error)
{
    char path[4200];
    char *old = NULL;
    saddle_snprintf(path, sizeof path, "%s/kept", saddle_test_directory());
    long failing_now = atomic_exchange(&failing, 0);
    while (saddle_checkpoint_find(&old, path, 0, NULL) == SADDLE_OK && old != NULL) {
        unlink(old);
        give_back(old);
    }
    atomic_store(&asked, 0);
    atomic_store(&failing, failing_now);
    return whole_run(what, error);
}

/* Describes a checkpoint, and finds the newest one. */
static saddle_status examine(const void *directory, saddle_error *error)
{
    char *path = NULL;
    saddle_checkpoint_info info;
    saddle_plan plan = {.settings = NULL};
    saddle_status status = saddle_checkpoint_newest(&path, directory, error);
    if (status == SADDLE_OK)
        status = saddle_checkpoint_examine(path, &info, &plan, error);
    saddle_plan_free(&plan);
    give_back(path);
    return status;
}

/* A checkpoint that cannot be written causes a warning, and the run continues: only other failures may end it. */
TEST(checkpoints_survive_every_failed_allocation)
{
    list settings = {.count = 0};
    add_run(&settings, "quadratic", "precision");
    add(&settings, "checkpoint=%s/kept", saddle_test_directory());
    add(&settings, "checkpoint-every=1");
    add(&settings, "compress=quantize:4");
    starve_softly(run_with_checkpoints, settings.item, "checkpoints");
    /* Resume from what the last run left. */
    saddle_error error = {.message = ""};
    assert_ok(run_with_checkpoints(settings.item, &error), error);
    list again = {.count = 0};
    add(&again, "resume=%s/kept", saddle_test_directory());
    add(&again, "iterations=2");
    add(&again, "trace=%s/t.csv", saddle_test_directory());
    add(&again, "model=%s/m.npz", saddle_test_directory());
    starve(whole_run, again.item, "resuming");
    char directory[4200];
    saddle_snprintf(directory, sizeof directory, "%s/kept", saddle_test_directory());
    starve(examine, directory, "looking at checkpoints");
}

/* Keeps results in memory and writes files from them afterwards. */
static saddle_status keep_results(const void *what, saddle_error *error)
{
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/later.npz", saddle_test_directory());
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_result *result = NULL;
    saddle_trace *trace = NULL;
    saddle_status status = plan_of(what, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_run(instance, NULL, NULL, &result, error);
    if (status == SADDLE_OK)
        status = saddle_result_trace(result, &trace, error);
    if (status == SADDLE_OK)
        status = saddle_result_save(result, path, error);
    saddle_trace_free(trace);
    saddle_result_free(result);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

/* Queries an instance without running it. */
static saddle_status question(const void *what, saddle_error *error)
{
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_steps steps;
    saddle_theory theory;
    saddle_gradient_check check;
    saddle_status status = plan_of(what, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_instance_steps(instance, &plan, &steps, error);
    if (status == SADDLE_OK)
        status = saddle_theory_evaluate(instance, 0.1, 1e-2, 1.0, 1.0, &theory, error);
    if (status == SADDLE_OK)
        status = saddle_problem_check_gradient(instance->problem, instance->x_set, instance->y_set,
                                               1, 1, &check, error);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

TEST(instances_survive_every_failed_allocation)
{
    list quadratic = {.count = 0};
    add(&quadratic, "problem=quadratic");
    add(&quadratic, "samples=4");
    add(&quadratic, "x-dim=3");
    add(&quadratic, "y-dim=2");
    add(&quadratic, "iterations=2");
    starve(keep_results, quadratic.item, "results in memory");
    starve(question, quadratic.item, "theory and gradients, constants known");
    list auc = {.count = 0};
    add(&auc, "problem=auc");
    add(&auc, "data=%s", few_rows());
    starve(question, auc.item, "theory and gradients, constants estimated");
}

/* ---- searches -------------------------------------------------------------------------------- */

/* A search, and whether to resume it from a log. */
typedef struct search_case {
    const char *const *settings;
    bool resume;
} search_case;

static saddle_status search(const void *what, saddle_error *error)
{
    const search_case *p = what;
    saddle_plan plan;
    saddle_instance *instance = NULL;
    saddle_tuning *tuning = NULL;
    char log[4200];
    char best[4200];
    saddle_snprintf(log, sizeof log, "%s/tune.log", saddle_test_directory());
    saddle_snprintf(best, sizeof best, "%s/best.yaml", saddle_test_directory());
    if (!p->resume)
        unlink(log);
    saddle_tune_inputs inputs = {.budget = 2000, .candidates = 2, .log = log, .resume = p->resume};
    saddle_status status = plan_of(p->settings, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_instance_create(&instance, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_tune(&tuning, instance, NULL, &inputs, NULL, error);
    if (status == SADDLE_OK)
        status = saddle_tuning_save(tuning, best, error);
    saddle_tuning_free(tuning);
    saddle_instance_free(instance);
    saddle_plan_free(&plan);
    return status;
}

TEST(a_search_survives_every_failed_allocation)
{
    list settings = {.count = 0};
    add(&settings, "problem=quadratic");
    add(&settings, "samples=4");
    add(&settings, "x-dim=3");
    add(&settings, "y-dim=2");
    add(&settings, "algorithm=precision");
    starve(search, &(search_case){settings.item, false}, "tune");
    saddle_error error = {.message = ""};
    assert_ok(search(&(search_case){settings.item, false}, &error), error);
    starve(search, &(search_case){settings.item, true}, "tune, resumed");
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file and how to read it. */
typedef struct source {
    const char *path;
    saddle_data_format format;
} source;

static saddle_status load(const void *what, saddle_error *error)
{
    const source *from = what;
    saddle_dataset *data = NULL;
    saddle_data_options options = {.abi = SADDLE_ABI, .format = from->format, .threads = 2};
    saddle_status status = saddle_dataset_load(&data, from->path, &options, 0, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_make_binary(data, NULL, error);
    saddle_dataset_free(data);
    return status;
}

static const char *write_file(const char *name, const void *bytes, size_t count)
{
    static char path[4200];
    saddle_snprintf(path, sizeof path, "%s/%s", saddle_test_directory(), name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, count, f), count);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

TEST(readers_survive_every_failed_allocation)
{
    static const char libsvm[] = "1 1:1 3:0.25\n-1 2:1.2345678901234567890123456789012345e0\n";
    static const char csv[] = "a,\"b\"\"c\",y\n1,2,1\n3,4,-1\n";
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0,
                                           0, 1, 0, 0, 0, 2, 1, 2, 3, 4};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 7};
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s", write_file("a.libsvm", libsvm, sizeof libsvm - 1));
    starve(load, &(source){path, SADDLE_FORMAT_LIBSVM}, "LIBSVM");
    saddle_snprintf(path, sizeof path, "%s", write_file("a.csv", csv, sizeof csv - 1));
    starve(load, &(source){path, SADDLE_FORMAT_CSV}, "CSV");
    write_file("a-labels-idx1-ubyte", labels, sizeof labels);
    saddle_snprintf(path, sizeof path, "%s",
                    write_file("a-images-idx3-ubyte", images, sizeof images));
    starve(load, &(source){path, SADDLE_FORMAT_IDX}, "IDX");
}

static saddle_status read_traces(const void *directory, saddle_error *error)
{
    char path[4200];
    saddle_trace *trace = NULL;
    saddle_snprintf(path, sizeof path, "%s/t.csv", (const char *)directory);
    saddle_status status = saddle_trace_read(&trace, path, error);
    saddle_trace_free(trace);
    return status;
}

TEST(traces_survive_every_failed_allocation)
{
    saddle_error error = {.message = ""};
    list settings = {.count = 0};
    add_run(&settings, "auc", "precision");
    assert_ok(whole_run(settings.item, &error), error);
    starve(read_traces, saddle_test_directory(), "traces");
}

/* Generates, selects, labels and partitions rows of data. */
static saddle_status share_out(const void *partition, saddle_error *error)
{
    static const size_t chosen[] = {3, 1, 4, 15, 9, 2, 6, 5, 35, 8};
    saddle_dataset *data = NULL;
    saddle_dataset *part = NULL;
    saddle_partition *shares = NULL;
    char *positive = NULL;
    char *path = NULL;
    saddle_status status = saddle_dataset_generate(&data, 40, 12, 1, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_select(&part, data, chosen, sizeof chosen / sizeof *chosen, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_positive(data, "auto", &positive, error);
    if (status == SADDLE_OK)
        status = saddle_dataset_label(part, positive, error);
    if (status == SADDLE_OK)
        status = saddle_partition_create(&shares, data, partition, 3, "auto", 1, error);
    if (status == SADDLE_OK)
        status = saddle_data_find("/dev/null", &path, error);
    give_back(path);
    give_back(positive);
    saddle_partition_free(shares);
    saddle_dataset_free(part);
    saddle_dataset_free(data);
    return status;
}

TEST(rows_survive_every_failed_allocation)
{
    static const char *const partition[] = {"iid", "contiguous", "label-skew:1"};
    for (size_t k = 0; k < sizeof partition / sizeof *partition; k++)
        starve(share_out, partition[k], partition[k]);
}

static saddle_status configure(const void *path, saddle_error *error)
{
    saddle_plan plan;
    saddle_plan copy = {.settings = NULL};
    saddle_plan_defaults(&plan, sizeof plan);
    saddle_status status = saddle_plan_load(&plan, path, error);
    plan.steps.tau = 0.25;
    if (status == SADDLE_OK)
        status = saddle_plan_copy(&copy, &plan, error);
    if (status == SADDLE_OK)
        status = saddle_plan_set(&copy, "eta", "0.3", error);
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
    return status;
}

TEST(a_configuration_survives_every_failed_allocation)
{
    static const char text[] = "agents: 4\nnu: 0.1\ntopology: \"ring\"\n";
    starve(configure, write_file("c.yaml", text, sizeof text - 1), "configuration");
}

/* ---- sets ------------------------------------------------------------------------------------ */

/* A set with a regularizer. */
typedef struct pair {
    const char *set;
    const char *regularizer;
} pair;

static saddle_status bind_pair(const void *what, saddle_error *error)
{
    const pair *p = what;
    saddle_set *set = NULL;
    saddle_regularizer *regularizer = NULL;
    saddle_prox *prox = NULL;
    saddle_status status = saddle_set_create(&set, p->set, 6, error);
    if (status == SADDLE_OK)
        status = saddle_regularizer_create(&regularizer, p->regularizer, 6, error);
    if (status == SADDLE_OK)
        status = saddle_prox_create(&prox, set, regularizer, error);
    saddle_prox_free(prox);
    saddle_regularizer_free(regularizer);
    saddle_set_free(set);
    return status;
}

/* A box per coordinate, and a class without a text. */
static saddle_status box_from_memory(const void *what, saddle_error *error)
{
    saddle_set *set = NULL;
    saddle_status status = saddle_set_box(&set, 3, what, NULL, error);
    saddle_set_free(set);
    return status;
}

TEST(sets_survive_every_failed_allocation)
{
    static const double lower[] = {0.0, 1.0, 2.0};
    starve(box_from_memory, lower, "a box per coordinate");
    static const pair all[] = {
        {"box:-1:2", "l1:0.5"},
        {"nonneg", "elastic-net:0.1:0.2"},
        {"none", "group-l2:0.1:3"},
        {"l2-ball:1", "none"},
        {"simplex", "none"},
        {"l1-ball:1", "none"},
        {"blocks:2*box:0:1,4*simplex", "none"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        starve(bind_pair, &all[k], all[k].set);
}

/* ---- networks -------------------------------------------------------------------------------- */

/* A topology and the weights on it. */
typedef struct network {
    const char *topology;
    size_t agents;
    const char *mixing;
} network;

static saddle_status connect(const void *what, saddle_error *error)
{
    const network *n = what;
    saddle_graph *graph = NULL;
    saddle_mixing *mixing = NULL;
    saddle_spectrum spectrum;
    size_t diameter;
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/saved.edges", saddle_test_directory());
    saddle_status status = saddle_graph_create(&graph, n->topology, n->agents, 1, error);
    if (status == SADDLE_OK)
        status = saddle_mixing_create(&mixing, graph, n->mixing, error);
    if (status == SADDLE_OK)
        status = saddle_mixing_check(mixing, error);
    if (status == SADDLE_OK)
        status = saddle_mixing_spectrum(mixing, &spectrum, error);
    if (status == SADDLE_OK)
        status = saddle_graph_diameter(graph, &diameter, error);
    if (status == SADDLE_OK)
        status = saddle_graph_save(graph, path, error);
    saddle_mixing_free(mixing);
    saddle_graph_free(graph);
    return status;
}

/* A graph and its weights from arrays. */
static saddle_status network_from_memory(const void *what, saddle_error *error)
{
    static const double matrix[] = {0.75, 0.25, 0.0, 0.25, 0.5, 0.25, 0.0, 0.25, 0.75};
    static const double weight[] = {0.25, 0.5};
    saddle_graph *graph = NULL;
    saddle_mixing *mixing[2] = {NULL, NULL};
    saddle_status status = saddle_graph_from_edges(&graph, 3, 2, what, error);
    if (status == SADDLE_OK)
        status = saddle_mixing_from_matrix(&mixing[0], graph, matrix, error);
    if (status == SADDLE_OK)
        status = saddle_mixing_from_edges(&mixing[1], graph, 2, what, weight, error);
    saddle_mixing_free(mixing[0]);
    saddle_mixing_free(mixing[1]);
    saddle_graph_free(graph);
    return status;
}

TEST(networks_survive_every_failed_allocation)
{
    static const size_t edge[] = {0, 1, 1, 2};
    starve(network_from_memory, edge, "a network from memory");
    static const char edges[] = "0 1\n1 2\n2 0\n2 3\n";
    char file[4300];
    saddle_snprintf(file, sizeof file, "file:%s", write_file("e.edges", edges, sizeof edges - 1));
    static const char weights[] = "0.5 0.25 0.25\n0.25 0.5 0.25\n0.25 0.25 0.5\n";
    char matrix[4300];
    saddle_snprintf(matrix, sizeof matrix, "file:%s",
                    write_file("w.txt", weights, sizeof weights - 1));
    const network all[] = {
        {"ring", 8, "metropolis"},         {"er:0.6", 6, "laplacian"},
        {"regular:3", 8, "best-constant"}, {"grid:2x3", 6, "max-degree"},
        {"star", 5, "lazy-metropolis"},    {"regular:4", 2100, "metropolis"}, /* ARPACK */
        {file, 4, "metropolis"},           {"ring", 3, matrix},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        starve(connect, &all[k], all[k].topology);
}

/* ---- saved models ---------------------------------------------------------------------------- */

static saddle_status predict(const void *path, saddle_error *error)
{
    char few[4200];
    saddle_snprintf(few, sizeof few, "%s/few.libsvm", saddle_test_directory());
    saddle_predictor *predictor = NULL;
    saddle_dataset *data = NULL;
    saddle_outcome outcome[SADDLE_MOST_MEASURES];
    size_t count;
    saddle_status status = saddle_predictor_load(&predictor, path, NULL, error);
    if (status == SADDLE_OK)
        status = saddle_predictor_data(predictor, &data, few, NULL, error);
    if (status == SADDLE_OK)
        status = saddle_predictor_evaluate(predictor, data, NULL, outcome, &count, error);
    double score[64];
    if (status == SADDLE_OK && data->rows <= sizeof score / sizeof *score)
        status = saddle_predictor_scores(predictor, data, score, error);
    char scores[4200];
    saddle_snprintf(scores, sizeof scores, "%s/scores", saddle_test_directory());
    if (status == SADDLE_OK)
        status = saddle_save_numbers(score, data->rows, scores, error);
    saddle_saved_model *model = NULL;
    if (status == SADDLE_OK)
        status = saddle_saved_model_load(&model, path, error);
    if (status == SADDLE_OK)
        status = saddle_saved_model_save(model, scores, error);
    saddle_saved_model_free(model);
    saddle_dataset_free(data);
    saddle_predictor_free(predictor);
    return status;
}

TEST(saved_models_survive_every_failed_allocation)
{
    static const char *const problem[] = {"auc", "fair", "group-dro", "robust-regression",
                                          "poisoning"};
    char path[4200];
    saddle_snprintf(path, sizeof path, "%s/m.npz", saddle_test_directory());
    for (size_t k = 0; k < sizeof problem / sizeof *problem; k++) {
        saddle_error error = {.message = ""};
        list settings = {.count = 0};
        add_run(&settings, problem[k], "precision");
        assert_ok(whole_run(settings.item, &error), error);
        starve(predict, path, problem[k]);
    }
}
