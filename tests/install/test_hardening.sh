#!/usr/bin/env bash
# The hardening of a release build, as found in the program and the shared library.
#
#   test_hardening.sh SADDLE LIBSADDLE
set -u
passed=0
failed=0

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$name"
    fi
}

shows() { readelf -W "$1" "$2" 2>/dev/null | grep -qE -- "$3"; }
lacks() { ! shows "$@"; }

for file in "$1" "$2"; do
    name=$(basename "$file")
    check "$name: relocations become read-only" shows -l "$file" 'GNU_RELRO'
    check "$name: all of them, at once" shows -d "$file" 'BIND_NOW|FLAGS.*NOW'
    check "$name: the stack cannot be executed" lacks -l "$file" 'GNU_STACK.*E '
    check "$name: no segment is writable and executable" lacks -l "$file" 'LOAD.* RWE '
    check "$name: stacks are guarded" shows -s "$file" '__stack_chk_fail'
    check "$name: copies are checked" shows -s "$file" '__(snprintf|vsnprintf|memcpy|fprintf)_chk'
    check "$name: is loaded at a place of its own" shows -h "$file" 'Type: +DYN'
done
printf 'checks: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
