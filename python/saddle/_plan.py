"""Making a saddle_plan from keyword arguments."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array, as_bytes, is_frame
from ._library import ffi, lib, new_plan, text
from .data import Columns, dataset, pointer
from .errors import Error, check
from .graphs import Network
from .option_table import as_text, is_known, unknown_keyword
from ._sets import constraint_set, regularizer

__all__ = ["Plan"]


# Options for reading files, and what does the same in memory.
_OF_FILES = {
    "drop_columns": "leave columns out with frame.drop(columns=[...])",
    "category_columns": "convert columns with frame.astype({'column': 'category'})",
    "categories": "text has a feature per category; .cat.codes are numbers",
    "missing": "fill values in with frame.fillna(), or leave rows out with frame.dropna()",
}
# The option of a problem that `feature_index` gives.
_OF_INDEX = {"fair": "sensitive", "group-dro": "groups"}


def _is_pair(value: Any) -> bool:
    """Returns whether it is (X, y). Refuses rows without labels, which would be fitted as zeros."""
    if isinstance(value, tuple) and len(value) == 2 and value[1] is None:
        raise TypeError("data needs labels: give y in (X, y)")
    return isinstance(value, tuple) and len(value) == 2


def _without_label(frame: Any, label: Any, name: str) -> tuple[Any, Any]:
    """Returns the other columns of a DataFrame, and its label column: that of a name, of a number
    from 1, "first" or "last"."""
    names = list(frame.columns)
    place: Any = {"first": 0, "last": len(names) - 1}.get(label) if label not in names else None
    if place is None:
        place = names.index(label) if label in names else int(label) - 1 if _is_int(label) else -1
    if not 0 <= place < len(names):
        raise ValueError(
            f"label_column is {label!r}; {name} has the columns {', '.join(map(str, names))}"
        )
    if names.count(names[place]) > 1:
        raise ValueError(f"two columns of {name} are called {names[place]!r}; rename one of them")
    return frame.drop(columns=[names[place]]), frame.iloc[:, place]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) or str(value).isdecimal()


def _tuples(value: Any, name: str, example: str) -> list[Any]:
    """Returns a list of tuples."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(v, (list, tuple)) for v in value):
        raise TypeError(f"{name} is {value!r:.60}; give a text, or a list such as {example}")
    return list(value)


def _column_at(index: Any, X: Any) -> str:
    """Returns what the library calls the column X[:, index]; "label" stays what it is."""
    if isinstance(index, str) and index == "label":
        return index
    count = np.shape(X)[1] if np.ndim(X) == 2 else 0
    if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
        raise TypeError(f"feature_index is {index!r}; it counts columns from 0")
    if not 0 <= index < count:
        raise ValueError(f"feature_index is {index}; X has the columns 0 to {count - 1}")
    return str(X.columns[index]) if is_frame(X) else str(index + 1)


def _flattened(costs: Mapping[str, Any]) -> list[Any]:
    """Returns names and values in turn."""
    return [entry for pair in costs.items() for entry in pair]


def _field(value: Any) -> str:
    return value if isinstance(value, str) else as_text("a field", value)


