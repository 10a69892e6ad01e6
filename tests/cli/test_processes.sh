#!/usr/bin/env bash
# The program under mpirun: the same results as in one process, printed once, with one exit code.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

has_mpi 5 || exit 77

# together RANKS ARGUMENTS...: runs in RANKS processes, and removes mpirun's own messages after a failure.
together() {
    local ranks=$1
    shift
    timeout 1200 "$mpirun" -n "$ranks" "$saddle" "$@" >out 2>all </dev/null
    code=$?
    grep '^saddle' all >err
}

# refuse_together TEXT CODE ARGUMENTS...: three processes fail with one line, and end.
refuse_together() {
    local text=$1 expected=$2
    shift 2
    together 3 "$@"
    check "exit code of: $*" exits "$expected"
    check "one line for: $*" one_line
    check "message of: $* (wanted: $text)" warns "$text"
    check "prints nothing for: $*" is "$(wc -c <out)" 0
}

# ---- the same results -------------------------------------------------------------------------

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
    --iterations 12 --trace-every 4 --gap never)
try run "${problem[@]}" --outcomes-per-agent --trace one.csv
together 3 run --engine mpi "${problem[@]}" --outcomes-per-agent --trace two.csv
check "outcomes in 3 processes" exits 0
check "are the same" same_trace one.csv two.csv
try run "${problem[@]}" --iterations 400 --stop-after 3 --model one.npz --quiet
together 3 run --engine mpi "${problem[@]}" --iterations 400 --stop-after 3 --model two.npz --quiet
check "stopping by them: the same best model" cmp -s one.npz two.npz
check "and have no empty cell but the potential" is "$(grep '^[0-9]' two.csv | cut -d, -f16- | grep -c ',,\|,$')" 0

# ---- no process has all agents' vectors --------------------------------------------------------

if has python3; then
    cat >peak.py <<'PY'
# Runs a command and appends its peak memory, in kB, to a file.
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "a") as out:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=out)
sys.exit(code)
PY
    for ranks in 1 4; do
        timeout 1200 "$mpirun" -n $ranks python3 peak.py "peak-$ranks" "$saddle" run --engine mpi \
            --problem quadratic --agents 2000 --topology ring --x-dim 1000 --y-dim 500 --samples 2 \
            --iterations 2 --trace-every 2 --gap never --threads 1 --model "wide-$ranks.npz" --quiet
    done
    one=$(sort -n peak-1 | tail -1)
    four=$(sort -n peak-4 | tail -1)
    check "the largest of 4 processes has less than half: $four of $one kB" [ $((2 * four)) -lt "$one" ]
    check "and the model has all copies" cmp -s wide-1.npz wide-4.npz
    rm -f wide-1.npz wide-4.npz
fi

# ---- files that only one process can read ------------------------------------------------------

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

# ---- errors: reported once, in all processes ---------------------------------------------------

refuse_together "did you mean --agents" 2 run --engine mpi --agnets 5
refuse_together "/nope/x.csv" 2 run --engine mpi "${small[@]}" --trace /nope/x.csv
refuse_together "sgda is centralized" 2 run --engine mpi "${small[@]}" --algorithm sgda
refuse_together "is the disk full?" 1 run --engine mpi "${small[@]}" --trace /dev/full --quiet
together 3 run --engine mpi --problem quadratic --alpha 1e9 --quiet
check "divergence has its exit code" exits 3
check "one line of it" one_line

# Processes with different files of the same name.
cat >differs.sh <<'SH'
#!/bin/sh
# The second process sees another configuration.
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 1 ] && set -- "$@" --nu 0.05
exec "$@"
SH
chmod +x differs.sh
timeout 1200 "$mpirun" -n 2 ./differs.sh "$saddle" run --engine mpi "${small[@]}" >out 2>all
code=$?
grep '^saddle' all >err
check "different options are refused" exits 2
check "with the option and the process" warns "--nu: process 1 has '0.05'"

# each_in_its_own RANKS ARGUMENTS...: runs every process in its own directory, disk-0, disk-1, ...
cat >apart.sh <<'SH'
#!/bin/sh
cd "disk-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" && exec "$@"
SH
chmod +x apart.sh
each_in_its_own() {
    local ranks=$1
    shift
    timeout 1200 "$mpirun" -n "$ranks" ./apart.sh "$saddle" "$@" >out 2>all </dev/null
    code=$?
    grep '^saddle' all >err
}
mkdir disk-0 disk-1
for rank in 0 1; do
    "$saddle" graph ring --agents 4 --save "disk-$rank/edges" >/dev/null
    printf '%s\n' "0.5 0.25 0 0.25" "0.25 0.5 0.25 0" "0 0.25 0.5 0.25" "0.25 0 0.25 0.5" \
        >"disk-$rank/weights"
    "$saddle" data generate "disk-$rank/rows" --rows 40 --seed 3 >/dev/null
