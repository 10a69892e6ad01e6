"""saddle.run(): the program's bits, options, data, networks, sets, results, errors, interrupts."""

import concurrent.futures
import gc
import html
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import saddle
from saddle._callbacks import Callbacks
from saddle._library import ffi
from saddle.data import dataset

SMALL = {"agents": 4, "topology": "ring", "iterations": 30, "seed": 7}


def as_arguments(options):
    pairs = [("--" + name.replace("_", "-"), str(value)) for name, value in options.items()]
    return [word for pair in pairs for word in pair]


def run_program(program, directory, *arguments):
    command = [program, "run", "--quiet", "--trace", "t.csv", "--model", "m.npz", *arguments]
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)
    lines = [line for line in (directory / "t.csv").read_text().splitlines() if line[:1] != "#"]
    names = lines[0].split(",")
    cells = [[float(cell or "nan") for cell in line.split(",")] for line in lines[1:]]
    trace = dict(zip(names, np.array(cells).T))
    return np.load(directory / "m.npz"), trace


def assert_same_run(result, model, trace):
    for mine, its in (("x", "xbar"), ("y", "ybar"), ("x_agents", "x"), ("y_agents", "y")):
        assert getattr(result, mine).tobytes() == model[its].tobytes()
    for name, column in trace.items():
        if name != "seconds":
            assert np.array_equal(result.trace[name], column, equal_nan=True), name


@pytest.mark.parametrize("algorithm", ["precision", "precision+", "precision-auto", "sgda"])
@pytest.mark.parametrize("problem", ["robust-logistic", "auc"])
def test_same_bits_as_the_program(program, tmp_path, problem, algorithm):
    options = {**SMALL, "problem": problem, "algorithm": algorithm, "data": "synthetic:300:20"}
    options["outcomes"] = "always" if problem == "auc" else "auto"
    model, trace = run_program(program, tmp_path, *as_arguments(options))
    result = saddle.run(**options)
    assert_same_run(result, model, trace)
    assert len(trace["metric"]) > 5


def test_arrays_have_the_bits_of_files(program, tmp_path, rows):
    X, y = rows
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    arguments = as_arguments(
        {**SMALL, "data": "rows.npz", "test_data": "rows.npz", "problem": "auc"}
    )
    model, trace = run_program(program, tmp_path, *arguments)
    result = saddle.run("auc", data=(X, y), test_data=(X, y), outcomes="always", **SMALL)
    assert_same_run(result, model, trace)
    assert set(result.outcomes) >= {"train_auc", "test_auc"}


def test_sparse_rows_are_those_of_dense_ones(rows):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = rows
    X = np.where(np.abs(X) > 1.5, X, 0.0)  # so few that dense rows are stored sparse
    dense = saddle.run(data=(X, y), **SMALL)
    for form in (sparse.csr_matrix, sparse.coo_matrix, sparse.csc_matrix):
        assert np.array_equal(saddle.run(data=(form(X), y), **SMALL).x, dense.x)
    unsorted = sparse.csr_matrix(X)
    unsorted.indices = unsorted.indices.copy()
    first = slice(unsorted.indptr[0], unsorted.indptr[1])
    unsorted.indices[first] = unsorted.indices[first][::-1].copy()
    unsorted.data[first] = unsorted.data[first][::-1].copy()
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    assert np.array_equal(saddle.run(data=(unsorted, y), **SMALL).x, dense.x)


def test_arrays_are_not_copied(rows):
    sparse = pytest.importorskip("scipy.sparse")
    X, y = rows
    keep = Callbacks()

    def address(pointer):
        return int(ffi.cast("uintptr_t", pointer))

    assert address(dataset(X, y, keep).dense) == X.ctypes.data
    csr = sparse.csr_matrix(X)
    made = dataset(csr, y, keep)
    assert address(made.value) == csr.data.ctypes.data
    assert address(made.column) == csr.indices.ctypes.data
    turned = np.asfortranarray(X)
    assert address(dataset(turned, y, keep).dense) != turned.ctypes.data


def test_data_per_agent_are_those_of_contiguous_parts(rows):
    X, y = rows
    parts = [(X[100 * k : 100 * (k + 1)], y[100 * k : 100 * (k + 1)]) for k in range(4)]
    own = saddle.run(data=parts, topology="ring", iterations=30, seed=7)
    shared = saddle.run(data=(X, y), partition="contiguous", **SMALL)
    assert np.array_equal(own.x_agents, shared.x_agents)
    assert len(own.x_agents) == 4


def test_wrong_data_are_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"y has the shape \(3,\)"):
        saddle.run(data=(X, y[:3]))
    with pytest.raises(ValueError, match="rows and columns"):
        saddle.run(data=(X[0], y[0]))
    with pytest.raises(TypeError, match="y must be an array of real numbers"):
        saddle.run(data=(X, y.astype(str)))
    with pytest.raises(TypeError, match="one per agent"):
        saddle.run(data=[X, y])
    with pytest.raises(TypeError, match="takes a name"):
        saddle.run(data=X)
    for labelless in (
        {"data": (X, None)}, {"data": [(X, None)]}, {"data": rows, "test_data": (X, None)}
    ):
        with pytest.raises(TypeError, match="needs labels"):
            saddle.run("robust-regression", **labelless)
    for wrong in (5, X, (X, y, y)):
        with pytest.raises(TypeError, match="test_data takes"):
            saddle.run("auc", data=rows, test_data=wrong)
    broken = X.copy()
    broken[3, 2] = np.nan
    with pytest.raises(saddle.InputError, match="nan"):
        saddle.run(data=(broken, y))
    with pytest.raises(ValueError, match="X has masked entries"):
        saddle.run(data=(np.ma.array(X, mask=X > 2), y))
    with pytest.raises(ValueError, match="y has masked entries"):
        saddle.run(data=(X, np.ma.array(y, mask=y > 0)))


