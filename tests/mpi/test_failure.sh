#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_failure.sh SADDLE MPIEXEC NUMBER-FLAG: if a process of an MPI job is killed or fails alone, the job ends with a
# message that names it and says how to resume.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3

# Prints the rank of a process, from the environment that mpirun sets.
rank_of() {
    tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1
}

# A killed process leaves its shared memory behind: put it here, where it is removed with the test.
export OMPI_MCA_btl_vader_backing_directory=$work OMPI_MCA_btl_sm_backing_directory=$work

# kill_rank RANK READY...: starts a job of three processes that would run for days, with the options in $more, kills
# one process once the command READY succeeds, and waits for the job to end; sets $code, out and err.
kill_rank() {
    local victim=$1 job process
    shift
    rm -f trace
    "$mpiexec" "$number" 3 "$saddle" run --engine mpi "${run[@]}" --iterations 1000000000 \
        --trace trace --quiet "${more[@]}" >out 2>err </dev/null &
    job=$!
    check "the job is at work" wait_for "$@"
    for process in $(processes_of "$job"); do
        if [ "$(rank_of "$process")" = "$victim" ]; then
            kill -9 "$process"
        fi
    done
    wait "$job"
    code=$?
}

two_checkpoints() { [ "$(find "$1" -name '*.saddle' | wc -l)" -ge 2 ]; }
failed() { [ "$code" -ne 0 ]; }
names_rank() { grep -qiE "rank:? $1\b|rank $1 " err; }

run=(--samples 50 --trace-every 20 --gap never)
more=()
for rank in 0 1 2; do
    kill_rank "$rank" rows_in trace 20
    check "rank $rank killed: the job fails" failed
    check "rank $rank killed: it is named" names_rank "$rank"
    check "rank $rank killed: there is no checkpoint" warns "without --checkpoint there is nothing to resume from"
done

# ---- with checkpoints: the message says how to resume, which leads to the same bits --------------

for rank in 0 1; do
    more=(--checkpoint "kept-$rank" --checkpoint-every 0.1s)
    kill_rank "$rank" two_checkpoints "kept-$rank"
    check "rank $rank killed: the job with checkpoints fails" failed
    check "rank $rank killed: it says how to resume" warns "with --checkpoint kept-$rank --resume"
    reached=$(find "kept-$rank" -name '*.saddle' | sort | tail -1 | sed 's/.*-0*//; s/.saddle//')
    whole=$(((reached / 20 + 3) * 20))
    timeout 1200 "$mpiexec" "$number" 2 "$saddle" run --engine mpi "${run[@]}" --iterations "$whole" \
        --trace trace --model model.npz --checkpoint "kept-$rank" --resume --quiet >out 2>err </dev/null
    code=$?
    check "rank $rank killed: two processes go on" exits 0
    try run "${run[@]}" --iterations "$whole" --trace reference --model reference.npz --quiet
    check "rank $rank killed: to the same model" cmp -s reference.npz model.npz
    check "rank $rank killed: and the same trace" same_trace reference trace
    check "rank $rank killed: two checkpoints, nothing unfinished" \
        is "$(find "kept-$rank" -type f | wc -l)" 2
done

finish
