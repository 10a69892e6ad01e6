"""Problems of your own: conformance, the batched form, exceptions, re-entrance."""

import signal
import threading

import numpy as np
import pytest

import saddle

AGENTS, SAMPLES, FEATURES = 4, 50, 8
C, LAMBDA1, LAMBDA2 = 10.0, 1.0 / SAMPLES**2, 1e-3
OPTIONS = {"topology": "ring", "tau": 0.1, "alpha": 1.0, "iterations": 40, "seed": 3,
           "trace_every": 20}  # fmt: skip


class RobustLogistic(saddle.Problem):
    """The paper's problem.

    y_j log(1 + exp(-b a'x)) - lambda1/2 |n y - 1|^2 + lambda2 sum c x^2 / (1 + c x^2)
    """

    name = "robust logistic in Python"
    x_dim, y_dim, samples = FEATURES, SAMPLES, [SAMPLES] * AGENTS
    x_set = y_set = "box:0:10"
    tau, alpha = 0.1, 1.0

    def __init__(self, X, b):
        self.rows = b.reshape(AGENTS, SAMPLES)[:, :, None] * X.reshape(AGENTS, SAMPLES, FEATURES)

    def gradient(self, agent, rows, x, y):
        a = self.rows[agent, rows]
        margin = a @ x
        gx = -(y[rows] / (1.0 + np.exp(margin))) @ a / len(rows)
        gx += LAMBDA2 * 2 * C * x / (1 + C * x * x) ** 2
        gy = -LAMBDA1 * SAMPLES * (SAMPLES * y - 1.0)
        np.add.at(gy, rows, np.logaddexp(0.0, -margin) / len(rows))
        return gx, gy

    def value(self, agent, x, y):
        losses = np.logaddexp(0.0, -(self.rows[agent] @ x))
        smooth = LAMBDA2 * np.sum(C * x * x / (1 + C * x * x))
        return np.mean(y * losses) - LAMBDA1 / 2 * np.sum((SAMPLES * y - 1) ** 2) + smooth


class Batched(RobustLogistic):
    """The same for all agents of a round at once."""

    def __init__(self, X, b):
        super().__init__(X, b)
        self.calls, self.threads = 0, set()

    def gradients(self, requests):
        if len(requests.agent) > 1:  # trace points ask agent by agent
            self.calls += 1
            self.threads.add(threading.get_ident())
        counts = np.diff(requests.start)
        assert counts.sum() == len(requests.rows) and requests.start[0] == 0
        point = np.repeat(np.arange(len(requests.agent)), counts)
        a = self.rows[requests.agent[point], requests.rows]
        margin = np.einsum("ij,ij->i", a, requests.x[point])
        weight = requests.y[point, requests.rows] / (1.0 + np.exp(margin)) / counts[point]
        x = requests.x
        requests.gx[:] = LAMBDA2 * 2 * C * x / (1 + C * x * x) ** 2
        np.add.at(requests.gx, point, -weight[:, None] * a)
        requests.gy[:] = -LAMBDA1 * SAMPLES * (SAMPLES * requests.y - 1.0)
        np.add.at(requests.gy, (point, requests.rows), np.logaddexp(0.0, -margin) / counts[point])


@pytest.fixture()
def built_in(rows):
    X, b = rows
    return saddle.Instance(
        data=(X[:200], b[:200]), agents=AGENTS, partition="contiguous", **OPTIONS
    )


@pytest.fixture(params=[RobustLogistic, Batched])
def own(request, rows):
    return request.param(rows[0][:200], rows[1][:200])


@pytest.mark.parametrize(
    "algorithm", ["precision", "precision+", "precision-auto", "prox-dsgda", "gt-gda", "dposg"]
)
def test_conformance(built_in, own, algorithm):
    expected = built_in.run(algorithm)
    result = saddle.run(own, algorithm=algorithm, **OPTIONS)
    assert np.allclose(result.x_agents, expected.x_agents, rtol=1e-9, atol=1e-12)
    assert np.allclose(result.y_agents, expected.y_agents, rtol=1e-9, atol=1e-12)
    for column in ("loss", "primal", "metric"):
        assert np.allclose(result.trace[column], expected.trace[column], rtol=1e-6, atol=1e-9)
    assert np.array_equal(result.trace.ifo, expected.trace.ifo)


