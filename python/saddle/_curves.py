"""Curves of traces, drawn by matplotlib."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

from ._library import ffi, lib, text
from .trace import Trace

__all__ = ["looks", "plot"]

LABELS = {"ifo": "gradient evaluations", "rounds": "communication rounds", "bytes": "bytes sent",
          "network_seconds": "simulated seconds"}  # fmt: skip


def looks() -> dict[str, tuple[str, str]]:
    """Returns the built-in algorithms with the colour and dashes of their curves."""
    count = ffi.new("size_t *")
    listed = lib.saddle_algorithm_list(count)
    built_in = (listed[k] for k in range(count[0]))
    return {text(a.name): (text(a.look.light), text(a.look.dashes)) for a in built_in}


def plot(traces: Mapping[str, Trace], x: str, y: str, ax: Any = None) -> Any:
    """Plots one column of each trace against another into matplotlib axes; returns the axes."""
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots()[1]
    built_in = looks()
    for name, trace in traces.items():
        colour, dashes = built_in.get(name, ("#000000", ""))
        style = (0, tuple(map(float, dashes.split()))) if dashes else "-"
        ax.plot(trace[x], trace[y], label=name, color=colour, linestyle=style)
    values = np.concatenate([trace[y] for trace in traces.values()])
    ax.set_yscale("linear" if np.any(values <= 0) else "log")
    ax.set_xlabel(LABELS.get(x, x))
    ax.set_ylabel(y)
    ax.legend()
    return ax
