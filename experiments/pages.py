"""Writing the results: claims.md, claims-tests.csv, claims.json, claims.csv, costs.csv, ends.csv and report.html."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Iterable, Sequence

import saddle

from .claims import CLAIMS, LEVELS, Measurement, Outcome, chance, reach, stay
from .experiments import EXPERIMENTS
from .runs import Part, data_of, describe, is_substitute, write_file
from .statistics import summarize

__all__ = ["number", "numbers", "write"]

NUMBERS = (
    "Levels are values of the metric, or distances of the loss from its limit; a run is at a level once it stays "
    "there. `1.3x (1.2-1.4) 10/10`: at that level the last series named costs 1.3 times as much as the first "
    "(geometric mean and range over seeds), and the test is true for 10 of 10 seeds. `>=`: a run did not reach the "
    "level. `-`: no run reached it, or all were there from the start. Costs are those of the first trace point at a "
    "level, by the metric unless a test says `by the loss`; a seed whose points are too far apart to tell which run "
    "is first does not count as true."
)
SUMMARY = (
    "The weakest test of a claim is the one that is true for the fewest seeds, at the finest metric that half of the "
    "seeds reached. `1e-03: 0.774x 1/10`: at a metric of 1e-3, the last series named costs 0.774 times as much as the "
    "first (geometric mean), and the test is true for 1 of 10 seeds. `>=`: a run did not reach the metric. "
    "[claims-tests.csv](claims-tests.csv) has every test at every level, with ranges over seeds."
)
GROUPS = ((False, "The paper's sentences"), (True, "Ours"))
ENDS = ["iteration", "ifo", "rounds", "bytes", "network_seconds", "loss", "metric", "y_gap"]


def number(outcome: Outcome) -> int:
    """Returns the number of a claim, the same whichever experiments are covered."""
    return [claim.name for claim in CLAIMS].index(outcome.claim.name) + 1


def _chance_text(outcomes: Sequence[Outcome], seeds: int) -> str:
    count, expected = chance(outcomes, seeds)
    if count == 0:
        return ""
    return (f" If no method were better than another, of the {count} tests at levels of which method is first, at most "
            f"{expected:.2g} would be decided by chance.")  # fmt: skip


# ---- claims.md -----------------------------------------------------------------------------------------


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(outcome: Outcome) -> list[int]:
    """Returns the numbers of the levels that a run of the tests reached."""
    return [k for k in range(len(LEVELS)) if any(str(m.levels[k]) for m in outcome.measurements if len(m.levels) > k)]


def _cells(m: Measurement, shown: Sequence[int]) -> list[str]:
    """Returns what a test is and what was measured."""
    measured = [str(m.levels[k]) or "-" for k in shown] if len(m.levels) > 1 else [m.numbers]
    return [f"{m.experiment.name}: {m.statement}", *measured]


def _head(outcome: Outcome) -> list[str]:
    return ["test", *([f"{LEVELS[k]:.0e}" for k in _shown(outcome)] if outcome.has_levels else ["measured"])]


def _merged(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns the rows, with those that measured the same against different methods as one."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for text, *cells in rows:
        first, against, rest = text.partition(" against ")
        other, comma, cost = rest.partition(", ")
        merged.setdefault((first + against, comma + cost, *cells), []).append(other)
    return [[first + " or ".join(others) + cost, *cells] for (first, cost, *cells), others in merged.items()]


def _rows(outcome: Outcome) -> tuple[list[str], list[list[str]]]:
    """Returns head and rows of the table of tests: what all tests share stands in the head."""
    head, rows = _head(outcome), _merged(_cells(m, _shown(outcome)) for m in outcome.measurements)
    costs = {row[0].partition(", ")[2] for row in rows}
    if len(rows) > 1 and len(costs) == 1 and outcome.has_levels and "" not in costs and " against " in rows[0][0]:
        head[0] += f", {costs.pop()}"
        rows = [[row[0].partition(", ")[0], *row[1:]] for row in rows]
    names = {row[0].partition(": ")[0] for row in rows}
    if len(rows) > 1 and len(names) == 1:
        head[0] += f", {names.pop()}"
        rows = [[row[0].partition(": ")[2], *row[1:]] for row in rows]
    return [text.replace(" by the metric", "") for text in head], [
        [row[0].replace(" by the metric", ""), *row[1:]] for row in rows
    ]


def numbers(outcome: Outcome) -> list[str]:
    """Returns the numbers behind a verdict, as lines of markdown."""
    claim = outcome.claim
    reading = ["", f"Read as: {claim.reading}."] if claim.reading else []
    head, rows = _rows(outcome)
    rule = ["---", *["---:" if outcome.has_levels else "---"] * (len(head) - 1)]
    return ["", f'### <a id="{claim.name}"></a>{number(outcome)}. {claim.name}', *reading, "", _row(head), _row(rule),
            *map(_row, rows)]  # fmt: skip


def _coverage(parts: Sequence[Part], quick: bool) -> list[str]:
    total = len(EXPERIMENTS)
    if len(parts) == total:
        said = f"All {total} experiments are covered; `experiments/experiments.py` has their settings."
        if not any(is_substitute(part.experiment.data) for part in parts):
            return [said]
    else:
        are = "is" if len(parts) == 1 else "are"
        said = (f"Only {len(parts)} of the {total} experiments {are} covered; the others have no finished runs in "
                "this directory:")  # fmt: skip
    lines = [said, ""]
    alike: dict[str, list[str]] = {}
    for part in parts:
        data = part.experiment.data
        name = data_of(data) or "generated by the problem"
        built_in = " (BUILT-IN, in place of the paper's)" if is_substitute(data) else ""
        text = f"{describe(part.experiment, quick)}. Data: {name}{built_in}."
        alike.setdefault(text, []).append(part.experiment.name)
    lines += [f"- {', '.join(names)}: {text}" for text, names in alike.items()]
    return lines


def _weakest(measurements: Sequence[Measurement], seeds: int) -> str:
    """Returns what was measured by the weakest test of an experiment."""
    if len(measurements[0].levels) == 1:
        return "; ".join(m.numbers for m in measurements)
    reached = [k for k in range(len(LEVELS)) if any(2 * m.levels[k].said >= seeds for m in measurements)]
    if not reached:
        return "-"
    levels = [m.levels[reached[-1]] for m in measurements if m.levels[reached[-1]].said > 0]
    weakest = min(levels, key=lambda level: (level.won / level.said, summarize(level.ratios).mean))
    return f"{LEVELS[reached[-1]]:.0e}: " + re.sub(r" \(.*\)", "", str(weakest))


def _verdict_cells(outcome: Outcome, seeds: int) -> list[str]:
    """Returns the verdict and what was measured, by experiment if there are several."""
    by_experiment = groupby(outcome.measurements, key=lambda m: m.experiment.name)
    measured = {name: _weakest(list(tests), seeds) for name, tests in by_experiment}
    text = "; ".join(f"{name} {text}" for name, text in measured.items())
    return [f"**{outcome.verdict}**", text if len(measured) > 1 else next(iter(measured.values()))]


def _markdown(parts: Sequence[Part], outcomes: Sequence[Outcome], seeds: int, quick: bool) -> str:
    lines = ["# Claims", "", f"Made by saddle {saddle.__version__} with {seeds} seed{'s' if seeds > 1 else ''}"
             f"{', shortened' if quick else ''}. {SUMMARY}{_chance_text(outcomes, seeds)}"]  # fmt: skip
    for ours, heading in GROUPS:
        listed = [made for made in outcomes if (made.claim.source == "ours") == ours]
        if listed:
            lines += ["", f"## {heading}", "", _row(["", "claim", "verdict", "weakest test"]), "|---:|---|---|---|"]
        for made in listed:
            claim = made.claim
            says = claim.says if ours else f"{claim.says} ({claim.source})"
            reading = f"; read as: {claim.reading}" if claim.reading else ""
            link = f'<a id="{claim.name}"></a>{number(made)}'
            lines.append(_row([link, says + reading, *_verdict_cells(made, seeds)]))
    return "\n".join([*lines, "", "## Experiments", "", *_coverage(parts, quick), ""])


# ---- tables --------------------------------------------------------------------------------------------


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def _runs(parts: Sequence[Part]) -> Iterable[tuple[str, str, int, Any]]:
    """Returns experiment, series, seed and trace of all runs."""
    for part in parts:
        for name, traces in part.runs.items():
            for seed, trace in enumerate(traces, 1):
                yield part.experiment.name, name, seed, trace


def _tests(outcomes: Sequence[Outcome]) -> str:
    """Returns what every test measured."""
    rows = []
    for made in outcomes:
        for m in made.measurements:
            levels = [str(level) for level in m.levels] if len(m.levels) > 1 else [""] * len(LEVELS)
            rows.append([made.claim.name, m.experiment.name, m.statement, *levels, m.numbers])
    return _csv(["claim", "experiment", "test", *[f"{level:.0e}" for level in LEVELS], "measured"], rows)


def _costs(parts: Sequence[Part]) -> str:
    def text(cost: tuple[float, float]) -> str:
        return "never" if math.isinf(cost[1]) else f"{cost[1]:.0f}"

    kinds = [(find, cost) for find in (stay, reach) for cost in ("ifo", "rounds")]
    rows = (
        [*run, f"{level:.0e}", *[text(find(trace, cost, level)) for find, cost in kinds]]
        for *run, trace in _runs(parts)
        for level in LEVELS
    )
    return _csv("experiment,series,seed,metric,ifo,rounds,first_ifo,first_rounds".split(","), rows)


def _ends(parts: Sequence[Part]) -> str:
    rows = (
        [*run, *[f"{trace[name][-1]:.17g}" if name in trace.columns else "" for name in ENDS]]
        for *run, trace in _runs(parts)
    )
    return _csv(["experiment", "series", "seed", *ENDS], rows)


def _claims(outcomes: Sequence[Outcome]) -> str:
    rows = ([m.claim.name, m.claim.source, m.verdict, m.claim.says, m.claim.reading] for m in outcomes)
    return _csv(["claim", "source", "verdict", "says", "reading"], rows)


# ---- claims.json ---------------------------------------------------------------------------------------


def _real(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _json_test(m: Measurement) -> dict[str, Any]:
    out: dict[str, Any] = {"experiment": m.experiment.name, "statement": m.statement, "numbers": m.numbers}
    if m.slope is not None and m.slope.count > 0:
        out.update(slope=m.slope.mean, slope_low=_real(m.slope.low), slope_high=_real(m.slope.high))
        out["theory"] = m.test.bound
    elif m.test.kind != "theorem":
        out["levels"] = []
        for level in m.levels:
            ratio = summarize(level.ratios)
            out["levels"].append({
                "level": level.level, "won": level.won, "lost": level.lost, "tied": level.tied,
                "ratio": _real(math.exp(ratio.mean)), "least_ratio": _real(math.exp(ratio.least)),
                "most_ratio": _real(math.exp(ratio.most)),
                "ratio_is": "at least" if level.at_least else "at most" if level.at_most else "of trace points",
            })  # fmt: skip
    return out


def _json(parts: Sequence[Part], outcomes: Sequence[Outcome], seeds: int, quick: bool) -> str:
    comparisons, expected = chance(outcomes, seeds)
    source = {data: "built-in" if is_substitute(data) else "file" for data in ("a9a", "mnist")}
    document = {
        "version": saddle.__version__, "seeds": seeds, "quick": quick, **source, "comparisons": comparisons,
        "decided_by_chance": expected, "experiments": [part.experiment.name for part in parts],
        "claims": [
            {"claim": made.claim.name, "source": made.claim.source, "says": made.claim.says,
             "reading": made.claim.reading, "verdict": made.verdict,
             "tests": [_json_test(m) for m in made.measurements]}
            for made in outcomes
        ],
    }  # fmt: skip
    return json.dumps(document, indent=1) + "\n"


# ---- report.html ---------------------------------------------------------------------------------------

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
details { border: 1px solid #8885; border-radius: 6px; padding: .4rem .8rem; margin: .4rem 0; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
td, th { border-bottom: 1px solid #8883; padding: .2rem .5rem; text-align: left; vertical-align: top; }
.true { color: #16803c; } .false { color: #c0392b; } .soft { opacity: .7; }
figure { margin: 0; background: #fff; } figure svg { width: 100%; height: auto; }
"""
GOOD, BAD, OPEN = ("true", "&#10003;"), ("false", "&#10007;"), ("soft", "~")
"""How verdicts look: style and sign."""