done
apart=(run --engine mpi --topology file:edges --mixing file:weights --data rows --iterations 5 --quiet)
each_in_its_own 2 "${apart[@]}"
check "the same files on two disks" exits 0
# other OPTION COMMAND...: a command changes the second process's files.
other() {
    local option=$1
    shift
    cp -r disk-1 kept
    (cd disk-1 && "$@") >/dev/null
    each_in_its_own 2 "${apart[@]}"
    check "another file of $option is refused" exits 2
    check "in one line that names it" one_line
    check "and what is wrong" warns "rank 1: --$option: '"
    check "with the process" warns "differs between processes: its contents in process 1"
    rm -rf disk-1
    mv kept disk-1
}
other topology "$saddle" graph star --agents 4 --save edges
other topology "$saddle" graph ring --agents 5 --save edges
other mixing sed -i 's/0.5/0.6/g; s/0.25/0.2/g' weights
other data sed -i '1s/^-1/+1/;t;1s/^[^ ]*/-1/' rows
mv disk-1/edges disk-1/elsewhere
each_in_its_own 2 "${apart[@]}"
check "a network that one process cannot read is refused" exits 2
check "by name" warns "rank 1: --topology: cannot read 'edges'"

# ---- no common disk: rank 0 reads the checkpoint and sends its contents to the others ----------

for agent in 0 1; do cp "part-$agent.libsvm" "disk-$agent/"; done
try run --data 'part-%d.libsvm' --agents 2 --iterations 20 --model one.npz --quiet
each_in_its_own 2 run --engine mpi --data 'part-%d.libsvm' --agents 2 --iterations 10 --quiet \
    --checkpoint ck
check "a checkpoint on rank 0's disk" exits 0
check "and nowhere else" absent disk-1/ck
cp -r disk-0/ck kept
each_in_its_own 2 run --engine mpi --resume ck --iterations 20 --model ../two.npz --quiet
check "resumes without other options" exits 0
check "to the same model" cmp -s one.npz two.npz
rm -rf disk-0/ck two.npz
mv kept disk-0/ck
each_in_its_own 2 run --engine mpi --data 'part-%d.libsvm' --agents 2 --iterations 20 --quiet \
    --checkpoint ck --resume auto --model ../two.npz
check "resumes with the original command" exits 0
check "to the same model again" cmp -s one.npz two.npz

# ---- processes that do not know of each other, and one that fails at the very end ---------------

together 2 run "${small[@]}" --quiet
check "without --engine mpi they work alone" exits 0
check "which is told" warns "this is one of 2 processes that each do all of the work"
check "once, with the remedy" one_line
check "and it is" warns "give --engine mpi"
cat >deaf.sh <<'SH'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 ] && exec "$@" >/dev/full
exec "$@"
SH
chmod +x deaf.sh
timeout 1200 "$mpirun" -n 2 ./deaf.sh "$saddle" run --engine mpi "${small[@]}" >out 2>all </dev/null
code=$?
grep '^saddle' all >err
check "rank 0 cannot print: exit code" exits 1
check "rank 0 cannot print: message" warns "cannot write to standard output"
check "all have parted properly" eval '! grep -q "without calling" all'

# ---- a user-defined problem ---------------------------------------------------------------------

if has_compiler; then
    cat >plugin.c <<'C'
#include <saddle/plugin.h>
/* f_ij = 1/2 (x - b_ij)^2 + x y - y^2 / 2 with the labels b_ij. */
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
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    (void)error;
    ((saddle_problem *)made)->self = (void *)inputs->shard;
    return SADDLE_OK;
}
static const saddle_problem_class labels = {
    .needs_data = true, .local_data = LOCAL, .name = "labels", .size = sizeof(saddle_problem),
    .common = {.x_dim = 1, .y_dim = 1, .gradient = gradient, .value = value}, .init = init};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &labels};
C
    for local in 0 1; do
        check "builds a plug-in" "$compiler" -std=c17 -shared -fPIC -DLOCAL=$local \
            -I"$here/../../include" plugin.c -o "liblocal$local.so"
    done
    try run --problem ./liblocal1.so "${small[@]}" --trace one.csv --quiet
    together 3 run --engine mpi --problem ./liblocal1.so "${small[@]}" --trace two.csv --quiet
    check "a plug-in that is content with its own data" exits 0
    check "the same trace of a plug-in" same_trace one.csv two.csv
    refuse_together "set .local_data" 2 run --engine mpi --problem ./liblocal0.so "${small[@]}"
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
refuse_together "already exists" 2 "${tune[@]}" --engine mpi --output two-tuned

finish
