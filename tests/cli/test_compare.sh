#!/usr/bin/env bash
# saddle compare and saddle theory (test_reference.sh checks the numbers of theory).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

try compare "${small[@]}" --iterations 300
check "compare" exits 0
check "warns of nothing" silent
for algorithm in precision precision+ prox-gt-sgda prox-dsgda; do
    check "trace of $algorithm" [ -s "saddle-compare/$algorithm-seed1.csv" ]
    check "$algorithm in the tables" says "  $algorithm "
done
check "levels are chosen" [ "$(grep -c '^cost until the metric stays at or below ' out)" -ge 2 ]
check "at most six of them" [ "$(grep -c '^cost until the metric stays at or below ' out)" -le 6 ]
check "the baselines never reach the last" says "never"
check "every level is reached by one" is "$(awk '/^until the metric/ {n++} /^  [a-z]/ && !/algorithm/ && !/never/ {hit[n] = 1}
    /^at the end/ {exit} END {for (k = 1; k <= n; k++) if (!hit[k]) print k}' out | wc -l)" 0
check "summary.csv" is "$(head -1 saddle-compare/summary.csv)" \
    "algorithm,seed,level,ifo,rounds,bytes,seconds,metric,gap"

# The same start, network and data: a separate run gives the same rows.
try run "${small[@]}" --iterations 300 --trace-every 1 --algorithm prox-dsgda --trace alone.csv --quiet
check "as a run by itself" same_trace alone.csv saddle-compare/prox-dsgda-seed1.csv

# The costs at a level are those of the row from which on the metric stays there.
try compare "${small[@]}" --iterations 200 --algorithms precision,prox-dsgda --repeats 2 --seed 5 \
    --levels 1e-30,0.05 --output two
check "repeats" exits 0
check "reached by none" says "0 of 2"
check "mean and range" grep -qE 'precision \* +[0-9]+ \([0-9]+-[0-9]+\)' out
check "seeds" is "$(cd two && echo *)" \
    "precision-seed5.csv precision-seed6.csv prox-dsgda-seed5.csv prox-dsgda-seed6.csv summary.csv"
check "rows of the summary" is "$(wc -l <two/summary.csv)" 13
for algorithm in precision prox-dsgda; do
    for seed in 5 6; do
        row=$(grep -v '^#' "two/$algorithm-seed$seed.csv" |
            awk -F, 'NR == 1 || !($9 <= 0.05) {row = ""; next} row == "" {row = $2 "," $3 "," $5 "," $6} END {print row}')
        check "cost of $algorithm at seed $seed" grep -qF \
            "$algorithm,$seed,0.05,${row:-never,never,never,never}" two/summary.csv
        check "$algorithm never gets to 1e-30 at seed $seed" grep -qxF \
            "$algorithm,$seed,1e-30,never,never,never,never,," two/summary.csv
        check "the end of $algorithm at seed $seed" grep -qxF "$algorithm,$seed,end,$(
            last_row "two/$algorithm-seed$seed.csv" | cut -d, -f2,3,5,6,9,16)" two/summary.csv
    done
done

# Outcomes next to the metric: in the tables, the summary and the traces.
fair=(--problem fair --sensitive 2 --data synthetic:600:12 --test-data synthetic:200:12 --agents 4
    --iterations 60 --trace-every 20 --algorithms "precision,prox-dsgda")
try compare "${fair[@]}" --repeats 2 --output fair --outcomes-per-agent
check "outcomes" exits 0
check "on the agents' data" says "outcomes on the agents' data, at the end, mean over seeds (smallest to largest)"
check "on held-out data" says "outcomes on held-out data, at the end, mean over seeds (smallest to largest)"
check "over agents" is "$(grep -c "^outcomes of the agents' own models" out)" 2
check "mean and range of a quantity" grep -qE '^  precision \* +[0-9.e+-]+  +0\.[0-9]+ \(0\.[0-9]+-0\.[0-9]+\)' out
check "columns of the summary" is "$(head -1 fair/summary.csv | cut -d, -f8-14)" \
    "metric,gap,train_loss,train_accuracy,train_demographic_parity_gap,train_equalized_odds_gap,test_loss"
for seed in 1 2; do
    check "the last row of seed $seed" is "$(grep "^precision,$seed,end," fair/summary.csv | cut -d, -f9-)" \
        "$(last_row "fair/precision-seed$seed.csv" | cut -d, -f16-)"
