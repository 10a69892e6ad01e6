#!/usr/bin/env bash
# Problems, algorithms, sets and regularizers from shared objects: their inputs, that they run, and all errors.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

preload moments

# One source for all objects; WRONG selects the error. It links nothing.
cat >plugin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <saddle/plugin.h>
enum { RIGHT, FAILS, SILENT, AGENTS, HALF };
static double sum[64];
static size_t samples[64];

/* f_ij = 1/2 (x - b_ij)^2 + x y - y^2 / 2, with b_ij = 1, or the labels. */
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const saddle_dataset *const *shard = p->self;
    double mean = 0.0;
    (void)scratch;
    for (size_t k = 0; k < batch->count; k++)
        mean += shard != NULL ? shard[agent]->label[batch->index ? batch->index[k] : k] : 1.0;
    gx[0] = x[0] - mean / (double)batch->count + y[0];
    gy[0] = x[0] - y[0];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)p;
    (void)scratch;
    return 0.5 * (x[0] * x[0] + 1.0) - x[0] * sum[agent] / (double)samples[agent] + x[0] * y[0] -
           0.5 * y[0] * y[0];
}
static void release(saddle_problem *p)
{
    (void)p;
    fputs("destroyed\n", stderr);
}
__attribute__((destructor)) static void unloaded(void)
{
    fputs("unloaded\n", stderr);
}
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_problem *problem = made;
    if (WRONG == FAILS)
        snprintf(error->message, sizeof error->message, "the options '%s' are not mine",
                 inputs->argument);
    if (WRONG == FAILS || WRONG == SILENT)
        return SADDLE_BAD_INPUT;
    for (size_t i = 0; i < inputs->agents && i < 64; i++) {
        samples[i] = inputs->shard != NULL ? inputs->shard[i]->rows : 10;
        sum[i] = inputs->shard != NULL ? 0.0 : 10.0;
        for (size_t j = 0; inputs->shard != NULL && j < samples[i]; j++)
            sum[i] += inputs->shard[i]->label[j];
    }
    problem->self = (void *)inputs->shard;
    problem->samples = samples;
    problem->agents += WRONG == AGENTS;
    if (WRONG == HALF)
        problem->value = NULL;
    return SADDLE_OK;
}
#ifndef ABI
#define ABI SADDLE_ABI
#endif
#ifndef NAME
#define NAME "tested"
#endif
#ifndef INIT
#define INIT init
#endif
#ifndef SIZE
#define SIZE sizeof(saddle_problem)
#endif
#ifndef DATA
#define DATA 0
#endif
static const saddle_problem_class tested = {
    .needs_data = DATA, .name = NAME, .size = SIZE, .init = INIT,
    .common = {.x_dim = 1, .y_dim = 1, .gradient = gradient, .value = value, .release = release}};
#ifndef PROBLEM
#define PROBLEM &tested
#endif
const saddle_plugin_table saddle_plugin = {.abi = ABI, .problem = PROBLEM};
END

# build FILE FLAGS...
build() {
    local file=$1
    shift
    check "builds $file" "$compiler" -std=c17 -shared -fPIC -DWRONG=RIGHT -I"$here/../../include" \
        "$@" plugin.c -o "$file" -Wno-unused-function
}

# ---- a valid one ------------------------------------------------------------------------------

build libright.so
try check-grad --problem ./libright.so
check "its gradients are checked" exits 0
check "under its own name" says "Gradients of tested"
try run --problem ./libright.so:anything --tolerance 1e-6 --trace right.csv
check "it runs" exits 0
check "to the end" says "gap <= 1e-06"
check "under its own name" says "tested: x in R^1, y in R^1"
check "the trace repeats what was asked for" grep -q 'problem: *"\?\./libright.so:anything' right.csv
check "destroyed, then unloaded" is "$(cat err)" $'destroyed\nunloaded'
for algorithm in gda prox-gt-sgda; do
    try run --problem ./libright.so --algorithm "$algorithm" --iterations 5
    check "$algorithm runs on it" exits 0
done
try compare --problem ./libright.so --algorithms precision,prox-dsgda --iterations 20 --output both
check "compared on it" exits 0
try run --problem ./libright.so --lambda1 2 --partition iid --iterations 1
check "options of other problems are reported as unused" warns "--lambda1: not used by problem tested"
check "options of data are reported as unused" warns "--partition: not used by problem tested"
try run --problem "$PWD/libright.so" --iterations 1
check "absolute paths" exits 0

# ---- one with data ----------------------------------------------------------------------------

build libdata.so -DDATA=1
try run --problem ./libdata.so "${tiny[@]}" --tolerance 1e-10
check "it gets its data" exits 0
check "the header says which" says "synthetic:300, 200 samples, 40 per agent"
try check-grad --problem ./libdata.so "${tiny[@]}"
check "gradients on data" exits 0

# ---- refusals ---------------------------------------------------------------------------------

