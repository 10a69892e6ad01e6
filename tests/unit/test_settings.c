/* Settings: defaults, every kind of value and every error, configuration files, the clock. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/memory_limits.h"
#include "core/print.h"
#include "instance/plan.h"
#include "support.h"

/* The fields of the options below. */
typedef struct fields {
    double nu, eta, shift, cap;
    uint64_t agents, seed;
    int algorithm, engine;
    bool quiet;
    const char *output;
} fields;

#define OWN(field) SADDLE_OWN(fields, field, RUN)
static const saddle_option nu =
    SADDLE_REAL_ABOVE(OWN(nu), "nu", "Steps", "0.1", 0.0, 1.0, "STEP", "Step of x.");
static const saddle_option eta =
    SADDLE_REAL_ABOVE(OWN(eta), "eta", "Steps", "auto", 0.0, 1.0, "STEP", "Step of y.");
static const saddle_option shift = SADDLE_REAL(OWN(shift), "shift", "Steps", "0", -SADDLE_UNBOUNDED,
                                               SADDLE_UNBOUNDED, "NUMBER", "Any number.");
static const saddle_option cap = SADDLE_REAL(OWN(cap), "cap", "Steps", "", -SADDLE_UNBOUNDED, 2.5,
                                             "NUMBER", "A number or nothing.");
static const saddle_option agents =
    SADDLE_INTEGER(OWN(agents), "agents", "Graph", "5", 1.0, 0x1p53, "COUNT", "How many agents.");
static const saddle_option seed =
    SADDLE_INTEGER(OWN(seed), "seed", "Run", "1", 0.0, SADDLE_UNBOUNDED, "NUMBER", "Seed.");
static const saddle_option algorithm =
    SADDLE_CHOICE(OWN(algorithm), "algorithm", "Run", "precision", "precision|precision+|gda",
                  "NAME", "Which algorithm.");
static const saddle_option engine = SADDLE_CHOICE(OWN(engine), "engine", "Run", "auto",
                                                  "auto|serial|threads", "NAME", "Where it runs.");
static const saddle_option quiet = SADDLE_FLAG(OWN(quiet), "quiet", "Run", "no", "Print less.");
static const saddle_option output =
    SADDLE_TEXT(OWN(output), "output", "Run", "", "FILE", "Where to write.");

static const saddle_option *const run_table[] = {&agents, &seed,   &algorithm, &engine,
                                                 &quiet,  &output, NULL};
static const saddle_option *const step_table[] = {&nu, &eta, &seed, &shift, &cap, NULL};

static saddle_error error;

static saddle_plan build(void)
{
    const saddle_option *const *const tables[] = {run_table, step_table};
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_list(&plan, tables, 2, &error), error);
    return plan;
}

/* The value of an option by its name, until the next call; NULL if there is no such option. */
static const char *text_of(const saddle_plan *plan, const char *name)
{
    static char buffer[SADDLE_VALUE_SIZE];
    const saddle_option *option = saddle_plan_find(plan, name);
    return option != NULL ? saddle_plan_text(plan, option, buffer) : NULL;
}

/* The values of all options. */
static fields values(const saddle_plan *plan)
{
    fields all = {.output = NULL};
    saddle_plan_read_own(plan, run_table, &all);
    saddle_plan_read_own(plan, step_table, &all);
    return all;
}

/* Asserts that the message is exactly this. */
#define assert_says(call, wanted)                         \
    do {                                                  \
        memset(&error, 0, sizeof error);                  \
        ck_assert_int_eq((call), SADDLE_BAD_INPUT);       \
        ck_assert_str_eq(error.message, (wanted));        \
        ck_assert_int_eq(error.status, SADDLE_BAD_INPUT); \
    } while (0)

TEST(union_of_tables_keeps_order_and_defaults)
{
    saddle_plan plan = build();
    static const char *const order[] = {"agents", "seed", "algorithm", "engine", "quiet",
                                        "output", "nu",   "eta",       "shift",  "cap"};
    size_t count = sizeof order / sizeof *order;
    ck_assert_uint_eq(saddle_plan_option_count(&plan), count);
    for (size_t k = 0; k < count; k++) {
        const saddle_option *option = saddle_plan_option(&plan, k);
        ck_assert_str_eq(option->name, order[k]);
        ck_assert_ptr_eq(saddle_plan_find(&plan, order[k]), option);
        ck_assert_str_eq(text_of(&plan, order[k]), option->fallback);
        ck_assert(!saddle_plan_given(&plan, option));
        ck_assert_str_eq(SADDLE_PLAN_TEXT(&plan, option), option->fallback);
    }
    ck_assert_ptr_null(saddle_plan_option(&plan, count));
    ck_assert(values(&plan).nu == 0.1);
    ck_assert(isnan(values(&plan).eta));
    ck_assert(isnan(values(&plan).eta));
    ck_assert(isnan(values(&plan).cap));
    ck_assert(isnan(saddle_plan_number(&plan, &algorithm)));
    ck_assert_uint_eq(values(&plan).agents, 5);
    ck_assert(saddle_plan_number(&plan, &agents) == 5.0);
    ck_assert(!values(&plan).quiet);
    ck_assert_int_eq(values(&plan).algorithm, 0);
    ck_assert_int_eq(values(&plan).engine, 0);
    ck_assert_ptr_null(values(&plan).output);
    saddle_plan_free(&plan);
    saddle_plan_free(NULL);
}

