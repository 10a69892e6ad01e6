"""Pages about results, made by the program that the package brings: `saddle report`."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from html import escape
from pathlib import Path
from typing import Any, Iterator, Mapping

from . import _curves
from ._library import VERSION
from .errors import Error, FileError
from .option_table import Option, all_options
from .result import STEPS, Result, _short

__all__ = ["plot", "report"]

MOST_LISTED = 10_000
"""The most agents whose disagreement a trace lists."""


_AUTOMATIC = Option("", "", "real", "auto", "", (), False)  # what is not in the table: of plug-ins


def program() -> str:
    """Returns the path of the program: that in SADDLE_PROGRAM, or the one in the package."""
    path = Path(os.environ.get("SADDLE_PROGRAM") or Path(__file__).parent / "bin" / "saddle")
    if not os.access(path, os.X_OK):
        raise FileError(
            f"the page is made by the program '{path}', which is not there or cannot be executed; "
            "install the package saddle again, or name the path of the program in SADDLE_PROGRAM"
        )
    return str(path.absolute())


def _trace_text(result: Result, title: str) -> str:
    """Returns the trace of a result as the text of a trace file, which docs/trace-format.md
    describes."""
    trace = result._trace()
    head = {name.replace("_", "-"): value for name, value in result._texts.items()}
    if title:
        head["title"] = title
    head["untuned"] = "yes" if result._untuned else "no"
    head["x_dim"], head["y_dim"] = str(len(result.x)), str(len(result.y))
    lines = [f"# saddle {VERSION}", *(f"# {name}: {value}" for name, value in head.items())]
    lines.append(",".join(trace))
    rows = zip(*(column.tolist() for column in trace.values()))
    lines += (",".join("" if cell != cell else repr(cell) for cell in row) for row in rows)
    distances = [] if result._disagreement is None else result._disagreement.tolist()
    if 0 < len(distances) <= MOST_LISTED and result.stop != "diverged":
        lines.append("# disagreement: " + " ".join(map(repr, distances)))
    return "\n".join([*lines, f"# ended: {result.message}", ""])


def _named(results: Any) -> Iterator[tuple[str, Result]]:
    """Yields results with their titles. Names of a dict that are not those of the algorithms become
    titles."""
    if isinstance(results, Result):
        results = [results]
    if isinstance(results, Mapping):
        pairs = list(results.items())
    else:
        pairs = [(None, given) for given in results] if hasattr(results, "__iter__") else []
    listed = [(name, r) for name, g in pairs for r in (g if isinstance(g, list) else [g])]
    if not listed or not all(isinstance(result, Result) for _, result in listed):
        raise TypeError("give a Result, a list or a dict of them, or a Comparison")
    for name, result in listed:
        own = name is not None and str(name) != result.name
        yield str(name) if own else result._title, result


def file_stem(name: str) -> str:
    """Returns the name of a curve as the beginning of a file name."""
    return re.sub(r"[^\w.+=,-]+", "_", name).lstrip("-")[:80]


def page(results: Any, title: str | None = None, path: str | None = None) -> str:
    """Returns the HTML page that `saddle report` makes of the traces of these results, or writes
    it, so that the file appears complete or not at all."""
    maker = program()
    with tempfile.TemporaryDirectory() as directory:
        files: list[str] = []
        for name, result in _named(results):
            file = f"{file_stem(name or result.name)}-seed{result.settings.get('seed', '')}.csv"
            file = file if file not in files else f"{len(files)}-{file}"
            Path(directory, file).write_text(_trace_text(result, name), encoding="utf-8")
            files.append(file)
        command = [maker, "report", f"--output={path or 'page.html'}", *files]
        command += [f"--title={title}"] if title else []
        done = subprocess.run(command, cwd=directory, text=True, capture_output=True)
        if done.returncode != 0:
            kind = FileError if "--output: " in done.stderr else Error
            raise kind(f"no page was made: {done.stderr.strip()}")
        return "" if path else Path(directory, "page.html").read_text(encoding="utf-8")


def report(
    results: Any, path: str | os.PathLike[str] = "report.html", title: str | None = None
) -> Path:
    """Writes an HTML page about one or several results; returns its path.

    results
        a Result, a list of them, a dict whose keys are their names, or a Comparison

    It is the page of `saddle report`: curves over gradient evaluations, rounds, bytes, seconds and,
    with a link_model, simulated seconds; costs of reaching levels of the metric; outcomes; networks
    and settings. Results that differ only in their seed make one curve. It needs no other file.
    """
    for _, result in _named(results):
        result._keep_inputs(path)
    page(results, title, os.path.abspath(path))
    return Path(path)


def plot(results: Any, y: str = "metric", x: str = "samples", ax: Any = None) -> Any:
    """Plots a column of the traces of one or several results with matplotlib; returns the axes.

    results
        as for `saddle.report()`. Those that differ only in their seed are one curve: their mean,
        with a band of the middle 80% of them
    y, x
        names of columns, such as "metric", "gap" or "train_auc" against "samples" (gradient
        evaluations), "rounds", "bytes", "seconds" or "iterations"
    ax
        matplotlib axes to draw into; None: new ones
    """
    groups: list[tuple[str, list[Result]]] = []
    for title, result in _named(results):
        group = next((own for name, own in groups if name == title and _repeats(result, own)), None)
        if group is None:
            groups.append((title, [result]))
        else:
            group.append(result)
    firsts = [own[0] for _, own in groups]
    curves = [
        _curves.Curve(own[0].name, title, _difference(own[0], firsts), [r._trace() for r in own])
        for title, own in groups
    ]
    return _curves.plot(curves, x, y, ax)


def _own_settings(result: Result) -> dict[str, str]:
    """Returns the settings that separate curves, except those that can be automatic."""
    table = all_options()
    ends = ("seed", "algorithm", "threads", "trace", "model", "checkpoint", "data_name")
    return {
        name: value
        for name, value in result._texts.items()
        if name not in ends and table.get(name.replace("_", "-"), _AUTOMATIC).default != "auto"
    }


def _repeats(result: Result, group: list[Result]) -> bool:
    """Returns whether a result differs from those of a group only in its seed. Automatic values
    depend on the seed; with equal seeds they differ because they were given."""
    seeds = [other.settings.get("seed") for other in group]
    same = result.name == group[0].name and _own_settings(result) == _own_settings(group[0])
    return same and result.settings.get("seed") not in seeds


def _difference(result: Result, others: list[Result]) -> str:
    """Returns the settings in which a result differs from others of its name."""
    same = [other for other in others if other.name == result.name]
    shown = (*_own_settings(result), *STEPS)
    differ = [
        f"{name}={_short(result.settings[name])}"
        for name in dict.fromkeys(shown)
        if name in result._texts and len({other._texts.get(name) for other in same}) > 1
    ]
    return ", ".join(differ[:3])


def notebook(summary: str, results: Any) -> str:
    """Returns a summary and the page about results as HTML for notebooks."""
    try:
        shown = page(results)
    except Error as why:
        return f"<p>{escape(summary)}</p><p>{escape(str(why))}</p>"
    frame = f'<iframe srcdoc="{escape(shown)}" style="width: 100%; height: 45em; border: 0">'
    return f"<p>{escape(summary)}</p>{frame}</iframe>"
