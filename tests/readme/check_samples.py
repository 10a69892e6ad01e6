#!/usr/bin/env python3
"""check_samples.py PROGRAM SOURCE: the output that the documents show is what their commands print.

Runs, page by page in an empty directory, the `saddle` commands of code blocks that are followed by blocks of
output. Each of their lines must be printed, in the order shown; `...` stands for lines left out, and seconds are
not compared. What needs data that are not in SADDLE_DATA is left out.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

PAGES = ["docs/models.md"] + ["docs/problems/%s.md" % name for name in (
    "auc", "fair", "group-dro", "poisoning", "quadratic", "robust-logistic", "robust-regression")]
ROW = re.compile(r"^(\d+ \d+ \d+) \d+\.\d+ (.*)$")


def timeless(line):
    """A line without seconds; blanks count once, since long seconds take the place of some."""
    return ROW.sub(r"\1 * \2", " ".join(line.split()))


def blocks(text):
    """Code blocks: lists of (line number, text), commands with their continued lines joined."""
    found, block = [], []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("    "):
            if block and block[-1][1].endswith("\\"):
                block[-1] = (block[-1][0], block[-1][1][:-1] + line.strip())
            else:
                block.append((number, line[4:]))
        elif block:
            found.append(block)
            block = []
    return found


def is_available(command):
    data = os.environ.get("SADDLE_DATA", "/nonexistent")
    return all(os.path.exists(os.path.join(data, word))
               for word in shlex.split(command) if re.fullmatch(r"(a9a|mnist)(\.t)?", word))


def check_page(program, path):
    """Number of lines that are as printed, and of those that are not."""
    printed, good, bad = [], 0, 0
    with open(path, encoding="utf-8") as page:
        found = blocks(page.read())
    with tempfile.TemporaryDirectory() as here:
        for block, after in zip(found, found[1:] + [[(0, "saddle ")]]):
            commands = [line for _, line in block if line.startswith("saddle ")]
            shown = after[0][0] == block[-1][0] + 2 and not after[0][1].startswith("saddle ")
            if commands:
                printed, at = [], 0
            if commands and shown and not all(map(is_available, commands)):
                print("skip: %s: data of '%s' are not in SADDLE_DATA" % (path, commands[0]))
            elif shown:
                for command in commands:
                    run = subprocess.run([program] + shlex.split(command)[1:], cwd=here, text=True, check=True,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
                    printed += [timeless(line) for line in run.stdout.splitlines()]
            for number, line in block if printed and not commands else []:
                wanted = timeless(line)
                if wanted in printed[at:]:
                    at = printed.index(wanted, at) + 1
                    good += 1
                elif wanted != "...":
                    print("FAIL %s:%d: not printed: %s" % (path, number, line))
                    bad += 1
    return good, bad


def main():
    program, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    good = bad = 0
    for page in PAGES:
        passed, failed = check_page(program, os.path.join(source, page))
        good, bad = good + passed, bad + failed
    print("checks: %d passed, %d failed" % (good, bad))
    return 1 if bad > 0 else 77 if good == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
