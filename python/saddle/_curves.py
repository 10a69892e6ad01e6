"""Curves of traces, drawn by matplotlib."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from ._library import ffi, lib, text
from .trace import Trace

__all__ = ["Curve", "looks", "plot"]

LABELS = {"ifo": "gradient evaluations", "rounds": "communication rounds", "bytes": "bytes sent",
          "network_seconds": "simulated seconds"}  # fmt: skip


class Curve(NamedTuple):
    """The runs of one algorithm with different seeds, which are drawn alike."""

    algorithm: str
    title: str
    """As papers write it; "": that of the built-in algorithm."""
    traces: list[Trace]


def _built_in() -> list[Any]:
    count = ffi.new("size_t *")
    listed = lib.saddle_algorithm_list(count)
    return [listed[k] for k in range(count[0])]


def looks() -> dict[str, tuple[str, str]]:
    """Returns the built-in algorithms with the colour and dashes of their curves."""
    return {text(a.name): (text(a.look.light), text(a.look.dashes)) for a in _built_in()}


def plot(curves: Sequence[Curve], x: str, y: str, ax: Any = None) -> Any:
    """Plots one column of each trace against another into matplotlib axes; returns the axes."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots()[1]
    built_in, titles = looks(), {text(a.name): text(a.title) for a in _built_in()}
    drawn = {curve.algorithm for curve in curves}
    # Others look like built-in ones that are not in the picture, as in `saddle plot`.
    spare = [look for name, look in built_in.items() if name not in drawn][::-1]
    spare = spare or list(built_in.values())
    others = [curve.algorithm for curve in curves if curve.algorithm not in built_in]
    for name, title, traces in curves:
        other = spare[others.index(name) % len(spare)] if name in others else None
        colour, dashes = other or built_in[name]
        title = title or titles.get(name) or name
        if [curve.title for curve in curves].count(title) > 1:
            title = f"{title} ({name})"
        style = (0, tuple(map(float, dashes.split()))) if dashes else "-"
        for k, trace in enumerate(traces):
            (line,) = ax.plot(trace[x], trace[y], color=colour, linestyle=style)
            line.set_label(title if k == 0 else "_")
            line.set_alpha(1.0 if k == 0 else 0.4)
    values = np.concatenate([trace[y] for curve in curves for trace in curve.traces])
    ax.set_yscale("linear" if np.any(values <= 0) else "log")
    ax.set_xlabel(LABELS.get(x, x))
    ax.set_ylabel(y)
    ax.legend()
    return ax
