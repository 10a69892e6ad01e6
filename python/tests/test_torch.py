"""Problems from PyTorch functions."""

import gc
import pickle
import subprocess
import sys
import warnings
import weakref

import numpy as np
import pytest

import saddle

torch = pytest.importorskip("torch")
AGENTS, SAMPLES, FEATURES = 4, 30, 6
SMALL = {"topology": "ring", "iterations": 12, "seed": 2, "trace_every": 12, "gap": "never",
         "tau": 2, "alpha": 0.3}  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(4)
    X = generator.normal(size=(AGENTS * SAMPLES, FEATURES))
    return X, np.sign(X @ generator.normal(size=FEATURES))


def logistic(x, y, batch):
    X, label = batch
    return torch.nn.functional.softplus(-label * (X @ x)).mean() + x @ y - y @ y


class ByHand(saddle.Problem):
    """The same without PyTorch."""

    x_dim = y_dim = FEATURES
    samples = [SAMPLES] * AGENTS

    def __init__(self, X, label):
        self.rows = (label[:, None] * X).reshape(AGENTS, SAMPLES, FEATURES)

    def gradient(self, agent, rows, x, y):
        a = self.rows[agent, rows]
        return -a.T @ (1 / (1 + np.exp(a @ x))) / len(rows) + y, x - 2 * y

    def value(self, agent, x, y):
        return np.logaddexp(0, -self.rows[agent] @ x).mean() + x @ y - y @ y

    def start(self, seed):
        return np.full(FEATURES, 0.1), np.zeros(FEATURES)


def start(dtype=torch.float64):
    return torch.full((FEATURES,), 0.1, dtype=dtype), torch.zeros(FEATURES, dtype=dtype)


@pytest.mark.parametrize("algorithm", ["precision", "prox-dsgda"])
def test_runs_are_those_of_gradients_by_hand(rows, algorithm):
    expected = saddle.run(ByHand(*rows), algorithm=algorithm, **SMALL)
    made = saddle.torch.problem(
        logistic, *start(), tuple(map(torch.from_numpy, rows)), agents=AGENTS
    )
    result = saddle.run(made, algorithm=algorithm, **SMALL)
    assert np.allclose(result.x_agents, expected.x_agents, rtol=0, atol=1e-12)
    assert np.array_equal(result.trace.ifo, expected.trace.ifo)
    assert np.allclose(result.trace.loss, expected.trace.loss, rtol=1e-11)
    parts = [(X, label) for X, label in zip(np.split(rows[0], AGENTS), np.split(rows[1], AGENTS))]
    per_agent = saddle.run(
        saddle.torch.problem(logistic, *start(), parts), algorithm=algorithm, **SMALL
    )
    assert np.array_equal(per_agent.x_agents, result.x_agents)


def test_data_sets(rows):
    data = torch.utils.data.TensorDataset(*map(torch.from_numpy, rows))
    made = saddle.torch.problem(logistic, *start(), data, agents=7)
    assert list(made.samples) == [18] + 6 * [17] and saddle.check_grad(made)
    assert len(saddle.torch.problem(logistic, *start(), rows).samples) == 5


def forms():
    def bilinear(w, b, d, c, X):
        return torch.tanh(X @ w + b).mean() * c + (d * w).sum() - (d**2).sum() - c**2

    w, b, d, c = (torch.rand(shape).double() for shape in ((FEATURES, 2), (2,), (FEATURES, 2), ()))
    def of_dicts(x, y, batch):
        return bilinear(x["w"], x["b"], y["d"], y["c"], batch[0])

    yield "dict", of_dicts, {"w": w, "b": b}, {"d": d, "c": c}
    yield "list", lambda x, y, batch: bilinear(*x, *y, batch[0]), [w, b], [d, c]
    yield "tuple", lambda x, y, batch: bilinear(*x, *y, batch[0]), (w, b), (d, c)


