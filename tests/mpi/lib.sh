# Shared by the tests that compare jobs of several processes with threads: source it with the arguments
# SADDLE MPIEXEC NUMBER-FLAG.
#
#   under RANKS ARGUMENTS...                  run the program in RANKS processes; sets $code, out and err
#   compare NAME "RANKS..." ARGUMENTS...      check that threads and each number of processes give the same trace and model
# shellcheck shell=bash
# shellcheck disable=SC2317  # functions are called through check
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3

under() {
    local ranks=$1
    shift
    timeout 1200 "$mpiexec" "$number" "$ranks" "$saddle" "$@" >out 2>err </dev/null
    code=$?
}

# Prints a trace without how it was made and how long that took.
essence() {
    sed -E '/^# (engine|threads|trace|model): /d' "$1" | cut -d, -f1-5,7-
}

same_trace() { [ -s "$1" ] && cmp -s <(essence "$1") <(essence "$2"); }
same_model() { [ -s "$1" ] && cmp -s "$1" "$2"; }

compare() {
    local name=$1 counts=$2 ranks
    shift 2
    rm -f threads.trace mpi.trace threads.npz mpi.npz
    try run "$@" --trace threads.trace --model threads.npz
    check "$name: threads" exits "${wanted:-0}"
    for ranks in $counts; do
        rm -f mpi.trace mpi.npz
        under "$ranks" run --engine mpi "$@" --trace mpi.trace --model mpi.npz
        check "$name, $ranks processes: it works" exits "${wanted:-0}"
        check "$name, $ranks processes: the same trace" same_trace threads.trace mpi.trace
        check "$name, $ranks processes: the same model" same_model threads.npz mpi.npz
    done
}
