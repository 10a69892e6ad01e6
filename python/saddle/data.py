"""Data sets from arrays and DataFrames.

Dense rows that are C-contiguous float64, and sparse CSR rows with float64 values, are used in
place; other arrays are converted. Columns of text become features as those of a CSV file do.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array, as_texts, is_frame, on_processor
from ._library import Array, ffi, lib, text
from .errors import check

__all__ = ["Columns", "dataset"]


def pointer(array: Array, kind: str) -> Any:
    """Returns the address of an array as a C pointer; the array must be kept alive."""
    return ffi.cast(kind, array.ctypes.data)


class Column(NamedTuple):
    """The name of a column or a label, and its categories in ascending order."""

    name: str | None
    texts: list[str] | None
    """None: a column of numbers."""

    def codes(self, given: Any) -> Array:
        """Returns the number of each text's category."""
        known = np.array(self.texts)
        what = "a column" if self.name is None else repr(self.name)
        found = as_texts(given, what)
        if found is None:
            raise TypeError(
                f"{what} has numbers, but {', '.join(map(repr, self.texts or []))} in the training "
                "data; give these"
            )
        place = np.minimum(np.searchsorted(known, found), len(known) - 1)
        wrong = np.flatnonzero(known[place] != found)
        if len(wrong) > 0:
            raise ValueError(
                f"{what} had no category {str(found[wrong[0]])!r} in the training data; it had "
                f"{', '.join(map(repr, self.texts or []))}; correct row {wrong[0]} or leave it out"
            )
        return place


def _column(name: str | None, parts: Sequence[Any], what: str) -> Column:
    """Returns the column whose values are in all these parts."""
    found = [texts for part in parts if (texts := as_texts(part, what)) is not None]
    if any(hasattr(part, "isna") and part.isna().any() for part in parts):
        raise ValueError(
            f"{what} has missing values; fill them in with .fillna(), or leave out their rows with "
            ".dropna()"
        )
    if not found:
        return Column(name, None)
    if len(found) < len(parts):
        raise TypeError(f"{what} has text in one part of the data and numbers in another")
    return Column(name, np.unique(np.concatenate(found)).tolist())


class Columns:
    """The columns of data in memory, and their label."""

    def __init__(self, columns: list[Column], label: Column) -> None:
        self.columns, self.label = columns, label
        self.has_texts = any(column.texts is not None for column in [*columns, label])

    @classmethod
    def of(cls, pairs: Sequence[tuple[Any, Any]], names: Sequence[str] | None) -> Columns:
        """Returns those of pairs (X, y) with the same columns.

        names
            of the columns of arrays
        """
        X, y = pairs[0]
        name = getattr(y, "name", None)
        label = Column(name if isinstance(name, str) else "", None)
        if y is not None:
            label = _column(label.name, [_flat(y) for _, y in pairs], "y")
        shape = getattr(X, "shape", None) or as_array(X, "X").shape
        width = shape[1] if len(shape) == 2 else 0
        if is_frame(X):
            own = list(X.columns)
            named = all(isinstance(name, str) for name in own)
            for other, _ in pairs:
                if not is_frame(other) or sorted(map(str, other.columns)) != sorted(map(str, own)):
                    raise ValueError(f"all DataFrames of data must have the columns {own}")
            columns = []
            for k, name in enumerate(own):
                places = [list(X.columns).index(name) if named else k for X, _ in pairs]
                parts = [X.iloc[:, place] for (X, _), place in zip(pairs, places)]
                columns.append(_column(name if named else None, parts, f"column {name!r}"))
            return cls(columns, label)
        if names is not None and len(names) != width:
            raise ValueError(f"feature_names has {len(names)} names, but X has {width} columns")
        return cls([Column(names[k] if names else None, None) for k in range(width)], label)

    @classmethod
    def of_model(cls, c: Any) -> Columns | None:
        """Returns those of a saddle_columns; None for NULL."""
        if not c:
            return None
        count = ffi.new("size_t *")

        def texts(found: Any) -> list[str] | None:
            return [text(found[k]) for k in range(count[0])] if found else None

        numbers = range(lib.saddle_columns_count(c))
        names = [text(lib.saddle_columns_name(c, k)) for k in numbers]
        columns = [Column(names[k], texts(lib.saddle_columns_texts(c, k, count))) for k in numbers]
        return cls(columns, Column("y", texts(lib.saddle_columns_label_texts(c, count))))

    def are_named(self) -> bool:
        """Returns whether columns have names; otherwise they may have numbers from 1."""
        numbers = (str(k + 1) for k in range(len(self.columns)))
        return any(c.name not in (None, number) for c, number in zip(self.columns, numbers))

    def features(self, X: Any) -> Any:
        """Returns rows as numbers. The columns of a DataFrame are found by their names; one of text
        becomes a feature for each category."""
        if not is_frame(X):
            return X
        names, own = [column.name for column in self.columns], list(X.columns)
        missing = [name for name in names if name not in set(own)]
        has_names = all(isinstance(name, str) for name in own) and self.are_named()
        if missing and has_names:
            raise ValueError(f"X has no column {missing[0]!r}, which the training data have")
        if not missing and names != own:
            X = X[names]
        if not any(column.texts for column in self.columns):
            return X
        if len(X.columns) != len(names):
            raise ValueError(f"X has {len(own)} columns, but the training data have {len(names)}")
        pairs = enumerate(self.columns)
        return _Sparse([self._numbers(column, X.iloc[:, k]) for k, column in pairs])

    @staticmethod
    def _numbers(column: Column, values: Any) -> tuple[int, Array]:
        """Returns the number of features of a column, 0 for numbers, and its numbers or codes."""
        if column.texts is None:
            return 0, as_array(values, f"column {column.name!r}")
        return len(column.texts), column.codes(values)

    def labels(self, y: Any, rows: int) -> Array | None:
        """Returns labels as numbers; those of text are the numbers of their categories."""
        if y is None:
            return None
        y = _flat(y)
        is_text = self.label.texts is not None
        given = self.label._replace(name="y").codes(y) if is_text else as_array(y, "y")
        labels = np.ascontiguousarray(given, dtype=np.float64)
        if labels.shape != (rows,):
            raise ValueError(
                f"y has the shape {labels.shape}; as X has {rows} rows, give ({rows},)"
            )
        return labels

    def name(self, data: Any) -> None:
        """Names the columns of a saddle_dataset, unless they are not those of its rows."""
        unnamed = not self.has_texts and all(column.name is None for column in self.columns)
        if unnamed or data.features != sum(len(c.texts or [""]) for c in self.columns):
            return
        alive: list[Any] = []

        def described(column: Column) -> dict[str, Any]:
            texts = [ffi.new("char[]", entry.encode()) for entry in column.texts or []]
            name = ffi.NULL if column.name is None else ffi.new("char[]", column.name.encode())
            listed = ffi.new("char *[]", texts) if texts else ffi.NULL
            alive.extend([texts, name, listed])
            return {"name": name, "text": listed, "texts": len(texts)}

        columns = ffi.new("saddle_column_names[]", [described(c) for c in self.columns])
        label = ffi.new("saddle_column_names *", described(self.label))
        check(lib.saddle_dataset_name_columns, data, len(self.columns), columns, label)


