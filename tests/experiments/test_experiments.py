"""saddle.reproduce: statistics, the decision rules on traces made by hand, files, resuming."""

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest

from saddle.reproduce import __main__ as command
from saddle.reproduce import (claims, experiments, field, field_figures, field_page, pages, runs, statistics,
                              theorem)  # fmt: skip

scipy_stats = pytest.importorskip("scipy.stats")

# ---- statistics -----------------------------------------------------------------------------------


def test_student_quantiles_are_those_of_scipy():
    for confidence in (0.5, 0.9, 0.95, 0.99):
        for freedom in (1, 2, 3, 4, 9, 30, 99):
            want = scipy_stats.t.ppf(0.5 + confidence / 2, freedom)
            assert statistics.student(confidence, freedom) == pytest.approx(want, rel=1e-8)
    # Closed forms for one and two degrees of freedom.
    assert statistics.student(0.5, 1) == pytest.approx(1)
    assert statistics.student(0.8, 2) == pytest.approx(0.8 * math.sqrt(2 / (1 - 0.64)))
    assert math.isnan(statistics.student(1.0, 3)) and math.isnan(statistics.student(0.5, 0))


def test_means_have_intervals():
    values = [1.0, 2.0, 4.0, 9.0]
    mean = statistics.summarize(values)
    low, high = scipy_stats.t.interval(0.95, 3, np.mean(values), scipy_stats.sem(values))
    assert (mean.count, mean.mean, mean.least, mean.most) == (4, 4, 1, 9)
    assert (mean.low, mean.high) == pytest.approx((low, high))
    assert statistics.summarize([3.0]).low == -math.inf
    assert math.isnan(statistics.summarize([]).mean)


def test_slopes_are_least_squares():
    x, y = np.arange(9.0), np.random.default_rng(1).normal(size=9)
    assert statistics.slope(x, y) == pytest.approx(scipy_stats.linregress(x, y).slope)
    for bad in (([1, 1], [1, 2]), ([1], [1]), ([1, 2], [1, math.nan]), ([1, 2], [1, math.inf])):
        assert math.isnan(statistics.slope(*bad))


# ---- tests on traces made by hand -------------------------------------------------------------------

ROWS = 400


def trace(calls=1.0, rate=0.05, least=0.0, end="all iterations done", rows=ROWS, **columns):
    """A metric of 10^(-rate k), never below `least`; the loss approaches 5 with it."""
    k = np.arange(float(rows))
    metric = np.maximum(least, 10.0 ** (-rate * k))
    made = {"iteration": k, "ifo": calls * (k + 1), "rounds": k, "loss": 5 - 2 * metric, "metric": metric}
    return runs.Trace({**made, **columns}, {}, end)


SERIES = [
    experiments.Series("a", "Alpha", "one", value=100),
    experiments.Series("b", "Beta", "two", value=400),
    experiments.Series("c", "Gamma", "three", value=1600),
    experiments.Series("d", "Delta", "two", value=6400),
]


def experiment(**more):
    return experiments.Experiment("made", "Made", "here", "", {}, {}, "ifo:metric", SERIES, **more)


def measured(traces, series="a b", kind="faster", tuning=0, **test):
    """Makes a test on {series: traces by seed}."""
    everything = {s.name: traces.get(s.name, [None] * len(next(iter(traces.values())))) for s in SERIES}
    made = claims.Test("made", kind, series, **test)
    return claims.measure(made, experiment(tuning=tuning), everything)


def verdict(*measurements):
    claim = claims.Claim("claim", "ours", "says", "", [m.test for m in measurements])
    return claims.outcome(claim, list(measurements)).verdict


def states(measurement):
    return [level.state for level in measurement.levels]


def test_costs_lie_between_trace_points():
    t = trace(10, rate=0.5)
    assert claims.stay(t, "ifo", 0.1) == (20, 30)
    assert claims.stay(t, "ifo", 1.0) == (-math.inf, 10)
    short = trace(10, least=0.05)
    assert claims.stay(short, "ifo", 0.01) == (4000, math.inf)
    assert claims.stay(trace(least=0.05, end="diverged"), "ifo", 0.01) == (math.inf, math.inf)


def test_the_metric_must_stay():
    t = trace(rate=0.5)
    t["metric"][10] = 1.0
    assert claims.stay(t, "rounds", 0.1) == (10, 11)
    assert claims.reach(t, "rounds", 0.1) == (1, 2)
    t["metric"][-1] = math.nan
    assert claims.stay(t, "rounds", 0.1) == (399, math.inf)
    assert claims.stay(trace(rate=0.5, end="diverged"), "rounds", 0.1)[1] == math.inf


