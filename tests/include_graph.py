#!/usr/bin/env python3
"""The structure of the source: which folder may include from which, and the size of files.

    include_graph.py SOURCE-DIRECTORY [--show]

Computes from the #include lines of src/, lab/, draw/ and cli/ which folder uses which, and fails when a
folder includes from one that SEES does not allow it, when folders or files form a cycle, when two source files
share a name, when two headers define types of the same name, when a header declares a function without a comment
above it or the functions that it stands with, when a file is longer than LONGEST, or when docs/architecture.md or
its picture lacks a folder or counts other lines. A public header, <saddle/...>, has the
rank of a folder: that folder and later ones may include it, and it includes no public header of a later one.
The tables below are all there is to edit; an exception that is no longer needed fails, too. --show prints the
graph.
"""
import collections
import pathlib
import re
import sys

# The order, lowest first, and what each folder may include besides itself.
SEES = {
    "core": "",
    "files": "core",
    "graph": "core files",
    "sets": "core files",
    "data": "core files",
    "models": "core files graph sets data",
    "problems": "core files graph sets data models",
    "algorithms": "core sets",
    "engines": "core graph problems algorithms",
    "peers": "core files graph algorithms engines",
    "observe": "core files graph sets data models problems algorithms engines",
    "instance": "core files graph sets data models problems algorithms engines observe",
    "checkpoint": "core files graph sets data models problems algorithms engines observe instance",
    "run": "core files graph sets data models problems algorithms engines observe instance checkpoint",
    "lab": "core files graph sets data models problems algorithms engines peers observe instance checkpoint run",
    "draw": "core files instance lab",
    "cli": "core files data models problems engines peers observe instance run lab draw",
}

# The rank of every public header: the first folder, in the order above, that may include it. Most are declared where
# they are implemented; the others are vocabulary that lower folders share.
PUBLIC = {
    "status.h": "core",
    "text.h": "core",
    "option.h": "core",
    "world.h": "core",
    "row.h": "core",  # what engines count and observers measure
    "graph.h": "graph",
    "set.h": "sets",
    "data.h": "data",
    "problem.h": "problems",
    "plan.h": "algorithms",  # whose tables of options name its fields
    "instance.h": "algorithms",  # what they run on
    "algorithm.h": "algorithms",
    "plugin.h": "algorithms",
    "run.h": "observe",  # which writes what runs and results hold to files
    "peer.h": "run",
    "saddle.h": "run",
    "lab.h": "lab",
}

# Includes that the tables do not allow.
EXCEPTIONS = {
    # The loader of shared objects knows the table that they export, but not what it points to.
    ("plugin.h", "<saddle/plugin.h>"),
}

# The most lines of a file.
LONGEST = 500

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
# The name in "} name;" and "typedef ... name;", before "__attribute__" or the parameters of a function type.
TYPE = re.compile(r"^(?:\}|typedef\b[^{;(]*?) ?\(?\*?(\w+)\)?(?: __attribute__\b|\(|;)", re.M)
# A declaration or definition of a function, which may name its type in the line before.
FUNCTION = re.compile(r"^(?!typedef|extern|return|_Static)[A-Za-z_][\w *]*[ *(]([a-z_]\w*)\(")
INCLUDE_PUBLIC = re.compile(r"^\s*#\s*include\s+<saddle/([^>]+)>", re.M)


def folder_of(path):
    """Returns the folder of a file: core for src/core/text.c, draw for draw/report/page.js."""
    parts = path.parts
    return parts[1] if parts[0] == "src" else parts[0]


def sources(root):
    for room in ("src", "lab", "draw", "cli"):
        for path in sorted((root / room).rglob("*.[ch]")):
            yield path.relative_to(root)


def resolve(root, path, name):
    """Returns the file that an #include names: next to the including one, in src/ or at the top."""
    for base in (path.parent, pathlib.Path("src"), pathlib.Path()):
        if (root / base / name).is_file():
            return pathlib.Path(*(root / base / name).resolve().relative_to(root).parts)
    return None


def cycle(arrows):
    """Returns folders or files that form a cycle of includes, or None."""
    left = {folder: set(to) for folder, to in arrows.items()}
    while left:
        ends = [folder for folder in left if not left[folder] & set(left)]
        if not ends:
            path = [min(left)]
            while path[-1] not in path[:-1]:
                path.append(min(left[path[-1]] & set(left)))
            return path[path.index(path[-1]):]
        for folder in ends:
            del left[folder]
    return None


def check_includes(root, files, faults):
    """Checks every #include against the table; returns the includes between folders and between files."""
    arrows = collections.defaultdict(set)
    file_arrows = {path: set() for path in files}
    for path in files:
        here = folder_of(path)
        if here not in SEES:
            faults.append(f"{path}: the folder {here} is not in the table")
            continue
        for name in INCLUDE.findall((root / path).read_text()):
            target = resolve(root, path, name)
            there = here if target is None else folder_of(target)  # None: made by the build
            if target is not None:
                file_arrows[path].add(target)
            if there == here:
                continue
            arrows[here].add(there)
            if there not in SEES[here].split():
                faults.append(f"{path} includes {target}, but {here} may include only from: {SEES[here]}")
    return arrows, file_arrows


