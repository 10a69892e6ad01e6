"""saddle.peer: agents of a path of three, each in a thread, have the bits of one run."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import saddle

AGENTS = 3


def network(at, *lines):
    """Writes keys, a network file and the agents' files, with sockets in the directory."""
    keys = [saddle.peer.keygen(at / f"{k}.key") for k in range(AGENTS)]
    agents = [f"agent-{k}: ipc://{at}/{k}.socket {key}" for k, key in enumerate(keys)]
    text = [*agents, "edges: [0-1, 1-2]", "iterations: 40", *lines]
    (at / "network.yml").write_text("\n".join(text) + "\n")
    for k in range(AGENTS):
        (at / f"{k}.yml").write_text(
            f"network: network.yml\nagent: {k}\nkey: {k}.key\npatience: 40\nevery: 10\n"
        )


def run_all(at, each=None, name="data", **options):
    """Runs all agents; `each` has an argument for every agent. Raises what one of them does."""
    results, failures = [None] * AGENTS, []

    def one(k):
        try:
            own = {name: each[k]} if each is not None else {}
            results[k] = saddle.peer.run(at / f"{k}.yml", **own, **options)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=one, args=(k,)) for k in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


@pytest.fixture(autouse=True)
def needs_module(tmp_path):
    network(tmp_path)
    (tmp_path / "0.yml").write_text("network: network.yml\nagent: 0\nkey: 0.key\npatience: 1\n")
    with pytest.raises(saddle.Error) as alone:
        saddle.peer.run(tmp_path / "0.yml")
    if "needs a module that is not installed" in str(alone.value):
        pytest.skip("the module of peers was not built")
    assert "nothing from agent 1 for 1 seconds, before the run" in str(alone.value)


def parts(rows):
    X, y = rows
    return [(X[k::AGENTS], y[k::AGENTS]) for k in range(AGENTS)]


def same(results, whole):
    for k, own in enumerate(results):
        assert own.x.tobytes() == whole.x_agents[k].tobytes(), k
        assert own.y.tobytes() == whole.y_agents[k].tobytes(), k
        assert own.x_agents.shape == (1, len(whole.x)) and own.iteration == whole.iteration


def test_arrays(tmp_path, rows):
    network(tmp_path, "problem: auc", "data: own")
    seen = []
    results = run_all(tmp_path, parts(rows), callback=lambda row: seen.append(row))
    whole = saddle.run("auc", parts(rows), topology="path", iterations=40, gap="never")
    same(results, whole)
    assert np.array_equal(results[1].predict(rows[0]), results[1].predict(rows[0][:, :]))
    assert sorted({row["iteration"] for row in seen}) == [0, 10, 20, 30, 40]
    assert len(seen) == 5 * AGENTS and all(np.isfinite(row["loss"]) for row in seen)
    assert not list(tmp_path.glob("*.np[yz]"))


def test_sparse_rows(tmp_path, rows):
    sparse = pytest.importorskip("scipy.sparse")
    network(tmp_path, "problem: auc", "data: own")
    given = [(sparse.csr_matrix(np.where(X > 0.5, X, 0.0)), y) for X, y in parts(rows)]
    whole = saddle.run("auc", given, topology="path", iterations=40, gap="never")
    same(run_all(tmp_path, given), whole)


def test_frames(tmp_path, rows):
    """Texts become the same features at all owners, although none has all of them."""
    pandas = pytest.importorskip("pandas")
    network(tmp_path, "problem: auc", "data: own")
    given = []
    for k, (X, y) in enumerate(parts(rows)):
        frame = pandas.DataFrame({"size": X[:, 0], "paid": np.where(y > 0, "yes", "no")})
        frame["colour"] = np.array(["red", "green", "blue"])[: 2 + (k > 0)][
            np.arange(len(X)) % (2 + (k > 0))
        ]
        given.append(frame)
    whole = saddle.run(
        "auc", given, topology="path", iterations=40, gap="never", label_column="paid"
    )
    results = run_all(tmp_path, given, label_column="paid")
    same(results, whole)
    assert results[0].feature_names == whole.feature_names


def test_files(tmp_path, rows):
    network(tmp_path, "problem: auc", "data: own")
    paths = [tmp_path / f"part-{k}.npz" for k in range(AGENTS)]
    for path, (X, y) in zip(paths, parts(rows)):
        np.savez(path, X=X, y=y)
    for k in range(AGENTS):
        with open(tmp_path / f"{k}.yml", "a") as file:
            file.write(f"data: part-{k}.npz\nmodel: model-{k}.npz\n")
    whole = saddle.run("auc", parts(rows), topology="path", iterations=40, gap="never")
    same(run_all(tmp_path), whole)
    assert saddle.load(tmp_path / "model-2.npz").x.tobytes() == whole.x_agents[2].tobytes()
    same(run_all(tmp_path, paths), whole)


