# Shared by the tests that install something: source it after WORK is made, a directory that they may write to.
#
#   check TITLE COMMAND...  one check; the output is shown only when it fails
#   finish                  print the counts; false if a check failed
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

finish() {
    printf 'checks: %d passed, %d failed\n' "$PASSED" "$FAILED"
    [[ $FAILED -eq 0 ]]
}
