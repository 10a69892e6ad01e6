#!/usr/bin/env bash
# Odd files: every cell of the table "Odd files" of docs/reliability.md is tried, format by format.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
has python3 || exit 77 # packs odd models

table=$here/../../docs/reliability.md

# ---- a good file of each format, and how the program reads it

mkdir good
printf '1 1:1 3:0.5\n-1 2:2\n1 3:1\n-1 1:1 2:4\n' >good/libsvm
printf 'a,b,y\n1,2,1\n3,4,-1\n' >good/csv
printf '\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\2\1\2\3\4' >good/idx
printf '\0\0\10\1\0\0\0\2\1\7' >labels
printf '0 1\n1 2\n2 0\n' >good/edges
printf 'samples: 20\nagents: 3\ntopology: ring\nnu: 0.25\n' >good/config
printf 'iteration,ifo,metric\n0,10,1\n1,20,0.5\n2,30,0.25\n' >good/trace
try run "${tiny[@]}" --problem auc --agents 2 --iterations 1 --model good.npz --checkpoint kept
check "files of a run are there" exits 0
mv good.npz good/model
cp kept/checkpoint-*1.saddle good/checkpoint

# Reading never blocks, and with a limit, in kB, takes no more memory than that.
limit=unlimited
attempt() {
    (ulimit -v "$limit" && exec timeout 1200 "$saddle" "$@" >out 2>err </dev/null)
    code=$?
}

# The program reads the file `odd`, or $place, as $format; the result is in `made`.
read_odd() {
    case $format in
    libsvm | csv) attempt data info "$place" --format "$format" "${more[@]}" ;;
    idx) attempt data info "$place" --format idx --labels labels ;;
    edges) attempt graph "file:$place" ;;
    config) attempt theory --config "$place" --data synthetic:300 ;;
    model) attempt eval --model "$place" --data synthetic:50 ;;
    checkpoint) attempt run --resume "$place" --iterations 2 --quiet ;;
    trace) attempt report "$place" -o page.html ;;
    esac
    # Ignore the size of a file and the seconds of a run.
    grep -vE '^  (file|cost) |[0-9] s$' out >made
    if [ "$format" = trace ] && [ "$code" -eq 0 ]; then mv page.html made; fi
}

# ---- the kinds of odd files

# change SED-SCRIPT: changes a copy of the good file.
change() { sed "$1" "good/$format" >odd; }

# put OFFSET BYTES: overwrites bytes of a copy of the good file, in printf's octal, at an offset.
put() { { head -c "$1" "good/$format"; printf '%b' "$2"; } >odd; }

# pack SCRIPT: changes xbar, the bytes b, in a copy of the good model with a Python script.
pack() {
    python3 - "$1" <<'PYTHON'
import re, struct, sys, zipfile

def number(b, value):
    return b[:-8] + struct.pack("<d", float(value))

def length(b, entries):
    head = re.sub(rb"\(\d+,\)", b"(%d,)" % entries, b[:128]).rstrip()
    return head.ljust(127) + b"\n" + b[128:]

with zipfile.ZipFile("good/model") as good, zipfile.ZipFile("odd", "w") as odd:
    for name in good.namelist():
        b = good.read(name)
        odd.writestr(name, eval(sys.argv[1]) if name == "xbar.npy" else b)
PYTHON
}

