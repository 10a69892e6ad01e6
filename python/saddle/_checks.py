"""Checks of arguments. Messages name the argument, its value and the remedy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ._library import Array

__all__ = ["as_array", "as_bytes", "as_integer", "as_pair", "as_real"]


def as_array(given: Any, name: str) -> Array:
    """Returns numbers as a float64 array, without a copy if they already are one."""
    if isinstance(given, np.ndarray) and given.dtype == np.float64:
        return given
    try:
        if np.asarray(given).dtype.kind == "c":
            raise TypeError("they are complex")
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as why:
        raise TypeError(f"{name} must be an array of real numbers: {why}") from None


def as_real(given: Any, name: str) -> float:
    """Returns a number."""
    try:
        if isinstance(given, str):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} is {given!r:.60}; it must be a number") from None


def as_integer(given: Any, name: str, least: int = 0) -> int:
    """Returns an integer; also accepts floats such as 1e6."""
    number = as_real(given, name)
    if not (number.is_integer() and least <= number < 2**64):
        raise ValueError(f"{name} is {given!r}; it must be a whole number of at least {least}")
    return int(given)


def as_bytes(given: Any, name: str) -> bytes:
    """Returns a text or a path as the bytes that the library takes."""
    try:
        return os.fsencode(given)
    except TypeError:
        raise TypeError(f"{name} is {given!r}; it must be a text or a path") from None


def as_pair(given: Any, what: str) -> tuple[Any, Any]:
    """Returns the two values that a user's function returned."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError(f"{what}, not {given!r:.60}")
    return given[0], given[1]
