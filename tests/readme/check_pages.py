#!/usr/bin/env python3
"""check_pages.py BUILD SOURCE [--python PYTHON] [--cc CC] [PAGE...]: every command that README.md and docs/ show works.

The commands of a page run in its order, in an empty directory with a link to examples/. They are fences `sh` and
indented blocks that begin with a command. Fences `python` are programs, or doctests if they have `>>>`; fences `c` are
programs if they have main(). A fence `text`, or the rest of an indented block, is the output of what is before it: each
of its lines must be printed, in the order shown. `...` stands for lines left out, and seconds are not compared.

Commands that need something that this machine lacks are skipped with a line that says so, and so are those that use
their files. What is never run is listed in EXEMPT with the reason; a line of it that matches nothing is an error.
"""
import argparse
import contextlib
import io
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

EXEMPT = [(re.compile(page), re.compile(command), reason) for page, command, reason in (
    (r".*", r"saddle data fetch ", "downloads; test_cli_data fetches from a server of its own"),
    (r"README\.md", r"\./scripts/(demo|test)", "installs packages and builds; these tests have a build"),
    (r"README\.md", r"pip install ", "test_wheel installs the package"),
    (r"docs/cluster\.md", r"mpirun --hostfile", "needs several hosts"),
    (r"docs/cluster\.md", r"srun ", "needs Slurm"),
    (r"docs/gpu\.md", r"saddle run --algorithm precision --engine cuda$", "needs a graphics card"),
    (r"docs/install\.md", r"", "installs packages; test_install, test_deb and test_wheel do this in a prefix"),
    (r"docs/performance\.md", r"\./scripts/bench", "measures for an hour; test_bench runs the small sizes"),
    (r"docs/reliability\.md", r"\./scripts/test", "runs this test"),
    (r"docs/reproduction\.md", r"python3 -m saddle\.reproduce( +#|$| --quick| --only )",
     "takes minutes to hours; test_experiments runs short parts"),
    (r"docs/commands\.md", r"python3 -m saddle\.reproduce ", "test_experiments runs a part of it"),
    (r"docs/networks-results\.md", r"python3 -m saddle\.reproduce ", "takes minutes"))]

COMMAND = re.compile(r"(saddle|mpirun|srun|sbatch|sudo|apt|apt-get|cc|gcc|cmake|cpack|ctest|make|python3?|pip|printf|"
                     r"echo|cat|cp|mv|rm|ls|cd|mkdir|head|tail|grep|awk|sed|for|sh|bash|export|git|tar|curl|wget|jq|"
                     r"gnuplot|neato|man|diff|cmp|\.{1,2}/\S+|~/\S+|/usr/bin/\S+|build\S*/\S+)( |$)")
LANGUAGES = ("sh", "python", "c", "text", "bibtex", "{toctree}", "")
DATA = {"a9a": "a9a", "a9a.t": "a9a.t", "mnist": "train-images-idx3-ubyte.gz", "mnist.t": "t10k-images-idx3-ubyte.gz"}
DATA_NAME = re.compile(r"(?<![\w./-])(a9a|mnist)(\.t)?(?![\w.-])")
PROGRAMS = [(re.compile(pattern), program) for pattern, program in (
    (r"saddle plot |--draw \S+\.(svg|png|pdf)", "gnuplot"), (r"(^|\| *)jq ", "jq"), (r"(^|&& *)neato ", "neato"),
    (r"(^|&& *)cc |pkg-config", "pkg-config"), (r"^cmake ", "cmake"))]
MADE = re.compile(r"(?:--(?:model|trace|output|checkpoint|save|train|test|draw)|-o|>)[ =]([\w.%/-]+)")
SECONDS = [(re.compile(pattern), without) for pattern, without in (
    (r"^(\d+ \d+ \d+) \d+\.\d+ (.*)$", r"\1 * \2"),                                # a row of a run
    (r"\d+[hm] \d+[ms]\b|[\d.e-]+ s\b", "* s"),                                                         # its summary
    (r"\d+\.\d{3} \(\d+\.\d{3}-\d+\.\d{3}\)( \d+ of \d+)$", r"*\1"),               # costs in a comparison
    (r"^(\S+( \*)? \d+ \d+) \d+\.\d{3} ", r"\1 * "))]                                # its table of the ends


