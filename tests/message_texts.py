#!/usr/bin/env python3
"""Messages name options with their dashes, in the library and in the program; headings of the help have no effect.

    message_texts.py SOURCE_DIRECTORY

Of the string literals of src/, lab/ and cli/ other than the help of options and the arguments of other programs, none
may begin with an option without its dashes, nor contain one whose name has a hyphen, nor a word with dashes that is no
option. Those of src/ and lab/ mention neither the command line nor, except for the download of data, a command of the
program. Only the files that print the help may read an option's heading.
"""

import pathlib
import re
import sys

COMMAND_NAME = re.compile(r'const cli_command \w+ = \{\s*\.name = "([^" ]+)')
MACRO = r"\b(?:SADDLE_)?(?:REAL|REAL_ABOVE|STEP|INTEGER|CHOICE|FLAG|TEXT|AUTOMATIC)\("
OPTION = re.compile(MACRO + r"|\.help =\s")
DECLARED = re.compile(rf'(?:\bCLI_(?:OPTION|FILES)\(|{MACRO})[^";]*(?:"[^"]*"\), )?"([a-z][a-z0-9-]*)",')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)'|/\*.*?\*/|//[^\n]*", re.S)
ARGUMENTS = re.compile(r"\bargv\[\] = \{.*?\};", re.S)
READS_HEADINGS = {"cli/help.c", "cli/cmd_man.c"}
BARE_PREFIX = re.compile(r'saddle_in_field\(\s*"[a-z]')
# Why a run stopped, as traces record it.
RECORDED = ("the condition of stop-when holds", "no gain for stop-after trace points")


def forbidden_words(root):
    """Matches `saddle COMMAND` for every command, and mentions of the command line."""
    names = sorted({m for p in (root / "cli").glob("*.c") for m in COMMAND_NAME.findall(p.read_text())})
    assert {"run", "checkpoint", "sets", "data"} <= set(names), names
    # "Saddle problems" are also what the library solves.
    commands = "|".join(name for name in names if name != "problems")
    return re.compile(rf"`saddle problems|\bsaddle (?!data fetch)(?:{commands})\b|command line", re.I)


def wrong_options(root):
    """Matches an option without its dashes, as the beginning of a text or anywhere if its name has a hyphen, and dashes
    before another word."""
    sources = [p.read_text() for folder in ("src", "cli") for p in (root / folder).rglob("*.[ch]")]
    names = {name for text in sources for name in DECLARED.findall(text)}
    assert {"tau", "max-ifo", "output", "validation-fraction", "x-set", "engine"} <= names, names
    hyphenated = "|".join(name for name in sorted(names) if "-" in name)
    known = "|".join(sorted(names | {"help", "help-all", "version"}))
    begins, inside = rf'^"(?:{known}): (?!")', rf"(?<![\w'./-])(?:{hyphenated})(?![\w'|/=-]|\.\w)"
    return re.compile(rf"{begins}|{inside}|(?<![\w-])--(?!(?:{known})(?![\w-]))[a-z]")


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
    wrong = wrong_options(root)
    for path in sorted(p for folder in ("src", "lab", "draw", "cli") for p in (root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        text = without_comments(path.read_text())
        texts = literals(without_help(ARGUMENTS.sub("", text)))
        seen += len(texts)
        if name.startswith(("src/", "lab/")):
            complaints += [f"{name}: {t}" for t in texts if forbidden.search(t)]
        if not name.startswith("draw/"):
            said = [t for t in texts if " " in t and t.strip('"') not in RECORDED]
            complaints += [f"{name}: {t}" for t in said if wrong.search(t)]
        if BARE_PREFIX.search(text):
            complaints.append(f"{name}: saddle_in_field() of an option without its dashes")
        heading = r"\boption(?:\[\w+\])?(?:->|\.)group\b|option\(.*\)->group\b"
        if name not in READS_HEADINGS and re.search(heading, text):
            complaints.append(f"{name}: reads the heading of an option")
    assert seen > 1000, f"only {seen} texts found"
    for bad in ('fail("which `saddle sets` " "lists")', 'fail("on the command line")'):
        assert forbidden.search(literals(bad)[0]), bad
    for bad in ('fail("output: is a file")', 'fail("raise max-ifo " "or stop")', 'fail("give --otput")'):
        assert wrong.search(literals(bad)[0]), bad
    assert not wrong.search(literals('fail("--output: is a file; raise --max-ifo")')[0])
    assert not literals(without_help('SADDLE_REAL(X(a), "--nu");'))
    print(*complaints, sep="\n")
    sys.exit(1 if complaints else 0)


main()
