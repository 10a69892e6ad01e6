#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_runs.sh SADDLE MPIEXEC NUMBER-FLAG: the same command under mpirun gives the same trace, except for the time,
# and the same model, byte for byte.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
size=(--samples 30 --agents 6 --iterations 25 --trace-every 5 --gap never)

# ---- algorithms, every problem; test_mpi_engine has every algorithm and all links -------------------

for algorithm in precision-auto gt-gda dposg; do
    compare "$algorithm" 3 "${size[@]}" --algorithm "$algorithm" --threads 2
done
compare quadratic "1 5" "${size[@]}" --problem quadratic --topology star --gap end
compare auc "2 5" "${size[@]}" --problem auc --score mlp:4 --topology ring
compare policy "3" "${size[@]}" --problem policy-evaluation
compare fair "5" "${size[@]}" --problem fair --sensitive 2
compare poisoning "2" "${size[@]}" --problem poisoning

# ---- links that lose messages and change -----------------------------------------------------------

printf '0 0 1\n0 2 3\n4 1 2\n4 3 4\n4 5 0\n9 0 1\n' >edges.txt
for links in gossip schedule:edges.txt lossy:0.3 burst:0.2:4; do
    compare "links $links" 3 "${size[@]}" --topology ring --links "$links"
done
compare "links lossy, two weights" 2 "${size[@]}" --links lossy:0.2 --algorithm gt-gda
for links in burst:0.2:4 delay:3; do
    rm -rf points
    try run "${size[@]}" --links "$links" --trace threads.trace --model threads.npz
    under 3 run --engine mpi "${size[@]}" --links "$links" --iterations 12 --checkpoint points --checkpoint-every 12
    under 2 run --engine mpi --resume points --iterations 25 --trace mpi.trace --model mpi.npz
    check "$links: other processes resume it" exits 0
    check "$links: with the same model" same_model threads.npz mpi.npz
done

# ---- compressed messages -------------------------------------------------------------------------

for rule in quantize:4 top:0.1 random:0.1; do
    rm -rf points
    compare "compress $rule" 3 "${size[@]}" --compress "$rule" --link-model latency:0.01,bandwidth:1000
    try run "${size[@]}" --compress "$rule" --trace threads.trace --model threads.npz
    under 3 run --engine mpi "${size[@]}" --compress "$rule" --iterations 12 --checkpoint points --checkpoint-every 12
    under 2 run --engine mpi --resume points --iterations 25 --trace mpi.trace --model mpi.npz
    check "$rule: other processes resume it" exits 0
    check "$rule: with the same model" same_model threads.npz mpi.npz
done

# ---- the stopping rules -------------------------------------------------------------------------

compare max-ifo "3" "${size[@]}" --iterations 100000 --trace-every 50 --max-ifo 20000
compare shared-out "2" "${size[@]}" --algorithm dppsp --iterations 100000 --max-ifo 30000
compare max-rounds "3" "${size[@]}" --algorithm gt-gda --max-rounds 40
compare tolerance "3" "${size[@]}" --iterations 100000 --tolerance 0.1 --gap end

# ---- simulated seconds ---------------------------------------------------------------------------

{
    echo "default latency 0.01 bandwidth 1000 compute 1e-4"
    echo "agent 2 compute 0.003"
    echo "edge 0 1 latency 0.7"
} >model
timed=(--samples 30 --agents 6 --topology ring --link-model model --gap never)
clocks=("${timed[@]}" --trace-every 1)
for algorithm in precision gt-gda; do
    compare "time, $algorithm" 5 "${timed[@]}" --iterations 25 --trace-every 5 --algorithm "$algorithm" --threads 2
done
check "there are simulated seconds" grep -q ',network_seconds,' threads.trace
compare max-network-seconds 3 "${timed[@]}" --iterations 100000 --trace-every 50 --max-network-seconds 800
check "the budget ends it" grep -q '^# ended: budget of simulated seconds spent' mpi.trace
compare "inner loops" 2 "${timed[@]}" --algorithm dppsp --iterations 100000 --max-network-seconds 500
try run "${clocks[@]}" --iterations 100 --trace alone.trace
under 3 run --engine mpi "${clocks[@]}" --iterations 37 --checkpoint clocks
under 2 run --engine mpi --resume clocks --iterations 100 --trace resumed.trace
rows_of() { grep -v '^#' "$1" | cut -d, -f1-5,7-; }
check "a resumed job continues its clocks" cmp -s <(rows_of alone.trace) <(rows_of resumed.trace)

# ---- output is printed once ---------------------------------------------------------------------

try run "${size[@]}"
sed -E '/^  time /,/^  loss /{/^  loss /!d}; s/[0-9.]+ (ms|s|us)$//; s/^( *[0-9]+ +[0-9]+ +[0-9]+ +)[0-9.]+/\1/' out >alone
under 3 run "${size[@]}" --engine mpi
sed -E '/^  time /,/^  loss /{/^  loss /!d}; s/[0-9.]+ (ms|s|us)$//; s/^( *[0-9]+ +[0-9]+ +[0-9]+ +)[0-9.]+/\1/' out >together
check "one process speaks" cmp -s alone together

# ---- private data ---------------------------------------------------------------------------------

private="can reconstruct rows of private data"
"$saddle" data generate rows.libsvm --rows 900 --features 5 >out 2>err
data=(--data rows.libsvm --agents 3 --iterations 2)
under 3 run --engine mpi "${data[@]}" --batch 63
check "small mini-batches are warned of" warns "gradients over 63 samples are sent to other processes"
check "by one process" test "$(grep -c "$private" err)" -eq 1
under 3 run --engine mpi "${data[@]}" --batch 64
check "64 samples will do" exits 0
check "without a warning" test "$(grep -c "$private" err)" -eq 0
under 3 run --engine mpi --data rows.libsvm --samples 60 --agents 3 --iterations 2 --algorithm gt-gda
check "so are few samples of full gradients" warns "gradients over 60 samples are sent"
under 3 compare --engine mpi "${data[@]}" --batch 63 --algorithms precision --output compared
check "by a comparison, too" warns "gradients over 63 samples are sent"
under 3 tune --engine mpi --data rows.libsvm --agents 3 --batch 63 --budget 100000 --candidates 3 --output searched
check "a search" exits 0
check "warns, too" warns "gradients over 63 samples are sent"
check "once" test "$(grep -c "$private" err)" -eq 1
under 1 run --engine mpi "${data[@]}" --batch 1
check "one process shares with nobody" test "$(grep -c "$private" err)" -eq 0
for generated in "--problem quadratic" "--data synthetic:900:5"; do
    # shellcheck disable=SC2086  # two words
    under 2 run --engine mpi $generated --batch 3 --iterations 2
    check "$generated is nobody's data" test "$(grep -c "$private" err)" -eq 0
done

under 3 run --engine mpi --nu nonsense
check "a wrong option is refused" exits 2
check "by one process" test "$(grep -c '^saddle: ' err)" -eq 1
under 5 run --engine mpi --agents 3
check "too many processes are refused" exits 2
check "with the number that would do" warns "start at most 3"
under 2 run --engine mpi --algorithm gda
check "a centralized algorithm is refused" exits 2
check "with the engine that would do" warns "use the engine threads"

finish
