/* Plans: defaults, fields set by text or directly, copies, files, errors. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saddle/saddle.h>

#include "algorithms/step_options.h"
#include "core/option_value.h"
#include "core/print.h"
#include "instance/plan.h"
#include "instance/plan_options.h"
#include "instances.h"
#include "support.h"

static saddle_error error;

/* Every option of a plan with the field that its documentation names, a value other than the default,
 * and the resulting content of the field. */
typedef struct known_field {
    const char *name;
    size_t offset;
    saddle_option_kind kind;
    const char *text;
    double number;
} known_field;

/* clang-format off */
#define FIELD(id, field, type, value, holds) {id, offsetof(saddle_plan, field), SADDLE_OPTION_##type, value, holds}
/* clang-format on */

static const known_field known[] = {
    FIELD("problem", problem.name, TEXT, "auc", 0),
    FIELD("data", problem.data, TEXT, "a9a", 0),
    FIELD("data-name", problem.data_name, TEXT, "sites", 0),
    FIELD("format", problem.format, CHOICE, "csv", SADDLE_FORMAT_CSV),
    FIELD("header", problem.header, CHOICE, "no", SADDLE_HEADER_NO),
    FIELD("label-column", problem.label_column, TEXT, "first", 0),
    FIELD("labels", problem.labels, TEXT, "l.idx", 0),
    FIELD("categories", problem.categories, CHOICE, "codes", SADDLE_CODES),
    FIELD("missing", problem.missing, CHOICE, "impute", SADDLE_MISSING_IMPUTE),
    FIELD("category-columns", problem.category_columns, TEXT, "a,3", 0),
    FIELD("drop-columns", problem.drop_columns, TEXT, "b", 0),
    FIELD("classes", problem.classes, TEXT, "0,1,2", 0),
    FIELD("positive", problem.positive, TEXT, "5-9", 0),
    FIELD("test-data", problem.test_data, TEXT, "a9a.t", 0),
    FIELD("samples", problem.samples, TEXT, "7,8", 0),
    FIELD("partition", problem.partition, TEXT, "contiguous", 0),
    FIELD("scale", problem.scale, CHOICE, "none", SADDLE_SCALE_NONE),
    FIELD("agent-weights", problem.agent_weights, CHOICE, "by-size", SADDLE_WEIGHTS_BY_SIZE),
    FIELD("x-set", problem.x_set, TEXT, "box:0:1", 0),
    FIELD("y-set", problem.y_set, TEXT, "simplex:1", 0),
    FIELD("regularizer", problem.regularizer, TEXT, "l1:0.1", 0),
    FIELD("agents", network.agents, INTEGER, "7", 7),
    FIELD("topology", network.topology, TEXT, "ring", 0),
    FIELD("mixing", network.mixing, TEXT, "metropolis", 0),
    FIELD("links", network.links, TEXT, "lossy:0.2", 0),
    FIELD("inexact", network.inexact, CHOICE, "own", SADDLE_INEXACT_OWN),
    FIELD("clip-mixing", network.clip_mixing, TEXT, "liars:1", 0),
    FIELD("row-clip", privacy.row_clip, REAL, "2", 2.0),
    FIELD("row-noise", privacy.row_noise, REAL, "3", 3.0),
    FIELD("row-delta", privacy.row_delta, REAL, "1e-07", 1e-7),
    FIELD("churn", network.churn, TEXT, "churn.txt", 0),
    FIELD("compress", network.compress, TEXT, "quantize:4", 0),
    FIELD("mixing-rate", network.mixing_rate, REAL, "0.5", 0.5),
    FIELD("init", start.init, TEXT, "zeros", 0),
    FIELD("init-x", start.init_x, TEXT, "constant:1", 0),
    FIELD("init-y", start.init_y, TEXT, "constant:2", 0),
    FIELD("seed", start.seed, INTEGER, "12", 12),
    FIELD("pin", engine.pin, FLAG, "yes", 1.0),
    FIELD("algorithm", algorithm.name, TEXT, "gda", 0),
    FIELD("steps", steps.rule, CHOICE, "theory", SADDLE_STEPS_THEORY),
    FIELD("sampling", steps.sampling, CHOICE, "with-replacement", SADDLE_WITH_REPLACEMENT),
    FIELD("nu", steps.nu, REAL, "0.25", 0.25),
    FIELD("eta", steps.eta, REAL, "0.375", 0.375),
    FIELD("tau", steps.tau, REAL, "3", 3.0),
    FIELD("alpha", steps.alpha, REAL, "4.5", 4.5),
    FIELD("q", steps.q, INTEGER, "9", 9),
    FIELD("batch", steps.batch, INTEGER, "11", 11),
    FIELD("eta-x", steps.eta_x, REAL, "0.01", 0.01),
    FIELD("eta-y", steps.eta_y, REAL, "0.02", 0.02),
    FIELD("epsilon", steps.epsilon, REAL, "0.5", 0.5),
    FIELD("c-gamma", steps.c_gamma, REAL, "0.5", 0.5),
    FIELD("c-epsilon", steps.c_epsilon, REAL, "0.5", 0.5),
    FIELD("iterations", limits.iterations, INTEGER, "13", 13),
    FIELD("tolerance", limits.tolerance, REAL, "0.001", 1e-3),
    FIELD("max-ifo", limits.max_ifo, INTEGER, "14", 14),
    FIELD("max-rounds", limits.max_rounds, INTEGER, "15", 15),
    FIELD("max-seconds", limits.max_seconds, REAL, "1.5", 1.5),
    FIELD("max-network-seconds", limits.max_network_seconds, REAL, "2.5", 2.5),
    FIELD("link-model", network.link_model, TEXT, "latency:1", 0),
    FIELD("stop-when", limits.stop_when, TEXT, "auc>=0.9", 0),
    FIELD("stop-after", limits.stop_after, INTEGER, "18", 18),
    FIELD("stop-on", limits.stop_on, TEXT, "auc", 0),
    FIELD("stall-seconds", engine.stall_seconds, REAL, "2.5", 2.5),
    FIELD("engine", engine.name, TEXT, "mpi", 0),
    FIELD("threads", engine.threads, INTEGER, "3", 3),
    FIELD("trace-every", outputs.trace_every, INTEGER, "16", 16),
    FIELD("gap", outputs.gap, CHOICE, "always", SADDLE_GAP_ALWAYS),
    FIELD("metric-tau", outputs.metric_tau, REAL, "17", 17.0),
    FIELD("trace", outputs.trace, TEXT, "t.csv", 0),
    FIELD("metric-direction", outputs.metric_direction, CHOICE, "own", SADDLE_DIRECTION_OWN),
    FIELD("outcomes", outputs.outcomes, CHOICE, "ends", SADDLE_OUTCOMES_ENDS),
    FIELD("outcomes-per-agent", outputs.outcomes_per_agent, FLAG, "yes", true),
    FIELD("model", outputs.model, TEXT, "m.npz", 0),
    FIELD("checkpoint", outputs.checkpoint, TEXT, "dir", 0),
    FIELD("checkpoint-every", outputs.checkpoint_every, TEXT, "30s", 0),
    FIELD("resume", outputs.resume, TEXT, "auto", 0),
};
enum { KNOWN = sizeof known / sizeof *known };