@pytest.mark.parametrize("form", forms(), ids=lambda form: form[0])
def test_forms(form, rows):
    _, loss, x0, y0 = form
    made = saddle.torch.problem(loss, x0, y0, rows, agents=AGENTS)
    assert made.x_dim == 2 * FEATURES + 2 and made.y_dim == 2 * FEATURES + 1
    assert saddle.check_grad(made).ok
    result = saddle.run(made, **SMALL)
    found, duals = result.module(), made.duals(result.y)
    assert type(found) is type(x0) and type(duals) is type(y0)
    w, b = found.values() if isinstance(found, dict) else found
    assert np.array_equal(np.concatenate([w.numpy().ravel(), b.numpy()]), result.x)
    d, c = duals.values() if isinstance(duals, dict) else duals
    assert d.shape == (FEATURES, 2) and c.shape == () and c.item() == result.y[-1]
    first = next(iter(x0.values())) if isinstance(x0, dict) else x0[0]
    assert not first.requires_grad and not np.array_equal(first.numpy(), w.numpy())


def network(dtype=torch.float64):
    torch.manual_seed(0)
    layers = [
        torch.nn.Linear(FEATURES, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1), torch.nn.Linear(1, 1)
    ]
    net = torch.nn.Sequential(*layers).to(dtype)
    for parameter in net[3].parameters():
        parameter.requires_grad_(False)
    return net


def margin_loss(net, y, batch):
    """Logistic loss with weights of the two classes."""
    X, label = batch
    weight = torch.where(label > 0, y[0], y[1])
    losses = torch.nn.functional.softplus(-label * net(X)[:, 0])
    return (weight * losses).mean() - ((y - 1) ** 2).sum()


def accuracy(rows):
    X, label = map(torch.from_numpy, rows)

    def measure(net, y):
        with torch.no_grad():
            score = net(X.to(next(net.parameters()).dtype))[:, 0]
        return {"accuracy": ((score > 0) == (label > 0)).double().mean().item()}

    return measure


def test_modules(rows):
    net = network()
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    options = {"agents": AGENTS, "y_set": "box:0:3", "outcomes": accuracy(rows), "name": "margins"}
    made = saddle.torch.problem(margin_loss, net, torch.ones(2).double(), rows, **options)
    assert made.x_dim == 6 * 5 + 5 + 5 + 1 and saddle.check_grad(made).ok
    result = saddle.run(made, **{**SMALL, "iterations": 150, "tau": 0.5})
    assert result.outcomes["train_accuracy"] > 0.9 and result.settings["y_set"] == "box:0:3"
    trained = result.module()
    assert isinstance(trained, torch.nn.Sequential) and trained is not net
    vector = torch.nn.utils.parameters_to_vector(p for p in trained.parameters() if p.requires_grad)
    assert np.array_equal(vector.detach().numpy(), result.x)
    assert all(p.grad is None for p in trained.parameters())
    for name, tensor in before.items():
        assert torch.equal(tensor, net.state_dict()[name])
        assert ("3" in name) == torch.equal(tensor, trained.state_dict()[name])
    assert accuracy(rows)(trained, None)["accuracy"] == result.outcomes["train_accuracy"]
    one = torch.nn.utils.parameters_to_vector(
        p for p in result.module(agent=2).parameters() if p.requires_grad
    )
    assert np.array_equal(one.detach().numpy(), result.x_agents[2])
    assert pickle.loads(pickle.dumps(trained)).state_dict().keys() == before.keys()
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(result))))
    for name, tensor in trained.state_dict().items():
        assert torch.equal(tensor, again.module().state_dict()[name])


def test_modules_that_cannot_be_pickled(rows):
    class Local(torch.nn.Linear):
        pass

    def loss(net, y, batch):
        return net(batch[0]).square().mean() - y @ y

    data = (torch.from_numpy(rows[0]),)
    net, y0 = Local(FEATURES, 1).double(), torch.zeros(1).double()
    result = saddle.run(saddle.torch.problem(loss, net, y0, data, agents=AGENTS), **SMALL)
    copied = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copied.x, result.x)
    with pytest.raises(TypeError, match=r"problem.module\(r.x\)"):
        copied.module()


def test_results_do_not_keep_the_data(rows):
    X = torch.from_numpy(rows[0].copy())
    result = saddle.run(
        saddle.torch.problem(logistic, *start(), (X, torch.from_numpy(rows[1])), agents=2),
        iterations=1,
    )
    gone = weakref.ref(X)
    del X
    gc.collect()
    assert gone() is None and result.module().shape == (FEATURES,)