def check_public(root, files, faults):
    """Checks every #include of a public header against its rank; returns their number."""
    order = list(SEES)
    unused = set(EXCEPTIONS)
    count = 0
    headers = sorted(path.relative_to(root) for path in (root / "include" / "saddle").glob("*.h"))
    for name in {path.name for path in headers} ^ set(PUBLIC):
        faults.append(f"include/saddle/{name}: the header or its rank in the table is missing")
        PUBLIC.setdefault(name, order[-1])
    for path in files + headers:
        here = PUBLIC[path.name] if path in headers else folder_of(path)
        for name in INCLUDE_PUBLIC.findall((root / path).read_text()):
            count += 1
            if order.index(PUBLIC.get(name, order[-1])) <= order.index(here):
                continue
            if (path.name, f"<saddle/{name}>") in EXCEPTIONS:
                unused.discard((path.name, f"<saddle/{name}>"))
                continue
            faults.append(f"{path} includes <saddle/{name}>, which is for {PUBLIC.get(name)} and later, not {here}")
    for name, target in sorted(unused):
        faults.append(f"{name} does not include {target} any more: remove the exception")
    return count


def check_names(files, faults):
    names = collections.defaultdict(list)
    for path in files:
        names[path.name].append(str(path))
    for paths in names.values():
        if len(paths) > 1:
            faults.append(f"{' and '.join(paths)} have the same name")


def check_types(root, files, faults):
    """Checks that no two headers define types of the same name; returns the number of types."""
    homes = collections.defaultdict(set)
    public = [path.relative_to(root) for path in sorted((root / "include" / "saddle").glob("*.h"))]
    for path in files + public:
        for found in TYPE.findall((root / path).read_text()) if path.suffix == ".h" else ():
            homes[found].add(str(path))
    faults += [f"{' and '.join(sorted(at))} define the same type {name}" for name, at in homes.items() if len(at) > 1]
    return len(homes)


def check_comments(root, files, faults):
    """Checks that every function of a private header has a comment above it, or above the functions that stand
    directly before it; returns the number of functions."""
    count = 0
    for path in files:
        text = (root / path).read_text() if path.suffix == ".h" else ""
        text = re.sub(r"(?<!\n)[ \t]*/\*.*?\*/", "", text, flags=re.S)  # what stands behind code
        text = re.sub(r"^#(?:.*\\\n)*.*\n", "#\n", text, flags=re.M)  # preprocessor lines
        for group in re.split(r"\n\s*\n", re.sub(r"^\{.*?^\}", "{}", text, flags=re.M | re.S)):
            said = False
            for line in group.split("\n"):
                said = said or (line.startswith("/*") and not line.startswith("/* --"))
                function = FUNCTION.match(line)
                count += function is not None
                if function and not said:
                    faults.append(f"{path}: nothing says what {function[1]}() does")
    return count


def check_lengths(root, files, faults):
    for path in files:
        lines = (root / path).read_text().count("\n")
        if lines > LONGEST:
            faults.append(f"{path} has {lines} lines, more than {LONGEST}: divide it")


def check_documents(root, faults):
    """The page and the picture of the architecture name every folder; returns how many there should be."""
    pages = ("docs/architecture.md", "docs/pictures/folders.svg")
    for page in pages:
        text = (root / page).read_text()
        faults += [f"{page} does not name {folder}/" for folder in SEES if f"{folder}/" not in text]
    return len(pages) * len(SEES)


def check_counts(root, faults):
    """The page says how many lines of C there are, right to a tenth; returns the number of counts."""
    text = (root / "docs/architecture.md").read_text(encoding="utf-8")
    counts = re.findall(r"`([\w/]+)/` ([\d,]+)", text[text.index("Lines of C"):].split("\n\n")[0])
    for folder, number in counts:
        lines = sum(path.read_bytes().count(b"\n") for path in (root / folder).rglob("*.[ch]"))
        if not 0.9 * lines <= int(number.replace(",", "")) <= 1.1 * lines:
            faults.append(f"docs/architecture.md: {folder}/ has {lines} lines of C, not about {number}")
    return len(counts)


def main(root):
    files = list(sources(root))
    faults = []
    arrows, file_arrows = check_includes(root, files, faults)
    for what, round_trip in (("folders", cycle(arrows)), ("files", cycle(file_arrows))):
        if round_trip is not None:
            faults.append(f"the {what} form a cycle: " + " -> ".join(map(str, round_trip)))
    public = check_public(root, files, faults)
    check_names(files, faults)
    types = check_types(root, files, faults)
    functions = check_comments(root, files, faults)
    check_lengths(root, files, faults)
    named = check_documents(root, faults) + check_counts(root, faults)
    for fault in faults:
        print("FAILED:", fault)
    if "--show" in sys.argv:
        for folder in SEES:
            print(f"{folder:12} -> {' '.join(sorted(arrows[folder], key=list(SEES).index))}")
    checks = 3 * len(files) + public + types + functions + named + 2
    print(f"checks: {max(checks - len(faults), 0)} passed, {len(faults)} failed")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
