#!/usr/bin/env bash
#
# The tests of the Python package: test_python.sh PYTHON SOURCE, with PYTHONPATH and
# SADDLE_PROGRAM set.
set -euo pipefail
PYTHON=$1
SOURCE=$2

if ! "$PYTHON" -c 'import pytest' 2>/dev/null; then
    echo "skip: $PYTHON has no pytest"
    exit 77
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" # examples write files, and the package without declarations must not be in the way
# A job in the background ignores Ctrl-C, which tests send.
env --default-signal=INT "$PYTHON" -B -m pytest -q -p no:cacheprovider --import-mode=importlib \
    "$SOURCE/python/tests"
