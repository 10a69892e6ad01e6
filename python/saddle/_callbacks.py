"""Python functions that the library calls.

An exception in one of them must not cross C code: it is stored, the run is interrupted, and the
exception is raised when the call into the library has returned.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ._library import ffi

__all__ = ["Callbacks", "result_on_interrupt"]


@contextmanager
def result_on_interrupt(so_far: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Sets the attribute `result` of a KeyboardInterrupt to the result so far, or None."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.result = so_far()  # type: ignore[attr-defined]
        raise


class Callbacks:
    """The functions of one instance or run, and the first exception that one of them raised."""

    def __init__(self, owner: Callbacks | None = None) -> None:
        """With an owner, exceptions are stored there."""
        self._owner = owner
        self._interrupts: weakref.WeakSet[Any] = weakref.WeakSet()
        self.raised: BaseException | None = None
        self._calls = self._runs = 0
        self._lock = threading.Lock()
        self._alive: list[Any] = []

    def keep(self, thing: Any) -> Any:
        """Keeps something alive as long as the functions; returns it."""
        self._alive.append(thing)
        return thing

    def set(
        self,
        c: Any,
        field: str,
        python: Callable[..., Any],
        failed: Any = None,
        always: bool = False,
    ) -> None:
        """Makes a field of a C struct call a Python function; C gets `failed` if it raises.

        After an exception functions are no longer called, except those with `always`, which the
        library needs. But after Ctrl-C in a run they are, so that the iteration is completed and
        the result so far is valid; the one that was interrupted is called once more.
        """
        top = self._owner or self

        def completes(exception: BaseException | None) -> bool:
            return exception is None or top._runs > 0 and isinstance(exception, KeyboardInterrupt)

        def guarded(*arguments: Any) -> Any:
            if not always and not completes(top.raised):
                return failed
            try:
                return python(*arguments)
            except KeyboardInterrupt as interrupt:
                self.stop(interrupt)
                if always or completes(interrupt):
                    return python(*arguments)
                return failed

        def fail(_kind: type, exception: BaseException, _traceback: Any) -> None:
            self.stop(exception)

        kind = dict(ffi.typeof(c).item.fields)[field].type
        setattr(c, field, self.keep(ffi.callback(kind, guarded, failed, fail)))

    def stop(self, exception: BaseException) -> None:
        """Interrupts the run with this exception, unless another one came first."""
        if self._owner is not None:
            self._owner.stop(exception)
        else:
            with self._lock:
                self.raised = self.raised or exception
                for interrupt in self._interrupts:
                    interrupt[0] = 1

    def interrupt(self) -> Any:
        """Returns the saddle_hooks::interrupt of a new run: it ends when this is not 0. An
        exception ends all runs."""
        with self._lock:
            interrupt = ffi.new("int *", self.raised is not None)
            self._interrupts.add(interrupt)
        return interrupt

    def call(
        self, function: Callable[..., None], *arguments: Any, run: bool = False
    ) -> None:
        """Calls into the library. If a Python function raised an exception meanwhile, raises it
        instead of the library's error: in all calls in progress, because any of them may have
        called the function. A run has a result when it is interrupted by Ctrl-C."""
        with self._lock:
            self._calls += 1
            self._runs += run
        try:
            function(*arguments)
        except Exception:
            if self.raised is None:
                raise
        finally:
            raised = self._leave(run)
        if raised is not None:
            try:
                raise raised
            finally:
                del raised  # it refers to this frame, which would keep everything alive

    def _leave(self, run: bool) -> BaseException | None:
        with self._lock:
            raised = self.raised
            self._calls -= 1
            self._runs -= run
            if self._calls == 0:
                self.raised = None
        return raised