# Like refuse; the objects print "unloaded" when they are unloaded.
refuse_object() {
    local text=$1
    shift
    try "$@"
    grep -vE '^(destroyed|unloaded)$' err >line
    mv line err
    check "refuses: $*" exits 2
    check "one line for: $*" one_line
    check "message of: $* (wanted: $text)" warns "$text"
    [ $# -gt 3 ] || check "path named for: $*" warns "'${3%%:*}'"
}
refuse "'./none.so': No such file" run --problem ./none.so
refuse "'$work' is not a regular file" run --problem "$work"
refuse "give a path such as ./libright.so" run --problem libright.so
refuse "give a path such as ./libright.so:a/b" run --problem libright.so:a/b
refuse "there is no problem 'libright'" run --problem libright
refuse "'./plugin.c' cannot be loaded" run --problem ./plugin.c
refuse_object "problem tested generates its own samples" run --problem ./libright.so --data synthetic
refuse "is also the file of --problem" run --problem ./libright.so --trace ./libright.so

# No file can cause a plug-in to run: neither a configuration nor a checkpoint. (Models: test_predict.sh.) A loaded
# plug-in prints a line when it is unloaded.
printf 'problem: ./libright.so\n' >named.yaml
try run --config named.yaml --iterations 1
check "a configuration's plug-in is refused" exits 2
check "with the remedy" one_line
check "in words" warns "named.yaml:1:10: problem: './libright.so' is a plug-in, and plug-ins named in a file are not loaded; if you trust it, give ./libright.so as --problem"
try run --config named.yaml --problem ./libright.so --iterations 1
check "runs if the plug-in is also named" exits 0
try run --problem ./libright.so --iterations 5 --checkpoint kept --quiet
check "a run with checkpoints" exits 0
try run --resume kept --iterations 9
check "a checkpoint's plug-in is refused" exits 2
check "with its remedy" one_line
check "in words, too" warns "is of a run with the plug-in ./libright.so, and plug-ins are not loaded because a file names them; if you trust it, give ./libright.so as --problem"
try checkpoint kept
check "showing it loads nothing" silent
check "but names it" says "--problem ./libright.so"
try run --resume kept --problem ./libright.so --iterations 9 --quiet
check "resumes if the plug-in is named" exits 0
at_moment MOMENT_CLOCK=300 MOMENT_SIGNAL=15 -- run --problem ./libright.so --iterations 1e9 --checkpoint cut --quiet
check "interrupted" exits 130
check "how to go on names it" warns "\`saddle run --problem ./libright.so --resume cut\` continues"
mkfifo pipe
refuse "'./pipe' is not a regular file" run --problem ./pipe
if [ "$(id -u)" -ne 0 ]; then
    cp libright.so closed.so && chmod 0 closed.so
    refuse "'./closed.so': Permission denied" run --problem ./closed.so
fi

printf 'int other;\n' >other.c
"$compiler" -shared -fPIC other.c -o other.so
refuse "exports no symbol saddle_plugin" run --problem ./other.so
printf 'int missing(void);\nint other(void) { return missing(); }\n' >other.c
"$compiler" -shared -fPIC other.c -o lacking.so
refuse "undefined symbol: missing" run --problem ./lacking.so

build libabi0.so -DABI=0
refuse_object "has no ABI number; set .abi = SADDLE_ABI" run --problem ./libabi0.so
build libabi99.so -DABI=99
refuse_object "was built for ABI 99" run --problem ./libabi99.so
build libnoinit.so -DINIT=NULL
refuse_object "has no init function" run --problem ./libnoinit.so
build libsmall.so -DSIZE=8
refuse_object "has no size of a struct that begins with saddle_problem" run --problem ./libsmall.so
build libempty.so -DPROBLEM=NULL
refuse_object "is empty; set .problem, .algorithm, .set or .regularizer" run --problem ./libempty.so
build libnoname.so -DNAME=NULL
refuse_object "has no name" run --problem ./libnoname.so
build libfails.so -UWRONG -DWRONG=FAILS
refuse_object "the options 'a:b/c' are not mine" run --problem ./libfails.so:a:b/c
build libsilent.so -UWRONG -DWRONG=SILENT
refuse_object "gave no reason" run --problem ./libsilent.so
build libagents.so -UWRONG -DWRONG=AGENTS
refuse_object "problem tested is for 6 agents, but there are 5" run --problem ./libagents.so
build libhalf.so -UWRONG -DWRONG=HALF
try run --problem ./libhalf.so
check "half a problem is refused" exits 2
check "half a problem is named" warns "problem tested has no value function"


# ---- algorithms, sets and regularizers --------------------------------------------------------

# An object with an algorithm that descends and ascends local gradients at the mean over neighbours, a half space a'x
# <= b with a = (1, ..., 1), and h = w |x|_2^2 / 2 + c |x|_1, given by weights or by its prox.
cat >parts.c <<'END'
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <saddle/plugin.h>
typedef struct walk { double step; const char *label; uint64_t laps; } walk;
static const saddle_option step =
    SADDLE_REAL_ABOVE(SADDLE_OWN(walk, step, RUN), "step", "Walk", "0.05", 0.0, 1.0, "S", "Step.");
static const saddle_option label = SADDLE_TEXT(SADDLE_OWN(walk, label, RUN), "label", "Walk", "", "T",
                                               "A text that is kept.");
static const saddle_option laps =
    SADDLE_INTEGER(SADDLE_OWN(walk, laps, RUN), "laps", "Walk", "auto", 1, 9, "N", "A number.");
static const saddle_option *const walk_options[] = {&step, &label, &laps, NULL};
static saddle_status init(void *parameters, saddle_configuration *c, saddle_error *error)
{
    walk *w = parameters;
    (void)c;
    if (w->laps == 9) {
        strcpy(error->message, "nine laps are too many");
        return SADDLE_BAD_INPUT;
    }
    if (w->label != NULL && strcmp(w->label, "kept") != 0)
        abort();
    return SADDLE_OK;
}
static void layout(const void *parameters, const saddle_problem *p, saddle_layout *out)
{
    (void)parameters;
    out->rounds = 1;
    out->published = p->x_dim + p->y_dim;
    out->work = p->x_dim + p->y_dim;
}
static void start(saddle_agent *a, const double *x0, const double *y0)
{
    memcpy(a->next, x0, a->problem->x_dim * sizeof *x0);
    memcpy(a->next + a->problem->x_dim, y0, a->problem->y_dim * sizeof *y0);
}
static void ask(saddle_agent *a)
{
    size_t n = a->problem->x_dim;
    a->request = (saddle_request){.kind = SADDLE_REQUEST_GRADIENT,
                                  .batch = {.count = a->problem->samples[a->id]},
                                  .x = a->now, .y = a->now + n, .gx = a->work, .gy = a->work + n};
}
static void move(saddle_agent *a)
{
    const walk *w = a->parameters;
    size_t n = a->problem->x_dim;
    for (size_t k = 0; k < n + a->problem->y_dim; k++) {
        double sum = a->self_weight * a->now[k];
        for (size_t j = 0; j < a->degree; j++)
            sum += a->weight[j] * a->neighbour[j][k];
        a->next[k] = sum + (k < n ? -w->step : w->step) * a->work[k];
    }
}
static void view(const saddle_agent *a, saddle_view *out)
{
    *out = (saddle_view){.x = a->now, .y = a->now + a->problem->x_dim};
}
static const saddle_phase phases[] = {
    {"ask", .before = ask}, {"move", .before = move}, {.name = NULL}};
#ifndef VIEW
#define VIEW view
#endif
static const saddle_algorithm algorithm = {.name = "walk", .title = "Walker",
                                           .options = walk_options,
                                           .size = sizeof(walk), .init = init,
                                           .layout = layout, .start = start, .phases = phases,
                                           .view = VIEW};

typedef struct half_space { saddle_set base; double b; } half_space;
static const saddle_option offset =
    SADDLE_REAL(SADDLE_OWN(half_space, b, INSTANCE), "b", "Half space", "1", -SADDLE_UNBOUNDED,
                SADDLE_UNBOUNDED, "B", "Sum of the entries at most.");
static const saddle_option *const half_options[] = {&offset, NULL};
static void project(const saddle_set *set, double *v, double *scratch)
{
    double sum = 0.0;
    (void)scratch;
    for (size_t k = 0; k < set->term.dimension; k++)
        sum += v[k];
    double over = sum - ((const half_space *)set)->b;
    for (size_t k = 0; k < set->term.dimension && !(over <= 0.0); k++)
        v[k] -= over / (double)set->term.dimension;
}
#ifndef PROJECT
#define PROJECT project
#endif
static const saddle_set_class set = {
    .term = {.name = "half-space", .options = half_options, .size = sizeof(half_space)},
    .project = PROJECT};

typedef struct net { saddle_regularizer base; double w, c; } net;
static saddle_status init_net(void *h, saddle_error *error)
{
    char *end;
    net *self = h;
    self->w = strtod(self->base.term.argument, &end);
    self->c = *end == ':' ? strtod(end + 1, &end) : -1.0;
    if (self->c >= 0.0 && *end == 0)
        return SADDLE_OK;
    strcpy(error->message, "give W:C");
    return SADDLE_BAD_INPUT;
}
static double h_value(const saddle_regularizer *h, const double *v)
{
    const net *self = (const net *)h;
    double sum = 0.0;
    for (size_t k = 0; k < h->term.dimension; k++)
        sum += 0.5 * self->w * v[k] * v[k] + self->c * fabs(v[k]);
    return sum;
}
#ifdef SHRINK
static void shrink(const saddle_regularizer *h, double t, double *v)
{
    const net *self = (const net *)h;
    for (size_t k = 0; k < h->term.dimension; k++) {
        double cut = v[k] > t * self->c ? t * self->c : v[k] < -t * self->c ? -t * self->c : v[k];
        v[k] = (v[k] - cut) / (1.0 + t * self->w);
    }
}
#else
static saddle_weights weights(const saddle_regularizer *h)
{
    const net *self = (const net *)h;
    return (saddle_weights){.l1 = self->c, .l2 = self->w};
}
#endif
static const saddle_regularizer_class regularizer = {.term = {.name = "net", .size = sizeof(net),
                                                              .init = init_net},
                                                     .value = h_value,
#ifdef SHRINK
                                                     .shrink = shrink};
#else
                                                     .weights = weights};
