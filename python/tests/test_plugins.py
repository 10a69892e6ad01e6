"""Plug-ins of examples/, whose own options are keywords like any other."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import saddle

SOURCE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """Compiles an example and returns its path."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("plugins")

    def build(name):
        path = folder / f"lib{name}.so"
        source = SOURCE / "examples" / f"{name}.c"
        flags = ["-shared", "-fPIC", f"-I{SOURCE / 'include'}", "-o", str(path)]
        if not path.exists():
            subprocess.run([compiler, *flags, str(source)], check=True)
        return str(path)

    return build


def test_own_options_are_keywords(plugin):
    momentum = plugin("hybrid_momentum")
    r = saddle.run("quadratic", algorithm=momentum, beta=0.3, iterations=5)
    assert r.settings["beta"] == 0.3
    same = saddle.run("quadratic", algorithm=f"{momentum}:beta=0.3", iterations=5)
    assert same.settings["beta"] == 0.3 and (same.x == r.x).all()
    assert (saddle.run("quadratic", algorithm=momentum, iterations=5).x != r.x).any()
    bounded = saddle.run("quadratic", x_set=plugin("own_set"), b=2, iterations=5)
    assert bounded.settings["x_set"].endswith(":b=2")


def test_own_options_of_one_of_several_runs(plugin):
    momentum = plugin("hybrid_momentum")
    instance = saddle.Instance("quadratic", x_set=plugin("own_set"))
    assert instance.run(momentum, beta=0.2, iterations=3).settings["beta"] == 0.2
    with pytest.raises(TypeError, match="b belongs to the instance"):
        instance.run(b=3)
    c = saddle.compare("quadratic", algorithms=["gt-gda", momentum], beta=0.3, iterations=5)
    assert c[momentum][0].settings["beta"] == 0.3
    t = saddle.tune("quadratic", algorithm=momentum, search={"beta": [0.2, 0.4]}, budget=100000)
    assert set(t.trials["beta"]) == {0.1, 0.2, 0.4}
    assert t.run(iterations=3).settings["beta"] == t.best["beta"]


def test_mistakes_are_named(plugin):
    momentum = plugin("hybrid_momentum")
    with pytest.raises(TypeError, match="'betta'; did you mean 'beta'"):
        saddle.run("quadratic", algorithm=momentum, betta=0.3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'beta'"):
        saddle.compare("quadratic", algorithms=["gt-gda"], beta=0.3)
    with pytest.raises(ValueError, match="^beta: '5' is out of range"):
        saddle.run("quadratic", algorithm=momentum, beta=5)
    with pytest.raises(ValueError, match="cannot read the plug-in './none.so'"):
        saddle.run("quadratic", algorithm="./none.so", beta=0.3)


def test_a_resumed_run_has_the_values_of_its_checkpoint(plugin, tmp_path):
    momentum = plugin("hybrid_momentum")
    folder = str(tmp_path / "kept")
    saddle.run("quadratic", algorithm=momentum, beta=0.3, iterations=5, checkpoint=folder)
    r = saddle.run(resume=folder, algorithm=momentum, iterations=8)
    assert r.settings["beta"] == 0.3
