#!/usr/bin/env bash
# saddle data list|info|generate|fetch; downloads come from a local server.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

try data list
check "list" exits 0
(
    unset HOME XDG_DATA_HOME
    "$saddle" data list >homeless 2>&1
)
check "without a home, what there is is listed" is $? 0
check "and why there is no directory" grep -q 'neither HOME nor XDG_DATA_HOME' homeless
check "missing data are reported" grep -qE '^  a9a +missing' out
check "a name with two files is shown once" is "$(grep -cE '^  mnist ' out)" 1
check "the data directory is shown" says "$work/data-home/saddle"

try data generate g.libsvm --rows 200 --features 40 --seed 3
check "generate" exits 0
check "as many rows" is "$(wc -l <g.libsvm)" 200
try data generate g2.libsvm --rows 200 --features 40 --seed 3
check "same seed, same bytes" cmp -s g.libsvm g2.libsvm
try data generate g2.libsvm --rows 200 --features 40 --seed 4
check "another seed, other bytes" eval '! cmp -s g.libsvm g2.libsvm'

try data info g.libsvm
check "info" exits 0
check "rows" grep -qE '^  rows +200$' out
check "non-zeros" grep -qE "^  non-zeros +$(grep -oE ':[^ ]+' g.libsvm | grep -vcx ':0')," out
check "labels" grep -qE "(^|  )1: $(grep -cE '^\+?1 ' g.libsvm) rows" out
check "size of the file" says "g.libsvm"
try data info synthetic:50
check "info of the generator" grep -qE '^  rows +50$' out
try run --data g.libsvm --samples 30 --iterations 5 --quiet
check "a run on the file" exits 0
printf 'a,b,label\n1,2,0\n3,4,1\n5,6,1\n' >c.csv
try data info c.csv
check "CSV" grep -qE '^  features +2$' out
try data info c.csv --label-column first
check "another label column" grep -qE '1: 1 row ' out
try data info c.csv --header no
check "no header wanted" warns "c.csv:2:1: column '1' has text above, such as 'a', and the number 1 here; name it in --category-columns to treat both as text; if the first line holds names, set --header to yes"
printf '1,nan,0\n3,4,1\n' >d.csv
try data info d.csv
check "NaN is not a name" warns "set --header to yes"
try data info d.csv --header yes
check "unless the user says so" grep -qE '^  rows +1$' out

mkdir place
printf '1 1:1\n-1 2:1\n' >place/a9a
SADDLE_DATA=$work/place try data info a9a
check "SADDLE_DATA is looked into" grep -qE '^  rows +2$' out
SADDLE_DATA=$work/place try data list
check "and listed" says "$work/place/a9a"

# ---- fetch

refuse "--from: the value is empty; give URL, or leave the option out" data fetch a9a --from ""
refuse "--accept: the value is empty; give SHA256, or leave the option out" data fetch a9a --accept ""
python=/usr/bin/python3
if [ -x "$python" ]; then
    mkdir served
    printf '1 1:1\n-1 2:1\n1 3:1\n' >served/a9a
    sum=$(sha256sum served/a9a | cut -d' ' -f1)
    (cd served && exec timeout 600 "$python" -u -c '
import http.server, sys
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_address[1], flush=True)
server.serve_forever()' >../port 2>/dev/null) &
    server=$!
    wait_for [ -s port ]
    url=http://127.0.0.1:$(cat port)
    export no_proxy=127.0.0.1
    try data fetch a9a --from "$url"
    check "another sum is not accepted" exits 1
    check "both hashes are shown" warns "$sum"
    check "how to accept it is shown" warns "accept "
    check "nothing is put into place" absent "$XDG_DATA_HOME/saddle/a9a"
    try data fetch a9a --from "$url" --accept "$sum"
    check "accepted knowingly" exits 0
    check "the path is printed" is "$(cat out)" "$XDG_DATA_HOME/saddle/a9a"
    check "the bytes are right" cmp -s served/a9a "$XDG_DATA_HOME/saddle/a9a"
    try data info a9a
    check "the name is found" grep -qE '^  rows +3$' out
    try data fetch a9a --from "$url" --accept "$sum" --directory other --force
    check "another directory" cmp -s served/a9a other/a9a
    try data fetch a9a.t --from "$url"
    check "a file that the server lacks" [ "$code" -ne 0 ]
    check "is reported in one line" one_line
    kill "$server"
    wait "$server" 2>/dev/null
else
    skip "no $python to serve files"
fi
# A NumPy file that is empty or cut within its first bytes is not mistaken for text.
printf '\223NUM' >cut.npy
refuse "cannot read 'X' from 'cut.npy': it is not a NumPy array" data info cut.npy
printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >none.npz
refuse "cannot read 'X' from 'none.npz'" data info none.npz

finish
