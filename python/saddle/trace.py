"""Traces: the measurements of a run, column by column."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

import numpy as np

from ._library import Array, ffi, lib, text

__all__ = ["Trace"]


# Names of columns in the program and in papers.
ALIASES = {"samples": "ifo", "iterations": "iteration"}


class Trace(Mapping[str, Array]):
    """The columns of a trace as arrays: `trace["metric"]` or `trace.metric`.

    iteration, ifo (gradient evaluations, also called samples), rounds, messages and bytes are
    integers; a cell that was not measured is NaN. Some columns are optional: network_seconds (with
    a link_model), age (with links that are not reliable, or with churn), present and components
    (with churn).
    """

    def __init__(self, columns: Mapping[str, Array]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> Array:
        try:
            return self._columns[ALIASES.get(name, name)]
        except KeyError:
            raise KeyError(f"the trace has no column {name!r}; it has {', '.join(self)}") from None

    def __getattr__(self, name: str) -> Array:
        try:
            return self.__dict__["_columns"][ALIASES.get(name, name)]
        except KeyError:
            raise AttributeError(f"the trace has no column {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<saddle.Trace of {len(self['iteration'])} rows: {', '.join(self)}>"

    def to_pandas(self) -> Any:
        """Returns the trace as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns)


def _row_type() -> np.dtype[Any]:
    """Returns the type of saddle_row, with the columns in their order."""
    places = {}
    for name, field in ffi.typeof("saddle_row").fields:
        parts = field.type.fields if field.type.kind == "struct" else [(name, None)]
        for part, inner in parts:
            at = field.offset + (inner.offset if inner else 0)
            whole = "int" in (inner or field).type.cname
            places[part] = (at, np.uint64 if whole else np.float64)
    names = [text(lib.saddle_trace_column_name(k)) for k in range(lib.SADDLE_TRACE_COLUMNS)]
    return np.dtype(
        {
            "names": names,
            "formats": [places[name][1] for name in names],
            "offsets": [places[name][0] for name in names],
            "itemsize": ffi.sizeof("saddle_row"),
        }
    )


ROW = _row_type()
# Columns that only some runs have.
OPTIONAL = ("network_seconds", "age", "present", "components")


def row_of(result: Any, row: Any) -> dict[str, float]:
    """Returns a saddle_row, with the outcomes of the last row of a saddle_result, as a dict."""
    cells = np.frombuffer(ffi.buffer(row, ffi.sizeof("saddle_row")), dtype=ROW)[0]
    out = {name: cells[name].item() for name in ROW.names or ()}
    out = {name: cell for name, cell in out.items() if name not in OPTIONAL or cell == cell}
    count = result.outcome_count
    for k in range(count):
        cell = result.outcomes[(result.row_count - 1) * count + k]
        out[text(result.outcome[k].name)] = float(cell)
    return out


def trace_of(result: Any) -> Trace:
    """Returns the trace of a saddle_result."""
    size = result.row_count * ffi.sizeof("saddle_row")
    rows = np.frombuffer(ffi.buffer(result.rows, size), dtype=ROW)
    columns = {}
    for name in ROW.names or ():
        if name in OPTIONAL and np.isnan(rows[name]).all():
            continue
        kind = np.int64 if rows[name].dtype == np.uint64 else np.float64
        columns[name] = rows[name].astype(kind)
    count = result.outcome_count
    if count > 0:
        cells = np.frombuffer(ffi.buffer(result.outcomes, 8 * count * result.row_count))
        for k, cell in enumerate(cells.reshape(-1, count).T):
            columns[text(result.outcome[k].name)] = cell.copy()
    return Trace(columns)