done
try run "${fair[@]:0:14}" --algorithm precision --trace alone.csv --outcomes-per-agent --quiet
check "as a run by itself" same_trace alone.csv fair/precision-seed1.csv
try compare "${fair[@]}" --output plain --outcomes ends --quiet
check "without agents" is "$(grep -c "^outcomes of the agents' own models" out)" 0
check "at the ends alone" is "$(grep '^precision,' plain/summary.csv | grep -vc ',,')" 1

# The same command again keeps finished runs and makes those that were cut short or are missing.
cp -r fair part
rm part/prox-dsgda-seed2.csv part/summary.csv
sed -i '/^# ended/d' part/precision-seed2.csv
sed -i 's/^# ended: .*/# ended: interrupted/' part/prox-dsgda-seed1.csv
sed -i '$d' part/prox-dsgda-seed1.csv
before=$(sha256sum part/precision-seed1.csv)
try compare "${fair[@]}" --repeats 2 --output part --outcomes-per-agent
check "continues" exits 0
check "keeps one run" is "$(grep -c 'kept: all iterations done$' out)" 1
check "which one" says "  [1/4] precision seed 1: kept: all iterations done"
check "as it was" is "$(sha256sum part/precision-seed1.csv)" "$before"
for trace in precision-seed1 precision-seed2 prox-dsgda-seed1 prox-dsgda-seed2; do
    check "$trace is there" same_trace "part/$trace.csv" "fair/$trace.csv"
done
check "the same summary" cmp -s <(cut -d, -f1-6,8- part/summary.csv) <(cut -d, -f1-6,8- fair/summary.csv)
refuse "belongs to another comparison: --nu is '0.1' there and '0.05' here" compare "${fair[@]}" --repeats 2 --output part \
    --outcomes-per-agent --nu 0.05
refuse "belongs to another comparison: --outcomes-per-agent is 'yes' there and 'no' here" compare "${fair[@]}" --repeats 2 --output part
refuse "already has results of another comparison, such as 'precision-seed2.csv'" compare "${fair[@]}" --output part
sed -i 's/^# saddle .*/# saddle 0.0.1/' part/precision-seed1.csv
refuse "was written by saddle 0.0.1" compare "${fair[@]}" --repeats 2 --output part --outcomes-per-agent

# Files whose contents have changed although their names have not: data with other labels, an edge, an event, a latency.
printf '%s\n' '1 1:1 2:2' '-1 1:2' '1 2:1' '-1 1:1' '1 1:3 2:1' '-1 2:3' '1 2:2' '-1 1:2 2:2' >rows.txt
printf '%s\n' '0 1' '1 2' '2 3' '3 0' >edges.txt
printf '%s\n' '2 leave 1' '4 return 1' >events.txt
printf '%s\n' 'default latency 0.01' >links.txt
files=(--problem robust-logistic --x-set box:0:10 --data rows.txt --agents 4 --topology file:edges.txt --churn events.txt
    --link-model links.txt --iterations 8 --algorithms precision --batch 1 --quiet --output files)
try compare "${files[@]}"
check "a comparison that reads files" exits 0
try compare "${files[@]}"
check "continues" exits 0
while read -r file expression; do
    cp "$file" kept
    sed -i "$expression" "$file"
    refuse "churn events.txt, --link-model links.txt, or give another directory" \
        compare "${files[@]}"
    mv kept "$file"
done <<'END'
rows.txt s/^1 1:3/-1 1:3/
rows.txt 1~3{s/^1/0/;s/^-1/1/;s/^0/-1/}
edges.txt s/^2 3/2 0/
events.txt s/^2 leave 1/3 leave 1/
links.txt s/0.01/0.02/
END
try compare "${files[@]}"
check "continues with the restored files" exits 0
# A difference is reported as the option that the user gave, not as one that follows it.
printf 'tau: 1\n' >tau.yaml
tau=(compare --problem quadratic --iterations 3 --algorithms "precision,gda" --output taus --quiet)
try "${tau[@]}" --config tau.yaml
refuse "another comparison: --tau is '1' there and '2' here" "${tau[@]}" --tau 2
printf 'tau: 2\n' >tau.yaml
refuse "another comparison: --tau is '1' there and '2' here" "${tau[@]}" --config tau.yaml
refuse "another comparison: --tau or --metric-tau is '1' there and '" "${tau[@]}"
# A third of the labels flipped also changes numbers that are computed from them, which are not options of the user.
try data generate many.csv --rows 300 --features 6
files=(--problem auc --data many.csv --iterations 8 --algorithms "gt-gda,gda" --quiet --output flipped)
try compare "${files[@]}"
sed -i '2~3{s/,1$/,0/;s/,-1$/,1/;s/,0$/,-1/}' many.csv
refuse "its options are the same, but the contents of the data, the network, the link model or a plug-in's files have changed" \
    compare "${files[@]}"
