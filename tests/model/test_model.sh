#!/usr/bin/env bash
# The rule of membership as a model (membership.pml), searched completely by spin in small cases; rules that are broken
# on purpose must be caught. SADDLE_TEST_LONG=1: larger cases, which take minutes of a processor and up to 4 GB.
#
#   test_model.sh C-COMPILER
set -u
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
compiler=$1
if ! command -v spin >/dev/null; then
    echo "skip: the membership rule is not modelled without spin"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/saddle-model-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$here/membership.pml" .
passed=0
failed=0
optimized=-O0 # to optimize the program takes longer than a small search without
if [ -n "${SADDLE_TEST_LONG-}" ]; then
    optimized=-O2
fi

# search holds|fails NAME -DNAME=VALUE...: searches all states; those of `fails` must violate an assertion.
search() {
    local expected=$1 name=$2 found=unknown
    shift 2
    if spin -a "$@" membership.pml >spin.log 2>&1 &&
        "$compiler" "$optimized" -w -DSAFETY -DNOREDUCE -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c >compiler.log 2>&1; then
        ./pan -n -m"${DEPTH-200000}" >pan.log 2>&1
        if grep -q 'assertion violated' pan.log; then
            found=fails
        elif grep -q 'errors: 0' pan.log && ! grep -qE 'too small|out of memory|not completed' pan.log; then
            found=holds
        fi
    fi
    if [ "$found" = "$expected" ]; then
        passed=$((passed + 1))
        printf '%s: %s\n' "$name" "$(grep -oE '[0-9e.+]+ states, stored' pan.log)"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: it should be %s, and is %s\n' "$name" "$expected" "$found"
        tail -n 5 spin.log compiler.log pan.log
    fi
}

path="-DAGENTS=3 -DEDGES=2"
triangle="-DAGENTS=3 -DEDGES=3"
peers="-DPEERS -DROUNDS"
# shellcheck disable=SC2086  # several options
{
    search holds "sums on a path, 1 event" $path -DEVENTS=1
    search holds "agreement on a path, 2 events" $path -DEVENTS=2 -DROUNDS -DQUIET=3
    search holds "agreement on a triangle, 1 event" $triangle -DEVENTS=1 -DROUNDS -DQUIET=2
    search fails "agreement in fewer rounds" $path -DEVENTS=2 -DROUNDS -DQUIET=2
    for broken in 1 2 3 4; do
        search fails "broken rule $broken" $path -DEVENTS=2 -DBREAK=$broken
    done
    for broken in 5 6; do
        search fails "broken rule $broken" $path -DEVENTS=2 -DROUNDS -DQUIET=3 -DBREAK=$broken
    done
    search holds "agreement of peers on a path, 1 event" $path $peers -DEVENTS=1 -DQUIET=4
    search fails "agreement of peers in fewer rounds" $path $peers -DEVENTS=1 -DQUIET=3
    for broken in 6 7; do
        search fails "broken rule $broken of peers" $path $peers -DEVENTS=2 -DQUIET=4 -DBREAK=$broken
    done
    if [ -n "${SADDLE_TEST_LONG-}" ]; then
        DEPTH=20000000
        search holds "sums of peers on a path, 1 event" $path -DPEERS -DEVENTS=1
        search fails "broken rule 5 of peers" $path -DPEERS -DEVENTS=2 -DBREAK=5
        search holds "agreement of peers on a path, 2 events" $path $peers -DEVENTS=2 -DQUIET=4
        search holds "agreement of peers on a triangle, 1 event" $triangle $peers -DEVENTS=1 -DQUIET=3
        search holds "agreement of peers on a path of 4, 1 event" -DAGENTS=4 -DEDGES=3 $peers -DEVENTS=1 -DQUIET=5
        search holds "sums on a path, 2 events" $path -DEVENTS=2
        search holds "sums that are held back, on a path, 1 event" $path -DEVENTS=1 -DHOLD
        search holds "sums modulo 3 on a path, 1 event" $path -DEVENTS=1 -DSUMS=3
        search holds "sums on a triangle, 1 event" $triangle -DEVENTS=1
        search holds "agreement on a triangle, 2 events" $triangle -DEVENTS=2 -DROUNDS -DQUIET=2
        search holds "agreement on a path of 4, 2 events" -DAGENTS=4 -DEDGES=3 -DEVENTS=2 -DROUNDS -DQUIET=4
    fi
}
printf 'checks: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