/* The content of a field: a text, or a number. */
typedef struct content {
    const char *text;
    double number;
} content;

static content read_field(const saddle_plan *plan, const known_field *f)
{
    const void *at = (const char *)plan + f->offset;
    switch (f->kind) {
    case SADDLE_OPTION_TEXT:
        return (content){.text = *(const char *const *)at};
    case SADDLE_OPTION_FLAG:
        return (content){.number = *(const bool *)at ? 1.0 : 0.0};
    case SADDLE_OPTION_INTEGER:
        return (content){.number = (double)*(const uint64_t *)at};
    case SADDLE_OPTION_CHOICE:
        return (content){.number = (double)*(const int *)at};
    default:
        return (content){.number = *(const double *)at};
    }
}

static bool is_same(content a, content b)
{
    bool texts = a.text == NULL || b.text == NULL ? a.text == b.text : strcmp(a.text, b.text) == 0;
    return texts && (isnan(a.number) ? isnan(b.number) : a.number == b.number);
}

static void assert_same_fields(const saddle_plan *a, const saddle_plan *b)
{
    for (size_t k = 0; k < KNOWN; k++)
        ck_assert_msg(is_same(read_field(a, &known[k]), read_field(b, &known[k])), "%s differs",
                      known[k].name);
}

static saddle_plan defaults(void)
{
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    return plan;
}

