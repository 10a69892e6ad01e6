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

# ---- from CSV to CSV: lines are copied ----
rows_of() { for part in "$@"; do sed 1d "$part"; done | sort; }
printf 'Age;Sex;Job;Loan\n' >loans.csv
for ((k = 0; k < 60; k++)); do
    printf '%s;%s;"%s; ""x""";%s\n' "$((k % 7 ? k : 0))" "$([ $((k % 2)) = 0 ] && echo f || echo m)" "$k" \
        "$([ $((k % 3)) = 0 ] && echo Approved || echo Denied)"
done >>loans.csv
sed -e '5s/^[0-9]*//' -e '7s/;[fm];/;NA;/' -e '9s/^[0-9]*;/ 1,5 ;/' loans.csv >holes.csv
try data split holes.csv --train loan-%d.csv --parts 2 --test loan-held.csv --test-share 0.2
check "CSV to CSV" exits 0
check "says the numbers of rows" is "$(cat out)" $'loan-held.csv: 12 rows\nloan-0.csv: 24 rows\nloan-1.csv: 24 rows'
check "every file has the header line" is "$(head -qn1 loan-[01].csv loan-held.csv | uniq -c | xargs)" "3 Age;Sex;Job;Loan"
check "every line once, as it was" cmp -s <(rows_of loan-[01].csv loan-held.csv) <(rows_of holes.csv)
check "stratified by the texts of the last column" is "$(grep -c Approved loan-held.csv)" 4
try data split loans.csv --train loan-%d.csv --parts 2 --test loan-held.csv --test-share 0.2
try data split loans.csv --train loan-%d.npz --parts 2 --test loan-held.npz --test-share 0.2
for part in 0 1 held; do
    try data convert "loan-$part.npz" "loan-$part.txt"
    check "copied and encoded rows of part $part are the same" cmp -s \
        <(cut -d' ' -f1 "loan-$part.txt") <(sed '1d; s/.*;Approved$/0/; s/.*;Denied$/1/' "loan-$part.csv")
done
try run --data loan-%d.csv --test-data loan-held.csv --problem fair --sensitive Sex --positive Approved \
    --topology complete --iterations 5 --drop-columns Job
check "columns and labels keep their names" exits 0
try data split loans.csv --train by-%d.csv --parts 2 --label-column Sex
check "another label column" is "$(grep -c ';f;' by-0.csv)" 15
awk '{ printf "%s%s", sep, $0; sep = "\r\n" }' loans.csv >crlf.csv
try data split crlf.csv --train crlf-%d.csv --parts 2
check "line ends are kept, and the last line has one" is "$(cat crlf-?.csv | grep -c $'\r$')" 62
check "once per line" is "$(cat crlf-?.csv | wc -l)" 62
gzip -c loans.csv >packed.csv.gz
try data split packed.csv.gz --train packed-%d.csv --parts 2
check "compressed input" cmp -s <(rows_of packed-?.csv) <(rows_of loans.csv)
(printf '\xef\xbb\xbf' && cat loans.csv) >mark.csv
try data split mark.csv --train mark-%d.csv --parts 2
check "the byte order mark is kept" is "$(head -c3 mark-1.csv | od -An -tx1 | tr -d ' ')" efbbbf
check "before the header line" is "$(head -1 mark-1.csv | tail -c +4)" "Age;Sex;Job;Loan"
(sed 1d loans.csv && echo) >bare.csv
try data split bare.csv --train bare-%d.csv --parts 2
check "no header line, no line is repeated" cmp -s <(sort bare-?.csv) <(sed 1d loans.csv | sort)
sed '4s/[A-Za-z]*$//' loans.csv >unlabelled.csv
rm -f l-?.csv
refuse "unlabelled.csv:4:16: missing label in column 'Loan'; fill it in, or set --stratify to no to split without regard to labels" \
    data split unlabelled.csv --train l-%d.csv --parts 2
