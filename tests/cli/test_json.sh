#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# --json: one object on standard output, as docs/json.md describes it, with the same numbers as the text and the
# files.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77
doc=$here/../../docs/json.md
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

valid() { python3 "$here/json_schema.py" "$doc" "${1:-out}"; }
# object NAME CODE ARGUMENTS...: the command prints a valid object and exits with CODE.
object() {
    local name=$1 wanted=$2
    shift 2
    try "$@" --json
    check "$name: exit code" exits "$wanted"
    check "$name: the documented object" valid
    cp out object.json
}
# holds NAME EXPRESSION: a Python expression about the last object, o; see json_numbers.py for what else it can use.
# One process answers for all, because starting Python takes longer than most of the expressions.
coproc numbers { exec python3 "$here/json_numbers.py"; }
true_of() {
    local answer=''
    printf '%s\n' "$1" >&"${numbers[1]}" && read -r answer <&"${numbers[0]}"
    [ "$answer" = true ] || { printf '    %s: %s\n' "${answer:-no answer}" "$1" && false; }
}
holds() { check "$1" true_of "$2"; }
text_of() { "$saddle" "$@" >text 2>/dev/null; }

check "every table is about a command or a type" python3 - "$doc" <<'END'
import json_schema, sys
tables = {name for name, keys in json_schema.tables(sys.argv[1]).items() if keys}
assert tables == {"Every command", "run", "compare", "eval", "graph", "theory", "data info",
                  "row", "range", "divergence"}, tables
END
for command in run compare eval graph theory "data info"; do
    # shellcheck disable=SC2086
    try $command --help
    check "$command has it in its help" says "--json"
done

# ---- run
"$saddle" data generate train.svm --rows 400 --features 12 >/dev/null
"$saddle" data generate test.svm --rows 200 --features 12 --seed 2 >/dev/null
fair=(--algorithm precision --problem fair --sensitive 2 --data train.svm --test-data test.svm --agents 4 --iterations 40 --trace-every 10
    --outcomes-per-agent)
object run 0 run "${fair[@]}" --trace t.csv --model m.npz --report r.html --checkpoint states
check "nothing else on stderr" silent
holds "rows are those of the trace, bit for bit" 'o["trace"] == trace("t.csv")'
holds "there are some" 'len(o["trace"]["metric"]) == 5 and "test_auc" not in o["trace"] and "test_accuracy_agent_min" in o["trace"]'
holds "first and final row" 'all(o["first"][c] == v[0] and o["final"][c] == v[-1] for c, v in o["trace"].items()) and o["first"].keys() == o["trace"].keys()'
holds "settings are those of the trace" 'same_settings(o["settings"], "t.csv")'
holds "they have types" 'o["settings"]["iterations"] == 40 and o["settings"]["outcomes_per_agent"] is True and type(o["settings"]["tau"]) is float and o["settings"]["topology"] == "er:0.6" and o["settings"]["resume"] is None'
holds "why it ended" 'o["stop"] == "iterations" and o["ended"] == head("t.csv")["ended"]'
holds "costs" '[o["cost"][k] for k in ("iterations", "ifo", "rounds", "messages", "bytes")] == [o["final"][k] for k in ("iteration", "ifo", "rounds", "messages", "bytes")]'
holds "problem" '[str(o["problem"][k]) for k in ("x_dim", "y_dim")] == [head("t.csv")[k] for k in ("x_dim", "y_dim")] and o["problem"]["samples"] == 400 and o["problem"]["features"] == 12'
holds "network" 'str(o["network"]["edges"]) == head("t.csv")["edges"] and o["network"]["lambda"] == float(head("t.csv")["mixing_lambda"]) and abs(o["network"]["spectral_gap"] + o["network"]["lambda"] - 1) < 1e-12'
holds "outcomes" 'o["outcomes"] == {c: v[-1] for c, v in o["trace"].items() if c.startswith(("train_", "test_"))} and len(o["outcomes"]) > 8'
holds "times" 'o["times"]["iterating"] == o["final"]["seconds"] and all(v >= 0 for v in o["times"]["setup"].values())'
holds "files" 'o["files"] == {"trace": "t.csv", "model": "m.npz", "checkpoint": o["files"]["checkpoint"], "report": "r.html", "lost": None} and o["files"]["checkpoint"].startswith("states/")'
cp object.json whole.json
text_of run "${fair[@]}"
holds "metric, loss and primal of the text" 'near(shown(r"Summary .* metric (\S+), the sum of"), o["final"]["metric"], 1e-6) and near(shown(r"Summary .* loss (\S+) \(primal"), o["final"]["loss"], 1e-9) and near(shown(r"\(primal (\S+)\)"), o["final"]["primal"], 1e-9)'
holds "costs of the text" '"%(iterations)d iterations, %(ifo)d IFO calls, %(rounds)d rounds, %(messages)d messages" % o["cost"] in text'
holds "outcomes of the text" 'near(shown(r"training .*? accuracy (\S+)"), o["outcomes"]["train_accuracy"], 1e-5) and near(shown(r"held out .*? accuracy \S+ \(agents (\S+)"), o["outcomes"]["test_accuracy_agent_min"], 1e-5)'

