#!/usr/bin/env bash
#
# The tests of the Python package: test_python.sh PYTHON SOURCE, with PYTHONPATH and SADDLE_PROGRAM set.
set -euo pipefail
PYTHON=$1
SOURCE=$2

if ! "$PYTHON" -c 'import pytest' 2>/dev/null; then
    echo "skip: $PYTHON has no pytest"
    exit 77
fi
cd "$SOURCE/python/tests" # where no saddle/ without declarations is in the way
exec "$PYTHON" -B -m pytest -q -p no:cacheprovider --import-mode=importlib \
    . --doctest-glob=python.md "$SOURCE/docs"
