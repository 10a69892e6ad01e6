"""Comparing what is proved (docs/theory.md) with measurements.

With the theory's step sizes, in expectation, for every T:

    (1/T) sum_{t<T} M_t  <=  total / T + level

total and level are those of `saddle theory`; the level is 0 for PRECISION. The expectation is over the seed, which also
draws the instance, so both sides are compared run by run and then averaged. A contradiction is a mean above the bound
whose 95% interval excludes the bound.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import numpy as np

import saddle

from .statistics import summarize

__all__ = ["Check"]


def bound_of(settings: dict[str, Any]) -> tuple[float, float] | str:
    """Returns total and level of the bound on runs with these settings, or why there is none."""
    theory = saddle.theory(**settings)
    guarantee = theory["precision_plus" if settings["algorithm"] == "precision+" else "precision"]
    if theory["estimated"]:
        return "L or mu is an estimate, not a bound"
    if math.isnan(theory["value_gap"]):
        return "no lower bound of Q is known for this problem and these sets"
    if not guarantee["holds"]:
        return "c-gamma is too small for these steps; raise it"
    return guarantee["total"], guarantee["level"] * theory["epsilon"] / float(settings.get("c_epsilon", 1))


class Check:
    """The runs of one series, compared with the bound of its theorem.

    bounds
        of each run: columns as of a trace, of which mean_metric is an upper bound; None where the theorem does not
        apply
    """

    def __init__(self, settings: dict[str, Any], runs: Sequence[Any]) -> None:
        self.why = ""
        self.seeds = 0
        self.failed: list[str] = []
        self.start: list[float] = []
        self.means: list[list[float]] = []  # of each run, at a hundredth, a tenth and all of the iterations
        self.allowed: list[list[float]] = []
        self.iterations = 0.0
        self.bounds: list[Any] = []
        for seed, trace in enumerate(runs, 1):
            bound = bound_of({**settings, "seed": seed})
            if isinstance(bound, str):
                self.why = bound
                self.bounds.append(None)
                continue
            self.add(str(seed), bound, trace)

    def add(self, seed: str, bound: tuple[float, float], trace: Any) -> None:
        """Adds a run with equally spaced trace points, the first at iteration 0."""
        iteration, metric = trace["iteration"], trace["metric"]
        with np.errstate(divide="ignore"):
            allowed = bound[0] / iteration + bound[1]
        allowed[0] = math.nan
        self.bounds.append({"iteration": iteration, "mean_metric": allowed})
        if trace.diverged or not np.isfinite(metric).all():
            self.failed.append(seed)
            self.seeds += 1
        elif len(metric) > 1:
            last = len(metric) - 1
            rows = [max(last // divisor, 1) for divisor in (100, 10, 1)]
            self.means.append([float(metric[:row].mean()) for row in rows])
            self.allowed.append([float(allowed[row]) for row in rows])
            self.start.append(float(metric[0]))
            self.iterations = float(iteration[last])
            self.seeds += 1

    @property
    def violated(self) -> bool:
        """Whether the bound is violated: in the mean, or by a run that failed."""
        if self.failed:
            return True
        for excess in (np.array(self.means) / np.array(self.allowed) - 1).T:
            mean = summarize(excess)
            if not (mean.low if mean.count > 1 else mean.mean) <= 0:
                return True
        return False

    @property
    def vacuous(self) -> bool:
        """Whether the bound is above the metric at the start, so that standing still would satisfy it."""
        return not np.mean([row[-1] for row in self.allowed]) < np.mean(self.start)

    def result(self) -> tuple[str, str]:
        """Returns the state of the test and its numbers in words."""
        if self.seeds == 0:
            return "silent", f"no guarantee here: {self.why}"
        numbers = []
        if self.means:
            mean = float(np.mean([row[-1] for row in self.means]))
            allowed = float(np.mean([row[-1] for row in self.allowed]))
            seeds = f"{len(self.means)} seed{'s' if len(self.means) > 1 else ''}"
            numbers.append(f"T = {self.iterations:.0f}, {seeds}: mean metric {mean:.4g}, bound {allowed:.4g}, "
                           f"{allowed / mean:.3g} times as large")  # fmt: skip
            if self.vacuous:
                numbers.append("vacuous: the initial metric is below it")
        if self.failed:
            numbers.append(f"the metric of seed {', '.join(self.failed)} is not finite")
        state = "false" if self.violated else "silent" if self.vacuous else "true"
        return state, "; ".join(numbers)
