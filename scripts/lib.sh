# shellcheck shell=bash
#
# Shared by the scripts: installing system packages and building. A script with `set -euo pipefail` sources
# it, from any directory.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian packages that the build needs. libc6-dev is listed because gcc only recommends it.
# shellcheck disable=SC2034  # used by scripts/demo, scripts/bench and scripts/test
BUILD_PACKAGES=(
    gcc libc6-dev cmake make pkg-config
    libsleef-dev librandom123-dev liblapacke-dev libarpack2-dev
    libyaml-dev zlib1g-dev libsodium-dev
    libopenmpi-dev openmpi-bin libmetis-dev libzmq3-dev
)

# Debian packages that the tests need in addition; tests that lack one are skipped.
# shellcheck disable=SC2034  # used by scripts/test
TEST_PACKAGES=(
    check libzip-dev g++ clang-format shellcheck python3 python3-numpy valgrind gnuplot-nox curl jq binutils ccache
    python3-cffi python3-pytest python3-scipy python3-pandas python3-matplotlib python3-networkx
    python3-tqdm python3-mypy python3-sklearn python3-pip python3-venv dpkg-dev file fakeroot lintian patchelf
    spin
)
# Large ones, each for one kind of test: reports in a browser, PyTorch, the documentation as a site.
# shellcheck disable=SC2034  # used by scripts/test
BROWSER_PACKAGES=(chromium chromium-driver)
# shellcheck disable=SC2034  # used by scripts/test
TORCH_PACKAGES=(python3-torch)
# shellcheck disable=SC2034  # used by scripts/test
SITE_PACKAGES=(python3-sphinx python3-myst-parser furo)
# For scripts/test --all and --nightly, scripts/fuzz and scripts/coverage. clang_runtime() has the sanitizers.
# shellcheck disable=SC2034  # used by scripts/test
ANALYSIS_PACKAGES=(clang clang-tidy cppcheck gcovr)

say() {
    printf '%s\n' "$*"
}

# Number of parallel jobs of a build.
jobs_count() {
    nproc 2>/dev/null || echo 2
}

# missing_packages PACKAGE...: prints those that are not installed, one per line.
missing_packages() {
    local package
    for package in "$@"; do
        # shellcheck disable=SC2016  # ${Status} is dpkg-query's
        if [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            say "$package"
        fi
    done
}

# ensure_packages PACKAGE...: installs those that are missing; fast if there are none. Those that the system's archive
# does not have are named and left out.
ensure_packages() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        say "packages: this is not Debian; install these under the names of your system: $*"
        return 0
    fi
    local missing known=() unknown=() package
    mapfile -t missing < <(missing_packages "$@")
    if [[ ${#missing[@]} -eq 0 ]]; then
        say "packages: all $# are installed"
        return 0
    fi
    local as_root=()
    if [[ $(id -u) -ne 0 ]]; then
        if ! command -v sudo >/dev/null; then
            say "packages: missing, and cannot be installed without root or sudo: ${missing[*]}"
            return 0
        fi
        as_root=(sudo)
    fi
    "${as_root[@]}" apt-get update -qq
    for package in "${missing[@]}"; do
        # For a name that other packages only mention, apt-cache prints nothing and succeeds.
        if [[ -n $(apt-cache show "$package" 2>/dev/null) ]]; then
            known+=("$package")
        else
            unknown+=("$package")
        fi
    done
    if [[ ${#unknown[@]} -gt 0 ]]; then
        say "packages: not available on this system, so that tests may be skipped: ${unknown[*]}"
    fi
    if [[ ${#known[@]} -gt 0 ]]; then
        say "packages: installing ${known[*]}"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${known[@]}" >/dev/null
    fi
}

# Prints the package of sanitizers and libFuzzer for the installed clang.
clang_runtime() {
    say "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# configure_and_build PRESET: builds what CMakePresets.json describes, in build-PRESET/ (demo: in build/), and prints
# to stdout. Uses ccache, if it is installed, for objects that were compiled before in any directory: their paths are
# relative to the repository.
configure_and_build() {
    (cd "$ROOT" && export CCACHE_BASEDIR=$ROOT CCACHE_NOHASHDIR=yes &&
        cmake --preset "$1" -DCMAKE_C_COMPILER_LAUNCHER="$(command -v ccache || true)" &&
        cmake --build --preset "$1" -j "$(jobs_count)")
}

# sources PATTERN: prints the C files of the repository whose name matches.
sources() {
    local directory
    for directory in include src lab draw cli tests examples bench; do
        if [[ -d $ROOT/$directory ]]; then
            (cd "$ROOT" && find "$directory" -type f -name "$1") | LC_ALL=C sort
        fi
    done
}
