#!/usr/bin/env python3
"""test_null_arguments.py LIBRARY SOURCE

Calls every function of the public headers that returns a status once for each of its pointers, with that one NULL.
The call must return SADDLE_BAD_INPUT with a message that names the argument. The other pointers lead to zeros:
arguments are checked before any of them is followed. Every function that frees must accept NULL.
"""
import ctypes
import os
import re
import sys
from pathlib import Path

BAD_INPUT = 1

# Pointers that may be NULL according to the headers.
OPTIONAL = {
    "saddle_dataset_from_dense": {"label"},
    "saddle_dataset_from_csr": {"label", "column", "value"},
    "saddle_dataset_load": {"options"},
    "saddle_dataset_name_columns": {"label"},
    "saddle_dataset_make_binary": {"positive"},
    "saddle_dataset_positive": {"positive"},
    "saddle_data_fetch": {"options"},
    "saddle_partition_create": {"samples"},
    "saddle_predictor_load": {"plugin"},
    "saddle_predictor_data": {"options"},
    "saddle_predictor_evaluate": {"positive"},
    "saddle_checkpoint_examine": {"plan"},
    "saddle_peer_run": {"options"},
    "saddle_plan_resume": {"world"},
    "saddle_plan_set": {"text"},
    "saddle_tune": {"plan", "inputs", "hooks"},
    "saddle_tune_least_budget": {"plan"},
    "saddle_run": {"plan", "hooks"},
    "saddle_solve": {"problem"},
    "saddle_set_from_class": {"argument", "context"},
    "saddle_regularizer_from_class": {"argument", "context"},
    "saddle_set_box": {"lower", "upper"},
    "saddle_world_sum": {"context"},
}
# It records failures: its arguments are not checked.
EXCEPT = {"saddle_fail"}


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 1024)]


def declarations(source):
    """Returns (return type, name, [(parameter, is a pointer, is a double)]) of every public function."""
    for header in sorted(Path(source, "include/saddle").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for kind, name, parameters in re.findall(
                r"^SADDLE_API\s+([^;()]*?)(\w+)\(([^;]*?)\)[^;()]*;", text, flags=re.S | re.M):
            words = [" ".join(p.split()) for p in parameters.split(",")]
            yield " ".join(kind.split()), name, [
                (re.sub(r"\[.*", "", w).split()[-1].lstrip("*"), "*" in w or "[" in w, w.startswith("double "))
                for w in words if w != "void"]


def in_child(call):
    """Returns whether a call in a separate process returns True, and how that process ended."""
    child = os.fork()
    if child == 0:
        os._exit(0 if call() else 1)
    _, status = os.waitpid(child, 0)
    return status == 0, f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else ""


def refuses(function, parameters, absent):
    zeros = ctypes.create_string_buffer(1 << 16)
    error = Error()
    arguments = []
    for name, pointer, double in parameters:
        if name == "error":
            arguments.append(ctypes.byref(error))
        elif pointer:
            arguments.append(ctypes.c_void_p(None) if name == absent else ctypes.byref(zeros))
        else:
            arguments.append(ctypes.c_double(1.0) if double else ctypes.c_size_t(1))
    function.restype = ctypes.c_int
    status = function(*arguments)
    message = error.message.decode()
    good = (status == BAD_INPUT and error.status == BAD_INPUT and re.search(rf"\b{absent} is NULL", message))
    if not good:
        print(f"    returned {status}, message '{message}'", flush=True)
    return good


def frees(function):
    function.restype = None
    function(ctypes.c_void_p(None))
    return True


def main():
    library = ctypes.CDLL(sys.argv[1])
    passed = 0
    failed = []
    unknown = {(f, p) for f, names in OPTIONAL.items() for p in names}
    for kind, name, parameters in declarations(sys.argv[2]):
        function = getattr(library, name)
        pointers = [p for p, pointer, _ in parameters if pointer and p != "error"]
        unknown -= {(name, p) for p in pointers}
        if kind == "saddle_status" and name not in EXCEPT:
            cases = [(f"{name}({p} = NULL)", lambda p=p: refuses(function, parameters, p))
                     for p in pointers if p not in OPTIONAL.get(name, ())]
        elif name.endswith("_free"):
            cases = [(f"{name}(NULL)", lambda: frees(function))]
        else:
            cases = []
        for title, call in cases:
            good, how = in_child(call)
            passed += good
            if not good:
                failed.append(title)
                print(f"FAIL {title} {how}", flush=True)
    for function, parameter in sorted(unknown):
        failed.append(function)
        print(f"FAIL there is no pointer {parameter} of {function}")
    print(f"{passed} checks passed, {len(failed)} failed")
    return 1 if failed or passed < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
