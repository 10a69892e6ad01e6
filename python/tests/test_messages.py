"""Wrong calls: the message names the argument, what is wrong with it, and the remedy."""

import numpy as np
import pytest

import saddle

QUADRATIC = {"problem": "quadratic", "iterations": 1}
X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.sign(X[:, 0])
MASKED = np.ma.array(X, mask=np.arange(240).reshape(60, 4) == 3)
AUC = {"problem": "auc", "data": (X, Y), "iterations": 3, "agents": 2}


class Own(saddle.Problem):
    x_dim = y_dim = 2
    samples = (3, 3)

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)

    def gradient(self, agent, rows, x, y):
        return x + y, x - y

    def value(self, agent, x, y):
        return x @ x / 2 + x @ y - y @ y / 2


def algorithm(**attributes):
    class Still(saddle.Algorithm):
        def step(self, agent):
            return agent.now.x, agent.now.y

    return type("Still", (Still,), attributes)()


RUNS = [
    ({"x_set": 5}, TypeError, "^x_set is 5; it must be a string such as 'l2-ball:2', a pair"),
    ({"y_set": (1,)}, TypeError, r"^y_set is \(1,\); it must be"),
    ({"x_set": ("a", "b")}, TypeError, "^bounds of x_set must be .* numbers: .*'a'"),
    ({"y_set": (1, 0)}, saddle.InputError, "^y_set: the box has the bounds 1 and 0"),
    ({"samples": "many"}, saddle.InputError, "^samples: 'many'"),
    ({"regularizer": (1, 2)}, TypeError, r"^regularizer is \(1, 2\); it must be"),
    ({"init_x": [1, 2]}, saddle.InputError, "^init_x: its length is 2, but x .* 20 entries; give"),
    ({"init_y": 5}, saddle.InputError, "^init_y: its length is 1, but y .* has 10"),
    ({"init_x": ["a"]}, TypeError, "^init_x must be an array of real numbers: .*'a'"),
    ({"init_x": np.full(20, np.nan)}, saddle.InputError, r"^init_x: x\[0\] is nan"),
    ({"topology": [(0, 1), (1, 2, 3)]}, ValueError, "give pairs"),
    ({"topology": [(0, 1), (1, 2)], "agents": 7}, saddle.InputError, "agent"),
    ({"mixing": 5}, ValueError, "^mixing has the shape .* 'metropolis' or a square matrix"),
    ({"mixing": [["a"]]}, TypeError, "^mixing must be an array"),
    ({"topology": np.ones((3, 3)) - np.eye(3), "agents": 2}, saddle.InputError, "leave it out"),
    ({"algorithm": 5}, TypeError, "^algorithm is 5; it must be a name"),
    ({"algorithm": ["gda"]}, TypeError, "^algorithm is .*; it must be a name"),
    ({"algorithm": algorithm(rounds=0)}, ValueError, "^rounds is 0; .* at least 1"),
    ({"algorithm": algorithm(traits={"fast": True})}, ValueError, "no trait 'fast'; traits are"),
    ({"algorithm": algorithm(options=("nu",), nu="a")}, TypeError, "^nu is 'a'"),
    ({"algorithm": algorithm(step=lambda self, agent: agent.mix("q"))}, ValueError, "'q' .* x, y"),
    ({"algorithm": algorithm(step=lambda self, agent: agent.draw(-1))}, ValueError, "^count is -1"),
    ({"problem": saddle.Instance("quadratic")}, TypeError, r"instance.run\(...\)"),
    ({"problem": Own}, TypeError, r"takes an object: Own\(...\)"),
    ({"problem": Own(samples=5)}, TypeError, "^samples is 5; it must be a list"),
    ({"problem": Own(samples=[-1, 3])}, ValueError, "samples is -1; .* at least 1"),
    ({"problem": Own(samples=[])}, ValueError, "^samples is empty"),
    ({"problem": Own(x_dim=-1)}, ValueError, "^x_dim is -1; .* at least 1"),
    ({"problem": Own(tau="a")}, TypeError, "^tau is 'a'; it must be a number"),
    ({"problem": Own(lipschitz="a")}, TypeError, "^lipschitz is 'a'"),
    ({"problem": Own(value=lambda *_: None)}, TypeError, r"value\(\) returned is None"),
    ({"problem": Own(outcomes=lambda *_: [1])}, TypeError, r"outcomes\(\) must return a dict"),
    ({"problem": Own(outcomes=lambda *_: {"a": "b"})}, TypeError, "outcome 'a' is 'b'"),
    ({"problem": Own(start=lambda *_: 5)}, TypeError, r"start\(\) must return x0 and y0, not 5"),
    ({"problem": Own(gradients=lambda *_: 5)}, TypeError, r"gradients\(\) must return .* not 5"),
    ({**AUC, "data": ([[1, 2], [3]], [1, -1])}, TypeError, "^X must be an array of real numbers"),
    ({**AUC, "data": (X + 1j, Y)}, TypeError, "^X must be .* complex"),
    ({**AUC, "data": (X.astype("M8[s]"), Y)}, TypeError, r"^X must be .* a date; give the time"),
    ({**AUC, "data": (X.astype("m8[s]"), Y)}, TypeError, "^X must be .* a time; divide it by a"),
    ({**AUC, "data": (X.astype(str), Y)}, TypeError, r"^X must be .* text; .* \.astype\(float\)"),
    ({**AUC, "data": (X.astype("S"), Y)}, TypeError, "^X must be .* text; convert"),
    ({**AUC, "data": (X.astype(str).astype(object), Y)}, TypeError, "^X must be .* text; convert"),
    ({**AUC, "data": (X, Y.astype(str))}, TypeError, "^y must be .* text; .* np.unique"),
    ({**AUC, "data": (list(MASKED), Y)}, ValueError, "^X has masked entries; fill them in"),
    ({**AUC, "data": (np.full((60, 4), 2**53 + 1), Y)}, ValueError, "^X has .* 9007199254740993,"),
    ({**AUC, "data": ([[-(10**30)]] * 60, Y)}, ValueError, "^X has the integer -10{30}, "),
    ({"init_x": MASKED.ravel()[:20]}, ValueError, "^init_x has masked entries"),
    ({"init_x": np.arange(20).astype("M8[s]")}, TypeError, "^init_x must be .* a date"),
    ({"problem": Own(tau=np.timedelta64(5))}, TypeError, "^tau is .*timedelta64.* be a number"),
    ({**AUC, "data": {"X": X}}, TypeError, "^data takes .* not dict"),
    ({**AUC, "data": []}, TypeError, "for each agent"),
    ({**AUC, "data": 3 * [(X, Y)]}, saddle.InputError, "^data: its length is 3, but .* 2 agents"),
    ({**AUC, "data": [None, None]}, saddle.InputError, r"^data: .* data\[0\] is None"),
    ({**AUC, "data": [(X, Y), (X[:, 1:], Y)]}, saddle.InputError, "^data: X of agent 1 has 3"),
    ({**AUC, "test_data": (X[:, 1:], Y)}, saddle.InputError, "^test_data: X has 3 features"),
]


