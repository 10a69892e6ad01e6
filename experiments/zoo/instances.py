"""The instances of the zoo: a table of named ones, and a generator for the other half.

The generator and SEED were committed before the default rules were chosen that the zoo judges. Do not edit either: the
drawn half is reported as it is. What is learned from it belongs into the named half.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

__all__ = ["Instance", "NAMED", "SEED", "SMALL", "drawn", "everything"]

SEED = 20320415
DRAWN = 24


@dataclass(frozen=True)
class Instance:
    """A problem, its data, how the rows are distributed, and the network."""

    name: str
    problem: str
    data: str
    """A data set, or KIND:ROWS:FEATURES for generated rows; see rows.py."""
    columns: str
    """standard: standardized by the zoo; raw: as they are, with scale="none"; auto: as they are, scaled by default."""
    agents: int
    partition: str
    """iid; label: sorted by label; size: agent i has about 1.5 times the rows of agent i + 1, but at least two."""
    topology: str
    options: dict[str, object] = field(default_factory=dict)
    seed: int = 1


def _named(name: str, problem: str, data: str, columns: str, agents: int, partition: str, topology: str,
           **options: object) -> Instance:
    return Instance(name, problem, data, columns, agents, partition, topology, options)


LEAST_SQUARES = 1e9  # a divergence with which robust-regression is least squares

NAMED = [
    _named("wine-raw", "robust-regression", "wine", "raw", 5, "iid", "er:0.6"),
    _named("wine-auto", "robust-regression", "wine", "auto", 5, "iid", "er:0.6"),
    _named("diabetes", "robust-regression", "diabetes", "standard", 6, "iid", "ring"),
    _named("diabetes-least-squares", "robust-regression", "diabetes", "auto", 20, "iid", "torus:4x5",
           divergence=LEAST_SQUARES),
    _named("diabetes-sizes", "robust-regression", "diabetes", "standard", 8, "size", "star"),
    _named("outliers-huber", "robust-regression", "outliers:2000:10", "standard", 10, "iid", "ring", loss="huber"),
    _named("heavy-regression", "robust-regression", "heavy:3000:20", "auto", 30, "label", "er:0.3"),
    _named("huge-regression", "robust-regression", "huge:1000:8", "raw", 4, "iid", "path"),
    _named("cancer-raw", "auc", "breast_cancer", "raw", 5, "iid", "er:0.6"),
    _named("cancer-auto", "auc", "breast_cancer", "auto", 10, "label", "ring"),
    _named("digits-auc", "auc", "digits", "auto", 20, "iid", "torus:4x5"),
    _named("a9a-auc", "auc", "a9a", "auto", 20, "iid", "er:0.3"),
    _named("mnist-auc", "auc", "mnist", "auto", 10, "iid", "ring"),
    _named("mixed-auc", "auc", "mixed:2000:15", "raw", 10, "label", "star"),
    _named("duplicates-auc", "auc", "duplicates:3000:12", "standard", 100, "iid", "er:0.1"),
    _named("a9a-groups", "group-dro", "a9a", "auto", 20, "label", "ring", groups="73,label"),
    _named("agents-groups", "group-dro", "normal:2000:10", "standard", 20, "label", "ring"),
    _named("digits-groups", "group-dro", "digits", "auto", 10, "label", "path"),
    _named("star-groups", "group-dro", "normal:1000:5", "standard", 12, "size", "star", group_ridge=1.0),
    _named("a9a-fair-0", "fair", "a9a", "auto", 20, "iid", "torus:4x5", sensitive=73, fairness=0),
    _named("a9a-fair", "fair", "a9a", "auto", 5, "iid", "er:0.6", sensitive=73, fairness=8),
    _named("cancer-fair", "fair", "breast_cancer", "standard", 10, "iid", "ring", fairness=2),
    _named("digits-fair", "fair", "digits", "auto", 20, "iid", "er:0.3", fairness=0),
    _named("a9a-paper", "robust-logistic", "a9a", "auto", 5, "iid", "er:0.6"),
    _named("heavy-logistic", "robust-logistic", "heavy:2000:20", "auto", 12, "label", "path"),
]

# What the tests of the project run: small, all problems, both partitions, raw columns with a gap that was wrong once.
SMALL = [
    _named("small-wine-raw", "robust-regression", "wine", "raw", 3, "iid", "ring"),
    _named("small-least-squares", "robust-regression", "normal:60:4", "standard", 4, "size", "path",
           divergence=LEAST_SQUARES),
    _named("small-auc", "auc", "normal:120:5", "standard", 4, "label", "star"),
    _named("small-groups", "group-dro", "normal:120:4", "standard", 4, "label", "ring", group_ridge=1.0),
    _named("small-fair", "fair", "normal:120:4", "auto", 3, "iid", "ring", fairness=2),
    _named("small-logistic", "robust-logistic", "normal:60:4", "standard", 3, "iid", "path"),
]

LABELLED = ("breast_cancer", "iris", "wine_class", "digits", "a9a_part", "mnist", "normal", "heavy", "duplicates",
            "tiny", "huge", "mixed", "correlated", "rare")
REAL = ("wine", "diabetes", "linnerud", "normal", "heavy", "duplicates", "tiny", "huge", "mixed", "correlated",
        "outliers")
GENERATED = ("normal", "heavy", "duplicates", "tiny", "huge", "mixed", "correlated", "rare", "outliers")
MOST_ROWS = {"linnerud": 20, "iris": 150, "wine": 178, "wine_class": 178, "diabetes": 442, "breast_cancer": 569}


class _Draw:
    """Draws from lists with random(), whose numbers are the same in all versions of Python."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def one_of(self, values: tuple) -> object:
        return values[int(self.random() * len(values))]

    def between(self, low: int, high: int) -> int:
        """An integer whose logarithm is uniform."""
        return min(high, int(low * (high / low) ** self.random() + 0.5))


