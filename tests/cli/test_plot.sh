#!/usr/bin/env bash
# saddle plot and saddle graph --draw.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# trace FILE ALGORITHM SEED METRIC...: writes a trace with a row every 10 iterations.
trace() {
    local file=$1 algorithm=$2 seed=$3 t=0 value
    shift 3
    {
        printf '# saddle 0.1.0\n# algorithm: %s\n# seed: %s\n' "$algorithm" "$seed"
        echo iteration,ifo,rounds,bytes,seconds,loss,metric
        for value in "$@"; do
            echo "$t,$((t * 100)),$t,$((t * 8000)),0.$t,$value,$value"
            t=$((t + 10))
        done
        echo '# ended: all iterations done'
    } >"$file"
}

has gnuplot || finish

# ---- curves of real runs
try compare "${tiny[@]}" --algorithms precision,prox-dsgda --iterations 60 --repeats 2 --output c --quiet
for ending in svg png pdf PNG; do
    try plot c/*-seed*.csv -o "picture.$ending"
    check "draws .$ending" exits 0
    check "warns of nothing for .$ending" silent
done
check "an SVG" grep -q '<svg' picture.svg
check "a PNG" is "$(head -c 4 picture.png | tail -c 3)" PNG
check "a PDF" is "$(head -c 4 picture.pdf)" %PDF
check "complete or absent" absent picture.svg.part
for text in PRECISION Prox-DSGDA "convergence metric" "gradient evaluations"; do
    check "the picture says $text" grep -qF ">$text" picture.svg
done
# One curve per algorithm, each in its own colour, and a band.
for colour in 0,114,178 204,121,167; do
    check "a curve of rgb($colour)" eval "tr -d ' ' <picture.svg | grep -qF 'rgb($colour)'"
done
check "bands" is "$(grep -c 'fill-opacity' picture.svg)" 2
try plot c/precision-seed1.csv -o one.svg
check "no band of one run" is "$(grep -c 'fill-opacity' one.svg)" 0
try plot c/*.csv -o all.svg
check "other files of compare are ignored" exits 0
try run --problem fair --sensitive 2 --data synthetic:300:12 --test-data synthetic:100:12 --iterations 40 --trace fair.csv --quiet
try plot fair.csv -o fair.svg
check "outcomes are found" exits 0
for text in "convergence metric" loss accuracy "demographic-parity gap"; do
    [[ $text == convergence* ]] || text+=" on held-out data"
    check "$text is drawn" grep -qF ">$text" fair.svg
done
try plot fair.csv --y accuracy -o fair.svg
check "an outcome without its data is that on held-out rows" grep -qF "accuracy on held-out data" fair.svg
try plot c/*-seed*.csv --x rounds,bytes,seconds --y metric,loss --title "two by three" -o grid.svg
check "several pictures in one" is "$(grep -cE 'communication rounds|bytes sent|>seconds' grid.svg)" 6
check "with a title" grep -qF 'two by three' grid.svg
check "and one legend" is "$(grep -cF '<text>Prox-DSGDA<' grid.svg)" 1
try plot c/precision-seed1.csv --x iterations --y x_consensus --x-scale log -o log.svg
check "logarithmic axes" exits 0

# Panels requested as two by two are arranged two by two.
try plot c/precision-seed1.csv --x samples,rounds --y metric,loss -o four.svg
check "two by two" grep -qE '<svg[^>]* viewBox="0 0 1120 ' <(tr '\n' ' ' <four.svg)
try plot fair.csv --y loss,test_accuracy,train_accuracy -o three.svg
check "three side by side are as wide as a page can show" grep -qE '<svg[^>]* viewBox="0 0 1200 ' <(tr '\n' ' ' <three.svg)
try plot --help
check "the help says how to get two by two" eval "tr -s ' \n' ' ' <out | grep -qF -- '--x samples,rounds --y metric,loss draws 2 x 2'"
# All lines of a legend that has many are in the picture.
for k in {10..25}; do
    trace "long-$k.csv" "algorithm-$k-with-a-name-of-41-characters" 1 1 "$k"
done
try plot long-??.csv --x samples,rounds --y metric,loss -o long.svg
lowest=$(tr '\n' ' ' <long.svg | grep -oE 'translate\([0-9.]+,[0-9.]+\)"[^>]*>[[:space:]]*<text>algorithm-' |
    sed -E 's/.*,([0-9.]+)\).*/\1/' | sort -g | tail -1)