# A run that resumes, and one that keeps its best solution.
object resumed 0 run --resume states --iterations 50 --trace t2.csv --model m2.npz
holds "from where it was" 'o["start_iteration"] == 40 and o["resumed_from"].startswith("states/") and o["trace"] == trace("t2.csv")'
object "early stopping" 0 run "${fair[@]}" --iterations 2000 --stop-after 2 --stop-on test_accuracy --trace s.csv
holds "the best point" 'o["stop"] == "no_gain" and o["solution"]["iteration"] < o["final"]["iteration"] and o["outcomes"]["test_accuracy"] == max(o["trace"]["test_accuracy"])'
object "no outcomes between" 0 run "${fair[@]}"
holds "they are null" 'o["trace"]["train_accuracy"][1] is None and o["trace"]["train_accuracy"][-1] is not None and o["files"]["trace"] is None'
object centralized 0 run --data train.svm --algorithm gda --iterations 4
holds "one copy" 'o["solution"]["agents"] == 1 and o["network"]["agents"] == 5'
object "a large seed" 0 run "${small[@]}" --seed 18446744073709551615
holds "an exact integer" 'o["settings"]["seed"] == 18446744073709551615'

# ---- runs that end in other ways
object diverged 3 run --problem quadratic --nu 1 --eta 1 --tau 1e-9 --iterations 500 --trace d.csv --model d.npz
check "one line on stderr" one_line
holds "what diverged" 'o["stop"] == "diverged" and "diverged at iteration %(iteration)d: agent %(agent)d, variable %(variable)s[%(index)d] is " % o["divergence"] in err and o["outcomes"] == {} and o["files"]["model"] is None'
holds "the remedy" 'err.endswith("; " + o["divergence"]["remedy"] + "\n") and "raise --tau from 1e-09 to 50" in err'
holds "its rows" 'o["trace"] == trace("d.csv") and o["cost"]["iterations"] > o["final"]["iteration"] and o["cost"]["ifo"] > o["final"]["ifo"]'
object "unmet condition" 6 run "${small[@]}" --stop-when 'metric<=1e-30'
holds "it says so" 'o["stop"] == "iterations" and o["settings"]["stop_when"] == "metric<=1e-30"'
object "met condition" 0 run "${small[@]}" --stop-when 'metric<=1e30'
holds "that, too" 'o["stop"] == "condition"'
object warnings 0 run "${small[@]}" --c-gamma 3
check "a warning on stderr" one_line
holds "and in the object" '["saddle: warning: " + w for w in o["warnings"]] == err.splitlines() and len(o["warnings"]) == 1'
(
    ulimit -f 24
    "$saddle" run "${small[@]}" --iterations 300 --trace-every 1 --trace lost.csv --json 2>err </dev/null
) | cat >out
code=${PIPESTATUS[0]}
check "a lost trace" exits 1
check "does not cost the object" valid
cp out object.json
holds "which says why" 'o["files"]["lost"] == err.splitlines()[-1][len("saddle: "):] and len(o["trace"]["loss"]) == 301 and len(o["warnings"]) == 1'
"$saddle" run "${small[@]}" --iterations 1e12 --trace long.csv --trace-every 100 --json >out 2>err </dev/null &
pid=$!
wait_for rows_in long.csv 3
kill -INT $pid
wait $pid
code=$?
check "an interrupted run" exits 130
check "prints its object" valid
cp out object.json
holds "which says so" 'o["stop"] == "interrupted"'
"$saddle" run "${small[@]}" --json >/dev/full 2>err
code=$?
check "an object that cannot be written" exits 1
check "is an error" one_line

