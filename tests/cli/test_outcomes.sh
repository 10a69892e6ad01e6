#!/usr/bin/env bash
# Outcomes: how good a solution is in its user's terms, on the agents' data and on held-out rows.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# The values of a column of a trace: column FILE NAME
column() {
    awk -F, -v name="$2" '/^#/ { next } !c { for (k = 1; k <= NF; k++) if ($k == name) c = k; next } { print $c }' "$1"
}
last() { column "$1" "$2" | tail -1; }
# Called by check, which shellcheck does not see.
# shellcheck disable=SC2317
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

small=(--problem auc --data synthetic:2000 --iterations 300 --trace-every 100)

try run "${small[@]}" --test-data synthetic:1000 --trace o.csv
check "a run with outcomes" exits 0
check "the summary has them" grep -qE '^  training    auc 0\.[0-9]+, pair_loss' out
check "and on held-out rows" grep -qE '^  held out    auc 0\.[0-9]+, pair_loss' out
check "the columns" is "$(grep '^iteration' o.csv | cut -d, -f15-)" \
    "potential,train_auc,train_pair_loss,test_auc,test_pair_loss"
check "a row per trace point" is "$(grep -cE '^[0-9]+,' o.csv)" 4
check "all columns in each" is "$(grep -E '^[0-9]+,' o.csv | awk -F, 'NF != 19' | wc -l)" 0
# Held-out rows are of the model that made the training rows, and none of these.
check "learned on the agents' rows" above "$(last o.csv train_auc)" 0.85
check "and for held-out rows" above "$(last o.csv test_auc)" 0.85
check "which are others" [ "$(last o.csv train_auc)" != "$(last o.csv test_auc)" ]
try run "${small[@]}" --test-data synthetic:1000 --trace o2.csv --threads 1
check "the same bits with one thread" same_trace o.csv o2.csv
try run "${small[@]}" --algorithm gda --eta-x 0.1 --eta-y 0.1 --trace o3.csv
check "centralized algorithms have them too" grep -q ',train_auc,train_pair_loss$' o3.csv

# ---- at which trace points
try run "${small[@]}" --trace ends.csv --outcomes ends
check "at the ends alone" is "$(column ends.csv train_auc | grep -c .)" 2
check "the first and the last" is "$(column ends.csv train_auc | sed -n '1p;4p')" "$(column o.csv train_auc | sed -n '1p;4p')"
check "recorded" grep -q '^# outcomes: ends$' ends.csv
check "by default at all" grep -q '^# outcomes: always$' o.csv
try run "${small[@]}" --iterations 0 --outcomes ends --trace zero.csv
check "a run of no iteration has them" is "$(column zero.csv train_auc | grep -c .)" 1

# ---- over agents
skewed=(--problem fair --sensitive 2 --data synthetic:600:12 --test-data synthetic:200:12 --agents 5
    --partition label-skew:0.3 --iterations 60 --trace-every 30 --outcomes-per-agent)
try run "${skewed[@]}" --trace a.csv --model a.npz
check "the spread over agents" exits 0
check "is in the summary" grep -qE 'accuracy 0\.[0-9]+ \(agents 0\.[0-9]+ to' out
for data in train test; do
    check "$data: least below mean" above "$(last a.csv ${data}_loss_agent_mean)" "$(last a.csv ${data}_loss_agent_min)"
    check "$data: mean below largest" above "$(last a.csv ${data}_loss_agent_max)" "$(last a.csv ${data}_loss_agent_mean)"
done
check "at the start all have one model" is "$(column a.csv test_accuracy_agent_min | head -1)" \
    "$(column a.csv test_accuracy | head -1)"
try run "${skewed[@]}" --trace a1.csv --threads 1
check "the same bits with one thread" same_trace a.csv a1.csv
try run --problem policy-evaluation --samples 30 --agents 4 --iterations 20 --outcomes-per-agent --trace p.csv
check "a problem without rows: every agent's model on all samples" \
    above "$(last p.csv train_value_error_agent_max)" "$(last p.csv train_value_error_agent_min)"
try run "${skewed[@]}" --algorithm gda --eta-x 0.1 --eta-y 0.1 --trace g.csv
check "one model for all agents of a centralized algorithm" is "$(last g.csv test_loss_agent_min)" "$(last g.csv test_loss)"
check "but not one set of rows" above "$(last g.csv train_loss_agent_max)" "$(last g.csv train_loss_agent_min)"

rm -f ./*.csv ./*.npz
refuse "outcomes: problem quadratic has none" run --problem quadratic --outcomes always --trace t.csv
refuse "outcomes-per-agent: problem quadratic has none" run --problem quadratic --outcomes-per-agent --trace t.csv
refuse "is not one of auto, always, ends" run "${small[@]}" --outcomes o.csv
refuse "problem robust-logistic reports no outcomes" run --data synthetic:300 --test-data synthetic:10
refuse "not made from data" run --problem quadratic --test-data synthetic:10
printf '+1 1:1\n-1 2:1\n+1 1:2\n-1 2:3\n' >data
refuse "synthetic rows go with data synthetic" run --problem auc --data data --agents 2 \
    --test-data synthetic:10
printf '+1 1:1 3:1\n-1 2:1\n' >wider
refuse "'wider' has 3 features, but the agents' data have 2" run --problem auc --data data --agents 2 \
    --test-data wider
check "nothing is written" is "$(echo ./*)" "./data ./err ./out ./wider"
finish