#endif
#ifdef REBUILT
__attribute__((used)) static int rebuilt = 1;
#endif
#ifdef FEW
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .set = &set};
#else
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .algorithm = &algorithm,
                                           .set = &set, .regularizer = &regularizer};
#endif
END
parts() {
    local file=$1
    shift
    check "builds $file" "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" "$@" parts.c \
        -o "$file" -lm
}
parts parts.so
quadratic=(run --problem quadratic --iterations 40 --trace-every 10 --quiet)
other_trace() { ! same_trace "$1" "$2" && [ -s "$1" ] && [ -s "$2" ]; }

try algorithms ./parts.so
check "an object says what it has" exits 0
check "its algorithm" says "walk: a plug-in"
check "its options" says "--step S"
check "its set" says "half-space: a plug-in"
check "its regularizer" says "net: a plug-in"
check "the option of its set" says "--b B"
try sets ./parts.so
check "sets say the same" says "net: a plug-in"

try "${quadratic[@]}" --algorithm ./parts.so --trace walk.csv --model walk.npz
check "an algorithm runs" exits 0
check "the trace says which" grep -q 'algorithm: *"\?\./parts.so' walk.csv
try "${quadratic[@]}" --algorithm ./parts.so:step=0.05,label=kept,laps=auto --trace said.csv
check "its defaults can be given" same_trace walk.csv said.csv
try "${quadratic[@]}" --algorithm ./parts.so:step=0.02 --trace other.csv
check "other values take effect" other_trace walk.csv other.csv
try "${quadratic[@]}" --algorithm ./parts.so --threads 3 --trace threads.csv
check "threads do not matter" same_trace walk.csv threads.csv
refuse "the plug-in './parts.so': step: '0' is out of range" "${quadratic[@]}" --algorithm ./parts.so:step=0

