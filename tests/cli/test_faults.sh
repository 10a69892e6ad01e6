#!/usr/bin/env bash
# Failures during a run: full disks, files that disappear, too little memory, steps that are too long. What can be
# kept is kept, and the rest is reported. Signals: test_signals.sh.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

complete_rows() { [ "$(grep -v '^#' "$1" | awk -F, 'NF != 16' | wc -l)" -eq 0 ]; }
rows_of() { grep -vc '^#' "$1"; }
no_litter() { [ -z "$(find . -name '*.tmp')" ]; }
model_works() { "$saddle" predict --model "$1" --data synthetic:5 --output scores >/dev/null 2>&1; }

# ---- a file that may not grow (a limit on its size, whose signal would kill a program that ignores it)
try run "${small[@]}" --iterations 300 --trace-every 1 --trace whole.csv
(
    ulimit -f 24
    "$saddle" run "${small[@]}" --iterations 300 --trace-every 1 --trace limit.csv --model limit.npz \
        >out 2>err </dev/null
)
code=$?
check "a full trace ends with 1" exits 1
check "is reported during the run" warns "warning: cannot write the trace 'limit.csv': File too large"
check "and again at the end" grep -q "^saddle: cannot write the trace 'limit.csv'" err
check "the run continues" says "all iterations done"
check "and is the same" is "$(sed -n 's/^  loss *//p' out)" "$("$saddle" run "${small[@]}" \
    --iterations 300 --trace-every 1 | sed -n 's/^  loss *//p')"
check "the model is written" model_works limit.npz
check "the trace so far is complete" complete_rows limit.csv
check "and is the trace's beginning" is "$(timeless limit.csv | md5sum)" \
    "$(timeless whole.csv | head -n "$(rows_of limit.csv)" | md5sum)"
(
    ulimit -f 1
    "$saddle" run "${small[@]}" --model large.npz 2>err </dev/null
) | cat >out
code=${PIPESTATUS[0]}
check "a model that cannot be written ends with 1" exits 1
check "says why" warns "cannot write 'large.npz'"
check "with the reason" warns "File too large"
check "the summary is there" says "all iterations done"
check "and says so, too" says "not written"
check "nothing is left of it" absent large.npz
check "no temporary file either" no_litter

# ---- the same in a command of many runs: a comparison continues without the file
try compare "${small[@]}" --iterations 300 --algorithms precision,prox-dsgda --trace-every 1 --output full
(
    ulimit -f 24
    "$saddle" compare "${small[@]}" --iterations 300 --algorithms precision,prox-dsgda --trace-every 1 \
        --output cut >out 2>err </dev/null
)
code=$?
check "a comparison that lost a trace ends with 1" exits 1
check "names the first" grep -q "^saddle: cannot write the trace 'cut/precision-seed1.csv': File too large" err
check "warns of the second" warns "prox-dsgda seed 1: cannot write the trace 'cut/prox-dsgda-seed1.csv'"
check "prints its tables" says "prox-dsgda"
check "keeps its summary" is "$(cut -d, -f1-6 cut/summary.csv)" "$(cut -d, -f1-6 full/summary.csv)"
check "and complete rows" complete_rows cut/prox-dsgda-seed1.csv

# ---- a picture
if has gnuplot; then
    try run "${small[@]}" --iterations 5 --trace few.csv --quiet
    for picture in few.svg few.png few.pdf; do
        try plot few.csv -o "$picture"
        check "a picture: $picture" exits 0
        sum=$(sha256sum <"$picture")
        (
            ulimit -f 8
            "$saddle" plot few.csv -o "$picture" >out 2>err </dev/null
        )
        code=$?
        check "$picture that cannot be written ends with 1" exits 1
        check "says why" warns "cannot write '$picture': File too large"
        check "the old one stays" is "$(sha256sum <"$picture")" "$sum"
    done
    check "no temporary file" no_litter
fi

