"""Algorithms of your own: conformance with the built-in ones, checks, exceptions, options."""

import gc
import pickle
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import saddle

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from prox_dsgda import ProxDSGDA  # noqa: E402

SMALL = {"agents": 5, "topology": "ring", "iterations": 60, "seed": 3, "trace_every": 20}


class Descent(saddle.Algorithm):
    """Full local gradients from averaged iterates."""

    options = ("eta_x", "eta_y")
    eta_x, eta_y = 0.01, 0.1

    def step(self, agent):
        gx, gy = agent.gradient(agent.now.x, agent.now.y)
        x = agent.prox_x(agent.mix("x") - self.eta_x * gx, self.eta_x)
        return x, agent.project_y(agent.mix("y") + self.eta_y * gy)


class Tracking(saddle.Algorithm):
    """Prox-GT-SGDA."""

    fields = {"x": "x", "y": "y", "d": "y", "p": "x"}
    kept = {"v": "x", "u": "y"}
    tracks = {"p": "v", "d": "u"}
    options = ("nu", "eta", "tau", "alpha", "batch", "sampling")
    traits = {"stochastic": True}
    leak = 0.0

    def start(self, agent, x0, y0):
        v, u = agent.gradient(x0, y0, agent.draw())
        agent.kept.v, agent.kept.u = v, u
        return x0, y0, u, v

    def step(self, agent):
        now, kept = agent.now, agent.kept
        x_tilde = agent.prox_x(now.x - now.p / self.tau, 1 / self.tau)
        y_tilde = agent.project_y(now.y + self.alpha * now.d)
        x = agent.mix("x") + self.nu * (x_tilde - now.x)
        y = agent.mix("y") + self.eta * (y_tilde - now.y)
        v, u = agent.gradient(x, y, agent.draw())
        p = agent.mix("p") + (v - kept.v) + self.leak
        d = agent.mix("d") + (u - kept.u)
        kept.v, kept.u = v, u
        return x, y, d, p


def same(mine, its, columns=()):
    for name in ("x_agents", "y_agents"):
        assert np.array_equal(getattr(mine, name), getattr(its, name)), name
    for name in ("iteration", "ifo", "rounds", "messages", "bytes", *columns):
        assert np.array_equal(mine.trace[name], its.trace[name], equal_nan=True), name


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"x_set": "l2-ball:1", "regularizer": "l1:0.01"},
        {"sampling": "with-replacement", "batch": 7},
        {"batch": 80},
        {"x_set": "box:-0.1:0.2", "nu": 0.3, "tau": 3, "alpha": 0.2},
    ],
)
@pytest.mark.parametrize("problem", ["robust-logistic", "auc"])
@pytest.mark.parametrize("pair", [("prox-dsgda", ProxDSGDA), ("prox-gt-sgda", Tracking)])
def test_same_bits_as_the_built_in(rows, problem, pair, more):
    its = saddle.run(problem, rows, algorithm=pair[0], **SMALL, **more)
    mine = saddle.run(problem, rows, algorithm=pair[1](), **SMALL, **more)
    same(mine, its, ("metric", "loss", "x_consensus", "y_gap"))
    for name in ("nu", "eta", "tau", "alpha", "batch"):
        assert mine.settings[name] == its.settings[name]
    assert len(its.trace.metric) == 4


