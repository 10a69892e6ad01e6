#!/usr/bin/env bash
# Messages name the cause and the option that mends it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
quadratic=(--problem quadratic --agents 5 --iterations 20)

# ---- the summary of a run
try run "${quadratic[@]}"
check "the parts of the metric are a sum" grep -qE \
    ', the sum of x_stationarity [0-9.e+-]+, x_consensus ' <(tr -s '\n ' ' ' <out)
try run "${quadratic[@]}" --trace q.csv --model q.npz
check "a problem without rows: no advice to score rows" is "$(grep -c 'saddle eval' out)" 0
try run "${small[@]}" --model m.npz
check "a problem with rows: advice" is "$(grep -c 'saddle eval' out)" 1

# ---- a run that ends far above its start, although it has not diverged
try run --problem quadratic --iterations 60 --algorithm prox-dsgda --tau 1
check "steps that are too long are named" warns "of its start; raise --tau from 1 to 50, or try --algorithm \
precision-auto, which needs no steps"
# Steps of mini-batches leave the solution, but not far.
try run --problem quadratic --iterations 4000 --gap never --model solution.npz --quiet
try run --problem quadratic --iterations 20 --algorithm prox-gt-sgda --init file:solution.npz
check "such a run from the solution is solved" says ", solved"
check "and is not warned of" is "$(grep -c 'far above' err)" 0

# ---- a run that has not solved its problem
try run --problem quadratic --iterations 20 --tolerance 1e-9
check "an unmet tolerance" exits 0
check "is warned of" warns "--tolerance: 1e-09 was not reached, the gap is "
check "with a remedy" warns "; raise --iterations, or try --algorithm precision"
check "and the summary has it" grep -q " next raise --iterations, or try --algorithm precision: the problem is not solved" \
    <(tr -s '\n ' ' ' <out)
check "the table has the gap" grep -q " metric       gap$" out
try run --problem quadratic --iterations 20 --tolerance 1e-9 --quiet --algorithm precision --max-ifo 500
check "a quiet run, another limit" is "$(cat out err | sed 's/gap is [0-9.]*;/gap;/')" \
    "saddle: warning: --tolerance: 1e-09 was not reached, the gap; raise --max-ifo, or try --algorithm precision-auto"
try run --problem quadratic --iterations 4000 --tolerance 1e-2 --quiet
check "a met one" is "$code, $(cat err)" "0, "

# ---- a run that stalls
stall=(--problem fair --data synthetic:2000:10 --sensitive 1 --fairness 0 --agents 20 --topology torus:4x5 --iterations
    2000 --algorithm precision+ --c-gamma 10)
try run "${stall[@]}"
check "a stall" exits 0
check "is why the run ended" grep -q " ended stalled at its gradient noise; try --c-gamma auto " <(tr -s '\n ' ' ' <out)
check "and what comes next" grep -q " next try --c-gamma auto: the problem is not solved" <(tr -s '\n ' ' ' <out)
try run "${stall[@]}" --json
check "as JSON" grep -q '"stop": *"stalled"' out
check "with the advice" grep -q '"advice": *"try --c-gamma auto"' out
try run "${stall[@]}" --c-gamma auto
check "which helps" says ", solved"

# ---- a run that ends above its start
try run --problem quadratic --iterations 60 --algorithm prox-dsgda --tau 2 --gap never --quiet
check "the primal objective is named" warns "the run ends at a primal objective of "

# ---- what cannot be measured
printf '10 leave 3\n30 return 3\n' >events
try run --problem auc --data synthetic:200 --churn events --hessian full --iterations 20 --gap never --quiet
check "a Hessian that cannot be used" warns "--hessian: 'full' cannot be used with this problem"
try run --problem auc --data synthetic:200 --hessian full --iterations 20 --gap never --quiet
check "one that can" is "$(cat err)" ""

# ---- columns of one unit, which matters to algorithms without a metric
awk 'BEGIN { for (k = 0; k < 120; k++) { for (c = 1; c < 6; c++) printf "%d,", k * k * c % 17; print (k * k % 17 > 8) } }' >units.csv
for algorithm in precision-auto precision; do
    try run --problem auc --data units.csv --iterations 5 --gap never --algorithm "$algorithm" --quiet
    check "$algorithm" is "$(grep -c 'the columns have one unit, with values up to 16' err)" "$([ "$algorithm" = precision ] && echo 1 || echo 0)"
done

# ---- counts
try run --problem quadratic --agents 1 --samples 1 --iterations 1
for text in "1 sample," "1 agent," "0 edges" "stops at    1 iteration" "1 iteration," "1 round,"; do
    check "$text" grep -qE "$text( |,|;|\)|$)" out
done
try run --problem quadratic --agents 2 --topology complete --iterations 1
check "one edge" says "1 edge,"