# ---- compare
compare=(compare --problem fair --sensitive 2 --data train.svm --test-data test.svm --agents 4 --iterations 40
    --algorithms "precision,prox-dsgda" --repeats 2)
object compare 0 "${compare[@]}" --report c.html
holds "every row of the summary" 'same_summary(o, "saddle-compare/summary.csv")'
holds "levels and seeds" 'len(o["levels"]) >= 1 and [[r["seed"] for r in a["runs"]] for a in o["algorithms"]] == [[1, 2], [1, 2]]'
holds "ranges over seeds" 'all(good_range(a["final"][k], [r["final"][{"iterations": "iteration"}.get(k, k)] for r in a["runs"]]) for a in o["algorithms"] for k in a["final"])'
holds "of every outcome" 'all("test_accuracy" in a["final"] and set(a["final"]) >= set(a["runs"][0]["final"]) - set(columns) for a in o["algorithms"])'
holds "ranges at levels" 'all(l["level"] == o["levels"][n] and l["reached"] == sum(r["levels"][n] is not None for r in a["runs"]) and all(good_range(l[k], [r["levels"][n][k] for r in a["runs"] if r["levels"][n]]) for k in ("ifo", "rounds", "bytes", "seconds")) for a in o["algorithms"] for n, l in enumerate(a["levels"]))'
holds "its traces" 'all(trace(r["trace"])["metric"][-1] == r["final"]["metric"] for a in o["algorithms"] for r in a["runs"])'
holds "its files" 'o["files"] == {"directory": "saddle-compare", "summary": "saddle-compare/summary.csv", "report": "c.html", "lost": None}'
text_of "${compare[@]}"
holds "the gap of the text" 'near(shown(r"at the end .*? precision \* 80 \d+ \S+ (\S+) \S+ \("), o["algorithms"][0]["final"]["gap"]["mean"], 1e-4)'
holds "a level of the text" 'near(shown(r"below 1 algorithm IFO .*? precision \* (\d+) \("), o["algorithms"][0]["levels"][o["levels"].index(1)]["ifo"]["mean"], 1e-4)'
holds "an outcome of the text" 'near(shown(r"held-out data.*? precision \* \S+ (\S+) "), o["algorithms"][0]["final"]["test_loss"]["mean"], 1e-4)'
object "kept runs" 0 "${compare[@]}"
holds "are shown alike" 'same_summary(o, "saddle-compare/summary.csv") and o["interrupted"] is False'
object "an algorithm that refuses" 0 compare "${small[@]}" --algorithms precision,sreda --output refused
holds "has a reason and no runs" '[a["status"] for a in o["algorithms"]] == ["run", "refused"] and o["algorithms"][0]["reason"] is None and "sreda" in o["algorithms"][1]["reason"] and o["algorithms"][1]["runs"] == []'
object "a comparison of what diverges" 3 compare --problem quadratic --nu 1 --eta 1 --tau 1e-9 --iterations 500 \
    --algorithms precision --output diverged
