#!/usr/bin/env bash
# Odd files: every cell of the table "Odd files" of docs/reliability.md is tried, format by format.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

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

# The program reads the file `odd` as FORMAT; what it makes of it is in the file `made`.
read_odd() {
    case $1 in
    libsvm | csv) try data info odd --format "$1" ;;
    idx) try data info odd --format idx --labels labels ;;
    edges) try graph file:odd ;;
    config) try theory --config odd --data synthetic:300 ;;
    model) try eval --model odd --data synthetic:50 ;;
    checkpoint) try checkpoint odd ;;
    trace) try report odd -o page.html ;;
    esac
    # The size of a file is not what is read from it.
    grep -v '^  file ' out >made
    if [ "$1" = trace ] && [ "$code" -eq 0 ]; then cp page.html made; fi
}

# ---- the oddities

# change SED-SCRIPT: the good file with a change.
change() { sed "$1" "good/$format" >odd; }

# A binary file with an odd number: `reforge PYTHON-EXPRESSION` of the bytes b of a model's xbar.
reforge() {
    "${python[@]}" - "$1" <<'PYTHON'
import struct, sys, zipfile
nan, inf = struct.pack("<d", float("nan")), struct.pack("<d", float("inf"))
with zipfile.ZipFile("good/model") as good, zipfile.ZipFile("odd", "w") as odd:
    for name in good.namelist():
        b = good.read(name)
        odd.writestr(name, eval(sys.argv[1]) if name == "xbar.npy" else b)
PYTHON
}

# make_odd ODDITY: write the file `odd` of $format; 1 where there is no such thing.
make_odd() {
    case $format:$1 in
    *:"empty file") : >odd ;;
    *:"directory") mkdir odd ;;
    *:"pipe that nobody writes to") mkfifo odd ;;
    *:"pipe that is written to")
        mkfifo odd
        timeout 20 cat "good/$format" >odd &
        ;;
    *:"link to nothing") ln -s nothing odd ;;
    *:"link to itself") ln -s odd odd ;;
    *:"file that cannot be read") ln -s /proc/self/mem odd ;;
    libsvm:"number out of range") change 's/0.5/1e999/' ;;
    libsvm:NaN) change 's/0.5/nan/' ;;
    libsvm:infinity) change 's/0.5/-inf/' ;;
    libsvm:"index twice") change 's/3:0.5/1:0.5/' ;;
    libsvm:"descending indices") change 's/1:1 3:0.5/3:0.5 1:1/' ;;
    libsvm:"wrong label") change 's/^-1/no/' ;;
    libsvm:"claim of gigabytes") change 's/3:0.5/4000000000:0.5/' ;;
    csv:"number out of range") change 's/2/1e999/' ;;
    csv:NaN) change 's/2/NaN/' ;;
    csv:infinity) change 's/2/Infinity/' ;;
    csv:"index twice") change 's/a,b/a,a/' ;;
    csv:"wrong label") change 's/,1$/,yes/' ;;
    idx:"claim of gigabytes") printf '\0\0\10\3\0\377\377\377\0\0\0\100\0\0\0\100\1\2\3\4' >odd ;;
    idx:"wrong label") return 1 ;;
    edges:"number out of range") change 's/^2 0/2 99999999999999999999/' ;;
    edges:NaN) change 's/^2 0/2 nan/' ;;
    edges:infinity) change 's/^2 0/2 inf/' ;;
    edges:"index twice") change '$a1 0' ;;
    edges:"descending indices") change '1s/.*/1 0/' ;;
    edges:"claim of gigabytes") change '$a2 4000000000' ;;
    config:"number out of range") change 's/0.25/1e999/' ;;
    config:NaN) change 's/0.25/nan/' ;;
    config:infinity) change 's/0.25/.inf/' ;;
    config:"index twice") change '$anu: 0.5' ;;
    config:"descending indices") return 1 ;;
    config:"claim of gigabytes") change 's/agents: 3/agents: 4000000000/' ;;
    model:NaN) reforge 'b[:-8] + nan' ;;
    model:infinity) reforge 'b[:-8] + inf' ;;
    model:"claim of gigabytes") reforge 'b.replace(b"(126,)", b"(4000000000,)").replace(b" " * 7 + b"\n", b"\n", 1)' ;;
    checkpoint:"claim of gigabytes") { head -c 16 good/checkpoint; printf '\377\377\377\377\377\0\0\0'; tail -c +25 good/checkpoint; } | head -c 100 >odd ;;
    trace:"number out of range") change 's/0.5/1e999/' ;;
    trace:NaN) change 's/0.5/nan/' ;;
    trace:infinity) change 's/0.5/inf/' ;;
    trace:"index twice") change 's/^1,20/0,20/' ;;
    trace:"descending indices") change 's/^2,30/0,30/' ;;
    model:* | checkpoint:* | idx:*) return 1 ;;
    *:"no newline at the end") head -c -1 "good/$format" >odd ;;
    *:"CRLF") change 's/$/\r/' ;;
    *:"UTF-8 mark") { printf '\357\273\277'; cat "good/$format"; } >odd ;;
    *:"blanks at the ends of lines") change 's/$/ \t /' ;;
    *) return 1 ;;
    esac
}

