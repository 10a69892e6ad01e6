"""Lists of what the library has, as small tables: problems, algorithms, networks, sets."""

from __future__ import annotations

from html import escape
from textwrap import shorten
from typing import Any, Callable, Iterator, Mapping, TypeVar

from ._library import ffi, lib, text

__all__ = ["Table", "algorithms", "mixings", "problems", "regularizers", "sets", "topologies"]

Row = TypeVar("Row")
WIDEST = 70
"""The most characters of a cell in a terminal."""


class Table(Mapping[str, Row]):
    """Rows by name: list(table) are the names, and table["name"] is a row.

    A notebook shows it as a table; to_pandas() makes a DataFrame.
    """

    def __init__(self, rows: Mapping[str, Row], cells: Callable[[Row], dict[str, Any]]) -> None:
        self._rows = dict(rows)
        self._cells = [cells(row) for row in self._rows.values()]

    def __getitem__(self, name: str) -> Row:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        names = list(self._cells[0]) if self._cells else []
        shown = [[shorten(_cell(row[name]), WIDEST) for name in names] for row in self._cells]
        widths = [max(map(len, column)) for column in zip(names, *shown)]
        lines = [names, *shown]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        names = list(self._cells[0]) if self._cells else []
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        rows = (
            "".join(
                f'<td style="text-align: left">{escape(_cell(row[name]))}</td>' for name in names
            )
            for row in self._cells
        )
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    def to_pandas(self) -> Any:
        """Returns the table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self._cells)


def _cell(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def listed(function: Any) -> list[Any]:
    """Returns what a function of the library lists."""
    count = ffi.new("size_t *")
    found = function(count)
    return [found[k] for k in range(count[0])]


def _table(rows: list[dict[str, Any]]) -> Table[dict[str, Any]]:
    return Table({row["name"]: row for row in rows}, dict)


def problems() -> Table[dict[str, Any]]:
    """Returns the built-in problems, with the labels that they need.

    >>> import saddle
    >>> saddle.problems()["auc"]["labels"]
    'two classes'
    """
    labels = {
        lib.SADDLE_LABELS_SIGNS: "two classes",
        lib.SADDLE_LABELS_CLASSES: "classes",
        lib.SADDLE_LABELS_REAL: "numbers",
    }
    return _table(
        [
            {
                "name": text(kind.name),
                "labels": labels[kind.labels] if kind.needs_data else "no data",
                "summary": text(kind.summary),
            }
            for kind in listed(lib.saddle_problem_list)
        ]
    )


def algorithms() -> Table[dict[str, Any]]:
    """Returns the built-in algorithms, and what they can handle.

    >>> import saddle
    >>> [name for name, row in saddle.algorithms().items() if not row["x_set"]]
    ['sreda', 'sreda-boost']
    """
    return _table(
        [
            {
                "name": text(a.name),
                "title": text(a.title),
                "decentralized": not a.traits.centralized,
                "stochastic": bool(a.traits.stochastic),
                "x_set": bool(a.traits.x_set),
                "y_set": bool(a.traits.y_set),
                "regularizer": bool(a.traits.regularizer),
                "summary": text(a.summary),
                "citation": text(a.citation),
                "assumes": text(a.traits.assumes),
            }
            for a in listed(lib.saddle_algorithm_list)
        ]
    )


def _written(entries: list[Any]) -> Table[dict[str, Any]]:
    """Returns a table of what is written as a text such as "grid:RxC"."""
    return _table(
        [
            {"name": synopsis.split(":")[0].split("[")[0], "written": synopsis, "summary": summary}
            for synopsis, summary in ((text(e.synopsis), text(e.summary)) for e in entries)
        ]
    )


def topologies() -> Table[dict[str, Any]]:
    """Returns the networks that `topology` can be.

    >>> import saddle
    >>> saddle.topologies()["torus"]["written"]
    'torus:RxC'
    """
    return _written(listed(lib.saddle_topology_list))


def mixings() -> Table[dict[str, Any]]:
    """Returns the rules that `mixing` can be."""
    return _written(listed(lib.saddle_mixing_list))


def sets() -> Table[dict[str, Any]]:
    """Returns the constraint sets that `x_set` and `y_set` can be."""
    return _written([kind.term for kind in listed(lib.saddle_set_list)])


def regularizers() -> Table[dict[str, Any]]:
    """Returns what `regularizer` can be."""
    return _written([kind.term for kind in listed(lib.saddle_regularizer_list)])