def test_broken_sparse_rows_are_refused(rows):
    """Arrays of a CSR matrix can be replaced without any check."""
    sparse = pytest.importorskip("scipy.sparse")
    X, y = rows
    cut, far, negative, backward = (sparse.csr_matrix(X) for _ in range(4))
    assert all(matrix.has_canonical_format for matrix in (cut, far, negative, backward))
    cut.data = cut.data[:10].copy()
    with pytest.raises(ValueError, match=r"X.indptr\[2\] is 16; .* at most 10"):
        saddle.run(data=(cut, y))
    far.indices = far.indices.astype(np.int64) + 2**32
    negative.indices[5] = -1
    for broken in (far, negative):
        with pytest.raises(ValueError, match="X.indices.* columns are 0 to 7"):
            saddle.run(data=(broken, y))
    backward.indptr[3] = -5
    with pytest.raises(ValueError, match=r"X.indptr\[3\] is -5"):
        saddle.run(data=(backward, y))


@pytest.mark.parametrize(
    "more, message",
    [
        ({"labels": 0}, "contains both y and labels; save it with only one"),
        ({"features": 0}, "contains both X and features"),
        ({"indptr": 0}, "contains both indptr and X"),
    ],
)
def test_files_with_two_answers_are_refused(tmp_path, rows, more, message):
    arrays = {"X": rows[0], "y": rows[1]}
    np.savez(tmp_path / "rows.npz", **arrays)
    saddle.Instance(data=tmp_path / "rows.npz")
    np.savez(tmp_path / "rows.npz", **arrays, **more)
    with pytest.raises(saddle.InputError, match=message):
        saddle.Instance(data=tmp_path / "rows.npz")