# ---- options inside a sentence have dashes, values do not
printf 'a,y\n1,0\n"2,1\n' >test-data.csv
try run --data test-data.csv
check "a file that is named like an option has none" grep -qF "saddle: test-data.csv:3:1: " err
refuse "--data: no data set 'leave --tau out, or set x-set to 3': not a file" \
    run --problem auc --data "leave --tau out, or set x-set to 3"
printf 'max-ifo: many\n' >settings.yaml
refuse "settings.yaml:1:10: max-ifo: 'many' is not a whole number" run --config settings.yaml
refuse "--search: x-dim: '0' is out of range" tune --problem quadratic --search x-dim=0
refuse "such as nu,eta, or all" tune --hold foo
refuse "stop by --tolerance or --stop-when" run "${quadratic[@]}" --stop-after 3
refuse "it needs --stop-after, the number" run "${quadratic[@]}" --stop-on auc
refuse "set --churn to a file of events" run "${quadratic[@]}" --stop-when 'present>=3'
refuse "leave --links out" run "${quadratic[@]}" --steps theory --links agreed:0.1
# A guarantee is for certain values, which may also be given.
for algorithm in precision precision+; do
    proved=(run --problem quadratic --iterations 2 --quiet --steps theory --c-gamma 1000 --algorithm "$algorithm")
    try "${proved[@]}" --batch 10 --q 10 --alpha 0.1
    check "its own values: $algorithm" eval '! grep -q "not cover" err'
    while read -r given; do
        read -ra words <<<"$given"
        try "${proved[@]}" "${words[@]}"
        check "no guarantee: $algorithm $given" exits 0
        check "warns: $algorithm $given" warns "guarantee does not cover this run; leave out ${given%% *}"
    done <<'END'
--batch 3
--q 5
--alpha 0.05
END
done
refuse "give sides whose product is 8, or leave --agents out" run --topology grid:3x3 --agents 8
refuse "is not one of steps, nu, eta, tau, alpha, q, batch, sampling, x-dim, y-dim, mu" \
    tune --problem quadratic --search foo=1

# ---- causes
refuse "--objective: 'accuracy' is not an objective of problem robust-logistic, which has no outcomes; give attained, metric, " \
    tune --data synthetic:300 --objective accuracy
refuse "--objective: 'test_accuracy' is not an objective of problem quadratic, which has no outcomes; give attained, metric, " \
    tune --problem quadratic --objective test_accuracy
refuse "--metric-tau: '1e400' is too large for a double; give a number above 0" run --metric-tau 1e400
refuse "--iterations: '1e400' is out of range" run --iterations 1e400
refuse "saddle: cannot read 'absent.npz': No such file" eval --model absent.npz --data synthetic:10
SADDLE_MEMORY=0.001 try run "${quadratic[@]}"
check "a limit below what the program takes" warns "saddle: SADDLE_MEMORY allows 0.001 GB of memory, but before the graph"
check "is an error" exits 1

# ---- resuming
try run "${quadratic[@]}" --tau 40 --checkpoint tau --quiet
refuse "a resumed run cannot change --tau: it is '40' in the checkpoint 'tau/" run --resume tau --iterations 30 --tau 60
printf '3 leave 1\n9 return 1\n' >events
try run "${quadratic[@]}" --churn events --checkpoint churn --quiet
printf '4 leave 1\n9 return 1\n' >events
refuse "--churn: 'events' has changed since the run of the checkpoint 'churn/" run --resume churn --iterations 30
printf '%s\n' '0 0 1' '1 0 1' '1 1 2' '1 2 3' '1 3 4' >edges
try run "${quadratic[@]}" --topology path --links schedule:edges --checkpoint schedule --quiet
printf '%s\n' '0 0 1' '2 0 1' '2 1 2' '2 2 3' '2 3 4' >edges
refuse "these must be as they were then: --links schedule:edges" run --resume schedule --iterations 30

# ---- events that the run does not reach
printf '3 leave 1\n19 return 1\n20 leave 1\n90 return 1\n' >events
try run --algorithm precision "${quadratic[@]}" --churn events --quiet
check "late events" warns "warning: --churn: the run ends after 20 rounds, so 2 events from round 20 on have no effect"
printf '%s\n' '0 0 1' '0 1 2' '0 2 3' '0 3 4' '19 1 2' '20 0 1' >edges
try run --algorithm precision "${quadratic[@]}" --topology path --links schedule:edges --quiet
check "late changes" warns "warning: --links: the run ends after 20 rounds, so 1 change from round 20 on has no effect"
try run --algorithm precision "${quadratic[@]}" --topology path --links schedule:edges --iterations 21 --quiet
check "no late changes" silent

# ---- comparisons
try compare "${quadratic[@]}" --algorithms gda,precision --links agreed:0.1 --output some --quiet
check "one that does not communicate" warns "warning: --links: not used by gda, which does not communicate"
try compare "${quadratic[@]}" --algorithms precision,prox-dsgda --links agreed:0.1 --output none --quiet
check "all communicate" silent
finish
