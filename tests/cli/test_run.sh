#!/usr/bin/env bash
# saddle run: trace, model, configuration, seeds, threads, warnings, and all ways to end.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# ---- the trace
try run "${small[@]}" --trace-every 1 --trace t.csv --model m.npz
check "run" exits 0
check "warns of nothing" silent
columns=iteration,ifo,rounds,messages,bytes,seconds,loss,primal,metric,x_stationarity,x_consensus,y_consensus,y_gap,stationarity,potential,gap
check "columns" is "$(grep -v '^#' t.csv | head -1)" "$columns"
check "first line has the version" is "$(head -1 t.csv)" "# $("$saddle" --version)"
for setting in "problem: robust-logistic" "data: synthetic:300" "samples: 40" "agents: 5" \
    "topology: er:0.6" "mixing: laplacian" "algorithm: precision-auto" "nu: 0.1" "eta: 0.1" \
    "step-share: 0.1" "seed: 1" "iterations: 60" "x-set: box:0:10"; do
    check "header has $setting" grep -qxF "# $setting" t.csv
done
check "header says nothing of other algorithms" is "$(grep -c '^# c-gamma' t.csv)" 0
check "a row per iteration and the start" is "$(grep -vc '^#' t.csv)" 62
check "every row has 16 fields" is "$(grep -v '^#' t.csv | awk -F, 'NF != 16' | wc -l)" 0
check "equal rounds in all iterations" is \
    "$(grep -v '^#' t.csv | awk -F, 'NR == 3 { k = $3 } NR > 2 && $3 != k * $1 || k > 4' | wc -l)" 0
check "the parts add up" is "$(grep -v '^#' t.csv | awk -F, 'NR > 1 {
    d = $9 - $10 - $11 - $12 - $13; if (d > 1e-12 * $9 || d < -1e-12 * $9) print }' | wc -l)" 0