# Writes the odd file $1 of $format; returns 1 if there is none. `wanted` becomes a part of the message.
make_odd() {
    wanted=$place
    case $format:$1 in
    *:"empty file")
        : >odd
        ;;
    *:directory)
        [ "$format" = checkpoint ] || wanted="is a directory"
        [ "$format" != trace ] || wanted="there is no trace in 'odd'"
        mkdir odd
        ;;
    *:"pipe that nobody writes to")
        wanted="is a pipe"
        mkfifo odd
        ;;
    *:"pipe that is written to")
        wanted="is a pipe"
        mkfifo odd
        timeout 1200 cat "good/$format" >odd 2>/dev/null &
        writer=$!
        ;;
    *:"link to nothing") ln -s nothing odd ;;
    *:"link to itself") ln -s odd odd ;;
    *:"path below a file") place=good/$format/below && wanted="'$place': Not a directory" ;;
    *:"file that cannot be read") ln -s /proc/self/mem odd ;;

    libsvm:"number out of range") wanted="odd:1:9: value '1e999'" && change 's/0.5/1e999/' ;;
    libsvm:NaN) wanted="odd:1:9: value 'nan'" && change 's/0.5/nan/' ;;
    libsvm:infinity) wanted="odd:1:9: value '-inf'" && change 's/0.5/-inf/' ;;
    libsvm:"index or name twice") wanted="odd:1:7: index 1 after 1" && change 's/3:0.5/1:0.5/' ;;
    libsvm:"descending indices") wanted="odd:1:9: index 1 after 3" && change 's/1:1 3:0.5/3:0.5 1:1/' ;;
    libsvm:"wrong label") wanted="odd:2:1: label 'no'" && change 's/^-1 2/no 2/' ;;
    libsvm:"claim of gigabytes")
        wanted="odd:1: index 4294967295; a point and a gradient with this many features"
        change 's/3:0.5/4294967295:0.5/'
        ;;

    csv:"number out of range") wanted="odd:2:3: '1e999'" && change 's/2/1e999/' ;;
    csv:NaN) wanted="odd:2:3: missing value" && change 's/2/NaN/' ;;
    csv:infinity) wanted="odd:2:3: 'Infinity'" && change 's/2/Infinity/' ;;
    csv:"index or name twice")
        wanted="label-column: 'odd' has several columns 'y'"
        change 's/a,b/a,y/'
        more=(--label-column y)
        ;;
    csv:"wrong label") wanted="odd:3:5: column 'y' has text above, such as 'yes', and the number -1 here" && change 's/,1$/,yes/' ;;

    idx:"claim of gigabytes") wanted="cut short: 4 bytes" && put 4 '\0\0377\0377\0377\0\0\0\0100\0\0\0\0100\01\02\03\04' ;;
    idx:"a byte more at the end") wanted="has more than the 4 bytes that its header announces" && { cat good/idx && echo; } >odd ;;
    idx:"the last byte missing") wanted="cut short" && head -c -1 good/idx >odd ;;

    edges:"number out of range") wanted="odd:3:3: '9999" && change 's/^2 0/2 99999999999999999999/' ;;
    edges:NaN) wanted="odd:3:3: 'nan'" && change 's/^2 0/2 nan/' ;;
    edges:infinity) wanted="odd:3:3: 'inf'" && change 's/^2 0/2 inf/' ;;
    edges:"index or name twice") wanted="odd:4:1: the edge 0 1 was" && change "\$a1 0" ;;
    edges:"descending indices") change '1s/.*/1 0/' ;;
    edges:"claim of gigabytes") wanted="odd:4:3: '4000000000' is not an agent" && change "\$a2 4000000000" ;;

    config:"number out of range") wanted="odd:4:5: nu: '1e999'" && change 's/0.25/1e999/' ;;
    config:NaN) wanted="odd:4:5: nu: 'nan'" && change 's/0.25/nan/' ;;
    config:infinity) wanted="odd:4:5: nu: '.inf'" && change 's/0.25/.inf/' ;;
    config:"index or name twice") wanted="odd:5:1: option 'nu' was already given on line 4" && change "\$anu: 0.5" ;;
    config:"claim of gigabytes") wanted="odd:2:9: agents: '4000000000'" && change 's/agents: 3/agents: 4000000000/' ;;

    model:NaN) wanted="entry 125 of 'xbar' in 'odd' is nan" && pack 'number(b, "nan")' ;;
    model:infinity) wanted="entry 125 of 'xbar' in 'odd' is inf" && pack 'number(b, "inf")' ;;
    model:"claim of gigabytes") wanted="announces 32000000000 bytes" && pack 'length(b, 4000000000)' ;;
    model:"a byte changed" | checkpoint:"a byte changed")
        { head -c 1000 "good/$format" && printf '\377' && tail -c +1002 "good/$format"; } >odd
        ;;
    checkpoint:"claim of gigabytes") wanted="cut short" && { put 24 '\0377\0377\0377\0377\0377\0\0\0' && head -c 68 /dev/zero >>odd; } ;;
    model:"a byte more at the end" | checkpoint:"a byte more at the end") { cat "good/$format" && echo; } >odd ;;
    model:"the last byte missing" | checkpoint:"the last byte missing") head -c -1 "good/$format" >odd ;;

    trace:"number out of range") wanted="odd:3:6: '1e999'" && change 's/0.5/1e999/' ;;
    trace:NaN) change 's/0.5/nan/' ;;
    trace:infinity) change 's/0.5/inf/' ;;
    trace:"index or name twice") wanted="odd:3:1: iteration 0 after 0" && change 's/^1,20/0,20/' ;;
    trace:"descending indices") wanted="odd:4:1: iteration 0 after 1" && change 's/^2,30/0,30/' ;;

    idx:* | model:* | checkpoint:*) return 1 ;;
    *:"no newline at the end") head -c -1 "good/$format" >odd ;;
    *:CRLF) change 's/$/\r/' ;;
    *:"UTF-8 mark") { printf '\357\273\277' && cat "good/$format"; } >odd ;;
    *:"blanks at the ends of lines") change 's/$/ \t /' ;;
    *) return 1 ;;
    esac
}

