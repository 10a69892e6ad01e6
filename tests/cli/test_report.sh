#!/usr/bin/env bash
# saddle report and --report: the contents of the page, and its behaviour in a browser.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77 # reads the page

try compare "${tiny[@]}" --algorithms precision,prox-dsgda,gda --iterations 60 --repeats 2 --output c \
    --report c/page.html --quiet
check "compare --report" exits 0
check "in a directory that it makes" test -s c/page.html
try report c/precision-*.csv c/prox-*.csv c/gda-*.csv -o page.html
check "report" exits 0
check "says where it is" says "report written to page.html"
check "complete or absent" absent page.html.part
check "both are one" cmp -s page.html c/page.html
check "nothing is loaded" is "$(grep -cE '(src|href)="(https?:)?//|url\(|@import|fetch\(|XMLHttp' page.html)" 0
check "and may not be" grep -q "default-src 'none'" page.html
for text in "PRECISION" "Prox-DSGDA" "robust-logistic on synthetic:300" "Cost until the metric stays at a level" \
    'class="network"' "Settings that differ" "settings that all runs share" "precision-seed2.csv"; do
    check "the page has $text" grep -qF -- "$text" page.html
done

# The costs are those of the row from which on the metric stays at the level, averaged over seeds.
level=$(sed -n 's/.*metric at most<\/th><th class="number">10<sup>&minus;\([0-9]*\)<\/sup>.*/\1/p' page.html | head -1)
check "there is a level" test -n "$level"
mean=$(for seed in 1 2; do
    grep -v '^[#i]' "c/precision-seed$seed.csv" |
        awk -F, -v level="1e-${level:-0}" '!($9 <= level + 0) {cost = ""; next} cost == "" {cost = $2} END {print cost}'
done | awk '{sum += $1} END {printf "%.0f", sum / NR}')
shown=$(sed -n '/data-x="ifo"/,/<\/table>/p' page.html | grep -m 1 '>PRECISION \*<' |
    sed 's/.*<\/th><td class="number[^>]*>\([^<]*\)<.*/\1/; s/&#8239;//g')
check "cost of PRECISION ($shown, wanted $mean)" is "$shown" "$mean"

# Settings: a row for what differs, marked, with a cell for each algorithm; what does not differ is folded away, and
# where runs wrote their files is no setting.
differing() { sed -n 's/^<tr class="differs"><th scope="row">.*<\/span> \(.*\)<\/th>/\1: /p' "$1" | sed 's/<[^>]*>/ /g; s/  */ /g; s/ $//'; }
check "what differs" is "$(differing page.html | paste -sd';')" \
    "algorithm: precision prox-dsgda gda;seed: 1, 2 1, 2 1, 2;batch: 2 7 &ndash;"
common() { sed -n '/settings that all runs share/,/<\/details>/p' page.html | grep -c "<th scope=\"row\">$1</th>"; }
check "the problem is common to all" is "$(common problem) $(common links) $(common compress)" "1 1 1"
check "but nothing that differs, nor is a path" is "$(common seed) $(common trace)" "0 0"
check "what only some have is not marked" grep -q '^<tr><th scope="row">eta-x</th><td>&ndash;</td><td>&ndash;</td><td>' page.html
cp c/precision-seed1.csv other.csv
sed -i 's/^# compress: none/# compress: quantize:4/; s/^# links: reliable/# links: lossy:0.1/' other.csv
printf '# churn: who.txt\n' | cat - other.csv >churned.csv
try report c/precision-seed1.csv churned.csv -o network.html
check "links and compression of runs" is "$(differing network.html | paste -sd';')" \
    "links: reliable lossy:0.1;compress: none quantize:4"
check "and churn" grep -qE '^<tr><th scope="row">churn</th><td>(&ndash;|who.txt)</td><td>(&ndash;|who.txt)</td></tr>' network.html

