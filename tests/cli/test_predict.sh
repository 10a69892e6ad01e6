#!/usr/bin/env bash
# Using saved models: eval, predict, and all combinations that are refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# Debian's own Python: another one earlier in the path may lack Debian's packages.
python=/usr/bin/python3

saddle_quiet() { "$saddle" "$@" >/dev/null || echo "failed: $*"; }
saddle_quiet data generate all --rows 900 --seed 3
head -n 600 all >train
tail -n 300 all >held

# ---- the run's outcomes -----------------------------------------------------------------------

try run --problem auc --data train --test-data held --iterations 200 --trace-every 200 \
    --trace o.csv --model m.npz
check "a model is trained" exits 0
try eval --model m.npz --data held
check "and evaluated" exits 0
check "quietly" silent
check "it says what it is" says "m.npz, a model of auc, on held: 300 rows"
cp out eval.txt
try predict --model m.npz --data held
check "scores" exits 0
check "one to a row" is "$(wc -l <out)" 300
check "and nothing else" is "$(grep -cvE '^-?[0-9.e+-]+$' out)" 0
cp out scores
try predict --model m.npz --data held -o f
check "to a file" exits 0
check "prints nothing" is "$(wc -c <out)" 0
check "the same" cmp -s f scores
try predict --data held --output g --model=m.npz --threads 1
check "by the long name, with one thread" cmp -s g scores
check "man has the short name" grep -q -- '-o is the same' <("$saddle" help predict)

cat >recompute.py <<'END'
# The run's last outcomes and eval's lines, recomputed from the scores and the labels.
import csv, math
scores = [float(line) for line in open("scores")]
labels = [float(line.split()[0]) for line in open("held")]
said = dict(line.split() for line in open("eval.txt").read().splitlines()[1:])
last = list(csv.DictReader(line for line in open("o.csv") if line[0] != "#"))[-1]
positive = [s for s, b in zip(scores, labels) if b > 0]
negative = [s for s, b in zip(scores, labels) if b < 0]
won = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
pair = sum((1 - p + n) ** 2 for p in positive for n in negative)
pairs = len(positive) * len(negative)
right = sum((s > 0) == (b > 0) for s, b in zip(scores, labels))
loss = sum(math.log1p(math.exp(-b * s)) for s, b in zip(scores, labels))
assert float(said["auc"]) == float(last["test_auc"])
assert float(said["pair_loss"]) == float(last["test_pair_loss"])
for name, value in (("auc", won / pairs), ("pair_loss", pair / pairs),
                    ("accuracy", right / len(scores)), ("loss", loss / len(scores)),
                    ("positive_share", len(positive) / len(scores))):
    assert abs(float(said[name]) - value) <= 1e-12, (name, said[name], value)
END
if [ -x "$python" ]; then
    check "eval agrees with the run's outcomes and with the scores" "$python" recompute.py
else
    skip "no $python to recompute the scores' worth"
fi

try run --problem fair --data train --sensitive 5 --iterations 50 --model fair.npz
try eval --model fair.npz --data held
check "fairness gaps" says "demographic_parity_gap"
try run --problem poisoning --data train --poisoned 2 --iterations 50 --model p.npz
try eval --model p.npz --data held
check "poisoned rows" says "poisoned_accuracy"
check "and an auc" grep -qE '^  auc +0\.[0-9]+' out
try run --data train --iterations 50 --model r.npz
try eval --model r.npz --data held
check "the paper's problem" grep -qE '^  auc +0\.[0-9]+' out

# ---- other file formats -----------------------------------------------------------------------

