"""compare, tune, theory, predict, evaluate, report."""

import csv
import json
import logging
import os
import pickle
import re
import subprocess

import numpy as np
import pytest

import saddle

SMALL = {"agents": 4, "topology": "ring", "iterations": 40, "seed": 3}


def ask(program, *arguments, **where):
    done = subprocess.run(
        [program, *arguments], text=True, stdout=subprocess.PIPE, check=True, **where
    )
    return done.stdout


def test_compare_is_what_runs_are():
    c = saddle.compare("quadratic", algorithms=["precision", "gt-gda"], repeats=2, **SMALL)
    assert list(c) == ["precision", "gt-gda"] and [len(runs) for runs in c.values()] == [2, 2]
    for name, runs in c.items():
        for k, run in enumerate(runs):
            alone = saddle.run("quadratic", algorithm=name, **{**SMALL, "seed": 3 + k})
            assert np.array_equal(run.x_agents, alone.x_agents)


def test_costs_are_those_of_the_program(program, tmp_path):
    """Levels that all, some and none of the runs reach."""
    two = ["precision", "prox-dsgda"]
    options = {"agents": 4, "topology": "ring", "iterations": 1000, "seed": 3}
    c = saddle.compare("quadratic", algorithms=two, repeats=3, **options)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    call = ["compare", "--problem", "quadratic", "--algorithms", ",".join(two), "--repeats", "3"]
    ask(program, *call, *words, "--output", ".", cwd=tmp_path)
    with open(tmp_path / "summary.csv", newline="") as file:
        said = [row for row in csv.DictReader(file) if row["level"] != "end"]
    assert c.levels() == sorted({float(row["level"]) for row in said}, reverse=True)
    assert len(c.costs()) == 2 * len(c.levels()) > 4
    for row in c.costs():
        same = [s for s in said if s["algorithm"] == row["algorithm"]]
        same = [s for s in same if float(s["level"]) == row["level"] and s["ifo"] != "never"]
        assert row["reached"] == len(same)
        for cost in ("ifo", "rounds", "bytes"):
            mean = np.mean([float(s[cost]) for s in same]) if same else np.nan
            assert np.array_equal(row[cost], mean, equal_nan=True)
    assert 0 < sum(row["reached"] for row in c.costs()) < 3 * len(c.costs())
    never = c.costs([0.0])[0]
    assert never["reached"] == 0 and np.isnan(never["ifo"])


def test_compare_leaves_out_what_is_refused():
    c = saddle.compare("quadratic", algorithms=["precision", "gda"], regularizer="l1:0.1", **SMALL)
    if "gda" not in c:
        assert "gda" in c.refused
    c = saddle.compare(
        "quadratic", algorithms={"precision": {"nu": 0.05}, "dposg": {}}, x_set="box:0:1", **SMALL
    )
    assert c["precision"][0].settings["nu"] == 0.05
    with pytest.raises(saddle.InputError, match="no algorithm 'nothing'"):
        saddle.compare("quadratic", algorithms=["nothing"], **SMALL)
    with pytest.raises(TypeError, match="compare.. got an unexpected keyword argument 'iteratons'"):
        saddle.compare("quadratic", iteratons=3)


def test_algorithms_to_compare():
    two = saddle.compare("quadratic", algorithms="precision,gt-gda", **SMALL)
    assert list(two) == ["precision", "gt-gda"]
    every = saddle.compare("quadratic", algorithms="all", agents=4, topology="ring", iterations=2)
    assert {"precision", "gda"} <= set(every)
    assert set(every) | set(every.refused) == set(saddle.algorithms())
    for wrong in ({"algorithms": []}, {"algorithms": ["gda", "gda"]}, {"repeats": 0}):
        with pytest.raises(ValueError, match="none|twice|at least 1"):
            saddle.compare("quadratic", **wrong)
    with pytest.raises(TypeError, match="algorithms="):
        saddle.compare("quadratic", algorithm="gda")


def test_tune(program, tmp_path):
    options = {"agents": 4, "topology": "ring", "seed": 3}
    t = saddle.tune("quadratic", algorithm="gt-gda", candidates=4, budget=200000, **options)
    search = "tune --problem quadratic --algorithms gt-gda --candidates 4 --budget 200000"
    where = "--agents 4 --topology ring --seed 3 --output ."
    ask(program, *search.split(), *where.split(), cwd=tmp_path)
    found = (tmp_path / "gt-gda.yaml").read_text().splitlines()
    for name, value in t.best.items():
        assert f"{name.replace('_', '-')}: '{value}'" in found
    assert t.finished and t.spent <= 200000 and len(t.trials["value"]) >= 4
    assert t.run(iterations=5).settings["eta_x"] == t.best["eta_x"]
    t.save(tmp_path / "best.yaml")
    assert f"eta-x: '{t.best['eta_x']}'" in (tmp_path / "best.yaml").read_text()


