"""docs/defaults.md: what the runs of the zoo gave."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from statistics import median

from ..side_by_side import Line
from .instances import NAMED, SEED, Instance, drawn
from .runs import LONG, PASSES, PIECES, ROUNDS, SOLVED, TUNED

__all__ = ["false_claims", "write_page"]

COSTS = ("ifo", "rounds", "bytes")
DEFAULTS = ("default", "precision", "precision+")


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
        tuned = [line for what, line in self.line.items() if what in TUNED and line and "gap" in line]
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
        "| instance | problem | data, columns | agents, partition, network | " + " | ".join(DEFAULTS)
        + f" | default, {LONG} times the budget | tuned best | "
        + " | ".join(f"cost of {what}" for what in DEFAULTS) + " |",
        "| --- | --- | --- | --- |" + " ---: |" * (2 + 2 * len(DEFAULTS)),
    ]
    for outcome in outcomes:
        i = outcome.instance
        options = ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in i.options.items())
        cells = [i.name, i.problem + (f"; {options}" if options else ""), f"{i.data}, {i.columns}",
                 f"{i.agents}, {i.partition}, {i.topology}",
                 *(_end(outcome.line[what]) for what in (*DEFAULTS, "long")), _end(outcome.best),
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
        for what in DEFAULTS:
            ends = [line for line in (outcome.line[what] for outcome in outcomes) if line]
            costs = [_middle_and_worst(outcomes, what, cost) for cost in COSTS]
            cells = [title, what, f"{sum(map(_solved, ends))} of {len(ends)}",
                     str(sum(end.get("stop") == "diverged" for end in ends)), *costs]
            lines.append("| " + " | ".join(cells) + " |")
        searched = [outcome for outcome in outcomes if all(outcome.line[what] for what in TUNED)]
        tuned = sum(bool(outcome.tuned) for outcome in searched)
        if searched:
            lines.append(f"| {title} | tuned | {tuned} of {len(searched)} | | 1 | 1 | 1 |")
    return lines


def _honesty(lines: list[Line]) -> list[str]:
    claims = false_claims(lines)
    solved = sum(map(_solved, lines))
    start = f"{solved} runs of all kinds are called solved."
    if not claims:
        return _paragraph(f"{start} None of them has a true excess above 10 times the tolerance.")
    listed = [f"- {c['instance']}, {c['what']}: gap {_number(c['gap'])}, true excess {_number(c['excess'])}"
              for c in claims]
    end = f"**{len(claims)} of them are not**: their true excess is above 10 times the tolerance."
    return [*_paragraph(f"{start} {end}"), "", *listed]


def _paragraph(text: str) -> list[str]:
    """Breaks a paragraph, or an entry of a list, into lines."""
    return textwrap.wrap(text, 118, subsequent_indent="  " if text.startswith("- ") else "",
                         break_long_words=False, break_on_hyphens=False)


def write_page(path: Path, results: list[Line], stale: int = 0) -> None:
    """Writes the page from the lines of results.jsonl, of which some may be of another version."""
    lines = {(line["instance"], line["what"]): line for line in results}
    halves = {"named": [Outcome(i, lines) for i in NAMED], "drawn": [Outcome(i, lines) for i in drawn()]}
    everyone = halves["named"] + halves["drawn"]
    complete = sum(outcome.complete for outcome in everyone)
    absent = [outcome.instance.name for outcome in everyone if outcome.missing]
    seconds = sum(line.get("seconds", 0) for line in lines.values())
    text = [
        "# What the defaults reach", "",
        *_paragraph(
            "`./scripts/zoo` writes this page; do not edit it. It runs Saddle with default settings on the instances "
            "of `experiments/zoo/instances.py`, half of them named and half drawn by a generator from the seed "
            f"{SEED}, and compares the ends with those of the best settings that `saddle tune` finds and with a "
            "solution that NumPy and SciPy compute from the formulas of the problem alone."), "",
        *_paragraph(
            f"- A run may evaluate {PASSES} gradients for each row and take {ROUNDS} rounds. It is solved if its "
            f"[gap](trace-format.md#gap) is at most {SOLVED:g}, and ends there."),
        *_paragraph(
            "- The true excess is (Q(xbar) - Q*) / scale, with the scale of the gap. Q* is the smallest Q; "
            "for robust-logistic, and for fair with a fairness above 0, which are not convex, the minimum next to the "
            "end."),
        *_paragraph(
            "- default: `saddle run` without `--algorithm`, which is precision-auto. precision and precision+: with "
            "the default settings of these algorithms."),
        *_paragraph(
            f"- {len(TUNED)} searches, for precision and precision+, by primal value and by metric, with 400 and 1600 "
            "evaluations for each row, give tuned runs. Costs are samples / rounds / bytes relative to the least of "
            "the tuned runs that solve the instance; a dash: none of them does. Medians are over the instances that "
            "one solves."), "",
        *_paragraph(
            f"All kinds of runs were made for {complete} of {len(everyone)} instances; those that were took "
            f"{seconds / 60:.0f} processor minutes."
            + (f" Another version of Saddle or of the zoo made {stale} of the runs." if stale else "")
            + (f" Data are missing for {', '.join(absent)}." if absent else "")), "",
        "## Summary", "", *_summary(halves), "", *_honesty(list(lines.values())), "",
        "## Named instances", "", "Each end is the gap and, in brackets, the true excess; bold: solved.", "",
        *_table(halves["named"]), "",
        "## Drawn instances", "", *_table(halves["drawn"]), "",
    ]
    path.write_text("\n".join(text))
