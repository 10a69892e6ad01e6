# Shared by the tests of the program: source it with the program's path as first argument.
#
#   try ARGUMENTS...       run the program; sets $code, and writes its output to the files out and err
#   check NAME COMMAND...  count a check that passes when the command succeeds
#   finish                 print the counts and exit
#   has TOOL...            whether the tools are installed; prints a line "skip: ..." for a missing one
#   has_compiler           sets $compiler
#   has_terminal           whether there are pseudo-terminals
#   wait_for COMMAND...    wait until the command succeeds; fails after minutes, which only happens after an error, and
#                          when the process $job has ended
#   has_mpi RANKS          whether a job of RANKS processes starts, by $mpirun; prints a line "skip: ..." otherwise
#   preload NAME           build NAME.c of this directory as the library $work/NAME.so, for LD_PRELOAD
#   at_moment NAME=VALUE... -- ARGUMENTS...
#                          like try, with moments.so preloaded and its settings; a normal exit writes the file calls
#
# Every test runs in its own directory, which is removed at the end.
# shellcheck shell=bash

set -u
saddle=$(realpath "$1")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
export here
work=$(mktemp -d "${TMPDIR:-/tmp}/saddle-cli-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C HOME="$work/home" XDG_DATA_HOME="$work/data-home"
unset SADDLE_DATA
passed=0
failed=0
code=0

try() {
    timeout 1200 "$saddle" "$@" >out 2>err </dev/null
    code=$?
}

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$name"
        sed 's/^/    out: /' out 2>/dev/null | head -5
        sed 's/^/    err: /' err 2>/dev/null | head -5
    fi
}

finish() {
    printf 'checks: %d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ]
    exit
}

# A check whose tool is not installed is skipped, with a line that says so.
skip() { printf 'skip: %s\n' "$1"; }
has() {
    local tool
    for tool in "$@"; do
        if ! command -v "$tool" >/dev/null; then
            skip "$tool is not installed"
            return 1
        fi
    done
}
has_compiler() { has "${CC:-cc}" && compiler=$(command -v "${CC:-cc}"); }
has_terminal() {
    has script || return
    if ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
        skip "there are no pseudo-terminals here"
        return 1
    fi
}

# Tests wait for what the program has done, never for a fixed time.
wait_for() {
    local k
    for ((k = 0; k < 15000; k++)); do
        "$@" 2>/dev/null && return
        [ -z "${job-}" ] || kill -0 "$job" 2>/dev/null || return 1
        sleep 0.02
    done
    return 1
}

# The launcher of the MPI that the program was built with; ctest says which.
mpirun=${SADDLE_MPIRUN:-mpirun}
has_mpi() {
    has "$mpirun" || return
    if ! timeout 120 "$mpirun" -n "$1" "$saddle" run --engine mpi --problem quadratic --iterations 0 --quiet \
        >/dev/null 2>&1 </dev/null; then
        skip "the engine mpi does not work here"
        return 1
    fi
}

preload() {
    has_compiler || exit 77
    "$compiler" -shared -fPIC -O1 -o "$work/$1.so" "$here/$1.c" -ldl || exit 1
    export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"
}

# The test may have been started with signals ignored, as shells do for background jobs and nohup does.
at_moment() {
    local settings=()
    while [ "$1" != -- ]; do
        settings+=("$1")
        shift
    done
    shift
    rm -f calls
    # The braces catch the shell's own message when a signal kills the program.
    { env --default-signal=INT,TERM,HUP "${settings[@]}" MOMENT_LOG="$work/calls" \
        LD_PRELOAD="$work/moments.so" "$saddle" "$@" >out 2>err </dev/null; } 2>/dev/null
    code=$?
}

# Prints the processes of the program in an MPI job, given the process that started it: its children, or theirs.
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

# ---- conditions

is() { [ "$1" = "$2" ]; }
exits() { [ "$code" -eq "$1" ]; }
says() { grep -qF -- "$1" out; }
warns() { grep -qF -- "$1" err; }
silent() { [ ! -s err ]; }
one_line() { [ "$(wc -l <err)" -eq 1 ] && grep -q '^saddle: ' err; }
absent() { [ ! -e "$1" ]; }
narrow() { ! grep -qE '^.{81}' "$1"; }
# A file has at least this many lines that are not comments.
rows_in() { [ "$(grep -vc '^#' "$1")" -ge "$2" ]; }

# Checks that the program refuses ARGUMENTS with exit code 2 and one line that contains TEXT:
#   refuse TEXT ARGUMENTS...
refuse() {
    local text=$1
    shift
    try "$@"
    check "refuses: $*" exits 2
    check "one line for: $*" one_line
    check "message of: $* (wanted: $text)" warns "$text"
    check "prints nothing for: $*" is "$(wc -c <out)" 0
}

# Prints a trace without its comment lines and its column of seconds.
timeless() { grep -v '^#' "$1" | cut -d, -f1-5,7-; }
same_trace() { cmp -s <(timeless "$1") <(timeless "$2"); }

# Prints the last row of a trace; a comment with the run's end follows it.
last_row() { grep -v '^#' "$1" | tail -1; }

# Options of a small problem, and of a quick run on it.
# shellcheck disable=SC2034
tiny=(--data synthetic:300 --samples 40)
# shellcheck disable=SC2034
small=(--data synthetic:300 --samples 40 --iterations 60)