def test_arrays_of_one_name_are_refused(tmp_path, rows):
    import warnings
    import zipfile

    np.savez(tmp_path / "rows.npz", X=rows[0], y=rows[1])
    saddle.run("quadratic", **SMALL).save(tmp_path / "m.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, member in (("rows.npz", "X.npy"), ("m.npz", "x.npy")):
            with zipfile.ZipFile(tmp_path / name, "a") as archive:
                archive.writestr(member, archive.read(member))
    with pytest.raises(saddle.InputError, match="'X'.* more than one array of this name"):
        saddle.Instance(data=tmp_path / "rows.npz")
    with pytest.raises(saddle.InputError, match="'x'.* more than one array of this name"):
        saddle.load(tmp_path / "m.npz")


def test_keywords_are_checked():
    with pytest.raises(TypeError, match="'iteration'; did you mean 'iterations'"):
        saddle.run("quadratic", iteration=3)
    with pytest.raises(TypeError, match="'max-ifo'; did you mean 'max_ifo'"):
        saddle.run("quadratic", **{"max-ifo": 3})
    with pytest.raises(TypeError, match="unexpected keyword argument 'qwertyuiop'"):
        saddle.run("quadratic", qwertyuiop=1)
    with pytest.raises(TypeError, match="tau takes a text, a number"):
        saddle.run("quadratic", tau={})
    with pytest.raises(ValueError, match="^tau: '-1' is out of range"):
        saddle.run("quadratic", tau=-1.0)
    with pytest.raises(
        saddle.InputError, match="^x_set: there is no set 'boxx'; did you mean 'box'"
    ):
        saddle.run("quadratic", x_set="boxx:1")
    with pytest.raises(ValueError, match="^x_set: .* contains a NUL character"):
        saddle.run("quadratic", x_set="box:0:1\0:2")
    with pytest.raises(TypeError, match="topology belongs to the instance"):
        saddle.Instance("quadratic").run(topology="ring")


def test_every_option_of_the_program_is_a_keyword(program):
    listed = subprocess.run(
        [program, "run", "--help-all"], text=True, stdout=subprocess.PIPE, check=True
    )
    names = set(re.findall(r"^  +--([a-z0-9-]+)", listed.stdout, flags=re.M))
    assert len(names) > 60
    of_the_program_alone = {"config", "quiet", "report", "json", "help", "help-all", "version"}
    assert names - of_the_program_alone == set(saddle.options())


def test_values_of_options():
    r = saddle.run(
        "quadratic", iterations=np.int64(3), tau=np.float64(30), pin=False, trace_every=1,
        samples=[50, 60, 70], agents=3, topology="complete", nu=None,
    )  # fmt: skip
    assert r.settings["iterations"] == 3 and r.settings["tau"] == 30
    assert r.settings["samples"] == [50, 60, 70]
    assert r.trace.iteration.tolist() == [0, 1, 2, 3] and r.trace.iteration.dtype == np.int64


def test_networks():
    networkx = pytest.importorskip("networkx")
    sparse = pytest.importorskip("scipy.sparse")
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    adjacency = np.zeros((4, 4))
    for i, j in ring:
        adjacency[i, j] = adjacency[j, i] = 1
    expected = saddle.run("quadratic", agents=4, topology="ring", iterations=20)
    named = networkx.relabel_nodes(networkx.cycle_graph(4), dict(enumerate("abcd")))
    for given in (ring, np.array([*ring]), adjacency, sparse.csr_matrix(adjacency), named):
        assert np.array_equal(saddle.run("quadratic", topology=given, iterations=20).x, expected.x)
    weights = saddle.graph("ring", 4, "metropolis").weights
    by_rule = saddle.run("quadratic", agents=4, topology="ring", mixing="metropolis", iterations=20)
    forms = (
        {"topology": weights},
        {"topology": ring, "mixing": weights},
        {"mixing": sparse.csr_matrix(weights)},
    )
    for given in forms:
        assert np.allclose(saddle.run("quadratic", iterations=20, **given).x, by_rule.x, rtol=1e-9)
    other = saddle.run("quadratic", topology=weights, mixing="lazy-metropolis", iterations=20)
    assert other.settings["mixing"] == "lazy-metropolis"
    with pytest.raises(saddle.InputError, match="not connected|disconnected|components"):
        saddle.run("quadratic", topology=[(0, 1), (2, 3)])
    for wrong in ([(0, 1, 0.5), (1, 2, 0.5)], [(0, 1, 2), (1, 2, 3)], [(0, 1), (1, -1)], [0, 1]):
        with pytest.raises(ValueError, match="edges (have the shape|must be pairs)"):
            saddle.run("quadratic", topology=wrong)
    numbered = networkx.Graph([(3, 0), (0, 2), (2, 1)])
    assert saddle.graph(numbered).edges.tolist() == [[0, 2], [0, 3], [1, 2]]
    with pytest.raises(ValueError, match="symmetric"):
        saddle.run("quadratic", topology=np.array([[0, 1], [0, 0]]))
    with pytest.raises(ValueError, match="4 agents"):
        saddle.run("quadratic", topology=ring, mixing=np.eye(3))
    with pytest.raises(TypeError, match="leave topology out"):
        saddle.run("quadratic", topology="path", agents=4, mixing=weights)


def test_forms_of_networks():
    networkx = pytest.importorskip("networkx")
    ring = saddle.graph("ring", 4)
    both_ways = networkx.cycle_graph(4).to_directed()
    twice = networkx.MultiGraph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 1)])
    lists = (ring.weights != 0).astype(int) - np.eye(4, dtype=int)
    for given in (ring, both_ways, twice, lists.tolist(), iter(ring.edges.tolist())):
        assert np.array_equal(saddle.graph(given).edges, ring.edges)
    for two in ([(0, 1), (1, 2)], np.array([(0, 1), (1, 2)])):
        assert saddle.graph(two).edges.tolist() == [[0, 1], [1, 2]]
    pair = saddle.graph(np.array([[0.4, 0.6], [0.6, 0.4]]))
    assert pair.agents == 2 and abs(pair.weights[0, 1] - 0.6) < 1e-9
    for wrong in ([(0, 1, 1), (1, 2, 1)], [(-1, 0), (0, 1), (1, 2)], [(0.5, 1)], [0, 1]):
        with pytest.raises(ValueError, match="pairs"):
            saddle.graph(wrong)
    with pytest.raises(TypeError, match="topology takes .* not int"):
        saddle.graph(5)


def test_graph():
    g = saddle.graph(np.array([[0.5, 0.5, 0], [0.5, 0.2, 0.3], [0, 0.3, 0.7]]))
    assert g.agents == 3 and g.edges.tolist() == [[0, 1], [1, 2]] and g.diameter == 2
    eigenvalues = np.sort(np.linalg.eigvalsh(g.weights))
    assert np.isclose(g.lambda2, eigenvalues[-2]) and np.isclose(g.lambda_m, eigenvalues[0])
    assert saddle.graph("grid:3x4").agents == 12
    networkx = pytest.importorskip("networkx")
    hypercube = saddle.graph("hypercube", 8)
    assert networkx.diameter(hypercube.to_networkx()) == hypercube.diameter == 3


