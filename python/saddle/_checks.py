"""Checks of arguments. Messages name the argument, its value and the remedy."""

from __future__ import annotations

import datetime
import os
from typing import Any

import numpy as np

from ._library import Array

__all__ = ["as_array", "as_bytes", "as_integer", "as_pair", "as_real", "as_texts", "is_frame"]


_TEXT = (
    "text; convert numbers with .astype(float), and names with "
    "np.unique(names, return_inverse=True)[1]"
)
# What arrays contain that have these kinds of dtype, and the remedy.
_NOT_NUMBERS = {
    "c": "complex; give real and imaginary parts as separate numbers",
    "M": "a date; give the time since a date, (t - t.min()) / np.timedelta64(1, 'D')",
    "m": "a time; divide it by a unit, as by np.timedelta64(1, 's')",
    "U": _TEXT,
    "S": _TEXT,
    "V": "a record; give a column for each field",
}
MOST_EXACT = 2**53
"""Up to this absolute value float64 has every integer."""


def _check_kinds(array: Array) -> None:
    """Refuses what is not a number, although numpy converts it to float64."""
    examples: Any = array.flat if array.dtype.kind == "O" else array.flat[:1]
    for entry in {type(entry): entry for entry in examples}.values():
        kind = np.asarray(entry).dtype.kind
        if isinstance(entry, datetime.date):  # and pandas.Timestamp
            kind = "M"
        elif isinstance(entry, datetime.timedelta):
            kind = "m"
        what = _NOT_NUMBERS.get(kind)
        if what is not None:
            shown = str(entry) if isinstance(entry, str) else entry  # not as np.str_('0')
            raise TypeError(f"{shown!r:.60} is {what}")


def _check_integers(array: Array, name: str) -> None:
    """Refuses integers that float64 may not have."""
    whole: Any = array
    if array.dtype.kind == "O":
        whole = [entry for entry in array.flat if isinstance(entry, int)] or [0]
    for extreme in (int(np.max(whole)), int(np.min(whole))):
        if abs(extreme) > MOST_EXACT:
            raise ValueError(
                f"{name} has the integer {extreme}, but float64 has all integers only up to 2**53; "
                "if rounding does no harm, convert them with .astype(float)"
            )


def on_processor(given: Any) -> Any:
    """Returns a PyTorch tensor on a card as one in memory; anything else as it is."""
    place = getattr(getattr(given, "device", None), "type", "cpu")
    return given.detach().cpu() if place != "cpu" and hasattr(given, "detach") else given


def as_array(given: Any, name: str) -> Array:
    """Returns numbers as a float64 array, without a copy if they already are one. Refuses what is
    not a number, or not exactly a float64, although numpy converts it."""
    if type(given) is np.ndarray and given.dtype == np.float64:
        return given
    given = on_processor(given)
    if is_frame(given) and any(kind != np.float64 for kind in given.dtypes):
        # One by one: together, integers beside floats would be rounded before they are checked.
        places = range(given.shape[1])
        columns = [as_array(given.iloc[:, k], f"column {given.columns[k]!r}") for k in places]
        return np.column_stack(columns)
    parts = given if isinstance(given, (list, tuple)) else [given]
    if any(isinstance(part, np.ma.MaskedArray) and np.any(part.mask) for part in parts):
        raise ValueError(
            f"{name} has masked entries; fill them in, as by .filled(0), or leave out their rows"
        )
    try:
        array = np.asarray(given)
        _check_kinds(array)
        out = np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as why:
        raise TypeError(f"{name} must be an array of real numbers: {why}") from None
    if array.dtype.kind in "iuO" and array.size > 0:
        _check_integers(array, name)
    return out


def is_frame(given: Any) -> bool:
    """Returns whether it is a DataFrame."""
    return hasattr(given, "columns") and hasattr(given, "iloc")


def as_texts(given: Any, name: str) -> Array | None:
    """Returns text, or categories, as an array of str; None if the values are not text, or are
    numbers written as text, which as_array() refuses."""
    kind = getattr(given, "dtype", None)
    array = np.asarray(on_processor(given))
    if getattr(kind, "name", "") == "category":
        named = [entry if _is_missing(entry) else str(entry) for entry in array]
        return _all_texts(np.array(named, dtype=object), name)
    texts = array if array.dtype.kind == "U" else _all_texts(array, name)
    return None if texts is None or _is_number(texts.flat[0]) else texts


def _is_missing(entry: Any) -> bool:
    """Returns whether it is None, NaN, or pandas.NA, whose comparisons are not bools."""
    return entry is None or type(entry).__name__ == "NAType" or bool(entry != entry)


def _is_number(entry: str) -> bool:
    try:
        return float(entry) == float(entry)
    except ValueError:
        return False


def _all_texts(array: Array, name: str) -> Array | None:
    """Returns an array of objects as str if they are; None if none is. Refuses some and some."""
    if array.dtype.kind != "O":
        return None
    are_texts = [isinstance(entry, str) for entry in array.flat]
    if not any(are_texts):
        return None
    if all(are_texts):
        return array.astype(str)
    other = array.flat[are_texts.index(False)]
    if _is_missing(other):
        raise ValueError(f"{name} has missing values; fill them in, or leave out their rows")
    raise TypeError(f"{name} has text, but also {other!r:.60}; convert all with .astype(str)")


def as_real(given: Any, name: str) -> float:
    """Returns a number."""
    try:
        if isinstance(given, (str, bytes, np.datetime64, np.timedelta64)):
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