/* ---- defaults ---------------------------------------------------------------------------------- */

TEST(every_option_of_a_plan_is_known_here)
{
    const saddle_option *const *const table[] = {saddle_plan_options, saddle_step_options};
    size_t count = 0;
    for (size_t t = 0; t < 2; t++)
        for (const saddle_option *const *option = table[t]; *option != NULL; option++, count++) {
            const known_field *f = NULL;
            for (size_t k = 0; k < KNOWN; k++)
                f = strcmp(known[k].name, (*option)->name) == 0 ? &known[k] : f;
            ck_assert_msg(f != NULL, "%s is not in this test", (*option)->name);
            ck_assert_int_eq((*option)->kind, f->kind);
            ck_assert_int_eq((*option)->home, SADDLE_HOME_PLAN);
        }
    ck_assert_uint_eq(count, KNOWN);
}

TEST(defaults_are_those_of_the_options)
{
    saddle_plan plan = defaults();
    saddle_plan parsed = plan;
    saddle_plan listed = plan;
    assert_ok(saddle_plan_add_options(&listed, NULL, &error), error);
    memset(&parsed, 0xA5, sizeof parsed);
    for (size_t k = 0; k < saddle_plan_option_count(&listed); k++)
        if (saddle_plan_option(&listed, k)->home == SADDLE_HOME_PLAN)
            saddle_option_default(saddle_plan_option(&listed, k), &parsed);
    assert_same_fields(&plan, &parsed);
    for (size_t k = 0; k < KNOWN; k++)
        ck_assert_msg(!is_same(read_field(&plan, &known[k]),
                               (content){known[k].kind == SADDLE_OPTION_TEXT ? known[k].text : NULL,
                                         known[k].number}),
                      "%s: this test sets the default", known[k].name);
    saddle_plan_free(&listed);
    ck_assert_uint_eq(plan.size, sizeof plan);
    ck_assert_ptr_null(plan.settings);
    ck_assert(plan.problem.own == NULL && plan.problem.rows == NULL && plan.problem.shards == NULL);
    ck_assert(plan.network.graph == NULL && plan.network.weights == NULL);
    ck_assert(plan.start.x == NULL && plan.start.y == NULL && plan.algorithm.own == NULL);
    /* And some by name. */
    ck_assert_str_eq(plan.problem.name, "robust-logistic");
    ck_assert_str_eq(plan.network.topology, "er:0.6");
    ck_assert_ptr_null(plan.algorithm.name);
    ck_assert_uint_eq(plan.limits.iterations, 2000);
    ck_assert_uint_eq(plan.network.agents, 0);
    ck_assert_uint_eq(plan.start.seed, 1);
    ck_assert_int_eq(plan.problem.format, SADDLE_FORMAT_AUTO);
    ck_assert_int_eq(plan.steps.rule, SADDLE_STEPS_PRACTICAL);
    ck_assert_int_eq(plan.steps.sampling, SADDLE_WITHOUT_REPLACEMENT);
    ck_assert(isnan(plan.steps.tau) && plan.limits.tolerance == 0.0);
    ck_assert(plan.problem.x_set == NULL && plan.outputs.trace == NULL);
    saddle_plan_free(&plan);
}

/* ---- fields ------------------------------------------------------------------------------------ */

TEST(texts_reach_their_fields_and_no_other)
{
    saddle_plan plain = defaults();
    for (size_t k = 0; k < KNOWN; k++) {
        saddle_plan plan = defaults();
        const known_field *f = &known[k];
        content wanted = {f->kind == SADDLE_OPTION_TEXT ? f->text : NULL, f->number};
        assert_ok(saddle_plan_set(&plan, f->name, f->text, &error), error);
        for (size_t j = 0; j < KNOWN; j++)
            ck_assert_msg(is_same(read_field(&plan, &known[j]),
                                  j == k ? wanted : read_field(&plain, &known[j])),
                          "after %s: %s", f->name, known[j].name);
        ck_assert_str_eq(test_text(&plan, f->name), f->text);
        /* Back to the default. */
        const saddle_option *option = saddle_plan_find(&plan, f->name);
        assert_ok(saddle_plan_set(&plan, f->name, option->fallback, &error), error);
        assert_same_fields(&plan, &plain);
        saddle_plan_free(&plan);
    }
}

