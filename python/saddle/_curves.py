"""Curves of traces: with matplotlib, or as SVG for notebooks."""

from __future__ import annotations

from html import escape
from typing import Any, Mapping

import numpy as np

from ._library import Array, ffi, lib, text
from .trace import Trace

__all__ = ["plot", "svg", "html"]

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 420, 260, 64, 40, 14
LABELS = {"ifo": "gradient evaluations", "rounds": "communication rounds", "bytes": "bytes sent",
          "network_seconds": "simulated seconds"}  # fmt: skip


def looks() -> dict[str, tuple[str, str]]:
    """Returns the built-in algorithms with the colour and dashes of their curves."""
    count = ffi.new("size_t *")
    listed = lib.saddle_algorithm_list(count)
    built_in = (listed[k] for k in range(count[0]))
    return {text(a.name): (text(a.look.light), text(a.look.dashes)) for a in built_in}


def _points(trace: Trace, x: str, y: str) -> tuple[Array, Array]:
    good = np.isfinite(trace[y]) & (trace[y] > 0)
    return trace[x][good], trace[y][good]


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


def _number(value: float) -> str:
    return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-")


def svg(traces: Mapping[str, Trace], x: str = "ifo", y: str = "metric") -> str:
    """Returns curves on a logarithmic scale as SVG; "" if there is nothing to draw."""
    points = {name: _points(trace, x, y) for name, trace in traces.items()}
    points = {name: xy for name, xy in points.items() if len(xy[0])}
    if not points:
        return ""
    right = max(float(xs.max()) for xs, _ in points.values()) or 1.0
    low = np.floor(np.log10(min(float(ys.min()) for _, ys in points.values())))
    high = np.ceil(np.log10(max(float(ys.max()) for _, ys in points.values())))
    high = max(high, low + 1)
    wide, tall = WIDTH - LEFT - 26, HEIGHT - BOTTOM - TOP
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="11" fill="currentColor" role="img">']  # fmt: skip
    for level in np.linspace(low, high, min(int(high - low), 6) + 1):
        at = TOP + tall * (high - level) / (high - low)
        out.append(f'<path d="M{LEFT} {at:.1f}h{wide}" stroke="currentColor" opacity="0.15"/>'
                   f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">'
                   f"{_number(10**level)}</text>")  # fmt: skip
    for share in (0.0, 0.5, 1.0):
        out.append(f'<text x="{LEFT + share * wide:.1f}" y="{HEIGHT - BOTTOM + 16}" '
                   f'text-anchor="middle">{_number(share * right)}</text>')  # fmt: skip
    out.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               f"{escape(LABELS.get(x, x))}</text>"
               f'<text x="12" y="{TOP + tall / 2}" text-anchor="middle" '
               f'transform="rotate(-90 12 {TOP + tall / 2})">{escape(y)}</text>')  # fmt: skip
    built_in = looks()
    for k, (name, (xs, ys)) in enumerate(points.items()):
        colour, dashes = built_in.get(name, ("#777777", ""))
        across = LEFT + wide * xs / right
        down = TOP + tall * (high - np.log10(ys)) / (high - low)
        path = " ".join(f"{a:.1f},{d:.1f}" for a, d in zip(across, down))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8" '
                   f'stroke-dasharray="{dashes}"/>'
                   f'<text x="{WIDTH - 30}" y="{TOP + 12 + 14 * k}" text-anchor="end" '
                   f'fill="{colour}">{escape(name)}</text>')  # fmt: skip
    return "".join([*out, "</svg>"])


def html(title: str, traces: Mapping[str, Trace], outcomes: Mapping[str, float]) -> str:
    """Returns a title, curves over gradient evaluations and rounds, and outcomes as HTML."""
    rows = "".join(f"<tr><td>{escape(k)}</td><td>{v:.4g}</td></tr>" for k, v in outcomes.items())
    table = f"<table>{rows}</table>" if rows else ""
    pictures = svg(traces, "ifo") + svg(traces, "rounds")
    return f"<div><p>{escape(title)}</p>{pictures}{table}</div>"
