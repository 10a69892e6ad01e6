"""Data in: arrays, DataFrames, text, labels; networks as lists and dicts."""

import gc
import warnings

import numpy as np
import pytest

import saddle

pandas = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::saddle.NotSolvedWarning")


@pytest.fixture(scope="module")
def frame():
    """120 rows of numbers and text, with the label in the last column."""
    generator = np.random.default_rng(3)
    out = pandas.DataFrame(generator.normal(size=(120, 2)), columns=["age", "pay"])
    out["sex"] = generator.choice(["f", "m"], 120)
    out["town"] = pandas.Categorical(generator.choice(["Ulm", "Aix", "Köln"], 120))
    out["income"] = np.where(out.age + generator.normal(size=120) > 0, "yes", "no")
    return out


def _fair(data, **options):
    return saddle.run("fair", data, sensitive="sex", agents=3, iterations=20, **options)


def test_a_frame_is_a_csv_file(frame, tmp_path):
    frame.to_csv(tmp_path / "f.csv", index=False)
    file = _fair(tmp_path / "f.csv", test_data=tmp_path / "f.csv")
    for data in (frame, (frame.drop(columns="income"), frame.income)):
        memory = _fair(data, test_data=data)
        assert np.array_equal(file.x_agents, memory.x_agents)
        assert file.outcomes == memory.outcomes
    file.save(tmp_path / "file.npz")
    memory.save(tmp_path / "memory.npz")
    on_file = saddle.evaluate(tmp_path / "memory.npz", tmp_path / "f.csv")
    assert on_file == saddle.evaluate(tmp_path / "file.npz", frame, frame.income)
    backwards = frame[list(frame.columns)[::-1]]  # found by name, and the label is not needed
    assert np.array_equal(memory.predict(frame.drop(columns="income")), file.predict(backwards))


def test_frames_of_sites_share_categories(frame, tmp_path):
    sites = [frame[frame.town != "Ulm"], frame[frame.town != "Aix"], frame]
    for k, site in enumerate(sites):
        site.to_csv(tmp_path / f"site-{k}.csv", index=False)
    file = _fair(tmp_path / "site-%d.csv")
    memory = _fair(sites)
    assert len(memory.coefficients()[0]) == 2 + 2 + 3
    assert np.array_equal(file.x_agents, memory.x_agents)


def test_label_column(frame):
    moved = frame[["income", "age", "pay", "sex", "town"]]
    end = _fair(frame).x
    for which in ("income", "first", 1):
        assert np.array_equal(_fair(moved, label_column=which).x, end)
    for wrong in ("wages", 6, 0):
        with pytest.raises(ValueError, match="label_column is .*income, age"):
            _fair(moved, label_column=wrong)
    with pytest.raises(TypeError, match="label_column is for files and DataFrames"):
        _fair((moved, frame.age), label_column="income")


def test_labels(rows):
    X, y = rows
    expected = saddle.run("auc", rows, iterations=20).x
    words = np.where(y > 0, "yes", "no")
    for same in (y[:, None], list(y), y > 0, words, words.astype(object), pandas.Series(words)):
        assert np.array_equal(saddle.run("auc", (X, same), iterations=20).x, expected)
    opposite = saddle.run("auc", (X, words), positive="no", iterations=20)
    assert np.array_equal(opposite.x, saddle.run("auc", (X, -y), iterations=20).x)
    measured = saddle.evaluate(opposite, X, words)
    assert measured == saddle.evaluate(saddle.run("auc", (X, -y), iterations=20), X, -y)
    with pytest.raises(ValueError, match="'y' had no category 'maybe'"):
        saddle.evaluate(opposite, X, np.full(len(X), "maybe"))


def test_regression_needs_numbers(rows, frame, tmp_path):
    words = np.where(rows[1] > 0, "yes", "no")
    frame.to_csv(tmp_path / "f.csv", index=False)
    for data in ((rows[0], words), frame, tmp_path / "f.csv", [frame, frame]):
        with pytest.raises(saddle.InputError, match="the labels are text, such as 'no'"):
            saddle.run("robust-regression", data, iterations=5)


