"""PyTorch problems on the engines of graphics cards; with cuda-host in the process's memory."""

import os
import warnings

import numpy as np
import pytest

import saddle

torch = pytest.importorskip("torch")
_card = pytest.importorskip("saddle._card")
ffi = pytest.importorskip("saddle._library").ffi

AGENTS, SAMPLES, FEATURES = 4, 30, 6
SMALL = {"topology": "ring", "iterations": 25, "seed": 2, "trace_every": 12, "gap": "never",
         "tau": 2, "alpha": 0.3}  # fmt: skip
ENGINES = ["cuda-host"] + ["cuda"] * torch.cuda.is_available()


def rows(dtype=torch.float64):
    generator = torch.Generator().manual_seed(4)
    X = torch.randn(AGENTS * SAMPLES, FEATURES, generator=generator, dtype=dtype)
    return X, torch.sign(X @ torch.linspace(-1, 1, FEATURES, dtype=dtype))


def network(dtype=torch.float64):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(FEATURES, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)]
    layers[0].bias.requires_grad_(False)
    return torch.nn.Sequential(*layers).to(dtype)


def of_network(net, y, batch):
    X, label = batch
    losses = torch.nn.functional.softplus(-label * net(X)[:, 0])
    return (torch.where(label > 0, y[0], y[1]) * losses).mean() - ((y - 1) ** 2).sum()


def of_tensors(x, y, batch):
    X, label = batch
    losses = torch.nn.functional.softplus(-label * (X @ x["w"] + x["b"]))
    game = x["w"] @ y[0] + (y[1] * x["b"]).sum() - sum((each**2).sum() for each in y)
    return losses.mean() + game


def tensors(dtype=torch.float64):
    return {"w": torch.full((FEATURES,), 0.1, dtype=dtype), "b": torch.zeros(1, dtype=dtype)}


def duals(dtype=torch.float64):
    return [torch.zeros(FEATURES, dtype=dtype), torch.zeros(1, dtype=dtype)]


def problem(kind="network", dtype=torch.float64, agents=AGENTS, loss=None, **more):
    if kind == "tensors":
        return saddle.torch.problem(loss or of_tensors, tensors(dtype), duals(dtype), rows(dtype),
                                    agents=agents, **more)  # fmt: skip
    y0 = torch.ones(2, dtype=dtype)
    return saddle.torch.problem(loss or of_network, network(dtype), y0, rows(dtype),
                                agents=agents, y_set="box:0:3", **more)  # fmt: skip


def on_card(engine, made, **more):
    return saddle.run(made, engine=engine, **{**SMALL, **more})


def refuse_vmap(_function):
    raise RuntimeError("refused")


def runs_of_all():
    """On a card and at night, all algorithms with all problems; otherwise each of them."""
    problems = [("network", AGENTS), ("network", 7), ("tensors", 7)]
    algorithms = ["precision", "prox-gt-sgda", "prox-dsgda"]
    every = torch.cuda.is_available() or "SADDLE_TEST_LONG" in os.environ
    return [(*p, a) for k, p in enumerate(problems) for n, a in enumerate(algorithms)
            if every or n in (0, k)]  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind,agents,algorithm", runs_of_all())
def test_runs_are_those_of_threads(engine, algorithm, kind, agents, monkeypatch):
    options = {"algorithm": algorithm, "agent_weights": "by-size", "batch": 5}
    expected = saddle.run(problem(kind, agents=agents), **SMALL, **options)
    device = engine.split("-")[0] if engine == "cuda" else None
    made = problem(kind, agents=agents, device=device)
    result = on_card(engine, made, **options)
    assert made._slopes.together
    assert np.allclose(result.x_agents, expected.x_agents, rtol=0, atol=1e-13)
    assert np.allclose(result.trace.metric, expected.trace.metric, rtol=1e-11)
    assert np.array_equal(result.trace.ifo, expected.trace.ifo)
    if engine == "cuda":
        return
    # One agent after the other, PyTorch does the same operations.
    monkeypatch.setattr(_card, "vmap", refuse_vmap)
    words = "one after the other, because vmap refuses the loss: refused"
    with pytest.warns(UserWarning, match=words) as seen:
        result = on_card(engine, problem(kind, agents=agents), **options)
    assert len(seen) == 1
    assert np.array_equal(result.x_agents, expected.x_agents)
    assert np.array_equal(result.y_agents, expected.y_agents)
    assert np.array_equal(result.trace.metric, expected.trace.metric)


def test_32_bits():
    expected = saddle.run(problem(dtype=torch.float32), algorithm="precision", **SMALL)
    result = on_card("cuda-host", problem(dtype=torch.float32), algorithm="precision")
    assert np.allclose(result.x_agents, expected.x_agents, rtol=0, atol=1e-5)
    assert not np.array_equal(result.x_agents, result.x_agents.astype(np.float32))  # has 64


class Watched(saddle.torch.TorchProblem):
    """Compares tensors with the memory of each request, and counts other calls."""

    calls = others = 0

    def card_gradients(self, c):
        def address(pointer):
            return int(ffi.cast("uintptr_t", pointer))

        requests = _card.CardRequests(c, AGENTS, self.x_dim, self.y_dim, self._made)
        for k in range(c.points):
            assert requests.x[k].data_ptr() == address(c.point[k])
            assert requests.y[k].data_ptr() == address(c.point[k] + self.x_dim)
            assert requests.gx[k].data_ptr() == address(c.gradient[k])
            assert requests.gy[k].data_ptr() == address(c.gradient[k] + self.x_dim)
            assert requests.x[k].stride() == (c.stride, 1)
            last = requests.x[k][AGENTS - 1, 1]
            assert last.data_ptr() == address(c.point[k] + (AGENTS - 1) * c.stride + 1)
        if requests.samples is not None:
            assert requests.samples.data_ptr() == address(c.sample)
            assert requests.samples.stride() == (c.sample_stride, 1)
        super().card_gradients(c)
        found = np.frombuffer(ffi.buffer(c.gradient[0], 8 * (self.x_dim + self.y_dim)))
        assert np.array_equal(found[: self.x_dim], requests.gx[0][0].numpy())
        assert np.array_equal(found[self.x_dim :], requests.gy[0][0].numpy())
        Watched.calls += 1

    def gradients(self, requests):
        Watched.others += 1
        super().gradients(requests)


