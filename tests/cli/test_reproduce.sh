#!/usr/bin/env bash
# saddle reproduce on built-in data: files, resuming, errors; saddle theory --verify.
# shellcheck source=tests/cli/lib.sh
# shellcheck disable=SC2317  # functions are called through check
. "$(dirname "$0")/lib.sh" "$1"
has gnuplot python3 || exit 77

# Lists a directory's results without those that depend on the clock.
results() {
    (
        cd "$1" || exit 1
        find . -name '*.csv' -path '*traces*' | sort | while read -r trace; do
            echo "$trace"
            timeless "$trace"
        done
        find tuned -type f 2>/dev/null | sort | xargs -r cat
        cat claims.md claims.json claims.csv costs.csv ends.csv
    )
}
same_results() { cmp -s <(results "$1") <(results "$2"); }
traces() { find "$1/traces" -name '*.csv' | wc -l; }

# Two experiments with one algorithm.
studies=(reproduce --quick --only "topology-regression,theorem")
try "${studies[@]}" --output all
check "reproduce" exits 0
check "says loudly that a9a was not found" warns "a9a WAS NOT FOUND: built-in data 'synthetic' replace it"
check "and how to get it" warns "saddle data fetch a9a"
check "names the experiment and its place in the paper" says "topology-regression: appendix B.3, figure 6(a); 5 agents, n = 100, 40000 IFO calls"
check "shows where it is" says "[6/10] topology-regression er-0.3 seed 2: "
check "counts" says "all 10 runs made; claims.md"
# The description of an experiment shows what --quick shortens.
check "sizes are those of the runs" says "theorem: ours: theorems 1 and 2, corrected, with mu = 1.05, L = 3.16 and the theory's steps; 20 agents, complete, n = 1000"
check "all traces" is "$(traces all)" 10
check "bounds beside measurements" grep -qE '^ +1000 +[0-9.]+ +[0-9.e+]+ +[0-9.]+ of the bound' out
check "PRECISION's bound is respected" says "PRECISION, means over 2 seeds: not contradicted"
check "PRECISION+'s bound is respected" says "PRECISION+, means over 2 seeds: not contradicted"
for file in claims.md claims.json claims.csv costs.csv ends.csv report.html; do
    check "$file" [ -s "all/$file" ]
done
for name in topology-regression theorem; do
    check "$name.svg" grep -q '<svg' "all/figures/$name.svg"
    check "$name.png" grep -q PNG "all/figures/$name.png"
    check "$name.pdf" grep -qa '^%PDF' "all/figures/$name.pdf"
done
# The networks are those of `saddle graph`.
for p in 0.3 0.6 0.9; do
    "$saddle" graph "er:$p" --agents 5 --seed 1 --draw "er-$p.svg" >out 2>err
    check "er:$p with 5 agents" cmp -s "er-$p.svg" "all/figures/network-5-er-$p.svg"
done
check "each as three files" is "$(find all/figures -name 'network-5-er-*' | wc -l)" 9
check "and the theorems' own" [ -s all/figures/network-20-complete.pdf ]
for text in "bound of PRECISION" "bound of PRECISION+" "mean metric so far"; do
    check "the theorems' figure has: $text, once" is "$(grep -cF "<text>$text<" all/figures/theorem.svg)" 1
done
# The drawn bound is the claimed one; the mean is that of the metrics so far.
check "bounds and means" python3 - <<'PYTHON'
import csv, html.parser, json, re, urllib.parse
class Links(html.parser.HTMLParser):
    data = {}
    def handle_starttag(self, tag, attributes):
        link = dict(attributes)
        if "download" in link and "theorem" in self.section:
            text = urllib.parse.unquote(link["href"].split(",", 1)[1])
            self.data[link["download"]] = list(csv.DictReader(l for l in text.splitlines() if l[0] != "#"))
    def handle_data(self, data):
        self.section = data.lower() if "Theorems 1 and 2, quadratic" in data else self.section
    section = ""
page = Links()
page.feed(open("all/report.html", encoding="utf-8").read())
claims = [t for c in json.load(open("all/claims.json"))["claims"] for t in c["tests"] if t["experiment"] == "theorem"]
for place, name in enumerate(["precision", "precision+"]):
    bounds, means = [], []
    for seed in (1, 2):
        bounds.append(float(page.data[f"{name}-bound-seed{seed}.csv"][-1]["mean_metric"]))
        means.append(float(page.data[f"{name}-seed{seed}.csv"][-1]["mean_metric"]))
        rows = [l for l in open(f"all/traces/theorem/{name}-seed{seed}.csv") if l[0] != "#"]
        metric = [float(r["metric"]) for r in csv.DictReader(rows)][:-1]
        assert abs(means[-1] / (sum(metric) / len(metric)) - 1) < 1e-12
    told = re.search(r"mean metric (\S+), bound (\S+), ", claims[place]["numbers"])
    assert "%.4g" % (sum(means) / 2) == told[1] and "%.4g" % (sum(bounds) / 2) == told[2]