# Tables and summary.
check "header block: problem" says "robust-logistic: x in R^123, y in R^40"
check "header block: network" says "5 agents, topology er:0.6"
check "table" grep -qE '^iteration +ifo +rounds +seconds +loss +primal +metric$' <(sed 's/^ *//' out)
check "table is thinned" [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ ' out)" -le 25 ]
check "table has the last row" grep -qE '^ +60 ' out
check "summary: why" says "all iterations done"
check "summary: trace" says "t.csv"
check "summary: model" says "m.npz"
check "output fits 80 columns" narrow out
try run "${small[@]}" --quiet --trace q.csv
check "quiet" is "$(cat out err | wc -c)" 0
check "21 rows by default" is "$(grep -vc '^#' q.csv)" 22

# ---- numbers read back equal, model
python=/usr/bin/python3
if "$python" -c 'import numpy' 2>/dev/null; then
    check "numbers of the trace round-trip" "$python" - <<'PY'
rows = [l.strip().split(",") for l in open("t.csv") if l[0] != "#"][1:]
assert len(rows) == 61
for row in rows:
    for text in row:
        assert text == "" or "%.17g" % float(text) == text, text
PY
    check "model" "$python" - <<'PY'
import numpy
m = numpy.load("m.npz")
assert m["x"].shape == (5, 123) and m["y"].shape == (5, 40)
assert numpy.allclose(m["x"].mean(axis=0), m["xbar"], rtol=0, atol=1e-15)
assert numpy.allclose(m["y"].mean(axis=0), m["ybar"], rtol=0, atol=1e-15)
assert int(m["iteration"]) == 60
assert str(m["algorithm"]) == "precision-auto"
assert (m["x"] >= 0).all() and (m["x"] <= 10).all()
PY
fi
refuse "--model: 'm.npy' ends in .npy" run "${small[@]}" --model m.npy
try run "${small[@]}" --iterations 0 --init file:m.npz --trace again.csv --quiet
check "a run starts from a model" exits 0
check "at the loss where the other ended" is \
    "$(last_row again.csv | cut -d, -f7 | cut -c1-12)" "$(last_row t.csv | cut -d, -f7 | cut -c1-12)"

# ---- the same seed gives the same bits; threads do not matter
try run "${small[@]}" --trace-every 1 --trace t2.csv --quiet
check "same seed, same trace" same_trace t.csv t2.csv
try run "${small[@]}" --trace-every 1 --trace s2.csv --quiet --seed 2
check "another seed, another trace" eval '! same_trace t.csv s2.csv'
for algorithm in precision precision+ prox-gt-sgda prox-dsgda; do
    try run "${small[@]}" --trace one.csv --quiet --threads 1 --algorithm "$algorithm"
    try run "${small[@]}" --trace two.csv --quiet --threads 2 --algorithm "$algorithm"
    check "$algorithm: 1 and 2 threads agree" same_trace one.csv two.csv
    check "$algorithm: header names it" grep -qxF "# algorithm: $algorithm" one.csv
done

# ---- configuration: defaults < file < command line; the last of repeated options counts
printf 'iterations: 7\nagents: 4\nsamples: 30\ndata: synthetic:300\n' >c.yaml
try run --config c.yaml --trace c.csv --quiet
check "the file counts" grep -qxF "# agents: 4" c.csv
check "for all of its options" is "$(last_row c.csv | cut -d, -f1)" 7
try run --agents 6 --config c.yaml --trace c.csv --quiet
check "the command line beats the file" grep -qxF "# agents: 6" c.csv
check "and the rest of the file stays" is "$(last_row c.csv | cut -d, -f1)" 7
try run --config c.yaml --trace c.csv --quiet --agents 6 --agents=3
check "the last one wins" grep -qxF "# agents: 3" c.csv
try run --config c.yaml --quiet=yes --trace=c.csv
check "--name=value" exits 0

try run "${small[@]}" --iterations 0 --init-x zeros --init-y constant:2
check "starts of x and y apart" says "x zeros, y constant:2, seed 1"

# ---- options without effect are named
try run "${small[@]}" --quiet --c-gamma 3
check "not used by the algorithm" warns "--c-gamma: not used by precision"
check "but not refused" exits 0
try run --iterations 3 --quiet --lambda1 3 --problem quadratic
check "not used by the problem" warns "--lambda1: not used by problem quadratic"
try run "${small[@]}" --quiet --algorithm precision+ --c-gamma 3
check "used: no warning" silent

# ---- stopping
try run "${small[@]}" --tolerance 1e9 --trace e.csv
check "tolerance" says "gap at or below the tolerance"
check "tolerance stops at the start" is "$(last_row e.csv | cut -d, -f1)" 0
try run "${small[@]}" --max-rounds 6 --trace e.csv
check "rounds" says "budget of rounds spent"
check "rounds are kept to" is "$(last_row e.csv | cut -d, -f3)" 6
try run "${small[@]}" --max-ifo 1000 --trace e.csv
check "IFO" says "IFO budget spent"
# Without --iterations only the limit counts: the default 2000 would end this run first.
try run --problem quadratic --samples 4 --batch 1 --max-ifo 60000 --trace e.csv
check "a budget of IFO calls alone" says "IFO budget spent"
check "is the only limit that is named" says "stops at    60000 IFO calls"
check "whatever the default of iterations" test "$(last_row e.csv | cut -d, -f1)" -gt 2000
check "rows are shown at equal distances" test "$(grep -cE '^ +[0-9]+ +[0-9]+ ' out)" -ge 15 -a \
    "$(grep -cE '^ +[0-9]+ +[0-9]+ ' out)" -le 25
try run --problem quadratic --samples 4 --batch 1 --max-ifo 60000 --iterations 2000
check "iterations that are given count" says "all iterations done"
try run "${small[@]}" --iterations 1e9 --max-seconds 0.3
check "seconds" says "time budget spent"

# ---- divergence
try run --problem quadratic --nu 1 --eta 1 --tau 1e-9 --iterations 500 --trace d.csv --model d.npz
check "divergence" exits 3
check "one line" one_line
check "names iteration, agent and variable" grep -qE '^saddle: diverged at iteration [0-9]+: agent [0-9]+, variable .*\[[0-9]+\] is .*; raise --tau from 1e-09 to 50 and lower --nu from 1 to 0.1 and lower --eta from 1 to 0.1, or try --algorithm precision-auto, which needs no steps$' err
check "summary" says "diverged"
check "no model" absent d.npz
check "the trace is intact" is "$(grep -v '^#' d.csv | awk -F, 'NF != 16' | wc -l)" 0
check "no value that is not finite" is "$(grep -v '^#' d.csv | grep -ciE 'nan|inf')" 0

# ---- a failed gradient check: values that overflow have no differences
try check-grad --data synthetic:300 --samples 20
check "gradients pass" exits 0
check "and say so" says "passed"
try check-grad --problem quadratic --points 1
check "gradients of quadratic pass" exits 0
for activation in relu elu; do
    kinks=0
    for seed in 1 2 3 4 5 6; do
        try check-grad --problem auc --score mlp:8 --activation "$activation" --data synthetic:300 --seed "$seed"
        check "gradients of $activation networks pass, seed $seed" exits 0
        kinks=$((kinks + $(grep -c 'The function has kinks' out)))
    done
    case $activation in
    relu) check "kinks are reported with every seed" is "$kinks" 6 ;;
    elu) check "where there are any" is "$kinks" 0 ;;
    esac