height=$(tr '\n' ' ' <long.svg | sed -nE 's/.*viewBox="0 0 [0-9]+ ([0-9]+)".*/\1/p')
check "a legend of 16 lines" is "$(grep -cE '<text>algorithm-[0-9]*-with-a-name-of-41-characters<' long.svg)" 16
check "in the picture ($lowest of $height)" [ "${lowest%.*}" -lt "$((height - 4))" ]
# In the terminal, neither many nor long names are drawn over each other or over the plot.
for k in {10..39}; do
    trace "same-$k.csv" "algorithm-$k-with-a-name-of-41-characters" 1 1 1
done
try plot same-??.csv
check "names in the terminal" is "$(grep -cE '^ {10}[^ a]{5}algorithm-[0-9]*-with-a-name-of-41-characters' out)" 30
check "below the plot" [ "$(grep -nF algorithm- out | head -1 | cut -d: -f1)" -gt "$(grep -nF gradient out | cut -d: -f1)" ]
# Curves that cannot be told apart are told by the legend, and the one below is drawn wider.
trace first.csv precision 1 1 1e-2 1e-4
trace second.csv gda 1 1 1e-2 1e-4
trace third.csv sgda 1 1 1e-2 2e-4
try plot first.csv second.csv third.csv -o same.svg
check "a curve upon another one" grep -qF 'GDA (same as PRECISION)' same.svg
check "no other one" is "$(grep -c "<text>.*same as" same.svg)" 1
try plot first.csv second.csv third.csv
check "in the terminal, too" says "GDA (same as PRECISION)"
# What follows a steep start is visible.
trace steep.csv precision 1 -100 1 1.1 1.2 1.1 1 1.1 1.2 1.1 1 1.1 1.2
try plot steep.csv --y loss -o steep.svg
check "a steep start is cut off" grep -qF 'loss (start cut off)' steep.svg
sed 's/,loss,/,test_demographic_parity_gap,/' steep.csv >gap.csv
try plot gap.csv --y demographic_parity_gap -o gap.svg
check "a long label has two lines" is "$(grep -cE '>(demographic-parity gap on held-out data|\(start cut off\))<' gap.svg)" 2
trace flat.csv precision 1 3 1 1.5 2 2.5 3 2 1 1 1 2
try plot flat.csv --y loss -o flat.svg
check "another one is not" is "$(grep -cF 'cut off' flat.svg)" 0

# ---- in the terminal
try plot c/precision-seed1.csv
check "draws with characters" says "PRECISION"
check "fits the page" narrow out
check "has axes" says "gradient evaluations"
trace low.csv precision 1 1e-2 1e-2 1e-2
trace high.csv precision 2 1e-4 1e-4 1e-4
try plot low.csv high.csv
check "the mean on a logarithmic axis is the geometric one" grep -qE '^ +1e-03 \|\*{9}' out
trace low.csv precision 1 2 2 2
trace high.csv precision 2 4 4 4
trace frame.csv gda 1 0 1 6
try plot low.csv high.csv frame.csv --y loss
check "on a linear one the arithmetic one" grep -qE '^ +3 \|\*{9}' out

# ---- which traces make a curve
curves() { grep -oE '\*\*\*\*\*|#####|\$\$\$\$\$|%%%%%' <(tail -n 3 out) | sort -u | wc -l; }
trace a.csv precision 1 1 0.1
trace b.csv precision 2 1 0.1
try plot a.csv b.csv
check "another seed is the same curve" is "$(curves)" 1
sed -i 's/^# seed.*/&\n# nu: 0.1/' a.csv
sed -i 's/^# seed: 2/# seed: 1\n# nu: 0.01/' b.csv
try plot a.csv b.csv
check "another step is another" says "PRECISION, nu 0.01"
check "and both are named" says "PRECISION, nu 0.1"
sed -i 's/^# seed: 1/# seed: 2/' b.csv
try plot a.csv b.csv
check "unless it may follow from another seed's network" is "$(curves)" 1
sed -i '/^# algorithm/d' b.csv
try plot a.csv b.csv
check "a trace without a head is known by its file" says "b.csv"

