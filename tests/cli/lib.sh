# Shared by the tests of the program: source it with the program's path as first argument.
#
#   try ARGUMENTS...       run the program; leaves $code, and its output in the files out and err
#   check NAME COMMAND...  count a check that passes when the command succeeds
#   finish                 print the counts and exit
#
# Every test runs in a directory of its own that is removed at the end.
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
    timeout 300 "$saddle" "$@" >out 2>err </dev/null
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

# ---- conditions

is() { [ "$1" = "$2" ]; }
exits() { [ "$code" -eq "$1" ]; }
says() { grep -qF -- "$1" out; }
warns() { grep -qF -- "$1" err; }
silent() { [ ! -s err ]; }
one_line() { [ "$(wc -l <err)" -eq 1 ] && grep -q '^saddle: ' err; }
absent() { [ ! -e "$1" ]; }
narrow() { ! grep -qE '^.{81}' "$1"; }

# The program refuses ARGUMENTS with exit code 2 and one line that contains TEXT:
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

# A trace without its comment lines and its column of seconds.
timeless() { grep -v '^#' "$1" | cut -d, -f1-5,7-; }
same_trace() { cmp -s <(timeless "$1") <(timeless "$2"); }

# The last row of a trace; a comment with the run's end follows it.
last_row() { grep -v '^#' "$1" | tail -1; }

# Options of a small problem, and of a quick run on it.
# shellcheck disable=SC2034
tiny=(--data synthetic:300 --samples 40)
# shellcheck disable=SC2034
small=(--data synthetic:300 --samples 40 --iterations 60)
