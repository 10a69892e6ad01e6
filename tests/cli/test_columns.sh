#!/usr/bin/env bash
# CSV with text and missing values: how they are converted, what a model stores of it, and what is refused.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# 60 people: age, color, city (quoted, with a comma and a doubled quote), sex, and whether they bought.
awk 'BEGIN {
    srand(3)
    print "age,color,city,sex,bought"
    split("red green blue", color, " ")
    for (k = 0; k < 60; k++) {
        c = color[1 + k % 3]
        m = k % 2 ? "male" : "female"
        b = (k % 3 == 0) == (rand() < 0.9) ? "yes" : "no"
        printf "%d,%s,%s,%s,%s\n", 20 + (k * 7) % 40, c, k % 5 ? "Rome" : "\"St. \"\"J\"\", NB\"", m, b
    }
}' >people.csv
two=(--agents 2 --topology ring --iterations 100)

try data info people.csv --label-column bought
check "text is read" exits 0
check "a feature for each text" says "features    8"
check "names are shown" says "age"
check "categories are shown" says "blue, green, red"
check "doubled quotes are halved" says 'St. "J", NB'
check "labels have their categories" says "0 (no)"
try data info people.csv --categories codes
check "codes" says "features    4"
try data info people.csv --drop-columns color,sex
check "columns left out by name" says "features    3"
try data info people.csv --category-columns age --drop-columns 2,3,4
check "numbers as categories" says "features    40"

try run --data people.csv "${two[@]}" --model people.npz --positive yes --label-column bought --trace t.csv
check "it runs" exits 0
check "positive by the label's text" grep -q "positive: 1$" t.csv
try eval --model people.npz --data people.csv
check "eval reads by the model's coding" exits 0
cp out people.eval
try eval --model people.npz --data people.csv --positive yes
check "a positive text, as in the run" cmp -s out people.eval
try eval --model people.npz --data people.csv --positive no
check "the other text" exits 0
share() { awk '/positive_share/ { print $2 }' "$1"; }
check "is the other rows" test "$(awk "BEGIN { print $(share out) + $(share people.eval) }")" = 1
refuse "'maybe'" eval --model people.npz --data people.csv --positive maybe
# The same rows with columns in another order have the same scores, and so does a file with fewer texts.
awk -F'","|,' 'NR == 1 { print "sex,bought,color,age,city"; next }
    /Rome/ { split($0, f, ","); print f[4] "," f[5] "," f[2] "," f[1] "," f[3] }' people.csv >turned.csv
grep -E 'age|Rome' people.csv >rome.csv
try predict --model people.npz --data rome.csv
check "scores of fewer texts" exits 0
mv out rome.out
try predict --model people.npz --data turned.csv
check "columns are found by name" cmp -s out rome.out
try eval --model people.npz --data rome.csv
# shellcheck disable=SC2016  # awk's field
check "and they are learnt from" awk '/auc/ { exit !($2 > 0.8) }' out

echo 'age,color,city,sex,bought' >martian.csv
echo '30,red,Rome,male,no' >>martian.csv
echo '30,red,Olympus,male,no' >>martian.csv
refuse "martian.csv:3:8: column 'city' had no category 'Olympus' in the training data; it had 'Rome', 'St. \"J\", NB'; correct it" \
    predict --model people.npz --data martian.csv
sed 's/Olympus/Rome/; s/bought/other/' martian.csv >other.csv
refuse "column 'other' of 'other.csv' is not in the training data; leave it out" \
    predict --model people.npz --data other.csv
refuse "column 'other' of 'other.csv' is not in the training data; leave it out" \
    predict --model people.npz --data other.csv --label-column none
try predict --model people.npz --data other.csv --label-column none --drop-columns other
check "columns that the model has not are left out" exits 0
cut -d, -f1-3,5 other.csv >narrow.csv
refuse "'narrow.csv' lacks a column of the training data: 'sex'; give rows with the same columns" \
    predict --model people.npz --data narrow.csv --label-column other