class Plan:
    """A saddle_plan. `keep` keeps the objects in memory alive."""

    def __init__(self, keep: Callbacks) -> None:
        self.keep = keep
        self.c = new_plan(lib)
        self.with_dimensions: dict[str, Any] = {}
        """Sets and regularizer that need the lengths of x and y."""
        self.label_column: Any = "last"
        self.feature_names: Any = None
        self.columns: Columns | None = None
        """The columns of data in memory."""
        self.temporary: dict[str, str] = {}
        """Files of objects in memory, which users do not know, and their keywords."""

    def copy(self, keep: Callbacks) -> Plan:
        """Returns a copy, which shares the objects in memory."""
        out = Plan(keep)
        out.temporary = self.temporary
        keep.keep(self)
        check(lib.saddle_plan_copy, out.c, self.c)
        return out

    def set(self, name: str, value: Any) -> None:
        """Sets an option of the library by its name, from text, number, bool, path or list."""
        text = as_text(name.replace("-", "_"), value)
        if "\0" in text:
            raise ValueError(f"{name.replace('-', '_')}: {text!r} contains a NUL character")
        check(lib.saddle_plan_set, self.c, name.encode(), as_bytes(text, name))

    def set_keywords(self, function: str, keywords: dict[str, Any]) -> None:
        """Sets options by keywords; None means not given. Options that can be objects in memory
        have a method _set_KEYWORD."""
        others = self.set_known(keywords)
        for keyword in others:
            raise unknown_keyword(keyword, function, self.c)

    def set_known(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Sets the options that the library or a plug-in of the plan has; returns the others."""
        keywords = self._take_names(keywords)
        for keyword, value in keywords.items():
            own = getattr(self, f"_set_{keyword}", None)
            if value is None or not is_known(keyword):
                continue
            if own is None or isinstance(value, str):
                self.set(keyword.replace("_", "-"), value)
            else:
                own(value)
        # Options of plug-ins come last, when all plug-ins are named.
        others = {name: value for name, value in keywords.items() if not is_known(name)}
        return {name: value for name, value in others.items() if not self._set_own(name, value)}

    def _take_names(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Takes the keywords that say what is in arrays and DataFrames; returns the others."""
        data = keywords.get("data")
        in_memory = not (data is None or isinstance(data, str) or hasattr(data, "__fspath__"))
        taken = {"feature_names", "feature_index"}
        if in_memory and keywords.get("label_column") is not None:
            if not any(map(is_frame, _listed(data))):
                raise TypeError("label_column is for files and DataFrames; (X, y) has its labels")
            self.label_column = keywords["label_column"]
            taken.add("label_column")
        for name, remedy in _OF_FILES.items():
            if in_memory and keywords.get(name) is not None:
                raise TypeError(f"{name} is for files; {remedy}")
        if keywords.get("feature_index") is not None:
            keywords = self._with_index(keywords, in_memory)
        self.feature_names = keywords.get("feature_names")
        if self.feature_names is not None and not in_memory:
            raise TypeError("feature_names is for arrays; others have their names")
        return {name: value for name, value in keywords.items() if name not in taken}

    def _with_index(self, keywords: dict[str, Any], in_memory: bool) -> dict[str, Any]:
        """Returns keywords with the option that feature_index gives."""
        option = _OF_INDEX.get(text(self.c.problem.name))
        if option is None or not in_memory or keywords.get(option) is not None:
            raise TypeError(
                "feature_index=k chooses the column X[:, k] of data in memory, instead of "
                "sensitive of 'fair' or groups of 'group-dro'"
            )
        first = next((own for own in _listed(keywords["data"]) if own is not None), None)
        X = first if is_frame(first) else self._pair(first, "data")[0]
        columns = [_column_at(index, X) for index in _listed(keywords["feature_index"])]
        return {**keywords, option: ",".join(columns)}

    def _set_own(self, keyword: str, value: Any) -> bool:
        """Sets an option of a plug-in; returns whether there is one of this name."""
        check(lib.saddle_plan_load_plugins, self.c)
        if "-" in keyword or not self.option(keyword):
            return False
        if value is not None:
            self.set(keyword.replace("_", "-"), value)
        return True

    def option(self, keyword: str) -> Any:
        """Returns the saddle_option of a keyword; NULL if there is none."""
        return lib.saddle_plan_find(self.c, keyword.replace("_", "-").encode())

    def resume(self) -> None:
        """Takes the options that are not given from the checkpoint that `resume` names."""
        check(lib.saddle_plan_resume, self.c, ffi.NULL)

    # ---- options that can be objects in memory -------------------------------------------------

    def _pair(self, value: Any, name: str) -> tuple[Any, Any]:
        """Returns (X, y) of a pair, or of a DataFrame with a label column."""
        if is_frame(value):
            return _without_label(value, self.label_column, name)
        if _is_pair(value):
            return value[0], value[1]
        if isinstance(value, (str, os.PathLike)):
            raise TypeError(
                f"{name}: {value!r:.60} is in a list; name the files of all agents by a pattern "
                "such as 'site-%d.csv', or read them: [pandas.read_csv(path) for path in paths]"
            )
        raise TypeError(
            f"{name} takes a name or path, a pair (X, y), a DataFrame"
            + (", or a list of them, one per agent, " if name == "data" else ", ")
            + f"not {type(value).__name__}"
        )

    def _set_data(self, value: Any) -> None:
        if hasattr(value, "__fspath__"):
            self.set("data", value)
            return
        listed = _listed(value)
        pairs = [None if own is None else self._pair(own, "data") for own in listed]
        given = [pair for pair in pairs if pair is not None]
        if not listed:
            raise TypeError("a list of data must have a pair (X, y) for each agent")
        if given:
            self.columns = Columns.of(given, self.feature_names)
        if self.columns is not None and self.columns.has_texts and len(given) < len(pairs):
            raise TypeError(
                "data: columns of text need the rows of all agents in every process; give numbers, "
                "or one CSV file per agent"
            )
        sets = [ffi.NULL if p is None else dataset(*p, self.keep, self.columns) for p in pairs]
        if not isinstance(value, list):
            self.c.problem.rows = sets[0]
            return
        self.c.problem.shards = self.keep.keep(ffi.new("saddle_dataset *[]", sets))
        self.c.problem.shard_count = len(sets)
        if self.c.network.agents == 0:
            self.set("agents", len(sets))

    def _set_test_data(self, value: Any) -> None:
        if hasattr(value, "__fspath__"):
            self.set("test-data", value)
            return
        X, y = self._pair(value, "test_data")
        self.c.problem.test_rows = dataset(X, y, self.keep, self.columns)

    def set_network(self, topology: Any, mixing: Any) -> None:
        """Sets topology and mixing, each a text or an object."""
        if isinstance(topology, str):
            if not (mixing is None or isinstance(mixing, str)):
                raise TypeError(
                    "a matrix of weights has its own network; leave topology out, or give edges"
                )
            self.set("topology", topology)
            topology = None
        by_rule = isinstance(mixing, str)
        if by_rule:
            self.set("mixing", mixing)
            mixing = None
        if topology is None and mixing is None:
            return
        given = self.c.network.agents or None
        network = Network(topology, given, mixing, self.keep)
        self.c.network.graph = network.graph
        if not by_rule:
            self.c.network.weights = network.weights
        if given is None:
            self.set("agents", network.agents)

    def _set_file(self, option: str, prefix: str, lines: Iterable[Sequence[Any]]) -> None:
        """Sets an option that names a file, to a temporary file of these lines of fields."""
        directory = tempfile.mkdtemp(prefix="saddle-")
        weakref.finalize(self.keep, shutil.rmtree, directory, True)
        path = os.path.join(directory, f"{option}.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(" ".join(map(_field, line)) + "\n" for line in lines)
        self.temporary[path] = option.replace("-", "_")
        self.set(option, prefix + path)

    def without_files(self, message: str) -> str:
        """Returns a message of the library with keywords in place of temporary files."""
        for path, keyword in self.temporary.items():
            message = message.replace(f"{keyword}: {path}", path).replace(f"'{path}'", keyword)
            message = re.sub(re.escape(path) + r":(\d+)(:\d+)?", keyword + r" (line \1)", message)
            message = message.replace(path, keyword)
        return message

    def hide_files(self, why: BaseException) -> None:
        """Removes temporary files from the message of an error of the library."""
        if isinstance(why, Error):
            why.args = (self.without_files(str(why)),)

    def _set_churn(self, value: Any) -> None:
        example = "[(100, 'leave', 3), (200, 'return', 3), (300, 'cut', 0, 1)]"
        if hasattr(value, "__fspath__"):
            self.set("churn", value)
        else:
            self._set_file("churn", "", _tuples(value, "churn", example))

    def _set_links(self, value: Any) -> None:
        example = "[(0, 0, 1), (0, 2, 3), (5, 1, 2)]"
        self._set_file("links", "schedule:", _tuples(value, "links", example))

    def _set_link_model(self, value: Any) -> None:
        if hasattr(value, "__fspath__"):
            self.set("link-model", value)
            return
        if not isinstance(value, Mapping):
            raise TypeError(
                f"link_model is {value!r:.60}; give a text, a path, or a dict such as "
                "{'latency': 0.02, 3: {'compute': 1e-5}, (0, 3): {'latency': 0.3}}"
            )
        default = {name: cost for name, cost in value.items() if isinstance(name, str)}
        lines: list[list[Any]] = [["default", *_flattened(default)]] if default else []
        for who, own in value.items():
            if isinstance(who, str):
                continue
            place = ["edge", *who] if isinstance(who, tuple) else ["agent", who]
            lines.append([*place, *_flattened(own)])
        self._set_file("link-model", "", lines)

    def _start(self, value: Any, name: str) -> tuple[Any, int]:
        start = self.keep.keep(np.ascontiguousarray(as_array(value, name)).ravel())
        return pointer(start, "double *"), len(start)

    def _set_init_x(self, value: Any) -> None:
        self.c.start.x, self.c.start.x_length = self._start(value, "init_x")

    def _set_init_y(self, value: Any) -> None:
        self.c.start.y, self.c.start.y_length = self._start(value, "init_y")

    def _set_x_set(self, value: Any) -> None:
        self.with_dimensions["x_set"] = value

    def _set_y_set(self, value: Any) -> None:
        self.with_dimensions["y_set"] = value

    def _set_regularizer(self, value: Any) -> None:
        self.with_dimensions["regularizer"] = value

    def set_dimensions(self, x_dim: int, y_dim: int) -> None:
        """Makes the sets and the regularizer that are not texts."""
        for keyword, value in self.with_dimensions.items():
            if keyword == "regularizer":
                self.c.problem.own_regularizer = regularizer(value, x_dim, self.keep)
            elif keyword == "x_set":
                self.c.problem.own_x_set = constraint_set(keyword, value, x_dim, self.keep)
            else:
                self.c.problem.own_y_set = constraint_set(keyword, value, y_dim, self.keep)
        self.with_dimensions = {}
