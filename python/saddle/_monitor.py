"""Reporting the progress of a run by logging and a progress bar."""

from __future__ import annotations

import logging
import warnings
from functools import lru_cache
from typing import Any

from ._callbacks import Callbacks
from ._library import ffi, text
from .errors import as_keywords
from .result import Result

__all__ = ["Monitor", "logger"]

logger = logging.getLogger("saddle")


@lru_cache(maxsize=None)
def _warn_once(message: str) -> None:
    """Warns, once per process."""
    warnings.warn(message, stacklevel=2)


def _bar(total: int) -> Any:
    """Returns a tqdm bar; None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit="it")


class Monitor:
    """The hooks of a run. They are called several times a second; Python handles Ctrl-C then."""

    def __init__(self, callbacks: Callbacks, plan: Any, progress: bool) -> None:
        self._total = int(plan.c.limits.iterations)
        self._bar = _bar(self._total) if progress else None
        self._log_progress = progress and self._bar is None
        self._keep = Callbacks(callbacks)
        self.hooks = ffi.new("saddle_hooks *")
        self.hooks.interrupt = callbacks.interrupt
        self._keep.set(self.hooks, "progress", self._progress)
        self._keep.set(self.hooks, "warning", self._warning)
        if logger.isEnabledFor(logging.DEBUG):
            self._keep.set(self.hooks, "row", self._row)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *_exception: Any) -> None:
        if self._bar is not None:
            self._bar.close()

    def _progress(self, _context: Any, iteration: int, seconds: float) -> None:
        if self._bar is not None:
            self._bar.update(iteration - self._bar.n)
        elif self._log_progress:
            logger.info("iteration %d of %d, %.1f s", iteration, self._total, seconds)

    def _warning(self, _context: Any, message: Any) -> None:
        words = as_keywords(text(message))
        if words.startswith("data: "):  # of columns that should be scaled
            _warn_once(words)
        else:
            logger.warning("%s", words)

    def _row(self, _context: Any, row: Any) -> None:
        logger.debug("iteration %d: metric %.6g, loss %.6g", row.iteration, row.metric, row.loss)

    def end(self, result: Result) -> None:
        """Logs how the run ended."""
        level = logging.WARNING if result.stop == "diverged" else logging.INFO
        logger.log(level, "%s", repr(result)[1:-1])
