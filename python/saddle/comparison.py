"""Comparing algorithms with the same start, network, data and seed."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping

import numpy as np

from . import _curves
from ._callbacks import result_on_interrupt
from ._checks import as_array, as_integer
from ._library import ffi, lib
from .data import pointer
from .errors import Error, InputError
from .instance import Instance
from .report_page import notebook
from .result import Result
from .trace import Trace

__all__ = ["Comparison", "compare"]

DEFAULT = ("precision", "precision+", "prox-gt-sgda", "prox-dsgda")
COSTS = ("ifo", "rounds", "bytes", "seconds", "network_seconds")


def _name(algorithm: Any) -> str:
    return algorithm if isinstance(algorithm, str) else str(getattr(algorithm, "name", algorithm))


def _listed(algorithms: Any) -> list[Any]:
    """Returns the algorithms to compare, each once; a text is a list separated by commas."""
    if algorithms == "all":
        return list(_curves.looks())
    if not isinstance(algorithms, Iterable):
        raise TypeError(f"algorithms is {algorithms!r}; it must be a list of names or algorithms")
    listed = algorithms.split(",") if isinstance(algorithms, str) else list(algorithms)
    names = [_name(algorithm) for algorithm in listed]
    if not names:
        raise ValueError("algorithms: there are none; give at least one")
    for k, name in enumerate(names):
        if name in names[:k]:
            raise ValueError(f"algorithms: {name!r} is listed twice; leave one out or rename it")
    return listed


class Comparison(Mapping[str, list[Result]]):
    """Results by algorithm: `comparison["precision"][0]` is its run with the first seed.

    refused
        why algorithms could not be run on this problem, by name
    """

    def __init__(self, results: dict[str, list[Result]], refused: dict[str, str]) -> None:
        self._results = results
        self.refused = refused

    def __getitem__(self, name: str) -> list[Result]:
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def levels(self) -> list[float]:
        """Returns levels between the metric at the start and the best end, as `saddle compare`
        chooses them: powers of ten, at most 6, most of them among those that all runs reach."""
        span = ffi.new("saddle_metric_range *")
        for metric in (r._trace()["metric"] for results in self.values() for r in results):
            lib.saddle_metric_range_add(span, metric[0], metric[-1])
        level = ffi.new("double[]", lib.SADDLE_MOST_LEVELS)
        return list(level[0 : lib.saddle_levels_choose(span, level)])

    def costs(self, levels: Iterable[float] | None = None) -> list[dict[str, Any]]:
        """Returns each algorithm's costs of reaching each level, as `saddle compare` counts them.

        A run has reached a level in the row from which its metric stays at or below it until the
        end. Costs are means over the runs that have; `reached` is their number. If it is 0, costs
        are NaN.
        """
        rows = []
        wanted = as_array(self.levels() if levels is None else levels, "levels")
        for level in np.atleast_1d(wanted).tolist():
            for name, results in self.items():
                paid = [p for r in results for p in self._paid(r._trace(), level)]
                mean = {
                    cost: float(np.mean([p[cost] for p in paid])) if paid else np.nan
                    for cost in self._costs()
                }
                rows.append({"level": level, "algorithm": name, **mean, "reached": len(paid)})
        return rows

    @staticmethod
    def _paid(trace: Trace, level: float) -> list[dict[str, float]]:
        """Returns the costs of reaching a level in a list; [] if it is not reached."""
        metric = trace["metric"]
        first, stride = pointer(metric, "double *"), metric.strides[0]
        row = lib.saddle_levels_reached(first, stride, len(metric), level)
        costs = [cost for cost in COSTS if cost in trace]
        return [{cost: float(trace[cost][row]) for cost in costs}] if row < len(metric) else []

    def _costs(self) -> list[str]:
        """Returns the costs that all results have; network_seconds needs a link_model."""
        traces = [r._trace() for results in self.values() for r in results]
        return [cost for cost in COSTS if all(cost in trace for trace in traces)]

    def to_pandas(self) -> Any:
        """Returns the table of costs as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.costs())

    def plot(self, y: str = "metric", x: str = "ifo", ax: Any = None) -> Any:
        """Plots a column of all traces with matplotlib; returns the axes. Those of an algorithm
        look alike, and those of further seeds are faint."""
        curves = [
            _curves.Curve(name, results[0]._title, [r._trace() for r in results])
            for name, results in self.items()
        ]
        return _curves.plot(curves, x, y, ax)

    def __repr__(self) -> str:
        seeds = max(map(len, self.values()), default=1)
        ends = (
            f"{name} {np.median([r._trace()['metric'][-1] for r in results]):.3g}"
            for name, results in self.items()
        )
        over = f", median of {seeds} seeds" if seeds > 1 else ""
        return f"<saddle.Comparison by the last metric{over}: {', '.join(ends)}>"

    def _repr_html_(self) -> str:
        return notebook(repr(self)[1:-1], self)


def compare(
    problem: Any = None,
    data: Any = None,
    *,
    algorithms: str | Iterable[Any] | Mapping[str, dict[str, Any]] = DEFAULT,
    repeats: int = 1,
    seed: int = 1,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Runs several algorithms on the same instance, for the seeds seed, seed + 1, ...

    algorithms
        names or your own algorithms; a dict of the options of each, such as
        {"precision": {"nu": 0.2}, "gt-gda": {}}; or "all"
    options
        as for `saddle.run()`

    An algorithm that does not support the problem is skipped, unless none does. On Ctrl-C the
    attribute `result` of the KeyboardInterrupt has the completed runs, or None.

    >>> import saddle
    >>> c = saddle.compare("quadratic", algorithms=["precision", "gt-gda"], iterations=50)
    >>> list(c), len(c["precision"])
    (['precision', 'gt-gda'], 1)
    """
    chosen = dict(algorithms) if isinstance(algorithms, Mapping) else None
    listed = _listed(algorithms)
    if "algorithm" in options:
        raise TypeError("compare() takes algorithms=[...], not algorithm")
    if options.get("resume"):
        raise TypeError("compare() cannot resume; run(resume=...) continues one run")
    repeats, seed = as_integer(repeats, "repeats", 1), as_integer(seed, "seed")
    for name, own in (chosen or {}).items():
        if not isinstance(own, Mapping):
            raise TypeError(f"algorithms: {name} has {own!r}; it must be a dict of options")
    results: dict[str, list[Result]] = {}
    refused: dict[str, str] = {}
    failure: Error | None = None
    with result_on_interrupt(lambda: Comparison(results, refused) if results else None):
        for repeat in range(repeats):
            instance = Instance(
                problem,
                data,
                seed=seed + repeat,
                _function="compare",
                _algorithms=listed,
                **options,
            )
            for algorithm, shared in zip(listed, instance._options_of):
                name = _name(algorithm)
                if name in refused:
                    continue
                try:
                    own = {**shared, **(chosen[name] if chosen is not None else {})}
                    result = instance.run(algorithm, progress=progress, **own)
                    results.setdefault(name, []).append(result)
                except InputError as why:
                    refused[name], failure = str(why), why
                    results.pop(name, None)
    if not results and failure is not None:
        raise failure
    return Comparison(results, refused)