# ---- every algorithm has its own style
try algorithms
names=$(awk '/^$/ {exit} /^  [a-z]/ && !/^  algorithm/ {print $1}' out)
for name in $names; do
    trace "look-$name.csv" "$name" 1 1 0.1
done
try report look-*.csv -o looks.html
check "as many looks as algorithms" is "$(grep -o 'data-colour="[^"]*"' looks.html | sort -u | wc -l)" \
    "$(wc -w <<<"$names")"
for name in $names; do
    check "$name has a title in the palette" is "$(grep -cF "data-label=\"$name\"" looks.html)" 0
done

# ---- odd traces
trace zero.csv precision 1 1 0.1 0 0
trace nan.csv prox-dsgda 1 1 '' 0.01 nan 1e-3 inf 1e-4
trace point.csv gda 1 0.5
trace none.csv sgda 1
for files in zero.csv nan.csv point.csv none.csv "zero.csv nan.csv point.csv none.csv"; do
    read -ra list <<<"$files"
    try plot "${list[@]}" -o odd.svg
    check "draws $files" exits 0
    check "no NaN in the picture of $files" eval '! grep -qi "nan\"\|nan,\| nan " odd.svg'
done
try plot zero.csv
check "zero lies on the lower end" eval "grep -B 1 '1e-02 +--' out | head -1 | grep -qF '*'"
awk 'BEGIN {print "iteration,ifo,metric"; for (t = 0; t < 50000; t++) printf "%d,%d,%g\n", t, 10 * t, exp(-t / 5000) * (1 + t % 2)}' >long.csv
try plot long.csv -o long.svg
check "a long trace" exits 0
check "is thinned" test "$(wc -c <long.svg)" -lt 200000

# ---- names that could be mistaken for commands
mkdir "d d's \"x\" é"
# shellcheck disable=SC2016
trace "d d's \"x\" é/t.csv" 'a`touch pwned`$(touch pwned)"; system("touch pwned"); '"'"'
!touch pwned' 1 1 0.5 0.1
sed -i '2{N;s/\n/ /}' "d d's \"x\" é/t.csv" # the head's lines are one line each
# shellcheck disable=SC2016
try plot "d d's \"x\" é/t.csv" --title '`touch pwned` '"'"'; system("touch pwned")' -o '|touch pwned.svg'
check "odd names are drawn" exits 0
check "into the file of that name" test -s '|touch pwned.svg'
check "and nothing is run" absent pwned
try plot low.csv --title '{/Bold x}_y^z @HOME \n %s <b> & #' -o marks.svg
check "marks of enhanced text, macros and formats" exits 0
check "stand as they are" grep -qF '{/Bold x}_y^z @HOME \n %s &lt;b' marks.svg
# shellcheck disable=SC2016
try plot low.csv --y '`touch pwned`'
check "a column of that name is refused" exits 2
check "and not run" absent pwned

# ---- refusals
refuse "must end in .svg, .png or .pdf" plot a.csv -o picture.jpg
cp a.csv a.svg
refuse "is also the file of a trace" plot a.svg -o ./a.svg
refuse "has no column 'nothing'; it has iteration, ifo" plot a.csv --y nothing
refuse "has no column 'nothing'" plot a.csv --x nothing
refuse "has no column 'test_acuracy' (did you mean 'test_accuracy'?); it has iteration" plot fair.csv --y test_acuracy
refuse "has no column 'acuracy' (did you mean 'train_accuracy'?)" plot fair.csv --y acuracy
refuse "is not a list of 1 to 8 names" plot a.csv --x samples,,rounds
refuse "cannot read 'absent.csv'" plot absent.csv
refuse ":2:5: 'x' is not a number" plot <(printf 'iteration,ifo,metric\n1,2,x\n')
refuse "saddle plot needs TRACE|DIR..." plot
refuse "cannot write 'nowhere/p.svg'" plot a.csv -o nowhere/p.svg
mkdir bin
ln -s "$(command -v timeout)" bin/timeout
PATH=$work/bin try plot a.csv
check "without gnuplot" exits 2
check "says how to get it" warns "apt-get install gnuplot-nox"
printf '#!/bin/sh\necho "gnuplot> set terminal" >&2\necho "  unknown or ambiguous terminal type" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
PATH=$work/bin:$PATH try plot a.csv -o failed.svg
check "gnuplot's failure" exits 1
check "with gnuplot's message" warns "gnuplot cannot draw this: unknown or ambiguous terminal type"
check "leaves nothing" absent failed.svg
check "leaves no part" absent failed.svg.part