class Means(saddle.Problem):
    """1/2 |x - a|^2 + x'y - |y|^2, where a is the mean of an agent's samples."""

    x_dim = y_dim = 2
    samples = [4, 5, 6]
    tau, alpha = 5.0, 0.5
    lipschitz, strong_concavity = 3.0, 2.0

    def __init__(self, agent):
        self.agent = agent
        self.a = np.arange(2.0 * sum(self.samples)).reshape(-1, 2)

    def own(self, agent):
        assert self.agent in (None, agent)  # the rows of others are not needed
        first = sum(self.samples[:agent])
        return self.a[first : first + self.samples[agent]]

    def gradient(self, agent, rows, x, y):
        return x - self.own(agent)[rows].mean(axis=0) + y, x - 2 * y

    def value(self, agent, x, y):
        return 0.5 * np.mean((x - self.own(agent)) ** 2) * 2 + x @ y - y @ y


def test_own_problem(tmp_path):
    network(tmp_path, "algorithm: precision")
    results = run_all(tmp_path, [Means(k) for k in range(AGENTS)], "problem")
    whole = saddle.run(
        Means(None), algorithm="precision", topology="path", iterations=40, gap="never"
    )
    same(results, whole)


def test_refusals(tmp_path, rows):
    network(tmp_path, "problem: auc", "data: own")
    file = tmp_path / "1.yml"
    with pytest.raises(saddle.InputError, match="each agent has its own; add the line data: FILE"):
        saddle.peer.run(file)
    with pytest.raises(saddle.InputError, match=r"network.yml:6:10: problem: this agent has a pr"):
        saddle.peer.run(file, problem=Means(1))
    with pytest.raises(TypeError, match="y has texts"):
        saddle.peer.run(file, (rows[0], np.where(rows[1] > 0, "yes", "no")))
    unknown = Means(1)
    unknown.lipschitz = None
    with pytest.raises(TypeError, match="cannot be estimated without the samples of others"):
        saddle.peer.run(file, problem=unknown)
    with pytest.raises(TypeError, match="name it in the network file"):
        saddle.peer.run(file, problem="auc")
    with pytest.raises(saddle.InputError, match="nobody.yml"):
        saddle.peer.run(tmp_path / "nobody.yml")


def test_an_exception_ends_the_run(tmp_path, rows):
    network(tmp_path, "problem: auc", "data: own")

    def stop(row):
        if row["iteration"] == 20:
            raise RuntimeError("enough")

    with pytest.raises((RuntimeError, saddle.Error), match="enough|ended"):
        run_all(tmp_path, parts(rows), callback=stop)


def test_keygen(tmp_path):
    path = tmp_path / "0.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert saddle.peer.keygen(path) == saddle.peer.keygen(path)
    assert len(saddle.peer.keygen(path)) == 64


def waiting_agent(directory):
    """Writes an agent whose neighbours never come."""
    network(directory, "problem: quadratic")
    file = directory / "0.yml"
    file.write_text(file.read_text().replace("patience: 40", "patience: 1000"))
    return file


def test_ctrl_c(tmp_path):
    """A run that waits for its neighbours ends at once."""
    file = waiting_agent(tmp_path)
    code = (
        "import sys, saddle\n"
        "print('begins', flush=True)\n"
        "saddle.peer.run(sys.argv[1], callback=print)\n"
    )
    command = [sys.executable, "-c", code, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == "begins\n"
            p.send_signal(signal.SIGINT)
            _, error = p.communicate(timeout=100)
        finally:
            p.kill()
    assert "KeyboardInterrupt" in error and "nothing from agent" not in error


def test_ctrl_c_before_the_wait(tmp_path):
    """An interrupt ends a run although it does not wake the thread that waits."""
    file = waiting_agent(tmp_path)
    code = (
        "import _thread, sys, threading, saddle\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "saddle.peer.run(sys.argv[1])\n"
    )
    command = [sys.executable, "-c", code, str(file)]
    error = subprocess.run(command, capture_output=True, text=True, timeout=100).stderr
    assert "KeyboardInterrupt" in error and "nothing from agent" not in error