@pytest.mark.parametrize("options, kind, message", RUNS)
def test_runs(options, kind, message):
    with pytest.raises(kind, match=message) as caught:
        saddle.run(**{**QUADRATIC, **options})
    assert "say so" not in str(caught.value)


@pytest.mark.parametrize(
    "array, place, number, message",
    [
        ("indptr", -1, -1, r"^X.indptr\[60\] is -1; the offsets .* begin at 0"),
        ("indptr", 5, -3, r"^X.indptr\[5\] is -3; "),
        ("indptr", -1, 10**6, r"^X.indptr\[60\] is 1000000; .* at most 240"),
        ("indptr", 5, 100, r"^X.indptr\[6\] is 24; .* do not decrease"),
        ("indptr", 0, 1, r"^X.indptr\[0\] is 1; "),
        ("indices", 7, -1, r"^X.indices\[7\] is -1; columns are 0 to 3"),
        ("indices", 7, 4, r"^X.indices\[7\] is 4; "),
    ],
)
def test_sparse_rows(array, place, number, message):
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.csr_matrix(X)
    getattr(rows, array)[place] = number
    with pytest.raises(ValueError, match=message):
        saddle.run(**{**AUC, "data": (rows, Y)})


TUNES = [
    ({"search": {"batch": 5}}, TypeError, "^search: batch is 5; it must be a list"),
    ({"search": 5}, TypeError, r"^search is 5; it must be a dict such as {'batch': \[10, 20\]}"),
    ({"search": {"batch": ["x"]}}, saddle.InputError, "^search: batch: 'x' is not a whole number"),
    ({"budget": -1}, ValueError, "^budget is -1; it must be a whole number"),
    ({"budget": "1e6"}, TypeError, "^budget is '1e6'; it must be a number"),
    ({"candidates": 1.5}, ValueError, "^candidates is 1.5; it must be a whole number"),
    ({"objective": 5}, TypeError, "^objective is 5; it must be a text"),
    ({"hold": 5}, TypeError, "^hold is 5; it must be a text"),
    ({"log": 5}, TypeError, "^log is 5; it must be a text or a path"),
]


