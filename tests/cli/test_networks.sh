#!/usr/bin/env bash
# --churn and --compress in runs, comparisons, searches, JSON and checkpoints.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77 # reads the objects
doc=$(realpath "$here/../../docs/json.md")
ring=(--problem quadratic --agents 6 --samples 20 --topology ring)

printf '# round what whom\n10 leave 2\n20 cut 0 1\n40 return 2\n50 heal 0 1\n' >churn.txt
try run --algorithm precision "${ring[@]}" --iterations 60 --trace-every 15 --churn churn.txt --trace t.csv
check "a run" exits 0
check "shows the file" grep -qE '^ +churn +churn.txt' out
check "columns" grep -q '^iteration,.*,seconds,age,present,components,loss,' t.csv
check "the agents present" is "$(grep -v '^#' t.csv | cut -d, -f8,9 | tail -n +2 | tr '\n' ' ')" "6,1 5,1 5,2 6,1 6,1 "
try run --algorithm precision "${ring[@]}" --iterations 60 --trace-every 15 --churn churn.txt --json
check "the documented object" python3 "$here/json_schema.py" "$doc" out
cp out object.json
check "with both columns" python3 "$here/json_numbers.py" 'o["trace"]["present"] == [6, 5, 5, 6, 6] and o["trace"]["components"] == [1, 1, 2, 1, 1]'
try run --algorithm precision "${ring[@]}" --iterations 60 --churn churn.txt --stop-when 'present<=5' --json
cp out object.json
check "a condition" python3 "$here/json_numbers.py" 'o["stop"] == "condition" and o["final"]["iteration"] == 11'
refuse "stop-when: there is no column present without churn" run "${ring[@]}" --stop-when 'present<=5'

try compare "${ring[@]}" --iterations 40 --churn churn.txt --algorithms precision,dposg --output c
check "compare" exits 0
check "traces of both" is "$(grep -l ',present,components,' c/*.csv | wc -l)" 2
try tune "${ring[@]}" --churn churn.txt --algorithms precision --budget 20000 --output s --quiet
check "tune" exits 0

printf '10 leave 9\n' >wrong.txt
refuse "wrong.txt:1:10: '9' is not an agent" run "${ring[@]}" --churn wrong.txt

# Compressed messages: fewer bytes in as many rounds; what was begun goes on with the same rule.
try run "${ring[@]}" --iterations 50 --compress quantize:4 --checkpoint ck --json
check "the documented object with compression" python3 "$here/json_schema.py" "$doc" out
check "the rule is in it" grep -q '"compress": "quantize:4"' out
for other in "--compress quantize:8" "--compress none" "--mixing-rate 0.2"; do
    # shellcheck disable=SC2086 # two words
    refuse "a resumed run cannot change " run --resume ck --iterations 100 $other
done
try run --resume ck --iterations 100 --json
check "the same rule" exits 0
cp out object.json
check "goes on" python3 "$here/json_numbers.py" 'o["final"]["iteration"] == 100'
try compare "${ring[@]}" --iterations 40 --compress quantize:4 --algorithms precision,gt-gda --output cc
check "compare with compression" exits 0
check "in the heads of both traces" is "$(grep -lx '# compress: quantize:4' cc/*.csv | wc -l)" 2
search=(tune "${ring[@]}" --algorithms precision --budget 20000 --output sc --quiet)
try "${search[@]}" --compress quantize:4
check "tune with compression" exits 0
check "in its answer" grep -q "^compress: 'quantize:4'" sc/precision.yaml
refuse "belongs to another search" "${search[@]}" --compress quantize:8 --resume

# ---- a network that churn leaves in two parts
printf '0 cut 0 1\n0 cut 2 3\n' >cuts
try run --problem quadratic --agents 4 --topology ring --churn cuts --iterations 20 --gap never --quiet
check "is warned of" warns "--churn: the run ends with a network of 2 parts"
printf '0 cut 0 1\n0 cut 2 3\n9 heal 2 3\n' >cuts
try run --problem quadratic --agents 4 --topology ring --churn cuts --iterations 20 --gap never --quiet
check "unless it is healed" is "$(cat err)" ""

# ---- compression and PRECISION-auto, whose steps are too long for it
auc=(--problem auc --data synthetic:2000 --agents 8 --topology ring --iterations 400 --gap never --compress quantize:2)
try run "${auc[@]}"
check "compressed messages take PRECISION" says "precision (because of --compress)"
check "which ends below its start" is "$(cat err)" ""
try run --problem quadratic --algorithm prox-dsgda --tau 2 --iterations 60 --gap never --compress quantize:8 --quiet
check "a run that ends above its start is warned of" warns "--compress: the run ends at a metric of "
check "also if its agents agree" warns " of its start, with messages compressed by quantize:8; compress with more bits, or "

finish
