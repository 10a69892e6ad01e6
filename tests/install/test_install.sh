#!/usr/bin/env bash
#
# test_install.sh BUILD SOURCE CC: installs a build into a temporary prefix and uses what is there:
# headers alone in C17 and C++17, programs by pkg-config (shared and static) and by find_package,
# a plug-in, the exported symbols, the program, its manual page and completions. Also checks which platforms CMake
# refuses.
set -euo pipefail

BUILD=$1
SOURCE=$2
CC=$3
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
PREFIX=$WORK/prefix

# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh"

# ---- installing -------------------------------------------------------------------------------

check "install" cmake --install "$BUILD" --prefix "$PREFIX"
LIBDIR=$(dirname "$(find "$PREFIX" -name libsaddle.so)")
check "DESTDIR" env DESTDIR="$WORK/stage" cmake --install "$BUILD" --prefix /opt/saddle
check "DESTDIR respected" test -f "$WORK/stage/opt/saddle/include/saddle/saddle.h"

export PKG_CONFIG_PATH=$LIBDIR/pkgconfig
export LD_LIBRARY_PATH=$LIBDIR

soname() {
    local expected
    expected=libsaddle.so.$(soversion "$SOURCE")
    readelf -d "$LIBDIR/libsaddle.so" | grep -F "SONAME" | tee /dev/stderr | grep -qF "[$expected]" &&
        test -e "$LIBDIR/$expected"
}
check "the soname has the minor version before 1.0" soname

without_mpi() { ! pkg-config --static --libs saddle | tee /dev/stderr | grep -qE 'mpi|metis'; }
check "programs are linked without MPI" without_mpi
if [[ -f $BUILD/libsaddle-mpi.so ]]; then
    check "the program finds the module for MPI" env -u LD_LIBRARY_PATH "$PREFIX/bin/saddle" run --engine mpi --iterations 5
fi

# ---- platforms --------------------------------------------------------------------------------

another_system() {
    ! cmake -S "$SOURCE" -B "$WORK/platform" -DCMAKE_C_COMPILER="$CC" -DCMAKE_SYSTEM_NAME=FreeBSD >"$WORK/platform.log" 2>&1 &&
        cat "$WORK/platform.log" && grep -q "Saddle needs Linux" "$WORK/platform.log" &&
        grep -q "CMAKE_SYSTEM_NAME is 'FreeBSD'" <(tr -s ' \n' ' ' <"$WORK/platform.log")
}
check "CMake refuses other systems than Linux" another_system

# warnings PROCESSOR: what CMake prints on Linux with this processor.
warnings() {
    cmake -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$1" -P "$SOURCE/cmake/Platform.cmake" 2>&1
}
check "CMake warns of other processors" grep -q "not tested on 'riscv64'" <(warnings riscv64)
for processor in x86_64 aarch64; do
    check "CMake does not warn of $processor" test -z "$(warnings "$processor")"
done

# ---- libraries --------------------------------------------------------------------------------

# configure LOG OPTION...: configures another build.
configure() {
    local log=$1
    shift
    cmake -S "$SOURCE" -B "$WORK/another" --fresh -DCMAKE_C_COMPILER="$CC" "$@" >"$WORK/raw" 2>&1
    local status=$?
    tr -s ' \n' ' ' <"$WORK/raw" | tee "$log"
    return "$status"
}
# refused OPTION...: configuring fails, with a log.
refused() { ! configure "$WORK/configured" "$@"; }
said() { grep -F "$1" "$WORK/configured"; }

check "CMake needs pkg-config" refused -DPKG_CONFIG_EXECUTABLE="$WORK/none"
check "CMake names pkg-config" said "pkgconf (pkg-config)"
PKG_CONFIG_LIBDIR=$WORK check "CMake finds no library" refused
for name in "SLEEF (libsleef-dev)" "ARPACK-NG (libarpack2-dev)" "LAPACKE (liblapacke-dev)" "libyaml (libyaml-dev)" \
    "zlib (zlib1g-dev)" "libsodium (libsodium-dev)"; do
    check "CMake names $name" said "$name"
done
without=(-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DSADDLE_CUDA=OFF)
check "CMake requires MPI if it is told to" refused "${without[@]}" -DSADDLE_MPI=ON
check "CMake names MPI" said "SADDLE_MPI is ON: the engine mpi, which needs an MPI such as Open MPI (libopenmpi-dev openmpi-bin)"
check "a build without MPI, Python, peers and tests" configure "$WORK/configured" "${without[@]}" -DSADDLE_PYTHON="$WORK/none" \
    -DSADDLE_PEERS=OFF -DSADDLE_TESTS=OFF
for name in "Left out: the engine mpi: it needs an MPI such as Open MPI (libopenmpi-dev" \
    "Left out: saddle peer: it needs ZeroMQ (libzmq3-dev)" \
    "Left out: the Python package: it needs Python 3 with cffi and NumPy (python3-cffi python3-numpy)"; do
    check "CMake says '$name'" said "$name"