def _look(verdict: str) -> tuple[str, str]:
    if verdict == "does not hold":
        return BAD
    good = verdict.endswith(("holds", "not contradicted", " down", "level reached")) and ": " not in verdict
    return GOOD if good else OPEN


def _html_claim(outcome: Outcome) -> str:
    claim = outcome.claim
    style, mark = _look(outcome.verdict)
    rows = []
    shown = _shown(outcome)
    for m in outcome.measurements:
        states = [m.levels[k].state for k in shown] if len(m.levels) > 1 else [level.state for level in m.levels]
        cells = [f'<td class="{state}">{escape(cell)}</td>' for state, cell in zip(states, _cells(m, shown)[1:])]
        rows.append(f"<tr><td>{escape(m.experiment.title)}: {escape(m.statement)}</td>{''.join(cells)}</tr>")
    head = "".join(f"<th>{cell}</th>" for cell in _head(outcome))
    reading = f"<p>Read as: {escape(claim.reading)}.</p>" if claim.reading else ""
    return (f'<details><summary><b class="{style}">{mark} {escape(outcome.verdict)}</b>: {escape(claim.says)} '
            f'<span class="soft">({claim.source})</span></summary>{reading}<div class="scroll"><table>'
            f"<tr>{head}</tr>{''.join(rows)}</table></div></details>")  # fmt: skip


