#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by check
# The commands of docs/peers.md, by three owners on three hosts: network namespaces that are linked as the agents are, so
# that hosts 0 and 2 cannot reach each other. They end with the test. Then a run whose link breaks for a second.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
page=$here/../../docs/peers.md

[[ -f $(dirname "$saddle")/libsaddle-peer.so ]] || {
    skip "the module of peers was not built"
    finish
}
has ip unshare python3 || finish
/usr/bin/python3 -c "import numpy" 2>/dev/null || {
    skip "there is no NumPy"
    finish
}
# Once more, in namespaces of its own.
if [[ -z ${SADDLE_HOSTS-} ]]; then
    for with in --map-root-user --mount; do
        unshare --net --mount "$with" ip link set lo up 2>/dev/null || continue
        # shellcheck disable=SC2093  # the trap of this shell would not run
        SADDLE_HOSTS=yes unshare --net --mount "$with" bash "$here/test_peer_hosts.sh" "$saddle"
        exit
    done
    skip "network namespaces are not allowed here"
    finish
fi

# ---- hosts ------------------------------------------------------------------------------------

# end A B: the end of a link that is at host A.
end() {
    ip -n "host$1" addr add "10.77.0.$(($1 + 1))/32" dev "to$2" &&
        ip -n "host$1" link set "to$2" up && ip -n "host$1" route add "10.77.0.$(($2 + 1))" dev "to$2"
}
link() {
    ip link add "to$2" type veth peer name "to$1" && ip link set "to$2" netns "host$1" &&
        ip link set "to$1" netns "host$2" && end "$1" "$2" && end "$2" "$1"
}
make_hosts() {
    local k
    mount -t tmpfs none /run || return
    for k in 0 1 2; do
        ip netns add "host$k" && ip -n "host$k" link set lo up || return
    done
    link 0 1 && link 1 2
}
if ! make_hosts 2>err; then
    skip "hosts cannot be made here: $(head -1 err)"
    finish
fi

# `saddle` runs at the host of the agent that it is about, and notes its exit code.
mkdir bin
cat >bin/saddle <<WRAPPER
#!/usr/bin/env bash
host=()
[[ \$* =~ agent-([0-2])\\. ]] && host=(ip netns exec "host\${BASH_REMATCH[1]}")
"\${host[@]}" timeout 100 "$saddle" "\$@"
code=\$?
echo "\$code \$*" >>"$work/calls"
exit \$code
WRAPPER
chmod +x bin/saddle
export PATH=$work/bin:$PATH

# ---- the page ---------------------------------------------------------------------------------

# shellcheck disable=SC2016  # what the page writes
awk '/^```/ { show = $0 == "```sh"; next } show' "$page" |
    sed 's|ipc://$PWD/agent-$agent.socket|tcp://10.77.0.$((agent + 1)):7400|' >page.sh
check "addresses" is "$(grep -c 'tcp://10.77' page.sh)" 1
check "no other addresses" is "$(grep -c 'ipc://' page.sh)" 0
mkdir page
cd page || exit 1
bash -eu ../page.sh >../out 2>../err
code=$?
cd ..
check "the commands of the page" exits 0
for command in "peer keygen" "peer check" "peer run" "data generate" "data split" "eval"; do
    check "the page has $command" grep -q "^0 $command " calls
done
check "all of them succeed" is "$(grep -vc '^0 ' calls)" 0
check "owners reach each other" is "$(grep -c 'good: answers' out)" 4
same_models() {
    /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import sys
import numpy
whole = numpy.load(sys.argv[1])
for k in range(3):
    own = numpy.load(sys.argv[2] % k)
    for name in ("x", "y"):
        if own[name].shape[0] != 1 or own[name][0].tobytes() != whole[name][k].tobytes():
            sys.exit(f"agent {k}: another {name}")
PYTHON
}
options=(--problem auc --data page/part-%d.csv --agents 3 --topology path --gap never --quiet)
check "one process" "$saddle" run "${options[@]}" --iterations 100 --model whole.npz
check "the models are those of one process" same_models whole.npz page/model-%d.npz

# ---- commands that the page mentions ----------------------------------------------------------

check "init" saddle peer init new.yml >out
cd page || exit 1
saddle peer run agent-1.yml >../agent.out 2>../agent.err &
job=$!
running() { saddle peer status agent-1.yml >../out 2>../err; }
check "status" wait_for running
check "it waits for its neighbours" grep -q "agent 0  *has not been met yet" ../out
timeout 20 saddle peer check agent-0.yml >../out 2>../err
code=$?
check "one that waits answers a check" exits 0
kill -TERM "$(pgrep -f "$saddle peer run agent-1.yml" | tail -1)"
wait "$job"
job=
cd ..

# ---- a link that breaks -----------------------------------------------------------------------

sed -i 's/^iterations: .*/iterations: 4000/' page/network.yml
for k in 0 1 2; do
    printf 'every: 10\ntrace: trace-%d.csv\npatience: 40\n' $k >>page/agent-$k.yml
    saddle peer run page/agent-$k.yml >$k.out 2>$k.err </dev/null &
    jobs[k]=$!
done
begun() { grep -q "^20," page/trace-1.csv; }
check "a run begins" wait_for begun
check "a link breaks" ip -n host1 link set to2 down
rows=$(wc -l <page/trace-1.csv)
sleep 1
check "the run waits" test "$(wc -l <page/trace-1.csv)" -lt 400
check "the link is back" ip -n host1 link set to2 up
ip -n host1 route add 10.77.0.3 dev to2
for k in 0 1 2; do
    wait "${jobs[k]}"
    code=$?
    check "agent $k has ended" exits 0
done
check "it goes on after the link is back" test "$(wc -l <page/trace-1.csv)" -gt "$rows"
check "one process, longer" "$saddle" run "${options[@]}" --iterations 4000 --model whole.npz
check "nothing is lost" same_models whole.npz page/model-%d.npz
finish