# Step sizes that nobody chose are marked, whether the page comes from the comparison or from its traces.
check "untuned algorithms are marked" is "$(grep -c 'PRECISION \*</span>' page.html)" 1
check "and the mark is explained" is "$(grep -c '\* untuned: default step sizes' page.html)" 1
try compare "${tiny[@]}" --algorithms precision,gda --nu 0.1 --iterations 5 --output chosen --report chosen/page.html --quiet
check "given steps are not" is "$(grep -c 'PRECISION \*' chosen/page.html) $(grep -c 'GDA \*</span>' chosen/page.html)" "0 1"

# Disagreement: the trace lists |x_i - xbar|^2 + |y_i - ybar|^2 of the model, and the agents are coloured by it.
try run "${small[@]}" --agents 6 --topology ring --trace far.csv --model far.npz --report far.html --quiet
# The same from the model, by NumPy.
distances() {
    /usr/bin/python3 -c '
import sys
import numpy as np
model = np.load(sys.argv[1])
print(*(f"{d:.3g}" for d in sum(((model[k] - model[k].mean(axis=0)) ** 2).sum(axis=1) for k in "xy")))' "$1"
}
check "a number for each agent" is "$(sed -n 's/^# disagreement: //p' far.csv | wc -w)" 6
check "the distances from the mean" is "$(distances far.npz)" \
    "$(sed -n 's/^# disagreement: //p' far.csv | xargs printf '%.3g\n' | paste -sd' ')"