cut -d, -f4- other.csv >narrow.csv
refuse "'narrow.csv' lacks columns of the training data: 'age', 'color', 'city'; give rows with the same columns" \
    predict --model people.npz --data narrow.csv --label-column other
sed 1d narrow.csv >nameless.csv
refuse "'nameless.csv' has fewer columns of features than the training data, which have 4" \
    predict --model people.npz --data nameless.csv --header no --label-column last

# Columns of different units are scaled.
awk 'BEGIN { print "age,color,income,y"
    for (k = 0; k < 20; k++) print 20 + k "," (k % 3 ? "red" : "blue") "," (-1000 * k) "," k % 2 }' >raw.csv
awk -F, -v OFS=, 'NR > 1 { $1 = $1 / 10 - 3; $3 = $3 / 10000 + 1 } { print }' raw.csv >near.csv
scaled="2 columns to mean 0 and deviation 1"
uneven="columns 'income' (mean -9.5e+03, deviation 5.77e+03), 'age' (mean 29.5, deviation 5.77) are far from mean 0 and deviation 1"
on=(--problem auc --agents 2 --topology ring)
for command in "run --iterations 5" "compare --algorithms precision,gda --iterations 5 --output raw" \
    "tune --algorithms gda,sgda --budget 20000 --output raw-tuned"; do
    # shellcheck disable=SC2086  # several words
    try $command --data raw.csv "${on[@]}"
    check "${command%% *} says what it scaled, once" is "$(cat out err | grep -cE "scaled +$scaled \(--scale none leaves them\)")" 1
    check "${command%% *} does not warn" is "$(grep -c 'far from' err)" 0
    # shellcheck disable=SC2086
    try $command --data raw.csv "${on[@]}" --scale none
    check "${command%% *} warns of columns that are not scaled, once" \
        is "$(grep -cF "warning: --data: $uneven; set --scale to standard, otherwise learning may be slow or fail" err)" 1
    # shellcheck disable=SC2086
    try $command --data near.csv "${on[@]}"
    check "${command%% *} leaves columns of similar scales" is "$(cat out err | grep -cE 'scaled |far from')" 0
done
try data info raw.csv
check "info says why" is "$(sed -n '/values  /,/^  columns/p' out | sed '1d;$d' | xargs -d '\n' | tr -s ' ')" \
    " $uneven; runs scale columns, unless --scale is none"
try data convert raw.csv raw.npz
try run --data raw.npz "${on[@]}" --scale none --quiet
check "without columns the number of the feature" warns "--data: features 4 (mean -9.5e+03, deviation 5.77e+03), 1 (mean"
awk -F, -v OFS=, 'NR > 1 { print $4, $2, $1, $3 }' raw.csv >first.csv
for command in "run ${on[*]} --scale none --quiet --data" "data info"; do
    # shellcheck disable=SC2086  # several words
    try $command first.csv --label-column 1 --drop-columns 2
    check "${command%% *}: without names the number in the file" grep -q "columns 4 (mean -9.5e+03, deviation 5.77e+03), 3" \
        <(tr -s ' \n' ' ' <out) err
done
try run --problem quadratic --scale standard --iterations 5
check "other problems do not use it" warns "--scale: not used by problem quadratic"
awk 'BEGIN { print "a,b,c,d,e,f,g,h,y"; print "1,-20,30,40,50,30,70,80,0"; print "1,2,3,4,5,6,-7,8,1" }' >wide.csv
try data info wide.csv
check "five columns, the farthest first" eval "tr -s ' \n' ' ' <out | grep -qF \
    \"'g' (mean 31.5, deviation 38.5), 'h' (mean 44, deviation 36), 'e' (mean 27.5, deviation 22.5), 'd' (mean 22, deviation 18), 'c' (mean 16.5, deviation 13.5) and 2 more are far\""

