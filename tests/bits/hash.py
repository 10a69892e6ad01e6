"""hash.py DIRECTORY...: prints for each directory a hash of what the commands run in it computed,
or `error: WHY`.

Only values count, not their presentation. Columns of CSV files and settings of YAML files are chosen
by the names below and read as doubles; arrays of models are chosen by the names below and read as raw
bytes; of *.out, which is standard output, only cells that are numbers count. The names of these
files and the exit status in the file `code` count too.
"""

import ast
import csv
import hashlib
import os
import struct
import sys
import zipfile

COLUMNS = """
    iteration ifo rounds messages bytes loss primal metric x_stationarity x_consensus y_consensus
    y_gap stationarity potential
    train_auc train_pair_loss train_loss train_accuracy train_demographic_parity_gap
    train_equalized_odds_gap train_clean_loss train_clean_accuracy train_poisoned_loss
    train_poisoned_accuracy train_perturbation_norm train_perturbation_bound
    test_auc test_pair_loss test_loss test_accuracy test_demographic_parity_gap
    test_equalized_odds_gap test_clean_loss test_clean_accuracy test_poisoned_loss
    test_poisoned_accuracy test_perturbation_norm test_perturbation_bound
    train_mspbe train_value_error test_mspbe test_value_error
    algorithm seed level
    rung candidate allotment iterations nu eta tau alpha eta-x eta-y
    """.split()
SETTINGS = ["nu", "eta", "tau", "alpha", "eta-x", "eta-y", "metric-tau"]
ARRAYS = ["xbar", "ybar", "x", "y"]


def value(text):
    """Returns the bytes of a number, or of a word such as `never`."""
    try:
        return struct.pack("<d", float(text))
    except ValueError:
        return text.encode()


def csv_values(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    for name in COLUMNS:
        if rows and name in rows[0]:
            column = rows[0].index(name)
            yield name.encode()
            yield from (value(row[column]) for row in rows[1:])


def npz_values(path):
    with zipfile.ZipFile(path) as archive:
        for name in ARRAYS:
            content = archive.read(name + ".npy")
            # The length of the header has two bytes in version 1 of .npy, later four.
            begin = 10 if content[6] == 1 else 12
            end = begin + int.from_bytes(content[8:begin], "little")
            header = ast.literal_eval(content[begin:end].decode())
            yield f"{name} {header['descr']} {header['shape']}".encode()
            yield content[end:]


def yaml_values(path):
    with open(path) as file:
        found = dict(line.split(":", 1) for line in file if ":" in line and line[0] != "#")
    for name in SETTINGS:
        if name in found:
            yield name.encode()
            yield value(found[name].strip().strip("'\""))


def out_values(path):
    """Splits a line into cells, which are separated by at least two spaces; words within them by one."""
    with open(path) as file:
        for cell in (cell for line in file for cell in line.strip().split("  ")):
            try:
                yield struct.pack("<d", float(cell))
            except ValueError:
                pass


READERS = {".csv": csv_values, ".npz": npz_values, ".yaml": yaml_values, ".out": out_values}


def parts(directory):
    with open(os.path.join(directory, "code"), "rb") as file:
        yield file.read()
    for name in sorted(os.listdir(directory)):
        reader = READERS.get(os.path.splitext(name)[1])
        if reader is not None:
            values = list(reader(os.path.join(directory, name)))
            if len(values) < 2:
                raise ValueError(f"{name} has no values that are known")
            yield name.encode()
            yield from values


def directory_hash(directory):
    digest = hashlib.sha256()
    for part in parts(directory):
        # The length distinguishes different sequences of parts.
        digest.update(struct.pack("<Q", len(part)) + part)
    return digest.hexdigest()[:16]


for each in sys.argv[1:]:
    try:
        print(directory_hash(each))
    except (OSError, ValueError, KeyError, IndexError, SyntaxError, zipfile.BadZipFile) as error:
        print("error:", error)