PYTHON
check "claims.json is JSON" python3 -c 'import json; d = json.load(open("all/claims.json"))
assert d["seeds"] == 2 and d["quick"] and len(d["claims"]) == 4
assert all(c["verdict"].split()[0] in ("holds", "does", "not", "says") for c in d["claims"])
assert [len(c["tests"]) for c in d["claims"]] == [1, 1, 1, 1]'
check "claims.csv has a row per claim" is "$(wc -l <all/claims.csv)" 5
check "claims.md says which data" grep -q 'BUILT-IN, in place of the paper' all/claims.md
check "the report says which data" grep -q 'BUILT-IN DATA' all/report.html

# The costs of the row from which on the metric stays at a level, and of the first row there, recomputed here.
trace=all/traces/topology-regression/er-0.3-seed1.csv
want=$(timeless "$trace" | awk -F, 'NR == 1 {next} $8 <= 0.1 && first == "" {first = $2 "," $3}
    $8 <= 0.1 {row = row == "" ? $2 "," $3 : row; next} {row = ""} END {print row "," first}')
check "costs.csv ($want)" is "$(grep '^topology-regression,er-0.3,1,1e-01,' all/costs.csv | cut -d, -f5-)" "$want"

# Existing results are not made again, unless settings, version or end differ.
try "${studies[@]}" --output all
check "again" exits 0
check "nothing is made again" says "no run made, all 10 existed; claims.md"
cp -r all some
sed -i 's/^# samples: .*/# samples: 99/' some/traces/topology-regression/er-0.9-seed1.csv
sed -i '1s/.*/# saddle 0.0.1/' some/traces/topology-regression/er-0.9-seed2.csv
head -n 60 all/traces/topology-regression/er-0.6-seed1.csv >some/traces/topology-regression/er-0.6-seed1.csv
printf 'nonsense' >some/traces/topology-regression/er-0.6-seed2.csv
rm some/traces/topology-regression/er-0.3-seed1.csv
try "${studies[@]}" --output some --threads 1
check "other settings, other version, cut short, broken, missing" says "5 of 10 runs made, the other 5 existed; claims.md"
check "the results are the same" same_results all some

# A part of the experiments, made in a directory that has more: nothing is lost.
cp -r all more
try reproduce --quick --only theorem --output more
check "a part of it" says "no run made, all 4 existed"
check "claims, costs and traces of the others are kept" same_results all more
check "and their sections" is "$(grep -c 'section class="traces"' more/report.html)" 2
check "claims.md says what it covers" grep -qF "Only 2 of the 28 experiments are covered; the others have no finished runs" more/claims.md
rm more/traces/topology-regression/er-0.6-seed2.csv
try reproduce --quick --only theorem --output more
check "an experiment that is no longer whole is left out" is "$(wc -l <more/claims.csv)" 3
check "which claims.md says" grep -qF "Only 1 of the 28 experiments" more/claims.md
check "claims keep their numbers" is "$(sed -n 's/^### .*<\/a>\([0-9]*\)\. .*/\1/p' more/claims.md | tr '\n' ' ')" "13 14 "
check "a table without claims is left out" is "$(grep '^## ' more/claims.md | tr '\n' ' ')" "## Ours ## Numbers ## Experiments "
check "and left alone" is "$(traces more)" 9
# Slopes are drawn with the verdicts on them.
try reproduce --quick --only complexity-quadratic --output slopes
check "slopes" is "$(sed -n 's/.*<text>exponent \([-0-9.]*\) .*/\1/p' slopes/figures/complexity-quadratic-slopes.svg)" \
    "$(grep -oE 'exponent -?[0-9.]+' slopes/claims.md | cut -d' ' -f2)"
check "beside the theory's" grep -qF "theory: at most -1<" slopes/figures/complexity-quadratic-slopes.svg

# Networks: the ends of runs, as a table and against the share of lost messages.
try reproduce --quick --only networks --seeds 1 --output networks
check "networks" exits 0
check "all kinds of links" is "$(cat networks/traces/networks-*/*.csv | sed -n 's/^# links: //p' | sort -u | wc -l)" 13
check "each claim about them" is "$(cut -d, -f1 networks/claims.csv | xargs)" "claim loss-exact loss-half loss-inexact loss-algorithms bits-rounds bits-bytes bits-seconds churn partition"
for name in networks-loss networks-algorithms; do
    check "one legend for all panels of $name" is "$(grep -cF "<text>reliable<" networks/figures/$name.svg)" 1
done
check "a panel for each algorithm" is "$(grep -cE '<text>(PRECISION|PRECISION\+|GT-GDA|Prox-GT-SGDA)<' networks/figures/networks-algorithms.svg)" 4
check "the table and the figure have the last rows of the traces" python3 - <<'PYTHON'
import csv, math, re
shares = ["0.02", "0.1", "0.2", "0.3", "0.5"]
ends = {(r["experiment"], r["series"]): r for r in csv.DictReader(open("networks/ends.csv"))}
assert len(ends) == 67
for (experiment, series), end in ends.items():
    rows = [l for l in open(f"networks/traces/{experiment}/{series}-seed1.csv") if l[0] != "#"]
    last = list(csv.DictReader(rows))[-1]
    assert all(float(end[c]) == float(last[c]) for c in ("ifo", "rounds", "bytes", "metric", "y_gap"))
    assert end["network_seconds"] == "" if "network_seconds" not in last else float(end["network_seconds"]) >= 3
# The curve of the second panel, whose axes are linear in the share and in the logarithm of the gap.
text = open("networks/figures/networks-loss.svg").read()
curve = [re.findall(r"([\d.]+),([\d.]+)", d) for d in re.findall(r"stroke='rgb\(  0, 158, 115\)'  d='([^']*)'", text)]
x, y = zip(*[(float(a), float(b)) for a, b in next(c for c in curve if len(c) == len(shares))])
gap = [math.log(float(ends["networks-loss", f"own-{s}"]["y_gap"])) for s in shares]
for k, s in enumerate(shares):
    assert abs((x[k] - x[0]) / (x[-1] - x[0]) - (float(s) - 0.02) / 0.48) < 1e-3
    assert abs((y[k] - y[0]) / (y[-1] - y[0]) - (gap[k] - gap[0]) / (gap[-1] - gap[0])) < 1e-2
PYTHON
check "rounds after the last change are those of the traces" python3 - <<'PYTHON'
import csv, re
def cost(series, level):
    path = f"networks/traces/networks-churn/{series}-seed1.csv"
    rows = list(csv.DictReader(line for line in open(path) if line[0] != "#"))
    assert rows[-1]["present"] == "9"
    since = max([float(a["rounds"]) for a, b in zip(rows, rows[1:]) if a["present"] != b["present"]], default=0.0)
    above = [k for k, row in enumerate(rows) if not float(row["metric"]) <= level]
    at = above[-1] + 1 if above else 0
    return max(1.0, float(rows[at]["rounds"]) - since) if at < len(rows) else None
table = open("networks/claims.md").read()
heads = [float(cell) for cell in re.search(r"^\| test \|(.*)\|$", table, re.M)[1].split("|")]
compared = 0
for which, title in [("precision", "PRECISION"), ("gt-gda", "GT-GDA")]:
    start = f"| networks-churn: {title}, two leave, one returns against {title}, nine from the start, rounds"
    cells = next(line for line in table.splitlines() if line.startswith(start)).split("|")[2:-1]
    for level, cell in zip(heads, cells):
        churn, fresh = cost(f"{which}-churn", level), cost(f"{which}-fresh", level)
        if churn is not None and fresh is not None:
            assert abs(float(cell.split("x")[0]) * churn / fresh - 1) < 1e-2, (which, level, cell, churn, fresh)
            compared += 1
assert compared >= 6
PYTHON

# Full results are not overwritten by quick ones.
sed -i 's/"quick": true/"quick": false/' more/claims.json
refuse "--output: 'more' holds results of full runs, which short runs would overwrite" \
    reproduce --quick --only topology --output more
# Results on the paper's data are not overwritten by those on built-in data.
sed -i -e 's/"quick": false/"quick": true/' -e 's/"a9a": "[a-z-]*"/"a9a": "file"/' more/claims.json
grep -q '"a9a": "file"' more/claims.json
XDG_DATA_HOME=$PWD/nothing SADDLE_DATA=$PWD/nothing \
    refuse "--output: 'more' holds results on a9a, which is not found now" \
    reproduce --quick --only topology --output more

# Interrupted in a search and in runs, then resumed: the same files.
tuned=(reproduce --quick --only tuned-auc-a9a --seeds 1)
try "${tuned[@]}" --output whole
check "with searches" exits 0
check "tuned settings" [ -s whole/tuned/tuned-auc-a9a/prox-dsgda.yaml ]
alpha=$(sed -n "s/^alpha: '\(.*\)'/\1/p" whole/tuned/tuned-auc-a9a/prox-dsgda.yaml)
check "are used" is "$(sed -n 's/^# alpha: //p' whole/traces/tuned-auc-a9a/prox-dsgda-seed1.csv)" "$alpha"
usual=$(sed -n 's/^# alpha: //p' whole/traces/tuned-auc-a9a/prox-dsgda-default-seed1.csv)
check "not by the default's ($usual, not $alpha)" [ "$usual" != "$alpha" ]
check "which is the problem's" is "$usual" "$(sed -n 's/^# alpha: //p' whole/traces/tuned-auc-a9a/precision-default-seed1.csv)"
check "AUC at every point of every trace" is \
    "$(cat whole/traces/tuned-auc-a9a/*.csv | grep '^[0-9]' | grep -c ',,\|,$')" 0
check "and in the figure" grep -q "AUC on the agents' data" whole/figures/tuned-auc-a9a.svg
check "whose steep start is cut off" grep -q "AUC on the agents' data (start cut off)" whole/figures/tuned-auc-a9a.svg
check "and in the report" grep -q train_auc whole/report.html
check "one tau for all metrics" is "$(sed -n 's/^# metric-tau: //p' whole/traces/tuned-auc-a9a/*.csv | sort -u | wc -l)" 1

# Starts a command, waits for a file, sends a signal.
interrupt() {
    "$saddle" "${tuned[@]}" --output part >out 2>err </dev/null &
    local process=$!
    wait_for [ -e "$1" ]
    kill "-$2" "$process" 2>/dev/null
    wait "$process" 2>/dev/null
    code=$?
}
interrupt part/tuned/tuned-auc-a9a/precision+.csv INT
check "interrupted" exits 130
check "says how to resume" warns "the same command continues from 'part'"
check "no claims from half the work" absent part/claims.md
interrupt part/traces/tuned-auc-a9a/prox-dsgda-default-seed1.csv KILL
try "${tuned[@]}" --output part
check "continues" exits 0
check "ends with the same files" same_results whole part

# Refusals.
refuse "--only: 'regresion' is not an experiment; the experiments are regression, auc-a9a" reproduce --only regresion
refuse "--only: '' is not an experiment" reproduce --only ,steps
refuse "--seeds" reproduce --seeds 0
refuse "is a file" reproduce --output out
check "a refusal makes no directory" absent saddle-reproduce
touch blocked
refuse "" reproduce --only theorem --quick --output blocked/here

# Only the theorems.
small=(--problem quadratic --agents 8 --topology complete --samples 9 --x-dim 3 --y-dim 2 --lipschitz 3.16 --mu 1.05
    --tau 20 --threads 1)
try theory "${small[@]}" --c-gamma 1000 --verify --repeats 3 --iterations 500
check "verify" exits 0
check "warns of nothing" silent
check "both algorithms" is "$(grep -c 'means over 3 seeds: not contradicted, the bound is [0-9.]* times' out)" 2
check "bounds above the start are called vacuous" is "$(grep -c 'The bound is vacuous' out)" 2
# The mean metric of the first 500 iterations, recomputed from traces.
for seed in 1 2 3; do
    try run "${small[@]}" --steps theory --metric-direction own --seed "$seed" --iterations 500 --trace-every 1 --trace "v$seed.csv" --quiet
done
want=$(cat v1.csv v2.csv v3.csv | awk -F, '/^[0-9]/ && $1 < 500 {s += $9} END {printf "%.4g", s / 1500}')
try theory "${small[@]}" --verify --repeats 3 --iterations 500
check "the measured mean" is "$(awk '$1 == "500" {print $2}' out)" "$want"
check "c-gamma is too small" warns "PRECISION+ has no guarantee here: c-gamma is too small"
check "and left out" is "$(grep -c 'not contradicted' out)" 1
# Seeds determine networks: with this c_gamma only some of them have a guarantee.
try theory --problem quadratic --lipschitz 3.16 --mu 1.05 --tau 5.6 --c-gamma 1000 --verify --repeats 3 --iterations 50 --threads 1
check "some seeds have no guarantee" says "PRECISION+, means over 1 of 3 seeds: not contradicted"
check "which is reported" says "2 seeds have no guarantee and were left out"
check "and all have one for PRECISION" says "PRECISION, means over 3 seeds"
check "gamma and sigma^2 are known" says "Refreshes used the exact gamma (--gamma exact)"
try theory "${small[@]}"
check "no guarantee is one line" says "PRECISION+: no guarantee; these steps need --c-gamma above "
check "and no list of nothing" is "$(grep -c ' none ' out)" 0
try theory --problem fair --data synthetic:200 --verify
check "no theorem, no verification" exits 2
check "says why" warns "--verify: there is no guarantee to verify: "
finish
