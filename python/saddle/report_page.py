"""HTML reports: curves, costs, outcomes and settings of results in one file."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any, Iterable, Mapping

from . import _curves
from .comparison import Comparison
from .result import Result

__all__ = ["report"]

STYLE = """body { font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 }
td, th { padding: 0.15em 0.8em; text-align: left }
tr:nth-child(even) { background: #f2f2f2 } summary { cursor: pointer }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd } tr:nth-child(even) { background: #222 }
}"""


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    def cell(value: Any) -> str:
        return escape(f"{value:.4g}" if isinstance(value, float) else str(value))

    lines = ("".join(f"<td>{cell(value)}</td>" for value in row) for row in rows)
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    return f"<table><tr>{names}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _settings(results: Mapping[str, Result]) -> str:
    """Returns a table of all settings; those in which the results differ come first."""
    keys = list(dict.fromkeys(key for r in results.values() for key in r.settings))
    rows = [[key, *(r.settings.get(key, "") for r in results.values())] for key in keys]
    rows.sort(key=lambda row: len(set(row[1:])) == 1)
    return f"<details><summary>Settings</summary>{_table(['', *results], rows)}</details>"


def _by_name(results: Any) -> dict[str, list[Result]]:
    """Returns results by name: those of a list by algorithm, those of a dict by key."""
    if isinstance(results, Mapping):
        pairs = list(results.items())
    elif hasattr(results, "__iter__"):
        pairs = [(getattr(result, "name", ""), result) for result in results]
    else:
        pairs = []
    if not pairs or not all(isinstance(result, Result) for _, result in pairs):
        raise TypeError("report() takes a Result, a list or a dict of them, or a Comparison")
    named: dict[str, list[Result]] = {}
    for name, result in pairs:
        named.setdefault(str(name), []).append(result)
    return named


def report(
    results: Any, path: str | os.PathLike[str] = "report.html", title: str | None = None
) -> Path:
    """Writes an HTML page about one or several results; returns its path.

    results
        a Result, a list of them, a dict whose keys are their names, or a Comparison

    The page has curves over gradient evaluations, rounds, bytes, seconds and, with a link_model,
    simulated seconds; costs of reaching levels of the metric; outcomes; and settings. It needs no
    other file. `saddle report` makes a richer page from traces.
    """
    if isinstance(results, Result):
        results = [results]
    if not isinstance(results, Comparison):
        results = Comparison(_by_name(results), {})
    first = {name: runs[0] for name, runs in results.items()}
    example = next(iter(first.values()))
    heading = title or f"{example.settings.get('problem', 'problem')} by {', '.join(first)}"
    outcomes = list(dict.fromkeys(name for r in first.values() for name in r.outcomes))
    costs = results.costs()
    parts = [f"<h1>{escape(heading)}</h1>"]
    parts += [_curves.svg(results._traces(), axis) for axis in results._costs()]
    if costs:
        parts.append("<h2>Costs until the metric is at most a level</h2>")
        parts.append(_table(costs[0], (row.values() for row in costs)))
    if outcomes:
        rows = [
            [name, *(r.outcomes.get(key, float("nan")) for key in outcomes)]
            for name, r in first.items()
        ]
        parts += ["<h2>Outcomes</h2>", _table(["", *outcomes], rows)]
    parts.append(_settings(first))
    head = f'<meta charset="utf-8"><title>{escape(heading)}</title><style>{STYLE}</style>'
    body = f"<body>{''.join(parts)}</body>"
    page = f'<!DOCTYPE html><html lang="en"><head>{head}</head>{body}</html>\n'
    Path(path).write_text(page, encoding="utf-8")
    return Path(path)