def test_single_precision(rows):
    single = tuple(torch.from_numpy(t).float() for t in rows)
    made = saddle.torch.problem(logistic, *start(torch.float32), single, agents=AGENTS)
    expected = saddle.run(ByHand(*rows), **SMALL)
    result = saddle.run(made, **SMALL)
    assert np.allclose(result.x, expected.x, atol=1e-5) and result.module().dtype == torch.float32


def test_mistakes(rows):
    def refused(kind, message, loss=logistic, x0=None, y0=None, data=rows, **options):
        x, y = start()
        with pytest.raises(kind, match=message):
            made = saddle.torch.problem(
                loss, x if x0 is None else x0, y if y0 is None else y0, data, **options
            )
            saddle.run(made, **SMALL)

    refused(ValueError, "must be one number", loss=lambda x, y, batch: batch[0] @ x)
    refused(ValueError, "must be one number", loss=lambda x, y, batch: 3.0)
    refused(RuntimeError, "does not require grad", loss=lambda x, y, batch: batch[0].mean())
    refused(ZeroDivisionError, "", loss=lambda x, y, batch: 1 // 0)
    refused(ValueError, "different lengths", data=(rows[0], rows[1][1:]))
    refused(ValueError, "rows of 2 agents, but agents is 3", data=[rows, rows], agents=3)
    refused(ValueError, "120 rows for 121 agents", agents=121)
    refused(ValueError, "all of the same dtype", x0=[torch.zeros(2), torch.zeros(2).double()])
    refused(ValueError, "tensors to optimize", x0=torch.nn.Tanh())
    refused(TypeError, "argument 'x_sett'", x_sett="none")
    with pytest.raises(TypeError, match="problems of saddle.torch"):
        saddle.run("quadratic", iterations=1).module()


def test_buffers_that_change_are_refused(rows):
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(FEATURES), torch.nn.Linear(FEATURES, 1)).double()
    # L and mu are given, because they would be estimated from single samples.
    options = {"agents": AGENTS, "lipschitz": 1, "strong_concavity": 1}
    made = saddle.torch.problem(margin_loss, net, torch.ones(2).double(), rows, **options)
    with pytest.raises(ValueError, match="batch normalization"):
        saddle.run(made, **SMALL)
    made = saddle.torch.problem(margin_loss, net.eval(), torch.ones(2).double(), rows, **options)
    assert saddle.run(made, **SMALL).stop == "iterations"


def test_with_an_algorithm_in_python(rows):
    class Descent(saddle.Algorithm):
        def step(self, agent):
            gx, gy = agent.gradient(agent.now.x, agent.now.y)
            return agent.mix("x") - 0.1 * gx, agent.mix("y") + 0.1 * gy

    made = saddle.torch.problem(logistic, *start(), rows, agents=AGENTS)
    mine = saddle.run(made, algorithm=Descent(), topology="ring", iterations=15, trace_every=15)
    expected = saddle.run(
        ByHand(*rows), algorithm=Descent(), topology="ring", iterations=15, trace_every=15
    )
    assert np.allclose(mine.x_agents, expected.x_agents, atol=1e-13)