TEST(unknown_names_are_not_found)
{
    saddle_plan plan = build();
    ck_assert_ptr_null(saddle_plan_find(&plan, "nuu"));
    ck_assert_ptr_null(text_of(&plan, "nuu"));
    static const saddle_option stranger = SADDLE_REAL(OWN(nu), "nu", "", "0.1", 0.0, 1.0, "", "");
    static const saddle_option *const strangers[] = {&stranger, NULL};
    fields untouched = {.nu = 77.0};
    saddle_plan_read_own(&plan, strangers, &untouched);
    ck_assert(untouched.nu == 77.0);
    ck_assert(isnan(saddle_plan_number(&plan, &stranger)));
    ck_assert_str_eq(SADDLE_PLAN_TEXT(&plan, &stranger), "");
    ck_assert(!saddle_plan_given(&plan, &stranger));
    assert_says(saddle_plan_set(&plan, "nuu", "1", &error),
                "unknown option 'nuu'; did you mean 'nu'?");
    assert_says(saddle_plan_set(&plan, "bandwidth", "1", &error), "unknown option 'bandwidth'");
    ck_assert_int_eq(saddle_plan_set(&plan, "nuu", "1", NULL), SADDLE_BAD_INPUT);
    saddle_plan_free(&plan);
}

/* Tables of one option each; the second contains the option together with `first`. */
static void assert_badly_declared(const saddle_option *option, const char *part)
{
    const saddle_option *const table[] = {&nu, option, NULL};
    const saddle_option *const *tables[] = {table};
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_refused(saddle_plan_list(&plan, tables, 1, &error), error, SADDLE_CHECK_FAILED, part);
    ck_assert_ptr_null(plan.settings);
}

TEST(bad_declarations_are_found)
{
    saddle_option twin = nu;
    assert_badly_declared(&twin, "option 'nu' is declared twice; share one declaration");
    saddle_option nameless = {.kind = SADDLE_OPTION_TEXT, .fallback = ""};
    assert_badly_declared(&nameless, "an option '' lacks a name or a default");
    saddle_option bare = {.name = "bare", .kind = SADDLE_OPTION_TEXT};
    assert_badly_declared(&bare, "an option 'bare' lacks a name or a default");
    saddle_option outside = SADDLE_REAL(OWN(nu), "tol", "", "2", 0.0, 1.0, "", "");
    assert_badly_declared(&outside, "the default of option 'tol': '2' is out of range");
    saddle_option word = SADDLE_INTEGER(OWN(nu), "steps", "", "many", 0.0, 9.0, "", "");
    assert_badly_declared(&word, "the default of option 'steps': 'many' is not a whole number");
    saddle_option empty = SADDLE_REAL(OWN(nu), "range", "", "0", 1.0, 0.0, "", "");
    assert_badly_declared(&empty, "option 'range': no number lies within [1, 0]");
    saddle_option unset = SADDLE_REAL(OWN(nu), "limit", "", "0", (double)NAN, 0.0, "", "");
    assert_badly_declared(&unset, "option 'limit': no number lies within");
    saddle_option negative = SADDLE_INTEGER(OWN(nu), "back", "", "0", -1.0, 3.0, "", "");
    assert_badly_declared(&negative, "option 'back': no natural number lies within [-1, 3]");
    saddle_option none = SADDLE_CHOICE(OWN(nu), "which", "", "a", NULL, "", "");
    assert_badly_declared(&none, "the default of option 'which': its choices are not a list");
    saddle_option hole = SADDLE_CHOICE(OWN(nu), "which", "", "a", "a||b", "", "");
    assert_badly_declared(&hole, "the default of option 'which': its choices are not a list");
    saddle_option other = SADDLE_CHOICE(OWN(nu), "which", "", "c", "a|b", "", "");
    assert_badly_declared(&other, "the default of option 'which': 'c' is not one of a, b");
    saddle_option undecided = SADDLE_FLAG(OWN(quiet), "pin", "", "auto", "");
    assert_badly_declared(&undecided, "the default of option 'pin': 'auto' is neither yes nor no");
    saddle_option kind = {.name = "odd", .kind = (saddle_option_kind)77, .fallback = "x"};
    assert_badly_declared(&kind, "the default of option 'odd': it is of an unknown kind");
}