shown=$(sed -n 's/.*<title>agent [0-9]*: \(.*\)<\/title>.*/\1/p' far.html | paste -sd' ')
check "are on the page ($shown)" is "$shown" "$(distances far.npz)"
check "in colours" [ "$(grep -o '<circle [^>]*style="fill:#[0-9a-f]*"' far.html | sed 's/.*fill/fill/' | sort -u | wc -l)" -gt 2 ]
sed '/^# disagreement/s/:.*/: 0 1e-6 1e-4 1e-2 1 1e-2/' far.csv >steps.csv
try report steps.csv -o steps.html
# Logarithms; a third of the way is a third of the way from the second of the five colours to the third.
check "from near to far" is "$(sed -n 's/.*style="fill:\(#.*\)"><title>agent.*/\1/p' steps.html | paste -sd' ')" \
    "#00224e #00224e #565d70 #a79d70 #fee838 #a79d70"
check "ends of the colours" grep -qF 'Farthest: agent 4, <span class="whole">1</span>; nearest: agent 0, <span class="whole">0</span>.' steps.html
check "up to the largest disagreement during the run" is \
    "$(sed -n 's/.*class="ramp".*class="whole">\([^<]*\)<.*/\1/p' far.html)" "$(/usr/bin/python3 -c '
import csv
rows = csv.DictReader(line for line in open("far.csv") if line[0] != "#")
print("%.2g" % max((float(row["x_consensus"]) + float(row["y_consensus"])) / 6 for row in rows))')"
sed '/^# disagreement/s/:.*/: 0 0 0 0 0 0/' far.csv >agreed.csv
try report agreed.csv -o agreed.html
check "consensus" grep -qF "All agents agree exactly." agreed.html
sed '/^# disagreement/d' far.csv >without.csv
try report without.csv -o without.html
check "a trace without them" is "$(grep -c 'style="fill' without.html) $(grep -c '<circle ' without.html)" "0 6"
check "says so" grep -qF "Not coloured: PRECISION-auto. The trace does not list" without.html
check "a network is drawn once for all algorithms" is "$(grep -c '<path id="edges' page.html) $(grep -c '<use href="#edges' page.html)" "1 1"
printf '0 1\n1 2\n2 3\n' >edges.txt
try run --problem quadratic --agents 4 --topology file:edges.txt --iterations 5 --trace line.csv --quiet
try report line.csv -o line.html
check "a network from a file" is "$(grep -c '<circle ' line.html)" 4
printf '3 4\n' >>edges.txt
try report line.csv -o line.html
check "which is another one now" grep -qF "The network file:edges.txt cannot be made again: its file is gone or has changed." line.html
check "is not drawn" is "$(grep -c '<circle ' line.html)" 0
try run --problem quadratic --algorithm gda --iterations 5 --trace one.csv --quiet
check "one model has nothing to disagree with" grep -qx '# disagreement: 0' one.csv

# Outcomes at the end: the mean over seeds of the last rows.
check "no outcomes: only the gap" is "$(sed -n '/Outcomes at the end/,/<\/table>/p' page.html | grep -c '^<tr><th scope="row">')" 1
try compare --problem fair --sensitive 2 --data synthetic:300:12 --test-data synthetic:100:12 --algorithms precision,gda \
    --iterations 20 --repeats 2 --output judged --report judged/page.html --quiet
mean=$(for seed in 1 2; do
    python3 -c 'import csv, sys; print(list(csv.DictReader(l for l in open(sys.argv[1]) if l[0] != "#"))[-1]["test_accuracy"])' \
        "judged/precision-seed$seed.csv"
done | awk '{sum += $1} END {printf "%.4g", sum / NR}')
shown=$(sed -n 's/^<tr><th scope="row">accuracy on held-out data<\/th><td class="number">\([^ ]*\) .*/\1/p' judged/page.html)
check "accuracy of PRECISION ($shown, wanted $mean)" is "$shown" "$mean"

try report c -o directory.html
check "of a directory, whose summary is not a trace" exits 0

# Different problems are different experiments.
try run --problem auc --data synthetic:300 --iterations 20 --trace auc.csv --quiet
try report c auc.csv -o both.html
check "two experiments" exits 0
check "have a section each" is "$(grep -o '<h2>[^<]*' both.html | sed 's/<h2>//' | paste -sd,)" \
    "robust-logistic on synthetic:300,auc on synthetic:300"
refuse "these traces are from 2 experiments: robust-logistic on synthetic:300 (6, such as 'c/gda-seed1.csv'), auc on synthetic:300 (1" \
    plot c auc.csv
refuse "there is no trace in 'empty'" report "$(mkdir empty && echo empty)" -o e.html
refuse "is the summary of a comparison" report c/summary.csv -o e.html
refuse "could be a trace" report c -o c/gda-seed1.csv

# The data links contain the traces.
decode() {
    python3 - "$1" <<'PYTHON'
import html.parser, sys, urllib.parse
class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        link = dict(attributes)
        if link.get("download") == sys.argv[1]:
            print(urllib.parse.unquote(link["href"].split(",", 1)[1]), end="")
Links().feed(open("page.html", encoding="utf-8").read())
PYTHON
}
decode precision-seed2.csv >back.csv
# The same numbers, perhaps with other digits.
numbers() { python3 -c 'import sys; [print(*[c if c == "" or c[0] > "9" else float(c) for c in line.strip().split(",")])
    for line in open(sys.argv[1]) if line[0] != "#"]' "$1"; }
check "the data are the trace" cmp -s <(numbers back.csv) <(numbers c/precision-seed2.csv)
check "with its head and end" cmp -s <(grep '^#' back.csv) <(grep '^#' c/precision-seed2.csv)

try run "${small[@]}" --report run.html --quiet
check "run --report" exits 0
check "without a trace" grep -q 'precision-auto-seed1.csv' run.html
try run --problem auc --data synthetic:300 --test-data synthetic:100 --iterations 20 --report auc.html
check "run --report with outcomes" exits 0
check "says where the page is" grep -qE '^  report +auc.html' out
check "and they are on it" grep -q 'test_auc' auc.html
try run --problem quadratic --iterations 400 --nu 1 --eta 1 --tau 1e-9 --report bad.html --quiet
check "a run that diverges" exits 3
check "a run that diverged has a page, too" test -s bad.html
check "without disagreement" grep -qF "Not coloured: PRECISION. The trace does not list" bad.html
refuse "is also the file of --trace" run "${small[@]}" --report t.csv --trace ./t.csv
refuse "is also the file of a trace" report c/gda-seed1.csv -o c/gda-seed1.csv
refuse "cannot write 'nowhere/page.html'" report c/gda-seed1.csv -o nowhere/page.html
refuse "cannot read 'absent.csv'" report absent.csv
refuse "saddle report needs TRACE|DIR..." report
# Files that are not traces, or several of them, do not give an empty page.
printf 'name,price\n1,2\n' >foreign.csv
refuse "'foreign.csv' has no column iteration, ifo, rounds, bytes or seconds, as a trace has; it has name, price" \
    report foreign.csv -o foreign.html
refuse "'foreign.csv' has no column" report c/gda-seed1.csv foreign.csv -o foreign.html
printf 'iteration,ifo\n1,2\n' >bare.csv
refuse "'bare.csv' has no column such as metric or loss" report bare.csv -o foreign.html
check "and leaves none" absent foreign.html

# Texts that look like markup, and traces with few rows.
mkdir "d's \"<b>\" é"
odd="d's \"<b>\" é/t'\"<i>&.csv"
{
    printf '# saddle 0.1.0\n# algorithm: <script>alert(1)</script> & "own"\n# seed: 1\n'
    printf '# data: /a/</script><script>alert(2)</script>\n# problem: "><img src=x onerror=alert(3)>\n'
    printf 'iteration,ifo,rounds,bytes,seconds,metric,<b>col\n0,0,0,0,0,1,1\n10,100,10,10,1,,2\n'
    printf '20,200,20,20,2,0.01,3\n30,300,30,30,3,0,nan\n'
} >"$odd"
printf '# algorithm: gda\n# seed: 1\niteration,ifo,metric\n0,0,0.5\n' >point.csv
printf '# algorithm: sgda\n# seed: 1\niteration,ifo,metric\n' >none.csv
try report "$odd" point.csv none.csv -o "odd 'é.html"
check "odd names" exits 0
check "are escaped" eval '! grep -qE "<script>alert|<img|<b>col|<i>&" "odd '"'"'é.html"'
awk 'BEGIN {print "# algorithm: precision\n# seed: 1\niteration,ifo,metric"
    for (t = 0; t < 20000; t++) printf "%d,%d,%g\n", t, 10 * t, exp(-t / 2000)}' >long.csv
printf '# algorithm: precision\n# seed: 1\niteration,ifo,metric\n0,0,1e-2\n10,100,1e-2\n' >low.csv
printf '# algorithm: precision\n# seed: 2\niteration,ifo,metric\n0,0,1e-4\n10,100,1e-4\n' >high.csv
try report long.csv -o long.html
check "a long trace is thinned" grep -q '1 row in 6' long.html
try report low.csv high.csv -o mean.html
# A loss that falls from 1 to about 0.1 at once, and then by a thousandth: the axis shows the latter.
awk 'BEGIN {print "# algorithm: precision\n# seed: 1\niteration,ifo,loss"
    for (t = 0; t < 100; t++) printf "%d,%d,%g\n", t, 10 * t, t == 0 ? 1 : 0.1 + 0.001 / t}' >steep.csv
