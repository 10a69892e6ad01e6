#!/usr/bin/env bash
# Peers with a deadline whose processes are stopped, and whose connections are late and break: they reach the optimum.
# See peer_losses.py. Nine scenarios; with SADDLE_TEST_LONG=1, 200.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
if [[ ! -f $(dirname "$saddle")/libsaddle-peer.so ]]; then
    skip "the module of peers was not built"
    finish
fi
has python3 || exit 77
/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
preload clock
SADDLE_CLOCK=$work/clock.so /usr/bin/python3 "$here/peer_losses.py" "$saddle"
