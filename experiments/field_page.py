"""field.md: which method to use, and what the runs of field.py cost; and the figure."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import saddle

from .field import (COLUMNS, DONORS, FINALISTS, LEVELS, METHODS, STAY, TUNING, Cost, Plan, Runs, best, complete, read,
                    shown)  # fmt: skip
from .runs import write_file

__all__ = ["Costs", "page", "write"]

CAP = 100.0
"""The factor that counts for a level that a method does not reach, and the largest that counts."""
FAMILY = ("precision-auto", "precision", "precision+")
COARSE = tuple(level for level in LEVELS if level >= 1e-2)
FINE = tuple(level for level in LEVELS if level < 1e-2)
HOW = {"default": "at its defaults", "tuned": "tuned for each level", "carried": "with settings of another instance"}
TITLES = {"ifo": "samples", "rounds": "rounds", "bytes": "bytes", "network_seconds": "simulated seconds"}
VARIANTS = {"dama-page": "dama with --estimator page",
            "dama-kalman": "dama with --estimator kalman, which is Saddle's own",
            "k-gt-storm": "k-gt-minimax with --estimator storm"}  # fmt: skip
KINDS = {"robust-logistic": "logistic", "AUC on a9a": "auc", "AUC on MNIST": "mnist", "fair": "fair",
         "group-dro": "group-dro", "quadratics": "quadratic"}  # fmt: skip
SHAPES = {"rows sorted by label in part": ("skewed", "group-dro"), "a ring": ("ring", "quadratic"),
          "a hidden layer": ("mlp",), "kappa = 1000": ("quadratic-1000",)}  # fmt: skip
Group = list[tuple[str, float]]
"""Instances and levels."""


class Costs:
    """What every method costs on the instances that are complete, by how it was set: the keys of HOW."""

    def __init__(self, done: Runs, plan: Plan) -> None:
        self.plan = plan
        self.instances = complete(done, plan)
        self.of: dict[tuple[str, str, str, float], Cost | None] = {}
        for i in self.instances:
            for m in plan.methods:
                for level in LEVELS:
                    number = best(done, i, m, level, plan)
                    donor = DONORS.get(i)
                    there = best(done, donor, m, level, plan) if donor in plan.instances else None
                    carried = None if there is None else f"{donor}:{there}"
                    for how, chosen in (("default", 0), ("tuned", number), ("carried", carried)):
                        self.of[how, i, m, level] = shown(done, i, m, level, chosen, plan)

    def cells(self, how: str, levels: Sequence[float] = LEVELS, parts: Sequence[str] = ("",)) -> Group:
        """Returns the levels that a method reaches, of instances whose names have one of some parts."""
        return [(i, level) for i in self.instances for level in levels if any(part in i for part in parts)
                and (how != "carried" or i in DONORS)
                and any(self.of[how, i, m, level] for m in self.plan.methods)]  # fmt: skip

    def least(self, how: str, instance: str, level: float, c: int) -> float:
        """Returns the least cost of any method."""
        return min(o[c] for m in self.plan.methods for o in [self.of[how, instance, m, level]] if o is not None)

    def factor(self, how: str, method: str, instance: str, level: float, c: int) -> float:
        """Returns a cost divided by the least of any method, at most CAP."""
        cost = self.of[how, instance, method, level]
        least = max(1e-9, self.least(how, instance, level, c))
        return CAP if cost is None else min(CAP, max(1e-9, cost[c]) / least)

    def score(self, how: str, method: str, group: Group, c: int) -> float:
        logs = [math.log(self.factor(how, method, i, level, c)) for i, level in group]
        return math.exp(math.fsum(logs) / len(logs))

    def reached(self, how: str, method: str, group: Group) -> int:
        return sum(self.of[how, i, method, level] is not None for i, level in group)

    def ranking(self, how: str, group: Group, c: int) -> list[str]:
        return sorted(self.plan.methods, key=lambda m: (self.score(how, m, group, c), m))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _head(first: Sequence[str], others: Sequence[str]) -> list[str]:
    return [_row([*first, *others]), _row(["---"] * len(first) + ["---:"] * len(others))]


def _wrapped(text: str, begin: str = "") -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=begin, subsequent_indent=" " * len(begin), break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


# ---- sections ---------------------------------------------------------------------------------------


def _advice(costs: Costs) -> list[str]:
    """The table to act on: for each situation and cost the method with the least score, and the second."""
    situations: list[tuple[str, str, Group]] = []
    for how, said in (("default", "You do not tune"), ("tuned", "You tune for the level")):
        situations.append((said, how, costs.cells(how)))
        situations.append((f"{said}, levels down to {COARSE[-1]:g}", how, costs.cells(how, COARSE)))
        situations.append((f"{said}, levels of {FINE[0]:g} and below", how, costs.cells(how, FINE)))
    situations.append(("You have settings that are good on another instance", "carried", costs.cells("carried")))
    for how, said in (("default", "not tuned"), ("tuned", "tuned")):
        situations += [(f"{name}, {said}", how, costs.cells(how, parts=(part,))) for name, part in KINDS.items()]
        situations += [(f"{name}, {said}", how, costs.cells(how, parts=parts)) for name, parts in SHAPES.items()]
    lines = _head(["if"], [f"for few {TITLES[name]} use" for name in COLUMNS])
    for said, how, group in situations:
        if not group:
            continue
        cells = []
        for c in range(len(COLUMNS)):
            first, second = costs.ranking(how, group, c)[:2]
            cells.append(f"**{first}** {costs.score(how, first, group, c):.2g}; "
                         f"{second} {costs.score(how, second, group, c):.2g}")  # fmt: skip
        lines.append(_row([said, *cells]))
    return lines


def _summary(costs: Costs, how: str) -> list[str]:
    group = costs.cells(how)
    lines = _head(["method"], ["reached", *(TITLES[name] for name in COLUMNS)])
    for method in costs.ranking(how, group, 0):
        name = f"**{method}**" if method in FAMILY else method
        scores = (f"{costs.score(how, method, group, c):.3g}" for c in range(len(COLUMNS)))
        lines.append(_row([name, f"{costs.reached(how, method, group)} of {len(group)}", *scores]))
    return lines


def _unsolved(costs: Costs) -> str:
    """Names the instances on which no method reaches any level at its defaults."""
    names = [i for i in costs.instances if not any(there == i for there, _ in costs.cells("default"))]
    return f" At its defaults, no method reaches any level on {', '.join(names)}." if names else ""


def _places(costs: Costs, how: str) -> str:
    """Says where PRECISION's family is among all methods, and which ones are last."""
    group = costs.cells(how)
    rankings = [costs.ranking(how, group, c) for c in range(len(COLUMNS))]
    family = "; ".join(f"{m} " + ", ".join(str(ranking.index(m) + 1) for ranking in rankings)
                     for m in FAMILY if m in costs.plan.methods)  # fmt: skip
    last = ", ".join(rankings[0][-3:])
    return (f"Places among {len(costs.plan.methods)} by {', '.join(TITLES.values())}: {family}. Last by samples: "
            f"{last}. Scores are those of the table above; PRECISION and its variants are bold.")  # fmt: skip


