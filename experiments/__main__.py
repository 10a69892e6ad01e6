"""The command `python3 -m saddle.reproduce`."""

from __future__ import annotations

import argparse
import dataclasses
import fcntl
import json
import os
import shutil
import signal
import sys
import textwrap
from pathlib import Path
from typing import Any, Sequence

import saddle

from . import claims, field, field_figures, field_page, pages
from .experiments import EXPERIMENTS
from .runs import Part, Runner, data_of, describe, is_substitute, read_trace

OK, FAILED, USAGE, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 4, 130
MOST_SEEDS = 100
FIGURES = "field-figures"


class Usage(Exception):
    """Wrong arguments."""


def warn(message: str) -> None:
    print(f"saddle.reproduce: warning: {message}", file=sys.stderr)


def fail(message: object, code: int = USAGE) -> int:
    print(f"saddle.reproduce: error: {message}", file=sys.stderr)
    return code


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m saddle.reproduce",
        description="Repeats the experiments of the PRECISION paper on a9a and MNIST (or on built-in data, with a "
        "warning, if these are not found), with its settings taken as literally as possible, and experiments of "
        "Saddle. Decides each of the paper's claims by fixed rules, draws the figures, and compares the theorems' "
        "bounds with measurements: docs/reproduction.md. After an interrupt, the same command continues; with --only, "
        "claims and report also cover the other experiments that are finished in the directory. The exit status is 4 "
        "if a theorem's bound is violated; a claim that does not hold is a result, not an error.",
    )
    parser.add_argument("--only", default="", metavar="A,B,...", help="run only these experiments; the beginning of "
                        "a name, such as steps, stands for all whose names begin with it. 'field' compares published "
                        "methods, which takes an hour and a half on two cores and runs only if it is named; "
                        "'field-auc' does so on instances whose names begin with auc; 'field-figures' repeats figures "
                        "of their papers in shape")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="make short runs with few samples and 2 seeds, which "
                        "takes about a minute and shows that everything works")  # fmt: skip
    parser.add_argument("--seeds", type=int, metavar="K", help="repeat with seeds 1, 2, ..., K (default 10, or 2 with "
                        "--quick)")  # fmt: skip
    parser.add_argument("--output", type=Path, default=Path("saddle-reproduce"), metavar="DIR", help="directory for "
                        "traces, figures, claims and report (default saddle-reproduce); runs that are already "
                        "finished there are not repeated")  # fmt: skip
    parser.add_argument("--jobs", type=int, metavar="N", default=os.cpu_count() or 1, help="runs of 'field' at a time "
                        "(default: one per processor)")  # fmt: skip
    parser.add_argument("--threads", type=int, metavar="N", help="worker threads (default: all processors)")
    parser.add_argument("--quiet", action="store_true", help="print only the claims and warnings")
    parser.add_argument("--traces", nargs="+", type=Path, metavar="FILE", help="make no runs: test the claims of "
                        "section 4 on these traces of the paper's algorithms on one instance")  # fmt: skip
    given = parser.parse_args(arguments)
    if given.seeds is not None and not 1 <= given.seeds <= MOST_SEEDS:
        parser.error(f"--seeds must be from 1 to {MOST_SEEDS} (got {given.seeds})")
    if given.jobs < 1:
        parser.error(f"--jobs must be at least 1 (got {given.jobs})")
    if given.threads is not None and given.threads < 1:
        parser.error(f"--threads must be at least 1 (got {given.threads})")
    return given


# ---- which experiments ------------------------------------------------------------------------------


def choose(only: str) -> list[Part]:
    """Returns all experiments, with those of a list "a,b" of names or beginnings of names chosen; "": all."""
    names = [experiment.name for experiment in EXPERIMENTS]
    words = only.split(",") if only else []
    chosen = {name for name in names for word in words if word and (name + "-").startswith(word + "-")}
    for word in words:
        if not word or not any((name + "-").startswith(word + "-") for name in names):
            raise Usage(f"--only: '{word}' is not an experiment; the experiments are {', '.join(names)}, field")
    return [Part(experiment, not only or experiment.name in chosen) for experiment in EXPERIMENTS]