def test_tune_searches_what_is_listed(caplog):
    with caplog.at_level(logging.INFO, "saddle"):
        t = saddle.tune(
            "quadratic", algorithm="prox-dsgda", search={"batch": [5, 10]},
            hold=["eta_x", "eta_y"], agents=4, topology="ring", budget=100000,
        )  # fmt: skip
    assert t.best["batch"] in (5, 10)
    default = t.trials["batch"][t.trials["candidate"] == 0]
    assert len(default) > 1 and len(set(default)) == 1  # the default stays to the end
    assert {5, 10} <= set(t.trials["batch"])
    last = t.trials["rung"] == t.trials["rung"].max()
    won = np.argmin(np.where(last, t.trials["cost"], np.inf))
    assert t.trials["batch"][won] == float(t.best["batch"])
    assert any("rung 0" in record.getMessage() for record in caplog.records)
    with pytest.raises(saddle.InputError, match="objective"):
        saddle.tune("quadratic", objective="beauty")


def test_levels_of_a_comparison_that_begins_at_the_solution():
    class Solved(saddle.Problem):
        x_dim, y_dim, samples, y_set = 1, 1, [1, 1], "box:0:1"

        def start(self, seed):
            return np.zeros(1), np.zeros(1)

        def gradient(self, agent, rows, x, y):
            return x, -y

        def value(self, agent, x, y):
            return x @ x / 2 - y @ y / 2

    c = saddle.compare(Solved(), algorithms=["gt-gda", "gda"], iterations=3)
    assert c["gda"][0].trace.metric.max() == 0 and c.levels() == [0.0]
    assert [row["rounds"] for row in c.costs()] == [0, 0]
    pytest.importorskip("matplotlib").use("Agg")
    assert c.plot().get_yscale() == "linear"


def test_simulated_seconds(tmp_path):
    two = ["precision", "gt-gda"]
    model = "latency:0.5,compute:0.001"
    plain = saddle.compare("quadratic", algorithms=two, **SMALL)
    timed = saddle.compare("quadratic", algorithms=two, link_model=model, **SMALL)
    assert "network_seconds" not in plain["precision"][0].trace
    assert "network_seconds" not in plain.costs()[0]
    trace = timed["precision"][0].trace
    assert np.array_equal(trace.metric, plain["precision"][0].trace.metric)
    assert trace.network_seconds.dtype == np.float64 and trace.rounds.dtype == np.int64
    assert np.all(np.diff(trace.network_seconds) >= 0.5 * np.diff(trace.rounds))
    level = float(trace.metric.max())
    row = timed.costs([level])[0]
    assert row["network_seconds"] == trace.network_seconds[0] > 0
    costs = 'data-x="network_seconds"'
    assert costs in saddle.report(timed, tmp_path / "timed.html").read_text()
    assert costs not in saddle.report(plain, tmp_path / "plain.html").read_text()
    ended = saddle.run("quadratic", link_model=model, max_network_seconds=2, **SMALL)
    assert ended.stop == "network_seconds" and ended.trace.network_seconds[-1] >= 2
    with pytest.raises(ValueError, match="without a link_model"):
        saddle.run("quadratic", max_network_seconds=2, **SMALL)


def test_theory(program):
    bounds = saddle.theory("quadratic", agents=6, topology="ring", epsilon=0.01)
    call = "theory --problem quadratic --agents 6 --topology ring --epsilon 0.01 --json"
    said = json.loads(ask(program, *call.split()))
    assert np.isclose(bounds["lipschitz"], said["constants"]["lipschitz"], rtol=1e-9)
    assert np.isclose(bounds["nu"], said["steps"]["nu"], rtol=1e-9)
    assert np.isclose(bounds["precision"]["total"], said["precision"]["total"], rtol=1e-9)


