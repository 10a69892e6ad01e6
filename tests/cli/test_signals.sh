#!/usr/bin/env bash
# SIGINT, SIGTERM and SIGHUP at any moment, set-up and writing of files included: an end in good order, or,
# before there is anything to keep, by the signal itself. Files are whole or not there, and the work goes on
# from them to the results that it would have had.
#
# Moments are drawn from a fixed sequence over the time that the work takes undisturbed; SADDLE_MOMENTS sets
# how many there are of each kind of work.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

moments=${SADDLE_MOMENTS:-6}
signals=(INT TERM HUP)

whole_rows() { [ "$(grep -v '^#' "$1" | awk -F, 'NR == 1 {n = NF} NF != n' | wc -l)" -eq 0 ] && ends_line "$1"; }
ends_line() { [ ! -s "$1" ] || [ "$(tail -c 1 "$1" | wc -l)" -eq 1 ]; }
# All CSV files under a directory, or a file, have whole rows.
all_whole() {
    local file
    while read -r file; do whole_rows "$file" || return 1; done < <(find "$1" -name '*.csv')
}
no_litter() { [ -z "$(find . -name '*.tmp' -o -name '*.part')" ]; }
model_works() { "$saddle" predict --model "$1" --data synthetic:5 --output scores >/dev/null 2>&1; }

# A number below 1000 from a fixed sequence.
state=20231
draw() {
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % 1000))
}

milliseconds() { date +%s%3N; }

# measure ARGUMENTS...: the work undisturbed; $span is how many milliseconds it took.
measure() {
    local begun
    begun=$(milliseconds)
    try "$@"
    span=$(($(milliseconds) - begun))
    check "undisturbed: $1" exits 0
}

# disturb ARGUMENTS...: start the work, send it a signal some time later, once or twice, and wait for its end.
# Leaves $code, $signal, $moment (for messages) and $expected, the code of who was killed by it.
number=0
orderly=0
disturb() {
    number=$((number + 1))
    signal=${signals[$((number % 3))]}
    draw
    local delay=$((drawn * span / 900)) process
    moment="$1, $signal after $delay ms"
    # Shells start background jobs with INT ignored.
    env --default-signal=INT,TERM,HUP "$saddle" "$@" >out 2>err </dev/null &
    process=$!
    # Until it is a program of its own, it is this shell, whose exit would clear the directory away.
    while [ "$(cat "/proc/$process/comm" 2>/dev/null)" = "$(cat /proc/$$/comm)" ]; do :; done
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    kill -"$signal" "$process" 2>/dev/null
    if [ -n "${twice:-}" ]; then
        sleep 0.00$((drawn % 10))
        kill -"$signal" "$process" 2>/dev/null
    fi
    wait "$process" 2>/dev/null
    code=$?
    expected=$((128 + $(kill -l "$signal")))
    orderly=$((orderly + (code == 130)))
}
# Of the moments since `orderly` was last 0, some at least were in the midst of the work.
some_in_order() {
    check "$1: some ended in good order" [ "$orderly" -ge $((moments / 3)) ]
    orderly=0
}
# Whether the work ended in good order. 130 is also the code of who was killed by INT, with nothing printed.
in_order() { [ "$code" -eq 130 ] && [ -s out ]; }
# The end was in good order, there was nothing to keep, or the work was done.
ended_well() { [ "$code" -eq 130 ] || [ "$code" -eq 0 ] || [ "$code" -eq "$expected" ]; }

# ---- run: from its checkpoint it comes to the same trace and model
work_of_run=(run "${tiny[@]}" --iterations 9000 --trace-every 100 --checkpoint-every 1000)
measure "${work_of_run[@]}" --checkpoint right --trace right.csv --model right.npz
[ "$span" -lt 2000 ] || moments=3 # a program that is watched by a sanitizer
for _ in $(seq "$moments"); do
    rm -rf ck s.csv s.npz
    disturb "${work_of_run[@]}" --checkpoint ck --trace s.csv --model s.npz
    check "$moment: ends well" ended_well
    check "$moment: no temporary file" no_litter
    if in_order; then
        check "$moment: a model" model_works s.npz
        check "$moment: whole rows" whole_rows s.csv
        check "$moment: says how to go on" warns "saddle run --resume ck"
    elif [ "$code" -ne 0 ]; then
        check "$moment: no model" absent s.npz
    fi
    "$saddle" "${work_of_run[@]}" --checkpoint ck --resume auto --trace s.csv --model s.npz >out 2>err </dev/null
    code=$?
    check "$moment: goes on" exits 0
    check "$moment: to the same trace" same_trace s.csv right.csv
    check "$moment: to the same model" cmp -s s.npz right.npz
