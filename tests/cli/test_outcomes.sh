#!/usr/bin/env bash
# Outcomes: the quality of a solution in the user's terms, on the agents' data and on held-out rows.
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
    "potential,gap,train_auc,train_pair_loss,test_auc,test_pair_loss"
check "a row per trace point" is "$(grep -cE '^[0-9]+,' o.csv)" 4
check "all columns in each" is "$(grep -E '^[0-9]+,' o.csv | awk -F, 'NF != 20' | wc -l)" 0
# Held-out rows come from the same model as the training rows, and are different ones.
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

# ---- stopping rules that use them
long=(--algorithm precision --problem auc --data synthetic:2000 --test-data synthetic:1000 --iterations 2000 --trace-every 10 --quiet)
try run "${long[@]}" --stop-when 'auc >= 0.9' --trace w.csv
check "stop-when" exits 0
check "a reason of its own" grep -qx '# ended: the condition of stop-when holds' w.csv
check "the first row that satisfies it" is "$(column w.csv test_auc | awk '$1 >= 0.9' | wc -l)" 1
try run "${long[@]}" --stop-when 'train_auc<0.9' --trace w.csv
check "a name with its data, at the start" is "$(grep -c '^[0-9]' w.csv)" 1
try run "${long[@]}" --stop-when 'seconds>1e9' --iterations 50
check "a condition that was not met has an exit code of its own" exits 6
check "and a warning, also with --quiet" warns "the condition seconds>1e9 was not met"
try run "${long[@]}" --stop-when 'metric<1e-3' --outcomes ends --trace w.csv
check "a column of the metric needs no outcomes" exits 0
check "but the last row has them" is "$(column w.csv train_auc | grep -c .)" 2
printf '+1 1:1\n-1 2:1\n+1 1:2\n-1 2:3\n' >data
printf '+1 1:1\n+1 2:1\n' >positives
try run --problem auc --data data --agents 2 --test-data positives --positive 1 --stop-when 'auc>=-1' --iterations 20
check "an empty cell satisfies nothing" exits 6
try run "${long[@]}" --stop-after 5 --trace b.csv --model b.npz
check "stop-after" exits 0
check "a reason of its own, too" grep -qx '# ended: no gain for stop-after trace points' b.csv
best=$(grep '^[0-9]' b.csv | sort -t, -k19,19gr | head -1 | cut -d, -f1)
try run "${long[@]:0:10}" --stop-after 5
check "the summary is about the best" is "$(sed -n 's/^  metric  *\([^ ,]*\), the sum of.*/\1/p' out)" \
    "$(printf %.6e "$(grep "^$best," b.csv | cut -d, -f9)")"
check "five points after the best" is "$((best + 50))" "$(last b.csv iteration)"
try run "${long[@]}" --iterations "$best" --model best.npz
try predict --model best.npz --data synthetic:50
cp out scores
try predict --model b.npz --data synthetic:50
check "the model is the best" cmp -s out scores
try run "${long[@]}" --stop-after 5 --max-ifo 150000 --checkpoint ck
try run --resume ck --max-ifo 0 --trace c.csv --model c.npz --quiet
check "resumed" exits 0
check "to the same rows" same_trace b.csv c.csv
check "and the same model" cmp -s b.npz c.npz
refuse "kept its best solution" run --resume ck --max-ifo 0 --stop-after 0
try run "${long[@]}" --iterations 100 --checkpoint plain
refuse "kept no best solution" run --resume plain --iterations 200 --stop-after 3
refuse "measured outcomes only at its ends" run --resume plain --iterations 200 --stop-when 'auc>1'
rm -rf ck plain
try run "${long[@]}" --stop-after 4 --stop-on train_pair_loss --trace d.csv --iterations 100
check "as long as the loss falls" is "$(last d.csv iteration)" 100
refuse "stop-on: 'acuracy' is not an outcome; this run's outcomes are train_auc" run "${long[@]}" --stop-after 5 --stop-on acuracy
refuse "stop-when: 'aux' is not a column of the trace" run "${long[@]}" --stop-when 'aux>0'
refuse "did you mean 'test_auc'" run "${long[@]}" --stop-when 'test_aux>0'
for wrong in auc 'auc=1' '>1' 'auc>' 'auc>one' 'auc>=nan' 'auc=>1'; do
    refuse "stop-when: '$wrong' is not COLUMN>=NUMBER" run "${long[@]}" --stop-when "$wrong"
done
try run "${long[@]}" --iterations 50 --stop-when 'auc>=2' --checkpoint unmet
check "a condition that cannot be met" exits 6
try run --resume unmet --iterations 60 --stop-when none
check "can be lifted" exits 0
rm -rf unmet
refuse "--stop-when: the value is empty; give CONDITION, or leave the option out" run "${long[@]}" --stop-when ''
refuse "--stop-on: the value is empty; give OUTCOME" run "${long[@]}" --stop-after 3 --stop-on ''
refuse "stop-after: this problem has no outcomes; leave it out" run --problem quadratic --stop-after 3
refuse "'auc' is not a column of the trace, and this problem has no outcomes" run --problem quadratic --stop-when 'auc>1'
refuse "it needs --stop-after" run "${long[@]}" --stop-on auc
refuse "there is no outcome on held-out rows" run --problem auc --data synthetic:200 --stop-after 3
refuse "needs outcomes at every trace point" run "${long[@]}" --outcomes ends --stop-after 3

rm -f ./*.csv ./*.npz scores data positives
refuse "outcomes: problem quadratic has no outcomes" run --problem quadratic --outcomes always --trace t.csv
refuse "outcomes-per-agent: problem quadratic has no outcomes" run --problem quadratic --outcomes-per-agent --trace t.csv
refuse "is not one of auto, always, ends" run "${small[@]}" --outcomes o.csv
refuse "problem robust-logistic has no outcomes" run --data synthetic:300 --test-data synthetic:10
refuse "not made from data" run --problem quadratic --test-data synthetic:10
printf '+1 1:1\n-1 2:1\n+1 1:2\n-1 2:3\n' >data
refuse "synthetic rows belong to synthetic data" run --problem auc --data data --agents 2 \
    --test-data synthetic:10
printf '+1 1:1 3:1\n-1 2:1\n' >wider
refuse "'wider' has 3 features, but the agents' data have 2" run --problem auc --data data --agents 2 \
    --test-data wider
check "nothing is written" is "$(echo ./*)" "./data ./err ./out ./wider"
finish
