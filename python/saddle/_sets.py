"""Constraint sets and regularizers from arrays and functions.

A set is a string such as "l2-ball:2", a pair (lower, upper) of bounds, or a function that returns
the projection of a vector. A regularizer is a string such as "l1:0.1" or a pair of functions:
value(x) and prox(x, step).
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array
from ._library import Array, ffi, lib
from .data import pointer
from .errors import InputError, check

__all__ = ["constraint_set", "regularizer", "vector"]


def vector(address: Any, length: int) -> Array:
    """Returns `length` doubles of the library's memory as an array, without a copy."""
    return np.frombuffer(ffi.buffer(address, 8 * length), dtype=np.float64)


def assign(target: Array, value: Any, what: str) -> None:
    """Copies what a user's function returned. Refuses a wrong shape instead of broadcasting it."""
    if value is None:
        raise TypeError(f"{what} is None; return an array")
    array = as_array(value, what)
    if array.shape != target.shape:
        raise ValueError(f"{what} has the shape {array.shape}; it must be {target.shape}")
    target[...] = array


def _box(name: str, bounds: Any, dimension: int, keep: Callbacks) -> Any:
    if not isinstance(bounds, (tuple, list, np.ndarray)) or len(bounds) != 2:
        raise TypeError(
            f"{name} is {bounds!r}; it must be a string such as 'l2-ball:2', a pair (lower, upper) "
            "of numbers, arrays or None, or a function that returns the projection of a vector"
        )
    out = ffi.new("saddle_set **")
    ends: list[Array | None] = []
    for bound in bounds:
        if bound is None:
            ends.append(None)
            continue
        values = as_array(bound, f"bounds of {name}")
        if values.ndim > 1 or (values.ndim == 1 and len(values) != dimension):
            raise ValueError(
                f"a bound of {name} has the shape {values.shape}; it must be ({dimension},)"
            )
        ends.append(np.ascontiguousarray(np.broadcast_to(values, dimension)))
    pointers = [ffi.NULL if end is None else pointer(end, "double *") for end in ends]
    try:
        check(lib.saddle_set_box, out, dimension, *pointers)
    except InputError as why:
        raise InputError(f"{name}: {why}") from None
    return keep.keep(ffi.gc(out[0], lib.saddle_set_free))


def _term(kind: Any, name: str, size: int, keep: Callbacks) -> None:
    kind.term.name = kind.term.synopsis = keep.keep(ffi.new("char[]", name.encode()))
    kind.term.size = size


def _own_set(_name: str, project: Callable[[Array], Any], dimension: int, keep: Callbacks) -> Any:
    def c_project(_set: Any, address: Any, _scratch: Any) -> None:
        v = vector(address, dimension)
        if not np.isnan(v).any():
            assign(v, project(v.copy()), "a projection")

    kind = keep.keep(ffi.new("saddle_set_class *"))
    _term(kind, getattr(project, "__name__", "python"), ffi.sizeof("saddle_set"), keep)
    keep.set(kind, "project", c_project)
    out = ffi.new("saddle_set **")
    check(lib.saddle_set_from_class, out, kind, ffi.NULL, ffi.NULL, dimension)
    return keep.keep(ffi.gc(out[0], lib.saddle_set_free))


def constraint_set(name: str, given: Any, dimension: int, keep: Callbacks) -> Any:
    """Returns a saddle_set from bounds or a projection."""
    return (_own_set if callable(given) else _box)(name, given, dimension, keep)


def regularizer(given: Any, dimension: int, keep: Callbacks) -> Any:
    """Returns a saddle_regularizer from a pair of functions: value(x), prox(x, step)."""
    if not (isinstance(given, tuple) and len(given) == 2 and all(map(callable, given))):
        raise TypeError(
            f"regularizer is {given!r}; it must be a string such as 'l1:0.1' or a pair of "
            "functions (value, prox)"
        )
    value, prox = given

    def c_value(_self: Any, address: Any) -> float:
        return float(value(vector(address, dimension).copy()))

    def c_shrink(_self: Any, step: float, address: Any) -> None:
        v = vector(address, dimension)
        if not np.isnan(v).any():
            assign(v, prox(v.copy(), step), "a prox")

    kind = keep.keep(ffi.new("saddle_regularizer_class *"))
    _term(kind, getattr(value, "__name__", "python"), ffi.sizeof("saddle_regularizer"), keep)
    keep.set(kind, "value", c_value, float("nan"))
    keep.set(kind, "shrink", c_shrink)
    out = ffi.new("saddle_regularizer **")
    check(lib.saddle_regularizer_from_class, out, kind, ffi.NULL, ffi.NULL, dimension)
    return keep.keep(ffi.gc(out[0], lib.saddle_regularizer_free))
