#!/usr/bin/env bash
# A problem from a shared object: what it gets, that it runs, and every refusal.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

preload moments

# One source for all: WRONG says what is not as it should be. It links nothing.
cat >plugin.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <saddle/plugin.h>
enum { RIGHT, FAILS, SILENT, NOTHING, AGENTS, HALF };
static double sum[64];
static size_t samples[64];
static saddle_problem problem;

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
static void destroy(saddle_problem *p)
{
    (void)p;
    fputs("destroyed\n", stderr);
}
__attribute__((destructor)) static void unloaded(void)
{
    fputs("unloaded\n", stderr);
}
static saddle_status create(saddle_problem **out, const char *options,
                            const saddle_problem_inputs *inputs, saddle_error *error)
{
    *out = NULL;
    if (WRONG == FAILS)
        snprintf(error->message, sizeof error->message, "the options '%s' are not mine", options);
    if (WRONG == FAILS || WRONG == SILENT)
        return SADDLE_BAD_INPUT;
    if (WRONG == NOTHING)
        return SADDLE_OK;
    for (size_t i = 0; i < inputs->agents && i < 64; i++) {
        samples[i] = inputs->shard != NULL ? inputs->shard[i]->rows : 10;
        sum[i] = inputs->shard != NULL ? 0.0 : 10.0;
        for (size_t j = 0; inputs->shard != NULL && j < samples[i]; j++)
            sum[i] += inputs->shard[i]->label[j];
    }
    problem = (saddle_problem){.self = (void *)inputs->shard, .x_dim = 1, .y_dim = 1,
                               .agents = inputs->agents + (WRONG == AGENTS), .samples = samples,
                               .gradient = gradient, .value = WRONG == HALF ? NULL : value,
                               .destroy = destroy};
    *out = &problem;
    return SADDLE_OK;
}
#ifndef ABI
#define ABI SADDLE_PLUGIN_ABI
#endif
#ifndef NAME
#define NAME "tested"
#endif
#ifndef CREATE
#define CREATE create
#endif
#ifndef DATA
#define DATA 0
#endif
const saddle_plugin_class saddle_plugin = {
    .abi = ABI, .needs_data = DATA, .name = NAME, .create = CREATE};
END

# build FILE FLAGS...
build() {
    local file=$1
    shift
    check "builds $file" "$compiler" -std=c17 -shared -fPIC -DWRONG=RIGHT -I"$here/../../include" \
        "$@" plugin.c -o "$file" -Wno-unused-function
}

# ---- a right one ------------------------------------------------------------------------------

build libright.so
try check-grad --problem ./libright.so
check "its gradients are checked" exits 0
check "under its own name" says "Gradients of tested"
try run --problem ./libright.so:anything --tolerance 1e-20 --trace right.csv
check "it runs" exits 0
check "to the end" says "metric <= 1e-20"
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
check "options of other problems are said to be unused" warns "--lambda1 is not used by problem tested"
check "options of data are said to be unused" warns "--partition is not used by problem tested"
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

# As refuse; the objects say "unloaded" when they go.
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
refuse "'$work' is no regular file" run --problem "$work"
refuse "give a path such as ./libright.so" run --problem libright.so
refuse "give a path such as ./libright.so:a/b" run --problem libright.so:a/b
refuse "there is no problem 'libright'" run --problem libright
refuse "'./plugin.c' cannot be loaded" run --problem ./plugin.c
refuse_object "problem tested makes its own instance" run --problem ./libright.so --data synthetic
refuse "is the file of --problem too" run --problem ./libright.so --trace ./libright.so

# No file makes a plug-in run, however it is named there: not a configuration, not a checkpoint. (A model:
# test_predict.sh.) What is loaded says so when it goes.
printf 'problem: ./libright.so\n' >named.yaml
try run --config named.yaml --iterations 1
check "a configuration's plug-in is refused" exits 2
check "with the remedy" one_line
check "in words" warns "named.yaml:1:10: problem: './libright.so' is a plug-in, and no path to one in a file is followed; if you trust it, give ./libright.so as the problem"
try run --config named.yaml --problem ./libright.so --iterations 1
check "who names it as well may have it" exits 0
try run --problem ./libright.so --iterations 5 --checkpoint kept --quiet
check "a run with checkpoints" exits 0
try run --resume kept --iterations 9
check "a checkpoint's plug-in is refused" exits 2
check "with its remedy" one_line
check "in words, too" warns "is of a run of the plug-in ./libright.so, and no path in a file is followed; if you trust it, give ./libright.so as the problem"
try checkpoint kept
check "showing it loads nothing" silent
check "but names it" says "--problem ./libright.so"
try run --resume kept --problem ./libright.so --iterations 9 --quiet
check "who names it goes on" exits 0
at_moment MOMENT_CLOCK=300 MOMENT_SIGNAL=15 -- run --problem ./libright.so --iterations 1e9 --checkpoint cut --quiet
check "interrupted" exits 130
check "how to go on names it" warns "\`saddle run --problem ./libright.so --resume cut\` goes on"
mkfifo pipe
refuse "'./pipe' is no regular file" run --problem ./pipe
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
refuse_object "has no ABI number; set .abi = SADDLE_PLUGIN_ABI" run --problem ./libabi0.so
build libabi9.so -DABI=9
refuse_object "was built for plug-in ABI 9" run --problem ./libabi9.so
build libnocreate.so -DCREATE=NULL
refuse_object "has no create function" run --problem ./libnocreate.so
build libnoname.so -DNAME=NULL
refuse_object "has no name" run --problem ./libnoname.so
build libfails.so -UWRONG -DWRONG=FAILS
refuse_object "the options 'a:b/c' are not mine" run --problem ./libfails.so:a:b/c
build libsilent.so -UWRONG -DWRONG=SILENT
refuse_object "gave no reason" run --problem ./libsilent.so
build libnothing.so -UWRONG -DWRONG=NOTHING
refuse_object "made nothing" run --problem ./libnothing.so
build libagents.so -UWRONG -DWRONG=AGENTS
refuse_object "made a problem for 6 agents, but there are 5" run --problem ./libagents.so
build libhalf.so -UWRONG -DWRONG=HALF
try run --problem ./libhalf.so
check "half a problem is refused" exits 2
check "half a problem is named" warns "problem tested has no value function"

finish
