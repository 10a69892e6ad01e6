"""`python3 -m saddle.reproduce --only field-figures`: what the figures of other papers show, in shape.

    DIR/field-figures.md             the page
    DIR/figures/field-figures.png    one panel per figure

The papers' settings are not all known and some of their programs are wrong, so the curves are not theirs. Each panel is
a run of the same methods on the same kind of instance, and a rule decides whether the order that the paper reports is
there: medians over seeds of what the runs need until the metric stays below a fraction of its value at the start.
"""

from __future__ import annotations

import logging
import math
import statistics
import textwrap
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import saddle

from .field import AUC, LOGISTIC, RING, SKEWED, Settings, first_stay
from .runs import data_of, find, write_file
from .side_by_side import Line, read_lines
from .side_by_side import make as make_side_by_side

__all__ = ["PANELS", "Panel", "Regression", "run", "write"]

SEEDS = 3
POINTS = 200
COLUMNS = ("ifo", "rounds", "bytes", "network_seconds")


class Regression(saddle.Problem):
    """Linear regression that is robust to a shift r of all rows, strongly convex in w and strongly concave in r:

    F_i(w, r) = mean over rows of (w'(a + r) - b)^2 / 2 + WEIGHT |w|^2 / 2 - PENALTY |r|^2 / 2, |w| <= 1, |r| <= 1.
    """

    WEIGHT, PENALTY = 1.0, 2.0
    x_set = y_set = "l2-ball:1"
    name = "shifted-regression"

    def __init__(self, a: Any, b: Any, agents: int) -> None:
        self.a, self.b = np.array_split(a, agents), np.array_split(b, agents)
        self.samples = [len(rows) for rows in self.a]
        self.x_dim = self.y_dim = a.shape[1]
        self.products = [rows.T @ rows / len(rows) for rows in self.a]
        self.means = [rows.mean(axis=0) for rows in self.a]
        self.targets = [rows.T @ labels / len(rows) for rows, labels in zip(self.a, self.b)]
        most = max(math.sqrt(np.linalg.norm(p, 2)) + 1 for p in self.products)
        self.strong_concavity = self.PENALTY - 1.0  # also the strong convexity, WEIGHT
        self.lipschitz = most**2 + 2.0 * most + self.PENALTY  # the norms of the blocks, |w| and |r| at most 1
        self.tau, self.alpha = self.lipschitz, 1.0 / self.lipschitz

    def gradient(self, agent: int, rows: Any, x: Any, y: Any) -> tuple[Any, Any]:
        if len(rows) == self.samples[agent]:
            product, mean, target = self.products[agent], self.means[agent], self.targets[agent]
            label = self.b[agent].mean()
        else:
            a, b = self.a[agent][rows], self.b[agent][rows]
            product, mean, target, label = a.T @ a / len(b), a.mean(axis=0), b @ a / len(b), b.mean()
        shift = x @ y
        residual = x @ mean + shift - label
        return (product @ x + shift * mean - target + residual * y + self.WEIGHT * x,
                residual * x - self.PENALTY * y)  # fmt: skip

    def best_response(self, x: Any) -> Any:
        residual = x @ np.mean(self.means, axis=0) - np.mean([labels.mean() for labels in self.b])
        r = residual * x / (self.PENALTY - x @ x)  # |x| <= 1
        return r / max(1.0, float(np.linalg.norm(r)))

    def value(self, agent: int, x: Any, y: Any) -> float:
        residual = (self.a[agent] + y) @ x - self.b[agent]
        return float(residual @ residual / len(residual) + self.WEIGHT * (x @ x) - self.PENALTY * (y @ y)) / 2


def _rows() -> tuple[Any, Any]:
    """Returns a9a as arrays, or random rows if it is not there."""
    path = find(data_of("a9a"))
    if not path:
        draw = np.random.default_rng(1)
        return draw.normal(size=(2000, 20)), np.sign(draw.normal(size=2000))
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    a = np.zeros((len(lines), 123))
    for row, words in zip(a, lines):
        for word in words[1:]:
            index, value = word.split(":")
            row[int(index) - 1] = float(value)
    return a, np.array([float(words[0]) for words in lines])


def _regression(options: Settings) -> saddle.Instance:
    return saddle.Instance(Regression(*_rows(), options.pop("agents")), **options)