def substitutes(parts: Sequence[Part]) -> list[str]:
    """Returns the data sets of the paper that built-in data replace."""
    used = {part.experiment.data for part in parts if part.chosen}
    return [data for data in ("a9a", "mnist") if data in used and is_substitute(data)]


def check_overwriting(directory: Path, parts: Sequence[Part], quick: bool) -> None:
    """Refuses to overwrite results with lesser ones: of short runs, or on built-in data."""
    file = directory / "claims.json"
    if directory.exists() and not directory.is_dir():
        raise Usage(f"--output: '{directory}' is a file")
    if not file.exists():
        return
    before = json.loads(file.read_text())
    if quick and not before["quick"]:
        raise Usage(f"--output: '{directory}' holds results of full runs, which short runs would overwrite; give "
                    "another directory")  # fmt: skip
    for data in substitutes(parts):
        if before[data] == "file":
            raise Usage(f"--output: '{directory}' holds results on {data}, which is not found now: results on "
                        "built-in data would overwrite them; set SADDLE_DATA to its directory, or give another "
                        "output")  # fmt: skip


# ---- output -------------------------------------------------------------------------------------------


class Screen:
    """Prints what has been done and, on a terminal, what is being done."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.terminal = sys.stdout.isatty()

    def __call__(self, message: str, now: bool = False) -> None:
        if self.quiet or (now and not self.terminal):
            return
        if self.terminal:
            print(f"\r\033[K{message}", end="" if now else "\n", flush=True)
        else:
            print(message, flush=True)


def print_claims(outcomes: Sequence[claims.Outcome]) -> None:
    width = min(shutil.get_terminal_size().columns, 120)
    for ours, heading in ((False, "what the paper says, and what was measured"), (True, "what we add")):
        listed = [made for made in outcomes if (made.claim.source == "ours") == ours]
        if listed:
            print(f"\n{heading}")
        for made in listed:
            text = f"{made.claim.says} ({made.claim.source}): {made.verdict}"
            print(textwrap.fill(text, width, initial_indent=f"{pages.number(made):4}. ", subsequent_indent=" " * 6))


def print_end(runner: Runner) -> None:
    there = runner.total - runner.made
    if there == 0:
        made = "1 run made" if runner.total == 1 else f"all {runner.total} runs made"
    elif runner.made == 0:
        made = f"no run made, all {runner.total} existed"
    else:
        made = f"{runner.made} of {runner.total} runs made, the other {there} existed"
    print(f"\n{made}; claims.md, report.html, figures and traces are in {runner.directory}")


def draw(part: Part, directory: Path) -> bool:
    """Draws the figures of a part; returns False, with a warning, without matplotlib."""
    try:
        from . import figures
    except ImportError as why:
        warn(f"no figures: {why}")
        return False
    figures.draw(part, directory / "figures")
    return True


# ---- the command --------------------------------------------------------------------------------------


def compare_field(given: argparse.Namespace, directory: Path, words: Sequence[str]) -> None:
    if FIGURES in words:
        screen = Screen(given.quiet)
        field_figures.run(directory, given.quick, given.seeds, given.jobs, screen)
        screen(f"{FIGURES}: wrote {directory / FIGURES}.md")
        words = [word for word in words if word != FIGURES]
        if not words:
            return
    plan = field.narrowed(field.QUICK if given.quick else field.Plan(), [word[6:] for word in words if word[6:]])
    if given.seeds:
        plan = dataclasses.replace(plan, seeds=given.seeds)
    screen = Screen(given.quiet)
    try:
        field.run(directory, plan, given.jobs, screen)
    finally:
        field_page.write(directory, plan)
        screen(f"field: wrote {directory / 'field.md'}")


def reproduce(given: argparse.Namespace) -> int:
    words = given.only.split(",")
    ours = [word for word in words if (word + "-").startswith("field-")]
    others = [word for word in words if word not in ours]
    parts = choose(",".join(others)) if others else []
    directory: Path = given.output
    check_overwriting(directory, parts, given.quick)
    for data in substitutes(parts):
        warn(f"{data} WAS NOT FOUND: built-in data '{data_of(data)}' replace it, and the results are not the "
             f"paper's; `saddle data fetch {data}` downloads it")  # fmt: skip
    directory.mkdir(parents=True, exist_ok=True)
    held = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Usage(f"--output: another process is working in '{directory}'") from None
    if ours:
        compare_field(given, directory, ours)
    if not parts:
        return OK
    screen = Screen(given.quiet)
    seeds = given.seeds or (2 if given.quick else 10)
    runner = Runner(directory, seeds, given.quick, given.threads, screen)
    runner.total = sum(len(part.experiment.series) * seeds for part in parts if part.chosen)
    finished: list[Part] = []
    drawn = True
    for part in parts:
        if part.chosen:
            screen(f"{part.experiment.name}: {describe(part.experiment, given.quick)}")
        if runner.run(part):
            finished.append(part)
            if part.chosen and drawn:
                drawn = draw(part, directory)
    outcomes = claims.decide({part.experiment.name: part for part in finished})
    pages.write(directory, finished, outcomes, seeds, given.quick)
    print_claims(outcomes)
    if not given.quiet:
        print_end(runner)
    checks = [check for part in finished for check in (part.theorems or {}).values()]
    return CHECK_FAILED if any(check.seeds and check.violated for check in checks) else OK


def test_traces(paths: Sequence[Path]) -> int:
    """Tests the paper's comparison of algorithms on any traces of them on one instance."""
    runs: dict[str, dict[str, Any]] = {}
    compared = dataclasses.replace(EXPERIMENTS[0], name="your runs")
    first: dict[str, str] = {}
    for path in paths:
        trace = read_trace(path)
        if trace is None:
            raise Usage(f"--traces: '{path}' is not a trace file")
        for name in ("problem", "data", "samples", "agents", "topology", "mixing", "links"):
            value = trace.settings.get(name, "")
            if first.setdefault(name, value) != value:
                raise Usage(f"--traces: '{path}' has {name} {value}, '{paths[0]}' has {first[name]}; give traces of "
                            "one instance")  # fmt: skip
        algorithm, seed = trace.settings.get("algorithm", ""), trace.settings.get("seed", "")
        if seed in runs.setdefault(algorithm, {}):
            raise Usage(f"--traces: there are two runs of {algorithm} with seed {seed}; give those of one setting")
        runs[algorithm][seed] = trace
    seeds = sorted({seed for traces in runs.values() for seed in traces})
    series = [s for s in compared.series if s.name in runs]
    known = {s.name: [runs[s.name].get(seed) for seed in seeds] for s in series}
    outcomes = []
    for claim in claims.COMPARISON:
        tests = [test for test in claim.tests if set(test.series.split()) <= set(known)]
        if tests:
            outcomes.append(claims.outcome(claim, [claims.measure(test, compared, known) for test in tests]))
    if not outcomes:
        raise Usage("--traces: give traces of at least two of PRECISION, PRECISION+, Prox-GT-SGDA and Prox-DSGDA")
    print_claims(outcomes)
    print()
    print("\n".join(line for made in outcomes for line in pages.numbers(made)))
    return OK


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return test_traces(given.traces) if given.traces else reproduce(given)
    except Usage as why:
        return fail(why)
    except KeyboardInterrupt:
        print(f"\ninterrupted; the same command continues from '{given.output}'", file=sys.stderr)
        return INTERRUPTED
    except (OSError, saddle.FileError) as why:
        return fail(f"{why}; finished runs are kept, and the same command continues", FAILED)
    except saddle.Error as why:
        return fail(why)


if __name__ == "__main__":
    sys.exit(main())
