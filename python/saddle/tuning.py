"""Searching for good step sizes."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping

import numpy as np

from ._callbacks import Callbacks, result_on_interrupt
from ._checks import as_bytes, as_integer
from ._library import Array, ffi, lib, text
from ._monitor import logger, progress_bar
from .errors import as_keywords, check
from .instance import Instance
from .option_table import as_text, as_value
from .result import Result

__all__ = ["Tuning", "tune"]


def _numbers(texts: list[str]) -> Array:
    """Returns texts as an array, of numbers if all of them are numbers."""
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return np.array(texts)


class Tuning:
    """A search and its result.

    best
        the best values, by keyword: `saddle.run(..., **tuning.best)`
    trials
        all evaluations, column by column: rung, candidate, ..., value, and the value of each
        searched option. `pandas.DataFrame(tuning.trials)` makes a table of them. Candidate 0 has
        the default settings
    objective
        the column that decided
    metric_tau
        the tau of the metric by which all candidates were compared
    finished
        False if the search was interrupted
    """

    def __init__(self, instance: Instance, c: Any) -> None:
        self._instance = instance
        self._c = c
        self.algorithm = text(c.algorithm.name)
        self.objective = text(c.objective.name)
        self.metric_tau = float(c.plan.outputs.metric_tau)
        self.spent = int(c.spent)
        self.finished = bool(c.finished)
        plan = ffi.addressof(c.plan)
        buffer = ffi.new("char[]", lib.SADDLE_VALUE_SIZE)
        self.best = {
            name: as_value(name, text(lib.saddle_plan_text(plan, option, buffer)))
            for option in (c.option[k] for k in range(c.option_count))
            for name in [text(option.name).replace("-", "_")]
        }
        trials = [c.trials[k] for k in range(c.trial_count)]
        self.trials: dict[str, Array] = {
            name: np.array([getattr(trial, name) for trial in trials])
            for name, _ in ffi.typeof("saddle_trial").fields
        }
        for k, name in enumerate(self.best):
            tried = [text(lib.saddle_tuning_value(c, trial.candidate, k)) for trial in trials]
            self.trials[name] = _numbers(tried)

    def run(self, **options: Any) -> Result:
        """Runs the algorithm with the best values; options are limits, threads and outputs."""
        chosen: dict[str, Any] = {**self.best, **options}
        return self._instance.run(**chosen)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the best settings as a configuration file for `saddle run --config`."""
        check(lib.saddle_tuning_save, self._c, as_bytes(path, "path"))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.best.items())
        return f"<saddle.Tuning of {self.algorithm} by {self.objective}: {values}>"


class _Hooks:
    """The hooks of a search."""

    def __init__(self, callbacks: Callbacks, progress: bool, callback: Any) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback is {callback!r:.60}; give a function f(trial)")
        self.keep = Callbacks(callbacks)
        self.callback = callback
        self.bar = progress_bar(0, "tune", "evaluation") if progress else None
        self.c = ffi.new("saddle_tune_hooks *")
        self.interrupt = self.c.interrupt = callbacks.interrupt()
        self.keep.set(self.c, "trial", self.trial)
        self.keep.set(self.c, "warning", self.warning)
        self.keep.set(self.c, "progress", self.progress)

    def __enter__(self) -> _Hooks:
        return self

    def __exit__(self, *_exception: Any) -> None:
        if self.bar is not None:
            self.bar.close()

    def trial(self, _context: Any, tuning: Any, trial: Any) -> None:
        words = f"rung {trial.rung}, candidate {trial.candidate}: {trial.value:.6g}"
        logger.info("%s, %.0f%% of the budget", words, 100.0 * tuning.spent / tuning.budget)
        if self.bar is not None:
            self.bar.total = tuning.budget
            self.bar.unit = " gradients"
            self.bar.set_description(f"tune {text(tuning.algorithm.name)}", refresh=False)
            self.bar.set_postfix_str(words, refresh=False)
            self.bar.update(tuning.spent - self.bar.n)
        if self.callback is not None and self.callback(_row(tuning, trial)):
            self.interrupt[0] = 1

    def progress(self, _context: Any, _iteration: int, _seconds: float) -> None:
        """Does nothing, but Python handles Ctrl-C when it is called."""

    def warning(self, _context: Any, message: Any) -> None:
        logger.warning("%s", as_keywords(text(message)))