def test_sets():
    options = {**SMALL, "x_dim": 6, "iterations": 200}
    box = saddle.run("quadratic", x_set="box:-0.1:0.2", **options)
    for given in ((-0.1, 0.2), (np.full(6, -0.1), [0.2] * 6), lambda v: np.clip(v, -0.1, 0.2)):
        assert np.allclose(saddle.run("quadratic", x_set=given, **options).x, box.x, atol=1e-12)
    half = saddle.run("quadratic", x_set=(None, 0.0), **options)
    assert half.x_agents.max() <= 1e-12 and half.x_agents.min() < -1e-3
    with pytest.raises(ValueError, match=r"must be \(6,\)"):
        saddle.run("quadratic", x_set=([0, 0], [1, 1]), **options)
    with pytest.raises(TypeError, match="a projection is None; return an array"):
        saddle.run("quadratic", x_set=lambda v: None, **options)
    with pytest.raises(TypeError, match=r"takes an object: Algorithm\(\)"):
        saddle.run("quadratic", algorithm=saddle.Algorithm, **options)
    with pytest.raises(ValueError, match="a projection has the shape"):
        saddle.run("quadratic", x_set=lambda v: v[:2], **options)
    with pytest.raises(ZeroDivisionError):
        saddle.run("quadratic", y_set=lambda v: v / (1 // 0), **options)


def test_regularizers():
    options = {**SMALL, "x_dim": 6, "iterations": 200}
    by_name = saddle.run("quadratic", regularizer="l1:0.3", **options)
    own = (
        lambda x: 0.3 * np.abs(x).sum(),
        lambda x, step: np.sign(x) * np.maximum(np.abs(x) - 0.3 * step, 0),
    )
    result = saddle.run("quadratic", regularizer=own, **options)
    assert np.allclose(result.x, by_name.x, atol=1e-10)
    assert np.allclose(result.trace.loss, by_name.trace.loss, rtol=1e-9)
    with pytest.raises(TypeError, match="pair of functions"):
        saddle.run("quadratic", regularizer=3)


def test_start():
    first = saddle.run("quadratic", iterations=10, **{"agents": 4, "topology": "ring"})
    x0, y0 = np.arange(20.0), np.ones(len(first.y))
    r = saddle.run("quadratic", init_x=x0, init_y=y0, iterations=0, agents=4, topology="ring")
    assert np.array_equal(r.x, x0) and np.array_equal(r.y, y0)
    with pytest.raises(saddle.InputError, match="20"):
        saddle.run("quadratic", init_x=x0[:5])


def test_results(tmp_path, rows):
    r = saddle.run("auc", data=rows, test_data=rows, **SMALL)
    assert r.stop == "iterations" and "iterations" in r.message and r.iteration == 30
    assert np.allclose(r.x, r.x_agents.mean(axis=0)) and np.allclose(r.y, r.y_agents.mean(axis=0))
    assert r.outcomes["test_auc"] == r.trace.test_auc[-1]
    copy = pickle.loads(pickle.dumps(r))
    for one in (copy, pickle.loads(pickle.dumps(copy))):
        assert np.array_equal(one.x_agents, r.x_agents) and one.outcomes == r.outcomes
        assert one.settings == r.settings and np.array_equal(one.trace.metric, r.trace.metric)
        assert repr(one) == repr(r)
    r.save(tmp_path / "a.npz")
    copy.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    loaded = saddle.load(tmp_path / "a.npz")
    assert np.array_equal(loaded.y_agents, r.y_agents) and loaded.settings["problem"] == "auc"
    with pytest.raises(ValueError, match="no trace"):
        loaded.plot()
    for one in (r, copy, loaded):
        assert np.array_equal(one.predict(rows[0]), saddle.predict(tmp_path / "a.npz", rows[0]))
    with pytest.raises(AttributeError, match="no column 'nothing'"):
        r.trace.nothing
    with pytest.raises(KeyError, match="no column 'nothing'; it has iteration, "):
        r.trace["nothing"]
    assert loaded.trace is None and loaded.outcomes == {} and loaded.stop == loaded.message == ""
    loaded.save(tmp_path / "again.npz")
    with pytest.raises(saddle.InputError, match="ends in .npy"):
        loaded.save(tmp_path / "again.npy")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-30])
    (tmp_path / "text.npz").write_text("x")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    for name in ("cut.npz", "text.npz", "other.npz"):
        with pytest.raises(saddle.InputError, match=f"{name}' is not a model; give a model file"):
            saddle.load(tmp_path / name)


MODELS = [
    ({"xbar": np.full(20, np.nan)}, "entry 0 of 'xbar' in .* is nan"),
    ({"x": np.full((5, 20), np.inf)}, "entry 0 of 'x' in .* is inf"),
    ({"x": np.ones((5, 3))}, r"x and y have the shapes \(5, 3\)"),
    ({"x": np.ones((4, 20))}, r"x and y have the shapes \(4, 20\) and \(5, 10\)"),
    ({"xbar": np.ones((20, 1))}, "its 'xbar' has rank 2"),
    ({"y": np.array("text")}, "'y'"),
    ({"ybar": np.array(["1"] * 10)}, "'ybar'"),
    ({"iteration": np.array(1.5)}, "'iteration' is not an integer"),
    ({"settings": np.array("problem")}, "'problem' in its settings is not a line"),
    ({"settings": np.ones(3)}, "'settings'"),
    ({"x": np.zeros((1000, 20000))}, "'x'.* it expands to 160000128 bytes"),  # 155 kB
]


@pytest.mark.parametrize("changes, message", MODELS)
def test_forged_models_are_refused(tmp_path, changes, message):
    saddle.run("quadratic", **{**SMALL, "agents": 5}).save(tmp_path / "m.npz")
    arrays = {**np.load(tmp_path / "m.npz"), **changes}
    np.savez_compressed(tmp_path / "forged.npz", **arrays)
    with pytest.raises(saddle.InputError, match=message):
        saddle.load(tmp_path / "forged.npz")


FULL_DISK = """
import pickle, resource
import numpy as np
import saddle

run = saddle.run("quadratic", iterations=2)
run.save("m.npz")
before = open("m.npz", "rb").read()
page = saddle.report(run, "r.html").read_bytes()
results = [run, saddle.load("m.npz"), pickle.loads(pickle.dumps(run))]
calls = [(1000, lambda r=r: r.save("m.npz")) for r in results]
calls.append((20000, lambda: saddle.report(run, "r.html")))
for most, call in calls:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, -1))  # as if the disk were full
    try:
        call()
    except saddle.Error as why:
        print(why)
    else:
        raise SystemExit("it was written")
assert open("m.npz", "rb").read() == before and open("r.html", "rb").read() == page
"""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    subprocess.run([sys.executable, "-c", FULL_DISK], check=True, cwd=tmp_path)


