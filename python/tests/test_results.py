"""Results out: typed settings, summaries, callbacks, plots, files of comparisons and searches."""

import pickle
import subprocess

import numpy as np
import pytest

import saddle

pytestmark = pytest.mark.filterwarnings("ignore::saddle.NotSolvedWarning")
SMALL = {"topology": "ring", "agents": 4, "iterations": 20}


class Descent(saddle.Algorithm):
    """Gradient descent ascent."""

    options = ("eta_x", "eta_y")
    eta_x, eta_y, gain = 0.01, 0.1, 1.0

    def step(self, agent):
        gx, gy = agent.gradient(agent.now.x, agent.now.y)
        x = agent.prox_x(agent.mix("x") - self.gain * self.eta_x * gx, self.eta_x)
        return x, agent.project_y(agent.mix("y") + self.eta_y * gy)


# ---- settings ---------------------------------------------------------------------------------


def test_settings_have_types(rows, tmp_path):
    r = saddle.run("auc", rows, algorithm="precision", max_seconds=90, pin=False, **SMALL)
    kinds = {name: type(r.settings[name]) for name in r.settings}
    wanted = {"iterations": int, "samples": int, "batch": int, "q": int, "tau": float, "nu": float,
              "max_seconds": float, "pin": bool, "problem": str, "topology": str}  # fmt: skip
    assert {name: kinds[name] for name in wanted} == wanted
    assert r.settings["mixing_rate"] is None and r.settings["samples"] == 100
    r.save(tmp_path / "m.npz")
    loaded = saddle.load(tmp_path / "m.npz").settings
    assert loaded.items() <= r.settings.items() and loaded["tau"] == r.settings["tau"]
    assert pickle.loads(pickle.dumps(r)).settings == r.settings


def test_settings_of_uneven_agents(rows):
    X, y = rows
    parts = [(X[:50], y[:50]), (X[50:], y[50:])]
    r = saddle.run("auc", parts, algorithm="prox-gt-sgda", iterations=5)
    assert r.settings["samples"] == [50, 350]
    r = saddle.run("auc", parts, algorithm="prox-gt-sgda", steps="paper", iterations=5)
    assert r.settings["batch"] == [8, 19]
    # An iteration takes a batch of each agent, and the start all samples.
    assert r.trace.ifo[-1] - r.trace.ifo[0] == 5 * (8 + 19)


def test_settings_repeat_a_run(rows):
    r = saddle.run("auc", rows, algorithm="precision+", **SMALL)
    steps = {name: r.settings[name] for name in ("nu", "eta", "tau", "alpha", "batch", "q")}
    again = saddle.run("auc", rows, algorithm="precision+", **steps, **SMALL)
    assert np.array_equal(again.x_agents, r.x_agents)


def test_best_values_are_numbers():
    t = saddle.tune("quadratic", algorithm="gt-gda", candidates=4, budget=200000)
    assert all(type(value) is float for value in t.best.values())
    r = saddle.run("quadratic", algorithm="gt-gda", iterations=5, **t.best)
    assert np.array_equal(r.x, t.run(iterations=5).x)


def test_summary(rows):
    r = saddle.run("auc", rows, **SMALL)
    words = r.summary()
    assert f"gap       {r.gap:.3g}, not solved: above 0.0001" in words
    assert f"train_auc {r.outcomes['train_auc']:.4g}" in words and "4 agents, ring" in words
    assert f"{r.trace.ifo[-1]:,} gradient evaluations, {r.trace.rounds[-1]:,} rounds" in words
    solved = saddle.run("quadratic", iterations=20000, tolerance=1e-4, algorithm="gt-gda")
    assert "solved (at most 0.0001)" in solved.summary()
    unmeasured = saddle.run("quadratic", iterations=1, gap="never")
    assert "gap       not measured\n" in unmeasured.summary() and "nan" not in repr(unmeasured)
    assert "solved" not in pickle.loads(pickle.dumps(solved)).summary().split("gap")[1][:9]


