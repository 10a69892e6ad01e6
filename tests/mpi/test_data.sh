#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_data.sh SADDLE MPIEXEC NUMBER-FLAG: data on which processes must agree: text columns and one file per agent, on
# machines that do not have the other agents' files; outcomes over agents; stopping rules that use them.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# apart RANKS ARGUMENTS...: runs every process in the directory rank-N, as if on its own machine.
cat >enter <<'END'
#!/bin/sh
cd "rank-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" && exec "$@"
END
chmod +x enter
apart() {
    local ranks=$1
    shift
    timeout 1200 "$mpiexec" "$number" "$ranks" "$work/enter" "$saddle" "$@" >out 2>err </dev/null
    code=$?
}
# Asserts that the job of RANKS processes, each in its directory, fails with one line that contains TEXT.
refuse_apart() {
    local text=$1
    shift
    apart "$@"
    check "refused: $text" exits 2
    check "one line: $text" test "$(grep -c '^saddle: ' err)" -eq 1
    check "message: $text" warns "$text"
}

# ---- text columns in one file per agent ----------------------------------------------------------------

# Colors that not every agent has, and some missing ages.
awk 'BEGIN {
    srand(5)
    split("red green blue gold", color, " ")
    for (i = 0; i < 5; i++) {
        file = "part-" i ".csv"
        print "age,color,bought" >file
        for (k = 0; k < 20 + i; k++) {
            c = color[1 + (i + k) % (i == 4 ? 4 : 2)]
            age = k % 7 == 3 ? "NA" : 20 + int(40 * rand())
            print age "," c "," ((c == "red") == (rand() < 0.9) ? "yes" : "no") >file
        }
    }
}'
texts=(--data part-%d.csv --missing impute --topology ring --iterations 30 --trace-every 10 --problem auc --gap never)
compare "text columns" "2 3 5" "${texts[@]}"
check "the number of agents is that of the files" grep -qx '# agents: 5' mpi.trace
check "ages are scaled" grep -qx '# scale: standard' mpi.trace
compare "codes" "3" "${texts[@]}" --categories codes
compare "weights by size" "3" "${texts[@]}" --agent-weights by-size --gap end
printf '%s\n' '5 leave 1' '9 cut 3 4' '15 return 1' >churn.txt
compare "weights of agents that leave" "2 3" "${texts[@]}" --agent-weights by-size --churn churn.txt --gap end
compare "groups of agents that leave" "3" "${texts[@]/auc/group-dro}" --groups label --churn churn.txt
compare "rewards of agents that leave" "3" --problem policy-evaluation --agents 5 --topology ring --iterations 30 \
    --trace-every 10 --churn churn.txt

# Agent i is in process i, whose machine has no other file.
for ((i = 0; i < 5; i++)); do
    mkdir "rank-$i"
    mv "part-$i.csv" "rank-$i"
done
cp rank-4/part-4.csv held-out.csv
rm -f threads.npz
mkdir all
cp rank-?/part-?.csv held-out.csv all
(cd all && "$saddle" run "${texts[@]}" --test-data held-out.csv --model ../threads.npz >/dev/null)
cp held-out.csv rank-0
apart 5 run --engine mpi "${texts[@]}" --test-data held-out.csv --model "$work/apart.npz"
check "files apart" exits 0
check "five agents" says "5 agents"
check "the same model" same_model threads.npz apart.npz
mkdir aside
mv rank-3/part-3.csv aside
refuse_apart "agent 3 has no file 'part-3.csv'" 5 run --engine mpi "${texts[@]}"
cut -d, -f2- aside/part-3.csv >rank-3/part-3.csv
refuse_apart "agent 3, 'part-3.csv': its columns differ from those of the files before: missing 'age'" 5 run \
    --engine mpi "${texts[@]}"
sed '5s/.*/12/' aside/part-3.csv >rank-3/part-3.csv
refuse_apart "agent 3: part-3.csv:5:" 5 run --engine mpi "${texts[@]}"
cp aside/part-3.csv rank-3

# ---- different files of the same name ------------------------------------------------------------------

for ((i = 0; i < 3; i++)); do "$saddle" data generate "rank-$i/rows" --rows 60 --seed $i >/dev/null; done
shared=(run --engine mpi --data rows --agents 3 --topology ring --iterations 2)
refuse_apart "copy one file to all machines, or give each agent its own file, such as part-%d.csv" 3 "${shared[@]}"
check "with its name" warns "data: 'rows' differs between processes"
cp rank-0/rows rank-1/rows
refuse_apart "its contents in process 2 are not those in process 0" 3 "${shared[@]}"
cp rank-0/rows rank-2/rows
apart 3 "${shared[@]}"
check "the same file everywhere" exits 0
rm rank-2/rows
refuse_apart "no data set 'rows'" 3 "${shared[@]}"
check "at the process without it" grep -qi 'process 2\|rank 2' err

# ---- outcomes over agents, and stopping rules that use them ----------------------------------------------

skewed=(--problem fair --sensitive 2 --data synthetic:600:12 --test-data synthetic:200:12 --agents 6
    --partition label-skew:0.3 --iterations 60 --trace-every 20 --gap never)
compare "outcomes per agent" "2 5" "${skewed[@]}" --outcomes-per-agent
check "they are in the trace" grep -q 'test_accuracy_agent_max' mpi.trace
compare "regression per agent" "3" --problem robust-regression --data synthetic:300:5 --agents 4 \
    --iterations 30 --trace-every 10 --outcomes-per-agent
long=(--algorithm precision --problem auc --data synthetic:1000 --test-data synthetic:500 --agents 6 --iterations 2000 --trace-every 10
    --gap never)
compare "stop-when" "3" "${long[@]}" --stop-when 'auc>=0.85'
check "it stopped there" grep -qx '# ended: the condition of stop-when holds' mpi.trace
compare "stop-after" "3" "${long[@]}" --stop-after 5
check "it stopped there, too" grep -qx '# ended: no gain for stop-after trace points' mpi.trace
compare "stop-on" "2" "${long[@]}" --iterations 100 --stop-after 4 --stop-on train_pair_loss
wanted=6
compare "a condition that is not met" "2" "${long[@]}" --iterations 50 --stop-when 'test_auc>1'
wanted=0
under 3 run --engine mpi "${long[@]}" --stop-when 'aux>1'
check "an unknown column is refused" exits 2
check "once" test "$(grep -c "'aux' is not a column" err)" -eq 1
try run "${long[@]}" --stop-after 5 --model whole.npz
under 3 run --engine mpi "${long[@]}" --stop-after 5 --max-ifo 60000 --checkpoint kept
check "a run that is cut short" exits 0
under 2 run --engine mpi --resume kept --max-ifo 0 --model resumed.npz
check "resumed" exits 0
check "keeps the best solution of all" same_model whole.npz resumed.npz

finish