TEST(reals_are_checked)
{
    saddle_plan plan = build();
    assert_ok(saddle_plan_set(&plan, "nu", "1", &error), error);
    ck_assert(values(&plan).nu == 1.0);
    assert_ok(saddle_plan_set(&plan, "nu", "2.5e-3", &error), error);
    ck_assert(values(&plan).nu == 2.5e-3);
    ck_assert_str_eq(text_of(&plan, "nu"), "2.5e-3");
    ck_assert(saddle_plan_given(&plan, &nu));
    static const char *const outside[] = {"-1", "0", "1.0000001", "1e300"};
    for (int k = 0; k < 4; k++) {
        char wanted[200];
        saddle_snprintf(wanted, sizeof wanted,
                        "--nu: '%s' is out of range; give a number above 0 and at most 1",
                        outside[k]);
        assert_says(saddle_plan_set(&plan, "nu", outside[k], &error), wanted);
    }
    static const char *const wrong[] = {"", "auto", "nan", "inf", "0.5x", " 0.5", "0x1", "e"};
    for (int k = 0; k < 8; k++) {
        char wanted[200];
        saddle_snprintf(wanted, sizeof wanted,
                        "--nu: '%s' is not a number; give a number above 0 and at most 1",
                        wrong[k]);
        assert_says(saddle_plan_set(&plan, "nu", wrong[k], &error), wanted);
    }
    assert_says(saddle_plan_set(&plan, "nu", "1e999", &error),
                "--nu: '1e999' is too large for a double; give a number above 0 and at most 1");
    ck_assert(values(&plan).nu == 2.5e-3);
    assert_says(saddle_plan_set(&plan, "eta", "", &error),
                "--eta: '' is not a number; give a number above 0 and at most 1, or auto");
    assert_says(saddle_plan_set(&plan, "shift", "x", &error),
                "--shift: 'x' is not a number; give a number");
    assert_says(saddle_plan_set(&plan, "cap", "3", &error),
                "--cap: '3' is out of range; give a number of at most 2.5");
    assert_ok(saddle_plan_set(&plan, "cap", "-1e300", &error), error);
    assert_ok(saddle_plan_set(&plan, "cap", "", &error), error);
    ck_assert(isnan(values(&plan).cap));
    assert_ok(saddle_plan_set(&plan, "eta", "0.5", &error), error);
    ck_assert(!isnan(values(&plan).eta));
    assert_ok(saddle_plan_set(&plan, "eta", "auto", &error), error);
    ck_assert(isnan(values(&plan).eta) && saddle_plan_given(&plan, &eta));
    saddle_plan_free(&plan);
}

TEST(integers_are_checked_exactly)
{
    saddle_plan plan = build();
    assert_ok(saddle_plan_set(&plan, "agents", "1e6", &error), error);
    ck_assert_uint_eq(values(&plan).agents, 1000000);
    assert_ok(saddle_plan_set(&plan, "agents", "9007199254740992", &error), error);
    ck_assert_uint_eq(values(&plan).agents, UINT64_C(1) << 53);
    /* 2^53 + 1 as a double rounds to 2^53; it must not be accepted as that. */
    static const char *const outside[] = {"9007199254740993", "0", "-3", "18446744073709551616"};
    for (int k = 0; k < 4; k++) {
        char wanted[200];
        saddle_snprintf(wanted, sizeof wanted,
                        "--agents: '%s' is out of range; give a whole number of at least 1 and at "
                        "most 9007199254740992",
                        outside[k]);
        assert_says(saddle_plan_set(&plan, "agents", outside[k], &error), wanted);
    }
    static const char *const wrong[] = {"1.5", "", "five", "auto", "1e"};
    for (int k = 0; k < 5; k++) {
        char wanted[200];
        saddle_snprintf(wanted, sizeof wanted,
                        "--agents: '%s' is not a whole number; give a whole number of at least 1 "
                        "and at most 9007199254740992",
                        wrong[k]);
        assert_says(saddle_plan_set(&plan, "agents", wrong[k], &error), wanted);
    }
    ck_assert_uint_eq(values(&plan).agents, UINT64_C(1) << 53);
    assert_ok(saddle_plan_set(&plan, "seed", "18446744073709551615", &error), error);
    ck_assert_uint_eq(values(&plan).seed, UINT64_MAX);
    assert_says(saddle_plan_set(&plan, "seed", "18446744073709551616", &error),
                "--seed: '18446744073709551616' is out of range; give a whole number of at least 0 "
                "and at most 18446744073709551615");
    assert_says(saddle_plan_set(&plan, "seed", "1e19", &error),
                "--seed: '1e19' is above 2^53 and not in plain digits; write out all its digits");
    saddle_plan_free(&plan);
}

