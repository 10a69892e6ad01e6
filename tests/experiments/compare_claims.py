#!/usr/bin/python3
"""Compares two results of the paper's experiments, verdict by verdict and number by number.

    tests/experiments/compare_claims.py A B [--traces]

A and B are files claims.md beside claims-tests.csv, or directories that also have claims.json, costs.csv, ends.csv and
traces. Wording may differ; verdicts, names of tests, numbers and their order may not. --traces also compares the traces
of two directories byte for byte, except for seconds, threads and paths. Prints what differs; the exit status is 1 if
something does.
"""

import csv
import json
import math
import re
import sys
from pathlib import Path

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.]*\w)")


def claims_of(path):
    """Returns {claim: {test: cells}}, {claim: [number, verdict, weakest]} and the tests behind chance."""
    claims = {}
    with open(path.with_name("claims-tests.csv"), encoding="utf-8", newline="") as file:
        for claim, *test in list(csv.reader(file))[1:]:
            claims.setdefault(claim, {})[tuple(test[:2])] = test[2:]
    text = path.read_text(encoding="utf-8")
    rows = re.findall(r'^\| <a id="([^"]+)"></a>(\d+) \|.*\*\*(.*)\*\* \| (.*) \|$', text, re.M)
    chance = re.findall(r"of the (\d+) tests at levels of which method is first, at most (\S+) would", text)
    return claims, {name: row for name, *row in rows}, chance


def compare_claims(a, b, differ):
    left, right = claims_of(a), claims_of(b)
    if left[2] != right[2]:
        differ(f"chance: {left[2]} {right[2]}")
    if left[1] != right[1]:
        differ("the tables of verdicts")
    if list(left[0]) != list(right[0]):
        differ(f"claims: {set(left[0]) ^ set(right[0])}")
    tests = 0
    for name in left[0].keys() & right[0].keys():
        rows, others = left[0][name], right[0][name]
        if list(rows) != list(others):
            differ(f"{name}: tests {list(rows)} | {list(others)}")
        for test in rows.keys() & others.keys():
            tests += 1
            if rows[test] != others[test]:
                differ(f"{name}: {test}: {rows[test]} | {others[test]}")
    lists = [path.read_text(encoding="utf-8").split("## Experiments")[1] for path in (a, b)]
    experiments = [re.findall(r"^- ([\w, -]+): (.*)$", text, re.M) for text in lists]
    for (name, text), (other, other_text) in zip(*experiments):
        if (name, NUMBER.findall(text)) != (other, NUMBER.findall(other_text)):
            differ(f"experiment {name}: {text} | {other_text}")
    count = sum(names.count(",") + 1 for names, _ in experiments[0])
    return f"{len(left[0])} claims, {tests} tests, {count} experiments"


def compare_json(a, b, differ, path=""):
    """Compares numbers to 12 digits, and texts except for how claims are read."""
    if isinstance(a, dict) and a.get("won") == a.get("lost") == a.get("tied") == 0:
        return  # nothing was measured at this level
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a.keys() - {"reading", "version"}:
            compare_json(a[key], b[key], differ, f"{path}/{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b)):
            compare_json(x, y, differ, f"{path}/{k}")
    elif isinstance(a, float) or isinstance(b, float):
        if None in (a, b) or not math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12):
            differ(f"{path}: {a} | {b}")
    elif a != b:
        differ(f"{path}: {a} | {b}")


def timeless(path):
    """Returns a trace without what depends on the clock or the place."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    column = lines[start].split(",").index("seconds")
    out = [line for line in lines if not re.match(r"# (threads|trace|churn|saddle)\b", line)]
    return [line if line.startswith("#") else line.split(",")[:column] + line.split(",")[column + 1 :] for line in out]


def compare_traces(a, b, differ):
    names = [{str(p.relative_to(root)) for p in root.glob("traces/*/*.csv")} for root in (a, b)]
    for name in names[0] ^ names[1]:
        differ(f"only in one: {name}")
    for name in sorted(names[0] & names[1]):
        if timeless(a / name) != timeless(b / name):
            differ(f"trace {name}")
    return f"{len(names[0] & names[1])} traces"


def main(a, b, *flags):
    a, b = Path(a), Path(b)
    differences = []
    compared = []
    if a.is_dir() and b.is_dir():
        for name in ("costs.csv", "ends.csv"):
            if (a / name).read_text() != (b / name).read_text():
                differences.append(name)
        documents = [json.loads((root / "claims.json").read_text()) for root in (a, b)]
        compare_json(*documents, differences.append)
        if "--traces" in flags:
            compared.append(compare_traces(a, b, differences.append))
    files = [path / "claims.md" if path.is_dir() else path for path in (a, b)]
    compared.insert(0, compare_claims(*files, differences.append))
    for line in differences:
        print(line)
    print(f"{', '.join(compared)}: {len(differences) or 'no'} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in (3, 4) else __doc__)