done
try check-grad --data synthetic:300 --samples 20 --lambda1 1e304
check "a failed check" exits 4
check "says where" warns "agent"
refuse "--lambda1: 1e+306 times n^2, with n = 20, overflows; give a smaller value" \
    check-grad --data synthetic:300 --samples 20 --lambda1 1e306

# ---- options that apply only with a value of another one
try run --problem robust-regression --data synthetic:200 --huber-delta 2 --iterations 1 --quiet
check "huber-delta without huber" warns "--huber-delta: only used with --loss huber"
try run --problem robust-regression --data synthetic:200 --loss huber --huber-delta 2 --iterations 1 --quiet
check "huber-delta with huber" silent
try run --problem auc --data synthetic:200 --activation elu --iterations 1 --quiet
check "activation of a linear score" warns "--activation: only used with --score mlp"
try run --problem auc --data synthetic:200 --score mlp:4 --activation elu --iterations 1 --quiet
check "activation of a network" silent

# ---- output that cannot be written
try run "${small[@]}" --trace /dev/full
check "a full disk for the trace" exits 1
check "is named" warns "/dev/full"
"$saddle" run "${small[@]}" >/dev/full 2>err
code=$?
check "a full disk for the output" exits 1
check "is reported" warns "cannot write to standard output"
"$saddle" run "${small[@]}" --trace-every 1 --trace closed.csv >&- 2>err
code=$?
check "a closed output" exits 1
check "does not harm the trace" is "$(timeless closed.csv)" "$(timeless t.csv)"
env --default-signal=PIPE timeout 1200 "$saddle" run "${small[@]}" --iterations 1e9 --trace pipe.csv 2>err | head -3 >out
check "a reader that goes away" is "$(wc -c <err)" 0
check "does not harm the trace either" is "$(grep -v '^#' pipe.csv | awk -F, 'NF != 16' | wc -l)" 0

# ---- Ctrl-C and termination
for signal in INT TERM; do
    "$saddle" run "${small[@]}" --iterations 1e9 --trace-every 1000 --trace "$signal.csv" \
        --model "$signal.npz" >out 2>err &
    process=$!
    wait_for rows_in "$signal.csv" 3
    kill -"$signal" "$process"
    wait "$process"
    code=$?
    check "$signal: exit code" exits 130
    check "$signal: summary" says "interrupted"
    check "$signal: model" [ -s "$signal.npz" ]
    check "$signal: complete rows" is "$(grep -v '^#' "$signal.csv" | awk -F, 'NF != 16' | wc -l)" 0
    check "$signal: quiet otherwise" silent
done

# ---- on a terminal: a progress line, no table
if has_terminal; then
    script -qec "'$saddle' run ${small[*]} --iterations 20000 --trace-every 1000" typescript \
        >/dev/null 2>&1 </dev/null
    check "progress line" grep -qE 'iteration [0-9]+/20000  metric .*/s  .* left' typescript
    check "no table on a terminal" is "$(grep -cE '^iteration +ifo' <(sed 's/^ *//' typescript))" 0
    check "summary on a terminal" grep -q "all iterations done" typescript
fi
finish