TEST(integer_limits_need_not_be_whole)
{
    saddle_option half = SADDLE_INTEGER(OWN(nu), "half", "", "1", 0.5, 2.5, "", "");
    saddle_option above = half;
    above.name = "above";
    above.above_minimum = true;
    above.minimum = 1.0;
    above.fallback = "2";
    const saddle_option *const table[] = {&half, &above, NULL};
    const saddle_option *const *tables[] = {table};
    saddle_plan plan;
    saddle_plan_defaults(&plan, sizeof plan);
    assert_ok(saddle_plan_list(&plan, tables, 1, &error), error);
    assert_ok(saddle_plan_set(&plan, "half", "2", &error), error);
    assert_says(saddle_plan_set(&plan, "half", "0", &error),
                "--half: '0' is out of range; give a whole number of at least 0.5 and at most 2.5");
    assert_refused(saddle_plan_set(&plan, "half", "3", &error), error, SADDLE_BAD_INPUT,
                   "out of range");
    assert_says(saddle_plan_set(&plan, "above", "1", &error),
                "--above: '1' is out of range; give a whole number above 1 and at most 2.5");
    saddle_plan_free(&plan);
}

TEST(choices_are_checked)
{
    saddle_plan plan = build();
    assert_ok(saddle_plan_set(&plan, "algorithm", "precision+", &error), error);
    ck_assert_str_eq(text_of(&plan, "algorithm"), "precision+");
    assert_says(saddle_plan_set(&plan, "algorithm", "precison", &error),
                "--algorithm: 'precison' is not one of precision, precision+, gda; did you mean "
                "'precision'?");
    assert_says(saddle_plan_set(&plan, "algorithm", "something else", &error),
                "--algorithm: 'something else' is not one of precision, precision+, gda");
    assert_says(saddle_plan_set(&plan, "algorithm", "precision|gda", &error),
                "--algorithm: 'precision|gda' is not one of precision, precision+, gda; did you "
                "mean 'precision'?");
    assert_says(saddle_plan_set(&plan, "engine", "autp", &error),
                "--engine: 'autp' is not one of auto, serial, threads; did you mean 'auto'?");
    ck_assert_str_eq(text_of(&plan, "algorithm"), "precision+");
    saddle_plan_free(&plan);
}

TEST(flags_are_checked)
{
    saddle_plan plan = build();
    static const char *const word[2][4] = {{"no", "false", "off", "0"}, {"yes", "true", "on", "1"}};
    for (int yes = 0; yes < 2; yes++)
        for (int k = 0; k < 4; k++) {
            assert_ok(saddle_plan_set(&plan, "quiet", word[yes][k], &error), error);
            ck_assert_int_eq(values(&plan).quiet, yes);
            ck_assert_str_eq(text_of(&plan, "quiet"), yes ? "yes" : "no");
        }
    assert_says(saddle_plan_set(&plan, "quiet", "maybe", &error),
                "--quiet: 'maybe' is neither yes nor no; give yes or no");
    ck_assert(values(&plan).quiet);
    saddle_plan_free(&plan);
}

TEST(messages_stay_on_one_short_line)
{
    saddle_plan plan = build();
    assert_says(saddle_plan_set(&plan, "nu", "a\nb\tc", &error),
                "--nu: 'a\\x0ab\\x09c' is not a number; give a number above 0 and at most 1");
    char flood[5001];
    memset(flood, 'z', sizeof flood - 1);
    flood[sizeof flood - 1] = '\0';
    assert_refused(saddle_plan_set(&plan, "nu", flood, &error), error, SADDLE_BAD_INPUT,
                   "zzz...' is not a number; give a number above 0 and at most 1");
    ck_assert_uint_lt(strlen(error.message), 200);
    assert_refused(saddle_plan_set(&plan, flood, "1", &error), error, SADDLE_BAD_INPUT, "zzz...'");
    /* Messages are cut between characters, here of two bytes at either parity. */
    for (int offset = 0; offset < 2; offset++) {
        for (size_t k = 0; k < 200; k++)
            flood[k] = ((int)k + offset) % 2 == 0 ? (char)0xC3 : (char)0xA9;
        if (offset == 1)
            flood[0] = 'e';
        flood[200] = '\0';
        ck_assert_int_eq(saddle_plan_set(&plan, "nu", flood, &error), SADDLE_BAD_INPUT);
        const char *dots = strstr(error.message, "...'");
        ck_assert_ptr_nonnull(dots);
        ck_assert_int_eq((unsigned char)dots[-1], 0xA9);
    }
    assert_ok(saddle_plan_set(&plan, "output", flood, &error), error);
    ck_assert_str_eq(text_of(&plan, "output"), flood);
    saddle_plan_free(&plan);
}

