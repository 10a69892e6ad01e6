#!/usr/bin/env bash
# SIGINT, SIGTERM and SIGHUP at any moment, also during set-up and while files are written: the program ends in an
# orderly way or, before there is anything to keep, by the signal itself. Files are complete or absent, and the work
# continues from them to the results that it would have had.
#
# A moment is a reading of the clock, which every iteration does, or a call that accesses a file (moments.c); both are
# drawn from a fixed sequence over all calls of the undisturbed program. SADDLE_MOMENTS sets how many there are per
# command.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
preload moments

moments=${SADDLE_MOMENTS:-4}
signals=(INT TERM HUP)

complete_rows() { [ "$(grep -v '^#' "$1" | awk -F, 'NR == 1 {n = NF} NF != n' | wc -l)" -eq 0 ] && ends_line "$1"; }
ends_line() { [ ! -s "$1" ] || [ "$(tail -c 1 "$1" | wc -l)" -eq 1 ]; }
# All CSV files under a directory, or a file, have only complete rows.
all_complete() {
    local file
    while read -r file; do complete_rows "$file" || return 1; done < <(find "$1" -name '*.csv')
}
no_litter() { [ -z "$(find . -name '*.tmp' -o -name '*.part')" ]; }
model_works() { "$saddle" predict --model "$1" --data synthetic:5 --output scores >/dev/null 2>&1; }

# Prints a number below 1000 from a fixed sequence.
state=20231
draw() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % 1000))
}

# measure ARGUMENTS...: runs undisturbed; sets $looks and $files to the number of calls of each kind.
measure() {
    at_moment -- "$@"
    check "undisturbed: $1" exits 0
    looks=0 files=0
    read -r looks files <calls
    check "$1: enough moments, $looks and $files" [ $((looks > 100 && files > 20)) -eq 1 ]
}

# disturb ARGUMENTS...: runs with a signal at some moment or, if $twice is set, with two, the second at one of the
# next calls. Sets $code, $moment (for messages) and $expected, the code of a death by the signal.
number=0
orderly=0
disturb() {
    local kind=FILE among=$files signal
    number=$((number + 1))
    signal=${signals[$((number % 3))]}
    if [ $((number % 2)) -eq 0 ]; then
        kind=CLOCK among=$looks
    fi
    draw
    local at=$((1 + drawn * among / 1000)) again=0
    [ -z "${twice:-}" ] || again=$((1 + drawn % 7))
    moment="$1, $signal at call $at of kind $kind"
    at_moment MOMENT_$kind=$at MOMENT_SIGNAL="$(kill -l "$signal")" MOMENT_AGAIN=$again -- "$@"
    expected=$((128 + $(kill -l "$signal")))
    if in_order; then orderly=$((orderly + 1)); fi
}
# Of the moments since `orderly` was last 0, at least some were in the middle of the work.
some_in_order() {
    check "$1: some ended in good order" [ "$orderly" -ge $((moments / 3)) ]
    orderly=0
}
# The program ended by itself, with the code for an interrupted run.
in_order() { [ "$code" -eq 130 ] && [ -e calls ]; }
killed() { [ "$code" -eq "$expected" ] && [ ! -e calls ]; }
# rows_under PATH: prints the number of data rows in all CSV files there.
rows_under() { find "$1" -name '*.csv' -exec grep -h '^[0-9]' {} + 2>/dev/null | wc -l; }
# ended_well PATH: the end was orderly, the work was finished, or there was nothing to keep at PATH.
ended_well() { in_order || [ "$code" -eq 0 ] || { killed && [ "$(rows_under "$1")" -eq 0 ]; }; }
# A second signal kills immediately.
ended_somehow() { in_order || [ "$code" -eq 0 ] || killed; }

