"""Choices that depend on the user's data: what must be given, and what a run says about others."""

import numpy as np
import pytest

import saddle

G = np.random.default_rng(1)
X = G.normal(size=(90, 4))
X[:, 2] = X[:, 2] > 0
Y = np.where(X[:, 0] + G.normal(size=90) > 0, 1.0, -1.0)
SHORT = {"agents": 3, "iterations": 2}


def test_columns_of_arrays_must_be_given():
    with pytest.raises(ValueError, match=r"^sensitive: which feature .* not known; .* 1 to 4"):
        saddle.run("fair", data=(X, Y), **SHORT)
    with pytest.raises(ValueError, match=r"^groups: which rows .* not known; give agents"):
        saddle.run("group-dro", data=(X, Y), **SHORT)
    r = saddle.run("fair", data=(X, Y), sensitive=3, **SHORT)  # X[:, 2]: numbers begin at 1
    assert r.settings["sensitive"] == "3"
    with pytest.raises(ValueError, match="feature 2 is"):
        saddle.run("fair", data=(X, Y), sensitive=2, **SHORT)
    saddle.run("group-dro", data=(X, Y), groups="agents", **SHORT)
    assert saddle.run("fair", data="synthetic:90", **SHORT).settings["sensitive"] == "73"


def test_a_run_says_what_it_chose(caplog):
    def said(problem, **options):
        caplog.clear()
        saddle.run(problem, data=(X, Y), **SHORT, **options)
        return [record.getMessage() for record in caplog.records]

    assert said("auc") == []
    sizes = {"samples": "10,20,40"}
    (hint,) = said("auc", **sizes)
    assert hint.startswith("agent_weights: agents have 10 to 40 samples and count the same")
    assert said("auc", agent_weights="by-size", **sizes) == []
    (hint,) = said("auc", batch=31)
    assert hint == (
        "batch: agents 0, 1, 2 have only 30 samples, fewer than 31, and use all of them"
    )
    (hint,) = said("robust-logistic")
    assert hint.startswith("x_set: the default box:0:10")
    assert said("robust-logistic", x_set="none") == []
    assert said("robust-logistic", x_set=(-1.0, 1.0)) == []


def test_robust_regression_does_not_depend_on_the_division_of_rows():
    label = X @ [1.0, -2.0, 0.5, 0.0] + G.standard_t(2, size=90)
    pooled = {"data": (X, label), "algorithm": "gt-gda", "iterations": 3000, "divergence": 2.0}
    one = saddle.run("robust-regression", agents=1, **pooled)
    for agents in (3, 6):
        r = saddle.run("robust-regression", agents=agents, **pooled)
        assert r.settings["weights_per"] == "sample" and r.y.shape == (90,)
        assert abs(r.trace.primal[-1] - one.trace.primal[-1]) < 1e-6 * one.trace.primal[-1]
        slots = saddle.run("robust-regression", agents=agents, weights_per="slot", **pooled)
        assert slots.y.shape == (90 // agents,)
        assert slots.trace.primal[-1] < 0.99 * one.trace.primal[-1]


def test_columns_of_a_frame_have_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "hours", "sex", "debt"])
    options = {"sensitive": "sex", "iterations": 30, "agents": 3}
    named = saddle.run("fair", data=(frame, Y), test_data=(frame, Y), **options)
    numbered = saddle.run("fair", data=(X, Y), **{**options, "sensitive": 3})
    assert np.array_equal(named.x, numbered.x)
    parts = [(frame[k::3], Y[k::3]) for k in range(3)]
    saddle.run("fair", data=parts, sensitive="sex", iterations=3)
    named.save(tmp_path / "model.npz")
    scores = saddle.predict(tmp_path / "model.npz", frame)
    assert np.array_equal(scores, saddle.predict(named, X))
    table = tmp_path / "rows.csv"  # columns are found by name, in any order
    rows = [f"{r[2]!r},{r[3]!r},{r[0]!r},{r[1]!r}" for r in X.tolist()]
    table.write_text("\n".join(["sex,debt,age,hours", *rows, ""]))
    assert np.array_equal(saddle.predict(named, table, label_column="none"), scores)
    with pytest.raises(ValueError, match="^sensitive: .* column or feature: age, hours, sex, debt"):
        saddle.run("fair", data=(frame, Y), **SHORT)
    turned = frame[["hours", "age", "debt", "sex"]]  # found by name
    assert np.array_equal(saddle.predict(named, turned), scores)
    again = saddle.run("fair", data=(frame, Y), test_data=(turned, Y), **options)
    assert again.outcomes == named.outcomes
    other = frame.rename(columns={"age": "years"})
    with pytest.raises(ValueError, match="X has no column 'age', which the training data have"):
        saddle.predict(named, other)
    with pytest.raises(ValueError, match="all DataFrames of data must have the columns"):
        saddle.run("fair", data=[(frame, Y), (other, Y)], sensitive="sex")
    mixed = [(frame[:30], Y[:30]), (turned[30:], Y[30:])]
    plain = [(X[:30], Y[:30]), (X[30:], Y[30:])]
    assert np.array_equal(
        saddle.run("fair", data=mixed, sensitive="sex", iterations=9).x,
        saddle.run("fair", data=plain, sensitive=3, iterations=9).x,
    )
    twice = frame.set_axis(["a", "b", "a", "c"], axis=1)
    with pytest.raises(ValueError, match="two columns are called 'a'"):
        saddle.run("auc", data=(twice, Y), **SHORT)