class _Sparse:
    """CSR rows of columns of numbers and of categories, as SciPy has them."""

    has_canonical_format = True

    def __init__(self, columns: list[tuple[int, Array]]) -> None:
        widths = np.array([max(count, 1) for count, _ in columns])
        first = np.cumsum(widths) - widths
        is_number = np.array([count == 0 for count, _ in columns])
        given = np.column_stack([values for _, values in columns]).astype(np.float64)
        index = first + np.where(is_number, 0.0, given)
        value = np.where(is_number, given, 1.0)
        stored = value != 0
        self.shape = (len(given), int(widths.sum()))
        self.indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
        self.indices, self.data = index[stored].astype(np.uint32), value[stored]
        self.nnz = len(self.data)

    def tocsr(self) -> _Sparse:
        return self


def _flat(y: Any) -> Any:
    """Returns labels without the second dimension of a single column."""
    shape = np.shape(y)
    return y if len(shape) != 2 or shape[1] != 1 else np.asarray(on_processor(y))[:, 0]


def _check_index(X: Any, y: Any) -> None:
    """Refuses labels whose index says that they belong to other rows."""
    both = is_frame(X) and hasattr(y, "iloc") and len(X) == len(y)
    if both and not X.index.equals(y.index):
        raise ValueError(
            "X and y have different indexes; give y.loc[X.index], or, if row k of y belongs to row "
            "k of X, y.to_numpy()"
        )


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


def dataset(X: Any, y: Any, keep: Callbacks, columns: Columns | None = None) -> Any:
    """Returns a saddle_dataset that borrows the arrays; `keep` keeps them alive.

    columns
        those of the training data; None: those of X and y
    """
    out = ffi.new("saddle_dataset **")
    _check_index(X, y)
    columns = columns or Columns.of([(X, y)], None)
    X = columns.features(X)
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
        labels = columns.labels(y, X.shape[0])
        arrays = (start, column, value, labels)
        kinds = ("size_t *", "uint32_t *", "double *")
        form = tuple(map(pointer, (start, column, value), kinds))
        make = lib.saddle_dataset_from_csr
    else:
        given = as_array(X, "X")
        if given.ndim != 2:
            raise ValueError(f"X has the shape {given.shape}; it must have rows and columns")
        X = dense = np.ascontiguousarray(given)
        labels = columns.labels(y, X.shape[0])
        arrays = (dense, labels)
        form = (pointer(dense, "double *"),)
        make = lib.saddle_dataset_from_dense
    label = ffi.NULL if labels is None else pointer(labels, "double *")
    check(make, out, X.shape[0], X.shape[1], *form, label, lib.SADDLE_BORROW)
    keep.keep(arrays)
    data = keep.keep(ffi.gc(out[0], lib.saddle_dataset_free))
    columns.name(data)
    return data
