"""Curves of traces, drawn by matplotlib."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Sequence

import numpy as np

from ._library import Array, lib, text
from .lists import listed
from .trace import Trace

__all__ = ["Curve", "looks", "plot"]

LABELS = {"ifo": "gradient evaluations", "samples": "gradient evaluations",
          "rounds": "communication rounds", "bytes": "bytes sent",
          "network_seconds": "simulated seconds"}  # fmt: skip


class Curve(NamedTuple):
    """The runs of one algorithm with different seeds, which are drawn alike."""

    algorithm: str
    title: str
    """As papers write it; "": that of the built-in algorithm."""
    difference: str
    """The settings in which it differs from curves of the same title."""
    traces: list[Trace]


def looks() -> dict[str, tuple[str, str]]:
    """Returns the built-in algorithms with the colour and dashes of their curves."""
    built_in = listed(lib.saddle_algorithm_list)
    return {text(a.name): (text(a.look.light), text(a.look.dashes)) for a in built_in}


def _values(trace: Trace, x: str, y: str, at: Array, log: bool) -> Array:
    """Returns a column of a trace at places between its rows."""
    known = np.isfinite(trace[y])
    if not known.any():
        return np.full(len(at), np.nan)
    column = np.log(trace[y][known]) if log else trace[y][known]
    found = np.interp(at, trace[x][known], column, left=np.nan, right=np.nan)
    return np.exp(found) if log else found


def summary(traces: Sequence[Trace], x: str, y: str, log: bool) -> tuple[Array, ...]:
    """Returns the mean of several runs (geometric on a log scale) and the bounds of the middle 80%,
    where all of them are, as in the page of `saddle report`."""
    start = max(trace[x][0] for trace in traces)
    end = min(trace[x][-1] for trace in traces)
    inner = traces[0][x]
    at = np.array([start, *inner[(inner > start) & (inner < end)], end], dtype=float)
    values = np.sort([_values(trace, x, y, at, log) for trace in traces], axis=0)
    mean = np.exp(np.log(values).mean(axis=0)) if log else values.mean(axis=0)
    last = len(traces) - 1
    return at, mean, values[int(0.1 * last)], values[math.ceil(0.9 * last)]


def _styles(curves: Sequence[Curve]) -> list[tuple[str, Any]]:
    """Returns the colour and the dashes of each curve. Others than built-in algorithms, and further
    curves of one, look like built-in ones that are not in the picture, as in `saddle plot`."""
    built_in = looks()
    drawn = {curve.algorithm for curve in curves}
    spare = [look for name, look in built_in.items() if name not in drawn][::-1]
    out, seen = [], set()
    for curve in curves:
        own = curve.algorithm in built_in and curve.algorithm not in seen
        look = built_in[curve.algorithm] if own else spare.pop(0) if spare else ("#777777", "1 2")
        seen.add(curve.algorithm)
        out.append((look[0], (0, tuple(map(float, look[1].split()))) if look[1] else "-"))
    return out


def _titles(curves: Sequence[Curve]) -> list[str]:
    """Returns what the legend calls each curve; equal ones get what they differ in."""
    known = {text(a.name): text(a.title) for a in listed(lib.saddle_algorithm_list)}
    titles = [c.title or known.get(c.algorithm) or c.algorithm for c in curves]
    return [
        f"{title}, {c.difference or c.algorithm}" if titles.count(title) > 1 else title
        for title, c in zip(titles, curves)
    ]


def plot(curves: Sequence[Curve], x: str, y: str, ax: Any = None) -> Any:
    """Plots one column of each trace against another into matplotlib axes; returns the axes."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    values = np.concatenate([trace[y] for curve in curves for trace in curve.traces])
    log = not np.any(values <= 0)
    for curve, title, (colour, dashes) in zip(curves, _titles(curves), _styles(curves)):
        style = {"color": colour, "linestyle": dashes, "label": title}
        if len(curve.traces) == 1:
            (trace,) = curve.traces
            known = np.isfinite(trace[y])
            style["marker"] = "o" if known.sum() == 1 else ""
            ax.plot(trace[x][known], trace[y][known], **style)
            continue
        at, mean, low, high = summary(curve.traces, x, y, log)
        ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(at, mean, **style)
    ax.set_yscale("log" if log else "linear")
    ax.set_xlabel(LABELS.get(x, x.replace("_", " ")))
    ax.set_ylabel(y.replace("_", " "))
    ax.legend()
    return ax
