#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_module.sh SADDLE MPIEXEC NUMBER-FLAG MOMENT OTHER-VERSION ...: MPI is loaded only when it is asked for, leaves
# signals alone, and what is wrong with the module is named.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
other_version=$5
unset LD_PRELOAD # of tests/mpi/patient.c
run=(run --problem quadratic --agents 4 --trace-every 10 --gap never --quiet)

check "the program needs no MPI" is "$(ldd "$saddle" | grep -ciE 'mpi|ucx|ucs|metis|hwloc|curl|ssl|crypto')" 0

# start ENGINE: starts a run that lasts until it is ended, with SIGHUP ignored; sets $process.
start() {
    rm -f trace
    (
        trap '' HUP
        exec "$saddle" "${run[@]}" --engine "$1" --iterations 1e12 --trace trace >out 2>err </dev/null
    ) &
    process=$!
    check "$1: it is at work" wait_for rows_in trace 2
}
# Signals 1 to 31: the C library keeps two of the next ones to itself.
dispositions() { sed -nE 's/^(Sig(Ign|Cgt)):.*(.{8})$/\1 \3/p' "/proc/$process/status"; }
end() {
    kill -TERM "$process"
    wait "$process"
}
start threads
check "threads: no MPI is loaded" is "$(grep -cE 'libmpi|libsaddle-mpi' "/proc/$process/maps")" 0
before=$(dispositions)
end
start mpi
check "mpi: MPI is loaded" grep -q libmpi "/proc/$process/maps"
check "mpi: dispositions of signals are the same" is "$(dispositions)" "$before"
kill -HUP "$process"
count=$(grep -vc '^#' trace)
check "mpi: a hangup that is ignored does not end it" wait_for rows_in trace "$((count + 2))"
end

# ---- a module that cannot be used ---------------------------------------------------------------

# refused NAME TEXT: the engine is refused with one line; the other engine still works.
refused() {
    try "${run[@]}" --engine mpi --iterations 1
    check "$1: exit code" exits 2
    check "$1: one line" one_line
    check "$1: what it says" warns "$2"
    mv err said
    try "${run[@]}" --engine threads --iterations 1
    check "$1: threads work" exits 0
}
mkdir none wrong
SADDLE_MODULES=$work/none refused "no module" "mpi needs a module that is not installed ('$work/none/libsaddle-mpi.so')"
check "no module: its package" grep -qE 'install the package libsaddle[0-9.]+-mpi, or install .*libopenmpi-dev' said
SADDLE_MODULES=$(dirname "$other_version") refused "another version" "is of another build, of saddle 0.0.7, and this is"
echo text >wrong/libsaddle-mpi.so
SADDLE_MODULES=wrong refused "not a shared object" "the module 'wrong/libsaddle-mpi.so', which cannot be loaded ("
if has_compiler; then
    echo 'int nothing;' >nothing.c
    "$compiler" -shared -fPIC -o wrong/libsaddle-mpi.so nothing.c || exit 1
    SADDLE_MODULES=wrong refused "another object" "'wrong/libsaddle-mpi.so' is not a module of saddle"
    echo 'extern int lacking(void); int (*call)(void) = lacking;' >lacking.c
    "$compiler" -shared -fPIC -o wrong/libsaddle-mpi.so lacking.c || exit 1
    SADDLE_MODULES=wrong refused "a library is missing" "cannot be loaded (wrong/libsaddle-mpi.so: undefined symbol: lacking)"
fi

finish
