"""Errors of the library as exceptions."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from ._library import ffi, lib, text
from .option_table import all_options

__all__ = ["Error", "InputError", "FileError", "NotSolvedWarning", "OutOfMemory"]
__all__ += ["as_keywords", "check", "error_of"]


class Error(Exception):
    """An error of the library. Its message names the value and the remedy."""

    status = ""
    """The kind of failure, such as "numeric" or "check_failed"."""


class InputError(Error, ValueError):
    """A wrong option, file, number, graph or size, or a combination that is not supported."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class NotSolvedWarning(UserWarning):
    """A run diverged, or a limit ended it before its problem was solved."""


_KINDS = {
    "SADDLE_BAD_INPUT": InputError,
    "SADDLE_UNSUPPORTED": InputError,
    "SADDLE_IO": FileError,
    "SADDLE_NO_MEMORY": OutOfMemory,
}


# Names of C in messages about objects in memory, and their names in Python.
_PYTHON_WORDS = {
    "start.x: x_length": "init_x: its length",
    "start.y: y_length": "init_y: its length",
    "start.x": "init_x",
    "start.y": "init_y",
    "shards: shard_count": "data: its length",
    "one shard": "a pair (X, y)",
    "shards": "data",
    "'data in memory'": "X",
    "NULL": "None",
}


# Keywords of tune() that are not options of a run, by their names in the library.
_OF_TUNE = {
    "budget": "budget",
    "candidates": "candidates",
    "hold": "hold",
    "objective": "objective",
    "output": "log",
    "search": "search",
}


@lru_cache(maxsize=None)
def _translation() -> tuple[re.Pattern[str], dict[str, str]]:
    """Returns a pattern that matches the library's words, and quoted values so that words inside
    them are left alone, and the Python words."""
    keywords = {name: name.replace("-", "_") for name in all_options()} | _OF_TUNE
    words = {f"--{name}": keyword for name, keyword in keywords.items()} | _PYTHON_WORDS
    for name, keyword in keywords.items():  # in the value of search they have no dashes
        words[f"--search: {name}"] = f"search: {keyword}"
    longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    word = rf"(?<![\w./'-])(?:{longest_first})(?![\w./'-])"
    own = r"^--[a-z][\w-]*(?=: )"  # an own option of a plug-in
    return re.compile(rf"{word}|{own}|(?<!\w)'.*?(?:'(?!\w)|$)"), words


def as_keywords(message: str) -> str:
    """Returns a message of the library with Python's names, such as x_set for --x-set."""
    pattern, words = _translation()

    def keyword(found: re.Match[str]) -> str:
        own = found[0][2:].replace("-", "_") if found[0].startswith("--") else found[0]
        return words.get(found[0], own)

    return pattern.sub(keyword, message)


def error_of(c: Any) -> Error:
    """Returns the exception for a saddle_error."""
    name = ffi.typeof("saddle_status").elements[c.status]
    out = _KINDS.get(name, Error)(as_keywords(text(c.message)))
    out.status = name[len("SADDLE_") :].lower()
    return out


def check(call: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is a saddle_error, and raises its error."""
    error = ffi.new("saddle_error *")
    if call(*arguments, error) != lib.SADDLE_OK:
        raise error_of(error)