# ---- a real full disk and a read-only one, where they are available
mkdir disk
if mount -t tmpfs -o size=16k tmpfs disk 2>/dev/null; then
    try run "${small[@]}" --iterations 300 --trace-every 1 --trace disk/t.csv --model m.npz
    check "a full disk ends with 1" exits 1
    check "is reported" warns "cannot write the trace 'disk/t.csv': No space left on device"
    check "costs the trace's end alone" model_works m.npz
    check "which is complete" complete_rows disk/t.csv
    try run "${small[@]}" --iterations 300 --trace-every 1 --trace keep.csv --model disk/m.npz
    check "a full disk for the model ends with 1" exits 1
    check "names the reason" warns "No space left on device"
    try graph ring --agents 2000 --save disk/edges
    check "so does a full disk for edges" warns "cannot write 'disk/edges': No space left on device; is the disk full?"
    check "costs the model alone" is "$(timeless keep.csv | md5sum)" "$(timeless whole.csv | md5sum)"
    check "leaves no temporary file" no_litter
    mount -o remount,ro disk
    for option in --trace --model; do
        try run "${small[@]}" --problem auc "$option" disk/new
        check "$option in a read-only directory is refused at once" exits 2
        check "$option: says why" warns "Read-only file system"
        check "$option: before anything is run" is "$(wc -c <out)" 0
    done
    umount disk
else
    skip "no file system may be mounted here"
fi

# ---- a directory that disappears while a run writes to it
mkdir gone
"$saddle" run "${small[@]}" --iterations 1e9 --trace-every 200 --trace gone/t.csv --model m2.npz \
    >out 2>err </dev/null &
process=$!
wait_for rows_in gone/t.csv 3
rm -r gone
wait_for warns "was removed"
kill -INT "$process"
wait "$process"
code=$?
check "a trace that was removed ends with 1" exits 1
check "is reported" warns "the trace 'gone/t.csv' was removed during the run"
check "costs the trace alone" model_works m2.npz
mkdir gone
"$saddle" run "${small[@]}" --iterations 1e9 --trace-every 200 --trace stay.csv --model gone/m.npz \
    >out 2>err </dev/null &
process=$!
wait_for rows_in stay.csv 3
rmdir gone
kill -INT "$process"
wait "$process"
code=$?
check "a model whose directory was removed ends with 1" exits 1
check "is reported" warns "cannot write 'gone/m.npz'"
check "costs the model alone" complete_rows stay.csv
check "and the summary is there" says "interrupted"

# ---- too little memory: refused with numbers before it is allocated
if (ulimit -v 800000 && "$saddle" --version >/dev/null 2>&1); then
    # Small models of many agents: L and mu, which are estimated before, take long for large ones.
    (
        ulimit -v 800000
        "$saddle" run --data synthetic:3000 --agents 1000 --topology ring --samples 3 --iterations 1 --threads 1 \
            --problem auc --score mlp:300 --algorithm prox-dsgda >out 2>err </dev/null
    )
    code=$?
    check "a run that cannot fit ends with 1" exits 1
    check "says what it needs and what there is" grep -qE \
        '^saddle: this run would take about [0-9.]+ GB of memory, [0-9.]+ GB of it for the state of 1000 agents, but about [0-9.]+ GB is available; use fewer agents or a smaller problem, or set SADDLE_MEMORY to the gigabytes that it may take, or to inf$' err
    check "before anything is run" is "$(wc -c <out)" 0
    (
        ulimit -v 3000000
        "$saddle" run --data synthetic:60000000 --iterations 1 >out 2>err </dev/null
    )
    code=$?
    check "data that cannot fit end with 1" exits 1
    check "say what they need" grep -qE \
        "^saddle: 60000000 rows of 'synthetic' would take about [0-9.]+ GB of memory, but about" err
    (
        ulimit -v 3000000
        SADDLE_MEMORY=inf "$saddle" run --data synthetic:60000000 --iterations 1 >out 2>err </dev/null
    )
    code=$?
    check "with SADDLE_MEMORY=inf it is tried" exits 1
    check "until memory runs out" warns "saddle: out of memory"