def test_faster():
    five = {"a": [trace(1)] * 5, "b": [trace(10)] * 5}
    made = measured(five, cost="ifo", factor=2)
    assert states(made) == ["true"] * 6 and verdict(made) == "holds"
    assert str(made.levels[0]) == "10x (10-10) 5/5"
    assert made.statement == "Alpha against Beta, IFO calls by the metric, 2 times fewer"
    assert verdict(measured(five, "b a", cost="ifo")) == "does not hold"
    assert verdict(measured(five, "b a", cost="ifo", factor=1 / 20)) == "holds"
    # Equal costs cannot be told apart between trace points.
    assert verdict(measured(five, cost="rounds")) == "not decided"


def test_seeds():
    one_disagrees = {"a": [trace(1)] * 5, "b": [trace(10)] * 4 + [trace(0.1)]}
    assert verdict(measured(one_disagrees, cost="ifo")) == "not decided"
    four = {"a": [trace(1)] * 4, "b": [trace(10)] * 4}
    assert verdict(measured(four, cost="ifo")) == "not decided"
    missing = {"a": [trace(1)] * 5, "b": [trace(10)] * 4 + [None]}
    assert measured(missing, cost="ifo").levels[0].said == 4


def test_few_seeds_may_contradict_but_not_confirm():
    never = trace(1, least=0.5)
    agree = {"a": [trace(1)] * 2 + [never] * 8, "b": [trace(10)] * 2 + [never] * 8}
    assert verdict(measured(agree, cost="ifo")) == "not tested: no run got there"
    assert verdict(measured(agree, "b a", cost="ifo")) == "not decided"


def test_levels_of_a_verdict():
    # b is ahead until 1e-2 and then stops.
    late = {"a": [trace(2)] * 5, "b": [trace(1, least=9e-3)] * 5}
    made = measured(late, cost="ifo")
    assert states(made) == ["false", "false", "true", "true", "true", "true"]
    assert verdict(made) == "holds from 1e-03 down"
    assert str(made.levels[2]).startswith(">= ")
    # a is ahead until 1e-2 and stops; then b is, or b may be.
    assert verdict(measured({"a": late["b"], "b": late["a"]}, cost="ifo")) == "holds down to 1e-02 only"
    dear = {"a": late["b"], "b": [trace(10)] * 5}
    assert verdict(measured(dear, cost="ifo")) == "holds down to 1e-02, finer levels not decided"
    finest = {"a": [trace(2, least=9e-4)] * 5, "b": late["b"]}
    assert verdict(measured(finest, cost="ifo")) == "holds at 1e-03, the finest level reached"
    only = {"a": [trace(1, least=0.05)] * 5, "b": [trace(10, least=0.05)] * 5}
    assert verdict(measured(only, cost="ifo")) == "holds at 1e-01, the only level reached"
    there = np.full(ROWS, 0.05)
    start = {"a": [trace(1, metric=there)] * 5, "b": [trace(10, metric=there)] * 5}
    assert verdict(measured(start, cost="ifo")) == "not tested: no run got there"


def test_a_claim_needs_all_its_tests_and_experiments_may_differ():
    five = {"a": [trace(1)] * 5, "b": [trace(10)] * 5}
    good, bad = measured(five, cost="ifo"), measured(five, "b a", cost="ifo")
    assert verdict(good, bad) == "does not hold"
    other = measured(five, "b a", cost="ifo")
    other.experiment = experiments.EXPERIMENTS[0]
    assert verdict(good, other) == "made: holds; regression: does not hold"
    assert claims.chance([claims.Outcome(None, [good, bad])], 5) == (12, 12 / 16)


def test_chains_need_every_link():
    chain = {"a": [trace(1)] * 5, "b": [trace(10)] * 5, "c": [trace(100)] * 5}
    assert verdict(measured(chain, "a b c", cost="ifo")) == "holds"
    assert verdict(measured(chain, "a c b", cost="ifo")) == "does not hold"
    assert measured(chain, "a b c", cost="ifo").levels[0].ratios[0] == pytest.approx(math.log(100))


def test_an_algorithm_is_as_good_as_its_best_series():
    three = {"a": [trace(5)] * 5, "b": [trace(10)] * 5, "d": [trace(1)] * 5}
    assert verdict(measured(three, cost="ifo")) == "holds"
    assert verdict(measured(three, cost="ifo", tuning=1)) == "does not hold"


def test_losses_are_compared_by_their_distance():
    # The limit of the loss is known to about the change in the second half of the run of a.
    two = {"a": [trace(1, 0.02)] * 5, "b": [trace(10, 0.02)] * 5}
    made = measured(two, cost="ifo", quantity="loss")
    drift = abs(two["a"][0]["loss"][200] - two["a"][0]["loss"][-1])
    assert states(made) == ["true" if level >= 10 * drift else "silent" for level in claims.LEVELS]
    assert set(states(made)) == {"true", "silent"}
    assert "by the loss" in made.statement


