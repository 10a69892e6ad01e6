# Shared by the tests that install something: source it after WORK is made, a directory that they may write to.
#
#   check TITLE COMMAND...  one check; the output is shown only when it fails
#   finish                  print the counts; false if a check failed
#   soversion SOURCE        print the number of the soname: 0.MINOR before 1.0, MAJOR from then on
#
# shellcheck shell=bash

PASSED=0
FAILED=0

check() {
    local title=$1
    shift
    if "$@" >"$WORK/log" 2>&1; then
        PASSED=$((PASSED + 1))
    else
        FAILED=$((FAILED + 1))
        printf 'FAIL %s\n' "$title"
        sed 's/^/    /' "$WORK/log"
    fi
}

soversion() {
    sed -nE 's/^project\(saddle VERSION (0\.[0-9]+|[0-9]+)\..*/\1/p' "$1/CMakeLists.txt"
}

finish() {
    printf 'checks: %d passed, %d failed\n' "$PASSED" "$FAILED"
    [[ $FAILED -eq 0 ]]
}