# A plug-in's own options are options like any other: before or after its name, in a file, in the help.
for given in "--step 0.02 --algorithm ./parts.so" "--algorithm=./parts.so --step=0.02" "--algorithm ./parts.so:step=0.02 --step 0.9"; do
    # shellcheck disable=SC2086
    try "${quadratic[@]}" $given --trace named.csv
    check "by name: $given" exits 0
    check "takes effect: $given" same_trace other.csv named.csv
    check "is recorded: $given" grep -q '^# algorithm: ./parts.so:step=0.02,laps=auto$' named.csv
done
check "which of two values is used" warns "--step: not used, because './parts.so:step=0.02' gives it, too"
check "the title has only options in the text" grep -q '^# title: Walker, step 0.02$' named.csv
check "each is a setting of its own" grep -q '^# step: 0.02$' named.csv
try run --problem quadratic --iterations 1 --algorithm ./parts.so --step 0.02
check "the header has them" says "walk: step 0.02, laps auto"
try run --problem quadratic --iterations 1 --algorithm ./parts.so:step=0.02
check "also those of the text" says "walk-step=0.02: step 0.02, laps auto"
# Runs that differ in an own option are different curves, named by it.
for step in 0.02 0.03; do
    try "${quadratic[@]}" --algorithm ./parts.so --step "$step" --trace "step-$step.csv"
done
try "${quadratic[@]}" --algorithm ./parts.so --step 0.03 --seed 2 --trace step-seed2.csv
try plot step-*.csv --output steps.svg
for label in 'Walker, step 0.02<' 'Walker, step 0.03<'; do
    check "a curve is called $label" grep -q "$label" steps.svg
done
try report step-*.csv --output steps.html
check "the report lists the values" grep -q '</span> step</th><td>0.02</td><td>0.03</td>' steps.html
printf 'step: 0.02\n' >step.yaml
try "${quadratic[@]}" --config step.yaml --algorithm ./parts.so --trace named.csv
check "from a file" same_trace other.csv named.csv
try "${quadratic[@]}" --config step.yaml --algorithm ./parts.so --step 0.05 --trace named.csv
check "which the command line overrides" same_trace walk.csv named.csv
refuse "--step: '0' is out of range; give a number above 0 and at most 1" "${quadratic[@]}" --algorithm ./parts.so --step 0
refuse "--step needs a value: --step S" "${quadratic[@]}" --algorithm ./parts.so --step
refuse "saddle run has no option --stap; did you mean --step?" "${quadratic[@]}" --algorithm ./parts.so --stap 1
refuse "saddle run has no option --step;" "${quadratic[@]}" --step 1
refuse "saddle run has no option --b;" "${quadratic[@]}" --algorithm ./parts.so --b 1
refuse "--algorithm: cannot read the plug-in './none.so'" "${quadratic[@]}" --step 1 --algorithm ./none.so
refuse "--label: 'a,b' has a comma" "${quadratic[@]}" --algorithm ./parts.so --label a,b
printf 'step: 2\n' >far.yaml
refuse "far.yaml:1:7: step: '2' is out of range" "${quadratic[@]}" --config far.yaml --algorithm ./parts.so
refuse "step.yaml:1:1: unknown option 'step'" "${quadratic[@]}" --config step.yaml
try run --help --algorithm ./parts.so
check "the help has its options" says "Options of algorithm walk:"
check "each of them" says "--laps N"
try compare --problem quadratic --iterations 40 --algorithms gda,./parts.so --trace-every 10 --step 0.02 --output stepped
check "compared with a value" exits 0
check "that it uses" same_trace other.csv stepped/walk-seed1.csv
try run --problem quadratic --iterations 20 --algorithm ./parts.so --step 0.02 --checkpoint stepping --quiet
refuse "give ./parts.so as --algorithm" run --resume stepping --iterations 30
try checkpoint stepping
check "a checkpoint shows them" says "--algorithm ./parts.so:step=0.02"
try run --resume stepping --algorithm ./parts.so --step 0.02 --iterations 30 --quiet
check "resumed with the same value" exits 0
try run --resume stepping --algorithm ./parts.so --iterations 35 --quiet --trace stepping.csv
check "resumed without it" exits 0
check "it has the checkpoint's value" grep -q '^# step: 0.02$' stepping.csv
try run --problem quadratic --iterations 20 --algorithm ./parts.so:step=0.02 --checkpoint titled --quiet
try run --resume titled --algorithm ./parts.so --iterations 30 --quiet --trace titled.csv
check "also one of the text" exits 0
check "in the text" grep -q '^# title: Walker, step 0.02$' titled.csv
try run --problem quadratic --iterations 20 --x-set ./parts.so --b -3 --checkpoint bounded --quiet
try run --resume bounded --x-set ./parts.so --iterations 30 --quiet --trace bounded.csv
check "and that of a set" grep -q '^# x-set: ./parts.so:b=-3$' bounded.csv
refuse "x-set: './parts.so:b=-2' is not what the run of the checkpoint" \
    run --resume bounded --x-set ./parts.so --b -2 --iterations 40 --trace bounded.csv
