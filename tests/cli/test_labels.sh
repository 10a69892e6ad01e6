#!/usr/bin/env bash
# Labels as a problem needs them: signs, class indices, or the file's numbers.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has_compiler || exit 77

# f_ij = 1/2 (x - b_ij)^2 + x y - y^2 / 2 with the label b_ij; the plug-in prints its labels.
cat >plugin.c <<'END'
#include <stdio.h>
#include <saddle/plugin.h>
static void gradient(const saddle_problem *p, size_t agent, const saddle_batch *batch,
                     const double *x, const double *y, double *gx, double *gy, double *scratch)
{
    const saddle_dataset *const *shard = p->self;
    double mean = 0.0;
    (void)scratch;
    for (size_t k = 0; k < batch->count; k++)
        mean += shard[agent]->label[saddle_batch_sample(batch, k)];
    gx[0] = x[0] - mean / (double)batch->count + y[0];
    gy[0] = x[0] - y[0];
}
static double value(const saddle_problem *p, size_t agent, const double *x, const double *y,
                    double *scratch)
{
    const saddle_dataset *data = ((const saddle_dataset *const *)p->self)[agent];
    double sum = 0.0;
    (void)scratch;
    for (size_t k = 0; k < data->rows; k++)
        sum += 0.5 * (x[0] - data->label[k]) * (x[0] - data->label[k]);
    return sum / (double)data->rows + x[0] * y[0] - 0.5 * y[0] * y[0];
}
static saddle_status scores(const saddle_problem *p, const saddle_dataset *data, const double *x,
                            const double *y, double *out, saddle_error *error)
{
    (void)p, (void)y, (void)error;
    for (size_t k = 0; k < data->rows; k++)
        out[k] = x[0];
    return SADDLE_OK;
}
static saddle_status outcomes(const saddle_problem *p, const saddle_outcome_rows *rows,
                              const double *x, const double *y, saddle_outcome *out, size_t *count,
                              saddle_error *error)
{
    const saddle_dataset *held_out = rows->held_out;
    double sum = 0.0;
    (void)p, (void)x, (void)y, (void)error;
    for (size_t k = 0; held_out != NULL && k < held_out->rows; k++)
        sum += held_out->label[k];
    out[0] = (saddle_outcome){"label_sum", sum};
    *count = 1;
    return SADDLE_OK;
}
static saddle_status init(void *made, const saddle_problem_inputs *inputs, saddle_error *error)
{
    saddle_problem *problem = made;
    (void)error;
    problem->self = (void *)inputs->shard;
    if (inputs->scoring)
        return SADDLE_OK;
    fprintf(stderr, "classes");
    for (size_t k = 0; k < inputs->class_count; k++)
        fprintf(stderr, " %g", inputs->classes[k]);
    for (size_t i = 0; i < inputs->agents; i++) {
        fprintf(stderr, "; agent %zu:", i);
        for (size_t k = 0; k < inputs->shard[i]->rows; k++)
            fprintf(stderr, " %g", inputs->shard[i]->label[k]);
    }
    fprintf(stderr, "\n");
    return SADDLE_OK;
}
static const saddle_problem_class tested = {
    .needs_data = true, .labels = LABELS, .name = "tested", .size = sizeof(saddle_problem),
    .init = init,
    .common = {.x_dim = 1, .y_dim = 1, .gradient = gradient, .value = value, .scores = scores,
               .outcomes = outcomes}};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .problem = &tested};
END
for kind in SIGNS CLASSES REAL; do
    check "builds $kind.so" "$compiler" -std=c17 -shared -fPIC -DLABELS=SADDLE_LABELS_$kind \
        -I"$here/../../include" plugin.c -o $kind.so
done

printf '%s 1:1\n' 3 9 5 3 >three
printf '%s 1:1\n' 0.25 -1.5 7 0.5 >real
two=(--agents 2 --topology ring --partition contiguous --iterations 3)

try run --problem ./CLASSES.so --data three "${two[@]}" --model classes.npz --test-data three
check "classes are indices of the ascending labels" exits 0
check "the problem gets labels and indices" warns "classes 3 5 9; agent 0: 0 2; agent 1: 1 0"
check "held-out rows are numbered alike" says "label_sum"
try run --problem ./CLASSES.so --data three "${two[@]}" --classes 9,1,3,5
check "classes that are given may not occur" warns "classes 1 3 5 9; agent 0: 1 3; agent 1: 2 1"
try run --problem ./CLASSES.so --data three "${two[@]}" --positive 3
check "signs are not for classes" warns "--positive: not used by problem tested"
try run --problem ./REAL.so --data real "${two[@]}" --classes 3,4 --model real.npz
check "real labels are the file's" warns "classes; agent 0: 0.25 -1.5; agent 1: 7 0.5"
check "classes are not for real labels" warns "--classes: not used by problem tested"
try run --problem ./SIGNS.so --data three "${two[@]}" --positive 5-9
check "signs" warns "classes; agent 0: -1 1; agent 1: 1 -1"

# The same with one file per agent: the classes are those of all agents.
printf '%s 1:1\n' 3 9 >part-0
printf '%s 1:1\n' 5 3 >part-1
try run --problem ./CLASSES.so --data part-%d --agents 2 --topology ring --iterations 1
check "classes of all agents' files" warns "classes 3 5 9; agent 0: 0 2; agent 1: 1 0"
printf '%s 1:1\n' 0.25 -1.5 >part-0
try run --problem ./REAL.so --data part-%d --agents 2 --topology ring --iterations 1
check "real labels of files" warns "classes; agent 0: 0.25 -1.5; agent 1: 5 3"