TEST(copies_are_independent)
{
    saddle_plan plan = build();
    saddle_plan copy;
    assert_ok(saddle_plan_set(&plan, "nu", "0.25", &error), error);
    assert_ok(saddle_plan_copy(&copy, &plan, &error), error);
    assert_ok(saddle_plan_set(&plan, "nu", "0.5", &error), error);
    ck_assert(values(&copy).nu == 0.25);
    ck_assert(saddle_plan_given(&copy, &nu) && !saddle_plan_given(&copy, &eta));
    saddle_plan_free(&plan);
    ck_assert_str_eq(text_of(&copy, "nu"), "0.25");
    ck_assert_uint_eq(saddle_plan_option_count(&copy), 10);
    saddle_plan_free(&copy);
}

/* ---------------------------------------------------------------- files */

/* Writes a file `name` into the current directory of the test and loads it. */
static saddle_status load_bytes(saddle_plan *plan, const char *name, const char *content,
                                size_t bytes)
{
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    FILE *stream = fopen(name, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(content, 1, bytes, stream), bytes);
    ck_assert_int_eq(fclose(stream), 0);
    return saddle_plan_load(plan, name, &error);
}

static saddle_status load(saddle_plan *plan, const char *content)
{
    return load_bytes(plan, "run.yaml", content, strlen(content));
}

TEST(files_give_values)
{
    saddle_plan plan = build();
    assert_ok(load(&plan, "# a run\nnu: 0.5\nagents: 1e3   # many\nquiet: true\n"
                          "algorithm: \"gda\"\noutput: 'a: b'\neta: auto\n"),
              error);
    ck_assert(values(&plan).nu == 0.5);
    ck_assert_uint_eq(values(&plan).agents, 1000);
    ck_assert(values(&plan).quiet);
    ck_assert_str_eq(text_of(&plan, "algorithm"), "gda");
    ck_assert_str_eq(text_of(&plan, "output"), "a: b");
    ck_assert(saddle_plan_given(&plan, &eta) && !saddle_plan_given(&plan, &seed));
    assert_ok(load(&plan, "{nu: 0.75, output: [a, 2, c d], seed: 7}"), error);
    ck_assert(values(&plan).nu == 0.75);
    ck_assert_str_eq(text_of(&plan, "output"), "a,2,c d");
    ck_assert_uint_eq(values(&plan).seed, 7);
    assert_ok(load(&plan, "output:\n  - x\n  - y\n"), error);
    ck_assert_str_eq(text_of(&plan, "output"), "x,y");
    assert_ok(load(&plan, "output: []\ncap:\n"), error);
    ck_assert_str_eq(text_of(&plan, "output"), "");
    ck_assert_str_eq(text_of(&plan, "cap"), "");
    saddle_plan_free(&plan);
}

TEST(empty_files_change_nothing)
{
    static const char *const empty[] = {"", "\n\n", "# words\n", "---\n", "{}\n", "---\n...\n"};
    saddle_plan plan = build();
    for (int k = 0; k < 6; k++)
        assert_ok(load(&plan, empty[k]), error);
    for (size_t k = 0; k < saddle_plan_option_count(&plan); k++)
        ck_assert(!saddle_plan_given(&plan, saddle_plan_option(&plan, k)));
    saddle_plan_free(&plan);
}

TEST(callers_beat_files_and_later_files_earlier_ones)
{
    saddle_plan plan = build();
    assert_ok(saddle_plan_set(&plan, "nu", "0.25", &error), error);
    assert_ok(load(&plan, "nu: 0.5\nagents: 7\n"), error);
    assert_ok(load(&plan, "agents: 8\n"), error);
    ck_assert(values(&plan).nu == 0.25);
    ck_assert_uint_eq(values(&plan).agents, 8);
    assert_ok(saddle_plan_set(&plan, "agents", "9", &error), error);
    assert_ok(load(&plan, "agents: 10\n"), error);
    ck_assert_uint_eq(values(&plan).agents, 9);
    /* A value that is overridden is still checked. */
    assert_says(load(&plan, "nu: 5\n"),
                "run.yaml:1:5: nu: '5' is out of range; give a number above 0 and at most 1");
    saddle_plan_free(&plan);
}