try report steep.csv -o steep.html
# Two curves in the same place and one elsewhere; the two are short and would be squeezed into a corner of a linear axis.
cover() {
    awk -v name="$1" -v rows="$2" -v rate="$3" 'BEGIN {print "# algorithm: " name "\n# seed: 1\niteration,ifo,metric"
        for (t = 0; t < rows; t++) printf "%d,%d,%g\n", t, 10 * t, exp(-t / rate)}' >"cover-$1.csv"
}
cover precision 40 20
cover prox-dsgda 40 20
cover gda 2000 200
try report cover-*.csv -o cover.html
for topology in ring star complete; do
    try run --problem quadratic --agents 5 --topology "$topology" --iterations 5 --trace "on-$topology.csv" --quiet
done
try report on-*.csv -o networks.html

# ---- heads and settings of any length

try run --problem quadratic --iterations 5 --trace plain.csv --quiet
{ seq 300000 | sed 's/.*/# n&: 1/'; cat plain.csv; } >many.csv
try report many.csv -o many.html
check "a head of 300,000 lines is refused" warns "many.csv:1025:1: more than 1024 settings"
{ head -1 plain.csv; printf '# remark: '; head -c 5000000 /dev/zero | tr '\0' '<'; echo; tail -n +2 plain.csv; } >fat.csv
try report fat.csv -o fat.html
check "a setting of 5 MB" exits 0
check "is cut on the page" [ "$(wc -c <fat.html)" -lt 200000 ]
check "which says so" grep -q '(5000000 bytes)' fat.html