def test_alike():
    near = {"a": [trace(1)] * 5, "b": [trace(1.2)] * 5}
    made = measured(near, kind="alike", cost="ifo", factor=1.5)
    assert states(made)[2:] == ["true"] * 4
    assert verdict(measured(near, kind="alike", cost="ifo", factor=1.05)) == "does not hold"
    assert made.statement == "Alpha, Beta: IFO calls within a factor of 1.5"


def test_below():
    lower = {"a": [trace(rate=0.05)] * 5, "b": [trace(rate=0.04)] * 5}
    assert verdict(measured(lower, kind="below")) == "holds"
    assert verdict(measured(lower, "b a", kind="below")) == "does not hold"
    assert verdict(measured({"a": [trace()] * 5, "b": [trace()] * 5}, kind="below")) == "not decided"
    # Only iterations that both traced count.
    sparse = trace(rate=0.04)
    sparse.columns = {name: column[::2] for name, column in sparse.columns.items()}
    ratio = measured({"a": [trace(rate=0.05)] * 5, "b": [sparse] * 5}, kind="below").levels[0].ratios[0]
    assert ratio == pytest.approx(0.01 * math.log(10) * np.arange(0, ROWS, 2).mean())


def growing(power, seeds=5):
    """Four series whose rounds until 1e-8 grow like a power of their values."""
    return {s.name: [trace(rate=8 / (20 * (s.value / 100) ** power + k)) for k in range(seeds)] for s in SERIES}


def test_growth_with_n():
    options = {"series": "a b c d", "kind": "slope-n", "cost": "rounds", "level": 1e-8}
    made = measured(growing(0.4), **options, bound=0.0)
    assert made.slope.mean == pytest.approx(0.4, abs=0.03) and verdict(made) == "does not hold"
    assert verdict(measured(growing(0.4), **options, bound=0.5)) == "holds"
    assert re.fullmatch(r"exponent 0\.\d{3} \(0\.\d{3} to 0\.\d{3}\); of IFO calls, including refresh 0, 0\.\d{3} "
                        r"\(0\.\d{3} to 0\.\d{3}\); theory: at most 0", made.numbers)  # fmt: skip
    unfinished = growing(0.4)
    unfinished["d"] = [trace(least=1e-3)] * 5
    assert verdict(measured(unfinished, **options)) == "not tested: no run got there"


def test_growth_with_accuracy_and_time():
    k = np.arange(ROWS) + 1.0
    slow = trace(metric=1 / k, rounds=k)
    made = measured({"a": [slow] * 5}, "a", "slope-epsilon", bound=1.0)
    assert made.slope.mean == pytest.approx(1, abs=0.05)
    fast = measured({"a": [trace()] * 5}, "a", "slope-epsilon", bound=1.0)
    assert fast.slope.mean < 0.8 and verdict(fast) == "holds"
    slower = measured({"a": [trace(metric=1 / k, rounds=k**2)] * 5}, "a", "slope-epsilon", bound=1.0)
    assert slower.slope.mean == pytest.approx(2, abs=0.1) and verdict(slower) == "does not hold"
    assert verdict(measured({"a": [trace()] * 5}, "a", "slope-time", bound=-1.0)) == "holds"
    assert verdict(measured({"a": [slow] * 5}, "a", "slope-time", bound=-1.0)) == "does not hold"


# ---- theorems ------------------------------------------------------------------------------------------


def check(*added):
    out = theorem.Check({}, [])
    for bound, run in added:
        out.add("7", bound, run)
    return out


def test_bounds():
    flat = trace(rate=0.0)  # a metric of 1
    assert check(((400.0, 0.0), trace(rate=0.05))).result()[0] == "silent"  # a bound above the start says nothing
    good = check(((40.0, 0.0), trace(rate=0.5)), ((40.0, 0.0), trace(rate=0.4)))
    assert good.result()[0] == "true" and "2 seeds: mean metric" in good.result()[1]
    assert good.bounds[0]["mean_metric"][10] == 4.0 and math.isnan(good.bounds[0]["mean_metric"][0])
    bad = check(((40.0, 0.0), flat), ((40.0, 0.0), flat))
    assert bad.violated and bad.result()[0] == "false"
    for failed in (trace(end="diverged"), trace(metric=np.full(ROWS, math.nan))):
        broken = check(((40.0, 0.0), failed))
        assert broken.violated and broken.result() == ("false", "the metric of seed 7 is not finite")


# ---- the tables ------------------------------------------------------------------------------------------


def test_runs_to_a_level_end_by_the_metric():
    # Claims are about levels of the metric; a tolerance is about the gap.
    for experiment in experiments.EXPERIMENTS:
        assert "tolerance" not in experiment.settings | experiment.quick
    described = {e.name: runs.describe(e, quick=False) for e in experiments.EXPERIMENTS}
    assert described["complexity-quadratic"].endswith("until metric<=1e-8")


