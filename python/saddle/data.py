"""Data sets from arrays.

Dense rows that are C-contiguous float64, and sparse CSR rows with float64 values, are used in
place; other arrays are converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array
from ._library import Array, ffi, lib
from .errors import check

__all__ = ["dataset"]


def pointer(array: Array, kind: str) -> Any:
    """Returns the address of an array as a C pointer; the array must be kept alive."""
    return ffi.cast(kind, array.ctypes.data)


def _labels(y: Any, rows: int) -> Array | None:
    if y is None:
        return None
    labels = np.ascontiguousarray(as_array(y, "y"))
    if labels.shape != (rows,):
        raise ValueError(f"y has the shape {labels.shape}; as X has {rows} rows, give ({rows},)")
    return labels


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def _check_csr(X: Any) -> None:
    """Refuses arrays that are not those of a CSR matrix. SciPy's functions do not check them, and
    the library cannot check lengths."""
    start, column = X.indptr, X.indices
    stored = min(len(column), len(X.data))
    if start.shape != (X.shape[0] + 1,):
        raise ValueError(
            f"X.indptr has the shape {start.shape}; as X has {X.shape[0]} rows, it must be "
            f"({X.shape[0] + 1},)"
        )
    wrong = np.flatnonzero((start < 0) | (start > stored) | (start < np.append(0, start[:-1])))
    if len(wrong) > 0 or start[0] != 0:
        k = wrong[0] if len(wrong) > 0 else 0
        raise ValueError(
            f"X.indptr[{k}] is {start[k]}; the offsets of a CSR matrix begin at 0, do not "
            f"decrease, and are at most {stored}, the number of its entries"
        )
    used = column[: start[-1]]
    if used.max(initial=0) >= X.shape[1] or used.min(initial=0) < 0:
        k = np.flatnonzero((used < 0) | (used >= X.shape[1]))[0]
        raise ValueError(f"X.indices[{k}] is {used[k]}; columns are 0 to {X.shape[1] - 1}")


def _names(X: Any) -> list[str]:
    """Returns the names of a DataFrame's columns; an empty list if they are not all text."""
    names = list(getattr(X, "columns", []))
    return names if all(isinstance(name, str) for name in names) else []


def dataset(X: Any, y: Any, keep: Callbacks) -> Any:
    """Returns a saddle_dataset that borrows the arrays; `keep` keeps them alive."""
    out = ffi.new("saddle_dataset **")
    names = _names(X)
    arrays: tuple[Any, ...]
    form: tuple[Any, ...]
    if _is_sparse(X):
        X = X.tocsr()
        if X.shape[1] > 2**32:
            raise ValueError(f"X has {X.shape[1]} columns; it can have at most 2**32")
        _check_csr(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        start = np.ascontiguousarray(X.indptr, dtype=np.uintp)
        column = np.ascontiguousarray(X.indices)
        column = column.view(np.uint32) if column.itemsize == 4 else column.astype(np.uint32)
        value = np.ascontiguousarray(as_array(X.data, "X"))
        labels = _labels(y, X.shape[0])
        arrays = (start, column, value, labels)
        kinds = ("size_t *", "uint32_t *", "double *")
        form = tuple(map(pointer, (start, column, value), kinds))
        make = lib.saddle_dataset_from_csr
    else:
        given = as_array(X, "X")
        if given.ndim != 2:
            raise ValueError(f"X has the shape {given.shape}; it must have rows and columns")
        X = dense = np.ascontiguousarray(given)
        labels = _labels(y, X.shape[0])
        arrays = (dense, labels)
        form = (pointer(dense, "double *"),)
        make = lib.saddle_dataset_from_dense
    label = ffi.NULL if labels is None else pointer(labels, "double *")
    check(make, out, X.shape[0], X.shape[1], *form, label, lib.SADDLE_BORROW)
    keep.keep(arrays)
    data = keep.keep(ffi.gc(out[0], lib.saddle_dataset_free))
    if names:
        texts = [ffi.new("char[]", name.encode()) for name in names]
        check(lib.saddle_dataset_name_features, data, ffi.new("char *[]", texts))
    return data