refuse "algorithm: './parts.so:step=0.03,laps=auto' is not what the run of the checkpoint" \
    run --resume stepping --algorithm ./parts.so --step 0.03 --iterations 40 --trace stepping.csv
refuse "there is no option 'steps'; the options are: step, label, laps" "${quadratic[@]}" --algorithm ./parts.so:steps=1
refuse "'step' is not of the form name=value" "${quadratic[@]}" --algorithm ./parts.so:step
refuse "the plug-in './parts.so': nine laps are too many" "${quadratic[@]}" --algorithm ./parts.so:laps=9
refuse "give a path such as ./parts.so" "${quadratic[@]}" --algorithm parts.so
refuse "does not support a constraint on x" "${quadratic[@]}" --algorithm ./parts.so --x-set nonneg
try compare --problem quadratic --iterations 20 --algorithms precision,./parts.so:step=0.02,label=kept,prox-dsgda --output both2
check "compared with others" exits 0
check "under its own name" test -s both2/walk-step=0.02-label=kept-seed1.csv
try run --problem quadratic --iterations 20 --algorithm ./parts.so:step=0.02 --trace alone.csv --quiet
check "with its options" same_trace both2/walk-step=0.02-label=kept-seed1.csv alone.csv

# Variants of one plug-in are distinguished in files, tables, curves and the summary.
try compare --problem quadratic --iterations 20 --algorithms ./parts.so,./parts.so:step=0.1,./parts.so:step=0.02,laps=3 --output variants
check "variants of one plug-in" exits 0
check "their files" is "$(cd variants && echo *)" "summary.csv walk-seed1.csv walk-step=0.02-laps=3-seed1.csv walk-step=0.1-seed1.csv"
check "their rows" says "walk-step=0.02-laps=3 "
check "their costs" is "$(cut -d, -f1 variants/summary.csv | sort -u | tr '\n' ' ')" "algorithm walk walk-step=0.02-laps=3 walk-step=0.1 "
try plot variants/walk*.csv --output variants.svg
for label in 'Walker<' 'Walker, step 0.1<' 'Walker, step 0.02, laps 3<'; do
    check "a curve is called $label" grep -q "$label" variants.svg
done
refuse "'walk-step=0.1' is named twice" compare --problem quadratic --algorithms ./parts.so:step=0.1,./parts.so:step=0.1 --output never
check "the trace has the values of all options" grep -q '^# algorithm: ./parts.so:step=0.05,laps=auto$' variants/walk-seed1.csv
check "and the title" grep -q '^# title: Walker$' variants/walk-seed1.csv
cp parts.so same.so
try "${quadratic[@]}" --algorithm ./same.so --trace twin.csv
try plot walk.csv twin.csv --output twins.svg
check "two objects of one title" grep -q 'Walker (same.so)' twins.svg

# A half space against a run of the same problem with built-in sets: with b so large that the constraint is inactive,
# and with equivalent regularizers. The gap's search knows more of the built-in ones.
try "${quadratic[@]}" --algorithm precision --x-set ./parts.so:b=1e9 --gap never --trace wide.csv
check "a set runs" exits 0
try "${quadratic[@]}" --algorithm precision --gap never --trace free.csv
check "one that holds nothing back changes nothing" same_trace wide.csv free.csv
try "${quadratic[@]}" --x-set ./parts.so:b=-3 --y-set blocks:2*./parts.so:b=0,*none --trace tight.csv
check "in blocks, too" exits 0
check "one that does changes much" other_trace tight.csv free.csv
try "${quadratic[@]}" --x-set ./parts.so:b=-3 --trace tight.csv
try "${quadratic[@]}" --b -3 --x-set ./parts.so --trace named.csv
check "a set's option by name" same_trace tight.csv named.csv
try "${quadratic[@]}" --algorithm precision --regularizer elastic-net:0.1:0.5 --gap never --trace ours.csv
try "${quadratic[@]}" --algorithm precision --regularizer ./parts.so:0.5:0.1 --gap never --trace theirs.csv
check "a regularizer by its weights is the built-in one" same_trace ours.csv theirs.csv
parts shrink.so -DSHRINK
try "${quadratic[@]}" --algorithm precision --regularizer ./shrink.so:0.5:0.1 --gap never --trace theirs.csv
check "and by its prox" same_trace ours.csv theirs.csv
refuse "the plug-in './parts.so': give W:C" "${quadratic[@]}" --regularizer ./parts.so:0.5
refuse "the plug-in './parts.so': b: 'x' is not a number" "${quadratic[@]}" --x-set ./parts.so:b=x
try "${quadratic[@]}" --x-set ./parts.so --regularizer l1:0.1
check "no rule, no pair" exits 2
check "a set without a rule is refused with l1" warns "--regularizer: no exact joint prox of 'l1:0.1' and the set './parts.so' is known; set --x-set to none or"
try "${quadratic[@]}" --x-set nonneg --regularizer ./shrink.so:0.5:0.1
check "a prox without a rule is refused with a set" warns "--regularizer: no exact joint prox of './shrink.so:0.5:0.1' and the set 'nonneg' is known; set --x-set to none, or choose another regularizer, or give its class a rule()"

