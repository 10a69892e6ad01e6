#!/usr/bin/env bash
# Clocks that jump while runs are under way: the clock of the day to and fro by hours, as when it is set, and
# the monotonic one forward by hours, as after a sleep that it counts. clock.c, preloaded, is these clocks.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

compiler=$(command -v "${CC:-cc}") || exit 77
"$compiler" -shared -fPIC -O1 -o clock.so "$here/clock.c" || exit 1
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"

# odd ARGUMENTS...: as try, with the clock of the day gone mad. leap AFTER SECONDS ARGUMENTS...: and with the
# monotonic one going forward by SECONDS after about AFTER.
odd() {
    rm -f looks
    LD_PRELOAD=$work/clock.so CLOCK_LOG=$work/looks timeout 300 "$saddle" "$@" >out 2>err </dev/null
    code=$?
}
leap() {
    local after=$1 seconds=$2
    shift 2
    CLOCK_AFTER=$after CLOCK_LEAP=$seconds odd "$@"
}
looked() { awk '{day += $1; steady += $2} END {exit !(steady > 5)}' looks; }
# Seconds of a trace begin at 0, never fall, and stay below a limit.
steady() { grep -v '^#' "$1" | awk -F, -v most="$2" 'NR > 1 {if (!($6 >= last && $6 < most)) exit 1; last = $6}'; }
kept() { find "$1" -name '*.saddle' | wc -l; }

# ---- the clock of the day: nothing comes of it
try run "${tiny[@]}" --iterations 3000 --trace-every 10 --trace right.csv --model right.npz --quiet
odd run "${tiny[@]}" --iterations 3000 --trace-every 10 --trace odd.csv --model odd.npz --quiet
check "a run" exits 0
check "which looked at the clocks" looked
check "says nothing" silent
check "has the same trace" same_trace right.csv odd.csv
check "has the same model" cmp -s right.npz odd.npz
check "has seconds that run forward" steady odd.csv 60
begun=$SECONDS
odd run "${tiny[@]}" --iterations 1e12 --max-seconds 1 --checkpoint every --checkpoint-every 0.2s --trace limit.csv
check "a time budget" exits 0
check "ends the run" says "time budget spent"
check "after about that time" [ $((SECONDS - begun)) -le 20 ]
check "with seconds that run forward" steady limit.csv 20
check "checkpoints by the second are written" [ "$(kept every)" -eq 2 ]
first=$(find every -name '*.saddle' | sort | head -1)
check "not only at the end" [ "$(basename "$first" .saddle | tr -dc 0-9 | sed 's/^0*//')" -gt 0 ]
odd run --resume every --iterations 1e12 --max-seconds 1.5 --quiet
check "a run that goes on" exits 0
odd compare "${tiny[@]}" --iterations 50 --algorithms precision,gt-gda --output cmp --quiet
check "a comparison" exits 0
odd tune "${tiny[@]}" --algorithms precision --budget 20000 --output tn --quiet
check "a search" exits 0

# ---- times of files that go back do not keep `watch` from seeing what is new
sed '$d' right.csv | head -60 >live.csv
LD_PRELOAD=$work/clock.so timeout 60 "$saddle" watch live.csv >live 2>err </dev/null &
watcher=$!
for rows in 100 200; do
    sleep 0.7
    head -n "$rows" right.csv >live.csv
    touch -d "$rows hours ago" live.csv
done
sleep 0.7
cp right.csv live.csv
touch -d '500 hours ago' live.csv
wait "$watcher"
check "watch sees the end" is "$?" 0
check "and every row" is "$(grep -c '^ *[0-9]' live)" "$(($(grep -vc '^#' right.csv) - 1))"

# ---- a leap of the monotonic clock: the time counts, and nothing else comes of it
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

# ---- progress on a terminal: what is left is never negative, whatever the clocks do
if command -v script >/dev/null; then
    LD_PRELOAD=$work/clock.so CLOCK_AFTER=1 CLOCK_LEAP=36000 timeout 60 \
        script -qec "$saddle run ${tiny[*]} --iterations 1e8 --max-seconds 7200" typed >/dev/null 2>&1 </dev/null
    check "progress is shown" grep -q ' left' typed
    check "without negative times" bash -c '! tr "\r" "\n" <typed | grep -E -- " -[0-9.]+.* left|nan| inf"'
fi
finish