@pytest.mark.parametrize("threads", [1, 3])
def test_one_call_per_round_on_this_thread(rows, threads):
    problem = Batched(rows[0][:200], rows[1][:200])
    instance = saddle.Instance(problem, threads=threads, **OPTIONS)

    problem.calls = 0
    instance.run("prox-dsgda", iterations=30)
    assert problem.calls == 30
    assert problem.threads == {threading.get_ident()}
    result = saddle.run(problem, algorithm="prox-dsgda", threads=threads, **OPTIONS)
    per_agent = RobustLogistic(rows[0][:200], rows[1][:200])
    assert np.allclose(result.x, saddle.run(per_agent, algorithm="prox-dsgda", **OPTIONS).x)


def test_check_grad(own):
    check = saddle.check_grad(own)
    assert check and check.ok and check.x_error < 1e-6

    class Wrong(RobustLogistic):
        def value(self, agent, x, y):
            return 2.0 * super().value(agent, x, y)

    wrong = Wrong.__new__(Wrong)
    wrong.rows = own.rows
    assert not saddle.check_grad(wrong)


def test_exceptions_come_out_as_themselves(rows):
    class Failing(RobustLogistic):
        calls = 0

        def gradient(self, agent, rows, x, y):
            self.calls += 1
            if self.calls == self.last:
                raise LookupError("mine")
            return super().gradient(agent, rows, x, y)

    problem = Failing(rows[0][:200], rows[1][:200])
    problem.last = -1
    instance = saddle.Instance(problem, **OPTIONS)
    for after in (1, 30, 90):
        problem.last, problem.calls = after, 0
        with pytest.raises(LookupError, match="mine") as caught:
            instance.run("precision")
        assert any(frame.name == "gradient" for frame in caught.traceback)
        assert problem.calls == after  # and it was not called again
    problem.last = -1
    assert instance.run("precision").stop == "iterations"


def test_wrong_answers_are_refused(rows):
    class Short(RobustLogistic):
        def gradient(self, agent, rows, x, y):
            return x[:3], y

    class Text(RobustLogistic):
        def value(self, agent, x, y):
            return "much"

    class Nothing(RobustLogistic):
        def gradient(self, agent, rows, x, y):
            return None

    with pytest.raises(ValueError, match=r"gradient in x has the shape \(3,\); it must be \(8,\)"):
        saddle.run(Short(rows[0][:200], rows[1][:200]), **OPTIONS)
    with pytest.raises(TypeError, match=r"what value\(\) returned is 'much'; it must be a number"):
        saddle.run(Text(rows[0][:200], rows[1][:200]), **OPTIONS)
    with pytest.raises(TypeError, match="must return the gradients in x and in y, not"):
        saddle.run(Nothing(rows[0][:200], rows[1][:200]), **OPTIONS)
    with pytest.raises(TypeError, match="dict has no x_dim"):
        saddle.run({}, **OPTIONS)
    with pytest.raises(NotImplementedError, match="gradient"):
        empty = saddle.Problem()
        empty.x_dim = empty.y_dim = 1
        empty.samples = [1]
        empty.value = lambda agent, x, y: 0.0
        saddle.run(empty)


def test_requests_cannot_be_written_to(rows):
    class InGradients(Batched):
        def gradients(self, requests):
            requests.y[...] = 0.0

    with pytest.raises(ValueError, match="read-only"):
        saddle.run(InGradients(rows[0][:200], rows[1][:200]), **OPTIONS)


