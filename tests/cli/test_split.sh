#!/usr/bin/env bash
# Converting and splitting data sets.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

try data generate all.txt --rows 203 --features 20 --seed 4
# Through every format and back: the same rows, digit by digit.
for path in all.npz all.csv all2.txt; do
    try data convert all.txt "$path"
    check "to $path" exits 0
    try data convert "$path" "back-$path.txt"
    check "from $path" cmp -s all.txt "back-$path.txt"
    try data generate "new-$path" --rows 203 --features 20 --seed 4
    check "generate writes $path as convert does" cmp -s "$path" "new-$path"
done
printf 'a;b;y\n0.1;-3e-300;1\n2;1e22;0\n' >dense.csv
try data convert dense.csv dense.npz
check "dense rows" exits 0
try data convert dense.npz dense.txt
check "keep their digits" is "$(cat dense.txt)" $'1 1:0.1 2:-3e-300\n0 1:2 2:1e+22'
printf 'color,size,label\nred,1,yes\n"a,b",2,no\n' >text.csv
try data convert text.csv coded.csv
check "names of texts are kept" is "$(head -1 coded.csv)" '"color=a,b",color=red,size,label'
try data convert coded.csv again.csv
check "and read again" cmp -s coded.csv again.csv
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    check "numpy reads it" /usr/bin/python3 -c "
import numpy as np
f = np.load('all.npz')
assert f['format'].item() == 'csr' and f['shape'].tolist() == [203, 20], f['shape']
assert f['indices'].dtype == np.int64 and f['indptr'][-1] == len(f['data']) == len(f['indices'])
assert f['y'].shape == (203,)
d = np.load('dense.npz')
assert d['X'].tolist() == [[0.1, -3e-300], [2, 1e22]] and d['y'].tolist() == [1, 0]"
fi

# ---- split ----
try data split all.txt --train train.txt --test test.npz --test-share 0.25 --seed 3
check "training and held-out rows" exits 0
check "by their shares" says "test.npz: 51 rows"
try data convert test.npz test.txt
check "every row once" cmp -s <(sort train.txt test.txt) <(sort all.txt)
positives() { grep -cE '^\+?1 ' "$1"; }
check "labels in the same shares" test $(($(positives train.txt) - 3 * $(positives test.txt))) -le 8 -a \
    $((3 * $(positives test.txt) - $(positives train.txt))) -le 8
cp train.txt first.txt
try data split all.txt --train train.txt --test test.npz --test-share 0.25 --seed 3
check "the same seed, the same rows" cmp -s train.txt first.txt
try data split all.txt --train train.txt --test test.npz --test-share 0.25 --seed 4
check "another seed, other rows" test "$(cmp -s train.txt first.txt; echo $?)" = 1
try data split all.txt --train part-%d.txt --parts 4 --test held.txt
check "agents' files" exits 0
check "of equal sizes" says "part-3.txt: 40 rows"
check "every row once, in five files" cmp -s <(sort part-?.txt held.txt) <(sort all.txt)
try run --data part-%d.txt --test-data held.txt --problem auc --topology ring --iterations 5
check "they run" says "4 agents"
try data split all.txt --train u-%02d.csv --parts 3 --stratify=no
check "without stratification" exits 0
check "CSV parts" test -s u-02.csv

for ((k = 1; k <= 50; k++)); do echo "$((k % 5 == 0)) 1:$k"; done >numbered
try data split numbered --train t.txt --test h.txt --test-share 0.2
check "in the order of the file" sort -c -t: -k2n t.txt
check "two of ten rows with the rare label" is "$(grep -c '^1' h.txt)" 2

refuse "needs --train" data split all.txt --test test.txt
refuse "there is only one part; give --test, or --train with %d" data split all.txt --train t.txt
refuse "--test-share must be above 0 and below 1 (got 0)" \
    data split all.txt --train t.txt --test h.txt --test-share 0
refuse "there is only one part" data split all.txt --train t-%d.txt --parts 1
refuse "--parts: --train is the single file 't.txt'; put %d into its name" \
    data split all.txt --train t.txt --test h.txt --parts 3
refuse "--test-share: no rows are held out; give --test" data split all.txt --train t-%d.txt --test-share 0.3
rm -f t.txt h.txt
for same in t.txt ./t.txt "$PWD/t.txt"; do
    refuse "--test: '$same' is also the file of --train" data split all.txt --train t.txt --test "$same"
done
refuse "--test: 't-1.txt' is also the file of --train" data split all.txt --train t-%d.txt --test t-1.txt
refuse "--test: 'h-%d.txt' has a % in it" data split all.txt --train t.txt --test h-%d.txt
refuse "OUTPUT: 'h-%d.txt' has a % in it" data convert all.txt h-%d.txt
refuse "--train: 't.npy': .npy files cannot be written" data split all.txt --train t.npy --test h.txt
refuse "--test: 'h.gz': .gz files cannot be written" data split all.txt --train t.txt --test h.gz
check "no part was written" is "$(ls t.txt t-?.txt h.txt h-* 2>/dev/null)" ""
refuse "part 203 gets none of the 203 rows" data split all.txt --train t-%d.txt --parts 300
check "nothing was written" absent t-0.txt
rm -f t.txt h.txt
refuse "all.txt" data split all.txt --train all.txt --test h.txt
refuse "all.txt" data convert all.txt all.txt
refuse ".npy files cannot be written" data convert all.txt out.npy
refuse ".gz files cannot be written" data convert all.txt out.txt.gz
refuse "has a % in it" data split all.txt --train t-%s --test h
refuse "No such file" data convert none/x out.csv
check "nothing was written for it" absent out.csv
refuse "cannot" data convert all.txt none/out.csv

finish