def test_instances_say_what_they_are(rows):
    X, y = rows
    instance = saddle.Instance("auc", [(X[:100], y[:100]), (X[100:], y[100:])])
    assert instance.samples == [100, 300] and instance.features == 8
    parts = (y[:100], y[100:])
    expected = [{-1: int((part < 0).sum()), 1: int((part > 0).sum())} for part in parts]
    assert instance.label_counts == expected
    assert "2 agents" in repr(instance) and "100 to 300 samples" in repr(instance)
    assert f"agent 1   300 samples: {expected[1][-1]} with label -1" in instance.summary()
    words = saddle.Instance("auc", (X, np.where(y > 0, "ill", "well")))
    assert sum(counts["ill"] for counts in words.label_counts) == int((y > 0).sum())
    assert set(words.label_counts[0]) == {"ill", "well"} and "with label well" in repr(words)
    real = saddle.Instance("robust-regression", rows)
    assert real.label_counts == [] and "label" not in repr(real)
    many = saddle.Instance("quadratic", agents=60, topology="ring", samples=1)
    assert many.summary().endswith("and 10 more agents")


# ---- callbacks --------------------------------------------------------------------------------


def test_callback_sees_the_trace(rows):
    seen = []
    r = saddle.run("auc", rows, callback=seen.append, trace_every=4, outcomes="always", **SMALL)
    assert [row["iteration"] for row in seen] == [0, 4, 8, 12, 16, 20]
    for name in r.trace:
        assert np.array_equal([row[name] for row in seen], r.trace[name], equal_nan=True), name


def test_callback_ends_a_run():
    r = saddle.run("quadratic", callback=lambda row: row["iteration"] >= 8, trace_every=4, **SMALL)
    whole = saddle.run("quadratic", trace_every=4, **SMALL)
    assert r.iteration == 8 and r.stop == "callback" and r.message == "ended by the callback"
    assert np.array_equal(r.trace.metric, whole.trace.metric[:3])
    with pytest.raises(ZeroDivisionError):
        saddle.run("quadratic", callback=lambda row: 1 / 0, **SMALL)
    with pytest.raises(TypeError, match=r"callback is 3; give a function f\(row\)"):
        saddle.run("quadratic", callback=3, **SMALL)


def test_callback_ends_only_its_run():
    instance = saddle.Instance("quadratic", topology="ring", agents=4)
    inner = []

    def nested(row):
        inner.append(instance.run("gt-gda", iterations=3, callback=lambda row: True).iteration)

    assert instance.run(callback=nested, iterations=4, trace_every=1).iteration == 4
    assert inner == [0] * 5


def test_progress_shows_gap_and_algorithm(capsys, caplog):
    pytest.importorskip("tqdm")
    saddle.run("quadratic", progress=True, algorithm="gt-gda", **SMALL)
    shown = capsys.readouterr().err
    assert "gt-gda: 100%" in shown and "gap" in shown and "metric" in shown
    saddle.tune("quadratic", algorithm="gt-gda", candidates=4, budget=200000, progress=True)
    assert "tune gt-gda" in capsys.readouterr().err


# ---- comparisons and searches -----------------------------------------------------------------


def test_compare_writes_a_trace_per_run(tmp_path):
    out = tmp_path / "new" / "traces"
    seen = set()
    c = saddle.compare(
        "quadratic", algorithms=["precision", Descent(gain=0.5)], repeats=2, output=out,
        report=tmp_path / "r.html", callback=lambda row: seen.add((row["algorithm"], row["seed"])),
        **SMALL,
    )  # fmt: skip
    names = [f"{name}-seed{seed}.csv" for name in c for seed in (1, 2)]
    assert sorted(path.name for path in out.iterdir()) == sorted(names)
    assert seen == {(name, seed) for name in c for seed in (1, 2)}
    assert "descent-gain=0.5" in (tmp_path / "r.html").read_text()
    for option in ("trace", "model", "checkpoint"):
        with pytest.raises(TypeError, match=f"{option}: all runs .* would write the same file"):
            saddle.compare("quadratic", **{option: tmp_path / "x"})


def test_all_are_compared_by_the_same_metric(program, tmp_path):
    given = {"precision": {"tau": 5}, "prox-dsgda": {"tau": 500}, "gda": {}}
    c = saddle.compare("quadratic", algorithms=given, repeats=2, **SMALL)
    assert len({results[0].trace.metric[0] for results in c.values()}) == 1
    command = [program, "compare", "--problem", "quadratic", "--algorithms", "gda,precision",
               "--topology", "ring", "--agents", "4", "--iterations", "20", "--repeats", "2",
               "--output", str(tmp_path)]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for seed in (1, 2):
        text = (tmp_path / f"gda-seed{seed}.csv").read_text()
        tau = next(line for line in text.splitlines() if line.startswith("# metric-tau: "))
        assert float(tau.split(": ")[1]) == c["gda"][seed - 1].settings["metric_tau"]
    c = saddle.compare("quadratic", algorithms=["gda"], metric_tau=7, **SMALL)
    assert c["gda"][0].settings["metric_tau"] == 7


