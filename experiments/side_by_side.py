"""Runs that do not depend on each other, several at a time; what they give is a line each of a file of JSON lines."""

from __future__ import annotations

import json
import multiprocessing
import signal
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, TypeVar

__all__ = ["Line", "make", "read_lines"]

Line = dict[str, Any]
T = TypeVar("T")


def read_lines(path: Path) -> list[Line]:
    """Returns the lines of a file; one that an interrupted process left incomplete is ignored."""
    found = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(text))
        except ValueError:
            continue
    return found


def _append(path: Path, text: bytes) -> None:
    """Appends with one write, so that a line is there completely or, if the disk is full, is ignored later."""
    with open(path, "ab", buffering=0) as stream:
        stream.write(text)


def _start() -> None:
    """Leaves Ctrl-C to the parent, whose SIGTERM ends a process also in the middle of a run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def make(work: Callable[[T], Line], tasks: Iterable[T], path: Path, jobs: int,
         seconds: float | None = None) -> Iterator[Line]:
    """Yields work(task), a function of a module, of each task as it ends, after appending it to a file.

    `jobs` processes begin tasks in the given order. After some seconds, and if this process is interrupted, runs that
    have not ended are given up; lines that are in the file stay there.
    """
    if work.__module__ == "__main__":
        raise ValueError("work must be imported: the processes do not know what is in __main__")
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        _append(path, b"\n")
    end = None if seconds is None else time.monotonic() + seconds
    with multiprocessing.get_context("spawn").Pool(jobs, _start) as pool:
        lines = pool.imap_unordered(work, tasks)
        while True:
            try:
                line = lines.next(None if end is None else max(0.0, end - time.monotonic()))
            except (StopIteration, multiprocessing.TimeoutError):
                return
            _append(path, (json.dumps(line) + "\n").encode())
            yield line