# One file per agent has the same statistics as one file.
for k in 0 1; do (head -1 raw.csv && sed -n "$((2 + 10 * k)),$((11 + 10 * k))p" raw.csv) >"raw-$k.csv"; done
try run --data raw-%d.csv "${on[@]}" --iterations 20 --model each.npz
check "own files" exits 0
try run --data raw.csv --partition contiguous "${on[@]}" --iterations 20 --model one.npz --scale standard
check "one file" python3 -c "
import struct, zipfile
one, each = zipfile.ZipFile('one.npz'), zipfile.ZipFile('each.npz')
assert struct.unpack('<4d', one.read('mean.npy')[-32:]) == (29.5, 0, 0, -9500)
assert all(one.read(name) == each.read(name) for name in ('xbar.npy', 'mean.npy', 'deviation.npy'))"
try predict --model one.npz --coefficients
cp out weights
check "coefficients have the names of features" is "$(cut -f2 weights | xargs)" "age color=blue color=red income (intercept)"
try predict --model one.npz --data raw.csv
# shellcheck disable=SC2016  # the variables are those of awk
check "and are those of the data as given" awk -F '[\t,]' 'BEGIN { good = 1 }
    FILENAME == "weights" { w[$2] = $1; next }
    FILENAME == "raw.csv" && FNR > 1 { score[FNR - 1] = w["age"] * $1 + w["color=" $2] + w["income"] * $3 + w["(intercept)"] }
    FILENAME == "out" { d = score[FNR] - $1; if (!(d < 1e-12 && d > -1e-12)) good = 0; rows++ }
    END { exit !(good && rows == 20) }' weights raw.csv out
try predict --model one.npz --coefficients -o weights.txt
check "coefficients in a file" cmp -s weights weights.txt
try run --data raw.csv "${on[@]}" --score mlp:2 --iterations 2 --model network.npz
refuse "'network.npz' is not a linear model, so it has no coefficients" predict --model network.npz --coefficients
try run --data synthetic:100 "${two[@]}" --quiet
check "built-in data are scaled" silent

# Missing values.
sed -e '3s/^[0-9]*/NA/' -e '4s/,blue,/,?,/' -e '5s/,red,/,,/' people.csv >holes.csv
refuse "holes.csv:3:1: missing value in column 'age'; fill it in, or set --missing to drop or impute" \
    data info holes.csv
refuse "holes.csv:3:1: missing" run --data holes.csv "${two[@]}"
try data info holes.csv --missing drop
check "rows are left out" says "57, 3 left out because of missing values"
try data info holes.csv --missing impute
check "values are filled in" says "3 missing values filled in"
try run --data holes.csv "${two[@]}" --missing impute --model filled.npz
check "it runs with substitutes" exits 0
printf 'age,color,city,sex\nNA,?,Rome,male\n' >unknown.csv
mean=$(awk -F, 'NR > 1 && $1 != "NA" { s += $1; n++ } END { printf "%.17g", s / n }' holes.csv)
printf 'age,color,city,sex\n%s,green,Rome,male\n' "$mean" >mean.csv
try predict --model filled.npz --data unknown.csv --label-column none
check "new rows are filled in" exits 0
mv out unknown.out
try predict --model filled.npz --data mean.csv --label-column none
check "by the mean and the most frequent text of the training data" cmp -s out unknown.out
try run --data holes.csv "${two[@]}" --missing drop --model dropped.npz
check "it runs on the rest" exits 0
try eval --model dropped.npz --data holes.csv
check "eval drops as the run did" says "57 rows"
refuse "3 rows of 'holes.csv' lack a value and cannot be scored" \
    predict --model dropped.npz --data holes.csv
refuse "missing value in column 'age'" predict --model people.npz --data holes.csv
sed '2s/[a-z]*$//' people.csv >unlabelled.csv
refuse "missing label; labels are not filled in" data info unlabelled.csv --missing impute
sed '2,$s/^[0-9]*//' people.csv >empty.csv
refuse "column 'age' has no value in any row; leave it out with --drop-columns" \
    data info empty.csv --missing impute
refuse "every row of 'empty.csv' lacks a value" data info empty.csv --missing drop

