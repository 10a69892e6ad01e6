"""`python3 -m saddle.reproduce --only field`: the decentralized methods of the field on equal terms.

Every method runs on every instance of INSTANCES at its defaults and with settings that are tuned for each level of the
metric. On an instance, all have the same budget of gradient evaluations and rounds per run and the same number of
candidates: candidate 0 is the defaults, half of the others are drawn from the searched settings (METHODS), around the
defaults, and half are drawn near the best of these at one of the levels. Candidates are judged on the first seed of
TUNING, the best of them at each level and the defaults also on the others: by the seeds that reach the level, then by
gradient evaluations times rounds. The numbers that are shown are of other seeds, which draw other graphs, starts,
distributions of the rows and samples. "Carried over" are the settings that were best on another instance (DONORS), as
factors of the defaults. The metric has exact directions and one tau per instance, and its levels are fractions of the
metric at the start.

A level costs what a run has spent at the first trace point after which it stays there until gradient evaluations and
rounds both have grown by STAY. So what counts does not depend on how long the run is. Trace points lie closer to each
other at the start of a run: runs with fractions of the budget, whose iterates are the same, have as many points each.

    DIR/field.jsonl    one line per run, appended when it ends; runs that are there are not made again
    DIR/field.md       the page, of the instances whose runs are complete (field_page.py)
    DIR/field.csv      what every method costs on each of them
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import logging
import math
import random
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import saddle
from saddle._library import _path

from .runs import data_of
from .side_by_side import Line, read_lines
from .side_by_side import make as make_side_by_side

__all__ = ["COLUMNS", "Cost", "DONORS", "INSTANCES", "Key", "LEVELS", "METHODS", "Plan", "best", "complete",
           "first_stay", "run", "shown"]  # fmt: skip

LEVELS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
TUNING = (1001, 1002, 1003)
FINALISTS = 3  # the candidates that the other seeds judge, for each level
STAY = 1.5
LEAST_POINTS = 3  # of a stay
SHRINK = 4
SCALES = (SHRINK**3, SHRINK**2, SHRINK, 1)  # a run has POINTS points with the budget divided by each of these
POINTS = 24
LINKS = "latency:0.02,bandwidth:125000,compute:1e-6"
COLUMNS = ("ifo", "rounds", "bytes", "network_seconds")

Settings = dict[str, Any]
Cost = tuple[float, ...]
"""What a level costs, in the order of COLUMNS."""
Number = Union[int, str]
"""A candidate: its number, or "INSTANCE:NUMBER" if it is carried over."""
Key = tuple[str, str, Number, int]
"""Instance, method, candidate and seed of a run."""
Runs = dict[Key, Line]

LOGISTIC = {"problem": "robust-logistic", "data": "a9a"}
AUC = {"problem": "auc", "data": "a9a"}
MNIST = {"problem": "auc", "data": "mnist"}
FIVE = {"agents": 5, "topology": "er:0.6"}
RING = {"agents": 20, "topology": "ring"}
TORUS = {"agents": 20, "topology": "torus:4x5"}
FIFTY = {"agents": 50, "topology": "er:0.1"}
SKEWED = {"partition": "label-skew:0.3", "agent_weights": "by-size"}
QUADRATIC = {"problem": "quadratic", "samples": "200", "mu": 1, "agents": 10, "topology": "ring"}

INSTANCES: dict[str, Settings] = {
    "auc-5": {**AUC, **FIVE},
    "auc-ring": {**AUC, **RING},
    "quadratic-10": {**QUADRATIC, "lipschitz": 10},
    "logistic-5": {**LOGISTIC, **FIVE},
    "auc-torus-skewed": {**AUC, **TORUS, **SKEWED},
    "fair-10": {"problem": "fair", "data": "a9a", "sensitive": "73", "agents": 10, "topology": "er:0.4"},
    "quadratic-100": {**QUADRATIC, "lipschitz": 100},
    "group-dro-ring": {"problem": "group-dro", "data": "a9a", "groups": "agents", "agents": 10, "topology": "ring",
                       **SKEWED},
    "mnist-5": {**MNIST, **FIVE},
    "auc-mlp-5": {**AUC, **FIVE, "score": "mlp:16", "activation": "tanh", "samples": "1000"},
    "logistic-ring": {**LOGISTIC, **RING},
    "quadratic-1000": {**QUADRATIC, "lipschitz": 1000},
    "mnist-ring-skewed": {**MNIST, "agents": 10, "topology": "ring", **SKEWED},
    "auc-50": {**AUC, **FIFTY},
}  # fmt: skip
DONORS = {"auc-ring": "auc-5", "auc-torus-skewed": "auc-5", "auc-50": "auc-5", "mnist-5": "auc-5", "auc-mlp-5": "auc-5",
          "mnist-ring-skewed": "mnist-5", "fair-10": "auc-5", "group-dro-ring": "auc-ring",
          "logistic-ring": "logistic-5", "quadratic-100": "quadratic-10",
          "quadratic-1000": "quadratic-100"}  # fmt: skip

# What a search varies: the factors of a default, or the values of a choice; None: the default.
STEPS = {"eta_x": (0.1, 30.0), "eta_y": (0.1, 10.0)}
SMALL_BATCH = {"batch": (0.1, 8.0)}  # the default is a quarter of sqrt(n)
BATCH = {"batch": (0.025, 2.0)}  # the default is sqrt(n)
BETAS = {"beta_x": (0.03, 9.0), "beta_y": (0.03, 9.0)}
MIXING = {"mixing_rounds": [None, 1, 2, 3, 5]}
FIRST = {"first_batch": [None, 64, 512]}
REFRESHES = {"refresh_size": [None, None, 64, 512]}
DAMPED = {"tau": (0.03, 10.0), "alpha": (0.1, 10.0), "nu": (1.0, 3.0), "eta": (1.0, 3.0)}


@dataclass(frozen=True)
class Method:
    settings: Settings
    searched: dict[str, Any]


METHODS: dict[str, Method] = {
    "precision-auto": Method({}, {"step_share": (0.1, 9.0), "noise_share": (0.1, 3.0)}),
    "precision": Method({}, {**DAMPED, **SMALL_BATCH, "q": (0.25, 4.0)}),
    "precision+": Method({}, {**DAMPED, "c_gamma": [None, None, 0.3, 1.0, 10.0], "batch": [None, None, 2, 6, 20]}),
    "prox-gt-sgda": Method({}, {**DAMPED, **BATCH}),
    "prox-dsgda": Method({}, {**DAMPED, **BATCH}),
    "gt-gda": Method({}, {**STEPS, "ascents": [1, 2, 3, 5]}),
    "dposg": Method({}, {**STEPS, **BATCH, **MIXING}),
    "dppsp": Method({}, STEPS),
    "cspsg": Method({}, {**STEPS, **BATCH}),
    "dgda-vr": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **REFRESHES, "q": (0.25, 4.0)}),
    "dm-hsgd": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **BETAS}),
    "dream": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **REFRESHES}),
    "dama": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **BETAS}),
    "dama-page": Method({"algorithm": "dama", "estimator": "page"},
                        {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **REFRESHES}),
    "dama-kalman": Method({"algorithm": "dama", "estimator": "kalman"}, {**STEPS, **MIXING}),
    "vrlm": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **REFRESHES, "q": (0.25, 4.0),
                        "estimator": ["sarah", "sarah", "storm"]}),
    "k-gt-minimax": Method({}, {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, "local_steps": [1, 2, 5, 10]}),
    "k-gt-storm": Method({"algorithm": "k-gt-minimax", "estimator": "storm"},
                         {**STEPS, **SMALL_BATCH, **MIXING, **FIRST, **BETAS, "local_steps": [1, 2, 5, 10]}),
    "d-adast": Method({}, {**STEPS, **BATCH}),
    "oadsvi": Method({}, STEPS),
}  # fmt: skip
AT_MOST = {"beta_x": 1.0, "beta_y": 1.0, "step_share": 1.0, "noise_share": 1.0, "nu": 1.0, "eta": 1.0}


@dataclass(frozen=True)
class Plan:
    """How much is spent: gradient evaluations for each row, and rounds, in a run; candidates; seeds that are shown."""

    passes: float = 200.0
    rounds: int = 3000
    candidates: int = 24
    seeds: int = 3
    rows: str = ""
    """Rows of each agent; "": all."""
    instances: tuple[str, ...] = tuple(INSTANCES)
    methods: tuple[str, ...] = tuple(METHODS)


QUICK = Plan(10.0, 200, 4, 1, "100", ("auc-5", "quadratic-10"))


def narrowed(plan: Plan, words: Iterable[str]) -> Plan:
    """Returns a plan of the instances whose names begin with one of some words; all of its own if there are none."""
    chosen = tuple(name for name in INSTANCES if any((name + "-").startswith(word + "-") for word in words))
    return dataclasses.replace(plan, instances=chosen or plan.instances)


# ---- runs -----------------------------------------------------------------------------------------


def first_stay(columns: Any, level: float) -> Cost | None:
    """Returns what a run had spent when it first came to a level of the metric to stay; None: it never did."""
    metric = [float(v) for v in columns["metric"]]
    ifo, rounds = columns["ifo"], columns["rounds"]
    begin = None
    for k, value in enumerate(metric):
        if not value <= level:
            begin = None
            continue
        begin = k if begin is None else begin
        grown = ifo[k] >= STAY * ifo[begin] and rounds[k] >= STAY * rounds[begin]
        if grown and k - begin + 1 >= LEAST_POINTS:
            return tuple(float(columns[name][begin]) for name in COLUMNS)
    return None


def _largest(value: Any) -> float:
    """Returns a setting, of which each agent may have its own."""
    return float(max(value)) if isinstance(value, (list, tuple)) else float(value)


def drawn(method: str, name: str, near: Settings | None = None) -> Settings:
    """Returns factors of defaults, and choices: anywhere, or near others. The name of the draw is its seed."""
    draw = random.Random(f"{method}/{name}")
    found: Settings = {}
    for option, values in METHODS[method].searched.items():
        if isinstance(values, list):
            chosen = values[int(draw.random() * len(values))]
            found[option] = near[option] if near and draw.random() < 2 / 3 else chosen
        elif near:
            factor = near[option] * (values[1] / values[0]) ** ((draw.random() - 0.5) / 4)
            found[option] = min(max(factor, values[0]), values[1])
        else:
            found[option] = values[0] * (values[1] / values[0]) ** draw.random()
    return found


def applied(factors: Settings, method: str, defaults: Settings) -> Settings:
    """Returns the settings that factors of the defaults, and choices, mean on an instance."""
    found: Settings = {}
    for option, value in factors.items():
        if isinstance(METHODS[method].searched[option], list):
            if value is not None:
                found[option] = value
            continue
        value = min(_largest(defaults[option]) * value, AT_MOST.get(option, math.inf))
        found[option] = max(1, round(value)) if option in ("batch", "q") else value
    return found


@functools.lru_cache(maxsize=4)
def _instance(name: str, seed: int, rows: str) -> saddle.Instance:
    options = dict(INSTANCES[name], seed=seed)
    if "data" in options:
        options["data"] = data_of(options["data"])
    if rows:
        options["samples"] = rows
    return saddle.Instance(**options)


def _run(instance: str, method: str, seed: int, plan: Plan, **more: Any) -> saddle.Result:
    own = METHODS[method].settings
    options: Settings = {"gap": "never", "threads": 1, "link_model": LINKS, "outcomes": "ends",
                         "iterations": 10**9, **own, **more}  # fmt: skip
    return _instance(instance, seed, plan.rows).run(options.pop("algorithm", method), **options)


@functools.lru_cache(maxsize=None)
def _start(instance: str, plan: Plan) -> float:
    """Returns tau of the metric."""
    return float(_run(instance, "precision", TUNING[0], plan, iterations=0).settings["metric_tau"])


@functools.lru_cache(maxsize=None)
def _defaults(instance: str, method: str, plan: Plan) -> Settings:
    return dict(_run(instance, method, TUNING[0], plan, iterations=0).settings)


def _traced(instance: str, method: str, seed: int, plan: Plan,
            settings: Settings) -> tuple[dict[str, list[float]], str]:
    """Returns the columns of a run, with points that are closer to each other at its begin, and why it ended."""
    rows = sum(_instance(instance, seed, plan.rows).samples)
    names = ("iteration", "metric", *COLUMNS)
    columns: dict[str, list[float]] = {name: [] for name in names}
    def limited(scale: int, every: int) -> saddle.Result:
        return _run(instance, method, seed, plan, trace_every=every, metric_tau=_start(instance, plan),
                    max_ifo=math.ceil(plan.passes * rows / scale), max_rounds=max(1, plan.rounds // scale),
                    **settings)  # fmt: skip

    expected = float(limited(SCALES[0], 2**53).trace["iteration"][-1])
    before = expected / SHRINK
    for scale in SCALES:
        r = limited(scale, max(1, int(expected / POINTS)))
        last = columns["iteration"][-1] if columns["iteration"] else -1.0
        for k in (k for k, iteration in enumerate(r.trace["iteration"]) if iteration > last):
            for name in names:
                columns[name].append(float(r.trace[name][k]))
        if r.stop == "diverged":
            break
        iterations = float(r.trace["iteration"][-1])
        expected = iterations * min(max(iterations / max(before, 1.0), 1.0), SHRINK)
        before = iterations
    return columns, r.stop


def make(key: Key, factors: Settings, plan: Plan) -> Line:
    """Makes one run and returns what its line says."""
    instance, method, _, seed = key
    settings = applied(factors, method, _defaults(instance, method, plan))
    columns, stop = _traced(instance, method, seed, plan, settings)
    start = columns["metric"][0]
    costs = {f"{level:g}": first_stay(columns, level * start) for level in LEVELS}
    return {"settings": settings, "stop": stop, "end": columns["metric"][-1] / start, "costs": costs}


# ---- results ----------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def _version(plan: Plan) -> str:
    here = Path(__file__)
    runs = (plan.passes, plan.rounds, plan.rows)
    return hashlib.sha256(Path(_path()).read_bytes() + here.read_bytes() + repr(runs).encode()).hexdigest()[:16]


def read(path: Path, plan: Plan) -> Runs:
    """Returns the runs that were made before with this version and budget."""
    return {_key(line): line for line in read_lines(path) if line.get("version") == _version(plan)}


def _key(line: Line) -> Key:
    return line["instance"], line["method"], line["candidate"], line["seed"]


def _work(task: tuple[Key, Settings, Plan]) -> Line:
    key, factors, plan = task
    logging.getLogger("saddle").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    begin = time.process_time()
    try:
        made = make(key, factors, plan)
    except (saddle.Error, ValueError, ArithmeticError) as why:
        made = {"error": f"{type(why).__name__}: {why}"}
    return {**dict(zip(("instance", "method", "candidate", "seed"), key)), "version": _version(plan),
            "factors": factors, **made, "seconds": round(time.process_time() - begin, 3)}  # fmt: skip


def _worth(done: Runs, instance: str, method: str, number: int, level: float,
           seeds: Sequence[int]) -> tuple[int, float] | None:
    """Returns how many seeds do not reach a level, and the mean of log(gradient evaluations x rounds) of the others;
    None if a seed was not run, or most do not reach it."""
    lines = [done.get((instance, method, number, seed)) for seed in seeds]
    if None in lines:
        return None
    found = [line.get("costs", {}).get(f"{level:g}") for line in lines if line]
    costs = [math.log(max(1.0, cost[0]) * max(1.0, cost[1])) for cost in found if cost is not None]
    return (len(seeds) - len(costs), statistics.fmean(costs)) if 2 * len(costs) > len(seeds) else None


def _ranking(done: Runs, instance: str, method: str, level: float, plan: Plan, seeds: Sequence[int]) -> list[int]:
    """Returns the candidates that reach a level, the best first."""
    worth = {k: w for k in range(plan.candidates)
             for w in [_worth(done, instance, method, k, level, seeds)] if w is not None}  # fmt: skip
    return sorted(worth, key=lambda k: (worth[k], k))


def best(done: Runs, instance: str, method: str, level: float, plan: Plan) -> int | None:
    """Returns the candidate that reaches a level at least cost; None: none does."""
    return next(iter(_ranking(done, instance, method, level, plan, TUNING)), None)


# ---- which runs ---------------------------------------------------------------------------------------

Tasks = dict[Key, Settings]
"""Runs, with the factors of their settings."""


def _half(plan: Plan) -> int:
    return (plan.candidates + 1) // 2


def _drawn_runs(done: Runs, instance: str, plan: Plan) -> Tasks:
    return {(instance, m, k, TUNING[0]): drawn(m, f"{instance}/{k}") if k else {}
            for m in plan.methods for k in range(_half(plan))}  # fmt: skip


def _near_runs(done: Runs, instance: str, plan: Plan) -> Tasks:
    """Returns candidates near the best of those that were drawn, for one level after the other."""
    out: Tasks = {}
    for m in plan.methods:
        first = dataclasses.replace(plan, candidates=_half(plan))
        ranked = (_ranking(done, instance, m, level, first, TUNING[:1]) for level in LEVELS)
        centres = [r[0] for r in ranked if r]
        for k in range(_half(plan), plan.candidates):
            centre = centres[k % len(centres)] if centres else None
            near = done[instance, m, centre, TUNING[0]]["factors"] if centre is not None else None
            if near == {}:  # the defaults
                near = {option: None if isinstance(values, list) else 1.0
                        for option, values in METHODS[m].searched.items()}  # fmt: skip
            out[instance, m, k, TUNING[0]] = drawn(m, f"{instance}/{k}", near)
    return out


def _final_runs(done: Runs, instance: str, plan: Plan) -> Tasks:
    """Returns runs of the best candidates and the defaults with the other seeds."""
    found = {(m, k) for m in plan.methods for level in LEVELS
             for k in (0, *_ranking(done, instance, m, level, plan, TUNING[:1])[:FINALISTS])}  # fmt: skip
    return {(instance, m, k, seed): done[instance, m, k, TUNING[0]]["factors"] for m, k in sorted(found)
            for seed in TUNING[1:]}  # fmt: skip


def _shown_runs(done: Runs, instance: str, plan: Plan) -> Tasks:
    found = {(m, k) for m in plan.methods for k in (0, *(best(done, instance, m, level, plan) for level in LEVELS))
             if k is not None}  # fmt: skip
    return {(instance, m, k, seed): done[instance, m, k, TUNING[0]]["factors"] for m, k in sorted(found)
            for seed in range(1, plan.seeds + 1)}  # fmt: skip


def _carried_runs(done: Runs, instance: str, plan: Plan) -> Tasks:
    donor = DONORS.get(instance)
    if donor is None or donor not in plan.instances:
        return {}
    found = {(m, k) for m in plan.methods for level in LEVELS
             for k in [best(done, donor, m, level, plan)] if k is not None}  # fmt: skip
    return {(instance, m, f"{donor}:{k}", seed): done[donor, m, k, TUNING[0]]["factors"] for m, k in sorted(found)
            for seed in range(1, plan.seeds + 1)}  # fmt: skip


PHASES: dict[str, Callable[[Runs, str, Plan], Tasks]] = {
    "drawn candidates": _drawn_runs, "candidates near the best": _near_runs, "the best with other seeds": _final_runs,
    "shown": _shown_runs, "shown, carried over": _carried_runs,
}  # fmt: skip


def complete(done: Runs, plan: Plan) -> list[str]:
    """Returns the instances all of whose runs were made."""
    return [i for i in plan.instances if all(key in done for phase in PHASES.values() for key in phase(done, i, plan))]


def run(directory: Path, plan: Plan, jobs: int, say: Callable[..., None]) -> Runs:
    """Makes the runs that are missing, one phase after the other, and returns all."""
    path = directory / "field.jsonl"
    done = read(path, plan)
    for name, phase in PHASES.items():
        tasks = {key: factors for instance in plan.instances for key, factors in phase(done, instance, plan).items()}
        todo = [(key, factors, plan) for key, factors in tasks.items() if key not in done]
        if todo:
            say(f"field, {name}: {len(todo)} of {len(tasks)} runs are missing, {jobs} at a time")
        for count, line in enumerate(make_side_by_side(_work, todo, path, jobs) if todo else (), 1):
            key = _key(line)
            done[key] = line
            end = line.get("error") or f"{line['stop']}, metric {line['end']:.1e} of the start's"
            what = f"  [{count}/{len(todo)}] {key[0]} {key[1]} {key[2]} seed {key[3]}: "
            say(what + end, now=not line.get("error"))
    return done


# ---- what is shown --------------------------------------------------------------------------------------


def shown(done: Runs, instance: str, method: str, level: float, number: Number | None, plan: Plan) -> Cost | None:
    """Returns the medians of the costs of a candidate over the seeds that are shown; None if most do not reach it."""
    if number is None:
        return None
    lines = [done.get((instance, method, number, seed)) for seed in range(1, plan.seeds + 1)]
    costs = [c for line in lines if line for c in [line.get("costs", {}).get(f"{level:g}")] if c is not None]
    if 2 * len(costs) <= plan.seeds:
        return None
    return tuple(statistics.median(values) for values in zip(*costs))