def test_tables_are_consistent():
    by_name = {e.name: e for e in experiments.EXPERIMENTS}
    assert len(by_name) == len(experiments.EXPERIMENTS) == 28
    assert len({claim.name for claim in claims.CLAIMS}) == len(claims.CLAIMS) == 32
    for e in experiments.EXPERIMENTS:
        assert len({s.name for s in e.series}) == len(e.series)
        assert bool(e.tuning) == any(s.tuned for s in e.series) == bool(e.quick_tuning)
    for claim in claims.CLAIMS:
        order = [test.experiment for test in claim.tests]
        assert order == sorted(order, key=order.index)
        for test in claim.tests:
            assert all(by_name[test.experiment].find(name) for name in test.series.split())


# ---- the command -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with two experiments on built-in data."""
    out = tmp_path_factory.mktemp("reproduce") / "all"
    assert run("--only", "topology-regression,theorem", out=out, figures=True)[0] == 0
    return out


@pytest.fixture(scope="module", autouse=True)
def without_matplotlib(tmp_path_factory):
    """A directory whose matplotlib cannot be imported: most tests need no figures, which take long."""
    path = tmp_path_factory.mktemp("path")
    (path / "matplotlib.py").write_text("raise ImportError('there is no matplotlib here')")
    os.environ["WITHOUT_MATPLOTLIB"] = str(path)


def start(*arguments, out, figures=False, **more):
    """Starts the command without data sets."""
    path = os.environ["PYTHONPATH"] if figures else f"{os.environ['WITHOUT_MATPLOTLIB']}:{os.environ['PYTHONPATH']}"
    given = {"SADDLE_DATA": "/nonexistent", "XDG_DATA_HOME": "/nonexistent", "PYTHONPATH": path, **more}
    line = [sys.executable, "-B", "-m", "saddle.reproduce", "--quick", "--threads", "1", *arguments]
    return subprocess.Popen([*line, "--output", str(out)], env={**os.environ, **given}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)  # fmt: skip


def run(*arguments, **more):
    """Runs the command; returns exit status, output and errors."""
    process = start(*arguments, **more)
    text, errors = process.communicate()
    return process.returncode, text, errors


def results(out):
    """Returns the results that do not depend on the clock."""
    files = {}
    for path in sorted(out.glob("traces/*/*.csv")):
        rows = [line.split(",") for line in path.read_text().splitlines()]
        column = next(row for row in rows if "seconds" in row).index("seconds")
        head = ("# trace:", "# churn:")
        files[path.name] = [row if row[0][0] == "#" else row[:column] + row[column + 1 :] for row in rows
                            if not row[0].startswith(head)]  # fmt: skip
    for name in ("claims.md", "claims-tests.csv", "claims.json", "claims.csv", "costs.csv", "ends.csv"):
        files[name] = (out / name).read_text()
    return files


def test_files(made):
    for name in ("topology-regression", "theorem", "network-5-er-0.3", "network-20-complete"):
        assert all((made / "figures" / f"{name}.{kind}").stat().st_size > 1000 for kind in ("svg", "png", "pdf"))
    document = json.loads((made / "claims.json").read_text())
    assert document["quick"] and document["seeds"] == 2 and document["a9a"] == "built-in"
    assert [claim["claim"] for claim in document["claims"]] == ["insensitive", "sparser", "theorem-1", "theorem-2"]
    text = (made / "claims.md").read_text()
    assert "Only 2 of the 28 experiments are covered" in text and "BUILT-IN, in place of the paper's" in text
    page = (made / "report.html").read_text()
    assert "BUILT-IN DATA" in page and page.count("<svg") == 2 and "bound of PRECISION+" in page
    assert "<code>1.3x (1.2-1.4) 10/10</code>" in page and "`" not in page.split("<section")[0]
    assert len(list(csv.DictReader(open(made / "ends.csv")))) == 10
    # The costs, recomputed from a trace.
    rows = [line for line in open(made / "traces/topology-regression/er-0.3-seed1.csv") if line[0] != "#"]
    rows = list(csv.DictReader(rows))
    above = [k for k, row in enumerate(rows) if not float(row["metric"]) <= 0.1]
    want = rows[above[-1] + 1]
    got = next(row for row in csv.DictReader(open(made / "costs.csv"))
               if (row["series"], row["seed"], row["metric"]) == ("er-0.3", "1", "1e-01"))  # fmt: skip
    assert (got["ifo"], got["rounds"]) == (want["ifo"], want["rounds"])


