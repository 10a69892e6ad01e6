"""`python3 -m experiments.zoo`: makes the runs that are missing, several at a time, and writes the page."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from pathlib import Path

from ..side_by_side import Line, make, read_lines
from .instances import Instance, everything
from .page import write_page
from .runs import PIECES, is_stale, make_run

INTERRUPTED = 130


def _said(line: Line) -> str:
    gap = line.get("gap")
    end = line.get("error") or f"{line['stop']}, gap {'-' if gap is None else format(gap, '.1e')}"
    return f"{line['instance']}, {line['what']}: {end}, {line.get('seconds', 0):.0f} s"


def _make_missing(options: argparse.Namespace, path: Path) -> None:
    """Makes the runs that are missing, first those that took longest before, or were never made."""
    lines = read_lines(path)
    by_name = {instance.name: instance for instance in everything()}
    done = {(line["instance"], line["what"]) for line in lines if not is_stale(line, by_name)}
    took = {(line["instance"], line["what"]): line.get("seconds", 0.0) for line in lines}
    chosen = [(i, what) for what in PIECES for i in everything() if options.only in i.name]
    todo = [(i, what) for i, what in chosen if (i.name, what) not in done]
    if not todo:
        return
    todo.sort(key=lambda task: -took.get((task[0].name, task[1]), math.inf))
    print(f"zoo: {len(todo)} of {len(chosen)} runs are missing, {options.jobs} at a time", flush=True)
    begin = time.monotonic()
    for k, line in enumerate(make(make_run, todo, path, options.jobs, options.seconds), 1):
        print(f"[{k}/{len(todo)}, {time.monotonic() - begin:.0f} s] {_said(line)}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/zoo", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="only instances whose name contains this")
    parser.add_argument("--output", metavar="DIR", default="saddle-zoo", help="where results.jsonl is (saddle-zoo)")
    parser.add_argument("--page", metavar="FILE", help="the page to write (DIR/defaults.md)")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--seconds", metavar="S", type=float, help="give up runs that have not ended after this time; "
                        "the same command makes them later")
    parser.add_argument("--no-runs", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)

    path = Path(options.output) / "results.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if not options.no_runs:
            _make_missing(options, path)
    except KeyboardInterrupt:
        print(f"zoo: interrupted; what has ended is in {path}, and the same command continues", file=sys.stderr)
        return INTERRUPTED
    page = Path(options.page or path.parent / "defaults.md")
    by_name = {instance.name: instance for instance in everything()}
    latest = {(line["instance"], line["what"]): line for line in read_lines(path)}
    stale = sum(is_stale(line, by_name) for line in latest.values() if line["what"] != "missing")
    write_page(page, list(latest.values()), stale)
    print(f"zoo: wrote {page}" + (f"; {stale} of its runs are of another version" if stale else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
