#!/usr/bin/env bash
# Peers whose processes are killed and stopped, and whose connections are late and break: they end with the bits of one
# process. See peer_faults.py. Twelve scenarios; with SADDLE_TEST_LONG=1, 200.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
if [[ ! -f $(dirname "$saddle")/libsaddle-peer.so ]]; then
    skip "the module of peers was not built"
    finish
fi
has python3 || exit 77
/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 "$here/peer_faults.py" "$saddle"