# ---- the table

# One line about the file, no result, no blocking; the exit code is 1 if the system is the cause.
refused() {
    { [ "$code" -eq 2 ] || [ "$code" -eq 1 ]; } && one_line && [ ! -s out ] && warns "$wanted"
}

# Asserts that the result is that of the good file changed by SED-SCRIPT.
made_of() {
    cp made made.odd
    rm -rf odd
    change "$1"
    place=odd
    read_odd
    cmp -s made made.odd
}

# try_cell ODDITY OUTCOME
try_cell() {
    local name="$format: $1: $2"
    rm -rf odd
    place=odd
    more=()
    writer=
    if ! make_odd "$1"; then
        check "$name" is "$2" "–"
        return
    fi
    [ "$1" != "claim of gigabytes" ] || limit=$little
    read_odd
    limit=unlimited
    # Opening a pipe blocks until there is a reader: end a writer that came too late for the program.
    [ -z "$writer" ] || { kill "$writer" && wait "$writer"; } 2>/dev/null
    case $2 in
    refused) check "$name" refused ;;
    same) check "$name" exits 0 && check "$name, like the good file" made_of '' ;;
    kept) check "$name" exits 0 ;;
    cut) check "$name" exits 0 && check "$name, without its last line" made_of "\$d" ;;
    *) check "$name: no such outcome" false ;;
    esac
}

# A sanitizer's own memory does not fit into a limit.
little=unlimited
if (ulimit -v 3000000 && "$saddle" --version >/dev/null 2>&1); then little=3000000; fi

formats=(libsvm csv idx edges config model checkpoint trace)
for format in "${formats[@]}"; do
    cp "good/$format" odd
    place=odd
    more=()
    read_odd
    check "$format: a good file is read" exits 0
    rm -rf odd
done

rows=0
while IFS='|' read -r _ oddity outcomes; do
    IFS='|' read -ra outcome <<<"$outcomes"
    check "the table has a column for each format" is "${#outcome[@]}" "${#formats[@]}"
    for k in "${!formats[@]}"; do
        format=${formats[k]}
        read -r word <<<"${outcome[k]}"
        read -r oddity <<<"$oddity"
        try_cell "$oddity" "$word"
    done
    rows=$((rows + 1))
done < <(sed -n '/^### Odd files/,/^## /p' "$table" | grep '^|' | tail -n +3)
check "the table has its rows" test "$rows" -ge 15

# ---- UTF-16, as spreadsheets save it
for mark in '\xff\xfe1\0,\0002\0' '\xfe\xff\0001\0,\0002'; do
    printf '%b' "$mark" >wide.csv
    refuse "'wide.csv' is text in UTF-16; save it as UTF-8" run --problem auc --data wide.csv
done

finish
