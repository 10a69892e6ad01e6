"""The figures: curves of each experiment, fitted slopes, and the networks, as .svg, .png and .pdf.

A curve is the mean of the runs of a series (the geometric mean on a logarithmic axis), with a band from the 10th to the
90th percentile, which is their full range for up to 10 runs. Mean and band end where the first of the runs ends; the
rest of the others is drawn as thin lines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

import matplotlib
import numpy as np

import saddle
from saddle._curves import looks

from .claims import CLAIMS, COSTS, View
from .experiments import Experiment, Series
from .runs import Part

matplotlib.use("Agg")
matplotlib.rcParams["svg.fonttype"] = "none"  # texts stay texts, which makes the page small
from matplotlib import pyplot  # noqa: E402

__all__ = ["draw", "is_drawn"]

KINDS = ("svg", "png", "pdf")
STEEP_START = 0.1
"""The part of the horizontal axis in which losses fall steeply."""
TITLES = {
    "ifo": "gradient evaluations", "rounds": "communication rounds", "bytes": "bytes sent",
    "network_seconds": "simulated seconds", "iteration": "iterations",
    "loss_gap": "distance of the loss from its limit", "mean_metric": "mean metric so far",
    "metric": "convergence metric", "x_consensus": "x consensus error", "y_gap": "gap of y to the best response",
    "train_auc": "AUC on the agents' data",
}  # fmt: skip
LINEAR = ("train_auc",)
Line = tuple[Any, Any]
"""x and y of one run."""

# ---- which series are drawn ------------------------------------------------------------------------


def _same_steps(a: Any, b: Any) -> bool:
    """Returns whether two runs have the same steps, so that their curves would hide each other. Defaults may depend
    slightly on the seed; the search's candidates are half decades apart."""
    steps = [(a.settings.get(name), b.settings.get(name)) for name in ("nu", "eta", "tau", "alpha")]
    return all(x and y and 0.8 < float(x) / float(y) < 1.25 for x, y in steps)


def is_drawn(part: Part, series: Series) -> bool:
    """Returns whether a series is drawn. One with default steps is not, if the search chose the same steps."""
    experiment = part.experiment
    if experiment.drawn and series not in experiment.series[: experiment.drawn]:
        return False
    tuned = [s for s in experiment.series if s.tuned and s.algorithm == series.algorithm]
    return series.tuned or not any(_same_steps(part.runs[s.name][0], part.runs[series.name][0]) for s in tuned)


def _look(experiment: Experiment, series: Series | None, index: int) -> dict[str, Any]:
    """Returns colour and dashes: the algorithm's, or by index if all series of an experiment have one algorithm."""
    known = looks()
    colour, dashes = list(known.values())[index % len(known)]
    if series is not None:
        alike = sum(s.algorithm == series.algorithm for s in experiment.series)
        if alike == 1 or experiment.tuning:
            colour, dashes = known[series.algorithm]
    if series is not None and experiment.tuning and not series.tuned:
        dashes = "2 3"  # beside the tuned series of the same colour
    return {"color": colour, "linestyle": (0, tuple(float(d) / 2 for d in dashes.split())) if dashes else "-"}


# ---- panels ------------------------------------------------------------------------------------------


def _is_log(values: Any) -> bool:
    """Returns whether values span a decade."""
    values = values[np.isfinite(values) & (values > 0)]
    return len(values) > 0 and values.max() >= 10 * values.min()


def _curve(ax: Any, lines: Sequence[Line], log: bool, width: float, label: str, look: dict[str, Any]) -> None:
    """Draws the mean of runs, their band, and the rest of the longer ones."""
    end = min(x[-1] for x, _ in lines)
    grid = lines[0][0][lines[0][0] <= end]
    with np.errstate(all="ignore"):
        values = np.array([np.interp(grid, x, np.log(y) if log else y) for x, y in lines])
        undo: Any = np.exp if log else np.asarray
        mean = undo(values.mean(axis=0))
        low = undo(np.percentile(values, 10, axis=0, method="lower"))
        high = undo(np.percentile(values, 90, axis=0, method="higher"))
    ax.plot(grid, mean, label=label, linewidth=width, **look)
    ax.fill_between(grid, low, high, color=look["color"], alpha=0.15, linewidth=0)
    for x, y in lines:
        rest = x >= end
        if rest.sum() > 1:
            ax.plot(x[rest], y[rest], color=look["color"], linewidth=0.6, alpha=0.6)