# Numbers with a decimal comma, and dates.
printf '1,5;2,5;0\n3,5;4,5;1\n' >no-header.csv
refuse "no-header.csv:1:1: column '1' has decimal commas, as in '1,5'" data info no-header.csv
printf '1,2,a;b\n3,4,c;d\n' >commas-win.csv
try data info commas-win.csv
check "semicolons inside fields do not separate them" says "labels      0 (a;b): 1 row"
printf 'age;price;y\n1;;0\n2;1,5;1\n3;-1.234,50;0\n' >commas.csv
refuse "commas.csv:3:3: column 'price' has decimal commas, as in '1,5'; write numbers with a decimal point, or name the column in --category-columns" \
    data info commas.csv --missing drop
refuse "commas.csv:3:3: column 'price' has decimal commas" run --data commas.csv "${two[@]}" --missing impute
try data info commas.csv --missing drop --category-columns price
check "as categories if that is meant" says "features    3"
try data info commas.csv --missing drop --drop-columns price
check "or left out" exits 0
tr ';' '\t' <commas.csv >commas.tsv
refuse "commas.tsv:3:3: column 'price' has decimal commas" data info commas.tsv --missing drop
printf 'a;y\n1;0,25\n2;0,5\n' >target.csv
refuse "target.csv:2:3: column 'y' has decimal commas, as in '0,25'" data info target.csv
printf 'a;y\n1,5;0\n2;1\n' >both-ways.csv
refuse "both-ways.csv:3:1: column 'a' has text above, such as '1,5', and the number 2 here; write numbers with a decimal point, or name it in --category-columns" \
    data info both-ways.csv
printf 'a;y\n2;1\n1,5;0\n' >both-ways.csv
refuse "both-ways.csv:3:1: '1,5' in column 'a' is not a number; write numbers with a decimal point, leave the column out" \
    data info both-ways.csv
printf 'size;y\n1,5;0\n2,x;1\n' >sizes.csv
try data info sizes.csv
check "one value that is no number makes a column of texts" says "features    2"
printf 'a,y\n"1,5",0\n"2,5",1\n' >pairs.csv
try data info pairs.csv
check "between commas, quoted commas are texts" exits 0
printf 'day,a,y\n2024-01-05,1,0\n2024-01-06,2,1\n' >dates.csv
refuse "dates.csv:2:1: '2024-01-05' in column 'day' is not a finite number; correct it, leave the column out with --drop-columns, or name it in --category-columns" \
    data info dates.csv

# Columns by name in problems.
try run --problem fair --sensitive sex --data people.csv "${two[@]}" --model fair.npz --trace f.csv
check "the sensitive column by name" exits 0
check "the run shows the problem's settings" is "$(sed -n '/^  problem /,/^  data /p' out | sed '$d' | xargs -d '\n' | tr -s ' ')" \
    " problem fair: x in R^18, y in R^2; score linear, fairness 8, fairness-ridge 0, sensitive sex, exclude-features 7,8, positive label yes"
check "and both of its features are hidden" grep -q "exclude-features: .*7,8" f.csv
try run --problem fair --sensitive sex=female --exclude-features sex --data people.csv "${two[@]}" \
    --model fair2.npz --positive no
check "a feature by name" exits 0
check "another positive label" says "positive label no"
try eval --model fair.npz --data people.csv
check "a model knows the names" says "parity_gap"
refuse "sensitive: column 'color' has 3 categories, but two are needed; name one category, such as 'color=blue'" \
    run --problem fair --sensitive color --data people.csv "${two[@]}"
refuse "--sensitive: which feature of these data is the sensitive attribute is not known; give a number from 1 to 8, or the name of a column or feature: age, color, city, sex" \
    run --problem fair --data people.csv "${two[@]}"
refuse "sensitive: 'height' is not a feature; give a number from 1 to 8, or the name" \
    run --problem fair --sensitive height --data people.csv "${two[@]}"
refuse "exclude-features: 'sex' is listed twice" \
    run --problem fair --sensitive sex --exclude-features sex,sex --data people.csv "${two[@]}"