@dataclass(frozen=True)
class Panel:
    title: str
    paper: str
    shows: str
    """What the paper's figure, or its abstract, says."""
    instance: Settings
    methods: dict[str, Settings]
    cost: str
    level: float
    """A fraction of the metric at the start."""
    rounds: int
    order: tuple[tuple[str, str], ...]
    """Who needs less than whom."""
    make: Callable[[Settings], saddle.Instance] = lambda options: saddle.Instance(**options)  # noqa: E731


PANELS: dict[str, Panel] = {
    "oadsvi": Panel(
        "OADSVI: regression on a9a, ring of 50", "OADSVI, NeurIPS 2022, and DIVERSE, NeurIPS 2025",
        "robust linear regression on a9a, a ring of 50 agents: a straight line on a logarithmic axis, below that of "
        "gradient tracking", {"agents": 50, "topology": "ring"},
        {"oadsvi": {"algorithm": "oadsvi", "steps": "paper"}, "gt-gda": {"algorithm": "gt-gda"},
         "dgda-vr, all rows": {"algorithm": "dgda-vr", "batch": 10**6}},
        "rounds", 1.5e-5, 8000, (("oadsvi", "gt-gda"), ("oadsvi", "dgda-vr, all rows")), _regression),
    "k-gt-minimax": Panel(
        "K-GT-Minimax: local steps", "K-GT-Minimax, arXiv 2405.04566",
        "more local steps need fewer rounds, also with different data at the agents",
        {**LOGISTIC, "agents": 10, "topology": "ring", **SKEWED},
        {f"{local} local": {"algorithm": "k-gt-minimax", "local_steps": local} for local in (1, 5, 20)},
        "rounds", 1e-3, 200, (("5 local", "1 local"), ("20 local", "5 local"))),
    "dama": Panel(
        "DAMA: strategies on a ring of 20", "DAMA, arXiv 2512.13920",
        "on sparse networks exact diffusion and EXTRA depend less on the network than gradient tracking",
        {**AUC, **RING, **SKEWED},
        {strategy: {"algorithm": "dama", "strategy": strategy, "estimator": "page"}
         for strategy in ("exact-diffusion", "extra", "tracking")},
        "rounds", 1e-2, 3000, (("exact-diffusion", "tracking"), ("extra", "tracking"))),
    "dream": Panel(
        "DREAM, DGDA-VR, DM-HSGD with --steps paper", "DREAM, AISTATS 2024; DGDA-VR, AAAI 2024",
        "both need fewer samples than DM-HSGD on robust logistic regression", {**LOGISTIC, "agents": 20,
                                                                               "topology": "er:0.3"},
        {name: {"algorithm": name, "steps": "paper"} for name in ("dream", "dgda-vr", "dm-hsgd")},
        "ifo", 1e-2, 4000, (("dream", "dm-hsgd"), ("dgda-vr", "dm-hsgd"))),
}  # fmt: skip


