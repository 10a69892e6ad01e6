"""The claims of the paper that runs can contradict, and claims of ours; each with its tests and how they are decided.

A claim is a sentence. Its tests are statements about the series of one experiment that traces can contradict; the claim
holds where all its tests do. Section and remark numbers are those of the paper.

The rules:
- Levels are absolute: a metric of 10^-k, k = 1, 2, 3, 4, 6, 8. For the loss, a level is such a distance from its limit,
  which is the final loss of the run of that seed whose metric ended lowest. Levels below ten times the change of that
  loss in the second half of the run say nothing.
- A run is at a level from the trace point on after which it stays there until its end: a noisy method that touches a
  level and leaves it again has not converged to it. costs.csv also has the first touch.
- The cost at a level lies between those of two neighbouring trace points. A run is ahead of another only if it is ahead
  for every choice of costs within these intervals. A run that never reaches a level costs more than it spent; a run
  that diverged has infinite cost.
- If algorithms were tuned, the cost of an algorithm at a level is that of its best series: with tuned steps, which suit
  the end of the run, or with default steps and one of several batches.
- At a level a test is true if it is true for every seed and false if it is false for every seed; otherwise, and with
  fewer than FEWEST_SEEDS seeds, it is open. Levels that no run reaches, and those that all runs start below, say
  nothing. If fewer than half of the seeds say something at a level, the test is open there if one of them contradicts
  it; otherwise the level says nothing.
- In an experiment a claim is true at a level if all its tests that say something are true, false if one is false, and
  otherwise open. It holds if it is true at all levels that say something, "from 1e-3 down" if it is true at that level
  and all finer ones, and does not hold if it is false at some level and true at none. If only one level says so, the
  verdict names it. A claim about levels that no run reached is not tested. If experiments differ, each has its own
  verdict.
- A slope is fitted for every seed. It is above the theory's exponent if its 95% interval over seeds is.
- Measurements below a theorem's bound do not prove the theorem: the verdict is "not contradicted". A bound above the
  initial metric says nothing.
- If no method were better than another, s seeds would still agree on which is first with probability 2^(1 - s). The
  results state how many of these tests are expected to be decided by chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Iterable, Sequence

import numpy as np

from .experiments import Experiment, Series
from .statistics import Mean, slope, summarize

__all__ = ["CLAIMS", "Claim", "Outcome", "Test", "LEVELS", "decide", "measure", "outcome"]

LEVELS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8]
FEWEST_SEEDS = 5
"""The fewest seeds that decide a test."""
LOSS_MARGIN = 10.0
"""A level of the loss must be at least this many times the uncertainty of its limit."""
TIME_MARGIN = 0.005
"""A mean over T iterations falls at most like 1/T: exponents up to this much above -1 count as -1."""

# ---- claims ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """A statement about series of one experiment.

    kind
        faster: each reaches the levels at 1/factor of the next one's cost or less
        alike: their costs differ by no more than the factor
        below: each metric is below the next, in the geometric mean over the iterations that both traced
        slope-n: log cost to reach `level` against log of the varied value
        slope-epsilon: log cost against log 1/epsilon^2, metric <= epsilon^2
        slope-time: log of the mean metric so far against log iterations
        theorem: the mean metric of the series is below its theorem's bound
    """

    experiment: str
    kind: str
    series: str
    """Names in the order of the statement, separated by spaces."""
    cost: str = "rounds"
    """A column of traces."""
    quantity: str = "metric"
    """"metric" or "loss"; of faster."""
    factor: float = 1.0
    """Of faster and alike."""
    level: float = 0.0
    """Of slope-n: the metric to reach."""
    bound: float = 0.0
    """Of slopes: the exponent of the theory, an upper bound."""


@dataclass(frozen=True)
class Claim:
    name: str
    source: str
    """Where it is in the paper, or "ours"."""
    says: str
    reading: str
    """How it is understood, if that is not obvious; otherwise ""."""
    tests: list[Test]


def faster(where: str, first: str, second: str, cost: str, factor: float = 1.0, quantity: str = "metric") -> list[Test]:
    return [Test(where, "faster", f"{first} {second}", cost, quantity, factor)]


def baselines(where: str, which: Iterable[str], cost: str, factor: float = 1.0, quantity: str = "metric") -> list[Test]:
    """Returns tests of algorithms against both baselines."""
    against = ["prox-gt-sgda", "prox-dsgda"]
    return [Test(where, "faster", f"{a} {b}", cost, quantity, factor) for a in which for b in against]


def much_faster(where: str, quantity: str) -> list[Test]:
    plus = faster(where, "precision+", "precision", "ifo", 2, quantity)
    return plus + baselines(where, ["precision+"], "ifo", 2, quantity)


def after_churn(where: str, first: str, second: str) -> list[Test]:
    """Returns tests of runs after the last change of the network against others, on two kinds of links."""
    return [Test(where, "faster", f"{first}{links} {second}{links}", "rounds_after", "metric", 1 / 1.5)
            for links in ("", "-lossy")]  # fmt: skip


def in_each(names: Iterable[str], tests: Any, *arguments: Any) -> list[Test]:
    """Returns tests(name, *arguments) for each experiment."""
    return [test for name in names for test in tests(name, *arguments)]


BOTH = ["precision", "precision+"]
TUNED = ["tuned-regression", "tuned-auc-a9a", "tuned-auc-mnist"]
RULES = ["rule-regression", "rule-auc", "rule-fair"]
QUANTITIES = ["metric", "loss"]
PC = "er-0.9 er-0.6 er-0.3"
SIZES = "n-100 n-400 n-1600 n-6400"
EXACT = ["precision", "precision+", "gt-gda", "prox-gt-sgda"]
RESULTS = "section 4, Results"

CLAIMS = [
    Claim("plus-much-faster", RESULTS,
          "PRECISION+ converges much faster than PRECISION, Prox-GT-SGDA and Prox-DSGDA in IFO calls",
          "much faster: in at most half the calls, by the metric and by the loss",
          [test for quantity in QUANTITIES for test in much_faster("regression", quantity)]),
    Claim("fewer-samples", RESULTS,
          "PRECISION and PRECISION+ have lower sample complexities than Prox-GT-SGDA and Prox-DSGDA",
          "fewer IFO calls, by the metric and by the loss",
          [test for quantity in QUANTITIES for test in baselines("regression", BOTH, "ifo", 1, quantity)]),
    Claim("less-communication", RESULTS,
          "PRECISION and PRECISION+ have much lower communication costs than Prox-GT-SGDA and Prox-DSGDA",
          "much lower: at most half the rounds, by the metric and by the loss",
          [test for quantity in QUANTITIES for test in baselines("regression", BOTH, "rounds", 2, quantity)]),
    Claim("plus-saves", "section 3.3, last remark",
          "PRECISION+ uses significantly fewer samples than PRECISION in practice",
          "fewer IFO calls, by the metric; any saving counts as significant that all seeds show",
          in_each(["regression", "auc-a9a", "auc-mnist", "agents-regression"], faster,
                  "precision+", "precision", "ifo")),
    Claim("auc-low", "appendix B.1",
          "on AUC, PRECISION and PRECISION+ enjoy low sample and communication complexities on a9a and MNIST",
          "low: fewer IFO calls and rounds than Prox-GT-SGDA and Prox-DSGDA; the paper does not say than what",
          [test for where in ("auc-a9a", "auc-mnist") for cost in ("ifo", "rounds")
           for test in baselines(where, BOTH, cost)]),
    Claim("smaller-steps", "appendix B.2", "smaller learning rates lead to slower convergence",
          "nu and eta of 0.1, 0.03 and 0.01 cost more IFO calls in this order",
          [Test(f"steps-{variable}-{problem}", "faster", f"{step}-0.1 {step}-0.03 {step}-0.01", "ifo")
           for problem in ("regression", "auc") for variable, step in (("x", "nu"), ("y", "eta"))]),
    Claim("insensitive", "appendix B.3", "the metric is insensitive to the network topology",
          "rounds differ by less than a factor of 1.5 between p_c = 0.9, 0.6 and 0.3",
          [Test("topology-regression", "alike", PC, factor=1.5), Test("topology-auc", "alike", PC, factor=1.5)]),
    Claim("sparser", "appendix B.3", "the metric increases slightly as p_c decreases",
          "at equal iterations, in the geometric mean over the run",
          [Test("topology-regression", "below", PC), Test("topology-auc", "below", PC)]),
    Claim("twenty-agents", "appendix B.4", "with 20 agents results are similar to those of section 4",
          "PRECISION and PRECISION+ need fewer IFO calls and rounds than Prox-GT-SGDA and Prox-DSGDA, by the metric",
          baselines("agents-regression", BOTH, "ifo") + baselines("agents-regression", BOTH, "rounds")),
    Claim("rounds-rate", "corollary 1", "communication rounds are O(1/epsilon^2)",
          "the fitted exponent of 1/epsilon^2 is not above 1",
          [Test("complexity-quadratic", "slope-epsilon", "n-1600", bound=1),
           Test("complexity-regression", "slope-epsilon", "n-1600", bound=1)]),
    Claim("samples-rate", "corollary 1", "samples are O(m sqrt(n) / epsilon^2)",
          "refresh 0 costs n and an iteration at most 3 sqrt(n) per agent, so: the fitted exponent of n in the number "
          "of rounds is not above 0; on `quadratic`, whose constants do not depend on n",
          [Test("complexity-quadratic", "slope-n", SIZES, level=1e-8)]),
    Claim("time-rate", "theorem 1", "the mean metric over T iterations falls like 1/T",
          "the exponent of T, fitted from half of the run to its end, is -1.00: at most -0.995; it cannot be below -1",
          [Test("complexity-quadratic", "slope-time", "n-1600", bound=-1),
           Test("complexity-regression", "slope-time", "n-1600", bound=-1)]),
    Claim("theorem-1", "ours", "the mean metric of PRECISION is below the corrected bound of theorem 1",
          "docs/theory.md has the correction; with its steps", [Test("theorem", "theorem", "precision")]),
    Claim("theorem-2", "ours", "the mean metric of PRECISION+ is below the corrected bound of theorem 2",
          "with its steps and partial refreshes", [Test("theorem", "theorem", "precision+")]),
    Claim("twenty-agents-auc", "ours",
          "with 20 agents, PRECISION and PRECISION+ also need fewer IFO calls and rounds than Prox-GT-SGDA and "
          "Prox-DSGDA on AUC",
          "by the metric; appendix B.4 refers to section 4, which is about regression",
          baselines("agents-auc", BOTH, "ifo") + baselines("agents-auc", BOTH, "rounds")),
    Claim("regression-rounds", "ours", "on regression, the number of rounds does not grow with n",
          "the fitted exponent of n is not above 0; each n is a different problem",
          [Test("complexity-regression", "slope-n", SIZES, level=1e-8)]),
    Claim("best-plus", "ours",
          "with searched tau, alpha and batch, PRECISION+ needs fewer IFO calls than Prox-GT-SGDA and Prox-DSGDA",
          "at each level the best of tuned steps and batch, and of default steps with four batches",
          in_each(TUNED, baselines, ["precision+"], "ifo")),
    Claim("best-precision", "ours",
          "with searched tau, alpha and batch, PRECISION needs fewer IFO calls than Prox-GT-SGDA and Prox-DSGDA", "",
          in_each(TUNED, baselines, ["precision"], "ifo")),
    Claim("best-saves", "ours",
          "with searched tau, alpha and batch, PRECISION+ needs fewer IFO calls than PRECISION", "",
          in_each(TUNED, faster, "precision+", "precision", "ifo")),
    Claim("best-rounds", "ours",
          "with searched tau, alpha and batch, PRECISION and PRECISION+ need fewer rounds than Prox-GT-SGDA and "
          "Prox-DSGDA",
          "", in_each(TUNED, baselines, BOTH, "rounds")),
    Claim("rule-samples", "ours",
          "PRECISION+ with |S| = sqrt(n)/8 and q = 2 sqrt(R) needs at most a third of the IFO calls that it needs with "
          "|S| = q = sqrt(n)", "", in_each(RULES, faster, "plus-default", "plus-paper", "ifo", 3)),
    Claim("rule-rounds", "ours",
          "PRECISION+ with |S| = sqrt(n)/8 and q = 2 sqrt(R) needs at most 1.3 times as many rounds",
          "", in_each(RULES, faster, "plus-default", "plus-paper", "rounds", 1 / 1.3)),
    Claim("rule-precision", "ours",
          "PRECISION with |S| = sqrt(n)/4 needs fewer IFO calls than with |S| = sqrt(n)",
          "", in_each(RULES, faster, "precision-default", "precision-paper", "ifo")),
    Claim("loss-exact", "ours",
          "when 20% of the messages are lost, PRECISION needs as many rounds as with reliable links, by either exact "
          "rule", "within a factor of 1.1",
          [Test("networks-loss", "alike", "reliable agreed-0.2 lossy-0.2", factor=1.1)]),
    Claim("loss-half", "ours",
          "when 50% of the messages are lost, PRECISION needs at most twice as many rounds",
          "the messages that arrive in these rounds are as many as without losses",
          [Test("networks-loss", "faster", f"{rule}-0.5 reliable", factor=1 / 2) for rule in ("agreed", "lossy")]),
    Claim("loss-inexact", "ours",
          "with running sums and 50% of the messages lost, PRECISION needs fewer rounds than with 2% lost and replaced "
          "by the last copy or by the receiver's own state", "",
          [Test("networks-loss", "faster", f"lossy-0.5 {rule}-0.02") for rule in ("stale", "own")]),
    Claim("loss-algorithms", "ours",
          "when 20% of the messages are lost, PRECISION, PRECISION+, GT-GDA and Prox-GT-SGDA need at most 1.25 times "
          "as many rounds", "the messages that arrive in these rounds are as many as without losses",
          [Test("networks-algorithms", "faster", f"{name}-lossy-0.2 {name}-reliable", factor=1 / 1.25)
           for name in EXACT]),
    Claim("bits-rounds", "ours",
          "with 8, 4 or 2 bits for each number of a message, PRECISION needs as many rounds as with doubles",
          "within a factor of 1.1",
          [Test("networks-compression", "alike", "doubles bits-8 bits-4 bits-2", factor=1.1)]),
    Claim("bits-bytes", "ours", "with 2 bits, PRECISION needs at most a twentieth of the bytes", "",
          faster("networks-compression", "bits-2", "doubles", "bytes", 20)),
    Claim("bits-seconds", "ours",
          "with 2 bits, PRECISION needs at most half of the time on links of 1 Mbit/s and 20 ms", "",
          faster("networks-compression", "bits-2", "doubles", "network_seconds", 2)),
    Claim("churn", "ours",
          "after two agents have left and one has returned, PRECISION, PRECISION+, GT-GDA and Prox-GT-SGDA need at "
          "most 1.5 times the rounds of a run that begins with the agents present",
          "counted from the return, as 1 where the metric stays at the level throughout; with reliable links and with "
          "20% of the messages lost",
          [test for name in EXACT for test in after_churn("networks-churn", f"{name}-churn", f"{name}-fresh")]),
    Claim("partition", "ours",
          "after a ring that was cut in two is healed, PRECISION needs at most 1.5 times the rounds of a run on a ring "
          "that was never cut",
          "counted from the healing in the same way; with reliable links and with 20% of the messages lost",
          after_churn("networks-partition", "healed", "never")),
]  # fmt: skip

# ---- costs ----------------------------------------------------------------------------------------

Cost = tuple[float, float]
"""The cost at which a run reached a level: more than the first number, at most the second, which is infinite if it
never did. The first is -inf for a run that starts at the level."""

Runs = dict[str, list[Any]]
"""The traces of each series, by seed; None if a run is missing."""


def cost_at(trace: Any, cost: str, row: int) -> Cost:
    """Returns the cost of a row; the number of rows means never."""
    column = trace[cost]
    if row < len(column):
        return (float(column[row - 1]) if row > 0 else -math.inf), float(column[row])
    return (math.inf if trace.diverged else float(column[-1])), math.inf


def settled(trace: Any, cost: str, column: str, limit: float, distance: float) -> Cost:
    """Returns the cost from which a column stays within a distance of its limit."""
    outside = np.flatnonzero(~(np.abs(trace[column] - limit) <= distance))
    row = int(outside[-1]) + 1 if len(outside) else 0
    return cost_at(trace, cost, len(trace["metric"]) if trace.diverged else row)


def stay(trace: Any, cost: str, level: float) -> Cost:
    """Returns the cost from which the metric stays at or below a level."""
    return settled(trace, cost, "metric", 0.0, level)


def reach(trace: Any, cost: str, level: float) -> Cost:
    """Returns the cost of the first trace point whose metric is at or below a level."""
    inside = np.flatnonzero(trace["metric"] <= level)
    return cost_at(trace, cost, int(inside[0]) if len(inside) else len(trace["metric"]))


def best_end(runs: Runs, seed: int) -> Any:
    """Returns the run of a seed that ended with the smallest metric, or None."""
    least, best = math.inf, None
    for traces in runs.values():
        trace = traces[seed]
        if trace is not None and not trace.diverged and trace["metric"][-1] < least:
            least, best = trace["metric"][-1], trace
    return best


def _drift(trace: Any) -> float:
    """Returns how far the loss still moved in the second half of the run that defines its limit."""
    loss = trace["loss"]
    return float(np.nanmax(np.abs(loss[len(loss) // 2 :] - loss[-1]), initial=0.0))


# ---- tests ----------------------------------------------------------------------------------------

WON, LOST, TIED, NOTHING = "won", "lost", "tied", "nothing"
SILENT, TRUE, FALSE, OPEN = "silent", "true", "false", "open"


@dataclass
class Level:
    """A test at one level, over seeds."""

    level: float = 0.0
    """0 for a test without levels."""
    won: int = 0
    lost: int = 0
    tied: int = 0
    """Seeds; the rest say nothing."""
    state: str = SILENT
    ratios: list[float] = field(default_factory=list)
    """Logarithms: cost of the last series to that of the first; of alike, the largest after the first to the
    smallest."""
    at_least: bool = False
    """Some ratio is only a lower bound, because a run never reached the level."""
    at_most: bool = False

    @property
    def said(self) -> int:
        return self.won + self.lost + self.tied

    def add(self, result: str) -> None:
        if result != NOTHING:
            setattr(self, result, getattr(self, result) + 1)

    def judge(self, seeds: int) -> None:
        """Decides the state."""
        few = 2 * self.said < seeds
        if self.said == 0 or (few and self.lost == 0):
            self.state = SILENT
        elif self.said < FEWEST_SEEDS or few:
            self.state = OPEN
        else:
            self.state = TRUE if self.won == self.said else FALSE if self.lost == self.said else OPEN

    def __str__(self) -> str:
        """Describes what was measured: "2.9x (2.7-3.1) 10/10"."""
        if self.said == 0:
            return ""
        text = ""
        digits = 3 if self.level > 0 else 6  # curves differ by little
        if self.ratios:
            ratio = summarize(self.ratios)
            bound = ">= " if self.at_least else "<= " if self.at_most else ""
            text = f"{bound}{math.exp(ratio.mean):.{digits}g}x"
            if ratio.count > 1:
                text += f" ({math.exp(ratio.least):.{digits}g}-{math.exp(ratio.most):.{digits}g})"
            text += " "
        return f"{text}{self.won}/{self.said}"


@dataclass
class Measurement:
    """The result of one test."""

    test: Test
    experiment: Experiment
    statement: str
    levels: list[Level]
    numbers: str = ""
    """What was measured, if there are no levels."""
    slope: Mean | None = None


def compare(a: Cost, b: Cost, factor: float) -> str:
    """Returns whether cost a is at most b / factor."""
    if (math.isinf(a[1]) and math.isinf(b[1])) or (a[0] == b[0] == -math.inf):
        return NOTHING  # neither reached the level, or both started there
    if factor * a[1] <= b[0]:
        return WON
    return LOST if factor * a[0] >= b[1] else TIED


def judge_order(costs: Sequence[Cost], factor: float) -> str:
    """Returns whether each cost is at most 1/factor of the next."""
    results = [compare(a, b, factor) for a, b in zip(costs, costs[1:])]
    if all(result == NOTHING for result in results):
        return NOTHING
    if LOST in results:
        return LOST
    return TIED if TIED in results else WON


def judge_alike(costs: Sequence[Cost], factor: float) -> str:
    """Returns whether the costs differ by at most the factor."""
    least = [min(cost[k] for cost in costs) for k in (0, 1)]
    most = [max(cost[k] for cost in costs) for k in (0, 1)]
    if math.isinf(least[1]) or most[0] == -math.inf:
        return NOTHING
    if most[1] <= factor * least[0]:
        return WON
    return LOST if most[0] > factor * least[1] else TIED


def _log_ratio(costs: Sequence[Cost], alike: bool, level: Level) -> float:
    """Returns the logarithm of the ratio of costs that is shown; NaN if it is unknown."""
    first, last = costs[0], costs[-1]
    if alike:
        first = min(costs, key=lambda cost: cost[1])
        last = max([costs[-1], *costs[1:]], key=lambda cost: cost[1])
    never = math.isinf(first[1]), math.isinf(last[1])
    under = first[0] if never[0] else first[1]
    over = last[0] if never[1] else last[1]
    if all(never) or math.isinf(over) or math.isinf(under) or not under > 0:
        return math.nan
    level.at_least = level.at_least or never[1]
    level.at_most = level.at_most or never[0]
    return math.log(over / under)


class View:
    """An experiment as a test sees it."""

    def __init__(self, test: Test, experiment: Experiment, runs: Runs) -> None:
        self.test, self.experiment, self.runs = test, experiment, runs
        self.chain: list[Series] = [experiment.find(name) for name in test.series.split()]
        self.seeds = len(next(iter(runs.values())))
        self.complete = [
            seed for seed in range(self.seeds) if all(self.trace(s, seed) is not None for s in self.chain)
        ]

    def trace(self, series: Series, seed: int) -> Any:
        return self.runs[series.name][seed]

    def cost(self, trace: Any, seed: int, level: float) -> Cost:
        if self.test.quantity == "metric":
            return stay(trace, self.test.cost, level)
        best = best_end(self.runs, seed)
        if best is None or LOSS_MARGIN * _drift(best) > level:
            return 0.0, math.inf  # where the limit is not known well enough, no run reaches the level
        return settled(trace, self.test.cost, "loss", float(best["loss"][-1]), level)

    def best_cost(self, series: Series, seed: int, level: float) -> Cost:
        """Returns the cost of a series, or of the best series of its algorithm if algorithms were tuned."""
        alike = [s for s in self.experiment.series if s.algorithm == series.algorithm]
        traces = [self.trace(s, seed) for s in (alike if self.experiment.tuning else [series])]
        costs = [self.cost(trace, seed, level) for trace in traces if trace is not None]
        return min(low for low, _ in costs), min(high for _, high in costs)

    def judge_level(self, value: float) -> Level:
        level = Level(value)
        alike = self.test.kind == "alike"
        for seed in self.complete:
            costs = [self.best_cost(series, seed, value) for series in self.chain]
            result = (judge_alike if alike else judge_order)(costs, self.test.factor)
            level.add(result)
            ratio = math.nan if result == NOTHING else _log_ratio(costs, alike, level)
            if not math.isnan(ratio):
                level.ratios.append(ratio)
        level.judge(self.seeds)
        return level

    def judge_curves(self) -> Level:
        """Returns whether every curve is below the next, seed by seed."""
        level = Level()
        for seed in self.complete:
            traces = [self.trace(series, seed) for series in self.chain]
            whole = mean_log_ratio(traces[0], traces[-1])
            if not math.isfinite(whole):
                continue  # a curve with a metric that is not finite counts as missing
            means = [mean_log_ratio(a, b) for a, b in zip(traces, traces[1:])]
            lost, won = any(mean < 0 for mean in means), all(mean > 0 for mean in means)
            level.add(LOST if lost else WON if won else TIED)
            level.ratios.append(whole)
        level.judge(self.seeds)
        return level

    def points(self, seed: int, cost: str = "") -> tuple[Any, Any, int]:
        """Returns x and y of the points of a slope for one seed, and from which point on a line is fitted."""
        if seed not in self.complete:
            return np.empty(0), np.empty(0), 0
        find = {"slope-n": self._points_n, "slope-epsilon": self._points_epsilon, "slope-time": self._points_time}
        x, y, fitted = find[self.test.kind](seed, cost or self.test.cost)
        good = (x > 0) & (y > 0) & np.isfinite(x) & np.isfinite(y)
        if self.test.kind == "slope-n" and not good.all():
            good[:] = False  # a series that did not reach the level would distort the line
        return x[good], y[good], fitted

    def _points_n(self, seed: int, cost: str) -> tuple[Any, Any, int]:
        costs = [stay(self.trace(series, seed), cost, self.test.level)[1] for series in self.chain]
        return np.array([series.value for series in self.chain]), np.array(costs), 0

    def _points_epsilon(self, seed: int, cost: str) -> tuple[Any, Any, int]:
        """Levels are half decades below the initial metric."""
        trace = self.trace(self.chain[0], seed)
        levels = trace["metric"][0] * 10.0 ** (-0.5 * np.arange(2, 17))
        return 1 / levels, np.array([stay(trace, cost, level)[1] for level in levels]), 0

    def _points_time(self, seed: int, _cost: str) -> tuple[Any, Any, int]:
        """The line is fitted to the second half of the run."""
        trace = self.trace(self.chain[0], seed)
        iteration, metric = trace["iteration"], trace["metric"]
        mean = np.cumsum(metric[1:] * np.diff(iteration)) / iteration[1:]
        rows, following = [], 10.0
        for row, count in enumerate(iteration[1:]):
            if count >= following:
                rows.append(row)
                following = 1.25 * count
        x = iteration[1:][rows]
        return x, mean[rows], int(np.sum(2 * x < iteration[-1]))

    def fit(self, cost: str = "") -> Mean:
        """Returns the slopes of all seeds."""
        slopes = []
        for seed in range(self.seeds):
            x, y, fitted = self.points(seed, cost)
            if len(x) >= fitted + 3:
                slopes.append(slope(np.log(x[fitted:]), np.log(y[fitted:])))
        return summarize([value for value in slopes if not math.isnan(value)])

    def judge_slope(self, out: Measurement) -> None:
        out.slope = self.fit()
        if out.slope.count == 0:
            out.numbers = "too few levels were reached to fit an exponent"
            return
        out.numbers = f"exponent {_slope_text(out.slope)}"
        if self.test.kind == "slope-n":
            out.numbers += f"; of IFO calls, including refresh 0, {_slope_text(self.fit('ifo'))}"
        out.numbers += f"; theory: at most {self.test.bound:g}"
        low = out.slope.low if out.slope.count > 1 else out.slope.mean  # a single seed has no interval
        margin = TIME_MARGIN if self.test.kind == "slope-time" else 0.0
        out.levels[0].state = TRUE if low <= self.test.bound + margin else FALSE


def mean_log_ratio(a: Any, b: Any) -> float:
    """Returns the mean of log(metric of b / metric of a) over iterations that both traced."""
    _, j, k = np.intersect1d(a["iteration"], b["iteration"], return_indices=True)
    with np.errstate(all="ignore"):
        return float(np.mean(np.log(b["metric"][k] / a["metric"][j]))) if len(j) else math.nan


def _slope_text(mean: Mean) -> str:
    interval = f" ({mean.low:.3f} to {mean.high:.3f})" if mean.count > 1 else ""
    return f"{mean.mean:.3f}{interval}"


COSTS = {"ifo": "IFO calls", "network_seconds": "simulated seconds", "rounds_after": "rounds after the last change"}


def statement(test: Test, chain: Sequence[Series]) -> str:
    """Says what a test tests."""
    labels = [series.label for series in chain]
    cost = COSTS.get(test.cost, test.cost)
    if test.kind == "faster":
        by = f", {test.factor:g} times fewer" if test.factor > 1 else ""
        by = f", at most {1 / test.factor:g} times as many" if test.factor < 1 else by
        return f"{' against '.join(labels)}, {cost} by the {test.quantity}{by}"
    return {
        "alike": f"{', '.join(labels)}: {cost} within a factor of {test.factor:g}",
        "below": f"metric at equal iterations: {' below '.join(labels)}",
        "slope-n": f"{cost} to metric <= {test.level:g} against n",
        "slope-epsilon": f"{cost} to metric <= epsilon^2 against 1/epsilon^2",
        "slope-time": "mean metric over T iterations against T",
        "theorem": f"mean metric of {', '.join(labels)} below its bound",
    }[test.kind]


def measure(test: Test, experiment: Experiment, runs: Runs, theorems: Any = None) -> Measurement:
    """Makes a test. theorems: the checks of theorem.py by series."""
    view = View(test, experiment, runs)
    out = Measurement(test, experiment, statement(test, view.chain), [Level()])
    if test.kind == "theorem":
        out.levels[0].state, out.numbers = theorems[test.series].result()
    elif test.kind in ("faster", "alike"):
        out.levels = [view.judge_level(level) for level in LEVELS]
    elif test.kind == "below":
        out.levels = [view.judge_curves()]
        out.numbers = str(out.levels[0])
    else:
        view.judge_slope(out)
    return out


# ---- verdicts -------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """The result for one claim."""

    claim: Claim
    measurements: list[Measurement]
    verdict: str = ""
    """Such as "holds", "holds from 1e-03 down", "does not hold"."""

    @property
    def has_levels(self) -> bool:
        return len(self.measurements[0].levels) > 1


def _together(states: Sequence[str]) -> str:
    """Returns the state of a claim at a level, from all its tests."""
    return next((state for state in (FALSE, OPEN, TRUE) if state in states), SILENT)


def _verdict(measurements: Sequence[Measurement]) -> str:
    """Returns the verdict of tests on one experiment."""
    count = len(measurements[0].levels)
    states = [_together([m.levels[k].state for m in measurements]) for k in range(count)]
    theorem = measurements[0].test.kind == "theorem"
    said = [(level, state) for level, state in zip(LEVELS, states) if state != SILENT]
    true = [state == TRUE for _, state in said]
    if not said:
        return "says nothing here" if theorem else "not tested: no run got there"
    if all(true):
        if theorem:
            return "not contradicted"
        # Tests without levels have one state, which is not a level.
        return f"holds at {said[0][0]:.0e}, the only level reached" if count > 1 and len(said) == 1 else "holds"
    if not any(true):
        return "does not hold" if any(state == FALSE for _, state in said) else "not decided"
    if true[-1]:
        first = len(true) - list(reversed(true)).index(False)
        level = f"{said[first][0]:.0e}"
        return f"holds at {level}, the finest level reached" if first + 1 == len(true) else f"holds from {level} down"
    if true[0]:
        last = true.index(False) - 1
        undecided = all(state == OPEN for _, state in said[last + 1 :])
        end = ", finer levels not decided" if undecided else " only"
        return f"holds {'at' if last == 0 else 'down to'} {said[last][0]:.0e}{end}"
    return "holds at some levels only"


def outcome(claim: Claim, measurements: list[Measurement]) -> Outcome:
    """Decides a claim from its tests, which are in the order of experiments."""
    parts = [(name, _verdict(list(tests))) for name, tests in groupby(measurements, key=lambda m: m.experiment.name)]
    if len({verdict for _, verdict in parts}) == 1:
        return Outcome(claim, measurements, parts[0][1])
    return Outcome(claim, measurements, "; ".join(f"{name}: {verdict}" for name, verdict in parts))


def decide(parts: dict[str, Any], claims: Sequence[Claim] = CLAIMS) -> list[Outcome]:
    """Decides the claims that parts, finished experiments by name, can decide."""
    outcomes = []
    for claim in claims:
        tests = [test for test in claim.tests if test.experiment in parts]
        if tests:
            made = [measure(test, parts[test.experiment].experiment, parts[test.experiment].runs,
                            parts[test.experiment].theorems) for test in tests]  # fmt: skip
            outcomes.append(outcome(claim, made))
    return outcomes


def chance(outcomes: Sequence[Outcome], seeds: int) -> tuple[int, float]:
    """Returns the number of tests of which method is first, at levels that count, and how many of them are expected to
    be decided by chance at most, if no method were better than another."""
    said = [
        level.said
        for made in outcomes
        for m in made.measurements
        for level in m.levels
        if m.test.kind == "faster" and m.test.factor >= 1 and level.state != SILENT
        and level.said > 0 and 2 * level.said >= seeds
    ]  # fmt: skip
    return len(said), sum(2.0 ** (1 - count) for count in said)


COMPARISON = [
    Claim(claim.name, claim.source, claim.says, claim.reading.replace(" and by the loss", ""),
          [test for test in claim.tests if test.quantity == "metric"])
    for claim in CLAIMS[:3]
]  # fmt: skip
"""The paper's comparison of algorithms, which can be tested on any runs of them."""
