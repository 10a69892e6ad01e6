"""`python3 -m experiments.zoo`: makes the runs that are missing, two at a time, and writes the page."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path
from typing import Any

from .instances import Instance, everything
from .page import write_page
from .runs import PIECES, is_stale, pieces, read_lines


def _append(path: Path, line: dict[str, Any]) -> None:
    """Appends a line with one write, so that those of several processes do not mix."""
    with open(path, "ab", buffering=0) as stream:
        stream.write((json.dumps(line) + "\n").encode())


def _complete_last_line(path: Path) -> None:
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        with open(path, "ab") as stream:
            stream.write(b"\n")


def _run(task: tuple[Instance, str, Path]) -> str:
    instance, what, path = task
    said = []
    for line in pieces(instance, set(), (what,)):
        _append(path, line)
        gap = line.get("gap")
        end = line.get("error") or f"{line['stop']}, gap {'-' if gap is None else format(gap, '.1e')}"
        said.append(f"{instance.name}, {line['what']}: {end}, {line.get('seconds', 0):.0f} s")
    return "\n".join(said)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/zoo", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="only instances whose name contains this")
    parser.add_argument("--output", metavar="DIR", default="saddle-zoo", help="where results.jsonl is (saddle-zoo)")
    parser.add_argument("--page", metavar="FILE", help="the page to write (DIR/defaults.md)")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--no-runs", action="store_true", help="only write the page")
    options = parser.parse_args(arguments)

    path = Path(options.output) / "results.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    _complete_last_line(path)
    done: dict[str, set[str]] = {}
    by_name = {instance.name: instance for instance in everything()}
    for line in read_lines(path):
        if not is_stale(line, by_name):
            done.setdefault(line["instance"], set()).add(line["what"])
    chosen = [instance for instance in everything() if options.only in instance.name]
    todo = [(i, what, path) for what in PIECES for i in chosen if what not in done.get(i.name, set())]
    if todo and not options.no_runs:
        print(f"zoo: {len(todo)} of {len(chosen) * len(PIECES)} runs are missing, {options.jobs} at a time", flush=True)
        begin = time.monotonic()
        with multiprocessing.Pool(options.jobs) as pool:
            for k, said in enumerate(pool.imap_unordered(_run, todo), 1):
                print(f"[{k}/{len(todo)}, {time.monotonic() - begin:.0f} s] {said}", flush=True)
    page = Path(options.page or path.parent / "defaults.md")
    latest = {(line["instance"], line["what"]): line for line in read_lines(path)}
    stale = sum(is_stale(line, by_name) for line in latest.values() if line["what"] != "missing")
    write_page(page, list(latest.values()), stale)
    print(f"zoo: wrote {page}" + (f"; {stale} of its runs are of another version" if stale else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
