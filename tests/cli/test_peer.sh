#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by check
# `saddle peer`: keys and files, and runs of five processes on the loopback interface, whose models have the bits of
# `saddle run`. On a9a if $SADDLE_DATA has it, otherwise on built-in data.
data=${SADDLE_DATA:-}
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
[[ -z $data ]] || export SADDLE_DATA=$data

# ---- keys -------------------------------------------------------------------------------------

try peer keygen agent.key
check "keygen" test $code -eq 0
check "a secret key is its owner's" test "$(stat -c %a agent.key)" = 600
lacks() { ! "$@"; }
key=$(tail -n 1 out)
check "a public key is" test "${#key}" -eq 64
secret=$(cat agent.key)
check "a secret key is not printed" lacks grep -qF "$secret" out err
try peer keygen agent.key
check "a key is not replaced" test "$(cat agent.key)" = "$secret" -a "$(tail -n 1 out)" = "$key"
try peer keygen none/agent.key
check "no directory" grep -q "cannot write 'none/agent.key'" err

# ---- files ------------------------------------------------------------------------------------

try run --replay logs
check "--replay" grep -qF -- "did you mean --links replay:...?" err

refused() {
    local name=$1 text=$2
    try peer run agent.yml
    check "$name" test $code -eq 2 -a "$(wc -l <err)" -eq 1
    check "$name: $text" grep -qF -- "$text" err
}
try peer init network.yml --agents 2
check "init" test $code -eq 0
deadline=$(sed -n 's/^# \(deadline: \)2 /\10 /p' network.yml)
printf 'network: network.yml\nagent: 0\nkey: agent.key\n' >agent.yml
refused "a file as init writes it" "is not a public key of 64 hexadecimal digits"
network() {
    printf 'agent-0: none %s\nagent-1: tcp://127.0.0.1:1 %064d\n' "$key" 7
    printf '%s\n' "$@"
}
network "links: lossy:0.1" >network.yml
refused "losses" "network.yml:3:8: links: peers do not have it yet; remove the line"
network "engine: mpi" >network.yml
refused "an engine" "engine: it does not decide what is computed"
network "$deadline" >network.yml
refused "the deadline that init suggests" "deadline: '0' is not a number of seconds from"
network "problem: ./mine.so" >network.yml
refused "a plug-in" "peers cannot use plug-ins"
network "edges: [0-2]" >network.yml
refused "an edge" "edges:"
network "edges: [0-1" >network.yml
refused "not YAML" "network.yml:"
network "checkpoint-every: 30s" >network.yml
refused "a time between checkpoints" "network.yml:3:19: '30s' is not a number of iterations"
network "topology: ring" "edges: [0-1]" >network.yml
refused "edges twice" "edges and topology are both given"
network "data: own" >network.yml
refused "no data" "add the line data: FILE"
echo "data: none.csv" >>agent.yml
refused "no rows" "cannot read './none.csv': No such file or directory; give the file of this agent's rows"
network "iterations: 5" >network.yml
sed -i 's/none.csv/rows.csv/' agent.yml
refused "data for nothing" "does not have the line 'data: own'"
printf 'network: network.yml\nagent: 0\nkey: agent.key\nmodel:\n' >agent.yml
refused "no value" "agent.yml:4:7: model: there is no value; give one, or remove the line"
network "problem: nothing" >network.yml
sed -i '/^model/d' agent.yml
refused "no such problem" "there is no problem 'nothing'"
network "algorithm: gda" >network.yml
refused "an algorithm in one process" "gda is centralized"
for address in tcp://127.0.0.1 tcp://127.0.0.1:0 tcp://127.0.0.1:99999 tcp://127.0.0.1:80x tcp://:80 tcp://::1:80 'tcp://[]:80' ipc:// \
    "ipc://$(printf '%0110d' 0)"; do
    network "iterations: 5" | sed "s|tcp://127.0.0.1:1 |$address |" >network.yml
    refused "the address $address" "network.yml:2:10: '$address' is not an address; write tcp://HOST:PORT"
    network "iterations: 5" >network.yml
    printf 'network: network.yml\nagent: 0\nkey: agent.key\nlisten: %s\n' "$address" >agent.yml
    refused "listening at $address" "agent.yml:4:9: '$address' is not an address"
