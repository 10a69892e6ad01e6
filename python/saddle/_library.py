"""The shared library: found, loaded, and called.

It is taken from the environment variable SADDLE_LIBRARY, from the package's own directory, where a
wheel and a build have it, or from wherever the system finds libsaddle.so.0.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ._declarations import ffi  # made from the C headers; see declarations.py

__all__ = ["Array", "ffi", "lib", "text"]

Array = npt.NDArray[Any]


def _load() -> Any:
    named = os.environ.get("SADDLE_LIBRARY")
    inside = Path(__file__).parent / "libsaddle.so"
    path = named or (str(inside) if inside.exists() else "libsaddle.so.0")
    try:
        return ffi.dlopen(path)
    except OSError as problem:
        raise ImportError(
            f"saddle: the library cannot be loaded: {problem}; "
            "name the path of libsaddle.so in SADDLE_LIBRARY"
        ) from None


lib: Any = _load()


def text(pointer: Any) -> str:
    """Returns a text of the library; "" for NULL."""
    return str(ffi.string(pointer).decode()) if pointer else ""