def _effect(costs: Costs) -> str:
    """Says how often tuning helped on the seeds that are shown."""
    pairs = [(costs.of["default", *key], costs.of["tuned", *key])
             for key in {key[1:] for key in costs.of} if costs.of["default", *key]]  # fmt: skip
    work = [(a[0] * a[1], b[0] * b[1]) for a, b in pairs if a and b]
    less, more = sum(b < a for a, b in work), sum(b > a for a, b in work)
    return (f"Of the {len(pairs)} levels that methods reach at their defaults, tuned settings need less, gradient "
            f"evaluations times rounds, for {less} and more for {more}; they do not reach {len(pairs) - len(work)}.")


def _text(cost: Cost) -> str:
    samples = f"{cost[0] / 1e6:.3g}M" if cost[0] >= 999.5e3 else f"{cost[0] / 1e3:.3g}k"
    return f"{samples} / {cost[1]:.0f}"


def _cell(costs: Costs, how: str, instance: str, level: float) -> str:
    """Says who needs the fewest samples on an instance, and the best of PRECISION's family as a multiple."""
    there = {m: o for m in costs.plan.methods for o in [costs.of[how, instance, m, level]] if o is not None}
    if not there:
        return "-"
    first = min(there, key=lambda m: there[m][0])
    family = [m for m in FAMILY if m in there]
    if first in FAMILY:
        return f"**{first}** {_text(there[first])}"
    said = f"{first} {_text(there[first])}"
    if not family:
        return f"{said}; **PRECISION** never"
    own = min(family, key=lambda m: there[m][0])
    return f"{said}; **{own}** {there[own][0] / there[first][0]:.2g}x"


