#!/usr/bin/env bash
#
# test_release.sh SOURCE: what scripts/release refuses and what it makes, in a small separate repository. Fake programs
# replace cmake, cpack and pip; test_deb.sh and test_wheel.sh test the packages.
set -euo pipefail

SOURCE=$1

PYTHON=$(command -v python3 || true)
if [[ -z $PYTHON ]] || ! command -v git >/dev/null; then
    echo "skip: there is no git or no python3"
    exit 77
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# shellcheck source=tests/install/lib.sh
source "$(dirname "$0")/lib.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=Tester GIT_AUTHOR_EMAIL=tester@example.invalid
export GIT_COMMITTER_NAME=Tester GIT_COMMITTER_EMAIL=tester@example.invalid
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# ---- a repository, and fake programs ----------------------------------------------------------

REPOSITORY=$WORK/repository
VERSION=$(sed -nE 's/^project\(saddle VERSION ([0-9.]+).*/\1/p' "$SOURCE/CMakeLists.txt")
mkdir -p "$REPOSITORY" "$WORK/programs"
(cd "$SOURCE" && cp --parents CMakeLists.txt CITATION.cff CHANGELOG.md LICENSE .gitignore docs/citing.md docs/install.md \
    docs/stability.md python/backend.py scripts/release scripts/lib.sh "$REPOSITORY")
in_repository() {
    git -C "$REPOSITORY" "$@"
}
commit() {
    in_repository add -A && in_repository commit -q -m "$1"
}
in_repository init -q
commit "everything"

# pretend NAME: makes the body of a program from standard input.
pretend() {
    { echo '#!/bin/sh'; cat; } >"$WORK/programs/$1"
    chmod +x "$WORK/programs/$1"
}
pretend cmake <<'END'
test -f CMakeLists.txt && mkdir -p build-deb
END
pretend cpack <<'END'
echo package >build-deb/saddle.deb
END
# python3 -m pip wheel --no-deps --config-settings bundle=yes --wheel-dir DIRECTORY ./python; otherwise the real one, which says the version.
pretend python3 <<END
test "\$1" = -m || exec '$PYTHON' "\$@"
test -d "\$SADDLE_BUILD" && echo wheel >"\$8/saddle.whl"
END

# release ARGUMENT...: what it prints is in $WORK/said.
release() {
    PATH=$WORK/programs:$PATH SADDLE_RELEASE_PYTHON=$WORK/programs/python3 \
        "$REPOSITORY/scripts/release" "$@" >"$WORK/said" 2>&1
}
# refused TEXT ARGUMENT...: ends with a failure and names the reason; nothing is made.
refused() {
    local text=$1
    shift
    if release "$@"; then
        cat "$WORK/said"
        return 1
    fi
    cat "$WORK/said"
    grep -qF -- "$text" "$WORK/said" && test ! -e "$REPOSITORY/out" && test -z "$(in_repository tag)"
}

# ---- what is refused --------------------------------------------------------------------------

help_is_printed() {
    release --help && grep -q 'scripts/release \[--test\] \[--tag\] VERSION' "$WORK/said" && ! grep -q '^set ' "$WORK/said"
}
check "--help" help_is_printed
check "no version" refused "usage:"
check "a version that is none" refused "usage:" 0.2
check "an option that does not exist" refused "'--push' is not an option" --push "$VERSION"
check "another version than that of the files" refused "CMakeLists.txt has version '$VERSION', not 9.8.7" 9.8.7

echo "more" >>"$REPOSITORY/LICENSE"
check "a change that is not committed" refused "not committed" "$VERSION"
in_repository checkout -q LICENSE
touch "$REPOSITORY/forgotten.c"
check "a file that is not committed" refused "forgotten.c" "$VERSION"
rm "$REPOSITORY/forgotten.c"