TEST(bad_files_change_nothing)
{
    static const struct {
        const char *content;
        const char *message;
    } bad[] = {
        {"agents: 6\n\n# x\nnuu: 1\n", "run.yaml:4:1: unknown option 'nuu'; did you mean 'nu'?"},
        {"agents: 6\nbandwidth: [1]\n", "run.yaml:2:1: unknown option 'bandwidth'"},
        {"agents: 6\nbandwidth:\n  deep: [1]\n",
         "run.yaml:3:3: option 'bandwidth' has a nested value; give one value or a flat list"},
        {"\"a\\nb\\e[31m\": 6\n", "run.yaml:1:1: unknown option 'a\\x0ab\\x1b[31m'"},
        {"agents: 6\nnu: -1\n",
         "run.yaml:2:5: nu: '-1' is out of range; give a number above 0 and at most 1"},
        {"agents: 6\nnu: [0.1, 0.2]\n", "run.yaml:2:5: nu: '0.1,0.2' is not a number; give a "
                                        "number above 0 and at most 1"},
        {"agents: 6\nnu: 0.1\nseed: 3\nnu: 0.2\n",
         "run.yaml:4:1: option 'nu' was already given on line 2; remove one of the two"},
        {"agents: 6\nnu:\n  value: 1\n",
         "run.yaml:3:3: option 'nu' has a nested value; give one value or a flat list"},
        {"agents: 6\nnu: [[1], 2]\n",
         "run.yaml:2:5: option 'nu' has a nested value; give one value or a flat list"},
        {"agents: &a 6\nseed: *a\n",
         "run.yaml:2:7: aliases (*name) are not supported; write the value itself"},
        {"agents: 6\n---\nnu: 0.5\n",
         "run.yaml:2:1: a second document; keep only one, without '---' lines"},
        {"- agents\n",
         "run.yaml:1:1: not a list of options; write lines of the form 'name: value'"},
        {"*agents\n", "run.yaml:1:1: not a list of options; write lines of the form 'name: value'"},
        {"agents 6\n",
         "run.yaml:1:1: not a list of options; write lines of the form 'name: value'"},
        {"agents: 6\n? [nu]\n: 1\n",
         "run.yaml:2:3: not a list of options; write lines of the form 'name: value'"},
        {"agents: 6\nnu: 'open\n", "run.yaml:3:1: not YAML: found unexpected end of stream, while "
                                   "scanning a quoted scalar from "
                                   "line 2; write lines of the form 'name: value'"},
        {"\tagents: 6\n",
         "run.yaml:1:1: not YAML: found character that cannot start any token; write "
         "lines of the form 'name: value'"},
        {"nu: \xff\n",
         "run.yaml:1:5: not YAML: invalid leading UTF-8 octet; write lines of the form "
         "'name: value'"},
        {"output: \"a\\0b\"\n",
         "run.yaml:1:9: output: 'a\\x01b' has a control character, such as a line "
         "end, in it; give a value without it"},
        {"agents: 6\nnu:\n", "run.yaml:2:4: nu: '' is not a number; give a number above 0 and at "
                             "most 1"},
    };
    saddle_plan plan = build();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_says(load(&plan, bad[k].content), bad[k].message);
        ck_assert_uint_eq(values(&plan).agents, 5);
        ck_assert(!saddle_plan_given(&plan, &agents));
    }
    saddle_plan_free(&plan);
}

TEST(unreadable_files_are_refused)
{
    saddle_plan plan = build();
    ck_assert_int_eq(chdir(saddle_test_directory()), 0);
    assert_says(saddle_plan_load(&plan, "absent.yaml", &error),
                "cannot read 'absent.yaml': No such file or directory; give a YAML file of "
                "'name: value' lines");
    assert_says(saddle_plan_load(&plan, ".", &error),
                "cannot read '.': it is a directory; give a YAML file of 'name: value' lines");
    static char large[(1 << 20) + 2];
    memset(large, '#', sizeof large);
    assert_says(load_bytes(&plan, "large.yaml", large, sizeof large),
                "'large.yaml' is longer than 1048576 bytes; give a YAML file of 'name: value' "
                "lines");
    assert_ok(load_bytes(&plan, "large.yaml", large, 1 << 20), error);
    /* Escapes that stand for more bytes than they have. */
    memset(large, '\\', 1 << 20);
    size_t start = (size_t)saddle_snprintf(large, 16, "output: \"");
    large[start] = '\\';
    for (size_t k = 10; k < 1 << 20; k += 2)
        large[k] = 'L';
    large[(1 << 20) - 1] = '"';
    assert_ok(load_bytes(&plan, "large.yaml", large, 1 << 20), error);
    ck_assert_uint_eq(strlen(text_of(&plan, "output")), 3 * (((size_t)1 << 19) - 5));
    size_t used = 0;
    for (int k = 0; k < 4097; k++)
        used += (size_t)saddle_snprintf(large + used, 16, "o%d:\n", k);
    assert_says(load_bytes(&plan, "run.yaml", large, used),
                "run.yaml:4097:1: more than 4096 options; write lines of the form 'name: value'");
    static const char zero[] = "nu: 0.5\n\0seed: 3\n";
    assert_refused(load_bytes(&plan, "run.yaml", zero, sizeof zero - 1), error, SADDLE_BAD_INPUT,
                   "run.yaml:2:1: not YAML: control characters are not allowed");
    saddle_plan_free(&plan);
}

