#!/usr/bin/env bash
# The program under mpirun: the same answers as in one process, one voice, one exit code.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun=$(command -v mpirun) || exit 77
"$saddle" run --engine mpi --problem quadratic --iterations 0 --quiet 2>/dev/null || exit 77

# together RANKS ARGUMENTS...: run in so many processes. What mpirun itself says on a failure goes.
together() {
    local ranks=$1
    shift
    timeout 300 "$mpirun" -n "$ranks" "$saddle" "$@" >out 2>all </dev/null
    code=$?
    grep '^saddle' all >err
}

# refuse_together TEXT CODE ARGUMENTS...: three processes refuse, in one line, and end.
refuse_together() {
    local text=$1 expected=$2
    shift 2
    together 3 "$@"
    check "exit code of: $*" exits "$expected"
    check "one line for: $*" one_line
    check "message of: $* (wanted: $text)" warns "$text"
    check "prints nothing for: $*" is "$(wc -c <out)" 0
}

# ---- the same answers -------------------------------------------------------------------------

try run "${tiny[@]}" --iterations 30 --agents 6 --trace one.csv --model one.npz
mv out one.out
for ranks in 2 5; do
    together $ranks run --engine mpi "${tiny[@]}" --iterations 30 --agents 6 --trace two.csv \
        --model two.npz
    check "runs in $ranks processes" exits 0
    check "says nothing on stderr" silent
    check "the same trace" same_trace one.csv two.csv
    check "the same model" cmp -s one.npz two.npz
    check "one summary" is "$(grep -c '^Summary' out)" 1
    check "one header" is "$(grep -c '^saddle 0' out)" 1
done

problem=(--problem fair --data synthetic:300:20 --test-data synthetic:90:20 --sensitive 2 --agents 4
    --iterations 12 --trace-every 4)
try run "${problem[@]}" --outcomes one-outcomes.csv
together 3 run --engine mpi "${problem[@]}" --outcomes two-outcomes.csv
check "outcomes in 3 processes" exits 0
check "the same outcomes" cmp -s one-outcomes.csv two-outcomes.csv

# ---- nobody holds everybody's vectors -----------------------------------------------------------

if command -v python3 >/dev/null; then
    cat >peak.py <<'PY'
# Run a command; append its peak memory, in kB, to a file.
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "a") as out:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=out)
sys.exit(code)
PY
    for ranks in 1 4; do
        timeout 300 "$mpirun" -n $ranks python3 peak.py "peak-$ranks" "$saddle" run --engine mpi \
            --problem quadratic --agents 2000 --topology ring --x-dim 1000 --y-dim 500 --samples 2 \
            --iterations 2 --trace-every 2 --threads 1 --model "wide-$ranks.npz" --quiet
    done
    one=$(sort -n peak-1 | tail -1)
    four=$(sort -n peak-4 | tail -1)
    check "the largest of 4 processes has less than half: $four of $one kB" [ $((2 * four)) -lt "$one" ]
    check "and the model has all copies" cmp -s wide-1.npz wide-4.npz
    rm -f wide-1.npz wide-4.npz
fi

# ---- files that stay where they are ------------------------------------------------------------

for agent in 0 1 2 3; do
    "$saddle" data generate "part-$agent.libsvm" --rows $((20 + agent)) --seed "$agent" >/dev/null
done
try run --data 'part-%d.libsvm' --agents 4 --iterations 10 --trace one.csv --quiet
check "a file per agent" exits 0
together 3 run --engine mpi --data 'part-%d.libsvm' --agents 4 --iterations 10 --trace two.csv --quiet
check "a file per agent in 3 processes" exits 0
check "the same trace from files" same_trace one.csv two.csv
refuse_together "part-4.libsvm" 2 run --engine mpi --data 'part-%d.libsvm' --agents 5
refuse "would be overwritten" run --data 'part-%d.libsvm' --agents 4 --iterations 10 --trace ./part-2.libsvm

# ---- refusals: once, and everywhere -------------------------------------------------------------

refuse_together "did you mean --agents" 2 run --engine mpi --agnets 5
refuse_together "/nope/x.csv" 2 run --engine mpi "${small[@]}" --trace /nope/x.csv
refuse_together "sgda is centralized" 2 run --engine mpi "${small[@]}" --algorithm sgda
refuse_together "is the disk full?" 1 run --engine mpi "${small[@]}" --trace /dev/full --quiet
together 3 run --engine mpi --problem quadratic --alpha 1e9 --quiet
check "divergence has its exit code" exits 3
check "one line of it" one_line