def test_tensors_are_the_memory_of_the_engine(monkeypatch):
    """And between trace points nothing is copied to the process's arrays."""
    monkeypatch.setattr(saddle.torch, "TorchProblem", Watched)
    others = []
    for iterations in (20, 50):
        Watched.calls = Watched.others = 0
        options = {"algorithm": "precision", "trace_every": 1000}
        on_card("cuda-host", problem(), iterations=iterations, **options)
        assert Watched.calls == iterations
        others.append(Watched.others)
    assert others[0] > 0 and abs(others[0] - others[1]) < 0.2 * others[0]  # of the two trace points


def test_a_point_of_64_bits_is_not_copied(monkeypatch):
    seen = []
    leaves = _card.Slopes._leaves

    def watch(self, packed, points):
        made = list(leaves(self, packed, points))
        seen.append(len(points) > 1 or made[0].data_ptr() == points[0].data_ptr())
        return made

    monkeypatch.setattr(_card.Slopes, "_leaves", watch)
    on_card("cuda-host", problem("tensors"), algorithm="prox-dsgda")
    assert seen and all(seen)


def test_wrong_devices(monkeypatch):
    monkeypatch.setattr(_card.CardRequests, "device", torch.device("cuda", 0))
    words = r"computes on cuda:0, where .* are not; give saddle.torch.problem\(\) device='cuda'"
    with pytest.raises(ValueError, match=words):
        on_card("cuda-host", problem(), algorithm="precision")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device='cuda': PyTorch .* finds no graphics card"):
            problem(device="cuda")
        with pytest.raises(saddle.Error, match="engine: cuda cannot be used|engine: cuda needs"):
            on_card("cuda", problem(), algorithm="precision")


def test_wrong_types():
    with pytest.raises(RuntimeError, match="floating point"):
        whole = torch.ones(3, dtype=torch.int64)
        saddle.torch.problem(of_network, whole, torch.ones(2), rows(), agents=2)


class Plain(saddle.Problem):
    x_dim = y_dim = 1
    samples = [1, 1, 1]

    def gradient(self, agent, rows, x, y):
        return x + y, x - y

    def value(self, agent, x, y):
        return 0.5 * x @ x + x @ y - 0.5 * y @ y


@pytest.mark.parametrize(
    "made,algorithm,words",
    [(Plain, "precision", "problem: engine cuda-host has no code for python; give robust-logistic"),
     (problem, "gda", "algorithm: engine cuda-host has no code for gda; give precision or"),
     (problem, "precision+", "precision\\+")],
)  # fmt: skip
def test_what_is_refused(made, algorithm, words):
    with pytest.raises(saddle.Error, match=words):
        on_card("cuda-host", made(), algorithm=algorithm)
    if algorithm == "precision+":
        with pytest.raises(saddle.Error, match="has no code for it with this problem"):
            on_card("cuda-host", made(), algorithm=algorithm, c_gamma=1)


def test_failures():
    def fails(net, y, batch):
        if len(batch[0]) < SAMPLES:
            raise KeyError("mine")
        return of_network(net, y, batch)

    with pytest.raises(KeyError, match="mine"):
        on_card("cuda-host", problem(loss=fails), algorithm="precision", batch=4)

    def two(net, y, batch):
        return torch.stack([of_network(net, y, batch)] * (1 + (len(batch[0]) < SAMPLES)))

    with pytest.raises(ValueError, match="the loss must be one number"):
        on_card("cuda-host", problem(loss=two), algorithm="precision", batch=4)


def test_a_gradient_that_is_not_finite(monkeypatch):
    answer = _card.Slopes.answer
    calls = []

    def wrong(self, requests):
        answer(self, requests)
        calls.append(1)
        if len(calls) == 8:
            requests.gx[0][2, 5] = float("nan")

    monkeypatch.setattr(_card.Slopes, "answer", wrong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = on_card("cuda-host", problem(), algorithm="precision")
    assert result.stop == "diverged"
    assert "[5] of agent 2 is nan" in result.message


class OnCard:
    """A tensor that NumPy cannot read, like one on a card."""

    device = torch.device("cuda")

    def __init__(self, tensor):
        self.tensor, self.shape, self.dtype = tensor, tensor.shape, tensor.dtype

    def __array__(self, *_arguments, **_more):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def detach(self):
        return self

    def cpu(self):
        return self.tensor


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_on_a_card(engine):
    X, label = rows()
    settings = {**SMALL, "agents": AGENTS, "algorithm": "precision"}
    expected = saddle.run(data=(X.numpy(), label.numpy()), **settings)
    place = OnCard if engine == "cuda-host" else torch.Tensor.cuda
    for y in (label, label[:, None]):
        result = saddle.run(data=(place(X), place(y)), engine=engine, **settings)
        assert np.array_equal(result.x_agents, expected.x_agents)
    assert np.array_equal(result.predict(place(X)), expected.predict(X.numpy()))
