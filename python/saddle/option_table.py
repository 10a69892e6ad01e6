"""The library's table of options, which `saddle run --help` lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._library import ffi, lib, new_plan, text
from .lists import Table, listed

__all__ = ["Option", "all_options", "as_text", "as_value", "is_known", "options", "unknown_keyword"]


@dataclass(frozen=True)
class Option:
    """An option of the library."""

    name: str
    """The name in the program, such as "max-ifo"; the keyword is max_ifo."""
    group: str
    kind: str
    """"flag", "integer", "real", "choice" or "text"."""
    default: str
    help: str
    choices: tuple[str, ...]
    of_instance: bool
    """Whether it belongs to problem, data, network or start, which several runs can share."""


    @property
    def keyword(self) -> str:
        """How Python spells it: max_ifo."""
        return self.name.replace("-", "_")


def _help(c: Any, algorithm: Any) -> str:
    """Returns the help of an option, with the rules of an algorithm, or of all, for automatic
    values."""
    room = ffi.new("char[]", 4096)
    return text(lib.saddle_option_help(c, algorithm, room, len(room)))


def _option(c: Any, algorithm: Any = ffi.NULL) -> Option:
    return Option(
        name=text(c.name),
        group=text(c.group),
        kind=ffi.typeof("saddle_option_kind").elements[c.kind][len("SADDLE_OPTION_") :].lower(),
        default=text(c.fallback),
        help=_help(c, algorithm),
        choices=tuple(text(c.choices).split("|")) if c.choices else (),
        of_instance=c.stage == lib.SADDLE_STAGE_INSTANCE,
    )


@lru_cache(maxsize=None)
def all_options() -> dict[str, Option]:
    """Returns all options by name, in the order of the program's help."""
    plan = new_plan(lib)
    if lib.saddle_plan_set(plan, b"seed", b"1", ffi.NULL) != lib.SADDLE_OK:  # makes the settings
        raise MemoryError
    count = lib.saddle_plan_option_count(plan)
    table = (_option(lib.saddle_plan_option(plan, k)) for k in range(count))
    return {option.name: option for option in table}


def options(of: str | None = None) -> Table[Option]:
    """Returns the options of `saddle.run()` by name, in the order of the program's help.

    of
        the name of an algorithm or a problem, whose own options are wanted; None: all

    >>> import saddle
    >>> saddle.options("gt-gda")["ascents"].default
    '2'
    """
    rows = all_options()
    if of is not None:
        owners = [*listed(lib.saddle_algorithm_list), *listed(lib.saddle_problem_list)]
        owner = next((one for one in owners if text(one.name) == of), None)
        if owner is None:
            names = ", ".join(text(one.name) for one in owners)
            raise ValueError(f"{of!r} is neither an algorithm nor a problem; these are {names}")
        is_algorithm = ffi.typeof(owner) == ffi.typeof("saddle_algorithm *")
        rows, k = {}, 0
        while owner.options and owner.options[k]:
            option = _option(owner.options[k], owner if is_algorithm else ffi.NULL)
            rows[option.name] = option
            k += 1
    return Table(rows, _cells)


def _cells(option: Option) -> dict[str, Any]:
    """Returns what a table shows of an option."""
    kind = " or ".join(option.choices) if option.kind == "choice" else option.kind
    return {"keyword": option.keyword, "takes": kind, "default": option.default,
            "help": option.help}  # fmt: skip


def as_value(keyword: str, given: str) -> Any:
    """Returns the text of an option's value as a number, bool or text. A number that the library
    chooses itself, "auto", is None."""
    option = all_options().get(keyword.replace("_", "-"))
    kind = option.kind if option is not None else "real"
    if kind == "flag":
        return given == "yes"
    listed = given.split(",") if keyword == "samples" else [given]
    numbers = [_number(entry, kind) for entry in listed]
    if kind in ("integer", "real") and given == "auto":
        return None
    if (kind in ("choice", "text") and keyword != "samples") or None in numbers:
        return given
    return numbers if len(numbers) > 1 else numbers[0]


def _number(entry: str, kind: str) -> int | float | None:
    """Returns a number; None if it is not one."""
    try:
        return float(entry) if kind == "real" else int(entry)
    except ValueError:
        return None


def is_known(keyword: str) -> bool:
    """Returns whether a keyword is an option of the library."""
    return "-" not in keyword and keyword.replace("_", "-") in all_options()


def unknown_keyword(keyword: str, function: str, plan: Any) -> TypeError:
    """Returns the error for a keyword that is not an option of a plan, with the closest one."""
    count = lib.saddle_plan_option_count(plan)
    names = [text(lib.saddle_plan_option(plan, k).name) for k in range(count)]
    encoded = [ffi.new("char[]", name.replace("-", "_").encode()) for name in names]
    listed = ffi.new("char *[]", encoded)
    closest = text(lib.saddle_closest(keyword.encode(), listed, len(encoded)))
    hint = f"; did you mean {closest!r}?" if closest else "; saddle.options() lists all"
    return TypeError(f"{function}() got an unexpected keyword argument {keyword!r}{hint}")


def as_text(keyword: str, value: Any) -> str:
    """Returns the value of an option as the text that the program takes."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)):
        return ",".join(as_text(keyword, entry) for entry in value)
    raise TypeError(
        f"{keyword} takes a text, a number, a bool, a path or a list of them, "
        f"not {type(value).__name__}"
    )