try data split unlabelled.csv --train l-%d.csv --parts 2 --stratify=no
check "labels are not needed without stratification" cmp -s <(rows_of l-?.csv) <(rows_of unlabelled.csv)
rm -f l-?.csv
for option in "--missing drop" "--categories codes" "--drop-columns Job"; do
    # shellcheck disable=SC2086  # two words
    refuse "${option% *}: rows are copied from CSV to CSV as they are; give this option to the commands that read the parts" \
        data split loans.csv --train l-%d.csv --parts 2 $option
done
refuse "--category-columns: 'Sex' is not the label column" data split loans.csv --train l-%d.csv --parts 2 --category-columns Sex
sed '3s/Denied/7/' loans.csv >mixed.csv
refuse "mixed.csv:3:16: column 'Loan' has text above, such as 'Approved', and the number 7 here; name it in --category-columns" \
    data split mixed.csv --train l-%d.csv --parts 2
try data split mixed.csv --train l-%d.csv --parts 2 --category-columns Loan
check "numbers among the labels as text" exits 0
rm -f l-?.csv
printf 'a,b,y\n1,"two\nlines",0\n2,x,1\n' >newline.csv
refuse "newline.csv:2:3: the quote that opens here is not closed in this line; fields cannot hold line ends" \
    data split newline.csv --train l-%d.csv --parts 2
printf 'a,b,y\n1,2,0\n1,2\n' >short.csv
refuse "short.csv:3:4: 2 fields; the first line has 3" data split short.csv --train l-%d.csv --parts 2
refuse "--label-column: 'loans.csv' has no column 'Lona'; its columns are: Age;Sex" \
    data split loans.csv --train l-%d.csv --parts 2 --label-column Lona
refuse "'loans.csv' has 60 rows, too few for 61 parts" data split loans.csv --train l-%d.csv --parts 61
check "no part was written for them" absent l-0.csv
try data split loans.csv --train l-%d.csv --parts 2 --labels y.txt
check "options that CSV has no use for" warns "--labels: not used by CSV files"

refuse "needs --train" data split all.txt --test test.txt
refuse "there is only one part; give --test, or --train with %d" data split all.txt --train t.txt
for share in 0 1 2; do
    refuse "--test-share: give a number above 0 and below 1 (got $share)" \
        data split all.txt --train t.txt --test h.txt --test-share "$share"
done
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
refuse "has 203 rows, too few for 300 parts; make fewer parts" data split all.txt --train t-%d.txt --parts 300
check "nothing was written" absent t-0.txt
rm -f t.txt h.txt

# A split that fails in the middle, here because the second file exceeds a limit, leaves the old files.
cp u-00.csv all.csv
for names in all.txt:txt all.csv:csv all.txt:npz; do
    ending=${names#*:}
    divide=(data split "${names%:*}" --train "rest.$ending" --test "held.$ending" --test-share 0.05)
    try "${divide[@]}"
    check "splits into .$ending" exits 0
    limit=$(($(stat -c %s "held.$ending") / 1024 + 1))
    check "only the second file is large" [ "$(stat -c %s "rest.$ending")" -gt $((limit * 1024)) ]
    echo old | tee "held.$ending" >"rest.$ending"
    (
        ulimit -f $limit
        try "${divide[@]}"
        exit "$code"
    )
    code=$?
    check "a file that is too large: $ending" exits 1
    check "is named" warns "cannot write 'rest.$ending': "
    check "both stay: $ending" is "$(cat "held.$ending" "rest.$ending" | xargs)" "old old"
    check "nothing is left" is "$(ls ./*.tmp 2>/dev/null)" ""
done
rm -f rest.* held.*
refuse "all.txt" data split all.txt --train all.txt --test h.txt
refuse "all.txt" data convert all.txt all.txt
refuse ".npy files cannot be written" data convert all.txt out.npy
refuse ".gz files cannot be written" data convert all.txt out.txt.gz
refuse "has a % in it" data split all.txt --train t-%s --test h
refuse "No such file" data convert none/x out.csv
check "nothing was written for it" absent out.csv
refuse "cannot" data convert all.txt none/out.csv

finish
