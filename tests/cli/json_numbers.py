#!/usr/bin/env python3
"""json_numbers.py EXPRESSION: exits with 0 if it is true. Without one, reads expressions, one on a line, and answers
each with a line: true, or why not.

An expression can use o, the object in object.json; text and err, the files of that name; and the functions below.
"""
import csv
import re
import sys

import json_schema


def read(path):
    try:
        return open(path, encoding="utf-8", errors="replace").read()
    except FileNotFoundError:
        return ""


o, text, err = {}, "", ""
columns = ["iteration", "ifo", "rounds", "messages", "bytes", "seconds", "network_seconds", "age", "present", "components", "loss", "primal", "metric", "x_stationarity",
           "x_consensus", "y_consensus", "y_gap", "stationarity", "potential", "gap"]


def near(a, b, tolerance):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def shown(pattern):
    """Returns the number that the first group of a pattern matches in the text, with whitespace collapsed."""
    return float(re.search(pattern, " ".join(text.split()))[1])


def head(path):
    return dict(re.findall(r"^# ([^ :]+): (.*)$", read(path), re.M))


def cell(value):
    return None if value == "" else float(value)


def table(path):
    return list(csv.DictReader(each for each in open(path) if not each.startswith("#")))


def trace(path):
    """Returns the columns of a file in the form of an object; a column that only other runs have is null."""
    rows = table(path)
    found = {name: [cell(row[name]) for row in rows] for name in rows[0]}
    absent = ("network_seconds", "age", "present", "components")
    return {name: [None] * len(rows) for name in absent} | found


def same_settings(settings, path):
    """Returns whether a trace's head has all settings that are not null, and no other option."""
    lines = head(path)
    for name in ("untuned", "x_dim", "y_dim", "edges", "mixing_lambda2", "mixing_lambda_m", "mixing_lambda", "problem_L",
                 "problem_mu", "fingerprint", "disagreement", "ended"):
        lines.pop(name, None)
    lines = {name.replace("-", "_"): value for name, value in lines.items() if value != "auto" or name in ("format", "header")}
    given = {name: value for name, value in settings.items() if value is not None}
    if lines.keys() != given.keys():
        return False
    for name, value in given.items():
        if isinstance(value, bool):
            same = lines[name] == ("yes" if value else "no")
        elif isinstance(value, str):
            same = lines[name] == value
        else:
            same = float(lines[name]) == value
        if not same:
            return False
    return True


def good_range(shown, values):
    """Returns whether mean and range are those of the values."""
    values = [value for value in values if value is not None]
    if not values:
        return shown == {"mean": None, "min": None, "max": None}
    return (near(shown["mean"], sum(values) / len(values), 1e-14) and shown["min"] == min(values) and
            shown["max"] == max(values))


def same_summary(comparison, path):
    """Returns whether the rows of all runs are those of summary.csv, in the same order."""
    wanted = []
    for algorithm in comparison["algorithms"]:
        for run in algorithm["runs"]:
            for level, row in zip(comparison["levels"] + ["end"], run["levels"] + [run["final"]]):
                wanted.append((algorithm["name"], run["seed"], level, row))
    rows = table(path)
    if len(rows) != len(wanted) or len(rows) < 2:
        return False
    for row, (name, seed, level, shown) in zip(rows, wanted):
        where = row.pop("level")
        if row.pop("algorithm") != name or int(row.pop("seed")) != seed:
            return False
        if where != level and float(where) != level:
            return False
        if shown is None:
            if row["ifo"] != "never":
                return False
        elif any(cell(value) != shown[key] for key, value in row.items()):
            return False
    return True


def answer(expression):
    """Returns "true", or why it is not."""
    global o, text, err  # pylint: disable=global-statement
    try:
        o, text, err = json_schema.load("object.json"), read("text"), read("err")
        return "true" if eval(expression) else "false"  # pylint: disable=eval-used
    except Exception as error:  # pylint: disable=broad-exception-caught
        return repr(error).replace("\n", " ")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(None if answer(sys.argv[1]) == "true" else answer(sys.argv[1]) + ": " + sys.argv[1])
    for each in sys.stdin:
        print(answer(each), flush=True)