def test_finished_runs_are_not_repeated(made, tmp_path):
    some = tmp_path / "some"
    shutil.copytree(made, some)
    traces = some / "traces" / "topology-regression"
    code, text, _ = run("--only", "topology-regression,theorem", out=some)
    assert code == 0 and "no run made, all 10 existed" in text
    cut = (traces / "er-0.9-seed1.csv").read_text()
    (traces / "er-0.9-seed1.csv").write_text(cut[: len(cut) // 2])
    (traces / "er-0.6-seed1.csv").write_text("nonsense")
    (traces / "er-0.3-seed1.csv").unlink()
    keys = (some / "runs.csv").read_text()
    (some / "runs.csv").write_text(re.sub(r"(er-0.3-seed2.csv),\w+", r"\1,other", keys))  # other settings
    code, text, errors = run("--only", "topology-regression,theorem", out=some)
    assert "no figures: there is no matplotlib here" in errors
    assert code == 0 and "4 of 10 runs made, the other 6 existed" in text
    assert results(some) == results(made)


def test_other_data_are_other_runs(tmp_path):
    (tmp_path / "data").mkdir()
    generator = np.random.default_rng(3)
    rows = [f"{'+1' if x > 0 else '-1'} 1:{x:.4f} 2:{y:.4f}" for x, y in generator.normal(size=(600, 2))]
    (tmp_path / "data" / "a9a").write_text("\n".join(rows) + "\n")
    line = {"out": tmp_path / "out", "SADDLE_DATA": str(tmp_path / "data")}
    assert "all 6 runs made" in run("--only", "topology-regression", **line)[1]
    assert "no run made" in run("--only", "topology-regression", **line)[1]
    (tmp_path / "data" / "a9a").write_text("\n".join(reversed(rows)) + "\n")
    assert "all 6 runs made" in run("--only", "topology-regression", **line)[1]
    code, _, errors = run("--only", "topology-regression", out=tmp_path / "out")
    assert code == 2 and "holds results on a9a, which is not found now" in errors


def test_only_keeps_what_is_finished(made, tmp_path):
    more = tmp_path / "more"
    shutil.copytree(made, more)
    assert "no run made, all 4 existed" in run("--only", "theorem", out=more)[1]
    assert results(more) == results(made)
    (more / "traces" / "topology-regression" / "er-0.6-seed2.csv").unlink()
    assert run("--only", "theorem", out=more)[0] == 0
    text = (more / "claims.md").read_text()
    assert "Only 1 of the 28 experiments is covered" in text and "of the 0 tests" not in text
    assert re.findall(r"</a>(\d+) \|", text) == ["13", "14"]
    assert re.findall(r"^## (.*)", text, re.M) == ["Ours", "Experiments"]
    (more / "claims.json").write_text((more / "claims.json").read_text().replace('"quick": true', '"quick": false'))
    code, _, errors = run("--only", "theorem", out=more)
    assert code == 2 and "holds results of full runs, which short runs would overwrite" in errors


def test_interrupted_searches_and_runs_continue(tmp_path):
    line = ["--only", "tuned-auc-a9a", "--seeds", "1"]
    assert run(*line, out=tmp_path / "whole")[0] == 0
    part = tmp_path / "part"
    for file, signal, codes in (("tuned/tuned-auc-a9a/precision+.csv", 15, (130,)),
                                ("traces/tuned-auc-a9a/prox-dsgda-default-seed1.csv", 9, (-9, 0))):  # fmt: skip
        process = start(*line, out=part)
        while not (part / file).exists() and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal)
        errors = process.communicate()[1]
        assert process.returncode in codes
        assert "the same command continues from" in errors or signal == 9
        assert not (part / "claims.md").exists() or process.returncode == 0
    assert run(*line, out=part)[0] == 0
    whole = tmp_path / "whole"
    assert results(part) == results(whole)
    for name in ("precision", "precision+", "prox-gt-sgda", "prox-dsgda"):
        for kind in ("csv", "yaml", "json"):
            file = f"tuned/tuned-auc-a9a/{name}.{kind}"
            assert (part / file).read_text() == (whole / file).read_text()
    # The searched steps are used, and all metrics have one tau.
    found = json.loads((whole / "tuned/tuned-auc-a9a/prox-dsgda.json").read_text())
    traces = {p.stem: runs.read_trace(p) for p in (whole / "traces/tuned-auc-a9a").glob("*.csv")}
    assert float(traces["prox-dsgda-seed1"].settings["alpha"]) == float(found["alpha"])
    assert len({t.settings["metric-tau"] for t in traces.values()}) == 1


def test_refusals(tmp_path):
    for word in ("regresion", ",steps"):
        code, _, errors = run("--only", word, out=tmp_path / "new")
        assert code == 2 and "is not an experiment; the experiments are regression, auc-a9a" in errors
    assert run("--seeds", "0", out=tmp_path / "new")[0] == 2
    assert run("--threads", "-1", out=tmp_path / "new")[0] == 2
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").touch()
    code, _, errors = run("--only", "theorem", out=tmp_path / "file")
    assert code == 2 and "is a file" in errors
    code, _, errors = run("--only", "theorem", out=tmp_path / "file" / "here")
    assert code == 1 and "Not a directory" in errors


def test_claims_on_any_traces(tmp_path):
    import saddle

    for algorithm in ("precision", "prox-dsgda"):
        for seed in range(1, 6):
            saddle.run("quadratic", algorithm=algorithm, seed=seed, iterations=200, threads=1,
                       trace=tmp_path / f"{algorithm}-{seed}.csv")  # fmt: skip
    files = [str(path) for path in sorted(tmp_path.glob("*.csv"))]
    code, text, _ = run("--traces", *files, out=tmp_path / "unused")
    assert code == 0 and "your runs: PRECISION against Prox-DSGDA, IFO calls" in text
    assert "PRECISION+ converges much faster" not in text and not (tmp_path / "unused").exists()
    for wrong, message in ((files[:1], "at least two of"), (files[:1] * 2, "two runs of precision with seed 1")):
        code, _, errors = run("--traces", *wrong, out=tmp_path / "unused")
        assert code == 2 and message in errors
    other = tmp_path / "ring.csv"
    other.write_text(re.sub("# topology: .*", "# topology: ring", (tmp_path / "precision-1.csv").read_text()))
    code, _, errors = run("--traces", files[-1], str(other), out=tmp_path / "unused")
    assert code == 2 and "has topology ring" in errors


def test_the_command_has_no_other_words():
    assert {part.experiment.name for part in command.choose("steps,theorem") if part.chosen} == {
        "steps-x-regression", "steps-y-regression", "steps-x-auc", "steps-y-auc", "theorem"}  # fmt: skip
    assert pages.number(claims.Outcome(claims.CLAIMS[31], [])) == 32


# ---- the comparison of the field --------------------------------------------------------------------


def test_levels_count_once_a_run_stays_there():
    metric = [1.0, 0.5, 0.05, 0.2, *[0.05] * 8, *[0.2] * 3]
    columns = {name: [10.0 * (k + 1) for k in range(len(metric))] for name in field.COLUMNS}
    columns["metric"] = metric
    # It touches 0.1 at the third point, leaves, and is there from the fifth to the twelfth, which is long enough.
    assert field.first_stay(columns, 0.1) == (50.0,) * 4
    assert field.first_stay(columns, 0.3) == (30.0,) * 4
    assert field.first_stay(columns, 0.01) is None
    # A longer run does not change that; rounds that have not grown do.
    assert field.first_stay({name: [*v, *[v[-1]] * 9] for name, v in columns.items()}, 0.1) == (50.0,) * 4
    assert field.first_stay({**columns, "rounds": [1.0] * len(metric)}, 0.1) is None
    assert field.first_stay({**columns, "metric": [math.nan] * len(metric)}, 0.1) is None


def test_candidates_are_drawn_once_and_within_their_ranges():
    defaults = {"eta_x": 0.5, "eta_y": 2.0, "batch": 8, "beta_x": 0.1, "beta_y": 0.1}
    names = [f"auc-5/{k}" for k in range(1, 60)]
    factors = [field.drawn("dm-hsgd", name) for name in names]
    assert factors[3] == field.drawn("dm-hsgd", "auc-5/4") and factors[3] != factors[4]
    found = [field.applied(f, "dm-hsgd", defaults) for f in factors]
    for settings in found:
        assert 0.05 <= settings["eta_x"] <= 15 and 0.2 <= settings["eta_y"] <= 20
        assert 1 <= settings["batch"] <= 64 and 0 < settings["beta_x"] <= 1
        assert settings.get("mixing_rounds", 1) in (1, 2, 3, 5) and settings.get("first_batch", 64) in (64, 512)
    assert found[0] == field.applied(factors[0], "dm-hsgd", {**defaults, "batch": [3, 8, 5]})
    assert min(f["eta_x"] for f in found) < 0.1 and max(f["eta_x"] for f in found) > 5
    assert {f.get("first_batch") for f in found} == {None, 64, 512}
    assert field.applied({}, "dm-hsgd", defaults) == {}
    near = [field.drawn("dm-hsgd", name, factors[0]) for name in names]
    for option, (low, high) in (("eta_x", (0.1, 30)), ("beta_y", (0.03, 9))):
        ratios = [n[option] / factors[0][option] for n in near]
        assert max(ratios) <= (high / low) ** 0.126 and min(ratios) >= (low / high) ** 0.126
        assert len(set(ratios)) > 50 and all(low <= n[option] <= high for n in near)
    kept = sum(n["mixing_rounds"] == factors[0]["mixing_rounds"] for n in near)
    assert len(near) / 2 < kept < len(near)


def test_points_of_a_run_are_closer_at_its_start_and_are_those_of_the_long_run():
    plan = field.Plan(100.0, 3000, rows="40")
    columns, stop = field._traced("quadratic-10", "dm-hsgd", 1, plan, {})
    iterations = columns["iteration"]
    assert stop in ("ifo", "rounds") and iterations == sorted(set(iterations)) and iterations[0] == 0
    assert max(columns["rounds"]) > plan.rounds * 0.9 or max(columns["ifo"]) > 100 * 400 * 0.9
    gaps = [b - a for a, b in zip(iterations, iterations[1:])]
    assert 60 < len(gaps) < 120 and gaps[0] * 8 < gaps[-2] and all(gap <= iterations[-1] / 12 for gap in gaps)
    tau = field._start("quadratic-10", plan)
    last = int(iterations[-1])
    whole = field._run("quadratic-10", "dm-hsgd", 1, plan, trace_every=1, metric_tau=tau, iterations=last)
    for name in ("metric", *field.COLUMNS):
        assert [float(whole.trace[name][int(k)]) for k in iterations] == columns[name]


def _made(costs, **more):
    return {"costs": {f"{level:g}": cost for level, cost in zip(field.LEVELS, costs)}, "factors": {}, "seconds": 0.0,
            "stop": "rounds", **more}  # fmt: skip


def test_a_candidate_is_chosen_by_the_seeds_that_arrive_and_then_by_cost():
    plan = field.Plan(candidates=5, instances=("auc-5",), methods=("dream",))
    work = [[8, 9, 7], [1, 2, None], [None, None, 1], [6, 8, 7], [1, 1]]
    done = {("auc-5", "dream", k, seed): _made([cost and [1.0, cost, 0.0, 0.0]])
            for k, costs in enumerate(work) for seed, cost in zip(field.TUNING, costs)}  # fmt: skip
    assert field._ranking(done, "auc-5", "dream", 0.1, plan, field.TUNING) == [3, 0, 1]
    assert field.best(done, "auc-5", "dream", 0.1, plan) == 3 and field.best(done, "auc-5", "dream", 0.01, plan) is None
    assert field._ranking(done, "auc-5", "dream", 0.1, plan, field.TUNING[:1]) == [1, 4, 3, 0]
    finals = {key[2:] for key in field._final_runs(done, "auc-5", plan)}
    assert finals == {(k, seed) for k in (0, 1, 3, 4) for seed in field.TUNING[1:]}


def test_the_page_of_the_field_names_the_cheapest_and_those_that_do_not_arrive(monkeypatch):
    plan = field.Plan(candidates=2, seeds=1, instances=("logistic-5", "logistic-ring"),
                      methods=("precision", "dream", "dm-hsgd"))  # fmt: skip
    cost = {"precision": [1e3, 10, 1e6, 5], "dream": [3e3, 5, 1e6, 5]}
    done = {}
    for i in plan.instances:
        for m in plan.methods:
            costs = [cost.get(m), *[None] * 4]
            finals = [(0, seed) for seed in (1001, 1002, 1003, 1)]
            for k, seed in (*finals, (1, 1001), *([("logistic-5:0", 1)] if "ring" in i else [])):
                made = _made(costs if k != 1 else [None] * 5)
                done[i, m, k, seed] = {**made, "instance": i, "method": m, "candidate": k, "seed": seed}
    costs = field_page.Costs(done, plan)
    assert costs.instances == ["logistic-5", "logistic-ring"]
    group = costs.cells("tuned")
    assert group == [("logistic-5", 0.1), ("logistic-ring", 0.1)] and costs.cells("carried") == [("logistic-ring", 0.1)]
    assert costs.ranking("tuned", group, 0) == ["precision", "dream", "dm-hsgd"]
    assert costs.ranking("default", group, 1) == ["dream", "precision", "dm-hsgd"]
    assert math.isclose(costs.score("tuned", "dream", group, 0), 3)
    assert math.isclose(costs.score("tuned", "dm-hsgd", group, 0), 100)
    assert costs.reached("carried", "dream", costs.cells("carried")) == 1
    text = "\n".join(field_page.page(done, plan))
    assert "| logistic-5, tuned | **precision** 1k / 10 | - | - | - | - |" in text
    assert "| dm-hsgd | 0 of 2 | 100 | 100 | 100 | 100 |" in text
    assert "logistic-5,tuned,0.1,dream,3000,5,1e+06,5" in field_page._table(costs)
    assert "| You tune for the level | **precision** 1; dream 3 | **dream** 1; precision 2 |" in text
    assert "Of the 4 levels that methods reach at their defaults" in " ".join(text.split())
    assert field_page._effect(costs).endswith("for 0 and more for 0; they do not reach 0.")
    costs.of["tuned", "logistic-5", "dream", 0.1] = (3e3, 9.0, 1e6, 5.0)
    costs.of["tuned", "logistic-ring", "dream", 0.1] = None
    costs.of["default", "logistic-5", "precision", 0.1] = (2e3, 10.0, 1e6, 5.0)
    effect = "need less, gradient evaluations times rounds, for 1 and more for 1; they do not reach 1."
    assert effect in field_page._effect(costs)
    monkeypatch.setattr(field_page, "FAMILY", ("dream",))
    assert "| logistic-5, tuned | precision 1k / 10; **dream** 3x |" in "\n".join(field_page.page(done, plan))
    monkeypatch.setattr(field_page, "FAMILY", ("dm-hsgd",))
    assert "| logistic-5, tuned | precision 1k / 10; **PRECISION** never |" in "\n".join(field_page.page(done, plan))
    del done["logistic-ring", "dream", 0, 1]
    assert field_page.Costs(done, plan).instances == ["logistic-5"]
    text = " ".join(" ".join(field_page.page(done, plan)).split())
    assert "Not run, or not completely, and not on this page: logistic-ring." in text


def test_the_field_continues(tmp_path):
    said = []
    plan = field.Plan(60.0, 600, 4, 1, "40", ("quadratic-10", "quadratic-100"), ("precision+", "k-gt-minimax"))

    def run():
        del said[:]
        field.run(tmp_path, plan, 1, lambda text, now=False: said.append(text))
        field_page.write(tmp_path, plan)
        return (tmp_path / "field.md").read_text()

    first = run()
    lines = (tmp_path / "field.jsonl").read_text().splitlines()
    assert len([line for line in lines if '"error"' in line]) == 0 and len(lines) >= 24
    assert any('"quadratic-10:' in line for line in lines) and "2 of 2 instances are complete" in first
    (tmp_path / "field.jsonl").write_text("\n".join(lines[1:]) + '\n{"instance": "cut')
    assert run() == first and "drawn candidates: 1 of 8 runs are missing" in said[0]
    assert len(said) == 2, "one message for the phase and one for the run"
    # A page of another run is not mixed in: with another budget, nothing is there.
    assert field.read(tmp_path / "field.jsonl", field.Plan(61.0, 600, 4, 1, "40")) == {}


def test_the_regression_of_the_figures_is_monotone_and_has_its_constants():
    draw = np.random.default_rng(5)
    problem = field_figures.Regression(draw.normal(size=(30, 4)), np.sign(draw.normal(size=30)), 3)
    rows = [np.arange(10), np.array([1, 4, 7])]
    def unit():
        v = draw.normal(size=4)
        return v / np.linalg.norm(v) * draw.random()

    for _ in range(50):
        x, y, other_x, other_y = (unit() for _ in range(4))
        gx, gy = problem.gradient(1, rows[0], x, y)
        for k in range(4):
            e = 1e-6 * np.eye(4)[k]
            slope = [(problem.value(1, *(p + s * d for p, d in zip((x, y), (dx, dy)))))
                     for dx, dy in ((e, 0 * e), (0 * e, e)) for s in (1, -1)]  # fmt: skip
            assert abs((slope[0] - slope[1]) / 2e-6 - gx[k]) < 1e-7
            assert abs((slope[2] - slope[3]) / 2e-6 - gy[k]) < 1e-7
        one = field_figures.Regression(problem.a[1][rows[1]], problem.b[1][rows[1]], 1)
        assert np.allclose(problem.gradient(1, rows[1], x, y), one.gradient(0, np.arange(3), x, y), rtol=0, atol=1e-14)
        best = problem.best_response(x)
        most = sum(problem.value(i, x, best) for i in range(3))
        assert np.linalg.norm(best) <= 1.0 + 1e-15
        assert all(sum(problem.value(i, x, unit()) for i in range(3)) <= most + 1e-12 for _ in range(20))
        near = best + 1e-4 * unit()
        assert sum(problem.value(i, x, near / max(1.0, np.linalg.norm(near))) for i in range(3)) <= most + 1e-12
        hx, hy = problem.gradient(1, rows[0], other_x, other_y)
        d = np.concatenate([x - other_x, y - other_y])
        change = np.concatenate([gx - hx, hy - gy])
        assert change @ d >= problem.strong_concavity * (d @ d)
        assert np.linalg.norm(change) <= problem.lipschitz * np.linalg.norm(d)


def test_the_page_of_figures_says_which_order_is_there():
    def made(method, at, seed=1):
        metric = [1.0 if k < at else 1e-9 for k in range(40)]
        cost = [10.0 * (k + 1) for k in range(40)]
        return {"panel": "oadsvi", "method": method, "seed": seed,
                "columns": {"metric": metric, "ifo": cost, "rounds": cost, "bytes": cost}}  # fmt: skip

    lines = [made("oadsvi", 4), made("oadsvi", 6, 2), made("oadsvi", 39, 3), made("gt-gda", 9),
             made("dgda-vr, all rows", 2)]  # fmt: skip
    text = "\n".join(field_figures.page(lines))
    assert "rounds to 1.5e-05: oadsvi 70, gt-gda 100, dgda-vr, all rows 30 |" in text
    assert "| yes: oadsvi before gt-gda; no: oadsvi before dgda-vr, all rows |" in text
