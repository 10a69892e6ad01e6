"""Types and doctests of the package."""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import saddle

MODULES = sorted(path.stem for path in Path(saddle.__path__[0]).glob("*.py"))

CONFIG = Path(__file__).resolve().parents[1] / "pyproject.toml"
MYPY = [sys.executable, "-m", "mypy", "--cache-dir=/dev/null", f"--config-file={CONFIG}"]
if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
    MYPY.append("--python-version=3.10")  # the oldest that its types are for


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    try:
        module = importlib.import_module(f"saddle.{name}")
    except ImportError as missing:
        pytest.skip(f"{missing}")
    assert doctest.testmod(module).failed == 0


def test_types():
    pytest.importorskip("mypy")
    command = [*MYPY, *saddle.__path__]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_public_names_have_docstrings():
    for name in saddle.__all__:
        assert getattr(saddle, name).__doc__, name


def test_types_of_calls(tmp_path):
    """A type checker accepts right calls, and finds wrong types in options of all kinds."""
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(
        "from typing import Any\n"
        "import saddle\n"
        "import saddle.torch\n"
        "made = saddle.torch.problem, saddle.sklearn.AUCClassifier()\n"
        "r = saddle.run('auc', 'a9a', agents=4, max_ifo=1e6, nu=0.1, tau='auto', missing='drop',\n"
        "               pin=True, samples=[3, 4], callback=lambda row: row['metric'] < 1, gain=2)\n"
        "x: float = r.x[0] + r.gap + r.trace.metric[-1]\n"
        "class Mine(saddle.Algorithm):\n"
        "    options = ('tau',)\n"
        "    def step(self, agent: saddle.Agent) -> tuple[Any, ...]:\n"
        "        return agent.now.x - agent.now.x / self.tau, agent.now.y\n"
        "c = saddle.compare(algorithms=['gda'], repeats=3, fairness=2, churn=[(1, 'leave', 2)])\n"
        "best: float = saddle.tune(budget=10**6, search={'batch': [1, 2]}).best['nu']\n"
        "saddle.Instance('fair', sensitive='sex', feature_names=['sex']).run('gda', iterations=3)\n"
        "saddle.run('fair', feature_index=3)\n"
        "help: str = saddle.options('precision+')['nu'].help\n"
    )
    wrong = ["nu='fast'", "missing='dorp'", "pin='perhaps'", "iterations=[3]", "callback=3"]
    lines = [f"saddle.run('auc', {argument})\n" for argument in wrong]
    (tmp_path / "wrong.py").write_text("import saddle\n" + "".join(lines))
    environment = {**os.environ, "MYPYPATH": str(Path(saddle.__path__[0]).parent)}
    command = [*MYPY, "--follow-imports=silent", "right.py", "wrong.py"]
    found = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    ).stdout
    at = [line.split(":")[:2] for line in found.splitlines() if " error: " in line]
    assert at == [["wrong.py", str(line)] for line in range(2, 7)], found


def test_the_stub_has_what_the_package_has():
    stub = Path(saddle.__path__[0], "__init__.pyi").read_text()
    for name in saddle.__all__:
        assert f" as {name}\n" in stub or f"def {name}(" in stub or f"class {name}(" in stub, name
    for option in saddle.options().values():
        assert f"    {option.keyword}: " in stub, option.name


def test_lists():
    algorithms = saddle.algorithms()
    assert algorithms["sreda"]["decentralized"] is False and "precision+" in algorithms
    assert "<td" in algorithms._repr_html_() and repr(algorithms).startswith("name ")
    for table in (saddle.problems(), saddle.topologies(), saddle.sets(), saddle.regularizers(),
                  saddle.mixings(), algorithms, saddle.options()):  # fmt: skip
        assert len(table) > 3 and len(repr(table).splitlines()) == len(table) + 1
        assert table._repr_html_().count("<tr>") == len(table) + 1
    own = saddle.options("fair")
    assert set(own) < set(saddle.options()) and "fairness" in own and "nu" not in own
    assert "nu" in saddle.options("precision") and "fairness" not in saddle.options("precision")
    with pytest.raises(ValueError, match="'fare' is neither an algorithm nor a problem"):
        saddle.options("fare")
