"""Making a saddle_plan from keyword arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._callbacks import Callbacks
from ._checks import as_array, as_bytes
from ._library import ffi, lib, new_plan
from .data import dataset, pointer
from .errors import check
from .graphs import Network
from .option_table import as_text, is_known, unknown_keyword
from .sets import constraint_set, regularizer

__all__ = ["Plan"]


def _is_pair(value: Any) -> bool:
    """Returns whether it is (X, y). Refuses rows without labels, which would be fitted as zeros."""
    if isinstance(value, tuple) and len(value) == 2 and value[1] is None:
        raise TypeError("data needs labels: give y in (X, y)")
    return isinstance(value, tuple) and len(value) == 2


class Plan:
    """A saddle_plan. `keep` keeps the objects in memory alive."""

    def __init__(self, keep: Callbacks) -> None:
        self.keep = keep
        self.c = new_plan(lib)
        self.with_dimensions: dict[str, Any] = {}
        """Sets and regularizer that need the lengths of x and y."""

    def copy(self, keep: Callbacks) -> Plan:
        """Returns a copy, which shares the objects in memory."""
        out = Plan(keep)
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

    def _set_data(self, value: Any) -> None:
        if _is_pair(value):
            self.c.problem.rows = dataset(value[0], value[1], self.keep)
        elif isinstance(value, list):
            if not value or not all(own is None or _is_pair(own) for own in value):
                raise TypeError("a list of data must have a pair (X, y) for each agent")
            shards = [
                ffi.NULL if own is None else dataset(own[0], own[1], self.keep) for own in value
            ]
            self.c.problem.shards = self.keep.keep(ffi.new("saddle_dataset *[]", shards))
            self.c.problem.shard_count = len(shards)
            if self.c.network.agents == 0:
                self.set("agents", len(shards))
        elif hasattr(value, "__fspath__"):
            self.set("data", value)
        else:
            raise TypeError(
                "data takes a name, a pair (X, y), or a list of pairs, one per agent, "
                f"not {type(value).__name__}"
            )

    def _set_test_data(self, value: Any) -> None:
        if hasattr(value, "__fspath__"):
            self.set("test-data", value)
        elif _is_pair(value):
            self.c.problem.test_rows = dataset(value[0], value[1], self.keep)
        else:
            raise TypeError(f"test_data takes a name or a pair (X, y), not {type(value).__name__}")

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