/* A plan whose fields were assigned directly is the same as one whose options were set. */
TEST(fields_and_texts_make_the_same_plan)
{
    saddle_plan by_text = defaults();
    saddle_plan by_hand = defaults();
    saddle_plan copy;
    for (size_t k = 0; k < KNOWN; k++) {
        const known_field *f = &known[k];
        void *at = (char *)&by_hand + f->offset;
        assert_ok(saddle_plan_set(&by_text, f->name, f->text, &error), error);
        if (f->kind == SADDLE_OPTION_TEXT)
            *(const char **)at = f->text;
        else if (f->kind == SADDLE_OPTION_INTEGER)
            *(uint64_t *)at = (uint64_t)f->number;
        else if (f->kind == SADDLE_OPTION_FLAG)
            *(bool *)at = f->number != 0.0;
        else if (f->kind == SADDLE_OPTION_CHOICE)
            *(int *)at = (int)f->number;
        else
            *(double *)at = f->number;
    }
    assert_ok(saddle_plan_copy(&copy, &by_hand, &error), error);
    assert_same_fields(&copy, &by_text);
    for (size_t k = 0; k < saddle_plan_option_count(&copy); k++) {
        const saddle_option *option = saddle_plan_option(&copy, k);
        ck_assert_str_eq(test_text(&copy, option->name), test_text(&by_text, option->name));
        ck_assert_int_eq(saddle_plan_given(&copy, option), saddle_plan_given(&by_text, option));
    }
    saddle_plan_free(&copy);
    saddle_plan_free(&by_hand);
    saddle_plan_free(&by_text);
}

TEST(the_last_assignment_holds)
{
    saddle_plan plan = defaults();
    saddle_plan copy;
    plan.steps.tau = 2.0;
    plan.network.topology = "path";
    assert_ok(saddle_plan_set(&plan, "tau", "3", &error), error);
    ck_assert(plan.steps.tau == 3.0);
    ck_assert_str_eq(plan.network.topology, "path");
    plan.steps.tau = 4.0;
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    ck_assert(copy.steps.tau == 4.0);
    ck_assert_str_eq(test_text(&copy, "tau"), "4");
    ck_assert_str_eq(test_text(&copy, "topology"), "path");
    /* Back to automatic, directly. */
    copy.steps.tau = (double)NAN;
    saddle_plan again;
    assert_ok(saddle_plan_copy(&again, &copy, &error), error);
    ck_assert(isnan(again.steps.tau));
    ck_assert_str_eq(test_text(&again, "tau"), "auto");
    saddle_plan_free(&again);
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
}

/* Every spelling of a number is recorded in one form, which gives the same number again. */
TEST(numbers_have_one_text)
{
    saddle_plan plan = defaults();
    assert_ok(saddle_plan_set(&plan, "tolerance", "1e-3", &error), error);
    ck_assert_str_eq(test_text(&plan, "tolerance"), "0.001");
    assert_ok(saddle_plan_set(&plan, "max-ifo", "2e6", &error), error);
    ck_assert_str_eq(test_text(&plan, "max-ifo"), "2000000");
    plan.steps.tau = 1.0 / 3.0;
    const double tau = plan.steps.tau;
    assert_ok(saddle_plan_set(&plan, "tau", test_text(&plan, "tau"), &error), error);
    ck_assert(plan.steps.tau == tau);
    saddle_plan_free(&plan);
}

