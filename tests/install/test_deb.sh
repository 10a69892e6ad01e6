#!/usr/bin/env bash
#
# test_deb.sh BUILD SOURCE CC [PYTHON]: makes Debian packages of a build, lets dpkg install them below a scratch
# directory whose database lists the packages of this system, uses what they installed, and lets dpkg remove them.
set -euo pipefail

BUILD=$1
SOURCE=$2
CC=$3
PYTHON=${4-}

for tool in dpkg dpkg-deb dpkg-shlibdeps gzip; do
    if ! command -v "$tool" >/dev/null; then
        echo "skip: there is no $tool"
        exit 77
    fi
done
DPKG=(dpkg)
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v fakeroot >/dev/null; then
        echo "skip: dpkg needs root or fakeroot"
        exit 77
    fi
    DPKG=(fakeroot dpkg)
fi
WORK=$(mktemp -d "$BUILD/deb.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
ROOT=$WORK/root

# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh"

# Debian policy 8.1: the package of a library is named after its soname.
SOVERSION=$(soversion "$SOURCE")
LIBRARY=libsaddle$SOVERSION
PACKAGES=("$LIBRARY" libsaddle-dev saddle)
[[ -z $PYTHON ]] || PACKAGES+=(python3-saddle)
[[ ! -f $BUILD/libsaddle-mpi.so ]] || PACKAGES+=("$LIBRARY-mpi")
[[ ! -f $BUILD/libsaddle-peer.so ]] || PACKAGES+=("$LIBRARY-peer")

# ---- the packages -----------------------------------------------------------------------------

# For make, cpack would first build what is not up to date; for Ninja it takes the build as it is.
make_packages() {
    (cd "$BUILD" && cpack -G DEB -D CPACK_CMAKE_GENERATOR=Ninja -B "$WORK/packages")
}
check "cpack" make_packages

# deb PACKAGE: its file.
deb() {
    local found=("$WORK/packages/$1"_*.deb)
    printf '%s\n' "${found[0]}"
}
# depends PACKAGE REGEX
depends() {
    dpkg-deb -f "$(deb "$1")" Depends | tee /dev/stderr | grep -qE "$2"
}
lacks() { ! "$@"; }

for package in "${PACKAGES[@]}"; do
    check "$package is made" test -f "$(deb "$package")"
done
check "no other package is made" test "$(find "$WORK/packages" -maxdepth 1 -name '*.deb' | wc -l)" -eq ${#PACKAGES[@]}
for package in "$LIBRARY" saddle; do
    check "$package depends on the libraries that it calls" depends "$package" 'libc6 .*libsodium[0-9].*libyaml-0-2'
done
for package in "${PACKAGES[@]}"; do
    [[ $package == *-mpi ]] || check "$package does not depend on MPI" lacks depends "$package" 'mpi|metis'
done
later_versions() {
    dpkg-deb -I "$(deb "$LIBRARY")" shlibs | tee /dev/stderr | grep -q "^libsaddle $SOVERSION $LIBRARY (>= "
}
check "programs accept later versions of the library" later_versions
check "libsaddle-dev depends on its library" depends libsaddle-dev "^${LIBRARY//./\\.} \(= "
if [[ -n $PYTHON ]]; then
    check "python3-saddle depends on the libraries that it calls" depends python3-saddle 'libsodium[0-9].*libyaml-0-2'
    check "python3-saddle depends on Python, cffi and NumPy" depends python3-saddle 'python3:any.*python3-cffi.*python3-numpy'
fi

# ---- installed --------------------------------------------------------------------------------

# The scratch system: the packages of this one, as far as dpkg knows.
mkdir -p "$ROOT/var/lib/dpkg/updates" "$ROOT/var/lib/dpkg/info"
cp /var/lib/dpkg/status "$ROOT/var/lib/dpkg/status"
cp /var/lib/dpkg/arch "$ROOT/var/lib/dpkg/arch" 2>/dev/null || true
in_root() {
    "${DPKG[@]}" --root="$ROOT" --force-script-chrootless --force-not-root --log="$WORK/dpkg.log" "$@"
}
check "dpkg installs them" in_root --install "$WORK"/packages/*.deb
for package in "${PACKAGES[@]}"; do
    # shellcheck disable=SC2016  # ${Status} is dpkg-query's
    check "$package is installed" \
        test "$(dpkg-query --admindir="$ROOT/var/lib/dpkg" -W -f '${Status}' "$package")" = "install ok installed"
    check "$package: copyright" grep -q 'License: Expat' "$ROOT/usr/share/doc/$package/copyright"
    check "$package: changelog" gzip -t "$ROOT/usr/share/doc/$package/changelog.gz"
done

LIBDIR=$(dirname "$(find "$ROOT/usr/lib" -name "libsaddle.so.$SOVERSION")")
export LD_LIBRARY_PATH=$LIBDIR
PROGRAM=$ROOT/usr/bin/saddle
SHARE=$ROOT/usr/share
check "the program runs" "$PROGRAM" run --iterations 20
if [[ -f $BUILD/libsaddle-mpi.so ]]; then
    check "$LIBRARY-mpi depends on MPI" depends "$LIBRARY-mpi" 'libopenmpi|libmpich'
    check "the program finds the module" "$PROGRAM" run --engine mpi --iterations 5
    [[ -z $PYTHON ]] || check "so does the program of the package" \
        "$ROOT/usr/lib/python3/dist-packages/saddle/bin/saddle" run --engine mpi --iterations 5
fi
check "manual page" bash -c "gzip -dc '$SHARE/man/man1/saddle.1.gz' | grep -q '^\.TH'"
for file in bash-completion/completions/saddle zsh/site-functions/_saddle fish/vendor_completions.d/saddle.fish; do
    check "$file" grep -q saddle "$SHARE/$file"
done

by_pkg_config() {
    local flags
    read -r -a flags <<<"$(PKG_CONFIG_PATH=$LIBDIR/pkgconfig pkg-config --cflags --libs saddle)"
    "$CC" -std=c17 "$SOURCE/examples/own_problem.c" -o "$WORK/own" "${flags[@]}" && "$WORK/own"
}
check "a program is compiled by pkg-config" by_pkg_config

if [[ -n $PYTHON ]]; then
    same_run() {
        cd "$WORK" && PYTHONPATH=$ROOT/usr/lib/python3/dist-packages "$PYTHON" -B "$SOURCE/tests/install/same_run.py" \
            "$PROGRAM" "$ROOT"
    }
    check "the Python package has the bits of the program" same_run
    experiments() {
        cd "$WORK" && PYTHONPATH=$ROOT/usr/lib/python3/dist-packages "$PYTHON" -B -m saddle.reproduce --help
    }
    check "and the paper's experiments" experiments
fi

# ---- removed ----------------------------------------------------------------------------------

check "dpkg removes them" in_root --purge "${PACKAGES[@]}"
check "nothing is left" test -z "$(find "$ROOT" -name '*saddle*')"

if command -v lintian >/dev/null; then
    # Exceptions: a build for another prefix than /usr has its .pc file in /usr/lib, not in the directory of its
    # architecture; without two empty scripts cpack would write scripts that call ldconfig.
    EXCEPTIONS=pkg-config-multi-arch-wrong-dir,pkg-config-unavailable-for-cross-compilation,maintainer-script-empty
    check "lintian" lintian --fail-on error,warning --suppress-tags "$EXCEPTIONS" "$WORK"/packages/*.deb
else
    echo "skip: there is no lintian"
fi

finish