# One file at a time has another version.
while read -r file expression; do
    sed -i -E "$expression" "$REPOSITORY/$file"
    commit "$file has another version"
    check "$file has another version" refused "$file has version '9.8.7', not $VERSION" "$VERSION"
    in_repository reset -q --hard HEAD~1
done <<END
CITATION.cff s/^version: .*/version: 9.8.7/
CHANGELOG.md 0,/^## [0-9.]+/s//## 9.8.7/
docs/citing.md s/^( *version *= \{)[0-9.]+/\19.8.7/
docs/install.md s/(\`saddle-)[0-9.]+(-py3-)/\19.8.7\2/
python/backend.py s/Version: \{VERSION\}/Version: 9.8.7/
END

for file in docs/install.md docs/stability.md; do
    sed -i -E 's/libsaddle[0-9][0-9.]*/libsaddle9/' "$REPOSITORY/$file"
    commit "$file names another library package"
    check "$file names another library package" \
        refused "$file does not name the package 'libsaddle$(soversion "$SOURCE")'" "$VERSION"
    in_repository reset -q --hard HEAD~1
done

sed -i "s/^## $VERSION.*/## $VERSION (not released yet)/" "$REPOSITORY/CHANGELOG.md"
in_repository diff --quiet || commit "not released"
check "--tag of what the changelog calls not released" refused "put the date there" --tag "$VERSION"
sed -i "s/^## $VERSION.*/## $VERSION (2001-02-03)/" "$REPOSITORY/CHANGELOG.md"
commit "another date"
check "--tag with two dates" refused "CHANGELOG.md names another date" --tag "$VERSION"

# ---- what is made -----------------------------------------------------------------------------

MADE=$WORK/made
tarball() {
    tar -tzf "$1/saddle-$VERSION.tar.gz" | sed -n "s#^saddle-$VERSION/\(.*[^/]\)\$#\1#p" | LC_ALL=C sort
}
sums() {
    (cd "$MADE" && sha256sum -c SHA256SUMS) && test "$(wc -l <"$MADE/SHA256SUMS")" -eq 3
}
check "a release" release "$VERSION" "$MADE"
check "it says that no test was run" grep -q 'scripts/test --all must have passed' "$WORK/said"
check "the tarball has the files of the commit" \
    test "$(tarball "$MADE")" = "$(in_repository ls-files | LC_ALL=C sort)"
check "the packages" test -f "$MADE/saddle.deb" -a -f "$MADE/saddle.whl"
check "the sums of all files" sums
check "no tag" test -z "$(in_repository tag)"

not_empty() {
    ! release "$VERSION" "$MADE" && grep -q 'is not empty' "$WORK/said"
}
check "a directory with files is refused" not_empty
check "another time" release "$VERSION" "$WORK/again"
check "the same bytes" cmp "$MADE/saddle-$VERSION.tar.gz" "$WORK/again/saddle-$VERSION.tar.gz"

failed_build() {
    pretend cpack <<<'echo "no space"; exit 1'
    ! release "$VERSION" "$WORK/failed" && grep -q 'no space' "$WORK/said" && test ! -e "$WORK/failed"
}
check "nothing is left of a build that fails" failed_build
pretend cpack <<<'echo package >build-deb/saddle.deb'

sed -i "s/^## $VERSION.*/## $VERSION (2026-01-31)/" "$REPOSITORY/CHANGELOG.md"
sed -i "s/^date-released: .*/date-released: 2026-01-31/" "$REPOSITORY/CITATION.cff"
commit "release"
check "a release with a tag" release "$VERSION" "$WORK/tagged" --tag
check "the tag is that of the commit" \
    test "$(in_repository rev-parse "v$VERSION^{commit}")" = "$(in_repository rev-parse HEAD)"
again() {
    ! release "$VERSION" "$WORK/twice" && grep -q "tag v$VERSION already" "$WORK/said" && test ! -e "$WORK/twice"
}
check "a version that has a tag" again

finish
