#!/usr/bin/env bash
# The same bits with every instruction set: the program as it is, then built for any processor, only for AVX2 and only
# for AVX-512. Arguments: the four programs, in this order.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh" "$1"
shift

# The widths that this processor supports.
able() {
    case $1 in
    *_256) grep -qw avx2 /proc/cpuinfo ;;
    *_512) grep -qw avx512f /proc/cpuinfo ;;
    *) true ;;
    esac
}

# Compares models and traces (without the seconds) of a run with the given options, on every program. File names are
# the same for all, because models contain their settings.
compare() {
    local name=$1 built
    shift
    check "$name runs" "$saddle" run "$@" --quiet --model model.npz --trace trace.csv
    strip_seconds <trace.csv >as-is
    mv model.npz as-is.npz
    for built in "${programs[@]}"; do
        able "$built" || continue
        rm -f trace.csv
        "$built" run "$@" --quiet --model model.npz --trace trace.csv
        strip_seconds <trace.csv >one
        check "$name: model of ${built##*_}" cmp -s as-is.npz model.npz
        check "$name: trace of ${built##*_}" cmp -s as-is one
        rm -f model.npz
    done
}

strip_seconds() {
    grep -v '^#' | cut -d, -f1-5,7-
}

programs=("$@")
some=(--data synthetic:2003 --iterations 60 --trace-every 20)
for algorithm in precision precision+ prox-gt-sgda prox-dsgda gt-gda dppsp dposg cspsg; do
    compare "$algorithm" --algorithm "$algorithm" "${some[@]}"
done
compare "sreda-boost" --algorithm sreda-boost --x-set none "${some[@]}"
compare "odd sizes" --data synthetic:37 --samples 3,9,13,11,1 --iterations 60
compare "simplex" --weights simplex "${some[@]}"
compare "balls" --x-set l2-ball:1 --y-set l1-ball:0.9 "${some[@]}"
compare "l1" --regularizer l1:0.001 "${some[@]}"
compare "a network's score" --problem auc --score mlp:40,3 "${some[@]}"
awk 'BEGIN { for (r = 0; r < 400; r++) { for (c = 1; c < 38; c++) printf "%.6f,", sin(r * c + c * c); print r % 3 == 0 } }' >dense.csv
compare "a network on dense rows" --problem auc --score mlp:70,21 --data dense.csv --iterations 60
compare "quadratic" --problem quadratic --iterations 60
compare "fair" --problem fair --sensitive 72 "${some[@]}"
compare "poisoning" --problem poisoning "${some[@]}"
compare "policy evaluation" --problem policy-evaluation --iterations 60

finish
