#!/usr/bin/env bash
# Clocks that jump during runs: the wall clock back and forth by hours, as when it is set, and the monotonic one
# forward by hours, as after a suspension. clock.c, preloaded, provides these clocks.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

preload clock

# odd ARGUMENTS...: like try, with a wall clock that jumps. ticking ARGUMENTS...: also with a monotonic clock that
# advances by a millisecond per reading. leap AFTER SECONDS ARGUMENTS...: also with a jump by SECONDS after AFTER.
tick=1000000
odd() {
    rm -f looks
    LD_PRELOAD=$work/clock.so CLOCK_LOG=$work/looks timeout 1200 "$saddle" "$@" >out 2>err </dev/null
    code=$?
}
ticking() { CLOCK_TICK=$tick odd "$@"; }
leap() {
    local after=$1 seconds=$2
    shift 2
    CLOCK_AFTER=$after CLOCK_LEAP=$seconds ticking "$@"
}
looked() { awk '{day += $1; steady += $2} END {exit !(steady > 5)}' looks; }
# The seconds of a trace begin at 0, never decrease, and stay below a limit.
steady() { grep -v '^#' "$1" | awk -F, -v most="$2" 'NR > 1 {if (!($6 >= last && $6 < most)) exit 1; last = $6}'; }
kept() { find "$1" -name '*.saddle' | wc -l; }

# ---- the wall clock has no effect
try run "${tiny[@]}" --iterations 3000 --trace-every 10 --trace right.csv --model right.npz --quiet
odd run "${tiny[@]}" --iterations 3000 --trace-every 10 --trace odd.csv --model odd.npz --quiet
check "a run" exits 0
check "which looked at the clocks" looked
check "says nothing" silent
check "has the same trace" same_trace right.csv odd.csv
check "has the same model" cmp -s right.npz odd.npz
check "has seconds that run forward" steady odd.csv 60
ticking run "${tiny[@]}" --iterations 1e12 --max-seconds 1 --checkpoint every --checkpoint-every 0.2s --trace limit.csv
check "a time budget" exits 0
check "ends the run" says "time budget spent"
check "with seconds that run forward" steady limit.csv 2
check "to the limit" steady <(last_row limit.csv | awk -F, -v OFS=, '{$6 -= 1; print "head"; print}') 0.1
check "checkpoints by the second are written" [ "$(kept every)" -eq 2 ]
first=$(find every -name '*.saddle' | sort | head -1)
check "not only at the end" [ "$(basename "$first" .saddle | tr -dc 0-9 | sed 's/^0*//')" -gt 0 ]
ticking run --resume every --trace limit.csv --iterations 1e12 --max-seconds 1.5 --quiet
check "a resumed run" exits 0
# Each reading of the clock takes a second, and the gap has a larger part of them than a fifth of iterating. (With more
# threads, their number is chosen by the clock.)
tick=1000000000 ticking run "${tiny[@]}" --threads 1 --iterations 1 --gap end
named() { tr -s ' \n' ' ' <out | grep -qF '(1 s of it for the gap; --gap never saves that)'; }
check "the time of a short run names that of the gap" named
tick=1000000000 ticking run "${tiny[@]}" --threads 1 --iterations 1 --gap never
unnamed() { ! tr -s ' \n' ' ' <out | grep -qF 'of it for the gap'; }
check "unless it is not measured" unnamed
odd compare "${tiny[@]}" --iterations 50 --algorithms precision,gt-gda --output cmp --quiet
check "a comparison" exits 0
odd tune "${tiny[@]}" --algorithms precision --budget 20000 --output tn --quiet
check "a search" exits 0

# ---- a jump of the monotonic clock: the time counts, without other effects
leap 1 36000 run "${tiny[@]}" --iterations 1e12 --max-seconds 7200 --trace leap.csv --model leap.npz --checkpoint slept
check "a budget that a sleep has used up" exits 0
check "ends the run" says "time budget spent"
check "seconds run forward" steady leap.csv 40000
check "with a model" [ -s leap.npz ]
check "and a checkpoint" [ "$(kept slept)" -ge 1 ]
last=$(last_row leap.csv | cut -d, -f1)
try run "${tiny[@]}" --iterations "$last" --trace-every "$last" --trace same.csv --quiet
check "which is that of as many iterations" is "$(last_row same.csv | cut -d, -f7-)" \
    "$(last_row leap.csv | cut -d, -f7-)"
leap 0 36000 run "${tiny[@]}" --iterations 3000 --trace-every 10 --trace early.csv --quiet
check "one before the run begins" exits 0
check "is not counted" steady early.csv 60
check "and changes nothing" same_trace right.csv early.csv

# ---- progress on a terminal: the remaining time is never negative, whatever the clocks do
if has_terminal; then
    LD_PRELOAD=$work/clock.so CLOCK_TICK=$tick CLOCK_AFTER=1 CLOCK_LEAP=36000 timeout 1200 \
        script -qec "$saddle run ${tiny[*]} --iterations 1e8 --max-seconds 7200" typed >/dev/null 2>&1 </dev/null
    check "progress is shown" grep -q ' left' typed
    check "without negative times" bash -c '! tr "\r" "\n" <typed | grep -E -- " -[0-9.]+.* left|nan| inf"'
fi
finish
