#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_failure.sh SADDLE MPIEXEC NUMBER-FLAG: a process of an MPI job that is killed, or that fails
# alone, ends the job soon, with a message that names it and says how to go on.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3

# The processes of the job whose starter has this number: its children, or theirs.
processes_of() {
    local child
    for child in $(pgrep -P "$1"); do
        if [ "$(cat "/proc/$child/comm" 2>/dev/null)" = saddle ]; then
            echo "$child"
        else
            processes_of "$child"
        fi
    done
}

# The rank of a process, which its starter puts into its environment.
rank_of() {
    tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p' | head -n 1
}

# Wait until a file has more than so many lines; at most a minute.
wait_for_lines() {
    local k
    for ((k = 0; k < 600; k++)); do
        if [ -e "$1" ] && [ "$(wc -l <"$1")" -gt "$2" ]; then
            return 0
        fi
        sleep 0.1
    done
    return 1
}

# A process that is killed leaves its memory that was shared: here, where it goes with the test.
export OMPI_MCA_btl_vader_backing_directory=$work

# kill_rank RANK READY...: start a job of three that would go on for days, with the options in
# $more, kill a process of it once the command READY succeeds; leaves $code, out and err, and in
# $seconds how long the job outlived it.
kill_rank() {
    local victim=$1 job process before
    shift
    rm -f trace
    "$mpiexec" "$number" 3 "$saddle" run --engine mpi "${run[@]}" --iterations 1000000000 \
        --trace trace --quiet "${more[@]}" >out 2>err </dev/null &
    job=$!
    check "the job is at work" "$@"
    for process in $(processes_of "$job"); do
        if [ "$(rank_of "$process")" = "$victim" ]; then
            kill -9 "$process"
        fi
    done
    before=$(date +%s)
    wait "$job"
    code=$?
    seconds=$(($(date +%s) - before))
}

# Wait until a directory has two checkpoints; at most a minute.
wait_for_checkpoints() {
    local k
    for ((k = 0; k < 600; k++)); do
        if [ "$(find "$1" -name '*.saddle' 2>/dev/null | wc -l)" -ge 2 ]; then
            return 0
        fi
        sleep 0.1
    done
    return 1
}

failed() { [ "$code" -ne 0 ]; }
soon() { [ "$seconds" -le 20 ]; }
names_rank() { grep -qiE "rank:? $1\b|rank $1 " err; }

run=(--samples 50 --trace-every 20)
more=()
for rank in 0 1 2; do
    kill_rank "$rank" wait_for_lines trace 60
    check "rank $rank killed: the job fails" failed
    check "rank $rank killed: soon" soon
    check "rank $rank killed: it is named" names_rank "$rank"
    check "rank $rank killed: there is no checkpoint" warns "it keeps no checkpoint to resume from"
done

# ---- with checkpoints: the message says how to go on, and that leads to the same bits -----------

for rank in 0 1; do
    more=(--checkpoint "kept-$rank" --checkpoint-every 0.1s)
    kill_rank "$rank" wait_for_checkpoints "kept-$rank"
    check "rank $rank killed: the job with checkpoints fails" failed
    check "rank $rank killed: it says how to go on" warns "with --checkpoint kept-$rank --resume"
    reached=$(find "kept-$rank" -name '*.saddle' | sort | tail -1 | sed 's/.*-0*//; s/.saddle//')
    whole=$(((reached / 20 + 3) * 20))
    timeout 300 "$mpiexec" "$number" 2 "$saddle" run --engine mpi "${run[@]}" --iterations "$whole" \
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