@pytest.mark.parametrize("options, kind, message", TUNES)
def test_searches(options, kind, message):
    with pytest.raises(kind, match=message):
        saddle.tune("quadratic", **options)


COMPARISONS = [
    ({"repeats": 1.5}, ValueError, "^repeats is 1.5; .* whole number of at least 1"),
    ({"seed": "a"}, TypeError, "^seed is 'a'; it must be a number"),
    ({"algorithms": 5}, TypeError, "^algorithms is 5; it must be a list"),
    ({"algorithms": {"gda": 5}}, TypeError, "^algorithms: gda has 5; it must be a dict"),
    ({"algorithms": {"gda": {"agents": 5}}}, TypeError, r"^agents belongs .* to compare\(\)"),
]


@pytest.mark.parametrize("options, kind, message", COMPARISONS)
def test_comparisons(options, kind, message):
    with pytest.raises(kind, match=message):
        saddle.compare("quadratic", iterations=1, **options)


def test_models():
    trained, quadratic = saddle.run(**AUC), saddle.run(**QUADRATIC)
    calls = [
        (
            lambda: trained.predict(X[:, 1:]),
            ValueError,
            "^X has 3 features, but the model was trained on 4",
        ),
        (lambda: quadratic.predict(X), ValueError, "^the result is a model of problem quadratic"),
        (lambda: trained.predict(None), ValueError, "it must have rows and columns"),
        (lambda: saddle.predict(5, X), TypeError, "^model is 5; it must be a text or a path"),
        (lambda: saddle.predict(trained, X, plugin=5), TypeError, "^plugin is 5"),
        (lambda: saddle.load(5), TypeError, "^path is 5"),
        (lambda: trained.save(5), TypeError, "^path is 5"),
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message):
            call()


def test_networks():
    calls = [
        (lambda: saddle.graph("ring", -1), ValueError, "^agents is -1; .* at least 1"),
        (lambda: saddle.graph("ring", 5, seed="a"), TypeError, "^seed is 'a'"),
        (lambda: saddle.graph("ring", 5, mixing=5), TypeError, "^mixing is 5; .* a rule"),
        (lambda: saddle.graph([(0, 1)], mixing=5), ValueError, "^mixing has the shape"),
        (lambda: saddle.check_grad("quadratic", points="a"), TypeError, "^points is 'a'"),
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message):
            call()


def test_samples_of_a_problem_in_python_are_its_own(caplog):
    saddle.run(Own(), samples=5, iterations=1)
    assert "samples: not used by problem python" in caplog.text