def _instances(costs: Costs) -> list[str]:
    lines = _head(["instance, settings"], [f"{level:g}" for level in LEVELS])
    for instance in costs.instances:
        for how in ("default", "tuned"):
            lines.append(_row([f"{instance}, {how}", *(_cell(costs, how, instance, level) for level in LEVELS)]))
    return lines


def _coverage(costs: Costs, done: Runs) -> list[str]:
    plan = costs.plan
    missing = [i for i in plan.instances if i not in costs.instances]
    runs = [line for line in done.values() if line["instance"] in costs.instances]
    refused = sum("error" in line for line in runs)
    diverged = sum(line.get("stop") == "diverged" for line in runs)
    minutes = math.fsum(line["seconds"] for line in runs) / 60
    lines = [f"{len(costs.instances)} of {len(plan.instances)} instances are complete: {len(runs)} runs in "
             f"{minutes:.0f} processor minutes, of which {diverged} diverged and {refused} were refused."]  # fmt: skip
    if missing:
        lines.append(f"Not run, or not completely, and not on this page: {', '.join(missing)}.")
    central = [name for name, row in saddle.algorithms().items() if not row["decentralized"]]
    lines.append(f"{', '.join(central)} are not compared: they need all rows in one place and send no messages.")
    return _wrapped(" ".join(lines))


def page(done: Runs, plan: Plan) -> list[str]:
    """Returns the lines of field.md."""
    costs = Costs(done, plan)
    out = ["# The methods of the field on equal terms", "",
           *_wrapped("`./scripts/reproduce --only field` writes this page; do not edit it. It runs all decentralized "
                     "methods on the same instances with the same budgets and compares what they need until the "
                     "[metric](glossary.md#metric) falls to fractions of its value at the start."), "",
           *_coverage(costs, done)]  # fmt: skip
    if not costs.instances:
        return [*out, ""]
    out += ["", "## Which method", "",
            *_wrapped("Each cell names the method with the lowest score, and the second. A score of 2 says that a "
                      "method costs twice as much as the cheapest one: it is the geometric mean over instances and "
                      f"levels, and a level that a method does not reach counts as {CAP:g}, as do larger factors. "
                      "Levels that no method reaches are left out, so compare scores within a row."
                      + _unsolved(costs)), "",
            *_advice(costs), "",
            *_wrapped("; ".join(f"{name}: {what}" for name, what in VARIANTS.items()) + ". The default of `saddle run` "
                      "is precision-auto, for runs to a small [gap](glossary.md#gap): it solves most instances of "
                      "[defaults.md](defaults.md), dama-kalman [few](precision-auto.md#experiments)."), "",
            "![How often a method is within a factor of the cheapest](pictures/field.png)", "",
            *_wrapped("*How often (vertical) a method is within a factor (horizontal) of the cheapest one: the higher, "
                      "the better. The methods with the best scores are in colour, PRECISION and its variants are "
                      "dashed.*")]  # fmt: skip
    out += ["", "## How it was measured", "",
            *_wrapped(f"Budget of a run: {plan.passes:g} gradient evaluations for each row of the data, and "
                      f"{plan.rounds} rounds.", "- "),
            *_wrapped(f"Tuning: {plan.candidates} candidates for each method and instance: the defaults, settings "
                      "drawn around them, and settings drawn near the best of these. Steps, batches, momentum, "
                      "refreshes and rounds of mixing vary, as far as a method has them. Seed "
                      f"{TUNING[0]} judges all candidates, the seeds {TUNING[1]} to {TUNING[-1]} the best {FINALISTS} "
                      "for each level and the defaults, by the seeds that reach the level and then by gradient "
                      "evaluations times rounds. So tuned settings may need more of one cost than the defaults, and "
                      "more on the seeds that are shown.", "- "),
            *_wrapped(f"Shown are medians over the seeds 1 to {plan.seeds}, which draw other graphs, starts, "
                      "distributions of the rows and samples than those of the tuning; a level counts as reached if "
                      "most of them reach it. Settings of another instance are factors of the defaults: "
                      + ", ".join(f"{a} takes those of {b}" for a, b in DONORS.items() if a in costs.instances)
                      + ".", "- "),
            *_wrapped("A run is at a level from the first trace point after which it stays there until gradient "
                      f"evaluations and rounds both have grown by the factor {STAY:g}, so that the length of the run "
                      "does not matter. The metric uses exact gradients and one tau per instance.", "- "),
            *_wrapped("Simulated seconds: links with 20 ms and 1 Mbit/s, 1 us for each gradient evaluation.", "- "),
            *_wrapped("Projections that a paper does not have are Saddle's, as `saddle algorithms NAME` says.", "- ")]
    for how, said in HOW.items():
        if costs.cells(how):
            text = _places(costs, how) + (" " + _effect(costs) if how == "tuned" else "")
            out += ["", f"## All methods, each {said}", "", *_wrapped(text), "", *_summary(costs, how)]
    out += ["", "## Instance by instance", "",
            *_wrapped("The method that needs the fewest samples until a level, its samples / rounds, and the best of "
                      "PRECISION and its variants as a multiple of its samples (**PRECISION** never: none of them "
                      "reaches the level). A dash: no method does. field.csv, which the command writes beside the "
                      "page, has all methods on all instances."), "",
            *_instances(costs), "",
            *_wrapped("Figures of the methods' papers, in shape: [field-figures](field-figures.md)."), ""]  # fmt: skip
    return out


