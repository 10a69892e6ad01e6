"""Comparing algorithms with the same start, network, data and seed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping

import numpy as np

from . import _curves
from ._callbacks import Callbacks, result_on_interrupt
from ._checks import as_array, as_integer
from ._library import ffi, lib
from ._monitor import Callback
from .data import pointer
from .errors import Error, InputError, check
from .instance import Instance
from .report_page import file_stem, notebook, plot, report
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
        for level in map(float, np.atleast_1d(wanted)):
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
        """Plots a column of all traces with matplotlib, as `saddle.plot()` does; returns the
        axes."""
        return plot(self, y, x, ax)

    def report(
        self, path: str | os.PathLike[str] = "report.html", title: str | None = None
    ) -> Path:
        """Writes the page of `saddle.report()` about all results; returns its path."""
        return report(self, path, title)

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


def _labelled(callback: Callback | None, algorithm: str, seed: int) -> Callback | None:
    """Returns a callback whose rows say of which run they are."""
    if callback is None or not callable(callback):
        return callback
    told = callback
    run: dict[str, Any] = {"algorithm": algorithm, "seed": seed}
    return lambda row: told({**run, **row})


def _metric_tau(instance: Instance) -> float:
    """Returns the tau of the metric by which all algorithms are compared, whatever their own tau:
    the given one, or the default on this instance, as `saddle compare` does."""
    plan = instance._plan.copy(Callbacks())
    given = plan.c.outputs.metric_tau
    if not np.isnan(given):
        return float(given)
    plan.c.steps.rule = lib.SADDLE_STEPS_PRACTICAL
    steps = ffi.new("saddle_steps *")
    check(lib.saddle_instance_steps, instance._c, plan.c, steps)
    return float(steps.tau)


def compare(
    problem: Any = None,
    data: Any = None,
    *,
    algorithms: str | Iterable[Any] | Mapping[Any, dict[str, Any]] = DEFAULT,
    repeats: int = 1,
    seed: int = 1,
    output: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
    progress: bool = False,
    callback: Callback | None = None,
    **options: Any,
) -> Comparison:
    """Runs several algorithms on the same instance, for the seeds seed, seed + 1, ...

    algorithms
        names or your own algorithms; a dict of the options of each, such as
        {"precision": {"nu": 0.2}, Mine(): {}}; or "all"
    output
        a directory for the traces, ALGORITHM-seedN.csv as of `saddle compare`; made if missing
    report
        the path of an HTML page about the comparison: Comparison.report()
    callback
        as for `saddle.run()`; the row also has "algorithm" and "seed", and True ends that run
    options
        as for `saddle.run()`

    An algorithm that does not support the problem is skipped, unless none does. On Ctrl-C the
    attribute `result` of the KeyboardInterrupt has the completed runs, or None.

    >>> import saddle
    >>> c = saddle.compare("quadratic", algorithms=["precision", "gt-gda"], iterations=50)
    >>> list(c), len(c["precision"])
    (['precision', 'gt-gda'], 1)
    """
    chosen = None
    if isinstance(algorithms, Mapping):
        chosen = {_name(algorithm): own for algorithm, own in algorithms.items()}
    listed = _listed(algorithms)
    if "algorithm" in options:
        raise TypeError("compare() takes algorithms=[...], not algorithm")
    if options.get("resume"):
        raise TypeError("compare() cannot resume; run(resume=...) continues one run")
    for name in ("trace", "model", "checkpoint"):
        if options.get(name):
            raise TypeError(
                f"{name}: all runs of compare() would write the same file; output=DIRECTORY writes "
                "a trace of each, and the results can be saved: comparison['precision'][0].save()"
            )
    if output is not None:
        os.makedirs(output, exist_ok=True)
    repeats, seed = as_integer(repeats, "repeats", 1), as_integer(seed, "seed")
    for name, own in (chosen or {}).items():
        if not isinstance(own, Mapping):
            raise TypeError(f"algorithms: {name} has {own!r}; it must be a dict of options")
    results: dict[str, list[Result]] = {}
    refused: dict[str, str] = {}
    failure: Error | None = None
    metric_tau = None
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
            metric_tau = metric_tau or _metric_tau(instance)
            for algorithm, shared in zip(listed, instance._options_of):
                name = _name(algorithm)
                if name in refused:
                    continue
                try:
                    own = {"metric_tau": metric_tau, **shared}
                    own.update(chosen[name] if chosen is not None else {})
                    if output is not None:
                        file = f"{file_stem(name)}-seed{seed + repeat}.csv"
                        own["trace"] = os.path.join(output, file)
                    told = _labelled(callback, name, seed + repeat)
                    result = instance._run(algorithm, progress, told, own)
                    results.setdefault(name, []).append(result)
                except InputError as why:
                    refused[name], failure = str(why), why
                    results.pop(name, None)
    if not results and failure is not None:
        raise failure
    comparison = Comparison(results, refused)
    if report is not None:
        comparison.report(report)
    return comparison