TEST(damaged_files_never_break_the_reader)
{
    static const char whole[] = "agents: 6\nnu: 0.5\noutput: [a, 'b', \"c\"]\nquiet: yes\n";
    static const char strange[] = "\0\n\t:-[]{}'\"&*!|>?%@#,\xff\xc3 ";
    saddle_plan plan = build();
    char content[sizeof whole];
    for (size_t at = 0; at + 1 < sizeof whole; at++) {
        load_bytes(&plan, "run.yaml", whole, at);
        for (size_t k = 0; k + 1 < sizeof strange; k++) {
            memcpy(content, whole, sizeof whole);
            content[at] = strange[k];
            memset(&error, 0, sizeof error);
            saddle_status status = load_bytes(&plan, "run.yaml", content, sizeof whole - 1);
            ck_assert(status == SADDLE_OK || status == SADDLE_BAD_INPUT);
            ck_assert((status == SADDLE_OK) == (error.message[0] == '\0'));
            ck_assert_ptr_null(strchr(error.message, '\n'));
        }
    }
    saddle_plan_free(&plan);
}

TEST(options_can_be_added_all_or_none)
{
    static const saddle_option extra = SADDLE_INTEGER(.home = SADDLE_HOME_NONE, "extra", "Own", "3",
                                                      0.0, 9.0, "N", "A program's own.");
    static const saddle_option clash =
        SADDLE_TEXT(.home = SADDLE_HOME_NONE, "seed", "Own", "", "N", "Declared before.");
    static const saddle_option *const good[] = {&extra, &seed, NULL};
    static const saddle_option *const bad[] = {&extra, &clash, NULL};
    saddle_plan plan = build();
    size_t before = saddle_plan_option_count(&plan);
    ck_assert_int_eq(saddle_plan_set(&plan, "agents", "8", &error), SADDLE_OK);
    ck_assert_int_eq(saddle_plan_add_options(&plan, bad, &error), SADDLE_CHECK_FAILED);
    ck_assert_ptr_nonnull(strstr(error.message, "option 'seed'"));
    ck_assert_uint_eq(saddle_plan_option_count(&plan), before);
    const char *text = text_of(&plan, "agents");
    ck_assert_int_eq(saddle_plan_add_options(&plan, good, &error), SADDLE_OK);
    /* Fields may point to texts, so these do not move. */
    ck_assert_ptr_eq(text_of(&plan, "agents"), text);
    ck_assert_uint_eq(saddle_plan_option_count(&plan), before + 1);
    ck_assert_ptr_eq(saddle_plan_option(&plan, before), &extra);
    ck_assert_uint_eq((uint64_t)saddle_plan_number(&plan, &extra), 3);
    ck_assert_uint_eq(values(&plan).agents, 8);
    ck_assert(saddle_plan_given(&plan, &agents));
    ck_assert_int_eq(saddle_plan_set(&plan, "extra", "10", &error), SADDLE_BAD_INPUT);
    saddle_plan_free(&plan);
}

TEST(clock_runs_forward_in_seconds)
{
    double before = saddle_clock_seconds();
    usleep(20000);
    double passed = saddle_clock_seconds() - before;
    ck_assert_msg(passed >= 0.02 && passed < 3600.0, "20 ms took %g s", passed);
}

/* A run replaces "auto" by the value that it uses; that does not count as given by the user. */
TEST(what_is_read_back_was_not_given)
{
    saddle_plan plan = build();
    fields all = values(&plan);
    all.eta = 1.0 / 3.0;
    all.nu = 0.25;
    assert_ok(saddle_plan_set(&plan, "nu", "0.5", &error), error);
    assert_ok(saddle_plan_record_own(&plan, step_table, &all, &error), error);
    ck_assert(values(&plan).eta == 1.0 / 3.0 && values(&plan).nu == 0.25);
    ck_assert_str_eq(text_of(&plan, "eta"), "0.3333333333333333");
    ck_assert(!saddle_plan_given(&plan, &eta));
    ck_assert(saddle_plan_given(&plan, &nu));
    all.cap = 3.0;
    assert_says(saddle_plan_record_own(&plan, step_table, &all, &error),
                "--cap: '3' is out of range; give a number of at most 2.5");
    saddle_plan_free(&plan);
}