def _table(costs: Costs) -> list[str]:
    """Returns the lines of field.csv: the costs of every method, as the page has them."""
    lines = [",".join(("instance", "settings", "level", "method", *COLUMNS))]
    for (how, instance, method, level), cost in costs.of.items():
        if cost is not None:
            lines.append(",".join((instance, how, f"{level:g}", method, *(f"{v:.6g}" for v in cost))))
    return [*lines, ""]


# ---- the figure -------------------------------------------------------------------------------------


def _draw(costs: Costs, directory: Path) -> None:
    """Draws, for samples and rounds, how often each method is within a factor of the cheapest one."""
    from matplotlib import pyplot

    from saddle._curves import looks

    known = looks()
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7), sharex=True, sharey=True, layout="constrained")
    for row, how in zip(axes, ("default", "tuned")):
        group = costs.cells(how)
        for ax, c in zip(row, (0, 1)):
            if not group:
                continue
            best_ones = costs.ranking(how, group, c)[:5]
            for m in costs.plan.methods:
                factors = sorted(costs.factor(how, m, i, level, c) for i, level in group
                                 if costs.of[how, i, m, level] is not None)  # fmt: skip
                shares = [(k + 1) / len(group) for k in range(len(factors))]
                style: dict[str, Any] = {"color": "0.8", "linewidth": 0.8, "zorder": 1}
                if m in best_ones or m in FAMILY:
                    line = "--" if m in FAMILY else {"page": "-.", "kalman": (0, (1, 1))}.get(
                        str(METHODS[m].settings.get("estimator")), "-")
                    style = {"color": known[METHODS[m].settings.get("algorithm", m)][0], "linewidth": 1.6,
                             "linestyle": line, "label": m, "zorder": 2}  # fmt: skip
                ax.step([*factors, CAP], [*shares, shares[-1] if shares else 0.0], where="post", **style)
            ax.set(xscale="log", xlim=(1, CAP), ylim=(0, 1), title=f"{TITLES[COLUMNS[c]]}, {HOW[how]}")
            ax.legend(fontsize="x-small", loc="lower right", framealpha=0.9)
    for ax in axes[-1]:
        ax.set_xlabel("factor of the cheapest method's cost")
    for ax in axes[:, 0]:
        ax.set_ylabel("share of instances and levels")
    directory.mkdir(exist_ok=True)
    for kind in ("svg", "png", "pdf"):
        figure.savefig(directory / f"field.{kind}", dpi=150)
    pyplot.close(figure)


def write(directory: Path, plan: Plan) -> None:
    """Writes field.md and, with matplotlib, figures/field.png of the runs that are there."""
    done = read(directory / "field.jsonl", plan)
    write_file(directory / "field.md", "\n".join(page(done, plan)))
    costs = Costs(done, plan)
    write_file(directory / "field.csv", "\n".join(_table(costs)))
    if costs.instances:
        try:
            _draw(costs, directory / "figures")
        except ImportError:
            return