def test_rows_of_a_file_without_labels(tmp_path):
    lines = [f"{k % 7},{k % 3},{'yes' if k % 7 > 3 else 'no'}" for k in range(40)]
    train, new, bare = (tmp_path / name for name in ("train.csv", "new.csv", "bare.csv"))
    train.write_text("\n".join(["a,b,good", *lines]))
    new.write_text("b,a\n1,2\n0,5\n")
    bare.write_text("2,1\n5,0\n")
    r = saddle.run("auc", data=str(train), agents=2, topology="ring", iterations=20)
    scores = r.predict(np.array([[2.0, 1.0], [5.0, 0.0]]))
    assert np.array_equal(saddle.predict(r, new), scores)
    assert np.array_equal(saddle.predict(r, bare, label_column="none"), scores)
    with pytest.raises(ValueError, match="label_column"):
        saddle.predict(r, bare)
    with pytest.raises(TypeError, match="label_column is for files"):
        saddle.predict(r, [[2.0, 1.0]], label_column="none")
    with pytest.raises(ValueError, match="has no label column 'good' to compare scores with"):
        saddle.evaluate(r, new)
    yes, no = (saddle.evaluate(r, train, positive=which) for which in ("yes", "no"))
    assert yes == saddle.evaluate(r, train)
    assert np.isclose(yes["auc"], 1.0 - no["auc"]) and yes["auc"] > no["auc"]


def test_predict_as_the_program_does(program, tmp_path, rows):
    X, y = rows
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    r = saddle.run("auc", data=(X, y), **SMALL)
    r.save(tmp_path / "m.npz")
    said = ask(program, "predict", "--model", "m.npz", "--data", "rows.npz", cwd=tmp_path)
    scores = r.predict(X)
    assert np.array_equal(scores, np.array([float(line) for line in said.split()]))
    assert np.array_equal(saddle.predict(tmp_path / "m.npz", tmp_path / "rows.npz"), scores)
    measures = saddle.evaluate(r, X, y)
    assert np.isclose(measures["accuracy"], np.mean((scores > 0) == (y > 0)))
    said = json.loads(
        ask(program, "eval", "--model", "m.npz", "--data", "rows.npz", "--json", cwd=tmp_path)
    )
    assert said["outcomes"]["auc"] == pytest.approx(measures["auc"], rel=1e-12)
    with pytest.raises(TypeError, match="needs labels"):
        saddle.evaluate(r, X)
    with pytest.raises(saddle.InputError, match="feature"):
        r.predict(X[:, :3])
    with pytest.raises(saddle.Error):
        saddle.predict(tmp_path / "rows.npz", X)
    with pytest.raises(saddle.InputError):
        saddle.run("quadratic", **SMALL).predict(X)


def curves(page):
    return re.findall(r'<button [^>]*data-label="([^"]*)"', page)


def test_report(monkeypatch, tmp_path):
    monkeypatch.delenv("SADDLE_PROGRAM", raising=False)
    c = saddle.compare("quadratic", algorithms=["precision", "gt-gda"], repeats=2, **SMALL)
    page = saddle.report(c, tmp_path / "r.html", title="--a <title>").read_text()
    assert curves(page) == ["PRECISION", "GT-GDA"] and page.count(">2 runs</span>") == 2
    assert "<h1>--a &lt;title&gt;</h1>" in page
    assert page.count('href="data:text/csv') == 4
    for axis in ("ifo", "rounds", "bytes", "seconds"):
        assert f'class="card cost" data-x="{axis}"' in page
    first = c["precision"][0]
    one = saddle.report(first, tmp_path / "one.html").read_text()
    assert curves(one) == ["PRECISION"] and "<title>agent 3: " in one
    kept = pickle.loads(pickle.dumps(first))
    assert saddle.report([kept], tmp_path / "kept.html").read_text() == one
    for wrong in ([], 5, [5], {"a": 5}):
        with pytest.raises(TypeError, match="give a Result, a list or a dict"):
            saddle.report(wrong, tmp_path / "wrong.html")
    with pytest.raises(OSError):
        saddle.report(first, tmp_path / "nowhere" / "page.html")


def test_names_in_a_report(tmp_path):
    c = saddle.compare("quadratic", algorithms=["precision", "gt-gda"], **SMALL)
    first = c["precision"][0]
    named = {"ours": first, "a <b>": first, "gt-gda": c["gt-gda"][0]}
    page = saddle.report(named, tmp_path / "named.html").read_text()
    assert curves(page) == ["ours", "a &lt;b&gt;", "GT-GDA"]
    colours = re.findall(r'data-colour="([^"]*)" data-dashes="([^"]*)"', page)
    assert len(set(colours)) == 3
    diverged = saddle.run("quadratic", tau=1e-3, alpha=50, iterations=3000)
    assert "diverged" in saddle.report(diverged, tmp_path / "d.html").read_text()