def test_names_of_files_are_left_alone():
    for path in "/shards/x-set/NULL.csv", "/shards/of --x-set and NULL's --tau":
        with pytest.raises(saddle.InputError, match=f"^data: .*'{path}'"):
            saddle.run("auc", data=path)


def test_options_are_keywords():
    with pytest.raises(saddle.InputError, match="^stop_on: it needs stop_after, the number"):
        saddle.run(**QUADRATIC, stop_on="auc")
    with pytest.raises(saddle.InputError, match=r"; set x_set to none or choose another"):
        saddle.run(**QUADRATIC, algorithm="sreda", x_set="box:0:1")
    with pytest.raises(saddle.InputError, match="^hold: tau is also listed in search;"):
        saddle.tune("quadratic", hold="tau", search={"tau": [1, 2]})
    with pytest.raises(saddle.InputError, match="^search: x_dim: '0' is out of range"):
        saddle.tune("quadratic", search={"x_dim": [0]})


def test_whole_numbers_may_be_floats():
    assert saddle.run("quadratic", iterations=2e0, max_ifo=1e6).settings["max_ifo"] == 1000000
    with pytest.raises(saddle.InputError, match="^iterations: '2.5'"):
        saddle.run("quadratic", iterations=2.5)


BROKEN = "a\nb\x1b[31m"


@pytest.mark.parametrize(
    "call",
    [
        lambda: saddle.run(**QUADRATIC, topology=BROKEN),
        lambda: saddle.run(**QUADRATIC, topology="file:" + BROKEN),
        lambda: saddle.run(**QUADRATIC, mixing=BROKEN),
        lambda: saddle.run(**QUADRATIC, links=BROKEN),
        lambda: saddle.run(**QUADRATIC, churn=BROKEN),
        lambda: saddle.run(**QUADRATIC, link_model=BROKEN),
        lambda: saddle.run(**QUADRATIC, x_set=BROKEN),
        lambda: saddle.run(**QUADRATIC, regularizer=BROKEN),
        lambda: saddle.run(**QUADRATIC, init=BROKEN),
        lambda: saddle.run(**QUADRATIC, algorithm=BROKEN),
        lambda: saddle.run(**QUADRATIC, trace=BROKEN + "/t.csv"),
        lambda: saddle.run(**QUADRATIC, checkpoint=BROKEN + "/c"),
        lambda: saddle.run(**QUADRATIC, resume=BROKEN),
        lambda: saddle.run(**QUADRATIC, **{BROKEN: 1}),
        lambda: saddle.run(BROKEN, iterations=1),
        lambda: saddle.run("auc", data="./" + BROKEN, iterations=1),
        lambda: saddle.run(Own(name=BROKEN, lipschitz=-1.0), iterations=1),
        lambda: saddle.load(BROKEN),
        lambda: saddle.run(**QUADRATIC).save(BROKEN + "/m.npz"),
        lambda: saddle.compare("quadratic", iterations=1, algorithms=[BROKEN]),
        lambda: saddle.tune("quadratic", search={BROKEN: [1]}),
    ],
)
def test_messages_are_one_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((saddle.Error, OSError, TypeError, ValueError)) as caught:
        call()
    assert "\n" not in str(caught.value) and "\x1b" not in str(caught.value)


def test_outputs_keep_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ch").write_text("2 leave 1\n4 return 1\n")
    (tmp_path / "lm").write_text("default latency 0.01\n")
    (tmp_path / "ed").write_text("0 1\n1 2\n2 0\n")
    inputs = {"churn": "ch", "link_model": "lm", "links": "sequence:complete,file:ed"}
    for option, value in inputs.items():
        path = value.split(":")[-1]
        before = (tmp_path / path).read_text()
        for output in "trace", "model":
            with pytest.raises(saddle.InputError, match=f"'{path}' is also the file of"):
                saddle.run("quadratic", iterations=3, agents=3, **{option: value, output: path})
            assert (tmp_path / path).read_text() == before