def timeless(line):
    """Returns a line without seconds, with runs of spaces collapsed, because long seconds replace some."""
    line = " ".join(line.split())
    for pattern, without in SECONDS:
        line = pattern.sub(without, line)
    return line


def paragraphs(text):
    """Yields (language, number of the first line, lines) of fences, and of the paragraphs of indented blocks with
    "indented" or, if only blank lines separate them from another one, "more" as language."""
    language, first, lines, attached, blank = None, 0, [], False, True
    for number, line in enumerate(text.splitlines() + ["", "."], 1):
        fence = re.match(r"```(\S*)$", line)
        if language not in (None, "indented", "more"):
            if fence:
                yield language, first, lines
                language, attached = None, False
            else:
                lines.append(line)
        elif language is not None and line.startswith("    "):
            lines.append(line[4:])
        else:
            if language is not None:
                yield language, first, lines
                language, attached = None, True
            if fence:
                language, first, lines = fence[1], number + 1, []
            elif line.startswith("    ") and (blank or attached):
                language, first, lines = "more" if attached else "indented", number, [line[4:]]
            elif line:
                attached = False
        blank = not line


def commands(first, lines):
    """Yields (line number, command) of the lines of an indented block, continued lines joined."""
    command, start = "", first
    for number, line in enumerate(lines, first):
        if not command:
            start = number
        command += line.lstrip() if command else line
        if command.endswith("\\"):
            command = command[:-1]
        else:
            yield start, command
            command = ""


def pieces(text):
    """Returns what a page has to run or to compare as (kind, line number, text). The text of "sh" is a list of
    commands with their line numbers; kind "wrong" is a fault of the page."""
    found, before = [], None
    for language, first, lines in paragraphs(text):
        code, kind = "\n".join(lines), None
        if language in ("indented", "more"):
            if COMMAND.match(lines[0]):
                kind, code = "sh", list(commands(first, lines))
            elif language == "more" and before in ("sh", "text"):
                kind = "text"
            elif any(COMMAND.match(line) for line in lines):
                found.append(("wrong", first, "a command must be first in its block, after a blank line"))
        elif language not in LANGUAGES:
            found.append(("wrong", first, "unknown language '%s'" % language))
        elif language == "" and lines and COMMAND.match(lines[0]):
            found.append(("wrong", first, "a fence of commands begins with ```sh"))
        elif language == "python":
            kind = "doctest" if ">>> " in code else "python"
        elif language == "c":
            kind = "c" if "main(" in code else None
        elif language == "sh":
            kind, code = "sh", [(first, code)]
        elif language == "text":
            kind = "text"
        if kind:
            found.append((kind, first, code))
        before = kind
    return found


