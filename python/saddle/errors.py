"""Errors of the library as exceptions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ._library import ffi, lib, text
from .option_table import options

__all__ = ["Error", "InputError", "FileError", "OutOfMemory", "as_keywords", "check", "error_of"]


class Error(Exception):
    """What the library refused or could not do. Its message names the value and the remedy."""

    status = ""
    """What kind of failure it was, such as "numeric" or "check_failed"."""


class InputError(Error, ValueError):
    """A wrong option, file, number, graph or size, or a combination that is not supported."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


_KINDS = {
    "SADDLE_BAD_INPUT": InputError,
    "SADDLE_UNSUPPORTED": InputError,
    "SADDLE_IO": FileError,
    "SADDLE_NO_MEMORY": OutOfMemory,
}


@lru_cache(maxsize=None)
def _dashed_names() -> re.Pattern[str]:
    names = sorted((name for name in options() if "-" in name), key=len, reverse=True)
    return re.compile(r"(?<![\w./'-])(" + "|".join(map(re.escape, names)) + r")(?![\w./'-])")


def as_keywords(message: str) -> str:
    """Returns a message of the library with options named as keywords: x_set for x-set."""
    return _dashed_names().sub(lambda found: found[0].replace("-", "_"), message)


def error_of(c: Any) -> Error:
    """Returns the exception that a saddle_error is."""
    name = ffi.typeof("saddle_status").elements[c.status]
    out = _KINDS.get(name, Error)(as_keywords(text(c.message)))
    out.status = name[len("SADDLE_") :].lower()
    return out


def check(call: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is a saddle_error, and raises what it reports."""
    error = ffi.new("saddle_error *")
    if call(*arguments, error) != lib.SADDLE_OK:
        raise error_of(error)