holds "diverges" 'o["algorithms"][0]["runs"][0]["stop"] == "diverged"'

# ---- eval
object eval 0 eval --model m.npz --data test.svm
holds "the outcomes that the run had" 'all(o["outcomes"][k[5:]] == v for k, v in json_schema.load("whole.json")["outcomes"].items() if k.startswith("test_") and "_agent_" not in k)'
text_of eval --model m.npz --data test.svm
holds "those of the text" 'all(near(shown(f" {k} (\\S+)"), v, 1e-5) for k, v in o["outcomes"].items()) and len(o["outcomes"]) >= 6'
holds "rows" 'o["rows"] == shown(r": (\d+) rows") == 200 and o["problem"] == "fair" and o["model"] == "m.npz"'
grep '^-1' test.svm >negative.svm
object "rows of one class" 0 eval --model m.npz --data negative.svm
holds "have no auc" 'o["outcomes"]["auc"] is None'

# ---- graph
object graph 0 graph er:0.4 --agents 30 --save e.txt
holds "files" 'o["files"] == {"edges": "e.txt", "drawing": None} and o["edges"] == sum(not l.startswith("#") for l in open("e.txt"))'
holds "degrees" 'sum(c["agents"] for c in o["degrees"]["counts"]) == 30 and sum(c["agents"] * c["degree"] for c in o["degrees"]["counts"]) == 2 * o["edges"] and o["degrees"]["min"] == o["degrees"]["counts"][0]["degree"]'
text_of graph er:0.4 --agents 30
holds "numbers of the text" 'all(near(shown(f" {name} ([^ ,]+)"), o[key], 1e-9) for name, key in (("agents", "agents"), ("edges", "edges"), ("diameter", "diameter"), ("min M_ii", "min_self_weight"), ("second largest", "lambda_2"), ("smallest", "lambda_m"), ("lambda", "lambda"), ("spectral gap", "spectral_gap")))'
holds "degrees of the text" '[shown(r"degrees min (\d+),"), shown(r"max (\d+) diameter")] == [o["degrees"]["min"], o["degrees"]["max"]] and near(shown(r"mean (\S+),"), o["degrees"]["mean"], 1e-3)'
holds "words of the text" 'all("  %-13s  %s\n" % pair in text for pair in (("topology", o["topology"]), ("mixing", o["mixing"]), ("computed by", o["eigenvalues_by"])))'

# ---- theory
theory=(theory --problem quadratic --lipschitz 3.16 --mu 1.05 --tau 20 --agents 20 --topology complete --samples 16
    --c-gamma 1000)
object theory 0 "${theory[@]}"
text_of "${theory[@]}"
shown='[None if t == "none" else float(t) for t in re.findall(r"(?m)^  \S.{12}  (\S+)  ", text)]'
held='[v for part in ("constants", "steps", "precision", "precision_plus", "printed") for v in o[part].values() if not isinstance(v, (bool, str))]'
holds "the numbers of the text, all of them" "len($held) > 30 and all((a is None) == (b is None) and (a is None or near(a, b, 1e-5)) for a, b in zip($shown, $held, strict=True))"