/* User-defined tables: whatever is set is found in the field, and reads back as the same value. */
TEST(fields_round_trip)
{
    static const saddle_option pages =
        SADDLE_INTEGER(OWN(agents), "pages", "", "auto", 0.0, SADDLE_UNBOUNDED, "", "");
    static const saddle_option parts =
        SADDLE_INTEGER(OWN(seed), "parts", "", "auto", 1.0, 9.0, "", "");
    static const saddle_option *const table[] = {&pages,     &parts,  &nu,    &eta,    &cap,
                                                 &algorithm, &engine, &quiet, &output, NULL};
    static const saddle_option *const *tables[] = {table};
    static const fields sample[] = {
        {.nu = 0.1, .eta = NAN, .cap = NAN, .agents = UINT64_MAX},
        {.nu = 1.0 / 3.0,
         .eta = 1e-300,
         .cap = -0.1,
         .agents = 0,
         .seed = 9,
         .algorithm = 2,
         .engine = 1,
         .quiet = true,
         .output = "a b"},
        {.nu = 1.0, .eta = 0.5, .cap = 2.5, .agents = UINT64_MAX - 1, .seed = 1, .algorithm = 1},
    };
    saddle_plan plan;
    saddle_plan again;
    saddle_plan_defaults(&plan, sizeof plan);
    saddle_plan_defaults(&again, sizeof again);
    assert_ok(saddle_plan_list(&plan, tables, 1, &error), error);
    assert_ok(saddle_plan_list(&again, tables, 1, &error), error);
    for (size_t k = 0; k < 2 * (sizeof sample / sizeof *sample); k++) {
        const fields *in = &sample[k % (sizeof sample / sizeof *sample)];
        assert_ok(saddle_plan_record_own(&plan, table, in, &error), error);
        /* The texts determine everything. */
        for (size_t j = 0; table[j] != NULL; j++)
            assert_ok(
                saddle_plan_set(&again, table[j]->name, SADDLE_PLAN_TEXT(&plan, table[j]), &error),
                error);
        fields out = {.nu = 0.0};
        saddle_plan_read_own(&again, table, &out);
        ck_assert(out.nu == in->nu);
        ck_assert(isnan(in->eta) ? isnan(out.eta) : out.eta == in->eta);
        ck_assert(isnan(in->cap) ? isnan(out.cap) : out.cap == in->cap);
        ck_assert_uint_eq(out.agents, in->agents);
        ck_assert_uint_eq(out.seed, in->seed);
        ck_assert_int_eq(out.algorithm, in->algorithm);
        ck_assert_int_eq(out.engine, in->engine);
        ck_assert_int_eq(out.quiet, in->quiet);
        if (in->output == NULL)
            ck_assert_ptr_null(out.output);
        else
            ck_assert_str_eq(out.output, in->output);
    }
    fields wrong = sample[1];
    wrong.algorithm = 3;
    assert_says(saddle_plan_record_own(&plan, table, &wrong, &error),
                "--algorithm: choice number 3 is not one of precision|precision+|gda");
    wrong = sample[1];
    wrong.algorithm = -1;
    assert_says(saddle_plan_record_own(&plan, table, &wrong, &error),
                "--algorithm: choice number -1 is not one of precision|precision+|gda");
    wrong = sample[1];
    wrong.seed = 10;
    assert_says(
        saddle_plan_record_own(&plan, table, &wrong, &error),
        "--parts: '10' is out of range; give a whole number of at least 1 and at most 9, or auto");
    wrong = sample[1];
    wrong.nu = (double)NAN;
    assert_refused(saddle_plan_record_own(&plan, table, &wrong, &error), error, SADDLE_BAD_INPUT,
                   "--nu: 'nan' is not a number");
    saddle_plan_free(&again);
    saddle_plan_free(&plan);
}

/* Available memory changes while other programs run: a share is compared with measurements before and
 * after it, and measured again if these differ much. */
TEST(processes_share_the_memory)
{
    double before;
    double shared;
    double after;
    do {
        before = saddle_available_bytes(1);
        shared = saddle_available_bytes(4);
        after = saddle_available_bytes(1);
        ck_assert(before > 0.0 && after > 0.0);
    } while (isfinite(before) && !(fabs(after - before) < 0.1 * before));
    ck_assert(isinf(before) || (4.0 * shared > 0.8 * before && 4.0 * shared < 1.2 * before));
}
