#!/usr/bin/env bash
# Power failures at random moments of runs with checkpoints: whatever unsynced data the disk has lost, a run resumes
# from the last complete checkpoint to the same bits. See powercut.py.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77
preload disk
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
TMPDIR=$work python3 "$here/powercut.py" "$saddle" "$work/disk.so"
