#!/usr/bin/env bash
# Choices that depend on the user's data: what must be given, and what a run says about those that it makes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

small=(--iterations 3 --quiet)
# Called by check, which shellcheck does not see.
# shellcheck disable=SC2317
warnings() { sed -n 's/^saddle: warning: //p' err; }
# shellcheck disable=SC2317
only() { is "$(warnings)" "$1"; }

# ---- columns: names, or numbers from 1
awk 'BEGIN { print "age,sex,bought"
    for (k = 0; k < 60; k++) printf "%g,%d,%d\n", k % 7 / 7, k % 2, k % 5 % 2 }' >people.csv
awk 'BEGIN { for (k = 0; k < 60; k++) printf "%d 1:%g 2:%d\n", k % 5 % 2, k % 7 / 7, k % 2 }' >people.libsvm
own=(--x-set none --agents 3)
refuse "--sensitive: which feature of these data is the sensitive attribute is not known; give a number from 1 to 2, or the name of a column or feature: age, sex" \
    run --problem fair --data people.csv
refuse "--sensitive: which feature of these data is the sensitive attribute is not known; give a number from 1 to 2; the features of these data have no names" \
    run --problem fair --data people.libsvm
refuse "--groups: which rows of these data form a group is not known; give agents, if the rows of each agent do, or names of columns or numbers from 1 to 2, and label, such as 1,label" \
    run --problem group-dro --data people.libsvm
for which in "people.csv --sensitive sex" "people.csv --sensitive 2" "people.libsvm --sensitive 2"; do
    # shellcheck disable=SC2086  # three words
    try run --problem fair "${own[@]}" "${small[@]}" --trace fair.csv --data $which
    check "$which" exits 0
    timeless fair.csv | grep -E '^[0-9]' >now
    [ -e first ] || cp now first
    check "is the same column" cmp -s now first
done
try run --problem fair --data synthetic:200 "${small[@]}" --trace fair.csv
check "generated data have a default" grep -q '^# sensitive: 73$' fair.csv
try run --problem group-dro --data synthetic:200 "${small[@]}" --trace groups.csv
check "of groups, too" grep -q '^# groups: agents$' groups.csv
try tune --problem fair --data synthetic:200 --objective accuracy --candidates 2 --budget 4000 --output tuned --quiet
check "also in a search, which splits rows" exits 0
for option in label-column drop-columns category-columns; do
    refuse "--$option: 'people.csv' has no column 0; columns are 1 to 3" data info people.csv --$option 0
    refuse "--$option: 'people.csv' has no column 4; columns are 1 to 3" data info people.csv --$option 4
done
try data info people.csv --label-column 1 --drop-columns 2
check "the first column is 1" is "$(grep -cE '^  features +1$' out)" 1

# ---- the default set of the paper
try run --data people.libsvm "${small[@]}"
check "the paper's set" only "--x-set: the default box:0:10, as in the PRECISION paper, allows no negative coefficients; none allows all"
try run --data people.libsvm "${small[@]}" --x-set box:0:10
check "not when it was chosen" only ""
try run --data synthetic:200 "${small[@]}"
check "nor for generated data" only ""

# ---- agents of very unequal sizes
unequal="--agent-weights: agents have 10 to 30 samples and count the same, so a sample of the smallest counts 3 times as much as one of the largest; by-size gives all samples the same weight"
sizes=(--data synthetic:100 --agents 3 --samples '30,10,20' "${small[@]}")
try run "${sizes[@]}"
check "a hint" only "$unequal"
try compare "${sizes[@]}" --algorithms precision,gda,prox-dsgda --output compared
check "once for all algorithms" only "$unequal"
for also in "--agent-weights equal" "--agent-weights by-size" "--samples 29,10,20" "--problem group-dro"; do
    # shellcheck disable=SC2086
    try run "${sizes[@]}" $also
    check "no hint with $also" only ""
done

# ---- batches
sizes=(--data synthetic:100 --agents 3 --samples '20,10,20' "${small[@]}")
try run "${sizes[@]}" --batch 15
check "one agent" only "--batch: agent 1 has only 10 samples, fewer than 15, and uses all of them"
try compare "${sizes[@]}" --batch 25 --algorithms precision,sgda,prox-dsgda --output batches
check "all agents" only "--batch: agents 0, 1, 2 have only 10 to 20 samples, fewer than 25, and use all of them"
try run "${sizes[@]}" --batch 10
check "as many as there are" only ""
try run --data synthetic:100 "${small[@]}" --agents 10 --samples 10 --batch 11
check "many agents" only "--batch: agents 0, 1, 2, 3, 4 and 5 more have only 10 samples, fewer than 11, and use all of them"
try run "${sizes[@]}" --algorithm sgda --batch 51
check "all samples together" only "--batch: there are only 50 samples, fewer than 51, and a centralized algorithm uses all of them"

# ---- labels
awk 'BEGIN { for (k = 0; k < 60; k++) printf "%d 1:%g 2:%d\n", k % 10, k % 7 / 7, k % 2 }' >grades.libsvm
try run --problem auc --data grades.libsvm "${small[@]}"
check "ten labels" only "--positive: the data have the labels 0 to 9, of which 5 to 9 are taken as positive; give the positive ones"
try run --problem auc --data grades.libsvm "${small[@]}" --positive 5-9
check "not when they were chosen" only ""

