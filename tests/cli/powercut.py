#!/usr/bin/env python3
"""Simulates power failures at random moments of recorded runs, and resumes from what the disk may then contain.

    powercut.py SADDLE DISK.SO

DISK.SO, see disk.c, records what a run does to its files. A disk keeps the contents that a file had at its last
fsync and the entries that a directory had at its last fsync. It may have lost any part of everything after that:
each change of a directory, in any combination, and each block of a file. So one moment can leave many disks, of
which DISKS are tried, at SADDLE_MOMENTS random moments of each run and at its end.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SADDLE = os.path.abspath(sys.argv[1])
RECORDER = os.path.abspath(sys.argv[2])
MPIRUN = os.environ.get("SADDLE_MPIRUN") or "mpirun"
MOMENTS = int(os.environ.get("SADDLE_MOMENTS", 4))
BLOCK = 512
ITERATIONS, EVERY = 200, 20
# Each directory, and so its fsync, is for files of one kind.
TRACE, MODEL = "traces/trace.csv", "models/model.npz"
FILES = ["--trace", TRACE, "--model", MODEL]
RUN = ["run", "--problem", "auc", "--data", "synthetic:300", "--samples", "40", "--iterations", str(ITERATIONS),
       "--trace-every", "5", "--checkpoint", "ck", "--checkpoint-every", str(EVERY), *FILES]
RESUME = ["run", "--resume", "ck", *FILES]
DRAW = random.Random()  # its seed is set for every run and every disk
RESULTS = []


def check(name, holds, shown=""):
    RESULTS.append(bool(holds))
    if not holds:
        print(f"FAILED: {name} {shown}")


# ---- a disk -------------------------------------------------------------------------------------


class File:
    """A file's contents: those that are certainly on the disk, and those that the program sees."""

    def __init__(self, contents=b""):
        self.kept = self.now = contents


class Directory:
    """A directory's entries, in the same way, with the changes between them."""

    def __init__(self):
        self.kept, self.now, self.changes = {}, {}, []

    def change(self, *change):
        self.changes.append(change)
        apply(self.now, *change)

    def sync(self):
        self.kept, self.changes = dict(self.now), []


def apply(entries, gone, name, node):
    entries.pop(gone, None)
    if name is not None:
        entries[name] = node


def load(path):
    """A directory that is completely on the disk."""
    directory = Directory()
    for entry in path.iterdir():
        directory.now[entry.name] = load(entry) if entry.is_dir() else File(entry.read_bytes())
    directory.sync()
    return directory


class Disk:
    """Returns the state of a directory after some records."""

    def __init__(self, path):
        self.root, self.inode, self.ended = load(path), {}, False

    def directory(self, path):
        directory = self.root
        for part in path.parts:
            directory = directory.now[part]
        return directory

    def do(self, operation, inode, path, second, contents):
        parent, name = self.directory(path.parent), path.name
        if operation == "open":
            if name not in parent.now:
                self.inode[inode] = File()
                if name != "":
                    parent.change(None, name, self.inode[inode])
            else:
                self.inode[inode] = parent.now[name]
        elif operation in ("data", "sync"):
            self.inode[inode].now = contents
            if operation == "sync":
                self.inode[inode].kept = contents
        elif operation == "sync-directory":
            self.directory(path).sync()
        elif operation == "link":
            parent.change(None, name, self.inode[inode])
        elif operation == "rename":
            assert path.parent == second.parent
            parent.change(name, second.name, parent.now[name])
        elif operation == "unlink":
            parent.change(name, None, None)
        elif operation == "mkdir":
            parent.change(None, name, Directory())
        else:
            assert operation == "exit"
            self.ended = True


def read_records(path):
    records = []
    with open(path, "rb") as log:
        for line in log:
            operation, inode, size, paths = line.decode().rstrip("\n").split(" ", 3)
            first, second = (pathlib.PurePath(part) for part in paths.split("\t"))
            records.append((operation, inode, first, second, log.read(int(size))))
    return records


# ---- what a power failure leaves ----------------------------------------------------------------


def torn(file):
    """Returns the old contents, the new ones, or the new ones with blocks or the end lost."""
    kind = DRAW.randrange(3)
    if kind == 0 or file.now == file.kept:
        return file.kept
    if kind == 1:
        return file.now
    left = b""
    for at in range(0, DRAW.randrange(len(file.now) + 1), BLOCK):
        block = file.now[at : at + BLOCK]
        lost = DRAW.random() < 0.5 and block != file.kept[at : at + BLOCK]
        left += bytes(len(block)) if lost else block
    return left


def kept(file):
    return file.kept


# Which changes of directories happen, and the contents of files.
DISKS = {
    "nothing that was not synced": (lambda: False, kept),
    "all names, without contents": (lambda: True, kept),
    "some of both": (lambda: DRAW.random() < 0.5, torn),
    "some others": (lambda: DRAW.random() < 0.5, torn),
}


def leave(directory, path, happens, contents):
    """Creates a directory as a power failure may leave it."""
    entries = dict(directory.kept)
    for change in directory.changes:
        if happens():
            apply(entries, *change)
    path.mkdir()
    for name, node in entries.items():
        if isinstance(node, Directory):
            leave(node, path / name, happens, contents)
        else:
            (path / name).write_bytes(contents(node))


# ---- runs ---------------------------------------------------------------------------------------


def start(command, directory, **environment):
    return subprocess.run([SADDLE, *command] if command[0] == "run" else command, cwd=directory, text=True,
                          env=dict(os.environ, **environment), stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)


def rows(contents):
    """Returns the rows of a trace without their seconds."""
    lines = [line.split(",") for line in contents.decode().splitlines() if not line.startswith("#")]
    return [line[:5] + line[6:] for line in lines]