# One file per agent: texts and substitutes are computed from all agents' files.
head -1 holes.csv | tee part-0.csv >part-1.csv
sed -n '2,20p' holes.csv >>part-0.csv
sed -n '21,$p' holes.csv | sed 's/,green,/,gold,/' >>part-1.csv
(cat part-0.csv; sed 1d part-1.csv) >both.csv
try run --data part-%d.csv --agents 2 --topology ring --iterations 50 --missing impute --model parts.npz
check "files per agent" exits 0
try run --data both.csv --partition contiguous --samples 19,41 --agents 2 --topology ring \
    --iterations 50 --missing impute --model both.npz
check "the same rows in one file" exits 0
try predict --model parts.npz --data both.csv
mv out parts.out
try predict --model both.npz --data both.csv
check "make the same model" cmp -s out parts.out
sed '2s/^[^,]*,/old,/' part-1.csv >odd-1.csv
cp part-0.csv odd-0.csv
sed -i '3,$s/^[^,]*,/old,/' odd-1.csv
refuse "data: agent 1, 'odd-1.csv': column 'age' holds text, but numbers in the files before" \
    run --data odd-%d.csv --agents 2 --topology ring --missing impute
sed '1s/sex/gender/' part-1.csv >odd-1.csv
refuse "data: agent 1, 'odd-1.csv': its columns differ from those of the files before: missing 'sex'; additional 'gender'" \
    run --data odd-%d.csv --agents 2 --topology ring --missing impute
refuse "'odd-1.csv': its columns differ from those of the files before: missing 'sex'" \
    data info odd-%d.csv --missing impute
cut -d, -f1,4,5 part-1.csv >odd-1.csv
refuse "missing 'color', 'city'; additional none; give all files the same columns" \
    run --data odd-%d.csv --agents 2 --topology ring --missing impute
sed 1d part-1.csv >odd-1.csv
refuse "agent 1, 'odd-1.csv': it has no line of names, but the files before have one" \
    run --data odd-%d.csv --agents 2 --topology ring --missing impute
printf '1,2,0\n3,4,1\n' >bare-0.csv
printf '1,2,5,0\n3,4,5,1\n' >bare-1.csv
refuse "agent 1, 'bare-1.csv': it has 3 columns of features, but the files before have 2" \
    run --data bare-%d.csv --agents 2 --topology ring

for ((k = 0; k < 10002; k++)); do echo "name$k,$((k % 2))"; done >names.csv
refuse "column '1' has more than 10000 categories" data info names.csv --header no
refuse "drop-columns: 'people.csv' has no column 'weight'; its columns are: age,color" \
    data info people.csv --drop-columns weight
try data convert people.csv people.libsvm
for option in "--header yes" "--categories codes" "--missing drop" "--category-columns 1" "--drop-columns 1"; do
    # shellcheck disable=SC2086  # two words
    try run --data people.libsvm "${two[@]}" $option
    check "$option does nothing for LIBSVM text" warns "warning: ${option% *}: not used by LIBSVM files"
    # shellcheck disable=SC2086
    try run --data people.csv "${two[@]}" $option
    check "$option for CSV" is "$(grep -c "not used" err)" 0
done
refuse "drop-columns: 'bought' is the label column; remove it from this list" data info people.csv --drop-columns age,bought
refuse "drop-columns: 'age' is also in --category-columns" data info people.csv --drop-columns age --category-columns age
refuse "--drop-columns: the value is empty; give LIST" data info people.csv --drop-columns ''
refuse "--category-columns: the value is empty" run --data people.csv --category-columns=
refuse "--drop-columns: no feature is left" data info people.csv --drop-columns 1,2,3,4

# Groups by name; a model finds them when columns have another order.
try run --problem group-dro --groups sex,label --data people.csv --model groups.npz --trace groups.csv "${two[@]}" --quiet
check "groups by name" exits 0
check "are recorded" is "$(sed -n 's/^# \(groups\|group-values\): //p' groups.csv | paste -sd' ')" "sex,label female:-1,female:1,male:-1,male:1"
try run --problem group-dro --groups city,sex --data people.csv "${two[@]}"
check "are shown, categories with commas by their numbers" says "  groups      city,sex: Rome:female,Rome:male,1:female,1:male"
try run --problem group-dro --groups city,sex --group-values 1:male,Rome:male,1:female,Rome:female --data people.csv "${two[@]}"
check "in an order of one's own" says "  groups      city,sex: 1:male,Rome:male,1:female,Rome:female"
refuse "--groups: which rows of these data form a group is not known; give agents, if the rows of each agent do, or names of columns or numbers from 1 to 8, and label, such as age,label" \
    run --problem group-dro --data people.csv "${two[@]}"
