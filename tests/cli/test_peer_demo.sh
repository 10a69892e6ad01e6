#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by wait_for and check
# `saddle peer demo`: it ends, compares the models, says which agent fails, and leaves no process behind.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

refuse "--agents: a demo has 3 to 20 agents, not 21" peer demo --agents 21
mkdir mine
echo "agent-0: none" >mine/network.yml
refuse "'mine' has files that no demo made" peer demo --output mine
check "they are kept" is "$(cat mine/network.yml)" "agent-0: none"
refuse "cannot create" peer demo --output none/demo
if [[ ! -f $(dirname "$saddle")/libsaddle-peer.so ]]; then
    skip "the module of peers was not built"
    finish
fi

# Another process may take a port between the demo's choice and its use.
demo() {
    for _ in 1 2 3; do
        try peer demo "$@"
        grep -q "Address already in use" err || return
    done
}
demo --agents 4 --output demo
check "a demo" exits 0
check "an agent is killed" says "agent 2 is killed, and started again with --resume auto"
check "its models" says "the models of all 4 agents are those of one process, although"
check "its rows" is "$(grep -cE '^ +[0-9]+ +[0-9.]+ +-?0\.[0-9]+ +[0-9.e+-]+$' out)" 11
check "its report" grep -q "</html>" demo/report.html
check "its warnings are in logs" silent
check "secret keys are their owners'" is "$(stat -c %a demo/agent-3.key)" 600

# The directory of a demo is used again.
demo --agents 3 --output demo
check "a demo once more" exits 0
check "with another number of agents" says "the models of all 3 agents"

# The agent that cannot run is named, not those that end because of it.
rm demo/agent-1.csv
mkdir demo/agent-1.csv
demo --agents 5 --output demo
check "an agent fails" exits 1
check "one line" one_line
check "which one, and why" warns "agent 1 has failed: trace: 'demo/agent-1.csv' is a directory"
rmdir demo/agent-1.csv

# A signal ends all processes, even one that is stopped.
processes() { pgrep -P "$job" -f "peer run" >pids; }
"$saddle" peer demo --output stopped >out 2>err </dev/null &
job=$!
wait_for processes
kill -STOP "$(head -1 pids)" 2>/dev/null
kill -TERM "$job"
wait "$job"
code=$?
check "a signal" exits 130
check "is reported" one_line
gone() {
    local pid
    while read -r pid; do ! kill -0 "$pid" 2>/dev/null || return 1; done <pids
}
check "all processes have ended" gone

# So do they when the demo is killed.
"$saddle" peer demo --output killed >out 2>err </dev/null &
job=$!
wait_for processes
kill -KILL "$job"
wait "$job" 2>/dev/null
job=
check "none outlives it" wait_for gone
finish
