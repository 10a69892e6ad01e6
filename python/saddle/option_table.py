"""The library's table of options, which `saddle run --help` lists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._library import ffi, lib, new_plan, text

__all__ = ["Option", "options", "is_known", "unknown_keyword", "as_text"]


@dataclass(frozen=True)
class Option:
    """An option of the library."""

    name: str
    """The name in the program, such as "max-ifo"; the keyword is max_ifo."""
    group: str
    default: str
    help: str
    choices: tuple[str, ...]
    of_instance: bool
    """Whether it belongs to problem, data, network or start, which several runs can share."""


def _help(c: Any) -> str:
    """Returns the help of an option, with the rules of all algorithms for automatic values."""
    room = ffi.new("char[]", 4096)
    return text(lib.saddle_option_help(c, ffi.NULL, room, len(room)))


def _option(c: Any) -> Option:
    return Option(
        name=text(c.name),
        group=text(c.group),
        default=text(c.fallback),
        help=_help(c),
        choices=tuple(text(c.choices).split("|")) if c.choices else (),
        of_instance=c.stage == lib.SADDLE_STAGE_INSTANCE,
    )


@lru_cache(maxsize=None)
def options() -> dict[str, Option]:
    """Returns all options by name, in the order of the program's help."""
    plan = new_plan(lib)
    if lib.saddle_plan_set(plan, b"seed", b"1", ffi.NULL) != lib.SADDLE_OK:  # makes the settings
        raise MemoryError
    count = lib.saddle_plan_option_count(plan)
    table = (_option(lib.saddle_plan_option(plan, k)) for k in range(count))
    return {option.name: option for option in table}


def is_known(keyword: str) -> bool:
    """Returns whether a keyword is an option of the library."""
    return "-" not in keyword and keyword.replace("_", "-") in options()


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