def test_diverged_results_are_pickled(tmp_path):
    diverged = saddle.run("quadratic", algorithm="gda", eta_x=1e300, eta_y=1e300, iterations=9)
    assert diverged.stop == "diverged"
    copy = pickle.loads(pickle.dumps(diverged))
    assert copy.x.tobytes() == diverged.x.tobytes() and copy.message == diverged.message
    for name, one in (("a.npz", diverged), ("b.npz", copy)):
        one.save(tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_pandas():
    pandas = pytest.importorskip("pandas")
    frame = saddle.run("quadratic", **SMALL).trace.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns)[:2] == ["iteration", "ifo"]


def test_pictures(tmp_path):
    r = saddle.run("quadratic", **SMALL)
    shown = r._repr_html_()
    page = html.unescape(re.search(r'<iframe srcdoc="([^"]*)"', shown)[1])
    assert page == saddle.report(r, tmp_path / "r.html").read_text() and "precision" in shown
    r.save(tmp_path / "m.npz")
    assert saddle.load(tmp_path / "m.npz")._repr_html_() is None
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = r.plot("metric", "rounds")
    assert axes.get_yscale() == "log" and len(axes.lines) == 1
    assert np.array_equal(axes.lines[0].get_ydata(), r.trace.metric)


def test_groups_settle_because_steps_are_extrapolated():
    draw = np.random.default_rng(1)
    member, age = draw.integers(0, 2, 1200), draw.normal(40, 12, 1200)
    spent, visits = np.exp(draw.normal(3, 1, 1200)), draw.poisson(5, 1200)
    score = 0.8 * (member - 0.5) + 0.03 * (age - 40) + 0.2 * (visits - 5) - 0.5 * np.log(spent / 20)
    labels = np.where(draw.random(1200) < 1 / (1 + np.exp(-score)), 1, -1)
    rows = np.column_stack([member, age, spent, visits])
    parts = [(rows[k::6], labels[k::6]) for k in range(6)]
    common = {"groups": "1,label", "topology": "ring", "tolerance": 1e-8, "iterations": 600}
    assert saddle.run("group-dro", parts, **common).gap <= 1e-8
    with pytest.warns(saddle.NotSolvedWarning):
        assert saddle.run("group-dro", parts, **common, without="extrapolation").gap > 0.01


def test_runs_that_are_not_solved_say_so(program, recwarn):
    def said(**options):
        recwarn.clear()
        saddle.run("quadratic", **options)
        messages = [str(w.message) for w in recwarn if w.category is saddle.NotSolvedWarning]
        assert all(w.filename == __file__ for w in recwarn)
        return messages

    (line,) = said(algorithm="precision", iterations=30)
    number = r"[\d.e-]+"
    assert re.fullmatch(
        f"not solved: the gap {number} is above 0.0001; raise iterations from 30, or try "
        "precision-auto",
        line,
    )
    (line,) = said(algorithm="precision-auto", max_rounds=9, tolerance=1e-3)
    assert re.fullmatch(
        f"not solved: the gap {number} is above 0.001; raise max_rounds from 9, or try precision",
        line,
    )
    gap = saddle.Instance("quadratic").run(iterations=0).gap
    (line,) = said(iterations=0, tolerance=np.floor(100 * gap) / 100)
    shown = re.search(f"the gap ({number}) is above ({number});", line)
    assert float(shown[1]) > float(shown[2])
    assert said(iterations=30, gap="never") == []
    assert said(iterations=30, stop_when="metric<=1e9") == []
    assert said(iterations=30, tolerance=1e9) == []
    assert said(curvature="convex", algorithm="precision-auto") == []
    instance = saddle.Instance("quadratic")
    with pytest.warns(saddle.NotSolvedWarning, match="raise iterations from 20") as warned:
        instance.run("precision", iterations=20)
    assert len(warned) == 1 and warned[0].filename == __file__
    # The program's summary has the same rule.
    for tolerance, solved in (("1e-9", "NOT SOLVED (above 1e-09)"), ("100", ", solved;")):
        words = [program, "run", "--problem", "quadratic", "--iterations", "30", "--tolerance"]
        words += [tolerance, "--gap", "end"]
        assert solved in subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_default_algorithm():
    def chosen(**options):
        return saddle.run("quadratic", iterations=2, gap="never", **options).settings["algorithm"]

    assert chosen() == chosen(algorithm="auto") == chosen(nu=0.05) == "precision-auto"
    assert chosen(compress="quantize:4") == chosen(compress="quantize:16") == "precision"
    assert chosen(batch=4) == chosen(algorithm="auto", tau=20) == "precision"
    assert chosen(compress="top:0.5") == "precision"
    assert chosen(algorithm="gda") == "gda"
    # The compression is the instance's, the other options are the run's.
    instance = saddle.Instance("quadratic", compress="random:0.5")
    assert instance.run(iterations=2, gap="never").name == "precision"
    assert instance.run("precision-auto", iterations=2, gap="never").name == "precision-auto"