# A saved model stores its classes.
printf '%s 1:1\n' 9 5 >fewer
printf '%s 1:1\n' 9 4 >unknown
try eval --problem ./CLASSES.so --model classes.npz --data fewer
check "eval numbers labels as the run did" says "label_sum  3"
refuse "label 4 is not among the classes 3, 5, 9" \
    eval --problem ./CLASSES.so --model classes.npz --data unknown
try eval --problem ./REAL.so --model real.npz --data real
check "eval of real labels" says "label_sum  6.25"

refuse "positive: two classes are needed, but the data have 3 different labels (3, 5, 9); give the positive ones, such as 9 or 5,9" \
    run --problem ./SIGNS.so --data three "${two[@]}"
refuse "classes: label 5 is not among the classes 3, 9" \
    run --problem ./CLASSES.so --data three "${two[@]}" --classes 3,9
refuse "classes: 'x' is not a number; give the labels of the classes separated by commas" \
    run --problem ./CLASSES.so --data three "${two[@]}" --classes 3,x
refuse "test-data: label 4 is not among the classes 3, 5, 9" \
    run --problem ./CLASSES.so --data three "${two[@]}" --test-data unknown
printf '%s 1:1\n' 3 3 >one
refuse "classes: the problem needs 2 to 1000 classes, but there is only 1 label (3)" \
    run --problem ./CLASSES.so --data one "${two[@]}"
for ((k = 0; k < 1001; k++)); do echo "$k.5 1:1"; done >many
refuse "1001 different labels (0.5, 1.5" run --problem ./CLASSES.so --data many "${two[@]}"

# A label that is neither positive nor negative in the training data is refused, one that is in the list of the
# positive ones or occurred is not.
share() { grep -qE "^  positive_share +$1\$" out; }
printf '%s 1:%s\n' -1 1 1 0 0 1 1 1 >signs
printf '%s 1:1\n' 1 1 >positives
printf '%s 1:1\n' -1 >negatives
printf '%s 1:1\n' 1 2 >other
for problem in ./SIGNS.so auc group-dro\ --groups\ label fair\ --sensitive\ 1; do
    own=(--problem ./SIGNS.so)
    [ "$problem" = ./SIGNS.so ] || own=()
    # shellcheck disable=SC2086  # an option beside the name
    try run --problem $problem --data signs "${two[@]}" --positive 1 --model signs.npz --quiet
    check "$problem learns signs" exits 0
    refuse "label 2 is neither positive (1) nor negative (-1, 0) in the training data; remove its rows" \
        eval "${own[@]}" --model signs.npz --data other
    try eval "${own[@]}" --model signs.npz --data positives
    check "$problem: rows of the positive class" share 1
    try eval "${own[@]}" --model signs.npz --data negatives
    check "$problem: rows of a negative label" share 0
    try eval "${own[@]}" --model signs.npz --data other --positive 2
    check "$problem: --positive replaces the labels of the run" share 0.5
    try predict "${own[@]}" --model signs.npz --data other
    check "$problem: predict ignores labels" exits 0
done
refuse "test-data: label 2 is neither positive (1) nor negative (-1, 0) in the training data" \
    run --problem auc --data signs "${two[@]}" --positive 1 --test-data other
printf '%s 1:1\n' 1 2 1 2 >ones
try run --problem auc --data ones "${two[@]}" --model ones.npz --quiet
refuse "label 3 is neither positive (2) nor negative (1) in the training data" \
    eval --model ones.npz --data three
# Messages show all digits that tell labels apart.
printf '%s 1:1\n' 1 2.0000001 >nearly
printf '%s 1:1\n' 1 2.0000001 0.3 >close
refuse "label 2.0000001 is neither positive (2) nor negative (1) in the training data" \
    eval --model ones.npz --data nearly
refuse "3 different labels (0.3, 1, 2.0000001); give the positive ones, such as 2.0000001 or 1,2.0000001" \
    run --problem auc --data close "${two[@]}"
try run --problem auc --data part-%d --agents 2 --topology ring --iterations 1 --positive 3,5 --model parts.npz --quiet
refuse "label 9 is neither positive (3,5) nor negative (-1.5, 0.25) in the training data" \
    eval --model parts.npz --data three
printf '%s,%s\n' a sort 1 no 2 yes 3 no 4 yes >texts.csv
try run --problem auc --data texts.csv "${two[@]}" --model texts.npz --quiet
printf '%s 1:1\n' 0 1 2 >numbers
refuse "label 2 is neither positive (1) nor negative (0) in the training data" \
    eval --model texts.npz --data numbers
printf '%s,%s\n' a sort 1 maybe >maybe.csv
refuse "column 'sort' had no category 'maybe' in the training data" eval --model texts.npz --data maybe.csv
# So many labels are measurements, of which no list is kept.
try run --problem auc --data many "${two[@]}" --positive 500-1e9 --model many.npz --quiet
try eval --model many.npz --data other
check "measurements by a range" share 0
# A model of version 0.2 does not say which labels were negative.
try eval --model "$here/../fuzz/seeds/model/auc___score_linear.npz" --data other
check "a model without its classes can be used" share 0.5

finish