def _figures(directory: Path, name: str) -> str:
    """Returns the drawings of an experiment, if there are any."""
    files = [directory / "figures" / f"{name}{end}.svg" for end in ("", "-slopes")]
    drawings = [file.read_text() for file in files if file.exists()]
    return "".join(f"<figure>{svg[svg.index('<svg'):]}</figure>" for svg in drawings)


def _html(directory: Path, parts: Sequence[Part], outcomes: Sequence[Outcome], seeds: int, quick: bool) -> str:
    title = "PRECISION's experiments, repeated"
    notes = ["<p>docs/reproduction.md has the rules. <code>saddle report traces/EXPERIMENT</code> makes a page with "
             "curves to explore, from the complete traces.</p>"]  # fmt: skip
    if any(is_substitute(part.experiment.data) for part in parts):
        notes.append("<p>BUILT-IN DATA replace data that were not found.</p>")
    if quick:
        notes.append("<p>Shortened by --quick, too short to decide much.</p>")
    body = [f"<h1>{title}</h1>", f'<p class="soft">Made by saddle {saddle.__version__}.</p>', *notes]
    for ours, heading in GROUPS:
        listed = [made for made in outcomes if (made.claim.source == "ours") == ours]
        body += [f"<h2>{heading}</h2>", *map(_html_claim, listed)] if listed else []
    explained = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(NUMBERS + _chance_text(outcomes, seeds)))
    body.append(f'<p class="soft">{explained}</p>')
    for part in parts:
        e = part.experiment
        body.append(f'<section id="{e.name}"><h2>{escape(e.title)}</h2><p>{escape(describe(e, quick))}</p>'
                    f"{_figures(directory, e.name)}</section>")  # fmt: skip
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width, initial-scale=1"><meta http-equiv="Content-Security-Policy" '
            f'content="{policy}"><title>{title}</title><style>{STYLE}</style></head><body>\n'
            + "\n".join(body) + "\n</body></html>\n")  # fmt: skip


def write(directory: Path, parts: Sequence[Part], outcomes: Sequence[Outcome], seeds: int, quick: bool) -> None:
    """Writes all files, each complete or not at all."""
    write_file(directory / "claims.md", _markdown(parts, outcomes, seeds, quick))
    write_file(directory / "claims-tests.csv", _tests(outcomes))
    write_file(directory / "claims.json", _json(parts, outcomes, seeds, quick))
    write_file(directory / "claims.csv", _claims(outcomes))
    write_file(directory / "costs.csv", _costs(parts))
    write_file(directory / "ends.csv", _ends(parts))
    write_file(directory / "report.html", _html(directory, parts, outcomes, seeds, quick))