sed 's/^[+-]*1/0/' held >unlabelled
try predict --model m.npz --data unlabelled
check "labels do not matter to scores" cmp -s out scores
refuse "label 0 is neither positive (1) nor negative (-1) in the training data" eval --model m.npz --data unlabelled
sed 's/^[+-]*1/-1/' held >negative
try eval --model m.npz --data negative
check "without positives" exits 0
check "there is no auc" grep -qE '^  auc +not defined' out
sed 's/^+*1/2/; s/^-1/1/' held >recoded
try eval --model m.npz --data recoded --positive 2
check "labels by another name" is "$(sed -n 2,9p out)" "$(sed -n 2,9p eval.txt)"
printf '1 1:1\n' >short
try predict --model m.npz --data short
check "missing features are zeros" is "$(wc -l <out)" 1
# The model stores the label's column: with the wrong one, 7 would be a feature.
printf 'label,a,b\n7,1,2\n0,2,1\n7,3,4\n0,4,3\n' >first.csv
try run --algorithm precision --problem auc --data first.csv --label-column label --agents 2 --iterations 20 --model c.npz
try eval --model c.npz --data first.csv
check "the run's label column" grep -qE '^  auc +1$' out
refuse "column 'label' of 'first.csv' is the label of the training data, but the label is taken from another column; set --label-column to 'label'" \
    eval --model c.npz --data first.csv --label-column last
printf 'b,label,a\n1,7,2\n1,0,3\n4,7,5\n4,0,4\n' >turned.csv
try eval --model c.npz --data turned.csv
check "columns are found by name" exits 0
check "which makes a difference" grep -qvE '^  auc +1$' out
try eval --model c.npz --data first.csv --positive auto
check "auto is the run's list" grep -qE '^  auc +1$' out
check "half of it is positive" grep -qE '^  positive_share +0.5$' out

# The model also stores whether there is a header.
sed '1s/.*/0,1,2/' first.csv >numbered.csv
try run --problem auc --data numbered.csv --header yes --label-column first --agents 2 --iterations 20 --model h.npz
check "names that are numbers" exits 0
try predict --model h.npz --data numbered.csv
check "the run's header" is "$(wc -l <out)" 4

# ---- rows without labels ----------------------------------------------------------------------

try predict --model c.npz --data first.csv
cp out scores.csv
sed 's/^[^,]*,//' first.csv >features.csv
try predict --model c.npz --data features.csv --label-column none
check "a table of features alone" exits 0
check "has the same scores" cmp -s out scores.csv
printf '%s\n' x,y 1,0 2,1 3,0 4,1 >lone.csv
cut -d, -f1 lone.csv >feature.csv
try run --problem auc --data lone.csv --agents 2 --topology complete --iterations 5 --model lone.npz
try predict --model lone.npz --data lone.csv
cp out lone.scores
try predict --model lone.npz --data feature.csv --label-column none
check "a single feature needs no separator" exits 0
check "and has the same scores" cmp -s out lone.scores
try predict --model lone.npz --data feature.csv
check "nor an option that there is no label" cmp -s out lone.scores
refuse "one field only; a label and at least one feature are needed" \
    predict --model lone.npz --data feature.csv --label-column last
# The model knows the name of its label: a file without it has no labels, whatever the position of its other columns.
try predict --model c.npz --data features.csv
check "a file without the label's name" cmp -s out scores.csv
sed 's/label,a,b/other,a,b/' first.csv >other.csv
refuse "column 'other' of 'other.csv' is not in the training data; leave it out with --drop-columns, or name it as --label-column" predict --model c.npz --data other.csv
refuse "'features.csv' has no label column 'label' to compare scores with; give labelled rows" \
    eval --model c.npz --data features.csv
sed 1d features.csv >nameless.csv
refuse "'nameless.csv'" predict --model c.npz --data nameless.csv --header no
try run --algorithm precision --problem auc --data first.csv --label-column 1 --agents 2 --iterations 20 --model c.npz
try predict --model c.npz --data features.csv
check "whatever the run's --label-column" cmp -s out scores.csv
try predict --model c.npz --data turned.csv
check "and wherever the label is" exits 0
refuse "'features.csv' has no column 'label', the label of the training data; give rows with labels, or, to predict without them, set --label-column to none" \
    predict --model c.npz --data features.csv --label-column last
