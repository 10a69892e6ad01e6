#!/usr/bin/env bash
# What docs/reliability.md promises is held by tests that exist, the sources use none of the functions that
# SECURITY.md rules out, and docs/install.md names every package that a build needs.
#
#   test_promises.sh SOURCE-DIRECTORY
set -u
cd "$1" || exit 1
passed=0
failed=0

check() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n' "$name"
    fi
}

exists() { [ -e "$1" ]; }
contains() { grep -qE "$2" "$1"; }
# Calls of a function in the library and the program; comments do not count.
never_called() { ! grep -nE "(^|[^a-zA-Z0-9_>.])($1)\(" src/*/*.c lab/*.c draw/*.c cli/*.c | grep -vE '^[^:]+:[0-9]+: *(/?\*|//)'; }

# Names of tests in the table, as `tests/PATH` or `tests/PATH: name_of_test`.
# shellcheck disable=SC2016  # the backquotes are Markdown's
names=$(grep '^|' docs/reliability.md | grep -oE '`(tests|scripts)/[^`]*`' | tr -d '`' | sort -u)
check "the table names tests" [ "$(wc -l <<<"$names")" -ge 20 ]
while read -r name; do
    file=${name%%:*}
    check "$file exists" exists "$file"
    if [ "$file" != "$name" ]; then
        check "$name exists" contains "$file" "^TEST(_LOOP)?\(${name##*: }[,)]"
    fi
done <<<"$names"

for function in system popen tmpnam mktemp gets strcpy strcat sprintf 'v?sprintf'; do
    check "$function() is not called" never_called "$function"
done
other_programs() { grep -nE '(^|[^a-zA-Z0-9_>.])exec[lv][a-z]*\(' src/*/*.c lab/*.c draw/*.c cli/*.c | grep -v 'execl(d->program, "saddle", "peer", "run",'; }
check "saddle peer demo starts the program itself, nothing else is executed without posix_spawn" [ -z "$(other_programs)" ]
# Numbers are printed and read in core/print.c and core/number.c, whatever the locale. Modules call none of the library
# and print integers only.
plain_calls() { grep -nE '(^|[^a-zA-Z0-9_>.])(v?[fsd]?printf|v?snprintf|v?asprintf|strto(d|f|ld)|atof|strn?casecmp|newlocale|uselocale|setlocale)\(' src/*/*.[ch] lab/*.[ch] draw/*.[ch] cli/*.[ch] | grep -vE '^src/core/print\.[ch]:|^src/[a-z/]*/module_[a-z]*\.c:|format\(printf|^[^:]+:[0-9]+: *(/?\*|//)'; }
check "numbers do not depend on the locale" [ -z "$(plain_calls)" ]
for function in gettimeofday time; do
    check "$function() is not called: the clock may jump" never_called "$function"
done
format=$(sed -n 's/^#define FORMAT //p' src/checkpoint/checkpoint_file.c)
check "docs/checkpoints.md names the format that is written" grep -q "format (${format}[;)]" docs/checkpoints.md
check "no clock but the monotonic one" bash -c '! grep -n CLOCK_REALTIME src/*/*.c lab/*.c draw/*.c cli/*.c'
# shellcheck source=scripts/lib.sh
for needed in $(. scripts/lib.sh && printf '%s\n' "${BUILD_PACKAGES[@]}"); do
    check "docs/install.md names the package $needed" grep -qE "(^|[ \`])$needed([ \`]|\$)" docs/install.md
done
printf 'checks: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
