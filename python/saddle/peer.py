"""Agents of different owners: one agent of a network, in this process (docs/peers.md)."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array, as_bytes, as_texts, is_frame
from ._library import ffi, lib, text
from ._monitor import logger
from ._plan import Plan
from ._waiting import PATIENCE
from .errors import as_keywords, check
from .problem import bind
from .result import Result, load

__all__ = ["keygen", "run"]

COLUMNS = ("iteration", "seconds", "loss", "distance")


def keygen(path: str | os.PathLike[str]) -> str:
    """Makes a secret key in a file that only its owner can read; returns the public key.

    A key that is there stays, and its public key is returned.
    """
    key, made = ffi.new("char[]", lib.SADDLE_PEER_KEY_SIZE), ffi.new("bool *")
    check(lib.saddle_peer_keygen, as_bytes(path, "path"), key, made)
    return text(key)


def _write_rows(data: Any, label_column: Any, directory: Path) -> Path:
    """Writes an owner's rows to a file that `data:` of an agent's file could name."""
    plan = Plan(Callbacks())
    plan.label_column = label_column
    X, y = plan._pair(data, "data")
    if is_frame(X):
        path = directory / "rows.csv"
        names = [str(name) for name in X.columns]
        label = str(getattr(y, "name", None) or "label")
        if label in names:
            raise ValueError(f"X has a column {label!r}, as y is called; rename one of them")
        X.assign(**{label: np.asarray(y)}).to_csv(path, index=False)
        return path
    if as_texts(y, "y") is not None:
        raise TypeError(
            "y has texts, which all owners must number alike; give a DataFrame with a label "
            "column, or numbers"
        )
    path = directory / "rows.npz"
    labels = as_array(y, "y")
    if hasattr(X, "tocsr"):
        rows = X.tocsr()
        np.savez(
            path, data=as_array(rows.data, "X"), indices=rows.indices, indptr=rows.indptr,
            shape=rows.shape, format=b"csr", y=labels,
        )  # fmt: skip
    else:
        np.savez(path, X=as_array(X, "X"), y=labels)
    return path


def _problem(problem: Any, keep: Callbacks) -> Any:
    """Returns the saddle_problem of an object."""
    if isinstance(problem, str):
        raise TypeError(f"problem: {problem!r}: name it in the network file, for all owners")
    for name in ("x_set", "y_set"):
        if not isinstance(getattr(problem, name, ""), (str, type(None))):
            raise TypeError(f"{name} of problem is an object; name a set in the network file")
    if not all(getattr(problem, name, None) for name in ("lipschitz", "strong_concavity")):
        raise TypeError(
            "problem has no lipschitz and strong_concavity, which cannot be estimated without the "
            "samples of others; give the same numbers for all agents"
        )
    return bind(problem, keep)


def _call(keep: Callbacks, work: Callable[[], None]) -> None:
    """Calls work() in a thread of its own, so that Ctrl-C ends it at once."""
    failed: list[BaseException] = []
    begun, ended = threading.Event(), threading.Event()

    def thread() -> None:
        begun.set()
        try:
            work()
        except BaseException as failure:
            failed.append(failure)
        ended.set()

    try:
        threading.Thread(target=thread, daemon=True).start()
        while not ended.wait(PATIENCE):
            pass
    except KeyboardInterrupt as interrupt:
        keep.stop(interrupt)
        if begun.wait(1.0):  # otherwise it came before the thread, which now has nothing to do
            ended.wait()
        raise
    if failed:
        raise failed[0]


def run(
    agent_file: str | os.PathLike[str],
    data: Any = None,
    *,
    problem: Any = None,
    label_column: str | int = "last",
    callback: Callable[[Dict[str, float]], Any] | None = None,
    resume: str | None = None,
) -> Result:
    """Runs one agent of a network of several owners, as `saddle peer run` does.

    Waits for the neighbours, and returns this agent's model when all iterations are done.

    agent_file
        the path of the agent's file, agent.yml
    data
        its rows, if the network file has `data: own`: (X, y), a DataFrame, or a path; None: what
        the agent's file names. Arrays are those of a .npz file, a DataFrame is that of a CSV file;
        the owners' formats must agree
    problem
        your own `saddle.Problem`, if the network file names none. All owners give the same sizes,
        lipschitz and strong_concavity; only this agent's gradients and values are asked for
    label_column
        of a DataFrame
    callback
        a function f(row), called at every point of the trace with a dict of iteration, seconds,
        loss and distance; it runs in another thread
    resume
        "auto": resume from the checkpoint in the directory that the agent's file names, if it has
        one; "yes": it must have one; None: begin

    On Ctrl-C the neighbours learn that this agent ends, and end as well, unless it has a checkpoint
    to come back from.
    """
    keep = Callbacks()
    options = ffi.new("saddle_peer_options *")
    options.interrupt = keep.keep(keep.interrupt())

    def warn(_context: Any, message: Any) -> None:
        logger.warning("%s", as_keywords(text(message)))

    def row(_context: Any, c: Any) -> None:
        if callback is not None:
            callback({name: getattr(c, name) for name in COLUMNS})

    keep.set(options, "warning", warn)
    keep.set(options, "row", row)
    if resume is not None:
        options.resume = keep.keep(ffi.new("char[]", as_bytes(resume, "resume")))
    if problem is not None:
        options.problem = _problem(problem, keep)
    with tempfile.TemporaryDirectory(prefix="saddle-") as directory:
        model = Path(directory, "model.npz")
        options.copy = keep.keep(ffi.new("char[]", os.fsencode(model)))
        if data is not None:
            named = isinstance(data, (str, os.PathLike))
            path = data if named else _write_rows(data, label_column, Path(directory))
            options.data = keep.keep(ffi.new("char[]", as_bytes(path, "data")))
        file = as_bytes(agent_file, "agent_file")
        _call(keep, lambda: keep.call(check, lib.saddle_peer_run, file, options, run=True))
        return load(model)