def _row(tuning: Any, trial: Any) -> dict[str, Any]:
    """Returns a saddle_trial, and the values of the searched options, as a dict."""
    out = {name: getattr(trial, name) for name, _ in ffi.typeof("saddle_trial").fields}
    for k in range(tuning.option_count):
        name = text(tuning.option[k].name).replace("-", "_")
        out[name] = as_value(name, text(lib.saddle_tuning_value(tuning, trial.candidate, k)))
    return out


def _search_text(search: Any) -> str:
    """Returns options and their values as a text such as "batch=10,20 fairness=1,2"."""
    if isinstance(search, str):
        return search
    if not isinstance(search, Mapping):
        raise TypeError(f"search is {search!r}; it must be a dict such as {{'batch': [10, 20]}}")
    parts = []
    for name, values in search.items():
        if not isinstance(values, (str, list, tuple, range, np.ndarray)):
            raise TypeError(f"search: {name} is {values!r}; it must be a list of values to try")
        listed = values if isinstance(values, str) else as_text(name, list(values))
        parts.append(f"{name.replace('_', '-')}={listed}")
    return " ".join(parts)


def _hold_text(hold: Any) -> str:
    if not isinstance(hold, (str, list, tuple)):
        raise TypeError(f"hold is {hold!r}; it must be a text 'nu,eta' or a list of names")
    return as_text("hold", hold).replace("_", "-")


def tune(
    problem: Any = None,
    data: Any = None,
    *,
    algorithm: Any = "precision",
    budget: int = 0,
    candidates: int = 0,
    objective: str | None = None,
    hold: Any = None,
    search: Any = None,
    log: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    **options: Any,
) -> Tuning:
    """Searches for good step sizes of one algorithm by successive halving.

    The default settings are a candidate that stays to the end, so the result is at least as good.
    On Ctrl-C the attribute `result` of the KeyboardInterrupt has the search so far, or None if
    it had not begun.

    algorithm
        a name, or your own algorithm
    budget
        total number of gradient evaluations; 0: 2000 for every sample
    candidates
        number of candidates, including the default settings; 0: as many as the budget allows
    objective
        what is ranked: "attained" (default), the objective at the mean x against the best y plus
        what y and the agents lack; "metric", "loss", "primal", "stationarity" or an outcome such as
        "test_auc"
    hold
        options that keep their value, such as "nu,eta", or a list of them
    search
        further options and the values to try, such as {"batch": [10, 20], "fairness": [0.1, 1]}
    log, resume
        a CSV file to which all evaluations are written, and whether to continue from it
    progress
        whether to show a progress bar, with tqdm if it is installed
    callback
        a function f(trial), called after each evaluation with a dict of a row of `trials`. If it
        returns True, the search ends there
    options
        as for `saddle.run()`

    >>> import saddle
    >>> t = saddle.tune("quadratic", algorithm="gt-gda", candidates=4, budget=200000)
    >>> t.finished, sorted(t.best)
    (True, ['eta_x', 'eta_y'])
    """
    with result_on_interrupt():
        instance = Instance(problem, data, algorithm=algorithm, _function="tune", **options)
    given = ffi.new("saddle_tune_inputs *")
    given.budget = as_integer(budget, "budget")
    given.candidates = as_integer(candidates, "candidates")
    given.resume = bool(resume)
    texts = {
        "objective": objective,
        "log": log,
        "hold": None if hold is None else _hold_text(hold),
        "search": None if search is None else _search_text(search),
    }
    alive = {
        name: ffi.new("char[]", as_bytes(value, name))
        for name, value in texts.items()
        if value is not None
    }
    for name, value in alive.items():
        setattr(given, name, value)
    out = ffi.new("saddle_tuning **")
    with result_on_interrupt(
        lambda: _tuning(instance, out[0]) if out[0] else None
    ), _Hooks(instance._keep, progress, callback) as hooks:
        try:
            instance._keep.call(
                check, lib.saddle_tune, out, instance._c, instance._plan.c, given, hooks.c, run=True
            )
        except KeyboardInterrupt:
            raise
        except BaseException:
            lib.saddle_tuning_free(out[0])
            raise
    return _tuning(instance, out[0])


def _tuning(instance: Instance, c: Any) -> Tuning:
    keep = instance._keep
    return Tuning(instance, ffi.gc(c, lambda c: lib.saddle_tuning_free(c) if keep else None))