def _work(task: tuple[str, str, int, bool]) -> Line:
    name, method, seed, quick = task
    logging.getLogger("saddle").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    panel = PANELS[name]
    options: dict[str, Any] = {**panel.instance, "seed": seed}
    if "data" in options:
        options["data"] = data_of(options["data"])
    settings: dict[str, Any] = {"gap": "never", "threads": 1, "outcomes": "ends", **panel.methods[method]}
    made = panel.make(options)
    rounds = panel.rounds // 20 if quick else panel.rounds
    one = made.run(settings.pop("algorithm"), iterations=1, **settings).trace["rounds"][-1]
    iterations = max(1, int(rounds / one))
    r = made.run(panel.methods[method]["algorithm"], iterations=iterations,
                 trace_every=max(1, iterations // POINTS), **settings)  # fmt: skip
    columns = {column: [float(v) for v in r.trace[column]] for column in ("metric", "ifo", "rounds", "bytes")}
    return {"panel": name, "method": method, "seed": seed, "columns": columns}


def run(directory: Path, quick: bool, seeds: int | None, jobs: int, say: Callable[..., None]) -> None:
    """Makes the runs of all panels, which take a few minutes, and writes the page."""
    seeds = seeds or (1 if quick else SEEDS)
    path = directory / "field-figures.jsonl"
    path.unlink(missing_ok=True)
    tasks = [(name, method, seed, quick) for name, panel in PANELS.items() for method in panel.methods
             for seed in range(1, seeds + 1)]  # fmt: skip
    say(f"field-figures: {len(tasks)} runs, {jobs} at a time")
    for count, line in enumerate(make_side_by_side(_work, tasks, path, jobs), 1):
        say(f"  [{count}/{len(tasks)}] {line['panel']} {line['method']} seed {line['seed']}", now=True)
    write(directory)


def _needs(panel: Panel, lines: list[Line], method: str) -> float:
    """Returns the median over seeds of what a method needs to the panel's level; infinite if most do not reach it."""
    found = []
    for line in lines:
        if line["method"] == method:
            columns = {**line["columns"], "network_seconds": line["columns"]["bytes"]}
            cost = first_stay(columns, panel.level * columns["metric"][0])
            found.append(math.inf if cost is None else cost[COLUMNS.index(panel.cost)])
    return statistics.median(found) if found else math.inf


def _number(value: float) -> str:
    return "never" if value == math.inf else f"{value / 1e3:.3g}k" if value >= 1e4 else f"{value:.0f}"


def page(lines: list[Line]) -> list[str]:
    """Returns the lines of field-figures.md."""
    seeds = len({line["seed"] for line in lines})
    medians = f"medians over {seeds} seeds" if seeds > 1 else "those of one seed"
    out = ["# Figures of other papers", "",
           *textwrap.wrap("`./scripts/reproduce --only field-figures` writes this page; do not edit it. Do the methods "
                          "come in the order that their papers report? The curves cannot be those of the papers: not "
                          "all settings are known, and some of the authors' programs do not update their gradient "
                          f"estimates between refreshes. Numbers are {medians} of what a method needs until the metric "
                          "stays below a fraction of its start. The first problem is strongly convex-concave and "
                          "computed in Python; methods have their defaults, or with --steps paper the steps of their "
                          "papers or programs. PRECISION's figures are in [reproduction](reproduction.md).", 120), "",
           "| paper | shows | here | in shape |", "| --- | --- | --- | --- |"]  # fmt: skip
    for name, panel in PANELS.items():
        own = [line for line in lines if line["panel"] == name]
        needs = {method: _needs(panel, own, method) for method in panel.methods}
        holds = [f"{'yes' if needs[a] < needs[b] else 'no'}: {a} before {b}" for a, b in panel.order]
        what = "gradient evaluations" if panel.cost == "ifo" else panel.cost
        here = ", ".join(f"{method} {_number(value)}" for method, value in needs.items())
        out.append(f"| {panel.paper} | {panel.shows} | {what} to {panel.level:g}: {here} | {'; '.join(holds)} |")
    return [*out, "",
            "![One panel per figure](pictures/field-figures.png)", "",
            *textwrap.wrap("*The metric, relative to its start, against the cost that the paper plots; thin lines are "
                           "other seeds. In the first panel the straight line crosses the others, which are ahead "
                           "at first.*", 120), "",
            *textwrap.wrap("Not here: D-AdaST (NeurIPS 2024), whose figure needs D-TiAda; VRLM (arXiv 2307.07113) and "
                           "DM-HSGD (NeurIPS 2021), of whose figures only what they compare is known; GT-GDA, DPOSG, "
                           "DPPSP and C-SP-SG, of which only equations or programs were at hand.", 120),
            ""]  # fmt: skip


def write(directory: Path) -> None:
    """Writes field-figures.md and, with matplotlib, figures/field-figures.png of the runs that are there."""
    lines = read_lines(directory / "field-figures.jsonl")
    write_file(directory / "field-figures.md", "\n".join(page(lines)))
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for ax, (name, panel) in zip(axes.flat, PANELS.items()):
        for k, method in enumerate(panel.methods):
            for line in lines:
                if (line["panel"], line["method"]) == (name, method):
                    columns = line["columns"]
                    first = line["seed"] == 1
                    ax.plot(columns[panel.cost], [v / columns["metric"][0] for v in columns["metric"]],
                            color=f"C{k}", linewidth=1.6 if first else 0.5,
                            label=method if first else None)  # fmt: skip
        ax.axhline(panel.level, color="0.7", linewidth=0.8)
        samples = panel.cost == "ifo"
        ax.set(yscale="log", title=panel.title, xscale="log" if samples else "linear",
               xlabel="gradient evaluations" if samples else panel.cost)  # fmt: skip
        ax.legend(fontsize="small")
    (directory / "figures").mkdir(exist_ok=True)
    for kind in ("svg", "png", "pdf"):
        figure.savefig(directory / "figures" / f"field-figures.{kind}", dpi=150)
    pyplot.close(figure)
