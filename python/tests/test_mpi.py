"""engine="mpi" under mpirun: the bits of one process."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import saddle

MPIRUN = os.environ.get("SADDLE_MPIRUN") or "mpirun"
CODE = """
import numpy as np, saddle, sys
X = np.random.default_rng(1).normal(size=(120, 5))
data = (X, np.sign(X[:, 0]))
options = {"agents": 6, "topology": "ring", "iterations": 20, "engine": "mpi", "model": "m.npz"}
r = saddle.run("auc", data, **options)
np.save(f"x-{r.x_agents.shape[0]}-{sys.argv[1] if len(sys.argv) > 1 else 0}.npy", r.x)
"""


def in_two_processes(directory):
    command = [MPIRUN, "-n", "2", sys.executable, "run.py"]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=directory, timeout=120, **output)


@pytest.mark.skipif(shutil.which(MPIRUN) is None, reason="there is no mpirun")
def test_mpi(tmp_path):
    (tmp_path / "run.py").write_text(CODE)
    done = in_two_processes(tmp_path)
    if "needs a module" in done.stdout:
        pytest.skip("this build has no MPI")
    assert done.returncode == 0, done.stdout
    X = np.random.default_rng(1).normal(size=(120, 5))
    alone = saddle.run("auc", data=(X, np.sign(X[:, 0])), agents=6, topology="ring", iterations=20)
    model = saddle.load(tmp_path / "m.npz")
    assert np.array_equal(model.x_agents, alone.x_agents)
    assert np.array_equal(np.load(tmp_path / "x-3-0.npy"), alone.x)


@pytest.mark.skipif(shutil.which(MPIRUN) is None, reason="there is no mpirun")
def test_errors_end_the_job(tmp_path):
    (tmp_path / "run.py").write_text(
        "import saddle\nsaddle.run('quadratic', engine='mpi', tau=1, topology='file:no')\n"
    )
    done = in_two_processes(tmp_path)
    assert done.returncode != 0 and "topology" in done.stdout