def _panel(ax: Any, curves: Sequence[tuple[str, dict[str, Any], list[Line]]], x: str, y: str, log_x: bool) -> None:
    """Draws curves (label, look, lines) and sets up the axes."""
    curves = [curve for curve in curves if curve[2]]
    everything = np.concatenate([line for _, _, lines in curves for _, line in lines])
    log = y not in LINEAR and _is_log(everything)
    for k, (label, look, lines) in enumerate(curves):
        # Curves may coincide: the first is drawn widest, so that all are visible.
        _curve(ax, lines, log, 2.6 - 1.4 * k / max(len(curves) - 1, 1), label, look)
    ax.set_xscale("log" if log_x else "linear")
    ax.set_yscale("log" if log else "linear")
    ax.set_xlabel(TITLES.get(x, x))
    title = TITLES.get(y, y)
    right = max(xs[-1] for _, _, lines in curves for xs, _ in lines)
    later = [ys[xs >= STEEP_START * right] for _, _, lines in curves for xs, ys in lines]
    low, high = np.nanmin(np.concatenate(later)), np.nanmax(np.concatenate(later))
    if not log and 2 * (high - low) < np.nanmax(everything) - np.nanmin(everything):
        margin = 0.05 * (high - low)
        ax.set_ylim(low - margin, high + margin)
        title += " (start cut off)"
    ax.set_ylabel(title)
    ax.grid(alpha=0.3)


def _lines(traces: Sequence[Any], x: str, y: str, start: int) -> list[Line]:
    """Returns the points of runs that have both columns."""
    return [(trace[x][start:], trace[y][start:]) for trace in traces
            if trace is not None and x in trace and y in trace and len(trace[x]) > start]  # fmt: skip


def _split(label: str) -> tuple[str, str]:
    """Returns A and B of a label "A, B"."""
    head, _, tail = label.partition(", ")
    return head, tail


def _over_values(ax: Any, part: Part, y: str) -> None:
    """Draws y at the end of the runs against the series' values, a curve for each A of labels "A, B"."""
    heads = list(dict.fromkeys(_split(series.label)[0] for series in part.experiment.series))
    curves = []
    for index, head in enumerate(heads):
        series = sorted((s for s in part.experiment.series if _split(s.label)[0] == head), key=lambda s: s.value)
        values = np.array([s.value for s in series])
        ends = np.array([[trace[y][-1] for trace in part.runs[s.name]] for s in series]).T
        curves.append((head, _look(part.experiment, None, index), [(values, end) for end in ends]))
    _panel(ax, curves, part.experiment.varied, y, False)
    for line in ax.get_lines():
        line.set_marker("o")
    ax.set_title("at the end of the runs")


def _over_costs(ax: Any, part: Part, x: str, y: str, only: str) -> None:
    """Draws y against x for all series that are drawn, or those of one A, with the theorems' bounds."""
    experiment = part.experiment
    # With two logarithmic axes, which have no 0, a bound in 1/T is a line; bytes differ by orders of magnitude.
    log_x = part.theorems is not None or x == "bytes"
    curves: list[tuple[str, dict[str, Any], list[Line]]] = []
    for series in experiment.series:
        head, tail = _split(series.label)
        if (only and head != only) or not is_drawn(part, series):
            continue
        label = tail if only else head if experiment.varied else series.label
        look = _look(experiment, series, len(curves))
        columns = [trace.columns for trace in part.runs[series.name]]
        curves.append((label, look, _lines(columns, x, y, int(log_x))))
        if experiment.varied and tail:
            ax.set_title(tail)
    for series in experiment.series if part.theorems else []:
        bounds = part.theorems[series.name].bounds if part.theorems else []
        look = {**_look(experiment, series, 0), "linestyle": ":"}
        curves.append((f"bound of {series.label}", look, _lines(bounds, x, y, 1)))
    if only:
        ax.set_title(only)
    _panel(ax, curves, x, y, log_x)


# ---- figures -------------------------------------------------------------------------------------------


