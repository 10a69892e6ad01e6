#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_stopped.sh SADDLE MPIEXEC NUMBER-FLAG MOMENT ...: a stopped process of an MPI job is named and ends the job,
# which can be resumed; a process that is only slow does not, nor does a job that is suspended as a whole.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3
moment=$4
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
# A killed process leaves its shared memory behind: put it here, where it is removed with the test.
export OMPI_MCA_btl_vader_backing_directory=$work OMPI_MCA_btl_sm_backing_directory=$work

# Seconds of silence after which a process counts as stopped: on a busy machine a process may be delayed for seconds.
stall=4

# at SETTINGS... -- ARGUMENTS...: runs a job of three processes with a moment; sets $code, out and err.
at() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    rm -f reached-*
    timeout 600 "$mpiexec" "$number" 3 env "${settings[@]}" LD_PRELOAD="$moment:${LD_PRELOAD-}" \
        "$saddle" run --engine mpi --stall-seconds "$stall" --quiet "$@" >out 2>err </dev/null
    code=$?
}

run=(--samples 50 --agents 6 --threads 1 --trace-every 20 --gap never)
reached() { [ -e "reached-$1" ]; }
names() { grep -qE "^saddle: $1 not responded for 4 s" err; }
once() { [ "$(grep -c 'not responded' err)" -eq 1 ]; }
nobody() { ! grep -q 'not responded' err; }
no_checkpoint() { ! find "$1" -name '*.saddle' 2>/dev/null | grep -q .; }
newest() { find "$1" -name '*.saddle' | sort | tail -1; }
# The checkpoint that the message names exists. It need not be the newest: processes that are asked to end may still
# write one.
names_checkpoint() { [ -f "$(sed -n "s/.*from its last checkpoint, '\(kept\/[^']*\)'.*/\1/p" err)" ]; }

try run "${run[@]}" --iterations 200 --trace reference --model reference.npz --quiet
check "an undisturbed run" exits 0

# finished NAME: the job with checkpoints in `kept`, resumed if it has any, reaches the undisturbed bits.
finished() {
    stall=60 at -- "${run[@]}" --iterations 200 --trace trace --model model.npz --checkpoint kept \
        --checkpoint-every 20 --resume auto
    check "$1: the next job ends well" exits 0
    check "$1: with the same model" cmp -s reference.npz model.npz
    check "$1: and the same trace" same_trace reference trace
    check "$1: two checkpoints, nothing unfinished" is "$(find kept -type f | wc -l)" 2
}