def test_nan_diverges(rows):
    class Broken(RobustLogistic):
        calls = 0

        def gradient(self, agent, rows, x, y):
            self.calls += 1
            gx, gy = super().gradient(agent, rows, x, y)
            return gx if self.calls < 900 else gx * np.nan, gy

    r = saddle.run(Broken(rows[0][:200], rows[1][:200]), **{**OPTIONS, "iterations": 400})
    assert r.stop == "diverged" and r.message


def test_ctrl_c_in_a_problem(rows):
    class Interrupting(RobustLogistic):
        calls = 0

        def gradient(self, agent, rows, x, y):
            self.calls += 1
            if self.calls == self.last:
                signal.raise_signal(signal.SIGINT)
            return super().gradient(agent, rows, x, y)

    problem = Interrupting(rows[0][:200], rows[1][:200])
    problem.last = -1
    instance = saddle.Instance(problem, **OPTIONS)
    problem.last, problem.calls = 5000, 0
    with pytest.raises(KeyboardInterrupt) as caught:
        instance.run(iterations=10**6)
    partial = caught.value.result
    assert partial.stop == "interrupted" and 0 < partial.iteration < 1000
    whole = saddle.run(
        RobustLogistic(rows[0][:200], rows[1][:200]), **{**OPTIONS, "iterations": partial.iteration}
    )
    assert np.array_equal(partial.x_agents, whole.x_agents)


def test_a_run_within_a_run(rows, built_in):
    class Nested(RobustLogistic):
        inner = None

        def gradient(self, agent, rows, x, y):
            if self.inner is None:
                self.inner = saddle.run("quadratic", iterations=20, seed=2).x
            return super().gradient(agent, rows, x, y)

    problem = Nested(rows[0][:200], rows[1][:200])
    result = saddle.run(problem, **OPTIONS)
    assert np.array_equal(problem.inner, saddle.run("quadratic", iterations=20, seed=2).x)
    assert np.allclose(result.x, built_in.run().x)


@pytest.mark.parametrize("threads", [1, 3])
def test_runs_in_several_threads(rows, threads):
    expected = saddle.run(RobustLogistic(rows[0][:200], rows[1][:200]), **OPTIONS)
    found = {}

    def work(k):
        problem = (Batched if k % 2 else RobustLogistic)(rows[0][:200], rows[1][:200])
        found[k] = saddle.run(problem, threads=threads, **OPTIONS)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert all(np.allclose(r.x_agents, expected.x_agents, rtol=1e-9) for r in found.values())


