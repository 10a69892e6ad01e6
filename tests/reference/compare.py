#!/usr/bin/env python3
"""Compares two traces column by column: compare.py FOUND EXPECTED.

Counts must be equal; every other column but the seconds must agree to 1e-9 relative. The parts of
the metric are sums of squares whose terms cancel: what is left of them below 1e-22 of the largest
metric is rounding, and is not compared.
"""
import csv
import sys

COUNTS = ("iteration", "ifo", "rounds", "messages", "bytes")
SQUARES = ("metric", "x_stationarity", "x_consensus", "y_consensus", "y_gap")


def read(path):
    with open(path, encoding="ascii", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def main():
    found, expected = read(sys.argv[1]), read(sys.argv[2])
    for row in found:
        if row.pop("gap") != "":
            sys.exit("a gap was measured")
    if not expected or len(found) != len(expected) or list(found[0]) != list(expected[0]):
        sys.exit(f"{len(found)} rows of {list(found[0]) if found else []}, "
                 f"expected {len(expected)} of {list(expected[0]) if expected else []}")
    negligible = 1e-22 * max(float(row["metric"]) for row in expected)
    worst, place = 0.0, "nowhere"
    for a, b in zip(found, expected):
        for name in b:
            if name in COUNTS and int(a[name]) != int(b[name]):
                sys.exit(f"iteration {b['iteration']}: {name} is {a[name]}, expected {b[name]}")
            if name in COUNTS or name == "seconds":
                continue
            off, size = abs(float(a[name]) - float(b[name])), abs(float(b[name]))
            if name in SQUARES and off <= negligible:
                continue
            error = off / size if size > 0.0 else (0.0 if off == 0.0 else float("inf"))
            if not error <= worst:
                worst, place = error, f"{name} at iteration {b['iteration']}"
    print(f"{len(found)} rows agree to {worst:.2g} relative; the worst is {place}")
    if not worst <= 1e-9:
        sys.exit("more than 1e-9 apart")


if __name__ == "__main__":
    main()