done

# ---- headers ----------------------------------------------------------------------------------

CXX=$(command -v g++ || command -v clang++ || true)
if [[ -z $CXX ]]; then
    echo "skip: there is no C++ compiler"
fi

header_compiles() {
    local language=$1 standard=$2 header=$3
    local compiler=$CC
    if [[ $language == c++ ]]; then
        compiler=$CXX
    fi
    printf '#include <saddle/%s>\n#include <saddle/%s>\n' "$header" "$header" |
        "$compiler" -x "$language" "-std=$standard" -Wall -Wextra -Wpedantic -Werror \
            -I"$PREFIX/include" -fsyntax-only -
}

for path in "$PREFIX"/include/saddle/*.h; do
    header=$(basename "$path")
    check "$header alone as C17" header_compiles c c17 "$header"
    [[ -z $CXX ]] || check "$header alone as C++17" header_compiles c++ c++17 "$header"
done

same_headers() {
    diff -r "$SOURCE/include/saddle" "$PREFIX/include/saddle"
}
check "all headers and no others" same_headers

# ---- programs ---------------------------------------------------------------------------------

# flags PKG-CONFIG-OPTION...: as an array in FLAGS.
flags() {
    read -r -a FLAGS <<<"$(pkg-config "$@" saddle)"
}

by_pkg_config() {
    flags --cflags --libs
    "$CC" -std=c17 "$SOURCE/examples/own_problem.c" -o "$WORK/shared" "${FLAGS[@]}"
    readelf -d "$WORK/shared" | grep 'NEEDED.*libsaddle\.so'
    "$WORK/shared"
}

# Linkers prefer a shared library to a static one of the same name, so name the archive.
by_pkg_config_static() {
    flags --static --cflags --libs
    "$CC" -std=c17 "$SOURCE/examples/own_problem.c" -o "$WORK/static" \
        "${FLAGS[@]/#-lsaddle/-l:libsaddle.a}"
    if readelf -d "$WORK/static" | grep 'NEEDED.*libsaddle'; then
        return 1
    fi
    env -u LD_LIBRARY_PATH "$WORK/static"
}

# C++ programs link by the same names.
by_cpp() {
    flags --cflags --libs
    cat >"$WORK/version.cpp" <<'END'
#include <cstdio>
#include <saddle/saddle.h>
int main() { return std::puts(saddle_version()) < 0; }
END
    "$CXX" -std=c++17 "$WORK/version.cpp" -o "$WORK/version" \
        "${FLAGS[@]}"
    [[ $("$WORK/version") == "$(pkg-config --modversion saddle)" ]]
}

# A plug-in in C++20 declares options by the macros of the headers, every one of them.
options_in_cpp() {
    cat >"$WORK/options.cpp" <<'END'
#include <saddle/plugin.h>
struct own {
    double real, above, step;
    uint64_t integer;
    int choice;
    bool flag;
    const char *text;
};
static const saddle_search search = {"step", -2, 2};
static const saddle_option real =
    SADDLE_REAL(SADDLE_OWN(own, real, RUN), "real", "Own", "1", 0.0, SADDLE_UNBOUNDED, "R", "A number.");
static const saddle_option above =
    SADDLE_REAL_ABOVE(SADDLE_OWN(own, above, RUN), "above", "Own", "1", 0.0, 2.0, "R", "A number.");
static const saddle_option step =
    SADDLE_STEP(SADDLE_OWN(own, step, RUN), "step", "Own", "1", 2.0, &search, "R", "A step.");
static const saddle_option integer =
    SADDLE_INTEGER(SADDLE_OWN(own, integer, INSTANCE), "integer", "Own", "1", 0, 9, "N", "A whole number.");
static const saddle_option choice =
    SADDLE_CHOICE(SADDLE_OWN(own, choice, RUN), "choice", "Own", "a", "a|b", "C", "A choice.");
static const saddle_option flag = SADDLE_FLAG(SADDLE_OWN(own, flag, RUN), "flag", "Own", "no", "A flag.");
static const saddle_option text = SADDLE_TEXT(SADDLE_OWN(own, text, RUN), "text", "Own", "", "T", "A text.");
extern const saddle_option *const own_options[] = {&real, &above, &step, &integer, &choice, &flag, &text, nullptr};
END
    "$CXX" -std=c++20 -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Werror -I"$PREFIX/include" \
        -fsyntax-only "$WORK/options.cpp"
}

# The examples as a project of their own, against the shared library.
by_find_package() {
    cmake -S "$SOURCE/examples" -B "$WORK/examples" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$PREFIX" && cmake --build "$WORK/examples" &&
        ctest --test-dir "$WORK/examples" --output-on-failure
}

by_find_package_static() {
    mkdir -p "$WORK/static-project"
    cat >"$WORK/static-project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(saddle $(soversion "$SOURCE") REQUIRED COMPONENTS static)
add_executable(user \${OWN_PROBLEM})
target_link_libraries(user PRIVATE saddle::static)
END
    cmake -S "$WORK/static-project" -B "$WORK/static-build" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$PREFIX" -DOWN_PROBLEM="$SOURCE/examples/own_problem.c" &&
        cmake --build "$WORK/static-build" && env -u LD_LIBRARY_PATH "$WORK/static-build/user"
}

# A plug-in as a project of its own, run by the installed program: the mean of the points (i, j mod 4)
# of 5 agents is (2, 1.5), and rho / (rho + 1) times that is the answer, (1.5, 1.125) for rho = 3.
by_plugin() {
    cmake -S "$SOURCE/examples/plugin" -B "$WORK/plugin" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_PREFIX_PATH="$PREFIX"
    cmake --build "$WORK/plugin"
    local object=$WORK/plugin/libshrunk_mean.so
    local program=(env -u LD_LIBRARY_PATH "$PREFIX/bin/saddle")
    "${program[@]}" check-grad --problem "$object:rho=0.5"
    # F at the answer: 1/2 E|x - a|^2 + |x|^2 / (2 rho) = 1/2 (2 + 1.25 + 6.25) - 6.25 * 3 / 8.
    "${program[@]}" run --problem "$object:rho=3" --tolerance 1e-20 | tee "$WORK/plugin.out"
    grep -q 'loss *2\.40625 ' "$WORK/plugin.out"
    if "${program[@]}" run --problem "$object:rho=-1" 2>"$WORK/plugin.err"; then
        return 1
    fi
    grep "rho: '-1' is out of range; give a number above 0" "$WORK/plugin.err"
}

# `check` runs functions without `set -e`; a subshell restores it.
strictly() {
    bash -euo pipefail -c "$(declare -f flags "$1"); CC='$CC' CXX='$CXX' SOURCE='$SOURCE' WORK='$WORK' PREFIX='$PREFIX'; $1"
}

check "program by pkg-config, shared" strictly by_pkg_config
check "program by pkg-config, static" strictly by_pkg_config_static
[[ -z $CXX ]] || check "C++ program by pkg-config" strictly by_cpp
[[ -z $CXX ]] || check "options in C++20" strictly options_in_cpp
check "examples by find_package, shared" strictly by_find_package
check "program by find_package, static" strictly by_find_package_static

if [[ -x $BUILD/saddle ]]; then
    check "plug-in by find_package" strictly by_plugin
fi

# ---- symbols ----------------------------------------------------------------------------------

nm -D --defined-only "$LIBDIR/libsaddle.so" | awk '{ print $NF }' | sort -u >"$WORK/exported"
cat "$PREFIX"/include/saddle/*.h | sed '/^#define/d' | tr '\n' ' ' |
    grep -oE 'SADDLE_API [^;]*;' | grep -oE 'saddle_[a-z0-9_]+ ?\(|^SADDLE_API const saddle_[a-z_]+ saddle_[a-z0-9_]+;' |
    sed 's/.* //' | tr -d ' (;' | sort -u >"$WORK/declared"

nothing_in() {
    [[ ! -s $1 ]] || { cat "$1" && return 1; }
}
grep -v '^saddle_' "$WORK/exported" >"$WORK/foreign" || true
comm -23 "$WORK/declared" "$WORK/exported" >"$WORK/hidden"
comm -13 "$WORK/declared" "$WORK/exported" >"$WORK/undeclared"
check "only saddle_* is exported" nothing_in "$WORK/foreign"
check "every declared function is exported" nothing_in "$WORK/hidden"
check "every exported function is declared" nothing_in "$WORK/undeclared"
check "functions are declared" test -s "$WORK/declared"

# ---- program, manual, completions -------------------------------------------------------------

if [[ -x $BUILD/saddle ]]; then
    check "program runs from the prefix" env -u LD_LIBRARY_PATH "$PREFIX/bin/saddle" --version
    check "manual page" grep -q '^\.TH' "$PREFIX/share/man/man1/saddle.1"
    check "manual page names options" grep -q 'topology' "$PREFIX/share/man/man1/saddle.1"
    check "bash completion" bash -n "$PREFIX/share/bash-completion/completions/saddle"
    check "bash completion asks the program" \
        grep -q __complete "$PREFIX/share/bash-completion/completions/saddle"
    check "zsh completion" grep -q '^#compdef saddle' "$PREFIX/share/zsh/site-functions/_saddle"
    check "fish completion" \
        grep -q 'complete -c saddle' "$PREFIX/share/fish/vendor_completions.d/saddle.fish"
fi

finish