refuse "--eta-x is '" compare "${files[@]}" --eta-x 0.001
# So does a row less: the number of samples is not the user's choice, unless it was given.
sed -i '$d' many.csv
refuse "another comparison: --samples is '60' there and 'auto' here, because the contents of the data, the" \
    compare "${files[@]}"
refuse "--samples is '" compare "${files[@]}" --samples 20

# all, --quiet, and options that only some algorithms use.
try compare "${small[@]}" --algorithms all --quiet --c-gamma 3 --output all
check "all" exits 0
check "used by one of them: no warning" silent
check "says which rows are untuned" says " * untuned: default step sizes"
check "quiet begins with the tables" is "$(sed -n 2p out | cut -c1-21)" "cost until the metric"
try compare "${small[@]}" --algorithms precision --quiet --c-gamma 3 --output all --overwrite
check "used by none" warns "--c-gamma: not used by precision"
try run "${tiny[@]}" --algorithm gda --iterations 2 --topology ring --max-rounds 9 --stall-seconds 7
check "centralized algorithms have no network" warns "--topology: not used by centralized algorithms"
check "nor rounds" warns "--max-rounds: not used by centralized algorithms"
check "one process is not watched by others" warns "--stall-seconds: not used by a single process"
try run --data synthetic:90 --algorithm gda --iterations 2 --topology torus:3x3
check "a topology that determines the number of agents is used" silent

# Rows with default steps are marked; a given step, the theory's rule or a file of `saddle tune` is a choice.
mkdir answers
printf 'algorithm: gda\neta-x: 0.004\neta-y: 0.02\n' >answers/gda.yaml
try compare "${small[@]}" --algorithms gda,sgda,precision --nu 0.05 --tuned answers --output marks
check "a mark" is "$(grep -cE '^  sgda \* ' out)" "$(grep -cE '^  sgda ' out)"
check "none for given or tuned steps" is "$(grep -cE '^  (gda|precision) \*' out)" 0
check "the mark is explained once" is "$(grep -c '^ \* untuned' out)" 1
try compare "${small[@]}" --algorithms gda --steps theory --output marks2
check "theory's steps are not marked" is "$(grep -c '\*' out)" 0
try compare "${small[@]}" --algorithms gda,sgda --eta-x 0.004 --json --output marks3
check "given steps in JSON" is "$(grep -c '"untuned": false' out)" 2
try compare "${small[@]}" --algorithms gda,precision --nu 0.05 --json --output marks4
check "untuned ones in JSON" is "$(grep -c '"untuned": true' out)" 1

# How messages travel is named above the tables, if it was given.
try compare --problem quadratic --iterations 5 --algorithms precision --links lossy:0.2 --quiet --output lossy
check "names the links" is "$(sed -n 2p out)" "network of all runs: links lossy:0.2"
try compare --problem quadratic --iterations 5 --algorithms precision --compress quantize:4 --mixing-rate 0.5 --quiet \
    --output packed
check "names the compression" is "$(sed -n 2p out)" "network of all runs: compress quantize:4, mixing-rate 0.5"

# An algorithm that diverges does not keep the others from running.
try compare --problem quadratic --iterations 400 --algorithms precision,prox-dsgda --tau 1e-9 \
    --nu 1 --eta 1 --output div
check "all diverged" exits 3
check "shown as diverged" is "$(sed '1,/^at the end/d' out | grep -cE '^  (precision|prox-dsgda) .*diverged$')" 2
check "traces are there" is "$(cd div && echo *)" "precision-seed1.csv prox-dsgda-seed1.csv summary.csv"

# An algorithm that cannot solve the problem is refused with the reason; the others run.
try compare "${small[@]}" --x-set box:-1:1 --algorithms sreda,precision --output picky
check "refusal of one" exits 0
check "is shown" grep -qE "^  sreda +- +- +- +- +- +refused: sreda( |$)" out
check "dashes in the levels" grep -qE "^  sreda +- +- +- +-$" out
check "the other ran" [ -s picky/precision-seed1.csv ]
check "it did not" absent picky/sreda-seed1.csv
refuse "sreda does not support a constraint on x" compare "${small[@]}" --x-set box:-1:1 --algorithms sreda \
    --output picky2
refuse "none of the 2 algorithms can be run: sreda does not support a constraint on x" compare "${small[@]}" \
    --x-set box:-1:1 --algorithms sreda,sreda-boost --output none
check "nothing is written" absent none

