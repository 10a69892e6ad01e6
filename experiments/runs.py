"""Making the runs of experiments, and finding those that were made before.

    DIR/runs.csv                              which runs and searches the files below belong to
    DIR/traces/EXPERIMENT/SERIES-seedN.csv    traces
    DIR/traces/EXPERIMENT/SERIES.churn        events of a series in which agents leave and join
    DIR/tuned/EXPERIMENT/SERIES.csv           the log of a search for step sizes
    DIR/tuned/EXPERIMENT/SERIES.yaml, .json   its result, as a configuration file and for the runs here

A run is the same as one that was made before if version, settings, data and churn events are: their hash is in
runs.csv. It is not made again if its trace is complete; an incomplete one is started again, and a search continues from
its log. Except for seconds, the files are the same however often the work was interrupted.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Callable

import numpy as np

import saddle
from saddle._library import ffi, lib, text

from .claims import Runs, best_end
from .experiments import Experiment, Series, Settings
from .theorem import Check

__all__ = ["Part", "Runner", "Trace", "data_of", "describe", "find", "is_substitute", "read_trace"]

TUNING_SEED = 1000
"""The seed of searches, which no run of an experiment uses."""
HELD = "nu,eta,c-gamma"
"""Options that a search does not vary: steps that the paper gives, and those of a single algorithm."""

# ---- data -----------------------------------------------------------------------------------------


@lru_cache(maxsize=None)
def find(name: str) -> str:
    """Returns the path of a data set, or ""."""
    path, error = ffi.new("char **"), ffi.new("saddle_error *")
    return text(path[0]) if lib.saddle_data_find(name.encode(), path, error) == lib.SADDLE_OK else ""


def data_of(data: str) -> str:
    """Returns the name of an experiment's data for the settings: the real data if they are found, otherwise built-in
    data; "" if the problem generates its own."""
    names = {"a9a": ["a9a"], "mnist": ["mnist", "mnist.t"], "": [""]}[data]
    built_in = {"a9a": "synthetic", "mnist": "synthetic:10000:784", "": ""}[data]
    return next((name for name in names if name and find(name)), built_in)


def is_substitute(data: str) -> bool:
    """Returns whether built-in data replace the real ones."""
    return data_of(data).startswith("synthetic")


@lru_cache(maxsize=None)
def _contents(name: str) -> str:
    """Returns a hash of the files of a data set; "" for built-in data."""
    path = find(name) if name else ""
    if not path:
        return ""
    labels = path.replace("images-idx3", "labels-idx1")
    return "".join(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in sorted({path, labels}))


# ---- traces ---------------------------------------------------------------------------------------


@dataclass
class Trace:
    """A trace file: columns as arrays, settings as texts, and how the run ended; "" if it did not."""

    columns: dict[str, Any]
    settings: dict[str, str] = field(default_factory=dict)
    end: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    @property
    def diverged(self) -> bool:
        return self.end == "diverged"


def read_trace(path: Path) -> Trace | None:
    """Returns a trace; None if there is none, or it is broken."""
    try:
        lines = path.read_text().splitlines()
        head = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
        settings = {name: value for name, _, value in head}
        names, *rows = [line for line in lines if not line.startswith("#")]
        table = np.array([[float(cell or "nan") for cell in row.split(",")] for row in rows], dtype=float)
        columns = dict(zip(names.split(","), table.reshape(len(rows), names.count(",") + 1).T))
    except (OSError, ValueError):
        return None
    return Trace(columns, settings, settings.pop("ended", "")) if rows and "metric" in columns else None


def _last_change(trace: Trace, name: str) -> float:
    """Returns the rounds of the last trace point before a column changes for the last time; 0 if it never does."""
    changes = np.flatnonzero(np.diff(trace.columns.get(name, [])))
    return float(trace["rounds"][changes[-1]]) if len(changes) else 0.0


def add_columns(experiment: Experiment, runs: Runs) -> None:
    """Adds what figures and claims need and traces do not contain.

    loss_gap      |loss - limit of the loss for this seed|; the loss itself would show nothing after its first digits
    mean_metric   mean of the metric over the iterations so far, which the theorems bound
    rounds_after  rounds since the trace point before the last change of `present` or `components`, at least 1
    """
    for traces in runs.values():
        for seed, trace in enumerate(traces):
            if "loss_gap" in experiment.panels:
                best = best_end(runs, seed)
                limit = best["loss"][-1] if best is not None else np.nan
                trace.columns["loss_gap"] = np.abs(trace["loss"] - limit)
            if "mean_metric" in experiment.panels:
                means = np.cumsum(trace["metric"])[:-1] / np.arange(1, len(trace["metric"]))
                trace.columns["mean_metric"] = np.concatenate([[np.nan], means])
            if any(series.churn for series in experiment.series):
                last = max(_last_change(trace, "present"), _last_change(trace, "components"))
                trace.columns["rounds_after"] = np.maximum(1.0, trace["rounds"] - last)


# ---- runs -----------------------------------------------------------------------------------------


@dataclass
class Part:
    """An experiment with its traces."""

    experiment: Experiment
    chosen: bool
    runs: Runs = field(default_factory=dict)
    theorems: dict[str, Check] | None = None
    """The comparison of each series with its theorem."""


def describe(experiment: Experiment, quick: bool) -> str:
    """Says where an experiment is in the paper and how large its runs are, so that the effect of --quick shows."""
    shown = {"agents": "; {} agents", "topology": ", {}", "samples": ", n = {}", "max_ifo": ", {} IFO calls",
             "max_rounds": ", {} rounds", "max_network_seconds": ", {} simulated seconds",
             "stop_when": ", until {}"}  # fmt: skip
    settings = {**experiment.settings, **(experiment.quick if quick else {})}
    common = [name for name in shown if name in settings and name not in experiment.series[0].settings]
    return experiment.source + "".join(shown[name].format(settings[name]) for name in common)


class Runner:
    """Settings and progress that all experiments share. say(text, now) prints; now: what is being done."""

    def __init__(self, directory: Path, seeds: int, quick: bool, threads: int | None, say: Callable[..., None]) -> None:
        self.directory, self.seeds, self.quick, self.say = directory, seeds, quick, say
        self.given: Settings = {} if threads is None else {"threads": threads}
        self.total = 0
        self.current = 0
        self.made = 0
        self.keys: dict[str, str] = {}
        file = directory / "runs.csv"
        if file.exists():
            lines = (line.split(",") for line in file.read_text().splitlines())
            self.keys = {words[0]: words[1] for words in lines if len(words) == 2}

    def settings(self, experiment: Experiment, series: Series) -> Settings:
        """Returns the settings of a series, without seed and files."""
        out = {**experiment.settings, **series.settings, **(experiment.quick if self.quick else {})}
        if series.algorithm == "precision+":
            out.setdefault("c_gamma", 10)  # the paper's rule; the default measures its batches
        if series.algorithm.startswith("prox-"):
            out.pop("q", None)  # the baselines have no refreshes
        if experiment.data:
            out["data"] = data_of(experiment.data)
        return {**out, "algorithm": series.algorithm}

    def _key(self, settings: Settings, **more: Any) -> str:
        values = {name: str(value) for name, value in sorted({**settings, **more}.items())}
        what = [saddle.__version__, _contents(str(settings.get("data", ""))), values]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()

    def _record(self, file: Path, key: str) -> None:
        name = str(file.relative_to(self.directory))
        self.keys[name] = key
        with open(self.directory / "runs.csv", "a", encoding="utf-8") as out:
            out.write(f"{name},{key}\n")

    def _is_recorded(self, file: Path, key: str) -> bool:
        return self.keys.get(str(file.relative_to(self.directory))) == key

    def _search(self, experiment: Experiment, series: Series, settings: Settings, make: bool) -> Settings | None:
        """Returns tau, alpha, batch and the distance of trace points that a search found; None: it was not made."""
        path = self.directory / "tuned" / experiment.name / f"{series.name}.csv"
        given: Settings = {"budget": experiment.quick_tuning if self.quick else experiment.tuning,
                 "candidates": 6 if self.quick else 24, "hold": HELD, "search": f"batch={experiment.batches}",
                 "seed": TUNING_SEED}  # fmt: skip
        key = self._key(settings, **given)
        answer = path.with_suffix(".json")
        if self._is_recorded(path, key) and answer.exists():
            return dict(json.loads(answer.read_text()))
        if not make:
            return None
        self.say(f"  {experiment.name}, tuning {series.name}", now=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        answer.unlink(missing_ok=True)
        if not self._is_recorded(path, key):  # a log of another search cannot be continued
            path.unlink(missing_ok=True)
            self._record(path, key)
        tuning = saddle.tune(**settings, **self.given, **given, objective="metric", log=path, resume=path.exists())
        tuning.save(path.with_suffix(".yaml"))
        last = np.flatnonzero(tuning.trials["candidate"] == tuning._c.ranking[0])[-1]
        iterations = settings["max_ifo"] * float(tuning.trials["iterations"][last]) / float(tuning.trials["ifo"][last])
        # The number of trace points does not depend on the cost of an iteration.
        every = max(1, int(iterations / (100 if self.quick else 1000)))
        found: Settings = {**tuning.best, "metric_tau": tuning.metric_tau, "trace_every": every}
        write_file(answer, json.dumps(found))
        return found

    def _one(self, experiment: Experiment, series: Series, settings: Settings, seed: int, make: bool) -> Trace | None:
        """Returns the trace of a series with one seed; None: it was not made."""
        folder = self.directory / "traces" / experiment.name
        path = folder / f"{series.name}-seed{seed}.csv"
        settings = {**settings, "seed": seed}
        key = self._key(settings, churn=series.churn)
        label = f"  [{self.current}/{self.total}] {experiment.name} {series.name} seed {seed}: "
        trace = read_trace(path) if self._is_recorded(path, key) else None
        if trace is not None and trace.end not in ("", "interrupted"):
            return trace
        if not make:
            return None
        self.say(label, now=True)
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        self._record(path, key)
        if series.churn:
            settings["churn"] = folder / f"{series.name}.churn"
            write_file(settings["churn"], series.churn)
        result = saddle.run(**settings, **self.given, gap="never", trace=path)
        self.made += 1
        row = {name: column[-1] for name, column in (result.trace or {}).items()}
        self.say(f"{label}{row['iteration']:.0f} iterations, {row['seconds']:.3g} s, metric {row['metric']:.4e}: "
                 f"{result.message}")  # fmt: skip
        return read_trace(path)

    def run(self, part: Part) -> bool:
        """Makes the runs of a part, or finds them if it was not chosen; returns whether all its runs exist."""
        experiment, make = part.experiment, part.chosen
        metric_tau: Settings = {}  # of all metrics, taken from the searches
        runs: Runs = {}
        for series in experiment.series:
            settings = self.settings(experiment, series)
            if series.tuned:
                found = self._search(experiment, series, settings, make)
                if found is None:
                    return False
                settings.update(found)
                metric_tau = {"metric_tau": found["metric_tau"]}
            settings.update(metric_tau)
            runs[series.name] = []
            for seed in range(1, self.seeds + 1):
                self.current += make
                trace = self._one(experiment, series, settings, seed, make)
                if trace is None:
                    return False
                runs[series.name].append(trace)
        part.runs = runs
        add_columns(experiment, runs)
        if experiment.name == "theorem":
            part.theorems = {
                series.name: Check(self.settings(experiment, series), runs[series.name]) for series in experiment.series
            }
        return True


def write_file(path: Path, content: str) -> None:
    """Writes a file that appears complete or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(content, encoding="utf-8")
    new.replace(path)