done
network "iterations: 5" | sed "s|127.0.0.1|*|" >network.yml
refused "an address of any host" "nobody can dial 'tcp://*:1'"
network "iterations: 5" >network.yml
printf 'network: network.yml\nagent: 0\nkey: agent.key\ncheckpoint: saved\n' >agent.yml
refused "checkpoints that nobody agreed on" "agree on a line such as 'checkpoint-every: 50'"
network "checkpoint-every: 5" >network.yml
refused_resume() {
    try peer run agent.yml "--resume=$1"
    check "resume $1" test $code -eq 2 -a "$(wc -l <err)" -eq 1
    check "resume $1: $2" grep -qF -- "$2" err
}
refused_resume yes "there is no checkpoint in './saved'"
check "no directory is made" test ! -e saved
sed -i 's/saved$/agent.key/' agent.yml
refused "checkpoints in a file" "cannot write './agent.key/setup.saddle': Not a directory; give a directory"
sed -i 's/agent.key$/saved/;s/^key: .*/key: agent.key/' agent.yml
refused_resume saved "'saved' is not auto"
sed -i '/^checkpoint/d' agent.yml
refused_resume auto "add the line checkpoint: DIRECTORY"
network "iterations: 5" >network.yml
printf 'network: network.yml\nagent: 2\nkey: agent.key\n' >agent.yml
refused "no such agent" "agent.yml:2:8: agent: '2' is not the number of one of the 2 agents"
printf 'network: network.yml\nagent: 1\nkey: agent.key\n' >agent.yml
refused "the key of another" "the secret key is not that of agent 1"
printf 'network: network.yml\nagent: 0\nkeys: agent.key\n' >agent.yml
refused "a mistyped name" "did you mean 'key'"
printf 'network: network.yml\nagent: 0\nkey: agent.key\n' >agent.yml
chmod 640 agent.key
refused "a key that others can read" "others than its owner can read"
chmod 600 agent.key
echo "model: agent.key" >>agent.yml
refused "a model in place of the key" "'./agent.key' is also the file of key and would be overwritten"
check "the key is still there" test "$(cat agent.key)" = "$secret"
printf 'network: network.yml\nagent: 0\nkey: pipe\n' >agent.yml
mkfifo pipe
refused "a pipe" "key: './pipe' is not a file"
printf 'network: network.yml\nagent: 0\nkey: agent.key\n' >agent.yml
sed 's/agent-1/agent-00/' network.yml >twice.yml
mv twice.yml network.yml
refused "an agent twice" "agent-00: agent 0 has two lines"
try peer init network.yml
check "a network file is not replaced" test $code -eq 2 -a "$(grep -c '^agent-00' network.yml)" -eq 1
try peer init large.yml --agents 40000
check "too many agents" grep -q "2 to 4000 agents, not 40000" err

if [[ ! -f $(dirname "$saddle")/libsaddle-peer.so ]]; then
    printf 'network: network.yml\nagent: 0\nkey: agent.key\n' >agent.yml
    refused "no module" "saddle peer needs a module that is not installed"
    skip "the module of peers was not built"
    finish
fi

# ---- the unit of systemd ----------------------------------------------------------------------

# verify UNIT: systemd finds no fault, and knows every line.
verify() {
    sed "s|^ExecStart=saddle |ExecStart=$saddle |" "$1" >'unit@.service'
    systemd-analyze verify "$PWD/unit@trial.service" >out 2>err && [[ ! -s err ]]
}
printf '[Service]\nExecStart=saddle peer run agent.yml\n' >plain.service
if has systemd-analyze && verify plain.service; then
    check "the unit" verify "$here/../../examples/saddle-peer@.service"
    echo 'Restarts=no' >>plain.service
    check "a wrong unit" lacks verify plain.service
else
    skip "systemd-analyze does not work here"
fi

# ---- runs -------------------------------------------------------------------------------------

has python3 || finish
/usr/bin/python3 -c "import numpy" 2>/dev/null || {
    skip "there is no NumPy"
    finish
}

# make_peers DIRECTORY LINE...: five agents; the last, which has no address, dials its neighbours. Some have addresses of
# IPv6, where the system has it.
make_peers() {
    local ports at=$1 k host=(127.0.0.1 127.0.0.1 127.0.0.1 127.0.0.1)
    grep -qs '^0*1 .* lo$' /proc/net/if_inet6 && host[1]='[::1]' host[3]='[::1]'
    shift
    mkdir -p "$at"
    read -r -a ports < <(/usr/bin/python3 "$here/free_ports.py" 4)
    for k in 0 1 2 3 4; do
        "$saddle" peer keygen "$at/$k.key" | tail -n 1 >"$at/$k.pub" || return
        printf 'network: network.yml\nagent: %d\nkey: %d.key\nmodel: %d.npz\ntrace: %d.csv\npatience: 30\nthreads: 1\n' \
            "$k" "$k" "$k" "$k" >"$at/$k.yml"
        if [[ $k -lt 4 ]]; then
            printf 'agent-%d: tcp://%s:%d %s\n' "$k" "${host[k]}" "${ports[k]}" "$(cat "$at/$k.pub")"
        else
            printf 'agent-%d: none %s\n' "$k" "$(cat "$at/$k.pub")"
        fi
    done >"$at/network.yml"
    printf '%s\n' "$@" >>"$at/network.yml"
}