# A common limit on IFO calls: used by all, whatever their number of iterations, with enough rows.
try compare "${small[@]:0:4}" --algorithms precision,gda,sgda --max-ifo 30000 --output budget
check "budget" exits 0
check "spent by all" is "$(sed '1,/^at the end/d' out | grep -c 'IFO budget spent')" 3
for algorithm in precision gda sgda; do
    ifo=$(last_row "budget/$algorithm-seed1.csv" | cut -d, -f2)
    check "$algorithm spent it" [ "$ifo" -ge 30000 ]
    check "$algorithm spent little more" [ "$ifo" -lt 31000 ]
    check "$algorithm has rows" [ "$(grep -vc '^#' "budget/$algorithm-seed1.csv")" -gt 80 ]
done

# Ctrl-C: finished results are shown.
"$saddle" compare "${small[@]}" --iterations 1e9 --trace-every 1000 --output int >out 2>err &
process=$!
wait_for rows_in int/precision-seed1.csv 3
kill -INT "$process"
wait "$process"
code=$?
check "interrupted" exits 130
check "tables are printed" says "not run"
check "an algorithm that did not run is not said never to reach a level" is \
    "$(sed '/^at the end/,$d' out | grep -cE '^  prox-dsgda .*never')" 0
check "summary is written" [ -s int/summary.csv ]

# ---- theory
try theory "${tiny[@]}"
check "theory" exits 0
for word in "L " "mu " "lambda " "objective " "y gap " "trackers " "total " "iterations " \
    "eta bound" "nu bound" "C1 " "C2 " "C2 corrected" "C2' " "C3 " "C4 " "practical nu"; do
    check "theory prints $word" grep -qE "^  $word" out
done
check "fits 80 columns" narrow out
check "no list of nothing without a guarantee" grep -qE '^PRECISION\+: no guarantee; ' out
check "nothing of its refreshes" is "$(grep -cE '^  (refresh|level) ' out)" 0
try theory --problem quadratic --samples 50 --c-gamma 1e4
check "refreshes with one" grep -qE '^  refresh +[0-9]' out
check "and a level" grep -qE '^  level +[0-9]' out
try theory --problem quadratic --mu 2 --lipschitz 8 --epsilon 0.5 --topology complete --agents 4
check "L as chosen" grep -qE '^  L +8 ' out
check "mu as chosen" grep -qE '^  mu +2 ' out
check "alpha = 1/L" grep -qE '^  alpha +0.125 ' out
check "epsilon as given" says "epsilon = 0.5"
nu=$(awk '/^  nu  / {print $2}' out)
try run --problem quadratic --mu 2 --lipschitz 8 --topology complete --agents 4 --steps theory \
    --iterations 1 --trace theory.csv --quiet
check "--steps theory uses it" is "$(grep '^# nu: ' theory.csv | awk '{printf "%.6g", $3}')" "$nu"

# ---- a best response that cannot be computed --------------------------------------------------

# For x above 1/2 the gradient in y given here rotates, so that no y*(xbar) is found. One algorithm gets there.
if has_compiler; then
    cat >round.c <<'END'
#include <saddle/plugin.h>
static size_t samples[64];
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    (void)p; (void)agent; (void)batch; (void)scratch;
    gx[0] = x[0] - 2.0;
    gy[0] = x[0] > 0.5 ? 0.1 + y[1] : -y[0];
    gy[1] = x[0] > 0.5 ? -y[0] : -y[1];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    (void)p; (void)agent; (void)scratch;
    return 0.5 * (x[0] - 2.0) * (x[0] - 2.0) - 0.5 * (y[0] * y[0] + y[1] * y[1]);
}
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    (void)error;
    for (size_t i = 0; i < inputs->agents && i < 64; i++)
        samples[i] = 4;
    ((saddle_problem *)made)->samples = samples;
    return SADDLE_OK;
}
static const saddle_problem_class going_round = {
    .name = "round", .size = sizeof(saddle_problem), .init = init,
    .common = {.x_dim = 1, .y_dim = 2, .gradient = gradient, .value = value}};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &going_round};
END
    "$compiler" -std=c17 -shared -fPIC -I"$here/../../include" round.c -o libround.so
    around=(compare --problem ./libround.so --init zeros --y-set box:-1:1 --iterations 40 --nu 1e-9 --eta-x 0.5 --eta-y 0.5)
    try "${around[@]}" --algorithms gda,precision --output round
    check "a failing algorithm does not end the others" exits 0
    check "it is shown as failed" grep -qE '^  gda .*failed: ' out
    check "with its reason" warns "the best response y*(xbar) of round was not found"
    check "the other one is done" grep -qE '^  precision +40 .*all iterations done' out
    try "${around[@]}" --algorithms gda --output round1
    check "nothing but failures is one" exits 1
fi

finish