def test_given_steps_are_not_untuned():
    c = saddle.compare("quadratic", algorithms=[Descent(), Descent(gain=2.0)], **SMALL)
    assert [results[0]._untuned for results in c.values()] == [True, False]
    given = {"gt-gda": {"eta_x": 0.01}, "gda": {}, Descent(): {"gain": 0.5, "eta_x": 0.02}}
    c = saddle.compare("quadratic", algorithms=given, **SMALL)
    assert [results[0]._untuned for results in c.values()] == [False, True, False]
    assert c["descent"][0].settings["gain"] == 0.5


def test_tune_own_parameters():
    trials = []
    t = saddle.tune(
        "quadratic", algorithm=Descent(), candidates=6, budget=400000, callback=trials.append,
        search={"gain": [0.5, 2.0]},
    )  # fmt: skip
    assert t.finished and {row["gain"] for row in trials} <= {0.5, 1.0, 2.0}
    for name, column in t.trials.items():
        assert [row[name] for row in trials] == column.tolist(), name
    assert t.run(iterations=5).settings["gain"] == t.best["gain"]
    ended = saddle.tune(
        "quadratic", algorithm="gt-gda", candidates=4, budget=200000, callback=lambda row: True
    )
    assert not ended.finished and len(ended.trials["rung"]) == 1
    with pytest.raises(TypeError, match=r"callback is 3; give a function f\(trial\)"):
        saddle.tune("quadratic", algorithm="gt-gda", callback=3)


# ---- plots ------------------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_plot_of_a_comparison_has_bands(pyplot):
    own = [Descent(), Descent(gain=0.5)]
    c = saddle.compare("quadratic", algorithms=["precision", "gda", *own], repeats=4, **SMALL)
    ax = c.plot(x="rounds")
    lines = ax.get_lines()
    looks = {(line.get_color(), str(line.get_linestyle())) for line in lines}
    assert len(lines) == len(ax.collections) == len({line.get_color() for line in lines}) == 4
    assert len(looks) == 4 and ax.get_yscale() == "log"
    metric = np.array([r.trace.metric for r in c["precision"]])
    at, mean = lines[0].get_data()
    assert np.array_equal(at, c["precision"][0].trace.rounds)
    assert np.allclose(mean, np.exp(np.log(metric).mean(axis=0)), rtol=1e-12)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(metric.min()) and band.max() == pytest.approx(metric.max())
    labels = [words.get_text() for words in ax.get_legend().get_texts()]
    assert labels == ["PRECISION", "GDA", "descent", "descent-gain=0.5"]


def test_plot_of_several_results(pyplot):
    a, b = (saddle.run("quadratic", nu=nu, **SMALL) for nu in (0.1, 0.05))
    again = saddle.run("quadratic", nu=0.1, seed=2, **SMALL)
    ax = saddle.plot([a, b, again], x="samples")
    labels = [words.get_text() for words in ax.get_legend().get_texts()]
    assert labels == ["PRECISION-auto, nu=0.1", "PRECISION-auto, nu=0.05"]
    assert ax.get_xlabel() == "gradient evaluations"
    ax = saddle.plot({"slow": b, "fast": a}, y="loss", x="iterations", ax=pyplot.figure().gca())
    assert [words.get_text() for words in ax.get_legend().get_texts()] == ["slow", "fast"]
    assert np.array_equal(ax.get_lines()[1].get_ydata(), a.trace.loss)
    assert np.array_equal(a.trace["samples"], a.trace.ifo) and "samples" not in list(a.trace)
    with pytest.raises(TypeError, match="give a Result, a list or a dict"):
        saddle.plot(3)


def test_data_have_a_name(rows, tmp_path):
    r = saddle.run("auc", rows, data_name="hospitals", **SMALL)
    assert r.settings["data_name"] == "hospitals" and r.settings["data"] == "in memory"
    page = saddle.report(r, tmp_path / "r.html").read_text()
    assert "<title>auc on hospitals</title>" in page
    r = saddle.run("quadratic", data_name="toys", **SMALL)  # problems without data, too
    assert "quadratic on toys" in saddle.report(r, tmp_path / "r.html").read_text()
    without = saddle.report(saddle.run("auc", rows, **SMALL), tmp_path / "r.html").read_text()
    assert "<title>auc on data in memory</title>" in without
