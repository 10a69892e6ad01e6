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

# kill_rank RANK ARGUMENTS...: start a job of three that would go on for days, kill a process of it
# once it is at work; leaves $code, out and err, and in $seconds how long the job outlived it.
kill_rank() {
    local victim=$1 job process before
    shift
    rm -f trace
    "$mpiexec" "$number" 3 "$saddle" run --engine mpi --samples 50 --iterations 1000000000 \
        --trace trace --trace-every 20 --quiet "$@" >out 2>err </dev/null &
    job=$!
    check "the job is at work" wait_for_lines trace 60
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

failed() { [ "$code" -ne 0 ]; }
soon() { [ "$seconds" -le 20 ]; }
names_rank() { grep -qiE "rank:? $1\b|rank $1 " err; }

for rank in 0 1 2; do
    kill_rank "$rank"
    check "rank $rank killed: the job fails" failed
    check "rank $rank killed: soon" soon
    check "rank $rank killed: it is named" names_rank "$rank"
    check "rank $rank killed: there is no checkpoint" warns "it keeps no checkpoint to resume from"
done

finish
