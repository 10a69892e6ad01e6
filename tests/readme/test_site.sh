#!/usr/bin/env bash
#
# test_site.sh PROGRAM SOURCE: the site builds from the documentation without a warning, with a page for every command
# and header.
set -euo pipefail

if ! /usr/bin/python3 -c 'import sphinx, myst_parser, furo' 2>/dev/null; then
    echo "skip: Sphinx, MyST and Furo are not installed"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$2/scripts/site" "$1" "$work"
passed=0
for page in README docs/index docs/tutorial docs/networks docs/problems/fair docs/reference/saddle-run \
    docs/reference/saddle-data-split docs/reference/c-plan; do
    if [[ ! -s $work/pages/$page.html ]]; then
        echo "FAIL: there is no page $page"
        exit 1
    fi
    passed=$((passed + 1))
done
echo "checks: $passed passed, 0 failed"
