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
    docs/reference/saddle-data-split docs/reference/c-plan docs/reference/commands docs/reference/headers; do
    if [[ ! -s $work/pages/$page.html ]]; then
        echo "FAIL: there is no page $page"
        exit 1
    fi
    passed=$((passed + 1))
done
# has FILE TEXT WHAT
has() {
    if ! grep -qF -- "$2" "$work/pages/$1"; then
        echo "FAIL: $3"
        exit 1
    fi
    passed=$((passed + 1))
}
has docs/reference/saddle-run.html '<h2>Network' "the options of a command have no headings"
has searchindex.js '"--tolerance": [[' "a search does not find an option"
has docs/reference/saddle-run.html '<dt><code class="docutils literal notranslate"><span class="pre">--tolerance</span>' \
    "the options of a command are no list"
has docs/reference/commands.html 'of a network, or draw it' "the list of commands does not say what they do"
has docs/reference/headers.html 'what one agent does in one communication round' "the list of headers does not say what they are"
has README.html '--color-background-primary: #131416' "there are no colours for a dark system"
has _static/language_data.js 'docs/glossary' "a search does not prefer pages that explain"
# A browser runs the theme's script as it is: it is not a module.
if grep -qE '^(import|export) ' "$work/pages/_static/scripts/furo.js"; then
    echo "FAIL: the script of the pages is a module, which a browser refuses"
    exit 1
fi
passed=$((passed + 1))
echo "checks: $passed passed, 0 failed"
