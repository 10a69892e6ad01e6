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


def _is_masked(array: Any) -> bool:
    return isinstance(array, np.ma.MaskedArray) and bool(np.any(array.mask))


def _labels(y: Any, rows: int) -> Array | None:
    if y is None:
        return None
    if _is_masked(y):
        raise ValueError("y has masked entries; leave out the rows without a label")
    labels = np.ascontiguousarray(as_array(y, "y"))
    if labels.shape != (rows,):
        raise ValueError(f"y has the shape {labels.shape}; as X has {rows} rows, give ({rows},)")
    return labels


def _is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def dataset(X: Any, y: Any, keep: Callbacks) -> Any:
    """Returns a saddle_dataset that borrows the arrays; `keep` keeps them alive."""
    out = ffi.new("saddle_dataset **")
    arrays: tuple[Any, ...]
    form: tuple[Any, ...]
    if _is_sparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        stored = min(len(X.indices), len(X.data))  # the library cannot check lengths
        if len(X.indptr) != X.shape[0] + 1 or X.indptr[-1] > stored:
            raise ValueError("X is not a valid CSR matrix; X.check_format() says why")
        start = np.ascontiguousarray(X.indptr, dtype=np.uintp)
        if X.shape[1] > 2**32:
            raise ValueError(f"X has {X.shape[1]} columns; it can have at most 2**32")
        column = np.ascontiguousarray(X.indices)
        if column.max(initial=0) >= X.shape[1] or column.min(initial=0) < 0:
            raise ValueError(f"X has a column index that is not from 0 to {X.shape[1] - 1}")
        column = column.view(np.uint32) if column.itemsize == 4 else column.astype(np.uint32)
        value = np.ascontiguousarray(as_array(X.data, "X"))
        labels = _labels(y, X.shape[0])
        arrays = (start, column, value, labels)
        kinds = ("size_t *", "uint32_t *", "double *")
        form = tuple(map(pointer, (start, column, value), kinds))
        make = lib.saddle_dataset_from_csr
    else:
        if _is_masked(X):
            raise ValueError("X has masked entries; fill them in: X.filled(0)")
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
    return keep.keep(ffi.gc(out[0], lib.saddle_dataset_free))