def test_report_has_the_trace_of_the_run(tmp_path):
    from saddle.report_page import _trace_text

    (tmp_path / "churn").write_text("10 leave 2\n20 return 2\n")
    lossy = {"churn": tmp_path / "churn", "links": "lossy:0.1"}
    for more in ({"link_model": "latency:0.5"}, lossy):
        r = saddle.run("auc", data="synthetic:200", trace=tmp_path / "t.csv", **SMALL, **more)
        its, ours = (tmp_path / "t.csv").read_text().splitlines(), _trace_text(r, "").splitlines()
        constants = ("# fingerprint:", "# edges:", "# mixing_lambda", "# problem_L", "# problem_mu")
        its = [line for line in its if not line.startswith(constants)]
        assert [line for line in its if "#" in line] == [line for line in ours if "#" in line]
        assert len(its) == len(ours)
        for left, right in zip(its, ours):
            if left[0].isdigit():
                cells = [[float(c or "nan") for c in line.split(",")] for line in (left, right)]
                assert np.array_equal(*cells, equal_nan=True)
            else:
                assert left == right


def test_report_without_the_program(monkeypatch, tmp_path):
    r = saddle.run("quadratic", **SMALL)
    monkeypatch.setenv("SADDLE_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(saddle.FileError, match="none', which is not there .* in SADDLE_PROGRAM"):
        saddle.report(r, tmp_path / "r.html")
    assert "SADDLE_PROGRAM" in r._repr_html_() and not os.path.exists(tmp_path / "r.html")
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho 'saddle: a reason' >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("SADDLE_PROGRAM", str(failing))
    with pytest.raises(saddle.Error, match="no page was made: saddle: a reason"):
        saddle.report(r, tmp_path / "r.html")


def test_pictures_have_titles_and_all_seeds():
    pytest.importorskip("matplotlib").use("Agg")

    class Walk(saddle.Algorithm):
        step_size = 0.02

        def step(self, agent):
            gx, gy = agent.gradient(agent.now.x, agent.now.y)
            return agent.mix("x") - self.step_size * gx, agent.mix("y") + self.step_size * gy

    own = [Walk(), Walk(step_size=0.01)]
    c = saddle.compare("quadratic", algorithms=["precision+", *own], repeats=3, iterations=5)
    lines = c.plot().get_lines()
    titles = [line.get_label() for line in lines]
    assert titles == ["PRECISION+", "walk", "walk-step_size=0.01"]
    assert len({line.get_color() for line in lines} | {"#000000"}) == 4
    ends = [np.median([r.trace.metric[-1] for r in results]) for results in c.values()]
    expected = ", ".join(f"{name} {end:.3g}" for name, end in zip(c, ends))
    assert repr(c) == f"<saddle.Comparison by the last metric, median of 3 seeds: {expected}>"


def test_outputs_do_not_replace_inputs(tmp_path):
    file = tmp_path / "d.txt"
    file.write_text("".join(f"{1 - 2 * (k % 2)} 1:{k % 7} 2:{k % 3}\n" for k in range(60)))
    before = file.read_bytes()
    r = saddle.run("auc", data=str(file), iterations=2, init="zeros")
    with pytest.raises(saddle.InputError, match="is also the file of data"):
        r.save(file)
    with pytest.raises(saddle.InputError, match="is also the file of data"):
        saddle.report(r, file)
    (tmp_path / "link.npz").symlink_to(file)
    with pytest.raises(saddle.InputError, match="is also the file of data"):
        r.save(tmp_path / "link.npz")
    assert file.read_bytes() == before
    model = tmp_path / "m.npz"
    r.save(model)
    saddle.run("auc", data=str(file), iterations=2, init=f"file:{model}").save(model)


def test_candidates_that_are_diverging_have_iterations(caplog):
    options = {"algorithm": "prox-dsgda", "tau": 1}
    t = saddle.tune("quadratic", candidates=4, budget=40000, **options)
    assert t.trials["diverged"].any() and (t.trials["iterations"] > 0).all()
    r = saddle.run("quadratic", iterations=60, **options)
    assert r.stop == "iterations" and r.trace.metric[-1] > 1e3 * r.trace.metric[0]
    assert "far above the" in caplog.text