# ---- in a browser
has chromium chromedriver || finish
# Values that differ only in their third digit.
awk -F, -v OFS=, '/^iteration/ { for (k = 1; k <= NF; k++) if ($k == "primal") p = k }
    /^[0-9]/ { $p = 1.4e-4 + 1e-8 * $1 } { print }' c/precision-seed1.csv >near.csv
try report near.csv -o near.html
# Every page is opened on both screens. In the night pointer and keyboard are used on all of them, else on three that
# have everything that takes them.
brief=(--brief)
[ -n "${SADDLE_TEST_LONG-}" ] && brief=()
timeout 1200 python3 "$here/browser.py" page.html judged/page.html "odd 'é.html" "${brief[@]}" near.html long.html \
    networks.html steep.html mean.html cover.html >out 2>err
check "the browser opens all pages" is "$?" 0
# see PAGE: what every page must have.
see() {
    mv "$1.seen" seen
    check "$1: the script ran to its end" is "$(seen ready)" yes
    check "$1: no message on the console" is "$(seen console)" 0
    check "$1: no request" is "$(seen requests)" 0
    check "$1: the axis at first" is "$(seen axis)" "gradient evaluations"
    for screen in desk phone; do
        check "$1, $screen: only numbers are drawn" is "$(seen $screen-not-a-number)" 0
        check "$1, $screen: fits" is "$(seen $screen-overflow) $(seen $screen-dark-overflow)" "0 0"
        if grep -q "^$screen-controls " seen; then
            used=$((used + 1))
            check "$1, $screen: there are controls" [ "$(seen $screen-controls)" -gt 5 ]
            check "$1, $screen: the keyboard reaches all of them" is "$(seen $screen-unreached)" 0
            check "$1, $screen: and shows where it is" is "$(seen $screen-unseen)" 0
        fi
        check "$1, $screen: they have names" [ "$(seen $screen-named)" -gt 5 ]
        check "$1, $screen: all of them" is "$(seen $screen-nameless)" 0
        for scheme in light dark; do
            check "$1, $screen, $scheme: there is text" [ "$(seen $screen-$scheme-texts)" -gt 20 ]
            check "$1, $screen, $scheme: its contrast is at least 4.5" is "$(seen $screen-$scheme-poor)" 0
        done
    done
    check "$1: fits paper" is "$(seen paper-overflow)" 0
    check "$1: with everything unfolded, for as long as it is printed" is "$(seen paper-folded) $(seen folded-again)" \
        "0 $(grep -o '<details' "$1" | wc -l)"
    check "$1: which is bright, without controls" is "$(seen paper-ground) $(seen paper-controls)" "rgb(251, 251, 250) 0"
}
seen() { sed -n "s/^$1 //p" seen; }
used=0
see near.html
check "has different numbers at its axes" is "$(seen alike) $(seen shown)" "0 metric,primal"
see page.html
check "different numbers at all axes" is "$(seen alike)" 0
check "two charts" is "$(seen charts)" 2
check "of metric and primal value" is "$(seen shown)" "metric,primal"
check "a curve for each algorithm in each" is "$(seen curves)" 6
check "with a band" is "$(seen bands)" 6
check "a legend" is "$(seen legend)" 3
check "a network for each decentralized algorithm" is "$(seen networks) $(seen agents)" "2 10"
check "whose agents have colours" [ "$(seen shades)" -gt 3 ]
check "the distances of the first" is "$(seen distances)" \
    "$(sed -n 's/^# disagreement: //p' c/precision-seed1.csv | xargs printf '%.3g\n' | paste -sd' ')"
