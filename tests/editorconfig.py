#!/usr/bin/env python3
"""editorconfig.py SOURCE: the files of the repository obey .editorconfig.

Checks charset, end_of_line, insert_final_newline, trim_trailing_whitespace, indent_style and max_line_length of all
text files that git knows or would add. indent_size is not checked: continuation lines may have any indentation. In
Markdown, lines that cannot be broken may be longer than max_line_length: rows of tables, headings, pictures and
indented blocks.
"""
import re
import subprocess
import sys
from pathlib import Path

UNBREAKABLE = ("|", "#", "![", "    ")


def expression(pattern):
    """Returns the regular expression for a section's name: *, ** and {a,b}; without a slash, in any directory."""
    words = re.split(r"(\*\*|\*|[{},])", pattern)
    special = {"**": ".*", "*": "[^/]*", "{": "(?:", ",": "|", "}": ")"}
    text = "".join(special.get(word) or re.escape(word) for word in words)
    return re.compile(text if "/" in pattern else f"(?:.*/)?(?:{text})")


def sections(text):
    """Returns (expression, settings) of each section."""
    found = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            found.append((expression(line[1:-1]), {}))
        elif "=" in line and not line.startswith("#") and found:
            key, value = (word.strip() for word in line.split("=", 1))
            found[-1][1][key] = value
    return found


def settings_of(path, found):
    merged = {}
    for pattern, settings in found:
        if pattern.fullmatch(path):
            merged.update(settings)
    return merged


def mistakes(path, data, settings):
    """Yields what is wrong with a file as (line, text)."""
    if settings.get("charset") == "utf-8":
        try:
            data.decode()
        except UnicodeDecodeError as error:
            yield data.count(b"\n", 0, error.start) + 1, "is not UTF-8"
            return
    text = data.decode(errors="replace")
    if settings.get("insert_final_newline") == "true" and text and not text.endswith("\n"):
        yield text.count("\n") + 1, "has no newline at its end"
    limit = settings.get("max_line_length", "off")
    for number, line in enumerate(text.split("\n"), 1):
        if settings.get("end_of_line") == "lf" and "\r" in line:
            yield number, "has a carriage return"
        if settings.get("trim_trailing_whitespace") == "true" and line != line.rstrip():
            yield number, "ends in white space"
        if settings.get("indent_style") == "space" and re.match(r" *\t", line):
            yield number, "is indented by a tab"
        unbreakable = path.endswith(".md") and line.startswith(UNBREAKABLE)
        if limit != "off" and len(line) > int(limit) and not unbreakable:
            yield number, f"has {len(line)} characters, more than {limit}"


def check_the_check():
    """Returns the samples that are not judged as they should be."""
    found = sections("[*]\na = 1\n[b/{**.sh,c/x}]\na = 2\n[*.{cff,svg}]\na = 3\n# [x]\n[d/{e,f}/**]\na = unset\n")
    expected = {"x": "1", "y/x.sh": "1", "b/x.sh": "2", "b/c/x.sh": "2", "b/c/x": "2", "y/b/x.sh": "1"}
    expected |= {"x.svg": "3", "y/x.cff": "3", "d/f/g/x": "unset", "d/x": "1"}
    wrong = [path for path, value in expected.items() if settings_of(path, found)["a"] != value]
    rules = {"charset": "utf-8", "end_of_line": "lf", "insert_final_newline": "true", "indent_style": "space"}
    rules |= {"trim_trailing_whitespace": "true", "max_line_length": "9"}
    samples = {b"": 0, b"fine\n": 0, b"no newline": 2, b"\xff\n": 1, b"a\r\n": 2, b"a \n": 1, b"  \tb\n": 1}
    samples |= {b"123456789\n": 0, b"1234567890\n": 1, "äöüäöüäöü\n".encode(): 0, b"| a table row\n": 1}
    wrong += [data for data, count in samples.items() if len(list(mistakes("x.c", data, rules))) != count]
    wrong += [1] if list(mistakes("x.md", b"| a table row\n", rules)) else []
    return wrong


def main():
    source = Path(sys.argv[1])
    command = ["git", "-C", source, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        print("skip: this is not a git checkout")
        return 77
    wrong = check_the_check()
    for sample in wrong:
        print(f"FAIL the check itself: {sample}")
    found = sections((source / ".editorconfig").read_text())
    checked = failed = 0
    for path in sorted(filter(None, listed.split("\0"))):
        file = source / path
        data = file.read_bytes() if file.is_file() and not file.is_symlink() else b"\0"
        if b"\0" in data:
            continue
        checked += 1
        problems = list(mistakes(path, data, settings_of(path, found)))
        failed += bool(problems)
        for number, problem in problems:
            print(f"FAIL {path}:{number} {problem}")
    failed += bool(wrong)
    print(f"checks: {checked + 1 - failed} passed, {failed} failed")
    return 1 if failed or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