def test_divergence():
    with pytest.warns(saddle.NotSolvedWarning, match="the run diverged: .*; raise tau from 0.001"):
        saddle.run("quadratic", tau=1e-3, alpha=50, iterations=3000)
    r = saddle.run("quadratic", tau=1e-3, alpha=50, iterations=3000)
    assert r.stop == "diverged" and "agent" in r.message
    assert "; raise tau from 0.001 to 50 and lower alpha from 50 to 0.1" in r.message
    assert "or try algorithm precision-auto, which" in r.message
    r = saddle.run("quadratic", algorithm="gda", eta_x=10, eta_y=0.01, x_set="none")
    assert r.message.endswith("; lower eta_x from 10 to 0.006")


def test_stall():
    fair = {"data": "synthetic:2000:10", "sensitive": 1, "fairness": 0, "agents": 20}
    with pytest.warns(saddle.NotSolvedWarning, match="the run stalled at its gradient noise; try"):
        r = saddle.run("fair", **fair, algorithm="precision+", c_gamma=10, iterations=2000)
    assert r.stop == "stalled" and r.message.endswith("; try c_gamma auto")
    r = saddle.run("fair", **fair, algorithm="precision+", c_gamma="auto", iterations=2000)
    assert r.stop == "iterations" and r.gap <= 1e-4


def test_files_and_checkpoints(tmp_path):
    whole = saddle.run("quadratic", iterations=40, agents=4, topology="ring")
    keep = {"agents": 4, "topology": "ring", "checkpoint": tmp_path / "c", "checkpoint_every": 10}
    saddle.run("quadratic", iterations=20, **keep)
    resumed = saddle.run(
        "quadratic", iterations=40, resume=tmp_path / "c", agents=4, topology="ring"
    )
    assert np.array_equal(resumed.x_agents, whole.x_agents)
    with pytest.raises(saddle.Error, match="nowhere|cannot|no such|No such"):
        saddle.run(data=tmp_path / "missing.csv")


def test_names_of_files_need_not_be_utf8(tmp_path):
    r = saddle.run("quadratic", iterations=2)
    with pytest.raises(saddle.Error, match=r"\\xff"):
        r.save(os.fsdecode(bytes(tmp_path) + b"/none/\xff.npz"))


FAILING_RUNS = """
import ctypes, gc
import numpy as np
import saddle

class Failing(saddle.Problem):
    x_dim, y_dim, samples, y_set = 20_000, 1, [1, 1], "box:0:1"
    calls = -1_000_000  # not while the instance is made

    def start(self, seed):
        if self.calls == 0:
            raise KeyError("on purpose")
        return np.ones(self.x_dim), np.ones(1)

    def gradient(self, agent, rows, x, y):
        self.calls += 1
        if self.calls == 10:  # in the middle of a run
            raise KeyError("on purpose")
        return x, -y

    def value(self, agent, x, y):
        return x @ x / 2 - y @ y / 2

    def best_response(self, x):
        return np.zeros(1)

class Mallinfo2(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Mallinfo2

def in_use():
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd

def project(v):
    raise KeyError("on purpose")

problem = Failing()
instance = saddle.Instance(problem)
rows = np.random.default_rng(0).normal(size=(20_000, 5))
calls = {
    "run": lambda: instance.run(iterations=30),
    "set-up": lambda: saddle.Instance(problem),
    "set": lambda: saddle.Instance("auc", data=(rows, np.sign(rows[:, 0])), x_set=project),
}
for name, call in calls.items():
    for k in range(12):
        problem.calls = 0
        before = in_use() if k < 3 else before  # the first calls warm up
        try:
            call()
        except KeyError:
            pass
        else:
            raise SystemExit(f"{name} did not fail")
    lost = in_use() - before
    assert lost < 8 * problem.x_dim, (name, lost)  # one vector, where they have several
"""


def test_failed_calls_are_freed():
    """What a run or an instance has until a function raises an exception is not leaked."""
    subprocess.run([sys.executable, "-c", FAILING_RUNS], check=True)


def test_exceptions_do_not_keep_instances():
    """An exception that is stored in a frame of its own traceback would need the collector."""
    import weakref

    failing = []

    def project(v):
        if failing:
            raise KeyError("on purpose")
        return v

    gc.disable()
    try:
        instance = saddle.Instance("quadratic", x_set=project)
        failing.append(True)
        try:
            instance.run(iterations=3)
        except KeyError:
            pass
        gone = weakref.ref(instance)
        del instance
        assert gone() is None
    finally:
        gc.enable()


