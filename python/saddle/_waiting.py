"""Calls into the library that Ctrl-C can end.

Python handles Ctrl-C only between its own instructions, so a call that computes for seconds would
delay it. The main thread waits here while another thread makes the call.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import Any, Callable, TypeVar

from ._library import LAUNCHED

__all__ = ["PATIENCE", "interruptible"]

# Seconds that the main thread waits at a time: a signal just before it waits does not wake it.
PATIENCE = 0.5

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Returns work(), which must not call functions of the user: those run on the user's thread.

    After Ctrl-C the work is completed in the background, and what it returns is dropped. It must
    hold all that it uses, also what C objects borrow. MPI is used by only one thread.
    """
    if LAUNCHED or threading.current_thread() is not threading.main_thread():
        return work()
    ended: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def thread() -> None:
        try:
            ended.put((work(), None))
        except BaseException as failure:
            ended.put((None, failure))

    threading.Thread(target=thread, daemon=True).start()
    while True:
        try:
            result, failure = ended.get(timeout=PATIENCE)
            break
        except Empty:
            continue
    if failure is None:
        return result
    try:
        raise failure
    finally:
        del failure  # it refers to this frame, which would keep everything alive
