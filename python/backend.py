"""The build backend of `pip install` and `pip wheel` (PEP 517, 660): makes a wheel with CMake.

The package is taken from the first of these build directories:

    $SADDLE_BUILD            used without building
    build/ of the checkout   if the package was built there; updated if there is cmake
    build-python/            configured and built by cmake

Only the standard library is used, so that pip has nothing to download before it builds, and
`pip install ./python` works offline. `--config-settings bundle=yes` adds the shared libraries that
the package loads (bundle.py).
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r"project\(saddle VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
INFO = f"saddle-{VERSION}.dist-info"
METADATA = f"""\
Metadata-Version: 2.1
Name: saddle
Version: {VERSION}
Summary: Decentralized constrained min-max learning
License: MIT
Requires-Python: >=3.9
Requires-Dist: cffi>=1.15
Requires-Dist: numpy>=1.22
Provides-Extra: all
Requires-Dist: matplotlib; extra == "all"
Requires-Dist: networkx; extra == "all"
Requires-Dist: pandas; extra == "all"
Requires-Dist: scikit-learn; extra == "all"
Requires-Dist: scipy; extra == "all"
Requires-Dist: torch; extra == "all"
Requires-Dist: tqdm; extra == "all"
"""
# The command `saddle`. It does not import the package, which would take longer than most commands.
COMMAND = b"""\
#!python
import importlib.util, os, sys
package = importlib.util.find_spec("saddle").submodule_search_locations[0]
program = os.path.join(package, "bin", "saddle")
os.execv(program, ["saddle", *sys.argv[1:]])
"""


class UnsupportedOperation(Exception):
    """The exception that PEP 517 prescribes for an operation that is not supported."""


def _is_complete(build):
    package = build / "python" / "saddle"
    names = ("__init__.pyi", "_declarations.py", "libsaddle.so", "bin/saddle")
    return all((package / name).exists() for name in names)


def _cmake(*arguments):
    # pip hides the system's packages from its child processes, but the build needs cffi.
    hiding = ("PYTHONPATH", "PYTHONNOUSERSITE")
    environment = {name: value for name, value in os.environ.items() if name not in hiding}
    subprocess.run(["cmake", *arguments], env=environment, check=True)


def _package():
    """Returns the directory that holds the built package `saddle`."""
    given = os.environ.get("SADDLE_BUILD")
    build = Path(given) if given else ROOT / "build"
    if not given:
        has_cmake = shutil.which("cmake") is not None
        if not _is_complete(build) and has_cmake:
            build = ROOT / "build-python"
            # Set the options explicitly: an earlier run may have been configured with others.
            options = ["-DCMAKE_BUILD_TYPE=Release", "-DSADDLE_TESTS=OFF"]
            options.append(f"-DSADDLE_PYTHON={sys.executable};/usr/bin/python3")
            _cmake("-S", ROOT, "-B", build, *options)
        if has_cmake:
            _cmake("--build", build, "--target", "saddle_python", "-j", str(os.cpu_count() or 1))
    if not _is_complete(build):
        raise SystemExit(
            f"saddle: there is no built package in {build / 'python'}; install cmake and the "
            "packages that scripts/lib.sh lists, or name a CMake build directory in SADDLE_BUILD"
        )
    return build / "python"


def _write(archive, record, name, data):
    """Adds a file, reproducibly (without a time), and its line of RECORD."""
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (0o100755 if name.endswith("/saddle") else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    record.append(f"{name},sha256={digest},{len(data)}\n")


def _wheel(directory, files, system=sysconfig.get_platform()):
    """Writes a wheel of these (name, bytes) and returns its name."""
    tag = "py3-none-" + re.sub(r"[-.]", "_", system)
    name = f"saddle-{VERSION}-{tag}.whl"
    about = f"Wheel-Version: 1.0\nGenerator: saddle {VERSION}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    record = []
    with zipfile.ZipFile(Path(directory) / name, "w") as archive:
        for file in files:
            _write(archive, record, *file)
        _write(archive, record, f"saddle-{VERSION}.data/scripts/saddle", COMMAND)
        _write(archive, record, f"{INFO}/METADATA", METADATA.encode())
        _write(archive, record, f"{INFO}/WHEEL", about.encode())
        _write(archive, record, f"{INFO}/LICENSE", (ROOT / "LICENSE").read_bytes())
        record.append(f"{INFO}/RECORD,,\n")
        _write(archive, [], f"{INFO}/RECORD", "".join(record).encode())
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _package()
    found = package.glob("saddle/**/*")
    paths = sorted(path for path in found if path.is_file() and path.suffix != ".pyc")
    files = {str(path.relative_to(package)): path.read_bytes() for path in paths}
    bundle = (config_settings or {}).get("bundle", "no")
    if bundle not in ("yes", "no"):
        raise SystemExit(f"saddle: the setting bundle must be yes or no (got '{bundle}')")
    if bundle == "no":
        return _wheel(wheel_directory, files.items())
    from bundle import bundled

    with tempfile.TemporaryDirectory() as work:
        libraries, licences = bundled(package, Path(work))
    files.update(libraries)
    files.update((f"{INFO}/licenses/{name}", text) for name, text in licences.items())
    # The libraries may need the glibc of this machine, which the name of the wheel tells pip.
    glibc = platform.libc_ver()[1].replace(".", "_")
    return _wheel(wheel_directory, sorted(files.items()), f"manylinux_{glibc}_{platform.machine()}")


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Installs the built package itself, whose modules are links to those of the checkout."""
    return _wheel(wheel_directory, [("saddle.pth", f"{_package().resolve()}\n".encode())])


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("saddle: there is no sdist; use an archive of the whole repository")


if __name__ == "__main__":
    sys.stdout.write(METADATA)
