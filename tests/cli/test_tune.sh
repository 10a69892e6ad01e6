#!/usr/bin/env bash
# saddle tune: result, files, budget, resuming, errors.
# shellcheck disable=SC2317  # functions are called by wait_for
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

problem=(--problem quadratic --agents 3 --samples 20 --x-dim 4 --y-dim 3 --lipschitz 5)

# Prints the sum of a log's IFO calls, and the number of its evaluations.
spent() { grep -v '^#' "$1" | awk -F, 'NR > 1 {sum += $4} END {print sum + 0}'; }
evaluations() { grep -v '^#' "$1" | awk 'END {print NR - 1}'; }

try tune "${problem[@]}" --algorithms gda,sgda --budget 50000
check "the table says why ranks are in this order" says "ranked by the last rung of each"
check "tune" exits 0
check "warns of nothing" silent
check "fits 80 columns" is "$(grep -v '^best: ' out | grep -v 'runs with these settings$' | grep -cE '^.{81}')" 0
check "rungs are shown" grep -qE '^  rung 1: [0-9]+ candidates, at most [0-9]+ IFO calls each; best attained' out
check "the default is shown" grep -qF '(the default)' <(tr -s '\n ' ' ' <out)
for algorithm in gda sgda; do
    check "$algorithm: the budget holds" [ "$(spent "saddle-tune/$algorithm.csv")" -le 50000 ]
    check "$algorithm: the budget is used" [ "$(spent "saddle-tune/$algorithm.csv")" -gt 48000 ]
    check "$algorithm: what is said is so" says "the search used $(spent "saddle-tune/$algorithm.csv") of 50000"
    check "$algorithm: a file of settings" [ -s "saddle-tune/$algorithm.yaml" ]
done
check "the log has what is ranked" grep -q '^rung,candidate,allotment,ifo,iterations,attained,' saddle-tune/gda.csv
check "no other file" is "$(cd saddle-tune && echo *)" "gda.csv gda.yaml sgda.csv sgda.yaml"

# The printed options and the file lead to the same run, which is better than the default's.
options=$(sed -n 's/^best: \(.*--algorithm gda .*\|--algorithm gda .*\)$/\1/p' out)
read -ra words <<<"$options"
refuse "--objective is 'attained' there and 'metric' here" \
    tune "${problem[@]}" --algorithms gda --budget 50000 --objective metric --resume
try run "${problem[@]}" "${words[@]}" --iterations 300 --trace pasted.csv --quiet
check "options can be pasted" exits 0
try run --config saddle-tune/gda.yaml --iterations 300 --trace file.csv --quiet
check "the file is a configuration" exits 0
check "they agree" same_trace pasted.csv file.csv
try run "${problem[@]}" --algorithm gda --iterations 300 --trace default.csv --quiet
metric() { last_row "$1" | cut -d, -f9; }
check "tuned is better" awk "BEGIN {exit !($(metric file.csv) < 0.5 * $(metric default.csv))}"

# compare reads them all, and measures all with the same tau.
try tune "${problem[@]}" --algorithms precision --budget 50000 --output saddle-tune --quiet
check "quiet" exits 0
check "prints the answer alone" is "$(wc -l <out)" 1
check "as options" grep -qE '^--algorithm precision --nu [0-9.e-]+ --eta [0-9.e-]+ --tau [0-9.e-]+ --alpha [0-9.e-]+$' out
try compare "${problem[@]}" --algorithms precision,gda --tuned saddle-tune --max-ifo 20000 --output cmp
check "compare --tuned" exits 0
check "without warning" silent
eta=$(sed -n "s/^eta-x: '\(.*\)'/\1/p" saddle-tune/gda.yaml)
check "uses the tuned steps" is "$(sed -n 's/^# eta-x: //p' cmp/gda-seed1.csv)" "$eta"
check "one tau for the metric" is "$(sed -n 's/^# metric-tau: //p' cmp/*-seed1.csv | sort -u | wc -l)" 1
try compare "${problem[@]}" --algorithms gda,prox-dsgda --tuned saddle-tune --iterations 20 --output cmp --overwrite
check "one without a file" exits 0
check "runs with a warning" warns "'saddle-tune/prox-dsgda.yaml' does not exist"

# Steps that are given and held are not searched.
try tune "${problem[@]}" --algorithms precision --nu 0.05 --eta 0.05 --hold nu,eta --budget 50000 --output held --quiet
check "hold" exits 0
check "searches the others" grep -qE '^--algorithm precision --tau [0-9.e-]+ --alpha [0-9.e-]+$' out
check "and keeps these" grep -q "^nu: '0.05'" held/precision.yaml

