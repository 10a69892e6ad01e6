#!/usr/bin/env python3
"""The library's messages name fields, the program's name options; headings of the help have no effect.

    message_texts.py SOURCE_DIRECTORY

In src/ and lab/, string literals other than the help of options and the arguments of other programs must not contain
an option with its dashes, a command of the program or the command line itself. In cli/, a message must not begin with
an option without its dashes, nor contain one whose name has a hyphen. Only the files that print the help may read an
option's heading.
"""

import pathlib
import re
import sys

COMMAND_NAME = re.compile(r'const cli_command \w+ = \{\s*\.name = "([^" ]+)')
MACRO = r"\b(?:SADDLE_)?(?:REAL|REAL_ABOVE|STEP|INTEGER|CHOICE|FLAG|TEXT|AUTOMATIC)\("
OPTION = re.compile(MACRO + r"|\.help =\s")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)'|/\*.*?\*/|//[^\n]*", re.S)
ARGUMENTS = re.compile(r"\bargv\[\] = \{.*?\};", re.S)
READS_HEADINGS = {"cli/help.c", "cli/cmd_man.c"}


def forbidden_words(root):
    """Matches options with dashes, `saddle COMMAND` for every command, and mentions of the command line."""
    names = sorted({m for p in (root / "cli").glob("*.c") for m in COMMAND_NAME.findall(p.read_text())})
    assert {"run", "checkpoint", "sets", "data"} <= set(names), names
    # "Saddle problems" are also what the library solves.
    commands = "|".join(name for name in names if name != "problems")
    return re.compile(r"(?<![\w-])--[a-z]|`saddle problems|\bsaddle (?:" + commands + r")\b|command line", re.I)


def bare_options(root):
    """Matches an option without its dashes: as the beginning of a message, or anywhere if its name has a hyphen."""
    declared = re.compile(rf'(?:\bCLI_(?:OPTION|FILES)\(|{MACRO})[^";]*"([a-z][a-z0-9-]*)",')
    sources = [p.read_text() for folder in ("src", "cli") for p in (root / folder).rglob("*.c")]
    names = {name for text in sources for name in declared.findall(text)}
    assert {"tau", "max-ifo", "output", "validation-fraction"} <= names, names
    hyphenated = "|".join(name for name in sorted(names) if "-" in name)
    return re.compile(rf'^"(?:{"|".join(sorted(names))}): (?!")|(?<![\w\'-])(?:{hyphenated})(?![\w\'|,-])')


def without_comments(text):
    return TOKEN.sub(lambda m: " " if m[0].startswith("/") else m[0], text)


def without_help(text):
    """Returns the text without the declarations of options, each up to its closing parenthesis or comma."""
    while (found := OPTION.search(text)) is not None:
        depth, end = (1, found.end()) if found[0].endswith("(") else (0, found.end())
        while end < len(text):
            literal = TOKEN.match(text, end)
            if literal:
                end = literal.end()
                continue
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if (found[0].endswith("(") and depth == 0) or (found[0].startswith(".help") and text[end - 1] == ","):
                break
        text = text[: found.start()] + text[end:]
    return text


def literals(text):
    """Returns the string literals, adjacent ones joined."""
    joined = re.sub(r'"\s*"', "", text)
    return [m[0] for m in TOKEN.finditer(joined) if m[0].startswith('"')]


def main():
    root = pathlib.Path(sys.argv[1])
    complaints, seen = [], 0
    forbidden = forbidden_words(root)
    bare = bare_options(root)
    for path in sorted(p for folder in ("src", "lab", "draw", "cli") for p in (root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        text = without_comments(path.read_text())
        if name.split("/")[0] in ("src", "lab"):
            texts = literals(without_help(ARGUMENTS.sub("", text)))
            seen += len(texts)
            complaints += [f"{name}: {t}" for t in texts if forbidden.search(t)]
        elif name.startswith("cli/"):
            texts = [t for t in literals(without_help(text)) if " " in t]
            complaints += [f"{name}: {t}" for t in texts if bare.search(t)]
        heading = r"\boption(?:\[\w+\])?(?:->|\.)group\b|option\(.*\)->group\b"
        if name not in READS_HEADINGS and re.search(heading, text):
            complaints.append(f"{name}: reads the heading of an option")
    assert seen > 1000, f"only {seen} texts found"
    for wrong in ('fail("give --nu")', 'fail("which `saddle sets` " "lists")', 'fail("on the command line")'):
        assert forbidden.search(literals(wrong)[0]), wrong
    for wrong in ('fail("output: is a file")', 'fail("raise max-ifo " "or stop")'):
        assert bare.search(literals(wrong)[0]), wrong
    assert not bare.search(literals('fail("--output: is a file; raise --max-ifo")')[0])
    assert not literals(without_help('SADDLE_REAL(X(a), "--nu");'))
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)


main()