def _options(problem: str, draw: _Draw) -> dict[str, object]:
    if problem == "robust-regression":
        return {"divergence": draw.one_of(("auto", "auto", LEAST_SQUARES)), "loss": draw.one_of(("square", "huber"))}
    if problem == "group-dro":
        return {"group_ridge": draw.one_of((0.03, 0.1, 1.0))}
    if problem == "fair":
        return {"fairness": draw.one_of((0, 2, 8))}
    return {}


def _topology(agents: int, draw: _Draw) -> str:
    kind = draw.one_of(("er", "ring", "torus", "star", "path"))
    if agents < 4:
        return "path"
    if kind == "torus":
        sides = [k for k in range(3, 11) if agents % k == 0 and agents // k >= k]
        return f"torus:{sides[-1]}x{agents // sides[-1]}" if sides else "ring"
    if kind == "er":
        return "er:0.6" if agents < 10 else "er:0.3" if agents < 50 else "er:0.1"
    return str(kind)


def drawn(seed: int = SEED, count: int = DRAWN) -> list[Instance]:
    """Returns the instances that belong to a seed."""
    draw = _Draw(seed)
    found = []
    problems = ("robust-regression", "auc", "group-dro", "fair", "robust-regression", "auc", "group-dro", "fair",
                "robust-logistic")
    for k in range(count):
        problem = problems[k % len(problems)]
        data = str(draw.one_of(REAL if problem == "robust-regression" else LABELLED))
        rows = MOST_ROWS.get(data, 1000)
        if data in GENERATED:
            rows = draw.between(100, 5000)
            data = f"{data}:{rows}:{draw.between(3, 60)}"
        agents = draw.between(2, min(100, rows // 4))
        columns = str(draw.one_of(("standard", "auto", "auto", "raw")))
        partition = str(draw.one_of(("iid", "label", "size")))
        found.append(Instance(f"drawn-{k:02d}", problem, data, columns, agents, partition, _topology(agents, draw),
                              _options(problem, draw), seed=k + 1))
    return found


def everything() -> list[Instance]:
    return NAMED + drawn()
