"""Types and doctests of the package."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import saddle

MODULES = sorted(path.stem for path in Path(saddle.__path__[0]).glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    try:
        module = importlib.import_module(f"saddle.{name}")
    except ImportError as missing:
        pytest.skip(f"{missing}")
    assert doctest.testmod(module).failed == 0


def test_types():
    pytest.importorskip("mypy")
    config = Path(__file__).resolve().parents[1] / "pyproject.toml"
    options = ["--cache-dir=/dev/null", "--config-file", str(config)]
    command = [sys.executable, "-m", "mypy", *options, *saddle.__path__]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_public_names_have_docstrings():
    for name in saddle.__all__:
        assert getattr(saddle, name).__doc__, name