# ---- robust regression: one weight per sample
robust=(--problem robust-regression --data synthetic:120:8 --divergence 0.5 --iterations 400 --trace-every 100)
# The difference to the optimum of one agent, which has all rows.
distance() {
    awk -F, '/^[0-9]/ { last[FILENAME] = $7 } END { d = last[ARGV[1]] - last[ARGV[2]]; print d < 0 ? -d : d }' "$1" "$2"
}
# shellcheck disable=SC2317
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }'; }
gt=(--algorithm gt-gda --iterations 6000 --trace-every 6000 --quiet)
try run "${robust[@]}" "${gt[@]}" --agents 1 --trace one.csv
for agents in 2 8; do
    for weights in sample slot; do
        try run "${robust[@]}" "${gt[@]}" --agents $agents --weights-per $weights --trace $weights.csv
        check "$agents agents, $weights" exits 0
    done
    check "$agents agents solve the problem of one" below "$(distance one.csv sample.csv)" 1e-6
    check "slots are another problem" below 1e-3 "$(distance one.csv slot.csv)"
done
check "the choice is recorded" grep -q '^# weights-per: sample$' sample.csv
try run "${robust[@]}" --agents 4 --trace auto.csv --quiet
check "the default" only ""
check "is one weight per sample" grep -q '^# weights-per: sample$' auto.csv
try run "${robust[@]}" --agents 4 --iterations 250 --checkpoint ck --quiet
try run --resume ck --iterations 400 --trace-every 100 --trace again.csv --quiet
check "a resumed run" is "$(timeless again.csv | tail -1)" "$(timeless auto.csv | tail -1)"
try run "${robust[@]}" --agents 4 --trace by-size.csv --agent-weights by-size --samples 30,20,60,10 --quiet
check "sizes already count" only "--agent-weights: not used by problem robust-regression"
try run "${robust[@]}" --agents 4 --model robust.npz --quiet
try eval --model robust.npz --data synthetic:120:8
check "eval" says "worst_tenth_rmse"
try run --problem robust-regression --data synthetic:10001:5 --iterations 1 --quiet
check "many samples" only "--weights-per: with more than 10000 samples, agents share one weight per slot, and the more agents, the closer the result is to least squares; sample gives every sample its own weight, with longer messages"
for also in "--weights-per slot" "--weights-per sample" "--agents 1"; do
    # shellcheck disable=SC2086
    try run --problem robust-regression --data synthetic:10001:5 --iterations 1 --quiet $also
    check "nothing to say with $also" only ""
done
# ---- the algorithm, if none is given
# Called by check, which shellcheck does not see.
# shellcheck disable=SC2317
header() { is "$(sed -n 's/^  algorithm   \([^:]*\):.*/\1/p' out)" "$1"; }
brief=(--problem quadratic --samples 9 --iterations 3)
while read -r expected options; do
    # shellcheck disable=SC2086  # several words
    try run "${brief[@]}" $options
    check "without --algorithm, $options" header "${expected//_/ }"
done <<'END'
precision-auto
precision-auto --algorithm auto
precision-auto --nu 0.05 --eta 0.05 --alpha 0.1 --noise-share 0.4 --step-share 0.2 --hessian none
precision-auto --c-gamma 3
precision-auto --compress none
precision_(because_of_--compress) --compress quantize:16
precision_(because_of_--tau) --tau 20
precision_(because_of_--batch) --batch 4 --noise-share 0.4
precision_(because_of_--q) --q 2
precision_(because_of_--steps) --steps paper
precision_(because_of_--sampling) --sampling with-replacement
precision_(because_of_--compress) --compress top:0.5
precision_(because_of_--compress) --compress random:0.5
precision --algorithm precision --batch 4
prox-dsgda --algorithm prox-dsgda --compress top:0.5
END
printf 'algorithm: auto\nbatch: 4\n' >auto.yml
try run "${brief[@]}" --config auto.yml --json
check "a configuration file" exits 0
check "settings name what runs" grep -q '"algorithm": "precision",$' out
try run "${brief[@]}" --json
check "by default, too" grep -q '"algorithm": "precision-auto",$' out
# A checkpoint resumes with the algorithm of its run.
for options in "" "--batch 4"; do
    # shellcheck disable=SC2086  # two words
    try run "${brief[@]}" $options --checkpoint kept --quiet
    try run --resume kept --iterations 5
    check "resumes, $options" exits 0
    check "with the same" header "$([ -z "$options" ] && echo precision-auto || echo 'precision (because of --batch)')"
    rm -r kept
done
try run "${brief[@]}" --checkpoint kept --quiet
try run --resume kept --iterations 5 --tau 20
check "whatever is given now" header "precision-auto (because of --resume)"
check "which is not used" only "--tau: not used by precision-auto"
try run "${brief[@]}" --algorithm gda --checkpoint other --quiet
try run --resume other --iterations 5
check "also one that was given" header gda

finish