@pytest.mark.parametrize("name", ["torch", "sklearn"])
def test_missing_packages_are_named(name):
    code = (
        f"import sys; sys.modules[{name!r}] = None\nimport saddle\n"
        f"try:\n    saddle.{name}\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], text=True, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.startswith(f"saddle.{name} needs ")


def test_data_that_are_not_tuples_are_refused():
    """The rows of a lone tensor would be taken for tensors."""
    X = torch.ones(8, 3)
    for wrong in (X, X.numpy(), [X, X]):
        with pytest.raises(TypeError, match="data takes a tuple of tensors"):
            saddle.torch.problem(None, X[0], X[0], wrong, agents=2)


def test_gradients_do_not_depend_on_what_the_loss_does_with_grad(rows):
    def meddling(x, y, batch):
        x.grad = None
        out = logistic(x, y, batch)
        y.grad = torch.ones_like(y)
        return out

    found = [
        saddle.run(saddle.torch.problem(loss, *start(), rows, agents=AGENTS), **SMALL).x_agents
        for loss in (logistic, meddling)
    ]
    assert found[0].tobytes() == found[1].tobytes()


def test_parameters_that_the_loss_does_not_use_have_zero_gradients(rows):
    x0, y0 = start()
    unused = {"w": x0, "unused": torch.ones(3).double()}
    made = saddle.torch.problem(
        lambda x, y, batch: logistic(x["w"], y, batch), unused, y0, rows, agents=AGENTS
    )
    plain = saddle.torch.problem(logistic, x0, y0, rows, agents=AGENTS)
    assert saddle.check_grad(made).ok
    steps = {"eta_x": 0.1, "eta_y": 0.1}  # the default ones depend on an estimate of L
    x = saddle.run(made, algorithm="gda", **steps, **SMALL).x_agents
    assert np.all(x[:, -3:] == 1)
    expected = saddle.run(plain, algorithm="gda", **steps, **SMALL).x_agents
    assert np.allclose(x[:, :-3], expected, atol=1e-13)


def test_data_may_require_gradients():
    X = torch.ones(8, 3).double()

    def loss(x, y, batch):
        return (batch[0] @ x).mean() + (x**2).sum() - (y**2).sum()

    found = [
        saddle.run(saddle.torch.problem(loss, X[0], X[0], (rows,), agents=2), iterations=2).x
        for rows in (X, X.clone().requires_grad_())
    ]
    assert found[0].tobytes() == found[1].tobytes()


class Samples(torch.utils.data.Dataset):
    """Rows and labels, one by one."""

    def __init__(self, rows):
        self.rows = tuple(map(torch.from_numpy, rows))

    def __len__(self):
        return len(self.rows[0])

    def __getitem__(self, k):
        return self.rows[0][k], self.rows[1][k]


def test_datasets_and_loaders(rows):
    tensors = tuple(map(torch.from_numpy, rows))
    expected = saddle.run(
        saddle.torch.problem(logistic, *start(), tensors, agents=AGENTS), **SMALL
    ).x
    load = torch.utils.data.DataLoader
    whole = [Samples(rows), torch.utils.data.TensorDataset(*tensors), load(Samples(rows), 7, True)]
    for data in whole:
        made = saddle.torch.problem(logistic, *start(), data, agents=AGENTS)
        assert np.array_equal(saddle.run(made, **SMALL).x, expected)
    parts = [
        Samples(tuple(part[k * SAMPLES : (k + 1) * SAMPLES] for part in rows))
        for k in range(AGENTS)
    ]
    made = saddle.torch.problem(logistic, *start(), parts)
    assert np.array_equal(saddle.run(made, **SMALL).x, expected)

    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(())

    with pytest.raises(TypeError, match="an IterableDataset cannot be drawn from"):
        saddle.torch.problem(logistic, *start(), Stream())


def test_float32_models_are_checked(rows):
    tensors = tuple(torch.from_numpy(part).float() for part in rows)
    made = saddle.torch.problem(logistic, *start(torch.float32), tensors, agents=AGENTS)
    assert saddle.check_grad(made).ok
    assert saddle.run(made, **SMALL).module().dtype == torch.float32

    def summed(x, y, batch):  # a sum instead of a mean
        return (batch[0] @ x).sum() + x @ y - y @ y

    wrong = saddle.torch.problem(summed, *start(torch.float32), tensors, agents=AGENTS)
    assert not saddle.check_grad(wrong).ok


@pytest.mark.parametrize("layer", [torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(FEATURES)])
def test_layers_in_training_mode_are_warned_of(rows, layer):
    net = torch.nn.Sequential(layer, torch.nn.Linear(FEATURES, 1))
    data = tuple(torch.from_numpy(part).float() for part in rows)
    with pytest.warns(UserWarning, match=f"{type(layer).__name__} is in training mode"):
        saddle.torch.problem(logistic, net, torch.zeros(1), data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saddle.torch.problem(logistic, net.eval(), torch.zeros(1), data)
