#!/usr/bin/env bash
# Power failures at random moments of runs with checkpoints: whatever unsynced data the disk has lost, a run resumes
# from the last complete checkpoint to the same bits. See powercut.py.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77
preload disk
TMPDIR=$work python3 "$here/powercut.py" "$saddle" "$work/disk.so"