class Page:
    """Runs the pieces of one page in a directory and counts what is right and wrong."""

    known = {}

    def __init__(self, name, path, here, environment):
        self.name, self.path, self.here, self.environment = name, path, here, environment
        self.good, self.bad, self.wrong = 0, 0, []
        self.printed, self.at, self.absent = None, 0, set()

    def fail(self, number, message):
        print("FAIL %s:%d: %s" % (self.name, number, message))
        self.bad += 1
        self.wrong.append(number)

    def works(self, *command):
        """Tells whether a command succeeds, and remembers it for all pages: some imports take seconds."""
        if command not in self.known:
            self.known[command] = subprocess.run(
                command, cwd=self.here, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, check=False).returncode == 0
        return self.known[command]

    def missing(self, kind, code):
        """Returns what a piece needs and is not here, or None."""
        if kind in ("python", "doctest"):
            modules = set(re.findall(r"(?:^|>>> )(?:import|from) (\w+)", code, re.M))
            if ".plot(" in code:
                modules.add("matplotlib")
            return next((module for module in sorted(modules) if not self.works("python3", "-c", "import " + module)),
                        None)
        if kind == "c":
            return None if shutil.which("pkg-config") else "pkg-config"
        code = re.sub(r" # .*", "", code)
        for name in DATA_NAME.finditer(code):
            if not os.path.exists(os.path.join(os.environ.get("SADDLE_DATA", "/nonexistent"), DATA[name[0]])):
                return "%s in SADDLE_DATA" % name[0]
        for pattern, program in PROGRAMS:
            if pattern.search(code) and not shutil.which(program):
                return program
        job = "mpirun -n 1 saddle run --engine mpi --problem quadratic --iterations 1"
        if "mpirun" in code and not self.works("bash", "-c", "mpirun --version | grep -q 'Open MPI' && timeout 120 "
                                               + job):
            return "Open MPI"
        return next(("'%s', which was skipped" % word for word in sorted(self.absent)
                     if re.search(r"(?<![\w./-])%s(?![\w.-])" % re.escape(word), code)), None)

    def start(self, kind, code):
        """Returns the command line that runs a piece."""
        if kind == "sh":
            return ["bash", "-e", "-o", "pipefail", "-c", code]
        if kind == "python":
            return ["python3", "-c", code]
        if kind == "doctest":
            return ["python3", "-m", "doctest", self.path]
        with open(os.path.join(self.here, "program.c"), "w", encoding="utf-8") as file:
            file.write(code + "\n")
        return ["bash", "-e", "-c", "cc program.c $(pkg-config --cflags --libs saddle) -o program && ./program"]

    def run(self, kind, number, code):
        """Runs a piece, or one command of it; returns the lines that it prints, None if it is skipped or fails."""
        lacking = self.missing(kind, code)
        if lacking:
            print("skip: %s:%d: needs %s: %s" % (self.name, number, lacking, code.split("\n")[0][:60]))
            self.absent.update(MADE.findall(code))
            return None
        self.absent.difference_update(MADE.findall(code))
        result = subprocess.run(self.start(kind, code), cwd=self.here, env=self.environment, text=True, check=False,
                                errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        if result.returncode != 0:
            self.fail(number, "exit status %d: %s\n%s" % (result.returncode, code.split("\n")[0],
                                                         (result.stdout + result.stderr)[-2000:]))
            return None
        self.good += 1
        return [timeless(line) for line in result.stdout.splitlines()]

    def compare(self, number, shown):
        """Looks for shown lines in the output, from where the last one was found."""
        for number, line in enumerate(shown, number):
            wanted = timeless(line)
            if wanted in ("...", ""):
                continue
            if wanted in self.printed[self.at:]:
                self.at = self.printed.index(wanted, self.at) + 1
                self.good += 1
            else:
                self.fail(number, "not printed: %s" % line)

    def check(self, exempted):
        """Runs the page; adds the lines of EXEMPT that it uses to a set."""
        with open(self.path, encoding="utf-8") as file:
            found = pieces(file.read())
        doctests = False
        for kind, number, code in found:
            if kind == "wrong":
                self.fail(number, code)
            elif kind == "text":
                if self.printed is not None:
                    self.compare(number, code.split("\n"))
            elif kind == "doctest" and doctests:
                continue                # all doctests of a page run together, where the first is
            else:
                doctests = doctests or kind == "doctest"
                self.printed, self.at = [], 0
                for place, command in code if kind == "sh" else [(number, code)]:
                    exempt = [line for line in EXEMPT if line[0].fullmatch(self.name) and line[1].match(command)]
                    exempted.update(exempt)
                    lines = None if exempt else self.run(kind, place, command)
                    self.printed = None if lines is None or self.printed is None else self.printed + lines


def tools(build, base, python, compiler):
    """Installs the build, python3 and cc below a directory; returns the environment of commands."""
    binaries, prefix = os.path.join(base, "bin"), os.path.join(base, "prefix")
    os.makedirs(binaries)
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    for name, program in (("python3", python), ("cc", compiler)):
        with open(os.path.join(binaries, name), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nexec "%s" "$@"\n' % program)
        os.chmod(file.name, 0o755)
    libraries = next(folder for folder, _, files in os.walk(prefix) if "libsaddle.so" in files)
    # With one slot, mpirun refuses more processes on every machine unless the page says --oversubscribe.
    with open(os.path.join(base, "slots"), "w", encoding="utf-8") as file:
        file.write("localhost slots=1\n")
    given = {name: value for name, value in os.environ.items() if "_MCA_rmaps_" not in name}
    return dict(given, PATH=os.pathsep.join((binaries, os.path.join(prefix, "bin"), os.environ["PATH"])),
                PKG_CONFIG_PATH=os.path.join(libraries, "pkgconfig"), LD_LIBRARY_PATH=libraries,
                LIBRARY_PATH=libraries, CPATH=os.path.join(prefix, "include"), CMAKE_PREFIX_PATH=prefix,
                PYTHONPATH=os.path.join(build, "python"), XDG_DATA_HOME=os.path.join(base, "data"), MPLBACKEND="Agg",
                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1",
                OMPI_MCA_orte_default_hostfile=os.path.join(base, "slots"), OMPI_MCA_orte_tmpdir_base=base,
                PRTE_MCA_prte_default_hostfile=os.path.join(base, "slots"), PRTE_MCA_prte_tmpdir_base=base)


def processor_seconds():
    """Returns what all commands so far have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def finds_faults(source, base, environment):
    """Checks that the faults of wrong.md, the blocks and lines of it that say `wrong`, are found, and only these."""
    name, here = os.path.join("tests", "readme", "wrong.md"), os.path.join(base, "wrong")
    os.makedirs(here)
    page = Page(name, os.path.join(source, name), here, environment)
    with contextlib.redirect_stdout(io.StringIO()) as told:
        page.check(set())
    with open(page.path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    skipped = {int(number) for number in re.findall(r"^skip: [^:]*:(\d+):", told.getvalue(), re.M)}
    expected = {number for number, line in enumerate(lines, 1) if "wrong" in line} - skipped
    if set(page.wrong) != expected:
        print("FAIL %s: wrong are lines %s; found %s" % (name, sorted(expected), sorted(page.wrong)))
    return set(page.wrong) == expected


def names(source):
    """Returns README.md and the pages of docs/."""
    found = ["README.md"]
    for folder, _, files in sorted(os.walk(os.path.join(source, "docs"))):
        found += [os.path.relpath(os.path.join(folder, name), source) for name in sorted(files) if name.endswith(".md")]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=os.path.abspath)
    parser.add_argument("source", type=os.path.abspath)
    # As paths: their namesakes in the pages' PATH would call themselves.
    parser.add_argument("--python", type=shutil.which, default=sys.executable)
    parser.add_argument("--cc", type=shutil.which, default="cc")
    parser.add_argument("pages", nargs="*")
    given = parser.parse_intermixed_args()
    # With one processor, commands use one thread. On a busy machine, threads that wait for each other take far longer.
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})
    good = bad = 0
    exempted = set()
    with tempfile.TemporaryDirectory() as base:
        environment = tools(given.build, base, given.python, given.cc)
        if not given.pages:
            found = finds_faults(given.source, base, environment)
            good, bad = good + found, bad + (not found)
        for number, name in enumerate(given.pages or names(given.source)):
            here, start = os.path.join(base, "page%d" % number), processor_seconds()
            os.makedirs(here)
            os.symlink(os.path.join(given.source, "examples"), os.path.join(here, "examples"))
            page = Page(name, os.path.join(given.source, name), here, environment)
            page.check(exempted)
            if page.good + page.bad > 0:
                print("%s: %d passed, %d failed, %.1f s of processors" % (
                    name, page.good, page.bad, processor_seconds() - start), flush=True)
            good, bad = good + page.good, bad + page.bad
            shutil.rmtree(here)
    if not given.pages:
        for line in EXEMPT:
            if line not in exempted:
                print("FAIL: nothing matches the exemption '%s' of '%s'" % (line[1].pattern, line[0].pattern))
                bad += 1
    print("checks: %d passed, %d failed" % (good, bad))
    return 0 if bad == 0 and good > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
