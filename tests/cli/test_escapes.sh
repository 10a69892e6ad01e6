#!/usr/bin/env bash
# External text on a terminal: control, C1 and bidi characters are shown in escaped form, never sent.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

esc=$'\x1b[31m'
c1=$'\xc2\x9b31m'
bidi=$'\xe2\x80\xae'
bad=$esc$c1$bidi$'\xff'
good='gr\xc3\xbc\xc3\x9fe \xe6\xbc\xa2'
printf -v good '%b' "$good"

# shellcheck disable=SC2317  # called by check
# Neither stream contains a byte that acts on a terminal.
harmless() { ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|\xff' out err; }
# shellcheck disable=SC2317
shown() { grep -qF '\x1b[31m' out err && grep -qF '\u009b31m\u202e\xff' out err; }
# Runs a command and checks what it prints.
clean() {
    local name=$1
    shift
    try "$@"
    check "$name: harmless" harmless
    check "$name: shown" shown
}

try run --problem quadratic --iterations 5 --trace t.csv --model m.npz --quiet
clean "a file that is not there" report "$bad.csv"
clean "an option" run "--$bad" 1
clean "a value" run --problem "$bad"
clean "a command" "$bad"
clean "a plug-in" run --problem "./$bad.so"
clean "a directory" checkpoint info "$bad"
clean "data" data info "./$bad"
clean "a mirror" data fetch a9a --from "http://127.0.0.1:9/$bad" --directory d
cp t.csv "$bad.csv"
clean "a trace's name" report "$bad.csv" -o "$bad.html"
printf '0.5,1,1\n2,3,-1\n' >"$bad.data.csv"
clean "the name of data" data info "$bad.data.csv"
sed "s/^# problem: .*/# problem: $bad/; s/^# algorithm: .*/# algorithm: $bad/; s/^# seed: .*/# seed: $bad/" t.csv >head.csv
printf '# ended: %s\n' "$bad" >>head.csv
try report head.csv -o head.html
check "a page" bash -c '! LC_ALL=C grep -qP "[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xff" head.html'
check "shows them" grep -qF '\u202e' head.html
printf '# %s\niteration,metric\n0,%s\n' "$bad" "$bad" >cell.csv
clean "a cell" report cell.csv
printf '%s: 1\n' '"\e[31m\u009b31m\u202e"' >c.yaml
try run --config c.yaml
check "a configuration's name" harmless
try run --problem quadratic --iterations 5 --trace "$good.csv" --checkpoint "$good"
check "a name in UTF-8" [ -s "$good.csv" ]
try report "$good.csv" -o "$good.html"
check "passes" says "$good.html"
try checkpoint info "$good"
check "a checkpoint" harmless
if has gnuplot; then
    for name in head.csv "$bad.csv"; do
        try plot "$name" -o p.svg
        check "a picture" bash -c '! LC_ALL=C grep -qP "[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xff" p.svg'
        check "is drawn" [ -s p.svg ]
    done
    # Quotes, and what gnuplot would substitute or read as an escape, in names of files, algorithms and columns.
    # shellcheck disable=SC1003,SC2016
    for name in "'" "''" "'a''b'" "a'''''b" '"' '\"\' '\n\' '`touch made`' "'\"'" '$x@y{z}^_' '%d%s'; do
        python3 - "$name" <<'END'
import pathlib, sys
lines = pathlib.Path("t.csv").read_text().splitlines()
head = [f"# algorithm: {sys.argv[1]}" if line.startswith("# algorithm:") else line for line in lines if line[0] == "#"]
rows = [line for line in lines if line[0] != "#"]
names = [sys.argv[1] if name == "loss" else name for name in rows[0].split(",")]
pathlib.Path("quoted.csv").write_text("\n".join([*head[:-1], ",".join(names), *rows[1:], head[-1], ""]))
END
        cp quoted.csv "n$name.csv"
        for file in quoted.csv "n$name.csv"; do
            rm -f p.svg
            try plot "$file" --y "$name,metric" -o p.svg
            check "a picture of [$name]" exits 0
            check "shows [$name]" python3 -c '
import html, pathlib, sys
sys.exit(html.unescape(pathlib.Path("p.svg").read_text()).count(sys.argv[1]) < 2)' "$name"
            try plot "$file" --y "$name"
            check "a picture of [$name] in the terminal" exits 0
        done
    done
    check "nothing is run" absent made
fi
if has_terminal; then
    script -qec "'$saddle' report '$bad.csv' -o x.html" /dev/null 2>/dev/null </dev/null | tr -d '\r' >out
    : >err
    check "on a terminal" harmless
fi
finish