def test_files_that_cannot_be_written(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with pytest.raises(OSError, match="/dev/full") as caught:
        saddle.run("quadratic", trace="/dev/full", **SMALL)
    result = getattr(caught.value, "result", None)
    assert result is None or result.stop == "iterations"


def test_ctrl_c():
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        saddle.run("quadratic", iterations=10**9, trace_every=10**6, tau=1e5)
    result = caught.value.result
    assert result.stop == "interrupted" and 0 < result.iteration < 10**9
    assert np.isfinite(result.x).all()


def test_ctrl_c_ends_a_search_within_an_evaluation():
    options = {"algorithm": "gt-gda", "candidates": 4, "budget": 10**12}
    timer = threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        saddle.tune("quadratic", **options)
    assert not caught.value.result.finished and len(caught.value.result.trials["value"]) < 4


class Interrupted(saddle.Problem):
    """Raises KeyboardInterrupt at a call of start() or of gradient()."""

    x_dim, y_dim, samples, y_set = 2, 1, [3, 3], "box:0:1"

    def __init__(self, at_start=False, at_gradient=0):
        self.at_start, self.at_gradient, self.calls = at_start, at_gradient, 0

    def start(self, seed):
        if self.at_start:
            raise KeyboardInterrupt
        return np.ones(2), np.ones(1)

    def gradient(self, agent, rows, x, y):
        self.calls += 1
        if self.calls == self.at_gradient:
            raise KeyboardInterrupt
        return x, -y

    def value(self, agent, x, y):
        return x @ x / 2 - y @ y / 2


SLOW_SET_UP = """
import ctypes, os, signal, threading
import saddle
from saddle import instance

mutex = ctypes.create_string_buffer(64)  # zeros: a mutex that is not locked
c = ctypes.CDLL(None)
c.pthread_mutex_lock(mutex)
lib, entered, ended = instance.lib, threading.Event(), threading.Event()

class Slow:
    def __getattr__(self, name):
        return getattr(lib, name)

    def saddle_instance_create(self, *arguments):
        entered.set()
        c.pthread_mutex_lock(mutex)  # as a long computation, no signal ends it
        return lib.saddle_instance_create(*arguments)

def interrupt():
    entered.wait()
    os.kill(os.getpid(), signal.SIGINT)
    if not ended.wait(30):
        os._exit(1)

instance.lib = Slow()
threading.Thread(target=interrupt, daemon=True).start()
try:
    saddle.run("quadratic")
except KeyboardInterrupt as interrupt:
    assert interrupt.result is None
    ended.set()
else:
    raise SystemExit("it was not interrupted")
"""


def test_ctrl_c_does_not_wait_for_the_set_up():
    subprocess.run([sys.executable, "-c", SLOW_SET_UP], check=True)


def test_ctrl_c_in_set_up_calls_no_function_again():
    whole = Interrupted()
    saddle.Instance(whole)
    problem = Interrupted(at_gradient=2)
    with pytest.raises(KeyboardInterrupt):
        saddle.Instance(problem)
    assert problem.calls == 2 < whole.calls
    problem = Interrupted()
    instance = saddle.Instance(problem)
    problem.calls, problem.at_gradient = 0, 2
    with pytest.raises(KeyboardInterrupt):
        saddle.check_grad(instance)
    assert problem.calls == 2


@pytest.mark.parametrize("function", [saddle.run, saddle.compare, saddle.tune])
def test_ctrl_c_before_the_first_iteration(function):
    with pytest.raises(KeyboardInterrupt) as caught:
        function(Interrupted(at_start=True))
    assert caught.value.result is None


def test_ctrl_c_leaves_complete_runs_of_a_comparison():
    options = {"algorithms": ["gda", "gt-gda"], "repeats": 2, "iterations": 20}
    whole = Interrupted()
    complete = saddle.compare(whole, **options)
    with pytest.raises(KeyboardInterrupt) as caught:
        saddle.compare(Interrupted(at_gradient=whole.calls - 1), **options)
    found = caught.value.result
    assert isinstance(found, saddle.Comparison) and [len(runs) for runs in found.values()] == [2, 1]
    assert found["gda"][1].x_agents.tobytes() == complete["gda"][1].x_agents.tobytes()
    assert found["gt-gda"][0].stop == "iterations"


def test_resume(tmp_path, rows):
    whole = saddle.run("auc", data=rows, agents=4, tau=3, iterations=30)
    first = {"agents": 4, "tau": 3, "iterations": 10, "checkpoint": tmp_path / "ck"}
    saddle.run("auc", data=rows, **first)
    # The other options are those of the first run.
    resumed = saddle.run(data=rows, iterations=20, resume=tmp_path / "ck")
    assert resumed.settings["tau"] == 3 and resumed.iteration == 20
    instance = saddle.Instance("auc", data=rows, agents=4)
    resumed = instance.run(iterations=30, resume=tmp_path / "ck")
    assert resumed.x_agents.tobytes() == whole.x_agents.tobytes()
    with pytest.raises(saddle.InputError, match="^data: .* resumed from C or Python, where the "):
        saddle.run(iterations=40, resume=tmp_path / "ck")
    with pytest.raises(saddle.InputError, match="cannot change agents: .*'4' .* '5'.* leave it"):
        saddle.run(data=rows, agents=5, iterations=40, resume=tmp_path / "ck")
    with pytest.raises(saddle.InputError, match="^the data, .* have changed since the run of "):
        saddle.run(data=(rows[0] + 1, rows[1]), iterations=40, resume=tmp_path / "ck")
    with pytest.raises(saddle.InputError, match="^resume: cannot read 'nowhere'"):
        saddle.run(data=rows, resume="nowhere")
    with pytest.raises(TypeError, match="cannot resume; run"):
        saddle.compare("auc", data=rows, resume=tmp_path / "ck")


class Logistic(saddle.Problem):
    """Its loss at the start is log 2, whatever the data."""

    x_dim, y_dim, samples = 3, 1, [20] * 4

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.a, self.b = rng.normal(size=(4, 20, 3)), np.sign(rng.normal(size=(4, 20)))

    def start(self, seed):
        return np.zeros(3), np.zeros(1)

    def gradient(self, agent, rows, x, y):
        a, b = self.a[agent][rows], self.b[agent][rows]
        return -(b / (1 + np.exp(b * (a @ x)))) @ a / len(b) + 0.1 * y[0], 0.1 * x.sum() - y

    def value(self, agent, x, y):
        loss = np.logaddexp(0, -self.b[agent] * (self.a[agent] @ x)).mean()
        return loss + 0.1 * y[0] * x.sum() - 0.5 * y @ y


def test_your_own_problem_with_other_data_is_not_resumed(tmp_path):
    saddle.run(Logistic(1), topology="ring", iterations=10, checkpoint=tmp_path / "ck")
    saddle.run(Logistic(1), iterations=20, resume=tmp_path / "ck")
    with pytest.raises(saddle.InputError, match="^the data, .* have changed since the run of "):
        saddle.run(Logistic(2), iterations=30, resume=tmp_path / "ck")
    search = {"topology": "ring", "budget": 100000, "log": tmp_path / "log.csv"}
    saddle.tune(Logistic(1), **search)
    saddle.tune(Logistic(1), resume=True, **search)
    with pytest.raises(saddle.InputError, match="contents of the data, .* have changed"):
        saddle.tune(Logistic(2), resume=True, **search)


def test_logging(caplog):
    with caplog.at_level(logging.DEBUG, "saddle"):
        saddle.run("quadratic", c_gamma=3, algorithm="precision", **SMALL)
    texts = [record.getMessage() for record in caplog.records]
    assert any(text.startswith("c_gamma: ") for text in texts)
    assert any("iteration 30: metric" in text for text in texts)
    assert any(text.startswith("saddle.Result of precision") for text in texts)


def test_progress(capsys):
    pytest.importorskip("tqdm")
    saddle.run("quadratic", progress=True, **SMALL)
    assert "30/30" in capsys.readouterr().err


def test_threads_at_once():
    expected = saddle.run("quadratic", **SMALL)
    results = {}

    def work(k):
        results[k] = saddle.run("quadratic", **SMALL)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(results[k].x_agents, expected.x_agents) for k in range(4))