parts few.so -DFEW
refuse "the plug-in './few.so' has no algorithm" "${quadratic[@]}" --algorithm ./few.so
refuse "the plug-in './few.so' has no regularizer" "${quadratic[@]}" --regularizer ./few.so
refuse "the plug-in './few.so' has no problem" run --problem ./few.so
refuse_object "the plug-in './libright.so' has no set" "${quadratic[@]}" --x-set ./libright.so
parts blind.so -DVIEW=NULL -Wno-unused-function
refuse "the algorithm './blind.so' has no view function; set it" "${quadratic[@]}" --algorithm ./blind.so
parts flat.so -DPROJECT=NULL -Wno-unused-function
refuse "the set './flat.so' has no project function; set it" "${quadratic[@]}" --y-set ./flat.so

# Options that are declared wrongly are refused when the object is loaded.
cat >declared.c <<'END'
#include <saddle/plugin.h>
typedef struct own { double a; int c; } own;
static const saddle_option first = SADDLE_REAL(SADDLE_OWN(own, a, RUN), "a", "Own", "1", 0, 2, "A", "A number.");
static const saddle_option second = OPTION;
static const saddle_option *const options[] = {&first, &second, NULL};
static const saddle_set_class set = {.term = {.name = "odd", .options = options}};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .set = &set};
END
while IFS='|' read -r message declaration; do
    "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" -DOPTION="$declaration" declared.c -o declared.so ||
        check "builds: $declaration" false
    refuse "the plug-in './declared.so': $message" "${quadratic[@]}" --y-set ./declared.so
    try run --problem quadratic --y-set ./declared.so --help-all
    check "help does not crash: $declaration" [ "$code" -lt 3 ]
done <<'END'
an option '' lacks a name or a default|SADDLE_REAL(SADDLE_OWN(own, a, RUN), 0, "Own", "1", 0, 2, "A", "A number.")
an option '' lacks a name or a default|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "", "Own", "1", 0, 2, "A", "A number.")
an option 'b' lacks a name or a default|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "b", "Own", 0, 0, 2, "A", "A number.")
option 'b=c': a name is made from letters, digits|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "b=c", "Own", "1", 0, 2, "A", "A.")
option 'a' is declared twice; give each its own name|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "a", "Own", "1", 0, 2, "A", "A.")
the default of option 'b': it is of an unknown kind|{.name = "b", .group = "Own", .kind = 77, .fallback = "1", SADDLE_OWN(own, a, RUN)}
the default of option 'b': its choices are not a list|SADDLE_CHOICE(SADDLE_OWN(own, c, RUN), "b", "Own", "x", 0, "C", "A choice.")
the default of option 'b': '3' is out of range|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "b", "Own", "3", 0, 2, "A", "A number.")
the default of option 'b': 'abc' is not a number|SADDLE_REAL(SADDLE_OWN(own, a, RUN), "b", "Own", "abc", 0, 2, "A", "A.")
END

# A plug-in is an input wherever it is named: alone, in blocks, in a list of algorithms.
keeps_object() { # TEXT ARGUMENTS...
    local before
    before=$(sha256sum <parts.so)
    refuse "$@"
    check "the object stays: ${*:2}" is "$(sha256sum <parts.so)" "$before"
}
keeps_object "is also the file of --x-set" "${quadratic[@]}" --x-set ./parts.so --trace ./parts.so
for blocks in 'blocks:2*./parts.so:b=3,*none' 'blocks:2*none,*./parts.so'; do
    for output in --trace --model --report; do
        keeps_object "$output: 'parts.so' is also the file of --y-set" "${quadratic[@]}" --y-set "$blocks" \
            "$output" parts.so
    done
done
# Its options may name files: PATH:name=value.
echo rows >rows
for output in --trace --model --report; do
    refuse "$output: 'rows' is also the file of --algorithm" "${quadratic[@]}" --algorithm ./parts.so:laps=2,table=rows \
        "$output" rows
done
refuse "--report: 'rows' is also the file of --algorithms" compare --problem quadratic --iterations 3 \
    --algorithms gda,./parts.so:table=./rows,sgda --output unnamed --report rows
check "such a file stays" is "$(cat rows)" rows
mkdir named
ln parts.so named/gda-seed1.csv
ln parts.so named/summary.csv
ln parts.so named/gda.yaml
for list in ./parts.so gda,./parts.so ./parts.so,gda gda,./parts.so:step=0.02,label=kept; do
    keeps_object "--report: 'parts.so' is also the file of --algorithms" compare --problem quadratic --iterations 3 \
        --algorithms "$list" --output unnamed --report parts.so
    rm -rf unnamed
    keeps_object "--output: 'named/" compare --problem quadratic --iterations 3 --algorithms "$list" \
        --output named --overwrite
done
keeps_object "--output: 'named/gda.yaml' is also the file of --algorithms" tune --problem quadratic --budget 60000 \
    --algorithms gda,./named/gda.yaml --output named

# No file can cause them to run either.
for option in algorithm x-set y-set regularizer; do
    printf '%s: ./parts.so\n' "$option" >named.yaml
    refuse "$option: './parts.so' is a plug-in, and plug-ins named in a file are not loaded" \
        "${quadratic[@]}" --config named.yaml