def _save(figure: Any, directory: Path, stem: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    matplotlib.rcParams["svg.hashsalt"] = stem  # without it, and with a date, files would differ in each run
    for kind in KINDS:
        figure.savefig(directory / f"{stem}.{kind}", dpi=150, metadata={"Date": None} if kind == "svg" else None)
    pyplot.close(figure)


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    """Adds one legend if all panels have the same curves, otherwise one for each."""
    labels = [ax.get_legend_handles_labels()[1] for ax in axes]
    if all(own == labels[0] for own in labels):
        handles = axes[0].get_legend_handles_labels()[0]
        columns = min(len(handles), 4)
        figure.legend(handles, labels[0], loc="lower center", ncol=columns, fontsize="small")
        rows = -(-len(handles) // columns)
        height = (0.15 + 0.2 * rows) / figure.get_figheight()  # a row and the frame, in inches
        figure.get_layout_engine().set(rect=(0, height, 1, 1 - height))
    else:
        for ax in axes:
            ax.legend(fontsize="small")


def _grid(panels: int, title: str) -> tuple[Any, list[Any]]:
    rows = (panels + 1) // 2
    figure, axes = pyplot.subplots(rows, min(panels, 2), figsize=(5.5 * min(panels, 2), 3.6 * rows + 0.6),
                                   squeeze=False, layout="constrained")  # fmt: skip
    figure.suptitle(title)
    for ax in axes.flat[panels:]:
        ax.remove()
    return figure, list(axes.flat[:panels])


def _draw_curves(part: Part, directory: Path) -> None:
    panels = [word.partition("@")[::2] for word in part.experiment.panels.split()]
    figure, axes = _grid(len(panels), part.experiment.title)
    for ax, (columns, only) in zip(axes, panels):
        x, y = columns.split(":")
        if x == "value":
            _over_values(ax, part, y)
        else:
            _over_costs(ax, part, x, y, only)
    _legend(figure, axes)
    _save(figure, directory, part.experiment.name)


def _draw_slopes(part: Part, directory: Path) -> None:
    """Draws the points of all slopes that were fitted, with lines of the theory's exponent."""
    name = part.experiment.name
    tests = [test for claim in CLAIMS for test in claim.tests if test.experiment == name and "slope" in test.kind]
    views = [(view, view.fit()) for view in (View(test, part.experiment, part.runs) for test in tests)]
    views = [(view, mean) for view, mean in views if mean.count > 0]
    if not views:
        return
    figure, axes = _grid(len(views), part.experiment.title)
    for ax, (view, mean) in zip(axes, views):
        test = view.test
        lines = [(x, y) for x, y, _ in map(view.points, range(view.seeds)) if len(x) > 1]
        for k, (x, y) in enumerate(lines):
            ax.loglog(x, y, color=looks()["precision"][0], linewidth=1, label="measured" if k == 0 else None)
        x = lines[0][0]
        start = np.exp(np.mean([np.log(y[0]) for _, y in lines]))
        ax.loglog(x, start * (x / x[0]) ** test.bound, "k--", label="the theory's exponent")
        interval = f" ({mean.low:.3f} to {mean.high:.3f})" if mean.count > 1 else ""
        ax.set_title(f"exponent {mean.mean:.3f}{interval}, theory: at most {test.bound:g}", fontsize="medium")
        cost = COSTS.get(test.cost, test.cost)
        ax.set_xlabel({"slope-n": "samples per agent", "slope-epsilon": "1 / epsilon^2"}.get(test.kind, "iterations"))
        reached = {"slope-n": f"{cost} to metric <= {test.level:g}", "slope-epsilon": f"{cost} to metric <= epsilon^2"}
        ax.set_ylabel(reached.get(test.kind, "mean metric so far"))
        ax.grid(alpha=0.3)
    _legend(figure, axes)
    _save(figure, directory, f"{name}-slopes")


def _draw_networks(part: Part, directory: Path, drawn: set[str]) -> None:
    """Draws the networks of the runs with the first seed, each once."""
    for traces in part.runs.values():
        agents, topology = (traces[0].settings[name] for name in ("agents", "topology"))
        stem = f"network-{agents}-{topology}".replace(":", "-").replace("/", "-")
        if stem in drawn:
            continue
        drawn.add(stem)
        network = saddle.graph(topology, agents=int(agents), seed=1)
        angle = 2 * np.pi * np.arange(int(agents)) / int(agents)
        x, y = np.sin(angle), np.cos(angle)
        figure, ax = pyplot.subplots(figsize=(3, 3), layout="constrained")
        for a, b in network.edges:
            ax.plot(x[[a, b]], y[[a, b]], color="#8a8a8a", linewidth=1, zorder=1)
        ax.scatter(x, y, s=160, color="#0072b2", zorder=2)
        for k in range(int(agents)):
            ax.annotate(str(k), (x[k], y[k]), color="white", ha="center", va="center", fontsize="small")
        ax.set_aspect("equal")
        ax.axis("off")
        _save(figure, directory, stem)


DRAWN: dict[Path, set[str]] = {}
"""The networks that were drawn, by directory."""


def draw(part: Part, directory: Path) -> None:
    """Draws NAME, NAME-slopes if slopes were fitted, and the networks of the part."""
    _draw_curves(part, directory)
    _draw_slopes(part, directory)
    _draw_networks(part, directory, DRAWN.setdefault(directory, set()))
