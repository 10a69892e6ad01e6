"""Writes saddle/_declarations.py from the headers of the library.

    python3 declarations.py COMPILER INCLUDE_DIRECTORY VERSION OUTPUT

The C preprocessor expands <saddle/lab.h>, and cffi turns the result into a Python module without C
code, so that types, functions and constants are those of the headers. VERSION is that of the
library.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cffi

# cffi knows the types of these headers, and the declarations need nothing else from them.
SYSTEM_HEADERS = ("math.h", "signal.h", "stdbool.h", "stddef.h", "stdint.h")


def preprocess(compiler: str, include: str, *flags: str) -> str:
    """Returns <saddle/lab.h> after preprocessing, without system headers."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            (Path(empty) / name).touch()
        command = [compiler, "-E", "-P", "-nostdinc", "-D__attribute__(x)=", *flags]
        command += ["-I", empty, "-I", include, "-x", "c", "-"]
        source = "#include <saddle/lab.h>\n"
        done = subprocess.run(command, input=source, text=True, stdout=subprocess.PIPE, check=True)
        return done.stdout


def declarations(compiler: str, include: str) -> str:
    """Returns the input of cffi: declarations, and the constants that are integers."""
    text = preprocess(compiler, include)
    text = re.sub(r"static inline[^{]*\{.*?\n\}", "", text, flags=re.S)
    text = text.replace("(size_t)", "")  # casts in lengths of arrays
    macros = preprocess(compiler, include, "-dM")
    constants = re.findall(r"^#define (SADDLE_\w+) (\d+)u?$", macros, flags=re.M)
    lines = [f"#define {name} {value}" for name, value in sorted(constants)]
    return "\n".join(["typedef int sig_atomic_t;", text, *lines])


def main() -> None:
    compiler, include, version, output = sys.argv[1:]
    builder = cffi.FFI()
    builder.cdef(declarations(compiler, include))
    builder.set_source("saddle._declarations", None)
    builder.emit_python_code(output)
    with open(output, "a", encoding="utf-8") as file:
        file.write(f"VERSION = {version!r}\n")


if __name__ == "__main__":
    main()