refuse "'none' leaves nothing to compare the scores with" \
    eval --model c.npz --data features.csv --label-column none
for problem in auc robust-regression; do
    refuse "--label-column: 'none' means rows without labels, which only predict can use; give the column" \
        run --problem $problem --data features.csv --label-column none
    refuse "--labels: 'none' means rows without labels" run --problem $problem --data features.csv --labels none
done
# Four images of 1 x 2 pixels.
printf '\0\0\010\03\0\0\0\04\0\0\0\01\0\0\0\02\377\0\0\377\200\0\0\200' >images
refuse "give the label file's path, or none" predict --model c.npz --data images
try predict --model c.npz --data images --labels none
check "images alone" is "$(wc -l <out)" 4

# ---- a full disk, and files of other commands -------------------------------------------------

"$saddle" predict --model m.npz --data synthetic:3000 >/dev/full 2>err </dev/null
code=$?
check "a full disk for the scores" exits 1
check "is named" is "$(cat err)" "saddle: cannot write to standard output: No space left on device"
for command in eval predict; do
    try help "$command"
    check "$command: no default of what is needed or the model's" is "$(grep -c 'Default:' out)" 2
done

# ---- refusals ---------------------------------------------------------------------------------

refuse "saddle eval needs --model" eval --data held
refuse "saddle predict needs --data" predict --model m.npz
refuse "has no option --positive" predict --model m.npz --data held --positive 1
refuse "'held' is not a model; give a model file that a run wrote (cannot read 'xbar' from 'held'" eval --model held --data held
refuse "No such file" eval --model none.npz --data held
refuse "no data set 'none'" eval --model m.npz --data none
printf '1 1:1 124:1\n' >wide
refuse "'wide' has 124 features, but the model 'm.npz' was trained on 123" \
    predict --model m.npz --data wide
try run --problem quadratic --iterations 2 --model q.npz
refuse "'q.npz' is a model of problem quadratic" eval --model q.npz --data held
try run --problem policy-evaluation --iterations 2 --model v.npz
refuse "'v.npz' is a model of problem policy-evaluation" predict --model v.npz --data held
refuse "is a model of the built-in problem auc; leave out the problem" eval --model m.npz --data held --problem auc
refuse "is also the file of --model" predict --model m.npz --data held --output m.npz
refuse "is also the file of --data" predict --model m.npz --data held --output held
refuse "--output" predict --model m.npz --data held --output no/where
refuse "'-o' is not an option" eval --model m.npz --data held -o f
head -c 700 m.npz >cut.npz
refuse "the file is cut short or damaged" eval --model cut.npz --data held

# ---- the model of a plug-in -------------------------------------------------------------------

if has_compiler; then
    cat >plugin.c <<'END'
#include <saddle/plugin.h>
/* f = 1/2 |x - a|^2 + x_1 y - y^2 / 2 over rows a; a row's score is x'a times a factor. All that it knows is
 * in the inputs, which it keeps. */