# ---- run: resumed from its checkpoint, it gives the same trace and model
work_of_run=(run "${tiny[@]}" --iterations 1500 --trace-every 20 --checkpoint-every 200)
measure "${work_of_run[@]}" --checkpoint right --trace right.csv --model right.npz
for _ in $(seq "$moments"); do
    rm -rf ck s.csv s.npz
    disturb "${work_of_run[@]}" --checkpoint ck --trace s.csv --model s.npz
    check "$moment: ends well" ended_well s.csv
    check "$moment: no temporary file" no_litter
    if in_order; then
        check "$moment: a model" model_works s.npz
        check "$moment: complete rows" complete_rows s.csv
        if grep -q ' 0 iterations,' out; then # nothing was done that could be kept
            check "$moment: has nothing to resume from" [ -z "$(find ck -name '*.saddle')" ]
        else
            check "$moment: says how to resume" warns "saddle run --resume ck"
        fi
    elif [ "$code" -ne 0 ]; then
        check "$moment: no model" absent s.npz
    fi
    try "${work_of_run[@]}" --checkpoint ck --resume auto --trace s.csv --model s.npz
    check "$moment: resumes" exits 0
    check "$moment: to the same trace" same_trace s.csv right.csv
    check "$moment: to the same model" cmp -s s.npz right.npz
done
some_in_order run
# A second signal kills immediately; existing files are still complete.
twice=yes
for _ in $(seq "$moments"); do
    rm -rf ck s.csv s.npz
    disturb "${work_of_run[@]}" --checkpoint ck --trace s.csv --model s.npz
    check "$moment, twice: ends" ended_somehow
    [ ! -e s.npz ] || check "$moment, twice: a complete model" model_works s.npz
    try "${work_of_run[@]}" --checkpoint ck --resume auto --trace s.csv --model s.npz
    check "$moment, twice: resumes" exits 0
    check "$moment, twice: to the same trace" same_trace s.csv right.csv
    check "$moment, twice: to the same model" cmp -s s.npz right.npz
    find . -name '*.tmp' -delete
done
unset twice
orderly=0

# ---- compare: traces and summary are complete, and the same command makes those that are missing
work_of_compare=(compare "${tiny[@]}" --iterations 600 --algorithms "precision,prox-dsgda,gt-gda" --quiet)
measure "${work_of_compare[@]}" --output right-compare
for _ in $(seq "$moments"); do
    rm -rf c
    disturb "${work_of_compare[@]}" --output c
    check "$moment: ends well" ended_well c
    check "$moment: no temporary file" no_litter
    [ ! -d c ] || check "$moment: complete files" all_complete c
    ! in_order || check "$moment: a summary" [ -s c/summary.csv ]
done
some_in_order compare
try "${work_of_compare[@]}" --output c
check "the comparison again" exits 0
for trace in right-compare/*seed1.csv; do
    check "has the same $trace" same_trace "$trace" "c/$(basename "$trace")"
done

# ---- tune: the log is continued
work_of_tune=(tune "${tiny[@]}" --algorithms "precision,gda" --budget 200000 --quiet)
measure "${work_of_tune[@]}" --output right-tune
for _ in $(seq "$moments"); do
    rm -rf t
    disturb "${work_of_tune[@]}" --output t
    check "$moment: ends well" ended_well t
    check "$moment: no temporary file" no_litter
    [ ! -d t ] || check "$moment: complete logs" all_complete t
    try "${work_of_tune[@]}" --output t --resume
    check "$moment: resumes" exits 0
    for answer in precision gda; do
        check "$moment: to the same answer for $answer" cmp -s "t/$answer.yaml" "right-tune/$answer.yaml"
    done
done
some_in_order tune

# ---- nohup is respected: the 300th reading of the clock is in the middle of the iterations
(
    trap '' HUP
    MOMENT_CLOCK=300 MOMENT_SIGNAL=1 LD_PRELOAD="$work/moments.so" \
        "$saddle" run "${tiny[@]}" --iterations 1000 >out 2>err </dev/null
)
code=$?
check "an ignored hang-up ends nothing" exits 0
check "the run comes to its end" says "all iterations done"
finish
