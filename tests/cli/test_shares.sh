#!/usr/bin/env bash
# Rows that do not divide evenly, and agents weighted by their samples.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# Prints iteration and metric of a trace's rows.
metrics() {
    awk -F, '/^#/ { next } !m { for (k = 1; k <= NF; k++) if ($k == "metric") m = k; next } { print $1, $m }' "$1"
}

try run --data synthetic:103 --agents 5 --topology ring --iterations 3
check "all rows are used" says "103 samples, 20 to 21 per agent"
try run --data synthetic:103 --samples 20 --agents 5 --topology ring --iterations 3
check "--samples cuts" says "100 samples, 20 per agent"
for problem in robust-logistic auc 'fair --sensitive 3' poisoning; do
    for algorithm in precision prox-gt-sgda gda; do
        # shellcheck disable=SC2086  # an option beside the name
        try run --problem $problem --data synthetic:103 --agents 5 --topology ring --iterations 20 \
            --algorithm $algorithm --x-set auto --threads 2
        check "$problem by $algorithm on unequal sizes" exits 0
    done
done
try run --data synthetic:103 --agents 5 --topology ring --iterations 20 --trace whole.csv
try run --data synthetic:103 --agents 5 --topology ring --iterations 12 --checkpoint c
try run --data synthetic:103 --agents 5 --topology ring --iterations 20 --checkpoint c --resume --trace rest.csv
check "resumed on unequal sizes" is "$(metrics rest.csv | tail -1)" "$(metrics whole.csv | tail -1)"

try run --data synthetic:103 --agents 5 --topology ring --iterations 20 --agent-weights by-size --trace w.csv
check "by size" exits 0
check "is said" says "agents weighted by size"
check "and in the trace" grep -q "agent-weights: by-size" w.csv
check "and makes a difference" test "$(metrics w.csv)" != "$(metrics whole.csv)"
try theory --data synthetic:103 --agents 5 --topology ring --agent-weights by-size
check "theory says it" says "agents weighted by size"
# With one row per sample slot and equal sizes, nothing changes.
try run --data synthetic:100 --agents 5 --topology ring --iterations 20 --agent-weights by-size --model a.npz
try run --data synthetic:100 --agents 5 --topology ring --iterations 20 --model b.npz
try predict --model a.npz --data synthetic:50
mv out a.txt
try predict --model b.npz --data synthetic:50
check "equal sizes have the same bits" cmp -s out a.txt
try run --data synthetic:103 --agents 5 --topology ring --iterations 12 --checkpoint d
try run --agent-weights by-size --checkpoint d --resume --iterations 30
check "a checkpoint of other weights is refused" exits 2
check "by the option's name" warns "agent-weights"

finish