done
printf 'algorithms: ./parts.so\n' >named.yaml
refuse "algorithms: './parts.so' is a plug-in" compare --problem quadratic --config named.yaml --output never
try "${quadratic[@]}" --algorithm ./parts.so --x-set none --checkpoint walked
check "checkpoints of a plug-in's run" exits 0
refuse "algorithm: 'walked/" run --resume walked --iterations 60
try run --resume walked --algorithm ./parts.so --iterations 60 --trace resumed.csv --quiet
check "resumes if it is named" exits 0
try run --problem quadratic --iterations 60 --trace-every 10 --quiet --algorithm ./parts.so --trace straight.csv
check "to the same bits" same_trace resumed.csv straight.csv
# A checkpoint depends on the contents of the object and the values of its options, not on the spelling of the path.
try run --resume walked --algorithm "$PWD/parts.so:step=0.05" --iterations 65 --trace resumed.csv --quiet
check "by another path, with its defaults given" exits 0
refuse "algorithm: './parts.so:step=0.06,laps=auto' is not what the run of the checkpoint 'walked/" \
    run --resume walked --algorithm ./parts.so:step=0.06 --iterations 70 --trace resumed.csv
parts rebuilt.so -DREBUILT
refuse "algorithm: './rebuilt.so:step=0.05,laps=auto' is not what the run of the checkpoint" \
    run --resume walked --algorithm ./rebuilt.so --iterations 70 --trace resumed.csv
try "${quadratic[@]}" --y-set blocks:2*./parts.so:b=0,*none --checkpoint blocks
try run --resume blocks --y-set "blocks:2*$PWD/parts.so:b=0,*none" --iterations 50 --quiet
check "in blocks, too" exits 0
refuse "y-set: 'blocks:2*./rebuilt.so:b=0,*none' is not what the run of the checkpoint" \
    run --resume blocks --y-set "blocks:2*./rebuilt.so:b=0,*none" --iterations 60

# The contents of files that its options name count as well, and so do those of the object itself.
cat >tabled.c <<'END'
#include <stddef.h>
#define saddle_plugin other_plugin
#include BASE
#undef saddle_plugin
typedef struct tabled { OWNER owner; const char *table; } tabled;
static const saddle_option table = {.name = "table", .group = "Table", .kind = SADDLE_OPTION_TEXT, .fallback = "",
                                    .metavar = "FILE", .help = "A file.", OWN(tabled, table),
                                    .files = SADDLE_FILES_INPUT};
static const saddle_option *const table_options[] = {&table, NULL};
#ifdef WRONG
static const saddle_problem_class with_table = {
    .needs_data = true, .name = "tabled", .size = sizeof(saddle_problem), .init = init, .options = table_options,
    .options_size = sizeof(tabled),
    .common = {.x_dim = 1, .y_dim = 1, .gradient = gradient, .value = value, .release = release}};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &with_table};
#else
static saddle_status begin(void *parameters, saddle_configuration *c, saddle_error *error)
{
    (void)c;
    (void)error;
    ((tabled *)parameters)->owner.step = 0.05;
    return SADDLE_OK;
}
static const saddle_algorithm with_table = {.name = "tabled", .options = table_options, .size = sizeof(tabled),
                                            .init = begin, .layout = layout, .start = start,
                                            .phases = phases, .view = view};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .algorithm = &with_table};
#endif
END
tabled() {
    check "builds $1" "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" "${@:2}" tabled.c -o "$1" -lm \
        -Wno-unused
}
tabled walks.so '-DBASE="parts.c"' -DOWNER=walk "-DOWN(type, field)=SADDLE_OWN(type, field, RUN)"
tabled rows.so '-DBASE="plugin.c"' -DOWNER=saddle_problem "-DOWN(type, field)=SADDLE_OWN(type, field, INSTANCE)" -DWRONG=RIGHT
changed="a plug-in's files"
for own in "--problem quadratic --algorithm ./walks.so" "--problem ./rows.so --algorithm gda ${tiny[*]}" \
    "--problem quadratic --algorithm ./walks.so:table=table"; do
    read -ra run <<<"$own"
    list=("${run[@]/--algorithm/--algorithms}")
    [[ $own == *table* ]] || run+=(--table table) list+=(--table table)
    rm -rf kept-table compared searched
    echo one >table
    try run "${run[@]}" --iterations 10 --checkpoint kept-table --quiet
    check "a table: $own" exits 0
    try compare "${list[@]}" --iterations 10 --output compared --quiet
    check "compared: $own" exits 0
    for again in "run --iterations 12 --resume kept-table" "compare --iterations 10 --output compared"; do
        read -ra words <<<"$again"
        [ "${words[0]}" = run ] && words+=("${run[@]}") || words+=("${list[@]}")
        echo two >table
        refuse_object "$changed" "${words[@]}" --quiet
        check "names the option: $again $own" warns table
        echo one >table
        try "${words[@]}" --quiet
        check "the same table: $again $own" exits 0
    done
    echo one >table
    [[ $own == *gda* ]] || continue
    try tune "${list[@]}" --search eta-x=0.01,0.02 --budget 60000 --output searched --quiet
    check "searched: $own" exits 0
    echo two >table
    refuse_object "$changed" tune "${list[@]}" --search eta-x=0.01,0.02 --budget 60000 --output searched --resume --quiet
done
cp walks.so rebuilt-walks.so
try compare --problem quadratic --algorithms ./rebuilt-walks.so --iterations 10 --output rebuilt --quiet
tabled rebuilt-walks.so '-DBASE="parts.c"' -DOWNER=walk "-DOWN(type, field)=SADDLE_OWN(type, field, RUN)" -DREBUILT
refuse "$changed" compare --problem quadratic --algorithms ./rebuilt-walks.so --iterations 10 --output rebuilt --quiet