try run --problem group-dro --groups agents --data people.csv "${two[@]}"
check "not those that are agents" eval '! says "  groups "'
refuse "group-values: 'female,man' is not a list of groups" \
    run --problem group-dro --groups sex --group-values female,man --data people.csv "${two[@]}"
try eval --model groups.npz --data people.csv
check "eval" exits 0
cp out first
if has python3; then
    python3 -c '
import csv
rows = list(csv.reader(open("people.csv")))
csv.writer(open("turned.csv", "w")).writerows([r[:-1][::-1] + r[-1:] for r in rows])'
    try eval --model groups.npz --data turned.csv
    check "in another order, too" cmp -s <(tail -n +2 out) <(tail -n +2 first)
fi
refuse "--groups: 'sexes' is not a feature; give a number from 1 to 8, or the name of a column or feature: age, color, city, sex; did you mean 'sex'?" \
    run --problem group-dro --groups sexes --data people.csv "${two[@]}"

# An option that does not apply to a format causes a warning, in every command that reads such files.
awk 'BEGIN {for (k = 0; k < 60; k++) print (k % 3 ? 1 : -1) " 1:" k / 60 " 2:" k % 3}' >rows.libsvm
unread=(--header yes --label-column 1 --categories codes --missing drop --category-columns 1 --drop-columns 2)
unused_are() { is "$(sed -n "s/^saddle: warning: --\(.*\): not used by $1\$/\1/p" err | sort | paste -sd' ')" "$2"; }
all="categories category-columns drop-columns header label-column missing"
try run --data rows.libsvm "${unread[@]}" "${two[@]}" --quiet
check "run: what LIBSVM has no use for" unused_are "LIBSVM files" "$all"
try compare --data rows.libsvm "${unread[@]}" "${two[@]}" --algorithms precision,prox-dsgda --output unread --quiet
check "compare: once for all algorithms" unused_are "LIBSVM files" "$all"
try tune --problem auc --data rows.libsvm "${unread[@]}" --agents 2 --topology ring --objective auc --candidates 2 --output tuned --quiet
check "tune: rows that were split, too" unused_are "LIBSVM files" "$all"
try data info rows.libsvm "${unread[@]}"
check "data info" unused_are "LIBSVM files" "$all"
try data convert rows.libsvm rows.npz "${unread[@]}"
check "data convert" unused_are "LIBSVM files" "$all"
try data split rows.libsvm --train half-%d.libsvm "${unread[@]}"
check "data split" unused_are "LIBSVM files" "$all"
try data info rows.npz "${unread[@]}"
check "NumPy has a label column" unused_are "NumPy files" "${all/ label-column/}"
try data info people.csv --labels none "${unread[@]}"
check "CSV has no file of labels" unused_are "CSV files" "labels"
try run --data synthetic:60 --format csv --header no "${two[@]}" --quiet
check "what is generated is not read" unused_are "data that are not read from a file" "format header"
printf '1,1,0\n-1,0,2\n' >test.csv
try run --problem auc --data rows.libsvm --test-data test.csv --label-column first --header no "${two[@]}" --quiet
check "what held-out rows use" unused_are "LIBSVM files" ""
try run --problem auc --data rows.libsvm --model model.npz "${two[@]}" --quiet
for command in eval predict; do
    try "$command" --model model.npz --data rows.libsvm --header yes --missing drop
    check "$command" unused_are "LIBSVM files" "header missing"
done

# Column names also work for the rows that tune holds out for validation.
try tune --problem fair --sensitive sex=male --data people.csv --objective accuracy --agents 2 --topology ring --candidates 2 \
    --output named --quiet
check "tune: columns by name" exits 0

finish
