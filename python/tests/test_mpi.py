"""engine="mpi" under mpirun: the bits of one process."""

import numpy as np

import saddle

CODE = """
import numpy as np, saddle, sys
X = np.random.default_rng(1).normal(size=(120, 5))
data = (X, np.sign(X[:, 0]))
options = {"agents": 6, "topology": "ring", "iterations": 20, "engine": "mpi", "model": "m.npz"}
r = saddle.run("auc", data, **options)
np.save(f"x-{r.x_agents.shape[0]}-{sys.argv[1] if len(sys.argv) > 1 else 0}.npy", r.x)
"""


def test_mpi(tmp_path, in_two_processes):
    (tmp_path / "run.py").write_text(CODE)
    done = in_two_processes(tmp_path)
    assert done.returncode == 0, done.stdout
    X = np.random.default_rng(1).normal(size=(120, 5))
    alone = saddle.run("auc", data=(X, np.sign(X[:, 0])), agents=6, topology="ring", iterations=20)
    model = saddle.load(tmp_path / "m.npz")
    assert np.array_equal(model.x_agents, alone.x_agents)
    assert np.array_equal(np.load(tmp_path / "x-3-0.npy"), alone.x)


def test_errors_end_the_job(tmp_path, in_two_processes):
    (tmp_path / "run.py").write_text(
        "import saddle\nsaddle.run('quadratic', engine='mpi', tau=1, topology='file:no')\n"
    )
    done = in_two_processes(tmp_path)
    assert done.returncode != 0 and "topology" in done.stdout
