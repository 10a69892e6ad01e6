"""Reporting the progress of a run by logging and a progress bar."""

from __future__ import annotations

import logging
import warnings
from functools import lru_cache
from typing import Any, Callable, Dict

from ._callbacks import Callbacks
from ._library import ffi, text
from .errors import as_keywords
from .result import Result
from .trace import row_of

__all__ = ["Callback", "Monitor", "logger", "progress_bar"]

Callback = Callable[[Dict[str, float]], Any]
"""Gets what a trace point measured, by the names of the trace's columns; True ends the run."""

logger = logging.getLogger("saddle")


@lru_cache(maxsize=None)
def _warn_once(message: str) -> None:
    """Warns, once per process."""
    warnings.warn(message, stacklevel=2)


def progress_bar(total: int, name: str, unit: str = "it") -> Any:
    """Returns a tqdm bar; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=unit, desc=name)


class Monitor:
    """The hooks of a run. They are called several times a second; Python handles Ctrl-C then."""

    def __init__(
        self, callbacks: Callbacks, plan: Any, progress: bool, callback: Callback | None = None
    ) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback is {callback!r:.60}; give a function f(row)")
        self._total = int(plan.c.limits.iterations)
        own = plan.c.algorithm.own
        self._name = text(own.name if own else plan.c.algorithm.name)
        self._bar = progress_bar(self._total, self._name) if progress else None
        self._log_progress = progress and self._bar is None
        self._without_files = plan.without_files
        self._callback = callback
        self.by_callback = False
        """Whether the callback has ended the run."""
        self._keep = Callbacks(callbacks)
        self._measured = ""
        self.hooks = ffi.new("saddle_hooks *")
        self._interrupt = self.hooks.interrupt = callbacks.interrupt()
        self._keep.set(self.hooks, "progress", self._progress)
        self._keep.set(self.hooks, "warning", self._warning)
        if callback is not None or progress or logger.isEnabledFor(logging.DEBUG):
            self._keep.set(self.hooks, "begin", self._begin)
            self._keep.set(self.hooks, "row", self._row)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_exception: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def _begin(self, _context: Any, info: Any) -> None:
        self._result = info.result

    def _progress(self, _context: Any, iteration: int, seconds: float) -> None:
        if self._bar is not None:
            self._bar.update(iteration - self._bar.n)
        elif self._log_progress:
            logger.info(
                "%s: iteration %d of %d, %.1f s%s",
                self._name, iteration, self._total, seconds, self._measured,
            )  # fmt: skip

    def _warning(self, _context: Any, message: Any) -> None:
        words = self._without_files(as_keywords(text(message)))
        if words.startswith("data: "):  # of columns that should be scaled
            _warn_once(words)
        else:
            logger.warning("%s", words)

    def _row(self, _context: Any, c: Any) -> None:
        row = row_of(self._result, c)
        measured = (row["iteration"], row["metric"], row["loss"])
        logger.debug("iteration %d: metric %.6g, loss %.6g", *measured)
        shown = [f"{name} {row[name]:.3g}" for name in ("gap", "metric") if row[name] == row[name]]
        self._measured = "".join(f", {words}" for words in shown)
        if self._bar is not None:
            self._bar.set_postfix_str(", ".join(shown), refresh=False)
            self._bar.update(row["iteration"] - self._bar.n)
        if self._callback is not None and self._callback(row):
            self.by_callback = True
            self._interrupt[0] = 1

    def end(self, result: Result) -> None:
        """Logs how the run ended."""
        logger.info("%s", repr(result)[1:-1])