def test_feature_names(rows):
    X, y = rows
    X = np.column_stack([X, X[:, 0] > 0])
    by_number = saddle.run("fair", (X, y), sensitive=9, iterations=20)
    names = [f"f{k}" for k in range(8)] + ["sex"]
    by_name = saddle.run("fair", (X, y), sensitive="sex", feature_names=names, iterations=20)
    assert np.array_equal(by_number.x, by_name.x)
    with pytest.raises(ValueError, match="feature_names has 2 names, but X has 9 columns"):
        saddle.run("fair", (X, y), feature_names=["a", "b"])
    with pytest.raises(TypeError, match="feature_names is for arrays"):
        saddle.run("fair", "a9a", feature_names=["a", "b"])


def test_feature_index(rows, frame):
    """Counts columns from 0, as X[:, k] does; a bare number counts from 1, as in the program."""
    X, y = rows
    X = np.column_stack([X, X[:, 0] > 0, X[:, 1] > 0])
    names = [f"f{k}" for k in range(10)]
    options = {"iterations": 20, "gap": "never"}
    by_number = saddle.run("fair", (X, y), sensitive=9, **options)
    for own in ({}, {"feature_names": names}):
        by_index = saddle.run("fair", (X, y), feature_index=8, **own, **options)
        assert np.array_equal(by_number.x, by_index.x)
    both = [8, np.int64(9), "label"]
    instance = saddle.Instance("group-dro", [(X, y), (X, y)], feature_index=both)
    assert instance.run(**options).settings["groups"] == "9,10,label"
    named = _fair(frame, gap="never")
    place = list(frame.columns).index("sex")
    by_index = saddle.run("fair", frame, feature_index=place, agents=3, **options)
    assert np.array_equal(named.x, by_index.x) and by_index.settings["sensitive"] == "sex"
    for wrong in (-1, 10):
        with pytest.raises(ValueError, match=f"feature_index is {wrong}; X has the columns 0 to 9"):
            saddle.run("fair", (X, y), feature_index=wrong)
    for wrong in ("sex", True, 1.5):
        with pytest.raises(TypeError, match=f"feature_index is {wrong!r}; it counts columns from"):
            saddle.run("fair", (X, y), feature_index=wrong)
    for problem, data, own in [
        ("auc", (X, y), {}),
        ("fair", "a9a", {}),
        ("fair", (X, y), {"sensitive": 9}),
    ]:
        with pytest.raises(TypeError, match="instead of sensitive of 'fair' or groups of"):
            saddle.run(problem, data, feature_index=8, **own)


@pytest.mark.parametrize(
    "column, message",
    [
        ([None] + ["f"] * 119, "column 'sex' has missing values"),
        ([np.nan] + [1.0] * 119, "column 'sex' has missing values; fill them in with .fillna"),
        ([1] + ["f"] * 119, "column 'sex' has text, but also 1"),
        (list(pandas.date_range("2026-01-01", periods=120).date), "is a date"),
        (pandas.date_range("2026-01-01", periods=120), "column 'sex' .* is a date; give the time"),
        (
            pandas.date_range("2026-01-01", periods=120, tz="Asia/Seoul"),
            "column 'sex' .* is a date; give the time",
        ),
        (pandas.timedelta_range("1 day", periods=120), "column 'sex' .* is a time; divide it"),
        (pandas.array([None] + ["f"] * 119, dtype="string"), "column 'sex' has missing values"),
        (["7"] * 120, "column 'sex' must be .*: '7' is text; convert numbers"),
    ],
)
def test_columns_that_are_refused(frame, column, message):
    with pytest.raises((TypeError, ValueError), match=message):
        _fair(frame.assign(sex=column))


