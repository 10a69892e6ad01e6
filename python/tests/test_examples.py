"""The examples run, and their own assertions hold."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    command = [sys.executable, "-B", "-W", "error", str(path)]
    done = subprocess.run(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout and not list(tmp_path.iterdir())


def test_there_are_examples():
    names = {path.stem for path in EXAMPLES}
    assert {"prox_dsgda", "robust_classification", "new_algorithm", "four_sites"} <= names