typedef struct options { double factor; } options;
static double entry(const saddle_dataset *data, size_t row, size_t column)
{
    for (size_t k = data->row_start[row]; k < data->row_start[row + 1]; k++)
        if (data->column[k] == column)
            return saddle_entry_value(data, k);
    return 0.0;
}
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const saddle_problem_inputs *in = p->self;
    (void)scratch;
    for (size_t c = 0; c < in->features; c++) {
        gx[c] = x[c];
        for (size_t k = 0; k < batch->count; k++)
            gx[c] -= entry(in->shard[agent], batch->index ? batch->index[k] : k, c) /
                     (double)batch->count;
    }
    gx[0] += y[0];
    gy[0] = x[0] - y[0];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const saddle_problem_inputs *in = p->self;
    double sum = 0.0;
    (void)scratch;
    for (size_t row = 0; row < in->samples[agent]; row++)
        for (size_t c = 0; c < in->features; c++) {
            double off = x[c] - entry(in->shard[agent], row, c);
            sum += 0.5 * off * off / (double)in->samples[agent];
        }
    return sum + x[0] * y[0] - 0.5 * y[0] * y[0];
}
static saddle_status scores(const saddle_problem *p, const saddle_dataset *data, const double *x,
                            const double *y, double *out, saddle_error *error)
{
    const saddle_problem_inputs *in = p->self;
    const options *chosen = in->options;
    double factor = chosen != NULL ? chosen->factor : *in->argument == '2' ? 2.0 : 1.0;
    (void)y;
    (void)error;
    for (size_t row = 0; row < data->rows; row++) {
        out[row] = 0.0;
        for (size_t c = 0; c < in->features; c++)
            out[row] += factor * x[c] * entry(data, row, c);
    }
    return SADDLE_OK;
}
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_problem *problem = made;
    (void)error;
    problem->self = (void *)inputs;
    problem->x_dim = inputs->features;
    return SADDLE_OK;
}
static const saddle_option factor_option =
    SADDLE_REAL_ABOVE(SADDLE_OWN(options, factor, INSTANCE), "factor", "Mean", "1", 0.0, 10.0, "F",
                      "Scores are multiplied by it.");
static const saddle_option *const table[] = {&factor_option, NULL};
static const saddle_problem_class nearest_mean = {.needs_data = true,
                                                  .name = "nearest-mean",
#ifndef SHY
                                                  .summary = "the mean of all rows",
                                                  .options = table,
                                                  .options_size = sizeof(options),
#endif
                                                  .size = sizeof(saddle_problem),
                                                  .common = {.y_dim = 1,
                                                             .gradient = gradient,
                                                             .value = value,
                                                             .scores = scores},
                                                  .init = init};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &nearest_mean};
END
    for flags in "" -DSHY; do
        "$compiler" -std=c17 -shared -fPIC $flags -I"$here/../../include" plugin.c -o "lib$flags.so"
    done
    try problems ./lib.so
    check "a plug-in describes itself" exits 0
    check "by name" says "nearest-mean: the mean of all rows"
    check "with what it needs" says "Its samples are the rows of --data."
    check "and takes" says "Scores are multiplied by it."
    check "in which form" says "--factor F"
    try problems ./lib-DSHY.so
    check "or keeps quiet" says "nearest-mean: a plug-in"
    check "and takes any text" says "--problem ./lib-DSHY.so[:OPTIONS]"
    refuse "cannot read the plug-in './none.so'" problems ./none.so
    refuse "exports no symbol saddle_plugin" problems "$(realpath "$("$compiler" -print-file-name=libm.so.6)")"

    try run --problem ./lib.so:factor=2 --data train --iterations 20 --model mean.npz
    check "its model is trained" exits 0
    refuse "if you trust it, give ./lib.so:factor=2 as --problem" predict --model mean.npz --data held
    try predict --model mean.npz --data held --problem ./lib.so:factor=2
    check "and used where the object is named" exits 0
    cp out doubled
    try predict --model mean.npz --data held --problem "$PWD/lib.so"
    check "from elsewhere, with other options" is \
        "$(awk 'NR == FNR { a[NR] = $1; next } { if (a[FNR] != 2 * $1) n++ } END { print n + 0 }' \
            doubled out)" 0
    try predict --model mean.npz --data held --problem ./lib-DSHY.so:2
    check "a class without options reads its text, in a predictor too" cmp -s out doubled
    refuse "--scale: problem nearest-mean uses its data as they are; leave --scale out" \
        run --problem ./lib.so --data train --scale standard
    refuse "is not a linear model" predict --model mean.npz --problem ./lib.so --coefficients
    try eval --model mean.npz --data held --problem ./lib.so:factor=2
    check "evaluated, too" grep -qE '^  auc +0\.[0-9]+' out
    refuse "is not a path" eval --model mean.npz --data held --problem auc
fi
finish