def test_other_columns_are_refused(frame):
    r = _fair(frame)
    with pytest.raises(ValueError, match="X has no column 'town'"):
        r.predict(frame.drop(columns="town"))
    with pytest.raises(ValueError, match="'sex' had no category 'x'.* 'f', 'm'; correct row 0"):
        r.predict(frame.assign(sex="x"))
    with pytest.raises(ValueError, match="all DataFrames of data must have the columns"):
        _fair([frame, frame.drop(columns="town")])
    with pytest.raises(TypeError, match="column 'age' must be an array of real numbers: 'old'"):
        r.predict(frame.assign(age="old"))
    with pytest.raises(TypeError, match="'sex' has numbers, but 'f', 'm' in the training data"):
        r.predict(frame.assign(sex=1))


def test_labels_of_another_kind_are_refused(rows):
    X, y = rows
    words = np.where(y > 0, "accepted", "rejected")
    numbers = saddle.run("auc", rows, iterations=20)
    texts = saddle.run("auc", (X, words), positive="accepted", iterations=20)
    for other in (words, pandas.Series(words)):
        with pytest.raises(saddle.InputError, match="'accepted', but the model was trained on num"):
            saddle.evaluate(numbers, X, other)
    for other in (y, y > 0, (y > 0) * 1.0):
        with pytest.raises(TypeError, match="'y' has numbers, but 'accepted', 'rejected' in the"):
            saddle.evaluate(texts, X, other)
    measured = saddle.evaluate(numbers, X, words, positive="accepted")
    assert measured == saddle.evaluate(numbers, X, y)


def test_integers_of_a_frame_are_exact():
    b = np.linspace(0, 1, 40)
    for large in (2**53 + 1, 2**64 - 1):
        ids = np.where(np.arange(40) % 2, np.uint64(large), np.uint64(5))
        frame = pandas.DataFrame({"id": ids, "b": b, "l": np.sign(b - 0.51)})
        with pytest.raises(ValueError, match=f"column 'id' has the integer {large}, but float64"):
            saddle.run("auc", frame, agents=2, iterations=5)


def test_columns_of_one_name_are_refused(frame):
    twice = frame.rename(columns={"pay": "income"})
    for label in ("income", "last", 5):
        with pytest.raises(ValueError, match="two columns of data are called 'income'"):
            _fair(twice, label_column=label)


def test_another_index_is_refused(frame):
    X, y = frame.drop(columns="income"), frame.income
    with pytest.raises(ValueError, match=r"different indexes; give y.loc\[X.index\], or, .*numpy"):
        _fair((X, y[::-1]))
    r = _fair((X, y))
    assert np.array_equal(_fair((X, y[::-1].loc[X.index])).x, r.x)
    for same in (y.to_numpy(), list(y)):
        assert np.array_equal(_fair((X[::-1][::-1], same)).x, r.x)
    with pytest.raises(ValueError, match="different indexes"):
        saddle.evaluate(r, X, y[::-1])


def test_directed_graphs():
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ValueError, match="directed: it has an edge from 2 to 0, but none back"):
        saddle.graph(networkx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1), (2, 0)]))
    both = networkx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)])
    assert saddle.graph(both).edges.tolist() == [[0, 1], [1, 2]]


def _path(**options):
    return saddle.run("quadratic", topology="path", agents=4, iterations=12, **options)


def test_networks_as_lists_and_dicts(tmp_path):
    (tmp_path / "churn").write_text("2 leave 3\n6 return 3\n8 cut 0 1\n")
    (tmp_path / "schedule").write_text("0 0 1\n0 2 3\n5 1 2\n9\n12 0 1\n12 1 2\n12 2 3\n")
    (tmp_path / "model").write_text(
        "default latency 0.02\nagent 3 compute 2e-5\nedge 1 2 latency 0.3\n"
    )
    churn = [(2, "leave", 3), (6, "return", 3), (8, "cut", 0, 1)]
    schedule = [(0, 0, 1), (0, 2, 3), (5, 1, 2), (9,), (12, 0, 1), (12, 1, 2), (12, 2, 3)]
    model = {"latency": 0.02, 3: {"compute": 2e-5}, (1, 2): {"latency": 0.3}}
    for file, memory in [
        ({"churn": tmp_path / "churn"}, {"churn": churn}),
        ({"links": f"schedule:{tmp_path}/schedule"}, {"links": schedule}),
        ({"link_model": tmp_path / "model"}, {"link_model": model}),
        ({"link_model": "latency:0.02"}, {"link_model": {"latency": 0.02}}),
    ]:
        a, b = _path(**file), _path(**memory)
        assert np.array_equal(a.x_agents, b.x_agents) and list(a.trace) == list(b.trace)
        if "network_seconds" in a.trace:
            assert np.array_equal(a.trace.network_seconds, b.trace.network_seconds)
    for wrong in ({"churn": 3}, {"links": [1, 2]}, {"link_model": [1]}):
        with pytest.raises(TypeError, match=f"{next(iter(wrong))} is .*give a text"):
            _path(**wrong)


