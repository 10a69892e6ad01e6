#!/usr/bin/env bash
# --link-model: simulated seconds as a column, an axis, a cost and a limit.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77 # reads the tables
doc=$(realpath "$here/../../docs/json.md")
model=latency:0.02,bandwidth:12500,compute:1e-5

# What is computed does not change, and without a model there is no column.
try run "${small[@]}" --iterations 60 --trace plain.csv --quiet
check "a run" exits 0
check "without the column" is "$(grep -c network_seconds plain.csv)" 0
try run "${small[@]}" --iterations 60 --trace timed.csv --link-model "$model"
check "with a model" exits 0
check "shows the seconds" grep -qE '^ +[0-9.]+ simulated seconds on the network' out
check "the column follows seconds" grep -q '^iteration,.*,bytes,seconds,network_seconds,loss,' timed.csv
check "nothing else changes" cmp -s <(grep -v '^#' plain.csv | cut -d, -f1-5,7-) <(grep -v '^#' timed.csv | cut -d, -f1-5,8-)
check "the model is in the head" grep -qx "# link-model: $model" timed.csv

# A comparison: tables, summary, JSON, report, figure.
compared=(compare "${small[@]}" --iterations 200 --algorithms "precision,prox-dsgda,gda" --repeats 2 --link-model "$model" --output c)
try "${compared[@]}"
check "compare" exits 0
check "a column of the tables" grep -qE 'algorithm +IFO +rounds +bytes +seconds +simulated +reached' out
check "a column of the summary" is "$(head -1 c/summary.csv)" "algorithm,seed,level,ifo,rounds,bytes,seconds,network_seconds,metric,gap"
cat >costs.py <<'END'
import csv, sys
def table(path):
    return list(csv.DictReader(line for line in open(path) if line[0] != "#"))
count = 0
for row in table("c/summary.csv"):
    trace = table(f"c/{row['algorithm']}-seed{row['seed']}.csv")
    there = trace[-1:]
    if row["level"] != "end":  # from where on the metric stays at or below the level
        above = [k for k, r in enumerate(trace) if not float(r["metric"]) <= float(row["level"])]
        there = trace[max(above, default=-1) + 1:]
    if not there:
        assert row["network_seconds"] == row["ifo"] == "never", row
        continue
    assert float(row["network_seconds"]) == float(there[0]["network_seconds"]), row
    count += 1
    if row["algorithm"] == "gda":
        assert abs(float(row["network_seconds"]) - 1e-5 * int(row["ifo"])) < 1e-9, row
    else:
        assert float(row["network_seconds"]) > 0.02 * int(row["rounds"]) > 0, row
assert count > 8
END
check "with the seconds of the row from which on each level is kept" python3 costs.py
cp c/summary.csv before.csv
try "${compared[@]}" --json
check "kept runs" cmp -s before.csv c/summary.csv
check "the documented object" python3 "$here/json_schema.py" "$doc" out
cp out object.json
check "with simulated seconds" python3 "$here/json_numbers.py" \
    'all(a["runs"][0]["final"]["network_seconds"] > 0 for a in o["algorithms"]) and o["algorithms"][0]["levels"][0]["network_seconds"]["mean"] > 0'
try report c -o page.html
check "report" exits 0
check "a table of a report" grep -q 'data-x="network_seconds"' page.html
check "with its name" grep -q 'level: simulated seconds</h3>' page.html
try plot c --x network_seconds -o figure.svg
check "an axis of figures" exits 0
check "with its name" grep -q 'simulated seconds' figure.svg
try compare "${small[@]}" --iterations 20 --algorithms precision --output p --report p/page.html --quiet
check "no model, no table" is "$(grep -c 'data-x="network_seconds"' p/page.html)" 0
try plot p --x network_seconds -o figure.svg
check "no model, no axis" exits 2

# A limit.
try run "${small[@]}" --iterations 100000 --link-model "$model" --max-network-seconds 3 --trace b.csv --json
check "a budget" exits 0
cp out object.json
check "ends the run" python3 "$here/json_numbers.py" 'o["stop"] == "network_seconds" and 3 <= o["cost"]["network_seconds"] < 3.5'
check "and is in the trace" grep -qx '# ended: budget of simulated seconds spent' b.csv
try run "${small[@]}" --link-model "$model" --max-network-seconds 3
check "and in the head" says "or 3 simulated seconds"
try compare "${small[@]}" --algorithms precision,prox-dsgda --link-model "$model" --max-network-seconds 1 --output budget
check "a common budget" exits 0
check "for all" is "$(grep -c 'budget of simulated seconds spent' out)" 2
try tune "${small[@]:0:4}" --algorithms precision --budget 60000 --candidates 4 --link-model "$model" --output t
check "a search" exits 0

# Errors.
refuse "there are no simulated seconds without a --link-model" run "${small[@]}" --max-network-seconds 3
refuse "--link-model: latency must be a number of seconds, 0 or more (got '-1')" run "${small[@]}" --link-model latency:-1
refuse "nowhere.txt" run "${small[@]}" --link-model nowhere.txt
check "with what else can be given" warns "latency:0.02,bandwidth:125000,compute:1e-6"
printf 'edge 0 99 latency 1\n' >bad
refuse "bad:1:8: '99' is not an agent; it must be a whole number from 0 to" run "${small[@]}" --link-model bad
finish
