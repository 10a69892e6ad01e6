#!/usr/bin/env bash
# saddle graph.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

value() { awk -v name="$1" 'index($0, "  " name " ") == 1 {print $NF}' out; }

try graph er:0.6 --agents 20 --save e.txt
check "er" exits 0
for word in topology agents edges degrees diameter mixing "min M_ii" eigenvalues lambda "spectral gap" "computed by"; do
    check "prints $word" says "  $word "
done
check "saves as many edges as it says" is "$(grep -vc '^#' e.txt)" "$(value edges)"
edges=$(value edges)
gap=$(value "spectral gap")
try graph file:e.txt
check "reads them back" exits 0
check "the same agents" is "$(value agents)" 20
check "the same edges" is "$(value edges)" "$edges"
check "the same gap" is "$(value 'spectral gap')" "$gap"
try graph er:0.6 --agents 20 --seed 2 --save e2.txt
check "another seed, another graph" eval '! cmp -s e.txt e2.txt'

# A run on the file equals the run on the graph.
common=(--data synthetic:400 --samples 15 --iterations 20 --quiet)
try run "${common[@]}" --agents 20 --topology er:0.6 --trace a.csv
try run "${common[@]}" --topology file:e.txt --trace b.csv
check "a run on the file is the run on the graph" same_trace a.csv b.csv

# Closed forms: on a ring of 8, L has eigenvalues 2 - 2 cos(2 pi k / 8), the largest is 4.
try graph ring --agents 8
check "diameter of a ring" is "$(value diameter)" 4
check "smallest eigenvalue of the paper's rule" is "$(printf '%.6f' "$(value eigenvalues)")" 0.333333
check "second largest eigenvalue of a ring" is \
    "$(printf '%.8f' "$(sed -n 's/.*second largest \([^,]*\),.*/\1/p' out)")" \
    "$(awk 'BEGIN {printf "%.8f", 1 - (2 - 2 * cos(atan2(0, -1) / 4)) / 6}')"
try graph complete --agents 6 --mixing max-degree
check "complete mixing at once" is "$(awk -v g="$(value 'spectral gap')" 'BEGIN {print (g > 0.999999)}')" 1
try graph star --agents 5
check "histogram of an irregular graph" grep -qE '^ +4 +1$' out
try graph grid:3x4
check "a grid determines its agents" is "$(value agents)" 12
try graph ring
check "five agents by default" is "$(value agents)" 5
try graph regular:4 --agents 3000
check "a larger graph" exits 0
check "by ARPACK" says "  computed by    ARPACK"
try graph er
check "a form that is not complete" exits 2
check "errors name the operand" warns "TOPOLOGY: 'er' is not of the form er:P"
finish