# Of an ordinary option and an own one that are as close to a misspelled name, the one with its first letter is meant.
sed 's/"table"/"beta"/' tabled.c >beta.c
check "builds beta.so" "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" '-DBASE="parts.c"' -DOWNER=walk \
    "-DOWN(type, field)=SADDLE_OWN(type, field, RUN)" beta.c -o beta.so -lm -Wno-unused
refuse "no option --bata; did you mean --beta?" "${quadratic[@]}" --bata 1 --algorithm ./beta.so
printf 'bata: 1\n' >bata.yaml
refuse "unknown option 'bata'; did you mean 'beta'?" "${quadratic[@]}" --config bata.yaml --algorithm ./beta.so

# Tuned settings of a plug-in are read from their file, which may only name plug-ins that the user names.
cat >steps.c <<'END'
#define saddle_plugin other_plugin
#include "parts.c"
#undef saddle_plugin
#ifdef COPIED
static const saddle_option step_x = {.name = "eta-x", .group = "Steps", .kind = SADDLE_OPTION_REAL,
                                     .home = SADDLE_HOME_PLAN, .fallback = "auto", .help = "Step."};
#else
#define step_x saddle_option_eta_x
#endif
static const saddle_option *const both[] = {&step, &label, &laps, &step_x, NULL};
static saddle_status resolve(void *parameters, saddle_configuration *c, saddle_error *error)
{
#ifndef LEFT
    if (!(c->steps.eta_x > 0.0))
        c->steps.eta_x = 0.05;
#endif
    ((walk *)parameters)->step = c->steps.eta_x;
    (void)error;
    return SADDLE_OK;
}
static const saddle_algorithm stepped = {.name = "stepped", .options = both, .size = sizeof(walk),
                                         .init = resolve, .layout = layout, .start = start,
                                         .phases = phases, .view = view};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .algorithm = &stepped};
END
try run --problem quadratic --algorithm ./parts.so:nu=3
check "options of the library are not options of a plug-in" warns "there is no option 'nu'; the options are: step"
check "builds steps.so" "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" steps.c -o steps.so -lm
check "builds copied.so" "$compiler" -std=c17 -shared -fPIC -DCOPIED -I"$here/../../include" steps.c -o copied.so -lm
refuse "lists the option 'eta-x', which is neither its own nor one of the step sizes" "${quadratic[@]}" --algorithm ./copied.so
refuse "'eta-x' is an option of all algorithms, not of this list; give it outside the list" \
    "${quadratic[@]}" --algorithm ./steps.so:eta-x=3
check "builds left.so" "$compiler" -std=c17 -shared -fPIC -DLEFT -I"$here/../../include" steps.c -o left.so -lm
refuse "--eta-x: algorithm stepped has left this step automatic; give a number" "${quadratic[@]}" --algorithm ./left.so
try "${quadratic[@]}" --algorithm ./left.so --eta-x 0.05
check "a given step is used" exits 0
try tune --problem quadratic --algorithms ./steps.so:laps=2,gda --budget 60000 --output tuned --quiet
check "a plug-in is tuned" exits 0
try compare --problem quadratic --algorithms ./steps.so:laps=2,gda --tuned tuned --iterations 20 --output tuned-runs
check "and compared with what was found" exits 0
check "without a warning of these settings" is "$(grep -vc "ends at a primal objective" err)" 0
check "its step" is "$(sed -n 's/^# eta-x: //p' tuned-runs/stepped-laps=2-seed1.csv)" \
    "$(sed -n "s/^eta-x: '\(.*\)'/\1/p" tuned/stepped-laps=2.yaml)"
check "no option of the program is in the file" is "$(grep -cE '^(algorithms|budget|output|quiet)' tuned/stepped-laps=2.yaml)" 0
# A search varies own options that are listed, or that say how, unless the text gives them.
try tune --problem quadratic --algorithms ./parts.so --search step=0.01,0.02,0.05 --budget 60000 --output steps --quiet
check "own options are searched" exits 0
check "the best one is kept" grep -q "^step: '0.0[125]'" steps/walk.yaml
try run --problem quadratic --iterations 40 --trace-every 10 --quiet --config steps/walk.yaml --algorithm ./parts.so --trace best.csv
check "and used" grep -q "^# algorithm: ./parts.so:step=$(sed -n "s/^step: '\(.*\)'/\1/p" steps/walk.yaml),laps=auto$" best.csv
try compare --problem quadratic --algorithms ./parts.so --tuned steps --iterations 40 --trace-every 10 --output tuned-steps
check "also by compare" same_trace best.csv tuned-steps/walk-seed1.csv
refuse "--search: step is also given in './parts.so:step=0.1'; give it in one of them only" \
    tune --problem quadratic --algorithms ./parts.so:step=0.1 --search step=0.01,0.02 --budget 60000
refuse "--search: step: '3' is out of range" tune --problem quadratic --algorithms ./parts.so --search step=3 --budget 60000
try tune --problem quadratic --algorithms gt-gda,./parts.so --search step=0.01,0.02 --budget 60000 --output both-steps --quiet
check "beside another algorithm" exits 0
check "which does not use it" warns "--search: step is not used by gt-gda"
check "and the best one is kept" grep -q "^step: '0.0[125]'" both-steps/walk.yaml
refuse "--search: 'budget' is not one of" tune --problem quadratic --algorithms ./parts.so --search budget=3 --budget 60000
refuse "--search: 'b' is not one of" tune --problem quadratic --algorithms ./parts.so --search b=3 --budget 60000
try "${quadratic[@]}" --x-set ./parts.so:b=4 --checkpoint bound
refuse "x-set: 'bound/" run --resume bound --iterations 60

finish
