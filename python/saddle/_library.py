"""Finding and loading the shared library.

It is the file that the environment variable SADDLE_LIBRARY names, or the one in the package's own
directory. Its version and ABI must be those that the package was made for.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import Any

import numpy.typing as npt

from . import _declarations  # made from the C headers; see declarations.py

__all__ = ["Array", "LAUNCHED", "VERSION", "ffi", "lib", "new_plan", "text"]

Array = npt.NDArray[Any]
VERSION: str = _declarations.VERSION
ffi: Any = _declarations.ffi


# Variables that mpirun and similar programs set in the environment of their processes.
LAUNCHED = any(name in os.environ for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"))


def _path() -> str:
    return os.environ.get("SADDLE_LIBRARY") or str(Path(__file__).with_name("libsaddle.so"))


def text(pointer: Any) -> str:
    """Returns a C string as str; "" for NULL. File names need not be UTF-8."""
    return str(ffi.string(pointer).decode(errors="backslashreplace")) if pointer else ""


def new_plan(library: Any) -> Any:
    """Returns a saddle_plan with the defaults."""
    plan = ffi.gc(ffi.new("saddle_plan *"), library.saddle_plan_free)
    library.saddle_plan_defaults_for(plan, ffi.sizeof("saddle_plan"), library.SADDLE_ABI)
    return plan


def _mismatch(library: Any) -> str:
    """Returns what is wrong with the version or the ABI of a library; "" if they are right."""
    try:
        version = text(library.saddle_version())
    except ffi.error:
        return "it is not libsaddle"
    if version != VERSION:
        return f"it has version {version}"
    error = ffi.new("saddle_error *")
    if library.saddle_plan_set(new_plan(library), b"seed", b"1", error) != library.SADDLE_OK:
        return f"it has version {version}, but another ABI: {text(error.message).split(';')[0]}"
    return ""


def _load() -> Any:
    path = _path()
    try:
        library = ffi.dlopen(path)
    except OSError as problem:
        raise ImportError(
            f"saddle: the library cannot be loaded: {problem}; "
            "install the packages that docs/install.md lists under 'What the library loads', or "
            "name the path of libsaddle.so in SADDLE_LIBRARY"
        ) from None
    wrong = _mismatch(library)
    if wrong:
        raise ImportError(
            f"saddle: {path} cannot be used: {wrong}; this package is for libsaddle {VERSION}, ABI "
            f"{library.SADDLE_ABI}: install both from the same source, and leave SADDLE_LIBRARY "
            "unset or let it name that library"
        )
    return library


lib: Any = _load()


@atexit.register
def _finalize() -> None:
    """Finalizes MPI if a run has used it, unless mpi4py does so."""
    if "mpi4py.MPI" not in sys.modules:
        lib.saddle_mpi_finalize(hasattr(sys, "last_type"))