def test_messages_do_not_name_temporary_files(caplog):
    for option, message in [
        ({"churn": [(1, "leave", 1), (10, "explode", 1)]}, r"^churn \(line 2\): 'explode' is not "),
        ({"links": [(0, 0, 9)]}, r"^links \(line 1\): '9' is not an agent"),
        ({"link_model": {"latenc": 1}}, r"^link_model \(line 1\): "),
    ]:
        with pytest.raises(saddle.InputError, match=message) as why:
            _path(**option)
        assert "/" not in str(why.value)
    _path(links=[(0, 0, 1), (0, 2, 3)], gap="never")
    assert "schedule" in caplog.text and "/links.txt" not in caplog.text


def test_matrices_of_text_are_refused():
    with pytest.raises(TypeError, match="the matrix of a network must be .* '0' is text"):
        saddle.run("quadratic", topology=np.array([["0", "1"], ["1", "0"]]))


def test_temporary_files_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        r = _path(churn=[(2, "leave", 3)], gap="never")
    gc.collect()
    assert r.trace.present[-1] == 3 and not list(tmp_path.iterdir())


def test_what_is_for_files_is_refused(frame, rows):
    for name in ("drop_columns", "category_columns", "categories", "missing"):
        for data in (frame, rows, [frame, frame]):
            with pytest.raises(TypeError, match=f"{name} is for files; "):
                saddle.run("auc", data, **{name: "town" if "columns" in name else "codes"})
    with pytest.raises(TypeError, match="'a.csv' is in a list; name the files .* 'site-%d.csv'"):
        saddle.run("auc", ["a.csv", "b.csv"])


def test_features_have_names(frame, rows, tmp_path):
    r = _fair(frame)
    names = ["age", "pay", "sex=f", "sex=m", "town=Aix", "town=Köln", "town=Ulm"]
    assert r.feature_names == names and len(r.coefficients()[0]) == len(names)
    frame.to_csv(tmp_path / "f.csv", index=False)
    assert _fair(tmp_path / "f.csv").feature_names == names
    coded = _fair(tmp_path / "f.csv", categories="codes")
    assert coded.feature_names == ["age", "pay", "sex", "town"]
    assert saddle.run("auc", rows, iterations=5).feature_names == [str(k) for k in range(1, 9)]


def test_labels_by_name(frame):
    r = _fair(frame)
    assert saddle.evaluate(r, frame, "income") == saddle.evaluate(r, frame, frame.income)
    for X in (frame, frame.age.to_numpy()):
        with pytest.raises(TypeError, match="y is 'wages'; give labels, or the name of a column"):
            saddle.evaluate(r, X, "wages")


def test_scaling_of_a_model_is_not_ignored(frame, tmp_path):
    _fair(frame, scale="standard").save(tmp_path / "m.npz")
    arrays = dict(np.load(tmp_path / "m.npz"))
    assert "mean" in arrays
    np.savez(tmp_path / "old.npz", **{**arrays, "format": np.uint64(1)})
    with pytest.raises(saddle.InputError, match="its columns are scaled .* its format is 1"):
        saddle.predict(tmp_path / "old.npz", frame)
