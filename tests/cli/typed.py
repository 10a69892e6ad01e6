#!/usr/bin/env python3
"""Types into bash on a pseudo-terminal and shows the line after the tab key.

    typed.py COMPLETION_SCRIPT PROGRAM < LINES

Prints for every line of the input what the command line is after typing it and pressing tab, in braces.
"""

import os
import pty
import select
import sys
import time


def read_until(terminal, mark, seconds=30.0):
    seen, end = b"", time.monotonic() + seconds
    while mark not in seen:
        if not select.select([terminal], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError(f"no {mark!r} in {seen!r}")
        seen += os.read(terminal, 65536)
    return seen


def main():
    script, program = (os.path.abspath(path) for path in sys.argv[1:3])
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(PS1="$ ", TERM="dumb", PATH=os.path.dirname(program) + ":" + os.environ["PATH"])
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    # The keys Ctrl-G and Ctrl-U show and empty the line; the row of the terminal is long enough for all of them.
    setup = (f"stty cols 500 -echo; . '{script}'; bind 'set enable-bracketed-paste off'; bind 'set bell-style none';"
             """ show() { printf '{%s}' "$READLINE_LINE"; }; bind -x '"\\C-g": show'; echo re''ady\n""")
    os.write(terminal, setup.encode())
    read_until(terminal, b"ready")
    for line in sys.stdin:
        os.write(terminal, line.rstrip("\n").encode() + b"\t\x07")
        print(read_until(terminal, b"}").decode().rpartition("{")[2].partition("}")[0].join("{}"))
        os.write(terminal, b"\x15")
    os.write(terminal, b"exit\n")
    os.waitpid(child, 0)


main()
