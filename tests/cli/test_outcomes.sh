#!/usr/bin/env bash
# Outcomes: what a solution is worth, on the agents' data and on held-out rows.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# Called by check, which shellcheck does not see.
# The last row of o.csv has a number above LEAST in COLUMN: above COLUMN LEAST
# shellcheck disable=SC2317
above() { awk -F, -v column="$1" -v least="$2" 'END { exit !($column > least) }' o.csv; }
# shellcheck disable=SC2317
differ() { awk -F, -v a="$1" -v b="$2" 'END { exit !($a != $b) }' o.csv; }

small=(--problem auc --data synthetic:2000 --iterations 300 --trace-every 100)

try run "${small[@]}" --test-data synthetic:1000 --outcomes o.csv
check "a run with outcomes" exits 0
check "the summary has them" says "worth"
check "and on held-out rows" says "held out"
check "the head" is "$(sed -n 2p o.csv)" "iteration,train_auc,train_pair_loss,test_auc,test_pair_loss"
check "a row per trace point" is "$(grep -cE '^[0-9]+,' o.csv)" 4
check "all columns in each" is "$(grep -E '^[0-9]+,' o.csv | awk -F, 'NF != 5' | wc -l)" 0
# Held-out rows are of the model that made the training rows, and none of these.
check "learned on the agents' rows" above 2 0.85
check "and for held-out rows" above 4 0.85
check "which are others" differ 2 4
first=$(grep -E '^[0-9]+,' o.csv)
try run "${small[@]}" --test-data synthetic:1000 --outcomes o2.csv --threads 1
check "the same bits with one thread" is "$(grep -E '^[0-9]+,' o2.csv)" "$first"
try run "${small[@]}" --algorithm gda --eta-x 0.1 --eta-y 0.1 --outcomes o3.csv
check "centralized algorithms have them too" grep -q '^iteration,train_auc,train_pair_loss$' o3.csv

rm -f o.csv o2.csv o3.csv
refuse "problem quadratic has none" run --problem quadratic --outcomes o.csv --trace t.csv
refuse "problem robust-logistic reports no outcomes" run --data synthetic:300 --test-data synthetic:10
refuse "not made from data" run --problem quadratic --test-data synthetic:10
refuse "'o.csv' is the file of --trace too" run "${small[@]}" --trace o.csv --outcomes o.csv
printf '+1 1:1\n-1 2:1\n+1 1:2\n-1 2:3\n' >data
refuse "synthetic rows go with data synthetic" run --problem auc --data data --agents 2 \
    --test-data synthetic:10
printf '+1 1:1 3:1\n-1 2:1\n' >wider
refuse "'wider' has 3 features, but the agents' data have 2" run --problem auc --data data --agents 2 \
    --test-data wider
check "nothing is written" is "$(echo ./*)" "./data ./err ./out ./wider"
finish