def results(directory):
    """Returns the results of a run, or None if they are incomplete."""
    try:
        trace, model = ((directory / path).read_bytes() for path in (TRACE, MODEL))
        return rows(trace), model
    except (OSError, UnicodeDecodeError):
        return None


def reported(disk, begin):
    """Returns the iteration of the last complete checkpoint, after which the run continued or ended."""
    if disk.ended:
        return ITERATIONS
    trace = disk.root.now["traces"].now.get("trace.csv", File())
    last = rows(trace.now)[-1:]
    reached = int(last[0][0]) if last and last[0][0].isdigit() else 0
    return max(begin, (reached - 1) // EVERY * EVERY)


def resume(name, directory, least, expected):
    """Resumes from what a power failure has left."""
    model = directory / MODEL
    if model.exists():
        check(f"{name}: a model is complete", model.read_bytes() == expected[1])
    ended = start([*RESUME, "--threads", str(DRAW.randrange(1, 3))], directory)
    found = re.search(r"from iteration (\d+), ck/checkpoint-", ended.stdout)
    if least == 0 and ended.returncode == 2:
        check(f"{name}: says that there is no checkpoint",
              re.search(r"there is no checkpoint in 'ck'|cannot read 'ck': No such file", ended.stderr), ended.stderr)
        ended = start([*RUN, "--resume", "auto"], directory)
        check(f"{name}: begins again", ended.returncode == 0 and not ended.stderr, ended.stderr)
    else:
        check(f"{name}: resumes", ended.returncode == 0 and found and not ended.stderr, ended.stderr)
        check(f"{name}: from iteration {least} or later", found and int(found.group(1)) >= least, ended.stdout)
    check(f"{name}: ends with the same trace and model", results(directory) == expected)
    if found is None or int(found.group(1)) < ITERATIONS:
        there = sorted(entry.name for entry in (directory / "ck").glob("*"))
        check(f"{name}: keeps two checkpoints and nothing else",
              len(there) == 2 and all(entry.endswith(".saddle") for entry in there), there)


def cut(name, work, before, begin, records, expected):
    """Simulates power failures in a run that began at an iteration with the files in `before`."""
    DRAW.seed(name)
    moments = sorted([len(records), *DRAW.sample(range(len(records)), min(MOMENTS, len(records)))])
    disk, done = Disk(before), 0
    for moment in moments:
        for record in records[done:moment]:
            disk.do(*record)
        done = moment
        for kind, (happens, contents) in DISKS.items():
            label = f"{name}, cut after operation {moment} of {len(records)}, {kind}"
            left = work / "left"
            DRAW.seed(label)
            leave(disk.root, left, happens, contents)
            if disk.ended:
                check(f"{label}: all files of a run that has ended are there", results(left) == expected)
            resume(label, left, reported(disk, begin), expected)
            shutil.rmtree(left)


def record(name, work, command, before, expected, **environment):
    """Runs a command in a copy of the directory `before`; returns what it did to its files."""
    directory, log = work / "recorded", work / "log"
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(before, directory)
    log.unlink(missing_ok=True)
    environment.update(DISK_ROOT=str(directory), DISK_LOG=str(log))
    if command[0] == "run":
        environment["LD_PRELOAD"] = RECORDER
    ended = start(command, directory, **environment)
    check(f"{name}: a run that is left alone", ended.returncode == 0, ended.stderr)
    check(f"{name}: its results", results(directory) == expected)
    records = read_records(log)
    disk = Disk(before)
    for done in records:
        disk.do(*done)
    everything = work / "everything"
    leave(disk.root, everything, lambda: True, lambda file: file.now)
    check(f"{name}: the record accounts for all files", contents_of(everything) == contents_of(directory))
    check(f"{name}: and for the end", disk.ended)
    shutil.rmtree(everything)
    return records


def contents_of(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def has_mpi(work):
    job = ["run", "--engine", "mpi", "--problem", "quadratic", "--iterations", "0", "--quiet"]
    return shutil.which(MPIRUN) and start([MPIRUN, "-n", "3", SADDLE, *job], work).returncode == 0


def main(work):
    empty, whole = work / "empty", work / "whole"
    for path in (TRACE, MODEL):
        (empty / path).parent.mkdir(parents=True)
    shutil.copytree(empty, whole)
    check("the undisturbed run", start([*RUN, "--threads", "1"], whole).returncode == 0)
    expected = results(whole)
    for threads in ("1", "2"):
        name = f"threads: {threads}"
        records = record(name, work, [*RUN, "--threads", threads], empty, expected)
        cut(name, work, empty, 0, records, expected)

    # A second power failure after resuming: everything that the first one left is on the disk.
    disk, resumed = Disk(empty), work / "resumed"
    for done in records[: len(records) // 2]:
        disk.do(*done)
    DRAW.seed("resumed")
    leave(disk.root, resumed, lambda: True, torn)
    records = record("resumed", work, RESUME, resumed, expected)
    cut("resumed", work, resumed, reported(disk, 0), records, expected)

    name = "no unnamed files"
    records = record(name, work, RUN, empty, expected, DISK_NAMED="1")
    cut(name, work, empty, 0, records, expected)

    if has_mpi(work):
        command = [MPIRUN, "-n", "3", "env", f"LD_PRELOAD={RECORDER}", SADDLE, *RUN, "--engine", "mpi"]
        records = record("3 processes", work, command, empty, expected)
        cut("3 processes", work, empty, 0, records, expected)
    else:
        print("skip: the engine mpi does not work here")


with tempfile.TemporaryDirectory(prefix="saddle-cut-") as place:
    main(pathlib.Path(place))
print(f"checks: {sum(RESULTS)} passed, {len(RESULTS) - sum(RESULTS)} failed")
sys.exit(not all(RESULTS))