/* What a run resolves is not given; what a caller assigns is, once the plan is used. */
TEST(resolved_fields_are_not_given)
{
    saddle_plan plan = defaults();
    saddle_plan copy;
    char text[] = "box:0:1";
    assert_ok(saddle_plan_set(&plan, "seed", "1", &error), error);
    plan.steps.tau = 3.0;
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    copy.network.agents = 5;
    copy.problem.x_set = text;
    assert_ok(saddle_plan_refresh(&copy, &error), error);
    text[0] = 'f';
    ck_assert_str_eq(copy.problem.x_set, "box:0:1");
    ck_assert(SADDLE_GIVEN(&copy, start.seed));
    ck_assert(saddle_plan_given(&copy, &saddle_option_tau));
    ck_assert(!saddle_plan_given(&copy, &saddle_option_alpha));
    ck_assert(!SADDLE_GIVEN(&copy, network.agents) && !SADDLE_GIVEN(&copy, problem.x_set));
    copy.network.inexact = (saddle_inexact)7;
    assert_refused(saddle_plan_refresh(&copy, &error), error, SADDLE_BAD_INPUT,
                   "--inexact: choice number 7 is not one of no|stale|own");
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
}

/* A copy keeps texts that the original changes; objects are shared. */
TEST(copies_own_their_texts)
{
    char topology[] = "ring";
    double x[] = {1.0};
    saddle_plan plan = defaults();
    saddle_plan copy;
    plan.network.topology = topology;
    plan.start.x = x;
    assert_ok(saddle_plan_set(&plan, "x-set", "box:0:1", &error), error);
    assert_ok(saddle_plan_set(&plan, "lambda1", "0.5", &error), error);
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    topology[0] = 's';
    saddle_plan_free(&plan);
    ck_assert_str_eq(copy.network.topology, "ring");
    ck_assert_str_eq(copy.problem.x_set, "box:0:1");
    ck_assert_str_eq(test_text(&copy, "lambda1"), "0.5");
    ck_assert_ptr_eq(copy.start.x, x);
    saddle_plan_free(&copy);
}

/* NULL is "not given", also where the default is a text. */
TEST(missing_texts_are_defaults)
{
    saddle_plan plan = defaults();
    saddle_plan copy;
    saddle_plan plain = defaults();
    for (size_t k = 0; k < KNOWN; k++)
        if (known[k].kind == SADDLE_OPTION_TEXT) {
            assert_ok(saddle_plan_set(&plan, known[k].name, known[k].text, &error), error);
            *(const char **)(void *)((char *)&plan + known[k].offset) = NULL;
        }
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    assert_same_fields(&copy, &plain);
    saddle_plan_free(&copy);
    saddle_plan_free(&plan);
}

/* ---- refusals ---------------------------------------------------------------------------------- */

static void refuse_copy(const saddle_plan *plan, const char *message)
{
    saddle_plan copy;
    memset(&copy, 0xA5, sizeof copy);
    error.message[0] = '\0';
    ck_assert_int_eq(saddle_plan_copy(&copy, plan, &error), SADDLE_BAD_INPUT);
    ck_assert_str_eq(error.message, message);
    ck_assert_ptr_null(copy.settings);
    saddle_plan_free(&copy);
    saddle_instance *instance = (saddle_instance *)&error;
    ck_assert_int_eq(saddle_instance_create(&instance, plan, &error), SADDLE_BAD_INPUT);
    ck_assert_str_eq(error.message, message);
    ck_assert_ptr_null(instance);
}

TEST(fields_are_checked_like_texts)
{
    saddle_plan plan = defaults();
    plan.steps.nu = -1.0;
    refuse_copy(&plan, "--nu: '-1' is out of range; give a number above 0 and at most 1, or auto");
    plan = defaults();
    plan.steps.tau = (double)INFINITY;
    refuse_copy(&plan, "--tau: 'inf' is not a number; give a number above 0, or auto");
    plan = defaults();
    plan.limits.tolerance = (double)NAN;
    refuse_copy(&plan, "--tolerance: 'nan' is not a number; give a number of at least 0");
    plan = defaults();
    plan.engine.threads = 5000;
    refuse_copy(&plan, "--threads: '5000' is out of range; give a whole number of at least 1 and "
                       "at most 4096, or auto");
    plan = defaults();
    plan.steps.rule = 3;
    refuse_copy(&plan, "--steps: choice number 3 is not one of practical|paper|theory");
    plan = defaults();
    plan.steps.sampling = (saddle_sampling)-1;
    refuse_copy(&plan,
                "--sampling: choice number -1 is not one of without-replacement|with-replacement");
    plan = defaults();
    plan.problem.format = 5;
    refuse_copy(&plan, "--format: choice number 5 is not one of auto|libsvm|csv|idx|numpy");
    plan = defaults();
    plan.network.topology = "ring\n# forged: yes";
    refuse_copy(&plan, "--topology: 'ring\\x0a# forged: yes' has a control character, such as a "
                       "line end, in it; give a value without it");
}