check "settings that differ, by more than a colour" is "$(seen differing)" "≠ algorithm,≠ seed,≠ batch"
check "the others are folded" is "$(seen unfolded)" 0
check "one table of costs" is "$(seen costs)" ifo
check "as many rows as the trace" is "$(seen rows)" "$(grep -c '^[0-9]' c/precision-seed1.csv)"
for screen in desk phone; do
    check "$screen: the switch changes the axis" is "$(seen $screen-axis-after-click)" "communication rounds"
    check "$screen: and the curves" is "$(seen $screen-curves-moved)" True
    check "$screen: and the table" is "$(seen $screen-costs-after-click)" rounds
    check "$screen: and the address" is "$(seen $screen-address)" "#x=rounds"
    check "$screen: a logarithmic horizontal axis" is "$(seen $screen-scale-across)" "false true True"
    check "$screen: a linear vertical one" is "$(seen $screen-scale-up)" "true false True"
    check "$screen: and back" is "$(seen $screen-scale-across-back) $(seen $screen-scale-up-back)" "True True"
    check "$screen: the legend hides a curve" is "$(seen $screen-curves-hidden)" 4
    check "$screen: and brings it back" is "$(seen $screen-curves-back)" 6
    check "$screen: another column" is "$(seen $screen-column) $(seen $screen-curves-of-column)" "potential 6"
    check "$screen: zoom in, out and back" is "$(seen $screen-zoom) $(seen $screen-zoom-undone)" "true true true true true True"
    check "$screen: values under the pointer in both charts" is "$(seen $screen-tips)" 2
    check "$screen: on the screen" is "$(seen $screen-tip-inside)" True
    check "$screen: with names" grep -qE "^$screen-tip .*(PRECISION|GDA)" seen
    check "$screen: arrows show values" is "$(seen $screen-key-tips) $(seen $screen-key-moves)" "2 True"
    check "$screen: keys zoom" is "$(seen $screen-key-zoom) $(seen $screen-key-pan) $(seen $screen-key-reset)" "True True True True"
    check "$screen: Escape hides the values" is "$(seen $screen-key-escape)" 0
    check "$screen: dark ground" is "$(seen $screen-dark-ground)" "rgb(20, 22, 26)"
done
check "a drag zooms, a double click undoes it" is "$(seen desk-drag) $(seen desk-drag-left) $(seen desk-drag-undone)" \
    "True True True"
check "no values without the pointer" is "$(seen desk-tips-left)" 0
see judged/page.html
check "an outcome beside the metric" is "$(seen shown)" "metric,test_loss"
see "odd 'é.html"
check "three curves" is "$(seen legend)" 3
see long.html
check "as many rows as were kept" is "$(seen rows)" 3335
see networks.html
check "a section for the experiment" is "$(seen sections)" 1
check "its three networks" is "$(seen networks)" 3
check "a curve for each network" is "$(seen legend)" 3
see steep.html
for screen in desk phone; do
    check "$screen: a steep start is cut off, and comes back on request" is "$(seen $screen-steep)" "start cut off, true, true"
done
see mean.html
check "a logarithmic axis shows everything" is "$(seen desk-steep)" none
check "the geometric mean is half-way" is "$(seen heights | tr ' ' '\n' | sort -u)" \
    "$(seen lines | awk '{printf "%.1f", ($1 + $NF) / 2}')"
check "the horizontal axis is linear" is "$(seen log-axis)" false
see cover.html
check "unless most runs would not be visible" is "$(seen log-axis)" true
check "a curve that another one covers is wider" is "$(seen widths)" "PRECISION 5, GDA 2, Prox-DSGDA 2"
check "the keyboard was used on three pages or more" [ "$used" -ge 6 ]

# The gap leads the outcomes, with a verdict; what measures its own steps is not marked as untuned.
try run --problem quadratic --iterations 20 --trace auto.csv --quiet
try report auto.csv -o auto.html
check "a gap that is not small" grep -qE '<th scope="row">gap</th><td class="number">[0-9.e+-]+ <b>not solved</b></td>' auto.html
check "no mark on PRECISION-auto" is "$(grep -c 'untuned: default' auto.html)" 0
try run --problem quadratic --iterations 20 --tolerance 100 --trace enough.csv --quiet
try report enough.csv -o enough.html
check "one that is enough" grep -qE '<th scope="row">gap</th><td class="number">[0-9.e+-]+ solved</td>' enough.html

finish
