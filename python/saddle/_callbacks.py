"""Python functions that the library calls.

An exception in one of them must not cross C code: it is kept, the run is asked to end, and the
exception is raised once the call into the library has returned.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterator

from ._library import ffi

__all__ = ["Callbacks", "result_on_interrupt"]


@contextmanager
def result_on_interrupt(so_far: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Gives a KeyboardInterrupt the attribute `result`: what there is so far, None for nothing."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        interrupt.result = so_far()  # type: ignore[attr-defined]
        raise


class Callbacks:
    """The functions of one instance or run, and the first exception that one of them raised."""

    def __init__(self, owner: Callbacks | None = None) -> None:
        """With an owner, exceptions are the owner's."""
        self._owner = owner
        self.interrupt = ffi.new("int *")
        """Not 0: the run is to end. For saddle_hooks::interrupt."""
        self.raised: BaseException | None = None
        self._calls = 0
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
        """Lets a field of a C struct call a Python function, which returns `failed` to C where it
        raises an exception.

        After Ctrl-C the function is called once more, so that the iteration is completed and the
        result so far is valid. After any other exception functions are not called any more, unless
        `always` says that the library cannot do without.
        """

        def guarded(*arguments: Any) -> Any:
            raised = (self._owner or self).raised
            if not always and raised is not None and not isinstance(raised, KeyboardInterrupt):
                return failed
            try:
                return python(*arguments)
            except KeyboardInterrupt as interrupt:
                self.stop(interrupt)
                return python(*arguments)

        def fail(_kind: type, exception: BaseException, _traceback: Any) -> None:
            self.stop(exception)

        kind = dict(ffi.typeof(c).item.fields)[field].type
        setattr(c, field, self.keep(ffi.callback(kind, guarded, failed, fail)))

    def stop(self, exception: BaseException) -> None:
        """Asks the run to end, with this exception unless another one was first."""
        if self._owner is not None:
            self._owner.stop(exception)
        else:
            self.raised = self.raised or exception
            self.interrupt[0] = 1

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Calls into the library. What a Python function raised meanwhile is raised instead of
        whatever the library makes of it: in all calls that are under way, because any of them may
        have called it."""
        with self._lock:
            self._calls += 1
        try:
            function(*arguments)
        except Exception:
            if self.raised is None:
                raise
        finally:
            raised = self._leave()
        if raised is not None:
            raise raised

    def _leave(self) -> BaseException | None:
        with self._lock:
            raised = self.raised
            self._calls -= 1
            if self._calls == 0:
                self.raised = None
                self.interrupt[0] = 0
        return raised
