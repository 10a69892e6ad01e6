"""docs/defaults.md: what the runs of the zoo gave."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import median
from typing import Any

from .instances import NAMED, SEED, Instance, drawn
from .runs import PASSES, PIECES, ROUNDS, SOLVED

__all__ = ["false_claims", "write_page"]

COSTS = ("ifo", "rounds", "bytes")
DEFAULTS = ("default", "precision+")
Line = dict[str, Any]


def _solved(line: Line | None) -> bool:
    gap = None if line is None else line.get("gap")
    return gap is not None and gap <= SOLVED


def false_claims(lines: list[Line]) -> list[Line]:
    """Returns the runs that are called solved although the true excess is not at most 10 times the tolerance."""
    return [
        line for line in lines
        if _solved(line) and not (line.get("excess") is not None and line["excess"] <= 10 * SOLVED)
    ]


class Outcome:
    """The lines of an instance."""

    def __init__(self, instance: Instance, lines: dict[tuple[str, str], Line]) -> None:
        self.instance = instance
        self.line = {what: lines.get((instance.name, what)) for what in PIECES}
        self.missing = (instance.name, "missing") in lines
        tuned = [line for what, line in self.line.items() if what.startswith("tuned") and line and "gap" in line]
        self.tuned = [line for line in tuned if _solved(line)]
        ends = [line for line in tuned if line["gap"] is not None]
        self.best = min(ends, key=lambda line: line["gap"]) if ends else None

    @property
    def complete(self) -> bool:
        return all(self.line.values())

    def ratio(self, what: str, cost: str) -> float:
        """Returns a cost relative to the least of the tuned runs; inf if only these solve it, NaN if these do not."""
        if not self.tuned:
            return math.nan
        line = self.line[what]
        return line[cost] / min(tuned[cost] for tuned in self.tuned) if _solved(line) else math.inf


def _number(value: float | None, form: str = ".1e") -> str:
    return "-" if value is None or math.isnan(value) else "unsolved" if math.isinf(value) else format(value, form)


def _end(line: Line | None) -> str:
    """The gap and the true excess of a run."""
    if line is None:
        return "not run"
    if "error" in line:
        return "refused"
    if line["stop"] == "diverged":
        return "diverged"
    text = f"{_number(line['gap'])} ({_number(line['excess'])})"
    return f"**{text}**" if _solved(line) else text


def _ratios(outcome: Outcome, what: str) -> str:
    ratios = [outcome.ratio(what, cost) for cost in COSTS]
    if math.isnan(ratios[0]) or math.isinf(ratios[0]):
        return _number(ratios[0])
    return " / ".join(format(ratio, ".2g") for ratio in ratios)


def _table(outcomes: list[Outcome]) -> list[str]:
    lines = [
        "| instance | problem | data, columns | agents, rows, network | default | precision+ | tuned best "
        "| cost of default | cost of precision+ |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for outcome in outcomes:
        i = outcome.instance
        options = ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in i.options.items())
        cells = [i.name, i.problem + (f"; {options}" if options else ""), f"{i.data}, {i.columns}",
                 f"{i.agents}, {i.partition}, {i.topology}", *(_end(outcome.line[what]) for what in DEFAULTS),
                 _end(outcome.best) if outcome.complete else "not run",
                 *(_ratios(outcome, what) for what in DEFAULTS)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _middle_and_worst(outcomes: list[Outcome], what: str, cost: str) -> str:
    ratios = sorted(ratio for ratio in (outcome.ratio(what, cost) for outcome in outcomes) if not math.isnan(ratio))
    if not ratios:
        return "-"
    return f"{_number(median(ratios), '.2g')}, {_number(ratios[-1], '.2g')}"


def _summary(halves: dict[str, list[Outcome]]) -> list[str]:
    lines = [
        "| instances | settings | solved | diverged | samples: median, worst | rounds: median, worst "
        "| bytes: median, worst |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for title, outcomes in halves.items():
        outcomes = [outcome for outcome in outcomes if outcome.complete]
        for what in DEFAULTS:
            ends = [outcome.line[what] for outcome in outcomes]
            costs = [_middle_and_worst(outcomes, what, cost) for cost in COSTS]
            cells = [title, what, f"{sum(map(_solved, ends))} of {len(ends)}",
                     str(sum(end.get("stop") == "diverged" for end in ends)), *costs]
            lines.append("| " + " | ".join(cells) + " |")
        tuned = sum(bool(outcome.tuned) for outcome in outcomes)
        lines.append(f"| {title} | tuned | {tuned} of {len(outcomes)} | | 1 | 1 | 1 |")
    return lines


def _honesty(lines: list[Line]) -> list[str]:
    claims = false_claims(lines)
    solved = sum(map(_solved, lines))
    if not claims:
        return [f"{solved} runs, tuned ones included, are called solved. None of them has a true excess above 10 times "
                "the tolerance."]
    listed = "; ".join(f"{c['instance']}, {c['what']}: gap {_number(c['gap'])}, true excess {_number(c['excess'])}"
                       for c in claims)
    return [f"{solved} runs are called solved. **{len(claims)} of them are not**, their true excess is above 10 times "
            f"the tolerance: {listed}."]


def write_page(path: Path, results: list[Line]) -> None:
    """Writes the page from the lines of results.jsonl."""
    lines = {(line["instance"], line["what"]): line for line in results}
    halves = {"named": [Outcome(i, lines) for i in NAMED], "drawn": [Outcome(i, lines) for i in drawn()]}
    everyone = halves["named"] + halves["drawn"]
    complete = sum(outcome.complete for outcome in everyone)
    absent = [outcome.instance.name for outcome in everyone if outcome.missing]
    seconds = sum(line.get("seconds", 0) for line in lines.values())
    text = [
        "# What the defaults reach", "",
        "`./scripts/zoo` writes this page; do not edit it. It runs Saddle with default settings on the instances of",
        "`experiments/zoo/instances.py`, half of them named and half drawn by a generator from the seed",
        f"{SEED}, and compares the result with the best settings that `saddle tune` finds and with a solution that",
        "NumPy and SciPy compute from the formulas of the problem alone.", "",
        f"- A run may evaluate {PASSES} gradients for each row and take {ROUNDS} rounds. It is solved if its",
        f"  [gap](trace-format.md#gap) is at most {SOLVED:g}, and ends there.",
        "- The true excess is (Q(xbar) - Q*) / scale, with the scale of the gap. Q* is the reference's minimum;",
        "  for robust-logistic, and fair with a fairness above 0, which are not convex, the one next to the end.",
        "- Costs are samples / rounds / bytes relative to the least of the tuned runs that solve the instance, of",
        "  " + ", ".join(what.removeprefix("tuned ") for what in PIECES if what.startswith("tuned")) + ". A dash: none"
        " of them does. Medians are over the instances that a tuned run solves.", "",
        f"{complete} of {len(everyone)} instances were run, in {seconds / 60:.0f} minutes of one processor core."
        + (f" Data are missing for {', '.join(absent)}." if absent else ""), "",
        "## Summary", "", *_summary(halves), "", *_honesty(list(lines.values())), "",
        "## Named instances", "", "Each end is the gap and, in brackets, the true excess; bold: solved.", "",
        *_table(halves["named"]), "",
        "## Drawn instances", "", *_table(halves["drawn"]), "",
    ]
    path.write_text("\n".join(text))