def test_an_exception_in_one_thread_of_several(rows):
    class Failing(Batched):
        def gradients(self, requests):
            if threading.get_ident() == self.victim:
                raise LookupError("mine")
            return super().gradients(requests)

    caught = []

    def work(victim):
        problem = Failing(rows[0][:200], rows[1][:200])
        problem.victim = threading.get_ident() if victim else None
        try:
            saddle.run(problem, **OPTIONS)
        except LookupError as error:
            caught.append(error)

    workers = [threading.Thread(target=work, args=(k == 1,)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(caught) == 1


def test_best_response(rows, built_in):
    class Responding(RobustLogistic):
        def best_response(self, x):
            losses = np.logaddexp(0.0, -(self.rows @ x)).mean(axis=0) / SAMPLES
            return np.clip(1 / SAMPLES + losses / (LAMBDA1 * SAMPLES**2), 0.0, 10.0)

    problem = Responding(rows[0][:200], rows[1][:200])
    expected = built_in.run().trace
    for own in (problem, RobustLogistic(rows[0][:200], rows[1][:200])):
        trace = saddle.run(own, **OPTIONS).trace
        assert np.allclose(trace.y_gap, expected.y_gap, rtol=1e-6, atol=1e-12)
        assert np.allclose(trace.primal, expected.primal, rtol=1e-8)


def test_optional_parts(rows):
    class Full(RobustLogistic):
        x_set = (np.zeros(FEATURES), np.full(FEATURES, 10.0))
        lipschitz, strong_concavity = 50.0, 1.0
        smaller_is_better = ("size",)

        def start(self, seed):
            return np.full(FEATURES, 0.1 * seed), np.full(SAMPLES, 0.5)

        def outcomes(self, x, y):
            return {"share": float(np.mean(self.rows @ x > 0)), "size": float(x @ x)}

    problem = Full(rows[0][:200], rows[1][:200])
    r = saddle.run(problem, **{**OPTIONS, "iterations": 0})
    assert np.allclose(r.x, 0.3) and np.allclose(r.y, 0.5)
    assert np.isclose(r.outcomes["train_size"], FEATURES * 0.09)
    bounds = saddle.theory(problem, topology="ring")
    assert bounds["lipschitz"] == 50 and bounds["strong_concavity"] == 1 and not bounds["estimated"]
    r = saddle.run(
        problem, stop_when="train_size<=0.5", **{**OPTIONS, "iterations": 500, "trace_every": 1}
    )
    assert r.stop == "condition" and r.outcomes["train_size"] <= 0.5 and r.iteration > 0


def test_centralized_and_weighted(rows, own):
    data = (rows[0][:200], rows[1][:200])
    steps = {"algorithm": "gda", "eta_x": 0.5, "eta_y": 0.5}
    steps.update(iterations=40, seed=3, trace_every=20)
    expected = saddle.run(data=data, agents=AGENTS, partition="contiguous", **steps)
    assert np.allclose(saddle.run(own, **steps).x, expected.x, rtol=1e-9)
    assert np.array_equal(
        saddle.run(own, agent_weights="by-size", **OPTIONS).x, saddle.run(own, **OPTIONS).x
    )


def test_problems_are_freed_and_their_results_pickled(own):
    import gc
    import pickle
    import weakref

    result = saddle.run(own, **OPTIONS)
    copy = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copy.x_agents, result.x_agents) and copy.settings == result.settings
    instance = saddle.Instance(own, **OPTIONS)
    gone = weakref.ref(instance._keep)
    instance.run()
    del instance
    gc.collect()
    assert gone() is None


def test_requests_can_be_assigned_to_but_not_broken(rows):
    """Assignment to gx fills it in; a gradient that is left out is NaN; the lists are read-only."""

    rows = tuple(part[: AGENTS * SAMPLES] for part in rows)

    class Assigning(Batched):
        def gradients(self, requests):
            super().gradients(requests)
            gx, gy = requests.gx.copy(), requests.gy.copy()
            requests.gx, requests.gy = np.nan * gx, np.nan * gy
            requests.gx, requests.gy = gx, gy

    class Idle(Batched):
        def gradients(self, requests):
            pass

    class Writing(Batched):
        def gradients(self, requests):
            super().gradients(requests)
            requests.start[:] += 1 << 40

    expected = saddle.run(Batched(*rows), **OPTIONS)
    assert saddle.run(Assigning(*rows), **OPTIONS).x.tobytes() == expected.x.tobytes()
    with pytest.raises(saddle.InputError, match="gradient.* is nan"):
        saddle.run(Idle(*rows), **OPTIONS)
    with pytest.raises(ValueError, match="read-only"):
        saddle.run(Writing(*rows), **OPTIONS)


def test_points_can_be_kept_and_changed(rows):
    """A problem that writes into its arguments does not change the run."""

    rows = tuple(part[: AGENTS * SAMPLES] for part in rows)

    class Writing(RobustLogistic):
        def gradient(self, agent, rows, x, y):
            out = super().gradient(agent, rows, x.copy(), y.copy())
            x += 1.0
            y += 1.0
            return out

        def value(self, agent, x, y):
            out = super().value(agent, x, y)
            x *= 0.5
            return out

    mine, its = (saddle.run(kind(*rows), **OPTIONS) for kind in (Writing, RobustLogistic))
    assert mine.x_agents.tobytes() == its.x_agents.tobytes()
    assert mine.trace.metric.tobytes() == its.trace.metric.tobytes()
