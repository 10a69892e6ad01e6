"""The runs on an instance, each of which becomes one line of results.jsonl."""

from __future__ import annotations

import functools
import hashlib
import logging
import math
import time
import warnings
from pathlib import Path
from typing import Any

import saddle
from saddle._library import _path

from ..side_by_side import Line
from .instances import Instance
from .reference import objective
from .rows import Missing, agents_rows

__all__ = ["LONG", "PASSES", "ROUNDS", "SOLVED", "PIECES", "TUNED", "Work", "is_stale", "make_run"]

PASSES = 100  # gradient evaluations for each row
ROUNDS = 5000
SOLVED = 1e-4
# Searches: algorithm, what they minimize, and gradient evaluations for each row. A search ends with runs of about a
# twelfth of its budget, so several searches find good settings for shorter and for longer runs.
SEARCHES = [(algorithm, aim, passes) for algorithm in ("precision", "precision+") for aim in ("primal", "metric")
            for passes in (400, 1600)]
TUNED = {f"tuned {algorithm} {aim} {passes}": (algorithm, aim, passes) for algorithm, aim, passes in SEARCHES}
PIECES = ("long", "default", "precision", "precision+", *TUNED)
LONG = 150  # times the budget: not to judge the defaults, but whether runs that last are called solved too early


@functools.cache
def _version() -> bytes:
    """Returns a hash of what lines depend on besides their instance: the library, rows, references and the budget."""
    here = Path(__file__)
    files = (Path(_path()), here, here.with_name("rows.py"), here.with_name("reference.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).digest()


def _fingerprint(instance: Instance) -> str:
    return hashlib.sha256(_version() + repr(instance).encode()).hexdigest()[:16]


def is_stale(line: Line, instances: dict[str, Instance]) -> bool:
    """Returns whether another version of the library or of the zoo made a line."""
    instance = instances.get(line["instance"])
    return instance is None or line.get("fingerprint") != _fingerprint(instance)


class Work:
    """An instance in memory, and its runs."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.parts, options = agents_rows(instance)
        self.rows = sum(len(b) for _, b in self.parts)
        self.options = {
            **options, "agents": instance.agents, "topology": instance.topology, "seed": instance.seed, "threads": 1,
            "scale": "auto" if instance.columns == "auto" else "none",
        }
        self.limits = {
            "iterations": ROUNDS, "max_rounds": ROUNDS, "max_ifo": PASSES * self.rows, "tolerance": SOLVED,
            "outcomes": "ends",
        }
        self._minimum: float | None = None

    def run(self, algorithm: str | None = None, **more: Any) -> saddle.Result:
        return saddle.run(self.instance.problem, self.parts, algorithm=algorithm,
                          **{**self.options, **self.limits, **more})

    def tuned(self, algorithm: str, aim: str, passes: int) -> tuple[saddle.Result, dict[str, str]]:
        """Runs an algorithm with the best settings that a search finds."""
        found = saddle.tune(self.instance.problem, self.parts, algorithm=algorithm, objective=aim,
                            budget=passes * self.rows, **self.options)
        return found.run(**self.limits), found.best

    def excess(self, r: saddle.Result) -> dict[str, float]:
        """Returns Q at the end of a run, the reference's minimum, and their distance relative to the gap's scale."""
        reference = objective(self.instance.problem, self.parts, r.settings, r.mean, r.deviation)
        if self._minimum is None or not reference.convex:
            self._minimum = reference.minimum(r.x)
        Q = reference.value(r.x)
        return {"Q": Q, "primal": float(r.trace["primal"][-1]), "minimum": self._minimum,
                "excess": (Q - self._minimum) / r.gap_scale}

    def piece(self, what: str) -> Line:
        """Makes one run and returns what its line says."""
        settings: dict[str, str] = {}
        if what in TUNED:
            r, settings = self.tuned(*TUNED[what])
        elif what == "long":
            longer = {name: LONG * self.limits[name] for name in ("iterations", "max_rounds", "max_ifo")}
            r = self.run(**longer)
        else:
            r = self.run(None if what == "default" else what)
        costs = {name: float(r.trace[name][-1]) for name in ("ifo", "rounds", "bytes")}
        return {"algorithm": r.settings["algorithm"], "stop": r.stop, "gap": r.gap, "scale": r.gap_scale, **costs,
                **self.excess(r), "outcomes": r.outcomes, "settings": settings}


def make_run(task: tuple[Instance, str]) -> Line:
    """Returns the line of a run, with its processor seconds. A failure is a line too."""
    instance, what = task
    logging.getLogger("saddle").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    begin = time.process_time()
    try:
        line = Work(instance).piece(what)
    except Missing as missing:
        return {"instance": instance.name, "what": "missing", "error": str(missing)}
    except (saddle.Error, ValueError, ArithmeticError) as error:
        line = {"error": f"{type(error).__name__}: {error}"}
    return {"instance": instance.name, "what": what, "fingerprint": _fingerprint(instance),
            **{k: _finite(v) for k, v in line.items()}, "seconds": round(time.process_time() - begin, 2)}


def _finite(value: Any) -> Any:
    """Returns a value that JSON can hold: null instead of NaN and infinities."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