# Options with listed values, by the metric: the printed options reproduce the best value.
try tune "${problem[@]}" --algorithms precision+ --search batch=1:20 --search q=2,5,20 --search c-gamma=1,10 \
    --hold nu,eta,tau,alpha --budget 60000 --objective metric --output lists
check "search" exits 0
check "warns of nothing" silent
check "columns of the log" grep -qx 'rung,candidate,allotment,ifo,iterations,metric,batch,q,c-gamma' lists/precision+.csv
read -ra words <<<"$(sed -n 's/^best: //p' out)"
check "the answer names all" is "$(printf '%s ' "${words[@]}" | tr -d '0-9.')" "--algorithm precision+ --batch  --q  --c-gamma  "
IFS=, read -r _ _ _ _ iterations value _ <<<"$(sort -t, -k1,1n -k6,6gr lists/precision+.csv | tail -1)"
try run "${problem[@]}" "${words[@]}" --iterations "$iterations" --trace-every "$iterations" --trace best.csv --quiet
check "the answer repeats its value" is "$(metric best.csv)" "$value"
try tune "${problem[@]}" --algorithms precision,gda --search batch=1,4 --budget 50000 --output lists --quiet
check "an option of one of two" exits 0
check "is not used by the other" warns "--search: batch is not used by gda"
refuse "did you mean 'batch'?" tune "${problem[@]}" --search bach=1,2 --output new
refuse "--search: q: '0' is out of range" tune "${problem[@]}" --search q=0,2 --output new
refuse "--objective: 'attained' cannot compare candidates with different problems" \
    tune "${problem[@]}" --search mu=1,2 --output new

# A budget for few candidates, and for a small grid.
try tune --problem fair --sensitive 2 --data synthetic:300:12 --algorithms prox-gt-sgda --hold all --search fairness=1,4,16 \
    --objective accuracy --budget 6000 --output few --quiet
check "few of few" grep -qE '^saddle: warning: --budget: 6000 IFO calls allow only [23] candidates of prox-gt-sgda, too few to choose from; [0-9]+ allow 4$' err
rm -r few
try tune "${problem[@]}" --algorithms gda --budget 20000 --output few --quiet
check "few candidates" warns "--budget: 20000 IFO calls allow only 8 candidates of gda, too few to choose from; 38400 allow 16"
rm -r few
try tune "${problem[@]}" --algorithms gda --budget 38400 --output few --quiet
check "enough" silent

# Resuming: a finished search gives its result at once, an interrupted one continues, with the same result; threads do
# not matter.
cp -r saddle-tune part
try tune "${problem[@]}" --algorithms gda --budget 50000 --output part --resume --quiet
cp out answer
check "a finished one" is "$(cat out)" "$options"
check "is not changed" cmp -s part/gda.csv saddle-tune/gda.csv
# Options that gda does not use change neither its grid nor the settings that its log is compared by.
try tune "${problem[@]}" --algorithms gda --budget 50000 --output part --resume --quiet --nu 0.05
check "an option that is not used" exits 0
check "is said to be" warns "--nu: not used by gda"
check "and changes no answer" cmp -s out answer
for bytes in 0 100 1500 2222; do
    head -c "$bytes" saddle-tune/gda.csv >part/gda.csv
    rm -f part/gda.yaml
    try tune "${problem[@]}" --algorithms gda --budget 50000 --output part --resume --quiet --threads 1
    check "resumed after $bytes bytes" exits 0
    check "the same answer after $bytes bytes" cmp -s out answer
    check "the same log after $bytes bytes" cmp -s part/gda.csv saddle-tune/gda.csv
    check "the same file after $bytes bytes" cmp -s part/gda.yaml saddle-tune/gda.yaml
done

# Ctrl-C, then resumed.
long=(--problem quadratic --agents 3 --algorithms precision --budget 300000000 --candidates 24 --output int)
"$saddle" tune "${long[@]}" >out 2>err &
process=$!
two_evaluations() { [ "$(evaluations int/precision.csv)" -ge 2 ]; }
wait_for two_evaluations
kill -INT "$process"
wait "$process"
code=$?
check "interrupted" exits 130
check "says how to resume" warns "the same command with --resume continues from 'int'"
check "no answer yet" absent int/precision.yaml
done_before=$(evaluations int/precision.csv)
check "evaluations are kept" [ "$done_before" -ge 2 ]

