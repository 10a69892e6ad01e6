#!/usr/bin/env python3
"""check_samples.py PROGRAM SOURCE [PYTHON]: the output that the documents show is what their commands print.

Runs, page by page in an empty directory, the `saddle` commands of code blocks that are followed by blocks of
output. Each of their lines must be printed, in the order shown; `...` stands for lines left out, and seconds are
not compared. Commands that need data that are not in SADDLE_DATA are skipped.

The pages of TUTORIALS are run in full, in the order of their fences: `sh` by bash, `python` by PYTHON, and the lines of
`text` must be printed by the fence before it. Fences that need something that is not installed are skipped.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PAGES = ["docs/models.md"] + ["docs/problems/%s.md" % name for name in (
    "auc", "fair", "group-dro", "poisoning", "quadratic", "robust-logistic", "robust-regression")]
TUTORIALS = ["docs/tutorial.md"]
SECONDS = [(re.compile(pattern), without) for pattern, without in (
    (r"^(\d+ \d+ \d+) \d+\.\d+ (.*)$", r"\1 * \2"),                                # a row of a run
    (r"[\d.e-]+ s\b", "* s"),                                                         # its summary
    (r"\d+\.\d{3} \(\d+\.\d{3}-\d+\.\d{3}\)( \d+ of \d+)$", r"*\1"),               # costs in a comparison
    (r"^(\S+( \*)? \d+ \d+) \d+\.\d{3} ", r"\1 * "))]                                # its table of the ends


def timeless(line):
    """Returns a line without seconds, with runs of spaces collapsed, because long seconds replace some."""
    line = " ".join(line.split())
    for pattern, without in SECONDS:
        line = pattern.sub(without, line)
    return line


def blocks(text):
    """Returns code blocks as lists of (line number, text), with continued command lines joined."""
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


def compare(path, shown, printed, at):
    """Looks for numbered lines in the output, from `at` on; returns where to continue, how many it found and not."""
    good = bad = 0
    for number, line in shown:
        wanted = timeless(line)
        if wanted in printed[at:]:
            at = printed.index(wanted, at) + 1
            good += 1
        elif wanted != "...":
            print("FAIL %s:%d: not printed: %s" % (path, number, line))
            bad += 1
    return at, good, bad


def check_page(program, path):
    """Returns the number of lines that match the output, and of those that do not."""
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
            if printed and not commands:
                at, found_here, missed = compare(path, block, printed, at)
                good, bad = good + found_here, bad + missed
    return good, bad


def fences(text):
    """Returns fenced blocks as (language, line number of the first line, lines)."""
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(f[1], text.count("\n", 0, f.start(2)) + 1, f[2].splitlines()) for f in found]


def missing(language, code, python, environment):
    """Returns what a fence needs and this machine lacks, or None."""
    def works(*command):
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    if language == "python" and not works(python, "-c", "import saddle"):
        return "the Python package"
    if "saddle plot" in code and shutil.which("gnuplot") is None:
        return "gnuplot"
    if "mpirun" in code and not works("bash", "-c", "mpirun --version | grep -q 'Open MPI' && mpirun -n 1 saddle run "
                                      "--engine mpi --problem quadratic --iterations 1"):
        return "Open MPI"
    return None


def check_tutorial(program, python, path):
    """Returns the number of fences that ran plus lines that match, and of those that did not."""
    printed, good, bad = None, 0, 0
    with open(path, encoding="utf-8") as page, tempfile.TemporaryDirectory() as base:
        here = os.path.join(base, "here")
        os.makedirs(here)
        os.symlink(program, os.path.join(base, "saddle"))
        environment = dict(
            os.environ, PATH=base + os.pathsep + os.environ["PATH"], OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
            PYTHONPATH=os.path.join(os.path.dirname(program), "python"))
        for language, first, lines in fences(page.read()):
            code = "\n".join(lines)
            if language == "text" and printed is not None:
                _, found_here, missed = compare(path, enumerate(lines, first), printed, 0)
                good, bad = good + found_here, bad + missed
            elif language in ("sh", "python"):
                lacking, printed = missing(language, code, python, environment), None
                if lacking:
                    print("skip: %s:%d: needs %s" % (path, first, lacking))
                    continue
                start = ["bash", "-e", "-o", "pipefail"] if language == "sh" else [python]
                run = subprocess.run(start + ["-c", code], cwd=here, env=environment, text=True, check=False,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                printed = [timeless(line) for line in run.stdout.splitlines()]
                if run.returncode == 0:
                    good += 1
                else:
                    print("FAIL %s:%d: exit status %d\n%s" % (path, first, run.returncode, run.stderr))
                    bad += 1
    return good, bad


def main():
    program, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    python = sys.argv[3] if len(sys.argv) > 3 else sys.executable
    counts = [check_page(program, os.path.join(source, page)) for page in PAGES]
    counts += [check_tutorial(program, python, os.path.join(source, page)) for page in TUTORIALS]
    good, bad = map(sum, zip(*counts))
    print("checks: %d passed, %d failed" % (good, bad))
    return 1 if bad > 0 else 77 if good == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
