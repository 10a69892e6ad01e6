#!/usr/bin/env bash
# saddle theory --verify.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

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
check "c-gamma is too small" warns "PRECISION+ has no guarantee here: --c-gamma is too small"
check "and left out" is "$(grep -c 'not contradicted' out)" 1
# Seeds determine networks: with this c_gamma only some of them have a guarantee.
try theory --problem quadratic --lipschitz 3.16 --mu 1.05 --tau 5.6 --c-gamma 1000 --verify --repeats 3 --iterations 50 --threads 1
check "some seeds have no guarantee" says "PRECISION+, means over 1 of 3 seeds: not contradicted"
check "which is reported" says "2 seeds have no guarantee and were left out"
check "and all have one for PRECISION" says "PRECISION, means over 3 seeds"
check "gamma and sigma^2 are known" says "Refreshes used the exact gamma (--gamma exact)"
# One agent with few samples: the guarantee is that of its mini-batches, with which a run still complies.
try theory "${small[@]}" --samples 400,4,4,4,4,4,4,4 --verify --repeats 3 --iterations 500
check "uneven samples" says "PRECISION, means over 3 seeds: not contradicted"
check "the mini-batch of the smallest agent" is "$(awk '$1 == "batch" {print $2}' out)" 2
try theory "${small[@]}"
check "no guarantee is one line" says "PRECISION+: no guarantee; these steps need --c-gamma above "
check "and no list of nothing" is "$(grep -c ' none ' out)" 0
try theory --problem fair --data synthetic:200 --verify
check "no theorem, no verification" exits 2
check "says why" warns "--verify: there is no guarantee to verify: "
finish