TEST(plans_of_other_headers_are_refused)
{
    saddle_plan plan = defaults();
    saddle_plan copy;
    plan.size = sizeof plan - 8;
    assert_refused(saddle_plan_set(&plan, "tau", "1", &error), error, SADDLE_BAD_INPUT,
                   "call saddle_plan_defaults(&plan, sizeof plan)");
    assert_refused(saddle_plan_load(&plan, "none.yaml", &error), error, SADDLE_BAD_INPUT,
                   "call saddle_plan_defaults(&plan, sizeof plan)");
    assert_refused(saddle_plan_copy(&copy, &plan, &error), error, SADDLE_BAD_INPUT,
                   "call saddle_plan_defaults(&plan, sizeof plan)");
    saddle_plan_free(&copy);
    saddle_result *result = (saddle_result *)&error;
    assert_refused(saddle_solve(NULL, &plan, &result, &error), error, SADDLE_BAD_INPUT,
                   "call saddle_plan_defaults(&plan, sizeof plan)");
    ck_assert_ptr_null(result);
    ck_assert_ptr_null(plan.settings);
    /* A struct other than the plan has changed, but not the plan's size. */
    saddle_plan_defaults_for(&plan, sizeof plan, SADDLE_ABI - 1);
    char other[32];
    snprintf(other, sizeof other, "and ABI %d, but saddle", SADDLE_ABI - 1);
    assert_refused(saddle_solve(NULL, &plan, &result, &error), error, SADDLE_BAD_INPUT, other);
    ck_assert_ptr_null(result);
}

TEST(a_refused_text_changes_nothing)
{
    saddle_plan plan = defaults();
    assert_ok(saddle_plan_set(&plan, "tau", "2", &error), error);
    assert_refused(saddle_plan_set(&plan, "tau", "-2", &error), error, SADDLE_BAD_INPUT,
                   "--tau: '-2' is out of range");
    ck_assert(plan.steps.tau == 2.0);
    assert_refused(saddle_plan_set(&plan, "tao", "2", &error), error, SADDLE_BAD_INPUT,
                   "unknown option 'tao'; did you mean 'tau'?");
    saddle_plan_free(&plan);
}

/* ---- files ------------------------------------------------------------------------------------- */

static const char *write_file(const char *lines)
{
    static char path[4200];
    saddle_snprintf(path, sizeof path, "%s/plan.yaml", saddle_test_directory());
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(lines, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

TEST(files_fill_what_is_not_given)
{
    saddle_plan plan = defaults();
    plan.network.agents = 9;
    assert_ok(saddle_plan_set(&plan, "tau", "2", &error), error);
    const char *path = write_file("agents: 6\ntau: 3\ntopology: ring\nalpha: 0.5\nx-dim: 12\n");
    assert_ok(saddle_plan_load(&plan, path, &error), error);
    ck_assert_uint_eq(plan.network.agents, 9);
    ck_assert(plan.steps.tau == 2.0 && plan.steps.alpha == 0.5);
    ck_assert_str_eq(plan.network.topology, "ring");
    ck_assert_str_eq(test_text(&plan, "x-dim"), "12");
    /* A bad file leaves the plan unchanged. */
    path = write_file("topology: path\nalpha: -1\n");
    assert_refused(saddle_plan_load(&plan, path, &error), error, SADDLE_BAD_INPUT,
                   "plan.yaml:2:8: alpha: '-1' is out of range");
    ck_assert_str_eq(plan.network.topology, "ring");
    ck_assert(plan.steps.alpha == 0.5);
    /* Neither does an invalid field, which the message names. */
    plan.steps.nu = 7.0;
    assert_refused(saddle_plan_load(&plan, write_file("seed: 2\n"), &error), error,
                   SADDLE_BAD_INPUT, "nu: '7' is out of range");
    saddle_plan_free(&plan);
}