else
    skip "this program does not run with so little memory"
fi

# SADDLE_MEMORY overrides what the system reports, in both directions.
with_limit() {
    SADDLE_MEMORY=$1 timeout 1200 "$saddle" run --data synthetic:700000 --iterations 1 --quiet \
        >out 2>err </dev/null
    code=$?
}
with_limit 0.1
check "a limit that is too small" exits 1
check "names SADDLE_MEMORY as the limit" grep -qE \
    "^saddle: 700000 rows of 'synthetic' would take about [0-9.]+ GB of memory, but about 0.1 GB is allowed by SADDLE_MEMORY; " err
with_limit 2.5
check "a limit that is large enough" exits 0
with_limit much
check "a value that is not a number" exits 2
check "is named" warns "saddle: SADDLE_MEMORY: 'much' in the environment is neither a number of gigabytes above 0 nor inf"
SADDLE_MEMORY=-3 try run --data synthetic:200 --iterations 1
check "so is a negative value" warns "saddle: SADDLE_MEMORY: '-3' in the environment"
for graph in 'ring --agents 5000000' 'complete --agents 14000' 'er:0.5 --agents 5000' 'regular:40 --agents 500000' \
    'small-world:40:0.1 --agents 200000' grid:2000x2000 'path --agents 6000000'; do
    # shellcheck disable=SC2086  # words of a command
    SADDLE_MEMORY=0.1 try graph $graph
    check "$graph: refused" exits 1
    check "$graph: with both numbers" grep -qE \
        "^saddle: the graph.* would bring memory use to about [0-9.]+ GB, but about 0.1 GB is allowed by SADDLE_MEMORY; " err
done
SADDLE_MEMORY=abc try graph ring --agents 100000
check "no option is blamed for the environment" warns "saddle: SADDLE_MEMORY: 'abc'"

# ---- steps that are too long are detected early, and the message names the step and a better value
diverging() {
    local name=$1 advice=$2
    shift 2
    try run --problem quadratic --x-set none --iterations 100000 --trace-every 5 --trace d.csv "$@"
    check "$name: diverges" exits 3
    check "$name: says how" grep -qE \
        "^saddle: diverged at iteration [0-9]+: agent [0-9]+, variable [xy]\[[0-9]+\] is [-+.0-9e]+, so large that the metric grows without bound; $advice\$" err
    check "$name: early" [ "$(sed -n 's/.*at iteration \([0-9]*\).*/\1/p' err)" -le 500 ]
    check "$name: what was written is finite" is "$(grep -v '^#' d.csv | grep -ciE 'nan|inf')" 0
}
auto=', or try --algorithm precision-auto, which needs no steps'
diverging "tau" "raise --tau from 0.01 to 50$auto" --tau 0.01
diverging "alpha" "lower --alpha from 50 to 0.1$auto" --algorithm precision --alpha 50
diverging "alpha of precision-auto" "lower --alpha from 50 to 0.1" --algorithm precision-auto --alpha 50
diverging "eta-x" "lower --eta-x from 10 to 0.006" --algorithm gda --eta-x 10 --eta-y 0.01
diverging "eta-y" "lower --eta-y from 12 to 0.03" --algorithm gda --eta-x 0.0001 --eta-y 12
try run --problem quadratic --x-set none --algorithm minimax-ppa --ppa-lipschitz 0.123
check "MINIMAX-PPA" warns "; raise --ppa-lipschitz from 0.12 to 100"
try run --problem quadratic --algorithm gda --eta-x 1e300 --eta-y 120 --x-set none
check "both, if it is not known which" warns "inf; lower --eta-x from 1e+300 to 0.006 and lower --eta-y from 120 to 0.03"

finish
