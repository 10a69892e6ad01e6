"""The shared library: found, loaded, and called.

It is taken from the environment variable SADDLE_LIBRARY, from the package's own directory, where a
wheel and a build have it, or from wherever the system finds libsaddle.so.0. A package has two
where it was built with MPI: libsaddle-mpi.so is loaded in processes that mpirun or the like has
started, libsaddle.so, which does not need libmpi, in all others.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ._declarations import ffi  # made from the C headers; see declarations.py

__all__ = ["Array", "LAUNCHED", "ffi", "lib", "text"]

Array = npt.NDArray[Any]


# What starters of MPI jobs put into the environment of their processes.
LAUNCHED = any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"))


def _path() -> str:
    names = ("libsaddle-mpi.so", "libsaddle.so") if LAUNCHED else ("libsaddle.so",)
    inside = [Path(__file__).parent / name for name in names]
    found = [str(path) for path in inside if path.exists()]
    return os.environ.get("SADDLE_LIBRARY") or (found[0] if found else "libsaddle.so.0")


def _load() -> Any:
    try:
        return ffi.dlopen(_path())
    except OSError as problem:
        raise ImportError(
            f"saddle: the library cannot be loaded: {problem}; "
            "name the path of libsaddle.so in SADDLE_LIBRARY"
        ) from None


lib: Any = _load()


@atexit.register
def _finalize() -> None:
    """Ends MPI if a run has used it; mpi4py, where it is in use, does that itself."""
    if LAUNCHED and "mpi4py.MPI" not in sys.modules:
        lib.saddle_mpi_finalize(hasattr(sys, "last_type"))


def text(pointer: Any) -> str:
    """Returns a text of the library; "" for NULL. Names of files need not be UTF-8."""
    return str(ffi.string(pointer).decode(errors="backslashreplace")) if pointer else ""
