"""The libraries of a wheel that is made with `--config-settings bundle=yes`.

Copies the shared libraries that the package loads to `saddle.libs`, under names of their own: a
process has one library per name, so that a copy of libblas.so.3 or libcrypto.so.3 would replace
NumPy's or Python's. The licences of the Debian packages of these libraries are copied, too.
"""

import hashlib
import re
import subprocess
from pathlib import Path

# Not copied: the machine's MPI, and the libraries of glibc and gcc, which every system has. Those
# of glibc call private functions of each other, so that they only work with their own version.
SYSTEM = re.compile(
    r"(ld-linux.*|lib(c|m|mvec|dl|pthread|rt|util|anl|resolv|gcc_s|mpi.*|saddle))\.so"
)

# Compiled into the library.
HEADERS = Path("/usr/include/Random123/philox.h")


def _output(*command):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SystemExit(f"saddle: bundle=yes needs the program {command[0]}") from None


def _is_elf(file):
    with open(file, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def _needed(file):
    """Returns {name: path} of the libraries to copy that a file loads directly."""
    loaded = dict(re.findall(r"^\s*(\S+) => (/\S+)", _output("ldd", file), re.MULTILINE))
    found = {}
    for name in _output("patchelf", "--print-needed", file).split():
        if SYSTEM.match(name):
            continue
        if name not in loaded:
            raise SystemExit(f"saddle: {name}, which '{file}' needs, is not installed")
        # Debian lets others, which may be large, replace the reference BLAS and LAPACK.
        path = Path(loaded[name])
        reference = (path.parent / part / name for part in ("blas", "lapack"))
        found[name] = next((one for one in reference if one.exists()), path).resolve()
    return found


def _licences(paths):
    """Yields (name, bytes): the licences of libraries, then the common ones that these refer to."""
    common = set()
    for path in paths:
        # dpkg may know a file of a merged /usr by its name in /lib.
        query = ["dpkg-query", "-S", path, str(path).removeprefix("/usr")]
        owner = subprocess.run(query, check=False, capture_output=True, text=True).stdout
        if not owner:
            raise SystemExit(f"saddle: no package has '{path}', so its licence is unknown")
        package = re.match("[^:,]+", owner)[0]
        text = Path("/usr/share/doc", package, "copyright").read_bytes()
        common.update(re.findall(rb"/usr/share/common-licenses/([\w.+-]*\w)", text))
        yield package, text
    for name in sorted(each.decode() for each in common):
        yield f"common/{name}", Path("/usr/share/common-licenses", name).read_bytes()


def _patched(file, work, *changes):
    copy = work / "copy"
    copy.write_bytes(file.read_bytes())
    for change in changes:  # patchelf 0.14 damages a file when it is given several at once
        _output("patchelf", *change, copy)
    return copy.read_bytes()


def bundled(package, work):
    """Returns two {name: bytes}: files that replace or complete the package's, and licences."""
    loaders = [path for path in package.glob("saddle/**/*") if path.is_file() and _is_elf(path)]
    needs = {path: _needed(path) for path in loaders}
    paths = {}
    waiting = [item for path in loaders for item in needs[path].items()]
    while waiting:
        name, path = waiting.pop()
        if name not in paths:
            paths[name] = path
            needs[path] = _needed(path)
            waiting.extend(needs[path].items())
    names = {}
    for name, path in paths.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        names[name] = name.replace(".so", f"-saddle-{digest}.so", 1)

    def renamed(path):
        return [("--replace-needed", name, names[name]) for name in needs[path]]

    files = {}
    for path in loaders:
        target = path.relative_to(package)
        # The program also needs libsaddle.so; cmake/Python.cmake says why this is an RPATH.
        up = "$ORIGIN/" + "../" * (len(target.parts) - 1)
        search = ("--force-rpath", "--set-rpath", f"{up}saddle.libs:{up}saddle")
        files[str(target)] = _patched(path, work, search, *renamed(path))
    for name, path in paths.items():
        own = (("--set-soname", names[name]), ("--set-rpath", "$ORIGIN"))
        files[f"saddle.libs/{names[name]}"] = _patched(path, work, *own, *renamed(path))
    return files, dict(_licences([*paths.values(), HEADERS]))
