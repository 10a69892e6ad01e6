#!/bin/sh
# test_reference.sh SADDLE: with --q 1 PRECISION is deterministic; its trace must agree with the independent
# computation of tests/reference/precision.py in every column except the seconds. tests/reference/theory.py and auto.py
# check what docs/theory.md proves. Uses the real a9a if $SADDLE_DATA has it, otherwise generated data.
set -eu
saddle=$1
here=$(cd "$(dirname "$0")/../reference" && pwd)
# Debian's python3 has Debian's numpy; another one may be earlier in the path.
for python in python3 /usr/bin/python3 none; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        break
    fi
done
if [ "$python" = none ]; then
    echo "skip: no python3 with numpy, which the independent computation needs"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/saddle-reference-XXXXXX")
trap 'rm -rf "$work"' EXIT

# compare DATA SAMPLES ITERATIONS EVERY START NU ETA TAU ALPHA, on the graph in $work/edges
compare() {
    "$saddle" run --quiet --problem robust-logistic --data "$1" --samples "$2" \
        --partition contiguous --topology "file:$work/edges" --mixing laplacian \
        --algorithm precision --q 1 --iterations "$3" --trace-every "$4" --gap never --init "constant:$5" \
        --nu "$6" --eta "$7" --tau "$8" --alpha "$9" --trace "$work/found.csv"
    OPENBLAS_NUM_THREADS=1 "$python" "$here/precision.py" --data "$1" --edges "$work/edges" \
        --agents "$agents" --samples "$2" --iterations "$3" --trace-every "$4" --start "$5" \
        --nu "$6" --eta "$7" --tau "$8" --alpha "$9" >"$work/expected.csv"
    "$python" "$here/compare.py" "$work/found.csv" "$work/expected.csv"
}

"$saddle" data generate "$work/generated" --rows 700 --features 60 --seed 3 >/dev/null
printf '0 1\n1 2\n2 3\n0 3\n0 2\n' >"$work/edges"
agents=4
compare "$work/generated" 175 200 7 0.2 0.1 0.1 1 1
compare "$work/generated" 31 300 10 1 0.05 0.2 0.05 0.5

if [ -r "${SADDLE_DATA:-}/a9a" ]; then
    printf '0 1\n1 2\n2 3\n3 4\n0 4\n0 2\n' >"$work/edges"
    agents=5
    compare "$SADDLE_DATA/a9a" 6512 100 10 0.1 0.1 0.1 0.2 1
else
    echo "skip: a9a is not in \$SADDLE_DATA: compared on generated data only"
fi

for part in lemmas printed "numbers $saddle"; do
    # shellcheck disable=SC2086
    OPENBLAS_NUM_THREADS=1 "$python" "$here/theory.py" $part
done
for part in linear rates modes descent gain condition; do
    OPENBLAS_NUM_THREADS=1 "$python" -B "$here/auto.py" $part
done
