#!/usr/bin/env bash
#
# test_readme.sh PROGRAM SOURCE: runs every `saddle` command that README.md and docs/commands.md show, in their order,
# in an empty directory. Skips commands that would download, and those that need a9a if it is missing.
set -euo pipefail

PROGRAM=$1
SOURCE=$2
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
mkdir "$WORK/bin" "$WORK/here"
ln -s "$PROGRAM" "$WORK/bin/saddle"
export PATH=$WORK/bin:$PATH
export XDG_DATA_HOME=$WORK/data
cd "$WORK/here"
printf 'problem: quadratic\niterations: 100\n' >settings.yml # docs/commands.md's --config
PASSED=0
FAILED=0

mapfile -t commands < <(sed -n 's/^    \(saddle .*\)$/\1/p' "$SOURCE/README.md" "$SOURCE/docs/commands.md")
for command in "${commands[@]}"; do
    if [[ $command == *fetch* ]]; then
        continue
    fi
    if [[ $command == *a9a* && ! -r ${SADDLE_DATA:-/nonexistent}/a9a ]]; then
        echo "skip: '$command': a9a is not in SADDLE_DATA"
        continue
    fi
    if [[ $command =~ plot|--draw ]] && ! command -v gnuplot >/dev/null; then
        echo "skip: '$command': gnuplot is not installed"
        continue
    fi
    if bash -c "$command" >log 2>&1; then
        PASSED=$((PASSED + 1))
    else
        FAILED=$((FAILED + 1))
        printf 'FAIL %s\n' "$command"
        tail -n 5 log
    fi
done

printf 'checks: %d passed, %d failed\n' "$PASSED" "$FAILED"
[[ $FAILED -eq 0 && $PASSED -gt 10 ]]
