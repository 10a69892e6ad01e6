#!/usr/bin/env bash
# One file per agent: part-%d and part-%02d wherever data are named.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

try data generate all --rows 90 --features 20
head -40 all >part-0
sed -n '41,70p' all >part-1
tail -20 all >part-2
mkdir deep wide-00 wide-01
cp part-0 wide-00/rows
cp part-1 wide-01/rows
for k in 0 1 2; do
    cp part-$k deep/$k.txt
    cp part-$k "padded-0$k"
done
same=(--partition contiguous --topology ring --iterations 20)

try run --data all --agents 3 --samples 40,30,20 "${same[@]}" --model one.npz
check "one file" exits 0
check "is shared out" says "20 to 40 per agent, partition contiguous"
try predict --model one.npz --data all
mv out one.txt
for pattern in part-%d padded-%02d deep/%d.txt; do
    try run --data "$pattern" --topology ring --iterations 20 --model parts.npz
    check "$pattern: the number of agents is that of the files" says "3 agents"
    check "$pattern: nothing is shared out" grep -q '20 to 40 per agent$' out
    try predict --model parts.npz --data all
    check "$pattern: the same model" cmp -s out one.txt
    try predict --model parts.npz --data "$pattern"
    check "$pattern: rows to score" cmp -s out one.txt
    try data info "$pattern"
    check "$pattern: info of all rows" says "rows        90"
    check "$pattern: and of how many files" says "files       3"
done
try run --data wide-%02d/rows --topology ring --iterations 2
check "a number in a directory's name" says "2 agents"
try run --problem auc --data part-%d --test-data padded-%02d --topology ring --iterations 2
check "held-out rows from several files" exits 0
grep 'held out' out >several
# auc needs the scores of all rows, so its outcomes are measured at every trace point only on request.
cells() { awk -F, '/^#/ { next } !c { for (k = 1; k <= NF; k++) if ($k == "train_auc") c = k; next } $c != "" { n++ } END { print n + 0 }' "$1"; }
try run --problem auc --data part-%d --topology ring --iterations 20 --trace-every 5 --trace ends.csv --report page.html
check "outcomes at the ends" is "$(cells ends.csv)" 2
try run --problem auc --data part-%d --topology ring --iterations 20 --trace-every 5 --trace always.csv --outcomes always
check "always, on request" is "$(cells always.csv)" 5
try run --problem auc --data part-%d --topology ring --iterations 20 --trace-every 5 --trace rule.csv --stop-when 'auc>2'
check "or if a rule stops by them" is "$(cells rule.csv)" 5
try run --problem fair --sensitive 2 --data part-%d --topology ring --iterations 20 --trace-every 5 --trace sums.csv
check "sums over rows, which fair needs, at all" grep -qx '# outcomes: always' sums.csv
try run --problem auc --data all --agents 3 --iterations 20 --trace-every 5 --trace one.csv
check "one file that all can read: at all" is "$(cells one.csv)" 5
try run --problem auc --data part-%d --test-data all --topology ring --iterations 2
check "are all of them" cmp -s <(grep 'held out' out) several
try eval --model one.npz --data part-%d
check "eval" says "90 rows"
mkdir shelf
mv part-? shelf
SADDLE_DATA=shelf try data info part-%d
check "files where data sets are looked for" says "rows        90"
cp shelf/part-0 part-0
cp shelf/part-2 part-2
refuse "part-1" run --data part-%d --topology ring
refuse "data: there is no file 'none-0'; files are numbered from 0" run --data none-%d --topology ring
refuse "there is no file 'none-0'" data info none-%d
refuse "'x-%s' has a % in it; use %d or %02d, once" data info x-%s
refuse "'x-%3d' has a % in it" run --data x-%3d
refuse "'x-%d-%d' has a % in it" run --data x-%d-%d

# The texts of several CSV files are combined.
printf 'color,label\nred,1\nblue,0\n' >c-0.csv
printf 'color,label\ngreen,1\nblue,0\n' >c-1.csv
try data info c-%d.csv
check "categories of all files" says "blue, green, red"
printf 'a,b,label\n1,2,3\n' >c-1.csv
refuse "'c-1.csv': its columns differ from those of the files before: missing 'color'; additional 'a', 'b'" data info c-%d.csv
printf '1 1:1\n' >m-0
printf '1,2\n' >m-1
refuse "some files are CSV and others are not" data info m-%d

finish
