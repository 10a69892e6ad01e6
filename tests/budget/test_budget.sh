#!/usr/bin/env bash
#
# Guards the speed by counting instructions, which do not depend on how busy the machine is.
#
#   test_budget.sh SADDLE COMPILER            compare with budget.txt
#   test_budget.sh SADDLE COMPILER --update   write the counts of this build into it
#
# valgrind shows every program a processor with AVX2 and without AVX-512, whatever the machine has, so
# the same code runs everywhere. Instructions are counted in the program and in SLEEF; other
# libraries, whose code may depend on the processor, are left out. A case is the difference between a
# long and a short run, divided by what the long one does more: the start cancels.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
saddle=$1
compiler=$2
update=${3-}
budget=$here/budget.txt

# A count above the budget by the first factor fails; one below it by the second calls for a new budget.
TOO_MUCH=1.03
MUCH_LESS=0.90

if ! command -v valgrind >/dev/null; then
    echo "skip: valgrind is not installed"
    exit 77
fi
if ! grep -qw avx2 /proc/cpuinfo; then
    echo "skip: the budget is for processors with AVX2"
    exit 77
fi
made_for=$(sed -n 's/^# compiler: //p' "$budget")
if [[ $update != --update && $compiler != "$made_for" ]]; then
    echo "skip: the budget is for code of $made_for, this is $compiler's"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count WORD...: instructions of `saddle WORD...` in the program itself and in SLEEF.
count() {
    if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" "$saddle" "$@" \
        >"$work/log" 2>&1; then
        cat "$work/log" >&2
        return 1
    fi
    # Cost lines are `LINE COUNT`; the one after calls= is what the called function cost. ob= names
    # the file whose functions follow, cob= that of a called one; a name that has been given before,
    # by either, is only a number.
    awk -v program="$(basename "$saddle")" '
        /^c?ob=/ {
            called = /^c/
            sub(/^c?ob=/, "")
            if (NF > 1) name[$1] = $2
            if (!called) ours = name[$1] ~ ("/" program "$") || name[$1] ~ /\/libsleef\.so/
        }
        /^calls=/ { getline; next }
        /^[0-9+*-]/ { if (ours) sum += $2 }
        END { printf "%d\n", sum }' "$work/out"
}

# per UNITS LONG SHORT: (LONG - SHORT) / UNITS, rounded.
per() {
    echo $((($2 - $3 + $1 / 2) / $1))
}

# Rows that are read cost less than half of rows that are drawn.
"$saddle" data generate "$work/rows" --rows 2500 >/dev/null

# Instructions per iteration of a run with the options; 23 iterations are one period of q.
iteration() {
    local options=(run --quiet --gap never --seed 1 --threads 1 --data "$work/rows" --samples 500 "$@")
    per 69 "$(count "${options[@]}" --iterations 92 --trace-every 92)" \
        "$(count "${options[@]}" --iterations 23 --trace-every 23)"
}

# Instructions per iteration that is traced.
traced_iteration() {
    local options=(run --algorithm precision --quiet --gap never --seed 1 --threads 1 --data "$work/rows" --samples 500
        --trace "$work/trace.csv" --trace-every 1)
    per 23 "$(count "${options[@]}" --iterations 46)" "$(count "${options[@]}" --iterations 23)"
}

# Instructions per row of LIBSVM text; a file so small is read by one thread.
libsvm_row() {
    "$saddle" data generate "$work/long" --rows 3000 >/dev/null
    "$saddle" data generate "$work/short" --rows 1000 >/dev/null
    per 2000 "$(count data info "$work/long")" "$(count data info "$work/short")"
}

# Instructions of a complete run on a ring of agents, with few samples each, so that those of the ring show.
ring() {
    count run --algorithm precision --quiet --gap never --seed 1 --threads 1 --agents "$1" --topology ring \
        --data "synthetic:$((20 * $1))" --samples 20 --iterations 10 --trace-every 10
}

declare -A found
order=(precision precision-plus prox-gt-sgda auc-linear auc-network traced libsvm-row)
found[precision]=$(iteration --algorithm precision)
found[precision-plus]=$(iteration --algorithm precision+)
found[prox-gt-sgda]=$(iteration --algorithm prox-gt-sgda)
found[auc-linear]=$(iteration --algorithm precision --problem auc)
found[auc-network]=$(iteration --algorithm precision --problem auc --score mlp:16,8)
found[traced]=$(traced_iteration)
found[libsvm-row]=$(libsvm_row)

if [[ $update == --update ]]; then
    {
        echo "# Instructions per iteration (or row), written by test_budget.sh --update."
        echo "# compiler: $compiler"
        for name in "${order[@]}"; do
            echo "$name ${found[$name]}"
        done
    } >"$work/budget.txt"
    cp "$work/budget.txt" "$budget"
    cat "$budget"
    exit 0
fi

passed=0
failed=0
for name in "${order[@]}"; do
    allowed=$(awk -v name="$name" '$1 == name { print $2 }' "$budget")
    verdict=$(awk -v found="${found[$name]}" -v allowed="${allowed:-0}" -v much="$TOO_MUCH" \
        -v little="$MUCH_LESS" 'BEGIN {
            if (!(found > 0) || !(allowed > 0) || !(found <= much * allowed)) print "FAIL"
            else print (found < little * allowed ? "less" : "ok") }')
    printf '%-16s %10d instructions, budget %10d  %s\n' "$name" "${found[$name]}" "${allowed:-0}" \
        "$verdict"
    if [[ $verdict == FAIL ]]; then
        failed=$((failed + 1))
        echo "  more than $TOO_MUCH times the budget (or nothing counted). If the work is worth it:"
        echo "  $here/test_budget.sh $saddle '$compiler' --update"
    else
        passed=$((passed + 1))
    fi
    if [[ $verdict == less ]]; then
        echo "  far below the budget: lower it with $here/test_budget.sh $saddle '$compiler' --update"
    fi
done

# Setting up and iterating grow with the number of agents, not faster.
small=$(ring 100)
middle=$(ring 200)
large=$(ring 400)
if ((middle > small && large > middle && 100 * (large - middle) <= 210 * (middle - small))); then
    echo "ring 100, 200, 400: $small, $middle, $large instructions: linear"
    passed=$((passed + 1))
else
    echo "ring 100, 200, 400: $small, $middle, $large instructions: grows faster than the agents  FAIL"
    failed=$((failed + 1))
fi
echo "checks: $passed passed, $failed failed"
[[ $failed -eq 0 ]]
