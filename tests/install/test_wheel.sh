#!/usr/bin/env bash
#
# test_wheel.sh BUILD SOURCE PYTHON PROGRAM: makes a wheel of a build, without a network and without a compiler,
# installs it in a new environment that sees the system's packages, and compares a run with the program's.
set -euo pipefail

BUILD=$1
SOURCE=$2
PYTHON=$3
PROGRAM=$4

for module in pip venv ensurepip; do
    if ! "$PYTHON" -c "import $module" 2>/dev/null; then
        echo "skip: $PYTHON has no $module"
        exit 77
    fi
done
WORK=$(mktemp -d "$BUILD/wheel.XXXXXX")
trap 'rm -rf "$WORK"' EXIT

# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh"

unset PYTHONPATH
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1
ENVIRONMENT=$WORK/environment
VERSION=$("$PROGRAM" --version | awk 'NR == 1 { print $2 }')
WHEEL=$WORK/dist/saddle-$VERSION-py3-none-linux_$(uname -m).whl

# pip COMMAND...: runs the environment's pip, which finds neither cmake nor a compiler.
mkdir "$WORK/nothing"
pip() {
    SADDLE_BUILD=${GIVEN-$BUILD} PATH=$WORK/nothing "$ENVIRONMENT/bin/python" -m pip "$@"
}

# RECORD describes every file correctly.
recorded() {
    "$PYTHON" - "$WHEEL" <<'END'
import base64, csv, hashlib, io, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read(record).decode()))}
assert sorted(rows) == sorted(archive.namelist())
assert {"saddle/libsaddle.so", "saddle/bin/saddle", "saddle/_declarations.py", "saddle/py.typed",
        "saddle/reproduce/claims.py"} <= set(rows)
for name, (digest, size) in rows.items():
    data = archive.read(name)
    sum = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    assert (digest, size) == ("sha256=" + sum, str(len(data))) or name == record, name
END
}

same_bytes() {
    pip wheel --wheel-dir "$WORK/again" --no-deps "$SOURCE/python"
    cmp "$WHEEL" "$WORK/again/$(basename "$WHEEL")"
}

# In a separate directory, so that only the installed package is found. The command `saddle` is the package's program.
same_run() {
    (cd "$WORK/nothing" && "$ENVIRONMENT/bin/python" "$SOURCE/tests/install/same_run.py" "$PROGRAM" "$1" &&
        [[ $("$ENVIRONMENT/bin/saddle" --version) == "saddle $VERSION" ]] &&
        ! "$ENVIRONMENT/bin/saddle" run --problem nothing 2>"$WORK/said" && grep "no problem 'nothing'" "$WORK/said")
}

experiments() {
    (cd "$WORK/nothing" && "$ENVIRONMENT/bin/python" -m saddle.reproduce --help | grep -e --only)
}

# The wheel that brings its libraries: all that the loader finds are its own, glibc's and gcc's. Each comes with its
# licence, which may refer to one of Debian's common ones.
bundle() {
    SADDLE_BUILD=$BUILD "$ENVIRONMENT/bin/python" -m pip wheel --wheel-dir "$WORK/bundle" --no-deps \
        --config-settings bundle=yes "$SOURCE/python"
}
own_libraries() {
    local site
    site=$(dirname "$(find "$ENVIRONMENT" -type d -name saddle.libs)")
    ldd "$site/saddle/libsaddle.so" "$site/saddle/bin/saddle" "$site"/saddle.libs/* >"$WORK/loaded" &&
        ! grep 'not found' "$WORK/loaded" &&
        ! grep '=> /' "$WORK/loaded" | grep -vE "saddle\.libs/|/lib(c|m|gcc_s|dl|pthread|rt|resolv|saddle)\.so" &&
        ! readelf -W --dyn-syms "$site"/saddle.libs/* | grep 'UND.*GLIBC_PRIVATE'
}
licences() {
    local info
    info=$(find "$ENVIRONMENT" -type d -path '*/saddle-*.dist-info/licenses')
    grep -l "SLEEF\|sleef" "$info"/libsleef* && grep -l "D. E. Shaw" "$info"/librandom123* &&
        grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$info"/lib* | sort -u |
        while read -r name; do test -s "$info/common/${name##*/}" || exit 1; done
}

no_build() {
    ! GIVEN=$WORK/nothing pip wheel --wheel-dir "$WORK/none" --no-deps "$SOURCE/python" >"$WORK/said" 2>&1 &&
        grep "name a CMake build directory in SADDLE_BUILD" "$WORK/said"
}

check "an environment" "$PYTHON" -m venv --system-site-packages "$ENVIRONMENT"
check "a directory without a build is refused" no_build
check "a wheel of the build" pip wheel --wheel-dir "$WORK/dist" --no-deps "$SOURCE/python"
check "its name" test -f "$WHEEL"
check "its record" recorded
check "the same bytes when it is made again" same_bytes
check "the wheel is installed" pip install "$WHEEL"
check "a run has the bits of the program" same_run "$ENVIRONMENT"
check "the paper's experiments are part of it" experiments
check "its version" test "$(cd / && "$ENVIRONMENT/bin/python" -c 'import importlib.metadata as m; print(m.version("saddle"))')" = "$VERSION"
check "it is removed" pip uninstall --yes saddle
check "nothing is left of it" test -z "$(find "$ENVIRONMENT" -name '*saddle*')"
check "the checkout is installed" pip install "$SOURCE/python"
check "a run has the bits of the program" same_run "$ENVIRONMENT"
check "the checkout is installed to be edited" pip install --editable "$SOURCE/python"
check "a run has the bits of the program" same_run "$BUILD"

check "it is removed" pip uninstall --yes saddle
if command -v patchelf >/dev/null && command -v dpkg-query >/dev/null; then
    check "a wheel with its libraries" bundle
    check "its name says which glibc it needs" test -n "$(find "$WORK/bundle" -name '*-manylinux_2_*.whl')"
    check "it is installed" pip install "$WORK"/bundle/*.whl
    check "it loads its own libraries" own_libraries
    check "their licences are part of it" licences
    check "a run has the bits of the program" same_run "$ENVIRONMENT"
else
    echo "skip: there is no patchelf or dpkg"
fi

finish
