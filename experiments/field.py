"""`python3 -m saddle.reproduce --only field`: the decentralized methods of the field on equal terms.

Every method runs on every instance of INSTANCES at its defaults and with settings that are tuned for each level of the
metric. All have the same budget of gradient evaluations and rounds per run and the same number of candidates, which are
drawn once from its searched settings (METHODS), around its defaults; candidate 0 is the defaults. Candidates are judged
on the seeds TUNING, by gradient evaluations times rounds, and the numbers that are shown are of other seeds. The metric
has exact directions and one tau per instance, and its levels are fractions of the metric at the start.

A level costs what a run has spent at the first trace point after which it stays there until gradient evaluations and
rounds both have grown by STAY. So what counts does not depend on how long the run is.

    DIR/field.jsonl    one line per run, appended when it ends; runs that are there are not made again
    DIR/field.md       the tables
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable

import saddle
from saddle._library import _path

from .runs import data_of
from .side_by_side import Line, read_lines
from .side_by_side import make as make_side_by_side

__all__ = ["Cost", "INSTANCES", "METHODS", "Plan", "candidate", "first_stay", "run"]

LEVELS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
TUNING = (1001, 1002)
STAY = 1.25
POINTS = 150
LEAST_POINTS = 5  # of a stay
LINKS = "latency:0.02,bandwidth:125000,compute:1e-6"
COLUMNS = ("ifo", "rounds", "bytes", "network_seconds")

Settings = dict[str, Any]
Cost = tuple[float, ...]
"""What a level costs, in the order of COLUMNS."""

LOGISTIC = {"problem": "robust-logistic", "data": "a9a"}
AUC = {"problem": "auc", "data": "a9a"}
MNIST = {"problem": "auc", "data": "mnist"}
FIVE = {"agents": 5, "topology": "er:0.6"}
RING = {"agents": 20, "topology": "ring"}
TORUS = {"agents": 20, "topology": "torus:4x5"}
FIFTY = {"agents": 50, "topology": "er:0.1"}
SKEWED = {"partition": "label-skew:0.3", "agent_weights": "by-size"}

INSTANCES: dict[str, Settings] = {
    "logistic-5": {**LOGISTIC, **FIVE},
    "logistic-ring": {**LOGISTIC, **RING},
    "auc-5": {**AUC, **FIVE},
    "auc-ring": {**AUC, **RING},
    "auc-torus-skewed": {**AUC, **TORUS, **SKEWED},
    "auc-50": {**AUC, **FIFTY},
    "mnist-5": {**MNIST, **FIVE},
    "mnist-ring-skewed": {**MNIST, "agents": 10, "topology": "ring", **SKEWED},
    "auc-mlp-5": {**AUC, **FIVE, "score": "mlp:16", "activation": "tanh"},
    "fair-10": {"problem": "fair", "data": "a9a", "sensitive": "73", "agents": 10, "topology": "er:0.4"},
    "group-dro-ring": {"problem": "group-dro", "data": "a9a", "groups": "agents", "agents": 10, "topology": "ring",
                       **SKEWED},
    **{f"quadratic-{kappa}": {"problem": "quadratic", "samples": "200", "mu": 1, "lipschitz": kappa, "agents": 10,
                              "topology": "ring"} for kappa in (10, 100, 1000)},
}  # fmt: skip

# What a search varies: the factors of a default, or the values of a choice.
STEPS = {"eta_x": (0.1, 30.0), "eta_y": (0.1, 10.0)}
BATCH = {"batch": (0.125, 8.0)}
BETAS = {"beta_x": (0.03, 9.0), "beta_y": (0.03, 9.0)}
MIXING = {"mixing_rounds": [1, 1, 2, 3, 5]}
DAMPED = {"tau": (0.03, 10.0), "alpha": (0.1, 10.0), **BATCH}


@dataclass(frozen=True)
class Method:
    settings: Settings
    searched: dict[str, Any]


METHODS: dict[str, Method] = {
    "precision-auto": Method({}, {"step_share": (0.1, 9.0), "noise_share": (0.1, 3.0)}),
    "precision": Method({}, {**DAMPED, "q": (0.25, 4.0)}),
    "precision+": Method({}, {"tau": (0.03, 10.0), "alpha": (0.1, 10.0)}),
    "prox-gt-sgda": Method({}, DAMPED),
    "prox-dsgda": Method({}, DAMPED),
    "gt-gda": Method({}, {**STEPS, "ascents": [1, 2, 3, 5]}),
    "dgda-vr": Method({}, {**STEPS, **BATCH, **MIXING, "q": (0.25, 4.0)}),
    "dm-hsgd": Method({}, {**STEPS, **BATCH, **BETAS}),
    "dream": Method({}, {**STEPS, **BATCH}),
    "dama": Method({}, {**STEPS, **BATCH, **BETAS, **MIXING}),
    "dama-page": Method({"algorithm": "dama", "estimator": "page"}, {**STEPS, **BATCH, **MIXING}),
    "vrlm": Method({}, {**STEPS, **BATCH, "q": (0.25, 4.0)}),
    "k-gt-minimax": Method({}, {**STEPS, **BATCH, "local_steps": [1, 2, 5, 10]}),
    "k-gt-storm": Method({"algorithm": "k-gt-minimax", "estimator": "storm"},
                         {**STEPS, **BATCH, **BETAS, "local_steps": [1, 2, 5, 10]}),
    "d-adast": Method({}, {**STEPS, **BATCH}),
    "oadsvi": Method({}, STEPS),
}  # fmt: skip
AT_MOST = {"beta_x": 1.0, "beta_y": 1.0, "step_share": 1.0, "noise_share": 1.0}


@dataclass(frozen=True)
class Plan:
    """How much is spent: gradient evaluations for each row, and rounds, in a run; candidates; seeds that are shown."""

    passes: float = 60.0
    rounds: int = 3000
    candidates: int = 20
    seeds: int = 3
    rows: str = ""
    """Rows of each agent; "": all."""
    instances: tuple[str, ...] = tuple(INSTANCES)
    methods: tuple[str, ...] = tuple(METHODS)


QUICK = Plan(10.0, 200, 2, 1, "100", ("auc-5", "quadratic-10"))


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


def candidate(method: str, instance: str, number: int, defaults: Settings) -> Settings:
    """Returns the settings of a candidate; 0: the defaults."""
    if number == 0:
        return {}
    draw = random.Random(f"{method}/{instance}/{number}")
    found: Settings = {}
    for name, values in METHODS[method].searched.items():
        if isinstance(values, list):
            found[name] = values[int(draw.random() * len(values))]
            continue
        value = _largest(defaults[name]) * values[0] * (values[1] / values[0]) ** draw.random()
        value = min(value, AT_MOST.get(name, math.inf))
        found[name] = max(1, round(value)) if name in ("batch", "q") else value
    return found


def _settings(instance: str, method: str, plan: Plan) -> Settings:
    out = dict(INSTANCES[instance], algorithm=method, **METHODS[method].settings, gap="never", threads=1,
               link_model=LINKS, outcomes="ends")  # fmt: skip
    if "data" in out:
        out["data"] = data_of(out["data"])
    if plan.rows:
        out["samples"] = plan.rows
    return out


def _run(settings: Settings, iterations: int) -> saddle.Result:
    """Runs with this number of iterations."""
    return saddle.run(**dict(settings, iterations=iterations))


@functools.lru_cache(maxsize=None)
def _start(instance: str, plan: Plan) -> tuple[float, float]:
    """Returns tau of the metric and the number of rows."""
    r = _run(_settings(instance, "precision", plan), 0)
    rows = r.settings["samples"]
    count = sum(rows) if isinstance(rows, (list, tuple)) else float(rows) * INSTANCES[instance]["agents"]
    return float(r.settings["metric_tau"]), float(count)


@functools.lru_cache(maxsize=None)
def _defaults(instance: str, method: str, plan: Plan) -> Settings:
    r = _run(_settings(instance, method, plan), 0)
    return dict(r.settings)


def make(instance: str, method: str, number: int, seed: int, plan: Plan) -> dict[str, Any]:
    """Makes one run and returns what its line says."""
    metric_tau, rows = _start(instance, plan)
    settings = dict(_settings(instance, method, plan), seed=seed, metric_tau=metric_tau,
                    max_ifo=plan.passes * rows, max_rounds=plan.rounds)  # fmt: skip
    searched = candidate(method, instance, number, _defaults(instance, method, plan))
    settings.update(searched)
    pilot = _run(settings, 8).trace
    iterations = max(1.0, float(pilot["iteration"][-1]))
    spent = max((pilot["ifo"][-1] - pilot["ifo"][0]) / settings["max_ifo"], pilot["rounds"][-1] / plan.rounds)
    settings["trace_every"] = max(1, int(iterations / max(spent, 1e-9) / POINTS))
    r = _run(settings, 10**9)
    start = float(r.trace["metric"][0])
    costs = {f"{level:g}": first_stay(r.trace, level * start) for level in LEVELS}
    return {"settings": searched, "stop": r.stop, "end": float(r.trace["metric"][-1]) / start, "costs": costs}


# ---- results ----------------------------------------------------------------------------------------

Key = tuple[str, str, int, int]


@functools.lru_cache(maxsize=None)
def _version(plan: Plan) -> str:
    here = Path(__file__)
    runs = (plan.passes, plan.rounds, plan.rows)
    return hashlib.sha256(Path(_path()).read_bytes() + here.read_bytes() + repr(runs).encode()).hexdigest()[:16]


def read(path: Path, plan: Plan) -> dict[Key, Line]:
    """Returns the runs that were made before with this version and budget."""
    return {_key(line): line for line in read_lines(path) if line.get("version") == _version(plan)}


def _key(line: Line) -> Key:
    return line["instance"], line["method"], line["candidate"], line["seed"]


def _work(task: tuple[Key, Plan]) -> Line:
    key, plan = task
    logging.getLogger("saddle").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    begin = time.perf_counter()
    try:
        made = make(*key, plan)
    except (saddle.Error, ValueError, ArithmeticError) as why:
        made = {"error": f"{type(why).__name__}: {why}"}
    return {**dict(zip(("instance", "method", "candidate", "seed"), key)), "version": _version(plan), **made,
            "seconds": round(time.perf_counter() - begin, 2)}  # fmt: skip


def _worth(lines: Iterable[Line], level: float) -> float:
    """Returns the mean of log(gradient evaluations x rounds) to a level; infinite if a run does not reach it."""
    costs = [line.get("costs", {}).get(f"{level:g}") for line in lines]
    if not costs or any(cost is None for cost in costs):
        return math.inf
    return statistics.fmean(math.log(max(1.0, cost[0]) * max(1.0, cost[1])) for cost in costs)


def best(done: dict[Key, Line], instance: str, method: str, level: float, plan: Plan) -> int | None:
    """Returns the candidate that reaches a level at least cost; None: none does."""
    worth = {k: _worth((done[instance, method, k, seed] for seed in TUNING if (instance, method, k, seed) in done),
                       level) for k in range(plan.candidates)}  # fmt: skip
    number = min(worth, key=lambda k: (worth[k], k))
    return number if worth[number] < math.inf else None


def run(directory: Path, plan: Plan, jobs: int, say: Callable[..., None]) -> None:
    """Makes the runs that are missing, first those that judge candidates, and writes the tables."""
    path = directory / "field.jsonl"
    pairs = [(i, m) for i in plan.instances for m in plan.methods]
    done = read(path, plan)
    for shown in (False, True):
        if shown:
            found = ((i, m, best(done, i, m, level, plan)) for i, m in pairs for level in LEVELS)
            chosen = {(i, m, k or 0) for i, m, k in found} | {(i, m, 0) for i, m in pairs}
            keys = [(*c, seed) for c in sorted(chosen) for seed in range(1, plan.seeds + 1)]
        else:
            keys = [(i, m, k, seed) for k in range(plan.candidates) for i, m in pairs for seed in TUNING]
        todo = [(key, plan) for key in keys if key not in done]
        say(f"field: {len(todo)} of {len(keys)} runs that {'are shown' if shown else 'judge candidates'} are "
            f"missing, {jobs} at a time")  # fmt: skip
        for count, line in enumerate(make_side_by_side(_work, todo, path, jobs), 1):
            key = _key(line)
            done[key] = line
            end = line.get("error") or f"{line['stop']}, metric {line['end']:.1e} of the start's"
            what = f"  [{count}/{len(todo)}] {key[0]} {key[1]} {key[2]} seed {key[3]}: "
            say(what + end, now=not line.get("error"))
    (directory / "field.md").write_text("\n".join(page(done, plan)) + "\n")
    say(f"field: wrote {directory / 'field.md'}")


# ---- tables -----------------------------------------------------------------------------------------


def shown(done: dict[Key, Line], instance: str, method: str, level: float, number: int | None,
          plan: Plan) -> Cost | None:
    """Returns the medians of the costs of a candidate over the seeds that are shown; None if most do not reach it."""
    if number is None:
        return None
    lines = [done.get((instance, method, number, seed)) for seed in range(1, plan.seeds + 1)]
    costs = [c for line in lines if line for c in [line.get("costs", {}).get(f"{level:g}")] if c is not None]
    if 2 * len(costs) <= plan.seeds:
        return None
    return tuple(statistics.median(values) for values in zip(*costs))


def _cell(cost: Cost | None) -> str:
    if cost is None:
        return "-"
    ifo, rounds, sent, seconds = cost
    return f"{ifo / 1e3:.3g}k / {rounds:.0f} / {sent / 1e6:.2g} / {seconds:.3g}"


def _summary(costs: dict[tuple[str, str, float], Cost | None], plan: Plan) -> list[str]:
    """How many times the least cost on an instance a method needs, in the geometric mean, and where it gets to."""
    heads = " | ".join(COLUMNS)
    lines = [f"| method | reached | {heads} |", "|---|---|" + "---|" * len(COLUMNS)]
    cells = [(i, level) for i in plan.instances for level in LEVELS if any(costs[i, m, level] for m in plan.methods)]
    rows = []
    for method in plan.methods:
        reached = [(i, level) for i, level in cells if costs[i, method, level] is not None]
        ratios = []
        for c in range(len(COLUMNS)):
            logs = [math.log(max(1e-9, (costs[i, method, level] or ())[c])
                             / max(1e-9, min(o[c] for m in plan.methods if (o := costs[i, m, level]) is not None)))
                    for i, level in reached]  # fmt: skip
            ratios.append(f"{math.exp(statistics.fmean(logs)):.3g}" if logs else "-")
        rows.append((-len(reached), f"| {method} | {len(reached)} of {len(cells)} | " + " | ".join(ratios) + " |"))
    return lines + [row for _, row in sorted(rows)]


def page(done: dict[Key, Line], plan: Plan) -> list[str]:
    """Returns the lines of field.md."""
    out = ["# The methods of the field", "",
           f"Budget of a run: {plan.passes:g} gradient evaluations for each row and {plan.rounds} rounds. "
           f"{plan.candidates} candidates for each method and instance, on {len(TUNING)} seeds; medians over "
           f"{plan.seeds} other seeds. Levels are fractions of the metric at the start."]  # fmt: skip
    for tuned in (True, False):
        costs = {(i, m, level): shown(done, i, m, level, best(done, i, m, level, plan) if tuned else 0, plan)
                 for i in plan.instances for m in plan.methods for level in LEVELS}  # fmt: skip
        how = "tuned for each level" if tuned else "at its defaults"
        out += ["", f"## Each method {how}", "", "Times the least cost of any method, geometric means over the "
                "instances and levels that the method reaches.", "", *_summary(costs, plan)]  # fmt: skip
        for instance in plan.instances:
            heads = " | ".join(f"{level:g}" for level in LEVELS)
            out += ["", f"### {instance}, {how}", "", "Gradient evaluations / rounds / MB / simulated seconds.", "",
                    f"| method | {heads} |", "|---|" + "---|" * len(LEVELS)]  # fmt: skip
            for method in plan.methods:
                cells = [_cell(costs[instance, method, level]) for level in LEVELS]
                out.append(f"| {method} | " + " | ".join(cells) + " |")
    return out