# stop NAME RANKS CALL COUNT WHO: stops ranks at a call; the message must begin with WHO.
stop() {
    local name=$1 k
    rm -rf kept trace model.npz
    at MOMENT_RANKS="$2" MOMENT_CALL="$3" MOMENT_COUNT="$4" -- "${run[@]}" --iterations 200 --trace trace \
        --model model.npz --checkpoint kept --checkpoint-every 20
    for ((k = 0; k < ${#2}; k++)); do
        check "$name: the moment came" reached "${2:k:1}"
    done
    check "$name: the exit code" exits 5
    check "$name: who is named" names "$5"
    check "$name: once" once
    check "$name: no model" absent model.npz
}

host=$(uname -n)
for rank in 0 1 2; do
    stop "rank $rank in the middle" "$rank" MPI_Startall 150 "rank $rank on $host has"
    check "rank $rank in the middle: what to resume from" names_checkpoint
    finished "rank $rank in the middle"
done
stop "two at once" 12 MPI_Startall 150 "rank 1 on $host, rank 2 on $host have"
for rank in 0 2; do
    stop "rank $rank while setting up" "$rank" MPI_Bcast 20 "rank $rank on $host has"
    check "rank $rank while setting up: there is no checkpoint" warns "it has written no checkpoint"
    check "rank $rank while setting up: really" no_checkpoint kept
done
finished "while setting up"
stop "a checkpoint before it gets its name" 0 rename 3 "rank 0 on $host has"
check "a checkpoint before it gets its name: the one before is named" warns "from its last checkpoint, 'kept/"
finished "a checkpoint before it gets its name"
stop "a checkpoint that needs an agent's state" 2 MPI_Send 8 "rank 2 on $host has"
finished "a checkpoint that needs an agent's state"

# Until it has written its own, a resumed run names the checkpoint that it resumed from. No part of the path acts on
# the terminal.
stop "before it is resumed" 1 MPI_Startall 150 "rank 1 on $host has"
last=$(basename "$(newest kept)")
turned=$'\xe2\x80\xae'kept # U+202E, from which on text runs to the left
mv kept "$turned"
at MOMENT_RANKS=1 MOMENT_CALL=MPI_Startall MOMENT_COUNT=3 -- "${run[@]}" --iterations 200 --trace trace \
    --model model.npz --checkpoint "$turned" --resume
check "a resumed run names where it comes from" warns "from its last checkpoint, '\\u202ekept/$last'"

# The time limit of a run that waits for a stopped process.
at MOMENT_RANKS=1 MOMENT_CALL=MPI_Startall MOMENT_COUNT=10 -- "${run[@]}" --iterations 1e9 --max-seconds 1
check "--max-seconds: the job ends" exits 5

# ---- slow processes are not stopped ones ---------------------------------------------------------

# slow NAME RANKS CALL COUNT: the computing thread sleeps at a call for longer than --stall-seconds.
slow() {
    rm -rf kept trace model.npz
    at MOMENT_RANKS="$2" MOMENT_CALL="$3" MOMENT_COUNT="$4" MOMENT_SLEEP=7 -- "${run[@]}" --iterations 200 \
        --trace trace --model model.npz --checkpoint kept --checkpoint-every 20
    check "$1: the moment came" reached "${2:0:1}"
    check "$1: the job ends well" exits 0
    check "$1: nobody is named" nobody
    check "$1: the same model" cmp -s reference.npz model.npz
}
slow "slow reading" 2 MPI_Bcast 20
slow "slow reading everywhere" 012 MPI_Bcast 20
slow "a slow round" 1 MPI_Startall 50
slow "a slow disk" 0 rename 2

# On a busy machine the thread that sends heartbeats waits for a processor. It is runnable all the time, as is one that
# computes. The first heartbeat, too, in the night: each of them computes for seconds.
for count in 3 ${SADDLE_TEST_LONG:+1}; do
    rm -rf trace model.npz
    at MOMENT_RANKS=1 MOMENT_CALL=beat MOMENT_COUNT="$count" MOMENT_SLEEP=5 MOMENT_SPIN=yes -- "${run[@]}" \
        --iterations 1e9 --max-seconds 2 --model model.npz
    check "heartbeat $count is late: the moment came" reached 1
    check "heartbeat $count is late: the job ends well" exits 0
    check "heartbeat $count is late: nobody is named" nobody
done
# A thread that sleeps is not waiting for a processor.
at MOMENT_RANKS=1 MOMENT_CALL=beat MOMENT_COUNT=3 MOMENT_SLEEP=12 -- "${run[@]}" --iterations 1e9 --max-seconds 9
check "a heartbeat that sleeps: the job ends" exits 5
check "a heartbeat that sleeps: it is named" names "rank 1 on $host has"

if has_compiler; then
    cat >sleepy.c <<'END'
#include <stdatomic.h>
#include <unistd.h>
#include <saddle/plugin.h>
static size_t samples[64];
static atomic_int calls;

/* f = x^2 / 2 + x y - y^2 / 2; call number 40 sleeps. */
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)p, (void)agent, (void)batch, (void)scratch;
    if (++calls == 40)
        sleep(7);
    gx[0] = x[0] + y[0];
    gy[0] = x[0] - y[0];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)p, (void)agent, (void)scratch;
    return 0.5 * x[0] * x[0] + x[0] * y[0] - 0.5 * y[0] * y[0];
}
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_problem *problem = made;
    (void)error;
    for (size_t i = 0; i < inputs->agents && i < 64; i++)
        samples[i] = 10;
    problem->samples = samples;
    return SADDLE_OK;
}
static const saddle_problem_class sleepy = {
    .name = "sleepy", .size = sizeof(saddle_problem), .init = init,
    .common = {.x_dim = 1, .y_dim = 1, .gradient = gradient, .value = value}};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &sleepy};
END
    "$compiler" -shared -fPIC -O1 -I"$here/../../include" -o sleepy.so sleepy.c || exit 1
    begin=$SECONDS
    at -- --problem ./sleepy.so --agents 6 --iterations 30 --tau 10 --alpha 0.1 --nu 0.1 --eta 0.1
    check "a gradient that sleeps: the job ends well" exits 0
    check "a gradient that sleeps: it did" test $((SECONDS - begin)) -ge 6
    check "a gradient that sleeps: nobody is named" nobody
fi

# ---- a job that is suspended and continued ------------------------------------------------------

rm -rf kept trace model.npz reached-*
"$mpiexec" "$number" 3 "$saddle" run --engine mpi --stall-seconds "$stall" --quiet "${run[@]}" --iterations 1000000000 \
    --trace trace --checkpoint kept --checkpoint-every 50 >out 2>err </dev/null &
job=$!
check "the job is at work" wait_for rows_in trace 5
mapfile -t processes < <(processes_of "$job")
check "it has three processes" is "${#processes[@]}" 3
kill -STOP "${processes[@]}"
rows=$(grep -vc '^#' trace)
sleep 6
kill -CONT "${processes[@]}"
check "a suspended job continues" wait_for rows_in trace "$((rows + 20))"
sleep 5
check "for longer than the limit" kill -0 "${processes[@]}"
kill -TERM "${processes[@]}"
wait "$job"
check "nobody is named" nobody

# ---- an MPI without MPI_THREAD_MULTIPLE ---------------------------------------------------------

for ranks in 1 012; do
    rm -rf trace model.npz
    at MOMENT_RANKS=$ranks MOMENT_CALL=MPI_Init_thread -- "${run[@]}" --iterations 200 --model model.npz
    check "without threads in $ranks: the job ends well" exits 0
    check "without threads in $ranks: it warns" warns "processes that do not respond will not be detected"
    check "without threads in $ranks: the same model" cmp -s reference.npz model.npz
done

finish