# Processes with different files of one name.
cat >differs.sh <<'SH'
#!/bin/sh
# The second process sees another configuration.
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ] && set -- "$@" --nu 0.05
exec "$@"
SH
chmod +x differs.sh
timeout 300 "$mpirun" -n 2 ./differs.sh "$saddle" run --engine mpi "${small[@]}" >out 2>all
code=$?
grep '^saddle' all >err
check "different options are refused" exits 2
check "with the option and the process" warns "--nu: process 1 has '0.05'"

# ---- a problem of one's own ----------------------------------------------------------------------

if compiler=$(command -v "${CC:-cc}"); then
    cat >plugin.c <<'C'
#include <saddle/plugin.h>
/* f_ij = 1/2 (x - b_ij)^2 + x y - y^2 / 2 with the labels b_ij. */
static saddle_problem problem;
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const saddle_dataset *const *shard = p->self;
    double mean = 0.0;
    (void)scratch;
    for (size_t k = 0; k < batch->count; k++)
        mean += shard[agent]->label[batch->index ? batch->index[k] : k];
    gx[0] = x[0] - mean / (double)batch->count + y[0];
    gy[0] = x[0] - y[0];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const saddle_dataset *const *shard = p->self;
    double sum = 0.0;
    (void)scratch;
    for (size_t j = 0; j < p->samples[agent]; j++)
        sum += 0.5 * (x[0] - shard[agent]->label[j]) * (x[0] - shard[agent]->label[j]);
    return sum / (double)p->samples[agent] + x[0] * y[0] - 0.5 * y[0] * y[0];
}
static saddle_status create(saddle_problem **out, const char *options,
                            const saddle_problem_inputs *inputs, saddle_error *error)
{
    (void)options;
    (void)error;
    problem = (saddle_problem){.self = (void *)inputs->shard, .x_dim = 1, .y_dim = 1,
                               .agents = inputs->agents, .samples = inputs->samples,
                               .world = inputs->world, .gradient = gradient, .value = value};
    *out = &problem;
    return SADDLE_OK;
}
const saddle_plugin_class saddle_plugin = {
    .abi = SADDLE_PLUGIN_ABI, .needs_data = 1, .local_data = LOCAL, .name = "labels",
    .create = create};
C
    for local in 0 1; do
        check "builds a plug-in" "$compiler" -std=c17 -shared -fPIC -DLOCAL=$local \
            -I"$here/../../include" plugin.c -o "liblocal$local.so"
    done
    try run --problem ./liblocal1.so "${small[@]}" --trace one.csv --quiet
    together 3 run --engine mpi --problem ./liblocal1.so "${small[@]}" --trace two.csv --quiet
    check "a plug-in that is content with its own data" exits 0
    check "the same trace of a plug-in" same_trace one.csv two.csv
    refuse_together ".local_data = 1" 2 run --engine mpi --problem ./liblocal0.so "${small[@]}"
fi

# ---- compare and tune ----------------------------------------------------------------------------

compare=(compare "${tiny[@]}" --iterations 20 --algorithms "precision,sgda,prox-dsgda")
try "${compare[@]}" --output one
together 2 "${compare[@]}" --engine mpi --output two
check "compares in 2 processes" exits 0
check "a centralized one is refused, the others run" says "refused: sgda is"
check "the same comparison" same_trace one/precision-seed1.csv two/precision-seed1.csv

tune=(tune --problem quadratic --candidates 4 --budget 60000)
try "${tune[@]}" --output one-tuned
together 2 "${tune[@]}" --engine mpi --output two-tuned
check "tunes in 2 processes" exits 0
check "the same log" cmp -s one-tuned/precision.csv two-tuned/precision.csv
together 3 "${tune[@]}" --engine mpi --output two-tuned --resume
check "resumes a search in 3 processes" exits 0
check "the same answer" is "$(grep -v '^#\|engine' one-tuned/precision.yaml)" \
    "$(grep -v '^#\|engine' two-tuned/precision.yaml)"
refuse_together "is there already" 2 "${tune[@]}" --engine mpi --output two-tuned

finish