done
some_in_order run
# A second one kills at once: what there is then is whole, too.
twice=yes
for _ in $(seq "$moments"); do
    rm -rf ck s.csv s.npz
    disturb "${work_of_run[@]}" --checkpoint ck --trace s.csv --model s.npz
    check "$moment, twice: ends" ended_well
    [ ! -e s.npz ] || check "$moment, twice: a whole model" model_works s.npz
    "$saddle" "${work_of_run[@]}" --checkpoint ck --resume auto --trace s.csv --model s.npz >out 2>err </dev/null
    code=$?
    check "$moment, twice: goes on" exits 0
    check "$moment, twice: to the same trace" same_trace s.csv right.csv
    check "$moment, twice: to the same model" cmp -s s.npz right.npz
    find . -name '*.tmp' -delete
done
unset twice
orderly=0

# ---- compare: traces and summary are whole, and the same command makes them all
work_of_compare=(compare "${tiny[@]}" --iterations 6000 --algorithms "precision,prox-dsgda,gt-gda" --quiet)
measure "${work_of_compare[@]}" --output right-compare
for _ in $(seq "$moments"); do
    rm -rf c
    disturb "${work_of_compare[@]}" --output c
    check "$moment: ends well" ended_well
    check "$moment: no temporary file" no_litter
    [ ! -d c ] || check "$moment: whole files" all_whole c
    ! in_order || check "$moment: a summary" [ -s c/summary.csv ]
done
some_in_order compare
try "${work_of_compare[@]}" --output c
check "the comparison again" exits 0
for trace in right-compare/*seed1.csv; do
    check "has the same $trace" same_trace "$trace" "c/$(basename "$trace")"
done

# ---- tune: the log goes on
work_of_tune=(tune "${tiny[@]}" --algorithms "precision,gda" --budget 600000 --quiet)
measure "${work_of_tune[@]}" --output right-tune
for _ in $(seq "$moments"); do
    rm -rf t
    disturb "${work_of_tune[@]}" --output t
    check "$moment: ends well" ended_well
    check "$moment: no temporary file" no_litter
    [ ! -d t ] || check "$moment: whole logs" all_whole t
    try "${work_of_tune[@]}" --output t --resume
    check "$moment: goes on" exits 0
    for answer in precision gda; do
        check "$moment: to the same answer for $answer" cmp -s "t/$answer.yaml" "right-tune/$answer.yaml"
    done
done
some_in_order tune

# ---- reproduce: what is finished stays, and the same command comes to the same claims
work_of_reproduce=(reproduce --only "theorem,steps-x-regression" --quick --quiet)
measure "${work_of_reproduce[@]}" --output right-reproduce
for _ in 1 2 3; do
    rm -rf r
    disturb "${work_of_reproduce[@]}" --output r
    check "$moment: ends well" ended_well
    [ ! -d r/traces ] || check "$moment: whole traces" all_whole r/traces
    try "${work_of_reproduce[@]}" --output r
    check "$moment: goes on" exits 0
    check "$moment: to the same claims" cmp -s r/claims.md right-reproduce/claims.md
    check "$moment: no temporary file" no_litter
done
moments=3
some_in_order reproduce

# ---- nohup is respected
(
    trap '' HUP
    exec "$saddle" run "${small[@]}" --iterations 1e9 --max-seconds 0.5 >out 2>err </dev/null
) &
process=$!
sleep 0.2
kill -HUP "$process"
wait "$process"
code=$?
check "an ignored hang-up ends nothing" exits 0
check "the run ends by itself" says "time budget spent"
finish