def test_examples_are_short():
    text = (Path(__file__).resolve().parents[1] / "examples/prox_dsgda.py").read_text()
    body = text[text.index("class ProxDSGDA") : text.index("def main")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 25


def test_compare(rows):
    algorithms = ["prox-dsgda", ProxDSGDA(), Descent(), Descent(eta_x=0.1)]
    c = saddle.compare("robust-logistic", rows, algorithms=algorithms, **SMALL)
    assert list(c) == ["prox-dsgda", "proxdsgda", "descent", "descent-eta_x=0.1"]
    same(c["proxdsgda"][0], c["prox-dsgda"][0])
    assert not np.array_equal(c["descent"][0].x, c["descent-eta_x=0.1"][0].x)
    assert c["descent"][0].name == "descent" and not c.refused


def test_a_broken_tracker_is_found(rows):
    with pytest.raises(saddle.Error, match="tracking is broken") as caught:
        saddle.run("auc", rows, algorithm=Tracking(leak=1e-6), **SMALL)
    assert caught.value.status == "check_failed"


def test_options():
    def eta_x(algorithm, **options):
        run = saddle.run("quadratic", algorithm=algorithm, iterations=1, **options)
        return float(run.settings["eta_x"])

    assert eta_x(Descent()) == 0.01
    assert eta_x(Descent(eta_x=0.03)) == 0.03
    assert eta_x(Descent(eta_x=0.03), eta_x=0.5) == 0.5
    mine = Descent()
    eta_x(mine, eta_x=0.5)
    assert mine.eta_x == 0.01  # the run had a copy
    tau = saddle.run("quadratic", algorithm=ProxDSGDA(), iterations=1).settings["tau"]
    assert tau == saddle.run("quadratic", algorithm="precision", iterations=1).settings["tau"]
    with pytest.raises(TypeError, match="Descent.* has no parameter 'eta'"):
        Descent(eta=0.1)

    class Unknown(Descent):
        options = ("topology",)

    with pytest.raises(ValueError, match="algorithms can read the options nu, .*not 'topology'"):
        saddle.run("quadratic", algorithm=Unknown())


def test_declarations_are_checked():
    def refused(message, **attributes):
        with pytest.raises(ValueError, match=message):
            saddle.run("quadratic", algorithm=type("Odd", (Descent,), attributes)())

    refused("the length of z is 'z'", fields={"x": "x", "y": "y", "z": "z"})
    refused("the length of z is 0", kept={"z": 0})
    refused("x is both in fields and in kept", kept={"x": "x"})
    refused("must have 'y': 'y'", fields={"x": "x"})
    refused("tracks: x must be a field, and v kept", tracks={"x": "v"})
    with pytest.raises(saddle.InputError, match="x_set|constraint|X"):
        limited = type("Limited", (Descent,), {"traits": {"x_set": False}})()
        saddle.run("quadratic", algorithm=limited, x_set="l2-ball:1")


def test_what_an_agent_sees():
    seen = {}

    class Curious(saddle.Algorithm):
        kept = {"calls": 1}
        rounds = 2

        def start(self, agent, x0, y0):
            seen["start"] = seen.get("start", 0) + 1
            assert agent.kept.calls[0] == 0 and not x0.flags.writeable
            return x0 + agent.id, y0

        def step(self, agent):
            now = agent.now
            total = agent.self_weight * now.x
            for weight, other in agent.neighbours:
                total = total + weight * other.x
            assert np.array_equal(total, agent.mix("x"))
            assert np.isclose(agent.self_weight + sum(w for w, _ in agent.neighbours), 1)
            agent.kept.calls += 1
            assert agent.kept.calls[0] == 2 * agent.iteration + agent.round + 1
            assert agent.agents == 5 and len(agent.neighbours) == 2
            with pytest.raises(ValueError, match="read-only"):
                now.x[0] = 1
            with pytest.raises(AttributeError, match="no 'z'; it has x, y"):
                now.z
            with pytest.raises(ValueError, match=r"calls has the shape \(2,\)"):
                agent.kept.calls = [1, 2]
            with pytest.raises(IndexError, match="samples 0 to"):
                agent.gradient(now.x, now.y, [agent.samples])
            with pytest.raises(ValueError, match="sample numbers"):
                agent.gradient(now.x, now.y, [])
            with pytest.raises(ValueError, match="x has the shape"):
                agent.gradient(now.x[1:], now.y)
            if agent.iteration == 0 and agent.round == 0:
                self.compare_gradients(agent)
            return agent.mix("x"), now.y

        def compare_gradients(self, agent):
            now = agent.now
            whole = agent.gradient(now.x, now.y)
            parts = [agent.gradient(now.x, now.y, [k]) for k in range(agent.samples)]
            assert np.allclose(whole[0], np.mean([gx for gx, _ in parts], axis=0))
            assert np.allclose(whole[1], np.mean([gy for _, gy in parts], axis=0))
            batch = agent.draw(3)
            assert len(set(batch)) == 3
            assert np.array_equal(batch, agent.draw(3))
            other = agent.difference(now.x + 1, now.y, now.x, now.y, batch)
            two = [agent.gradient(now.x + by, now.y, batch) for by in (1, 0)]
            assert np.allclose(other[0], two[0][0] - two[1][0])
            seen["ifo"] = 2 * agent.samples + 12
            seen[agent.id] = agent.rng.random()
            assert agent.rng.random() != seen[agent.id]

    r = saddle.run("quadratic", algorithm=Curious(), **{**SMALL, "iterations": 3, "trace_every": 1})
    assert seen["start"] == 5 and r.trace.rounds.tolist() == [0, 2, 4, 6]
    assert r.trace.ifo.tolist() == [0] + 3 * [5 * seen["ifo"]]
    drawn = [seen[agent] for agent in range(5)]
    assert len(set(drawn)) == 5
    saddle.run("quadratic", algorithm=Curious(), **{**SMALL, "iterations": 1})
    assert drawn == [seen[agent] for agent in range(5)]


@pytest.mark.parametrize("where", ["start", "step", "copy"])
def test_exceptions_come_out(where):
    class Own(Exception):
        pass

    class Broken(Descent):
        def start(self, agent, x0, y0):
            if where == "start":
                raise Own("start")
            return x0, y0

        def step(self, agent):
            if where == "step" and agent.iteration == 3 and agent.id == 2:
                raise Own("step")
            return super().step(agent)

        def __copy__(self):
            if where == "copy":
                raise Own("copy")
            made = type(self).__new__(type(self))
            made.__dict__.update(self.__dict__)
            return made

    instance = saddle.Instance("quadratic", agents=5)
    for run in (instance.run, lambda algorithm: saddle.run("quadratic", algorithm=algorithm)):
        with pytest.raises(Own, match=where):
            run(Broken())
    assert instance.run("precision", iterations=2).stop == "iterations"
    assert instance.run(Descent(), iterations=2).name == "descent"
    assert instance.run("precision", iterations=2).name == "precision"


def test_wrong_states_are_refused():
    def refused(kind, message, returned):
        class Wrong(Descent):
            def step(self, agent):
                return returned(agent.now)

        with pytest.raises(kind, match=message):
            saddle.run("quadratic", algorithm=Wrong(), agents=3)

    refused(TypeError, "must return the fields x, y, as a tuple of 2", lambda now: now.x)
    refused(TypeError, "must return the fields", lambda now: None)
    refused(TypeError, "must return the fields", lambda now: (now.x,))
    refused(ValueError, r"y has the shape \(1,\)", lambda now: (now.x, [0.0]))


def test_divergence_is_found():
    class Wild(Descent):
        def step(self, agent):
            x, y = super().step(agent)
            if agent.iteration == 4 and agent.id == 1:
                y = y.copy()
                y[2] = np.nan
            return x, y

    r = saddle.run("quadratic", algorithm=Wild(), agents=3)
    assert r.stop == "diverged" and "y[2] of agent 1" in r.message and "iteration 5" in r.message


def test_ctrl_c_leaves_a_valid_result(rows):
    class Interrupted(Tracking):
        pressed = False

        def step(self, agent):
            out = super().step(agent)
            if agent.iteration == 10 and agent.id == 3 and not Interrupted.pressed:
                Interrupted.pressed = True
                raise KeyboardInterrupt
            return out

    with pytest.raises(KeyboardInterrupt) as caught:
        saddle.run("auc", rows, algorithm=Interrupted(), **SMALL)
    result = caught.value.result
    assert result.stop == "interrupted" and result.iteration >= 11
    until = saddle.run(
        "auc", rows, algorithm="prox-gt-sgda", **{**SMALL, "iterations": result.iteration}
    )
    assert np.array_equal(result.x_agents, until.x_agents)
    assert result.trace.ifo[-1] == until.trace.ifo[-1]


def test_checkpoints(rows, tmp_path):
    options = {**SMALL, "checkpoint": tmp_path / "c", "checkpoint_every": 10}
    complete = saddle.run("auc", rows, algorithm=Tracking(), **SMALL)
    saddle.run("auc", rows, algorithm=Tracking(), **{**options, "iterations": 30})
    resumed = saddle.run("auc", rows, algorithm=Tracking(), resume=tmp_path / "c", **SMALL)
    assert np.array_equal(resumed.x_agents, complete.x_agents)


def test_threads(rows):
    expected = saddle.run("auc", rows, algorithm=Tracking(), **SMALL)
    same(saddle.run("auc", rows, algorithm=Tracking(), threads=2, **SMALL), expected)
    instance = saddle.Instance("auc", rows, agents=5, topology="ring", seed=3)
    mine, results = Tracking(), {}

    def work(k):
        results[k] = instance.run(mine, iterations=60)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(3):
        assert np.array_equal(results[k].x_agents, expected.x_agents)


def test_a_problem_and_an_algorithm_in_python(rows):
    class Squares(saddle.Problem):
        x_dim, y_dim, samples = 2, 3, [4, 5]

        def gradient(self, agent, rows, x, y):
            return x - agent, 0.5 - y

        def value(self, agent, x, y):
            return np.sum((x - agent) ** 2) / 2 - np.sum((y - 0.5) ** 2) / 2

    r = saddle.run(
        Squares(), algorithm=Descent(eta_x=0.5, eta_y=0.5), iterations=100, topology="complete"
    )
    assert np.allclose(r.x, 0.5) and np.allclose(r.y, 0.5)
    assert r.trace.ifo[-1] == 900


def test_results_outlive_the_algorithm(tmp_path):
    mine = Descent()
    result = saddle.run("quadratic", algorithm=mine, iterations=2)
    gone = weakref.ref(mine)
    del mine
    gc.collect()
    assert gone() is None
    result.save(tmp_path / "model.npz")
    assert saddle.load(tmp_path / "model.npz").name == "descent"
    saddle.report([result], tmp_path / "report.html")
    assert "descent" in (tmp_path / "report.html").read_text()
    assert np.array_equal(pickle.loads(pickle.dumps(result)).x, result.x)


def test_mpi(tmp_path, in_two_processes):
    examples = Path(__file__).resolve().parents[1] / "examples"
    (tmp_path / "run.py").write_text(
        f"import sys, saddle\nsys.path.insert(0, {str(examples)!r})\n"
        "from prox_dsgda import ProxDSGDA\n"
        "options = {'agents': 5, 'topology': 'ring', 'iterations': 40, 'engine': 'mpi'}\n"
        "saddle.run('quadratic', algorithm=ProxDSGDA(), model='m.npz', **options)\n"
    )
    done = in_two_processes(tmp_path)
    assert done.returncode == 0, done.stdout
    alone = saddle.run(
        "quadratic", algorithm="prox-dsgda", agents=5, topology="ring", iterations=40
    )
    assert np.array_equal(saddle.load(tmp_path / "m.npz").x_agents, alone.x_agents)


def test_agents_end_with_their_step():
    """An agent that is kept refuses to be used; drawn samples cannot be changed."""
    kept = []

    class Keeping(Descent):
        def step(self, agent):
            kept.append(agent)
            return super().step(agent)

    class Changing(Descent):
        def step(self, agent):
            rows = agent.draw(1)
            rows += 1 << 20
            return agent.gradient(agent.now.x, agent.now.y, rows)

    saddle.run("quadratic", algorithm=Keeping(), iterations=2)
    for use in (lambda a: a.mix("x"), lambda a: a.draw(1), lambda a: a.iteration):
        with pytest.raises(RuntimeError, match="only during"):
            use(kept[0])
    with pytest.raises(AttributeError):
        kept[0].now
    with pytest.raises(ValueError, match="read-only"):
        saddle.run("quadratic", algorithm=Changing(), iterations=2)


def test_own_parameters_are_settings():
    class Scaled(saddle.Algorithm):
        gain, laps = 0.02, 2

        def step(self, agent):
            assert isinstance(self.laps, int)
            gx, gy = agent.gradient(agent.now.x, agent.now.y)
            return agent.mix("x") - self.gain * gx, agent.mix("y") + self.gain * gy

    r = saddle.run("quadratic", algorithm=Scaled(gain=0.01), iterations=3)
    assert r.settings["gain"] == 0.01 and r.settings["laps"] == 2
    given = saddle.run("quadratic", algorithm=Scaled(), gain=0.01, laps=3, iterations=3)
    assert (given.x == r.x).all() and given.settings["laps"] == 3

    class Other(Scaled):
        share = 0.5

    instance = saddle.Instance("quadratic", algorithm=Scaled())
    assert instance.run(Other(), share=0.25, iterations=2).settings["share"] == 0.25
    with pytest.raises(TypeError, match="unexpected keyword argument 'share'"):
        instance.run(share=0.25)