# Numbers in labels are short, unless curves would get the same name.
for tau in 2.723271307101159 2.719794868874131 0.5 0.123456781 0.123456782; do
    printf '# algorithm: precision\n# seed: 1\n# tau: %s\niteration,ifo,metric\n0,0,1\n1,9,%s\n' "$tau" "${tau: -1}" >"tau$tau.csv"
done
try plot tau2*.csv tau0.5.csv -o tau.svg
check "short numbers" is "$(sed -n 's/.*<text>PRECISION, tau \(.*\)<\/text>.*/\1/p' tau.svg | sort | tr '\n' ' ')" "0.5 2.72 2.723 "
try plot tau0.1*.csv tau0.5.csv -o tau.svg
check "long ones" is "$(sed -n 's/.*<text>PRECISION, tau \(.*\)<\/text>.*/\1/p' tau.svg | sort | tr '\n' ' ')" \
    "0.123456781 0.123456782 0.5 "

# ---- networks
positions() { sed -n 's/^ *\([0-9]*\) \[pos="\([-0-9.]*\),\([-0-9.]*\)".*/\1 \2 \3/p' "$1"; }
try graph ring --agents 12 --draw ring.dot
check "a ring" exits 0
check "says where it is" says "drawing written to ring.dot"
check "all edges" is "$(grep -c -- ' -- ' ring.dot)" 12
check "on a circle" is "$(positions ring.dot | awk '{d = sqrt(($2 - 200)^2 + ($3 - 200)^2);
    if (d < 199.8 || d > 200.2) bad++} END {print NR, bad + 0}')" "12 0"
try graph grid:3x4 --draw grid.dot
check "a grid on a grid" is "$(positions grid.dot | awk '{x[$2]; y[$3]} END {print length(x), length(y)}')" "4 3"
try graph path --agents 12 --draw path.dot
check "a path is drawn out" is "$(positions path.dot | awk '{x[$1] = $2; y[$1] = $3}
    END {d = sqrt((x[0] - x[11])^2 + (y[0] - y[11])^2); print (d > 380)}')" 1
try graph er:0.2 --agents 30 --draw er.dot
check "an irregular one" exits 0
check "neighbours are nearer than others" is "$(awk '
    /pos=/ {gsub(/[^-0-9.]+/, " "); x[$1] = $2; y[$1] = $3; n++}
    / -- / {edge[$1 "," $3 + 0]; edge[$3 + 0 "," $1]}
    END {for (i = 0; i < n; i++) for (j = 0; j < i; j++) {
            d = sqrt((x[i] - x[j])^2 + (y[i] - y[j])^2)
            if ((i "," j) in edge) {near += d; k++} else {far += d; l++}}
        print (1.5 * near / k < far / l)}' er.dot)" 1
cp er.dot again.dot
try graph er:0.2 --agents 30 --draw er.dot
check "drawn alike every time" cmp -s er.dot again.dot
for ending in svg png pdf; do
    try graph er:0.2 --agents 30 --draw "net.$ending"
    check "network as .$ending" exits 0
    check "network .$ending is there" test -s "net.$ending"
done
check "agents are numbered" grep -q '>29<' net.svg
refuse "must end in .svg, .png, .pdf or .dot" graph ring --draw x.gif
refuse "at most 2000 are drawn" graph ring --agents 3000 --draw x.dot
finish