# run_peers DIRECTORY: all agents at once; the exit codes are in codes.
run_peers() {
    local k
    jobs=()
    codes=()
    for k in 0 1 2 3 4; do
        timeout 100 "$saddle" peer run "$1/$k.yml" >"$1/$k.out" 2>"$1/$k.err" </dev/null &
        jobs+=($!)
    done
    for k in 0 1 2 3 4; do
        wait "${jobs[k]}"
        codes+=($?)
    done
    [[ ${codes[*]} == "0 0 0 0 0" ]] || {
        cat "$1"/*.err
        return 1
    }
}

# A port may have been taken meanwhile by another process; then it is tried once more.
run_free() {
    make_peers "$@" && run_peers "$1" && return
    grep -q "Address already in use" "$1"/*.err || return
    make_peers "$@" && run_peers "$1"
}

same_models() {
    /usr/bin/python3 - "$1" "$2" <<'END'
import sys
import numpy
whole = numpy.load(sys.argv[1])
for k in range(5):
    own = numpy.load(f"{sys.argv[2]}/{k}.npz")
    for name in ("x", "y"):
        if own[name].shape[0] != 1 or own[name][0].tobytes() != whole[name][k].tobytes():
            sys.exit(f"agent {k}: another {name}")
    if own["xbar"].tobytes() != whole["x"][k].tobytes() or own["iteration"] != whole["iteration"]:
        sys.exit(f"agent {k}: another mean or iteration")
END
}

if [[ -f ${SADDLE_DATA:-none}/a9a ]]; then rows=a9a; else rows=synthetic:4000; fi
check "rows" "$saddle" run --data $rows --agents 5 --topology er:0.6 --iterations 60 --gap never --model whole.npz --quiet
check "five peers" run_free common "data: $rows" "topology: er:0.6" "iterations: 60"
check "their models are those of threads" same_models whole.npz common
check "a trace has rows" test "$(grep -c '^[0-9]' common/2.csv)" -eq 61
check "five that stall" run_free stall "problem: fair" "sensitive: 1" "fairness: 0" "data: synthetic:1000:6" \
    "topology: er:0.6" "algorithm: prox-gt-sgda" "iterations: 500"
check "an agent says so" grep -qF "at this agent the run stalled at its gradient noise; try --batch" stall/*.err
check "a trace has losses" grep -qE "^60,[0-9.]+,[0-9.e-]+,[0-9.e-]+$" common/2.csv
check "what a process prints" grep -qE "agent  +3 of 5; neighbours " common/3.out
try eval --model common/1.npz --data $rows
check "a model can be used" grep -q accuracy out

# Every owner has a file of its own; columns of text become the same features everywhere.
mkdir own
/usr/bin/python3 - <<'END'
import random
random.seed(3)
for k in range(5):
    with open(f"own/part-{k}.csv", "w") as f:
        f.write("age,colour,sex,label\n")
        for row in range(80 + 7 * k):
            colour = random.choice(["red", "green", "blue", "grey"][:2 + k % 3])
            age = random.randint(18, 90)
            f.write(f"{age},{colour},{random.randint(0, 1)},{int(age + random.gauss(0, 20) > 50)}\n")
END
check "files" "$saddle" run --problem auc --data own/part-%d.csv --agents 5 --topology path --iterations 40 --gap never \
    --model files.npz --quiet
make_owners() {
    local k
    make_peers "$@" || return
    for k in 0 1 2 3 4; do echo "data: part-$k.csv" >>"own/$k.yml"; done
    echo "every: 9" >>own/2.yml # each owner chooses
}
check "owners" make_owners own "problem: auc" "data: own" "edges: [0-1, 1-2, 2-3, 3-4]" "iterations: 40"
check "five owners" run_peers own
check "their models are those of one process" same_models files.npz own
check "rows of a trace as often as its owner wants" test "$(grep -c '^[0-9]' own/2.csv)" -eq 6
check "a small batch is warned of" grep -q "can reconstruct" own/0.err

# ---- strangers --------------------------------------------------------------------------------

# 800 connections, silent or with the beginning of a handshake, to agents that may open 128 files: while they wait for
# the last agent, and until the end.
stranger() {
    /usr/bin/python3 - "$1" "$2" <<'END'
import os, re, socket, sys, time
ports = [int(p) for p in re.findall(r"^agent-[02]: .*:([0-9]+) ", open(sys.argv[1]).read(), re.M)]
begin = [b"", os.urandom(100), b"\xff" + bytes(8) + b"\x01\x7f\x03\x00CURVE" + bytes(47), b"\xff\x00"]
held = []
for n in range(800):
    held.append(socket.create_connection(("127.0.0.1", ports[n % 2]), timeout=20))
    held[n].send(begin[n // 2 % 4])
    time.sleep(0.002)  # the queue of those that are not accepted yet is short
print("connected", flush=True)
open(sys.argv[2]).read()
END
}
meet_strangers() {
    local k
    jobs=()
    codes=()
    for k in 0 1 2 3; do
        (ulimit -Sn 128 && exec timeout 100 "$saddle" peer run "strange/$k.yml") >"strange/$k.out" 2>"strange/$k.err" </dev/null &
        jobs+=($!)
    done
    wait_for test -S strange/0.yml.socket -a -S strange/2.yml.socket
    mkfifo strange/end
    stranger strange/network.yml strange/end >strange/connected &
    attacker=$!
    exec {hold}>strange/end
    grep -q connected strange/connected || return
    awk '/open files/ { exit !($4 > 128) }' "/proc/$(pgrep -P "${jobs[0]}")/limits" || return
    timeout 100 "$saddle" peer run strange/4.yml >strange/4.out 2>strange/4.err </dev/null &
    jobs+=($!)
    for k in 0 1 2 3 4; do
        wait "${jobs[k]}"
        codes+=($?)
    done
    exec {hold}>&-
    wait "$attacker" && [[ ${codes[*]} == "0 0 0 0 0" ]]
}
check "a network" make_peers strange "data: $rows" "topology: er:0.6" "iterations: 60" "checkpoint-every: 10"
for k in 0 1 2 3 4; do echo "checkpoint: saved-$k" >>strange/$k.yml; done
check "strangers stop nobody" meet_strangers
check "strangers change nothing" same_models whole.npz strange
check "they leave files to write to" lacks grep "Too many open files" strange/0.err strange/2.err

# ---- check and status -------------------------------------------------------------------------

try peer status own/0.yml
check "no state" test $code -eq 1
check "no state: remedy" grep -q 'no agent runs with' err
check "none to run" make_peers alone "problem: quadratic" "topology: ring" "iterations: 100000000"
try peer check alone/1.yml --wait 1
check "nobody answers" test $code -eq 1
check "a neighbour that is dialled" grep -q "agent 0  *nothing answers at" out
check "a neighbour that dials" grep -q "agent 2  *it has not connected" out
for k in 0 1 2 3 4; do
    "$saddle" peer check alone/$k.yml --wait 40 >alone/$k.out 2>alone/$k.err </dev/null &
    jobs[k]=$!
done
for k in 0 1 2 3 4; do
    wait "${jobs[k]}"
    check "all answer agent $k" test $? -eq 0 -a "$(grep -c "good: answers" alone/$k.out)" -eq 2
done

# ---- an agent that dies -----------------------------------------------------------------------

check "for long" make_peers dies "problem: quadratic" "topology: ring" "iterations: 100000000"
sed -i 's/^patience: .*/patience: 4\nevery: 20/' dies/?.yml
for k in 0 1 2 3 4; do
    "$saddle" peer run dies/$k.yml >dies/$k.out 2>dies/$k.err </dev/null &
    dying[k]=$!
done
job=${dying[0]}
wait_for test -s dies/2.csv
wait_for grep -q "^20," dies/2.csv
try peer status dies/1.yml
check "a state" test $code -eq 0
check "a state has the iteration" grep -qE "run  *iteration [0-9]+ of 100000000 after .*own loss" out
check "a state has the neighbours" grep -qE "agent 2  *present" out
check "only its owner reads it" test "$(stat -c %a dies/1.yml.socket)" = 700
try peer run dies/1.yml
check "an agent runs once" grep -q "is running already" err
kill -KILL "${dying[2]}"
for k in 0 1 3 4; do
    wait "${dying[k]}"
    check "agent $k ends" test $? -eq 1
    check "agent $k says why" grep -qE "(nothing from agent [0-4] for 4 seconds, in round [0-9]+|agent [0134] ended: )" dies/$k.err
done
wait "${dying[2]}"
check "a neighbour names the dead agent" grep -q "nothing from agent 2" dies/1.err dies/3.err

# ---- Ctrl-C -----------------------------------------------------------------------------------

for k in 0 1 2 3 4; do
    rm -f dies/$k.csv
    "$saddle" peer run dies/$k.yml >dies/$k.out 2>dies/$k.err </dev/null &
    dying[k]=$!
done
job=${dying[0]}
wait_for test -s dies/1.csv
wait_for grep -q "^20," dies/1.csv
kill -TERM "${dying[1]}"
wait "${dying[1]}"
check "an interrupt ends an agent" test $? -eq 130
for k in 0 2 3 4; do
    wait "${dying[k]}"
    check "agent $k hears of it" grep -qE "agent [0-4] ended: could not read or write; its owner knows more" dies/$k.err
done
finish