# ---- data info
object "data info" 0 data info train.svm
text_of data info train.svm
holds "numbers of the text" '[shown(f" {name} (\\d+)") for name in ("rows", "features", "non-zeros")] == [o["rows"], o["features"], o["nonzeros"]] and near(shown(r"density (\S+)%"), 100 * o["density"], 1e-3) and near(shown(r", (\S+) per row"), o["nonzeros_per_row"], 1e-3) and "stored " + o["storage"] in text and [shown(r"values +(\S+) to"), shown(r"values +\S+ to (\S+)")] == [o["least_value"], o["largest_value"]]'
holds "labels of the text" 'all("%g: %d rows" % (c["label"], c["rows"]) in text for c in o["labels"]["counts"]) and len(o["labels"]["counts"]) == 2'
holds "its file" 'o["files"] == 1 and o["path"].endswith("train.svm") and o["bytes"] == len(read("train.svm"))'
printf '%s\n' 'age,colour,kind' '1,red,yes' '2,"gr""een",no' ',red,no' '4,\blue,yes' >text.csv
object "categories" 0 data info text.csv --missing impute
holds "as columns" '[(c["name"], c["first_feature"], c["features"]) for c in o["columns"]] == [("age", 1, 1), ("colour", 2, 3)] and sorted(o["columns"][1]["categories"]) == sorted(["red", "gr\"een", "\\blue"]) and o["columns"][0]["categories"] == []'
holds "as labels" '{c["text"]: c["rows"] for c in o["labels"]["counts"]} == {"yes": 2, "no": 2} and o["imputed"] == 1 and o["dropped"] == 0'
object "rows that are dropped" 0 data info text.csv --missing drop
holds "are counted" 'o["dropped"] == 1 and o["rows"] == 3'
for k in 0 1 2; do cp train.svm part-$k.svm; done
object "several files" 0 data info part-%d.svm
holds "are counted" 'o["files"] == 3 and o["path"] is None and o["bytes"] is None and o["rows"] == 1200'
awk 'BEGIN { for (k = 0; k < 30; k++) print k * 0.5 " 1:1" }' >real.svm
object "many labels" 0 data info real.svm
holds "have a range" 'o["labels"] == {"different": 30, "min": 0, "max": 14.5, "counts": []}'

# ---- names of files
mkdir odd
name=$'odd/\xff"\\\xc3\xa4.csv'
object "a name that is not UTF-8" 0 run "${small[@]}" --trace "$name"
check "writes that file" test -s "$name"
holds "is shown" 'o["files"]["trace"] == o["settings"]["trace"] == "odd/\ufffd\"\\\xe4.csv"'
name=$'odd/\x1b[31m\xc2\x9b\n.svm'
cp train.svm "$name"
object "a name with control characters" 0 data info "$name"
holds "is complete" 'o["name"] == "odd/\x1b[31m\x9b\n.svm"'
check "and acts on no terminal" eval '! LC_ALL=C grep -q $'"'"'[\x1b\x9b]'"'"' object.json'

# ---- options that cannot be combined
refuse "--trace: '/dev/stdout' is standard output, where --json prints" run "${small[@]}" --json --trace /dev/stdout
refuse "is standard output" run "${small[@]}" --json --trace out
refuse "is standard output" graph ring --json --save out
refuse "is standard output" compare "${small[@]}" --json --report out --output other
"$saddle" run "${small[@]}" --json --trace /dev/stdout 2>err | cat >out
check "nor a pipe" is "${PIPESTATUS[0]} $(wc -c <out)" "2 0"
"$saddle" run "${small[@]}" --json --trace /dev/null >/dev/null 2>err
check "both into nothing" is "$?" 0
echo 'json: yes' >json.yaml
refuse "json" run "${small[@]}" --config json.yaml
refuse "saddle predict has no option --json" predict --json
refuse "there is no topology" graph no-such --json
refuse "cannot" eval --model none.npz --data test.svm --json

# ---- nothing depends on the locale or on a terminal
if localedef -i de_DE -f UTF-8 ./comma 2>/dev/null; then
    LOCPATH=$work LC_ALL=comma "$saddle" theory "${tiny[@]}" --json >comma.json
    "$saddle" theory "${tiny[@]}" --json >point.json
    check "a locale with a comma" cmp comma.json point.json
fi
if has_terminal; then
    script -qec "$(printf '%q ' "$saddle" run "${small[@]}" --json)2>/dev/null" /dev/null </dev/null | tr -d '\r' >out
    check "on a terminal" valid
fi
finish