def test_instances_are_freed():
    import weakref

    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.sign(X[:, 0])
    instance = saddle.Instance(data=(X, y), agents=2)
    result = instance.run(iterations=2)
    gone = weakref.ref(instance._keep)
    del instance
    gc.collect()
    assert gone() is None  # a result does not keep the rows
    assert len(pickle.loads(pickle.dumps(result)).x) == 3


def test_libmpi_is_not_loaded():
    code = (
        "import saddle; saddle.run('quadratic', iterations=1)\n"
        "print('libmpi' in open('/proc/self/maps').read())"
    )
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.strip() == "False"


def test_a_module_that_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("SADDLE_MODULES", str(tmp_path))
    code = "import saddle; saddle.run('quadratic', engine='mpi')"
    done = subprocess.run([sys.executable, "-c", code], text=True, stderr=subprocess.PIPE)
    assert done.returncode != 0
    assert "engine: mpi needs a module that is not installed" in done.stderr


def test_scaled_columns(tmp_path, recwarn, caplog):
    caplog.set_level(logging.INFO, logger="saddle")
    generator = np.random.default_rng(3)
    normal = generator.normal(size=(90, 3))
    X, y = normal * [500, 1e-3, 1] + [900, 0, 40], np.sign(normal.sum(axis=1))
    r = saddle.run("auc", data=(X, y), test_data=(X, y), **SMALL)
    assert r.settings["scale"] == "standard"
    recwarn.pop(saddle.NotSolvedWarning)  # of the short run
    assert not recwarn.list  # none of columns
    assert "scaled 3 columns; scale='none' leaves them" in caplog.messages
    assert np.allclose(r.mean, X.mean(axis=0)) and np.allclose(r.deviation, X.std(axis=0))
    scores = r.predict(X)
    Z = (X - r.mean) / r.deviation
    assert np.allclose(scores, Z @ r.x[:3] + r.x[3] - r.x[4:].mean(), atol=1e-13)
    w, v = r.coefficients()
    assert np.allclose(scores, X @ w + v, atol=1e-12)
    assert saddle.evaluate(r, X, y)["auc"] == r.outcomes["test_auc"] == r.outcomes["train_auc"]
    r.save(tmp_path / "m.npz")
    loaded = saddle.load(tmp_path / "m.npz")
    assert loaded.mean.tobytes() == r.mean.tobytes()
    assert loaded.deviation.tobytes() == r.deviation.tobytes()
    assert np.array_equal(loaded.predict(X), scores)
    assert saddle.coefficients(tmp_path / "m.npz")[1] == v
    network = saddle.run("auc", data=(X, y), score="mlp:3", **SMALL)
    with pytest.raises(saddle.Error, match="the result is not a linear model"):
        network.coefficients()
    for _ in range(3):
        unscaled = saddle.run("auc", data=(X, y), scale="none", **SMALL)
    assert unscaled.mean is None
    (only,) = [w for w in recwarn.list if w.category is UserWarning]  # once per process
    assert "data: features 2 (mean" in str(only.message)
    assert "set scale to standard" in str(only.message)


@pytest.mark.parametrize("engine", ["threads", "cuda-host"])
def test_seeds_at_once_have_the_bits_of_seeds_one_by_one(engine):
    def run(seed):
        options = {"algorithm": "precision", "iterations": 60, "gap": "never", "trace_every": 20}
        return saddle.run(data="synthetic:900", engine=engine, threads=1, seed=seed, **options)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, range(4)))
    for seed, result in enumerate(together):
        alone = run(seed)
        assert np.array_equal(alone.x_agents, result.x_agents)
        assert np.array_equal(alone.y_agents, result.y_agents)
        assert np.array_equal(alone.trace.metric, result.trace.metric)