# Refusals. What is there is not overwritten.
refuse "saddle: 'saddle-tune/gda.csv' already exists; give --resume to continue it" \
    tune "${problem[@]}" --algorithms gda --budget 50000
refuse "belongs to another search: --budget is '50000' there and '60000' here" \
    tune "${problem[@]}" --algorithms gda --budget 60000 --resume
refuse "belongs to another search: --seed is '1' there and '2' here" \
    tune "${problem[@]}" --algorithms gda --budget 50000 --resume --seed 2
try tune "${problem[@]}" --algorithms gda --budget 50000 --seed 9007199254740992 --output far --quiet
refuse "belongs to another search: --seed is '9007199254740992' there and '9007199254740993' here" \
    tune "${problem[@]}" --algorithms gda --budget 50000 --resume --seed 9007199254740993 --output far
# The contents of a file count, not its name.
printf '%s\n' '1 1:1 2:2' '-1 1:2' '1 2:1' '-1 1:1' '1 1:3 2:1' '-1 2:3' '1 2:2' '-1 1:2 2:2' >rows.txt
files=(--problem robust-logistic --x-set box:0:10 --data rows.txt --agents 2 --algorithms gda --budget 1000 --output files --resume --quiet)
try tune "${files[@]}"
check "a search on a file" exits 0
try tune "${files[@]}"
check "continues" exits 0
sed -i 's/^1 1:3/-1 1:3/' rows.txt
refuse "the contents of the data, the network, the link model or a plug-in's files have changed; restore the files" tune "${files[@]}"
sed -i '$d' rows.txt
refuse "search: --samples is '4' there and 'auto' here, because the contents of the data, the" tune "${files[@]}"
try data generate many.csv --rows 300 --features 6
printf 'default latency 0.01\n' >costs
printf '20 leave 1\n40 return 1\n' >events
printf '%s\n' '0 1' '1 2' '2 3' '3 4' '4 0' >edges
files=(--problem auc --data many.csv --topology file:edges --churn events --link-model costs --algorithms gt-gda
    --budget 60000 --output several --resume --quiet)
try tune "${files[@]}"
check "a search on several files" exits 0
while read -r file expression; do
    cp "$file" kept
    sed -i "$expression" "$file"
    refuse "the contents of the data, the network, the link model or a plug-in's files have changed; restore the files" tune "${files[@]}"
    mv kept "$file"
done <<'END'
many.csv 2~3{s/,1$/,0/;s/,-1$/,1/;s/,0$/,-1/}
edges s/^4 0/4 1/
events s/^20/21/
costs s/0.01/0.02/
END
try tune "${files[@]}"
check "continues with the restored files" exits 0
refuse "--budget: 10 IFO calls are too few; give at least" tune "${problem[@]}" --budget 10 --output new
# All algorithms that lack something are named, before the first one spends anything.
refuse "for gda, " tune "${problem[@]}" --algorithms gda,precision --budget 10 --output new
check "the second, too" grep -qE '[0-9]+ for gda, [0-9]+ for precision$' err
refuse "--budget" tune "${problem[@]}" --budget many --output new
refuse "--candidates" tune "${problem[@]}" --candidates 1 --output new
refuse "--objective: 'best' is not an objective of problem quadratic, which has no outcomes; give attained, metric, loss, primal or stationarity" \
    tune "${problem[@]}" --objective best --output new
check "a refusal makes no directory" absent new
refuse "--hold: 'mu-x' is not an option" tune "${problem[@]}" --hold mu-x --output new
refuse "is named twice" tune "${problem[@]}" --algorithms gda,gda --output new
refuse "'gad'" tune "${problem[@]}" --algorithms gad --output new
refuse "is a file" tune "${problem[@]}" --output out
refuse "has no option --iterations" tune --iterations 5
try tune "${problem[@]}" --algorithms gda --budget 30000 --candidates 4 --eta-x 1e9 --eta-y 1e9 --output div
check "all diverged" exits 3
check "is shown" warns "every candidate of gda diverged"
check "no settings are saved" absent div/gda.yaml

# One of several algorithms that cannot solve the problem.
try tune "${problem[@]}" --x-set box:-1:1 --algorithms sreda,gda --budget 30000 --output some --quiet
check "one refuses" exits 0
check "with its reason" warns "refused: sreda does not support a constraint on x"
check "the other is tuned" [ -s some/gda.yaml ]
refuse "sreda does not support a constraint on x" tune "${problem[@]}" --x-set box:-1:1 --algorithms sreda --output new

