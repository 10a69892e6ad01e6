"""The layout of structs as cffi computes it against that of a C compiler."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from saddle._library import VERSION, ffi, lib, text
from saddle.trace import ROW

HEADERS = Path(__file__).resolve().parents[2] / "include"


def structs():
    """Names of all structs of the headers whose fields are known."""
    out = []
    for name in ffi.list_types()[0]:
        try:
            kind = ffi.typeof(name)
        except ffi.error:  # the type of a function
            continue
        if kind.kind == "struct" and kind.fields:
            out.append(name)
    return out


@pytest.fixture
def compiler():
    found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("there is no C compiler")
    return found


def test_layouts(compiler, tmp_path):
    lines, expected = [], []
    for name in structs():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append((name, ffi.sizeof(name)))
        for field, kind in ffi.typeof(name).fields:
            lines.append(
                f'printf("%zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));'
            )
            expected.append((f"{name}.{field}", f"{kind.offset} {ffi.sizeof(kind.type)}"))
    source = tmp_path / "layouts.c"
    body = "\n".join(lines)
    source.write_text(
        "#include <stddef.h>\n#include <stdio.h>\n#include <saddle/lab.h>\n"
        f"int main(void) {{{body}}}\n"
    )
    built = tmp_path / "layouts"
    subprocess.run([compiler, "-I", str(HEADERS), str(source), "-o", str(built)], check=True)
    found = subprocess.run(
        [built], check=True, text=True, stdout=subprocess.PIPE
    ).stdout.splitlines()
    assert len(expected) > 300
    assert [(name, str(value)) for name, value in expected] == [
        (name, line) for (name, _), line in zip(expected, found)
    ]


OTHER_ABI = """
#include <stdio.h>
#include <saddle/plan.h>
const char *saddle_version(void) { return "%s"; }
void saddle_plan_free(saddle_plan *plan) { (void)plan; }
void saddle_plan_defaults_for(saddle_plan *plan, size_t size, uint32_t abi)
{
    plan->size = size;
    plan->abi = abi;
}
saddle_status saddle_plan_set(saddle_plan *plan, const char *name, const char *value,
                              saddle_error *error)
{
    (void)name, (void)value;
    snprintf(error->message, sizeof error->message, "the plan has ABI %%u, not 99; ...", plan->abi);
    return SADDLE_BAD_INPUT;
}
"""


@pytest.mark.parametrize(
    "source, words",
    [
        ('const char *saddle_version(void) { return "0.0.7"; }', ["version 0.0.7;"]),
        (OTHER_ABI % VERSION, [f"version {VERSION}, but another ABI", "not 99;"]),
        ("int other;", ["it is not libsaddle"]),
    ],
)
def test_other_libraries_are_refused(compiler, tmp_path, source, words):
    (tmp_path / "other.c").write_text(source)
    other = tmp_path / "libother.so"
    command = [compiler, "-shared", "-fPIC", "-I", str(HEADERS), str(tmp_path / "other.c"), "-o"]
    subprocess.run([*command, str(other)], check=True)
    code = "try:\n    import saddle\nexcept ImportError as error:\n    print(error)"
    environment = {**os.environ, "SADDLE_LIBRARY": str(other)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, text=True,
                          stdout=subprocess.PIPE, check=True)  # fmt: skip
    for word in (*words, str(other), f"libsaddle {VERSION}, ABI {lib.SADDLE_ABI}", "same source"):
        assert word in done.stdout


def test_constants():
    assert text(lib.saddle_version()) == VERSION
    assert lib.SADDLE_OK == 0
    assert f"#define SADDLE_ABI {lib.SADDLE_ABI}u" in (HEADERS / "saddle/status.h").read_text()


def test_every_function_of_the_headers_is_there():
    declared = {name for name in dir(lib) if name.startswith("saddle_")}
    assert len(declared) > 120
    missing = set()
    for name in declared - {"saddle_plugin"}:
        try:
            getattr(lib, name)
        except AttributeError:
            missing.add(name)
    assert not missing


def test_rows_have_the_columns_of_a_trace():
    row = ffi.new("saddle_row *")
    names = [text(lib.saddle_trace_column_name(k)) for k in range(lib.SADDLE_TRACE_COLUMNS)]
    assert ROW.itemsize == ffi.sizeof("saddle_row")
    view = np.frombuffer(ffi.buffer(row), dtype=ROW)
    for k, name in enumerate(names):
        view[name][0] = k + 1
        assert lib.saddle_row_cell(row, k) == k + 1