# An outcome is measured on separate validation rows; the test rows are used once.
auc=(tune --problem auc --data synthetic:500:12 --test-data synthetic:200:12 --agents 4 --budget 100000 --candidates 4)
try "${auc[@]}" --objective auc --output auc
check "objective auc" exits 0
check "how many the budget allows" grep -q 'a budget of 100000 IFO calls allows 8 candidates at 4000 calls or more each' <(tr -s '\n ' ' ' <out)
check "the log names the data" is "$(sed -n 's/^# \(data\|test-data\|held-out rows\): //p' auc/precision.csv | paste -sd' ')" \
    "synthetic:500:12 synthetic:200:12 100"
check "which rows decide" grep -q 'ranked by auc on 100 of 500 rows' <(tr -s '\n ' ' ' <out)
check "the largest wins" is "$(grep '^2,\|^1,' auc/precision.csv | sort -t, -k1,1gr -k6,6gr | head -1 | cut -d, -f7-)" \
    "$(sed -n "s/^\(nu\|eta\|tau\|alpha\): '\(.*\)'/\2/p" auc/precision.yaml | paste -sd,)"
check "the answer on test rows" grep -qE '^on the test data, after training on all rows: auc 0\.[0-9]+, pair_loss' out
config=$(sed -n 's/^tuned for runs of about \([0-9]*\) IFO.*/\1/p' out)
said=$(sed -n 's/^on the test data.*: auc \([0-9.]*\),.*/\1/p' out)
try run --config auc/precision.yaml --max-ifo "$config" --iterations 1000000
check "is that of a run with it" grep -qE "^  held out    auc $said," out
check "the settings name the data" grep -qx "data: 'synthetic:500:12'" auc/precision.yaml
try "${auc[@]}" --objective auc --output auc2 --validation-fraction 0.5
check "another share" grep -q 'ranked by auc on 250 of 500 rows' <(tr -s '\n ' ' ' <out)
try "${auc[@]}" --objective train_auc --output auc3 --quiet
check "on the agents' data, nothing is split off" grep -qx '# samples: 125' auc3/precision.csv
try "${auc[@]}" --output auc4 --quiet
check "the metric: test rows are not dropped" grep -q '^on the test data' out
refuse "belongs to another search" "${auc[@]}" --objective auc --output auc \
    --samples 100 --validation-fraction 0.198 --resume
# Problem options: the result is run on its own problem.
try tune --problem fair --sensitive 3 --data synthetic:500:12 --test-data synthetic:200:12 --agents 4 --budget 100000 \
    --objective test_loss --fairness 1000 --search fairness=0:20 --hold all --output fair
check "a problem option" exits 0
fairness=$(sed -n 's/^best: .*--fairness \([0-9.]*\).*/\1/p' out)
check "is not the default" [ "$fairness" != 1000 ]
check "is in the file" grep -qx "fairness: '$fairness'" fair/precision.yaml
config=$(sed -n 's/^tuned for runs of about \([0-9]*\) IFO.*/\1/p' out)
said=$(sed -n 's/^on the test data, after training on all rows: //p' out)
try run --config fair/precision.yaml --max-ifo "$config" --iterations 1000000
check "a run with it has the same outcomes" grep -qF "held out $said" <(tr -s '\n ' ' ' <out)
refuse "is not an objective of problem auc; give attained, metric, loss, primal or stationarity, or an outcome: auc, pair_loss" "${auc[@]}" --objective accuracy --output new
refuse "--validation-fraction" "${auc[@]}" --objective auc --validation-fraction 0 --output new
for wrong in metric train_auc; do
    refuse "--validation-fraction: --objective '$wrong' is measured on the agents' rows" \
        "${auc[@]}" --objective "$wrong" --validation-fraction 0.3 --output new
done
refuse "--test-data: no data set 'nowhere'" "${auc[@]}" --objective auc --test-data nowhere --output new
check "refused before the search" absent new
try "${auc[@]}" --objective auc --validation-fraction 1e-9 --output new --quiet
check "no value on a row of one class" exits 3
check "is not blamed on the steps alone" warns "its auc on 1 held-out rows is undefined; start"
rm -rf new
for objective in primal stationarity; do
    try tune "${problem[@]}" --algorithms gda --budget 30000 --objective "$objective" --output "$objective"
    check "objective $objective" exits 0
    check "is in the log" grep -q "^rung,candidate,allotment,ifo,iterations,$objective,eta-x,eta-y$" \
        "$objective/gda.csv"
done
finish
