#!/usr/bin/env bash
# Outputs: none overwrites an input or another output, under any name, and no two runs write to the same file.
# shellcheck disable=SC2317  # functions are called by wait_for
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# keeps FILE TEXT ARGUMENTS...: the arguments are refused with the text, and the file is unchanged.
keeps() {
    local file=$1 before
    before=$(sha256sum <"$file")
    shift
    refuse "$@"
    check "$file stays: ${*:2}" is "$(sha256sum <"$file")" "$before"
}

# ---- inputs of a run ------------------------------------------------------------------------------
try data generate d.libsvm --rows 300 --features 5
try data generate t.libsvm --rows 100 --features 5 --seed 2
printf '0 1\n1 2\n2 3\n3 4\n4 0\n' >edges
printf 'nu: 0.05\n' >c.yaml
for k in 0 1 2 3 4; do # a ring's weights
    for j in 0 1 2 3 4; do
        if [ $(((k - j + 5) % 5)) = 0 ]; then printf '0.5 '; else
            if [ $(((k - j + 5) % 5)) = 1 ] || [ $(((k - j + 5) % 5)) = 4 ]; then printf '0.25 '; else printf '0 '; fi; fi
    done
    echo
done >weights
try run --problem auc --data d.libsvm --iterations 5 --model i.npz --checkpoint ck --quiet
saved=$(find ck -name '*.saddle')
inputs=(--problem auc --data d.libsvm --test-data t.libsvm --topology file:edges --mixing file:weights --init file:i.npz
    --config c.yaml --iterations 5)
try run "${inputs[@]}" --quiet
check "all inputs together" exits 0
mkdir far
for input in data:d.libsvm test-data:t.libsvm topology:edges mixing:weights init:i.npz config:c.yaml; do
    name=${input%%:*}
    file=${input#*:}
    ln -s "../$file" far/link
    ln "$file" far/hard
    for output in --trace --model --report; do
        # Starting from a model and saving the new one under the same name is allowed.
        [ "$name$output" != init--model ] || continue
        keeps "$file" "$output: '$file' is also the file of --$name and would be overwritten" \
            run "${inputs[@]}" "$output" "$file"
    done
    for other in far/link far/hard far/../"$file"; do
        keeps "$file" "--trace: '$other' is also the file of --$name" run "${inputs[@]}" --trace "$other"
    done
    rm far/link far/hard
done
try run "${inputs[@]}" --model i.npz --quiet
check "a model may replace the start" exits 0
keeps i.npz "is also the file of --init-x" run --data d.libsvm --init-x file:i.npz --trace i.npz
keeps i.npz "--model: 'i.npz' is also the file of --trace" run "${inputs[@]}" --model i.npz --trace i.npz

# ---- files that are found by name
idx() { # HEAD COUNT BYTE: a file of 300 labels or of 300 images of 2 pixels
    printf %b "$1"
    head -c "$2" /dev/zero | tr '\0' "$3"
}
labels() { idx '\0\0\010\01\0\0\01\054' 150 '\1' && head -c 150 /dev/zero; }
idx '\0\0\010\03\0\0\01\054\0\0\0\01\0\0\0\02' 600 '\7' >x-images-idx3-ubyte
labels >x-labels-idx1-ubyte
cp x-images-idx3-ubyte z-images-idx3-ubyte
labels | gzip >z-labels-idx1-ubyte.gz
positive=(--problem auc --positive 1 --iterations 2)
try run --data x-images-idx3-ubyte --test-data z-images-idx3-ubyte "${positive[@]}" --quiet
check "labels are found" exits 0
for output in --trace --model; do
    keeps x-labels-idx1-ubyte "is also the file of --labels" \
        run --data x-images-idx3-ubyte "${positive[@]}" "$output" x-labels-idx1-ubyte
    keeps z-labels-idx1-ubyte.gz "is also the file of --labels" run --data x-images-idx3-ubyte \
        --test-data z-images-idx3-ubyte "${positive[@]}" "$output" z-labels-idx1-ubyte.gz
done
export SADDLE_DATA=$work/named
mkdir named
cp d.libsvm named/a9a
keeps named/a9a "is also the file of --data" run --data a9a --iterations 5 --trace named/a9a
unset SADDLE_DATA

# ---- checkpoints
for output in --trace --model --report; do
    keeps "$saved" "$output: '$saved' " run --resume "$saved" --model i.npz --iterations 9 "$output" "$saved"
    keeps "$saved" "$output: '$saved' " run --resume ck --model i.npz --iterations 9 "$output" "$saved"
done
refuse "has the name of a checkpoint" run --data d.libsvm --checkpoint new \
    --model new/checkpoint-0000000000000100.saddle
check "nothing is made" absent new

# ---- outputs that conflict
refuse "--model: './same' is also the file of --trace" run "${small[@]}" --trace same --model ./same
refuse "--report: 'same' is also the file of --model" run "${small[@]}" --model same --report same
echo >one
ln one two
refuse "--model: 'two' is also the file of --trace" run "${small[@]}" --trace one --model two
ln -s nothing dead
refuse "--trace: cannot write 'dead': it is a link to a file that does not exist" run "${small[@]}" --trace dead
refuse "--model: cannot write 'dead'" run "${small[@]}" --model dead

# ---- the files of standard output and standard error, under any name
echo before >shared
for output in --model --report; do
    timeout 1200 "$saddle" run "${small[@]}" "$output" /dev/stdout >>shared 2>err </dev/null
    code=$?
    check "$output to standard output, a file" exits 2
    check "says so" warns "$output: cannot write '/dev/stdout': it is standard output, which is redirected to a file; give another path"
    check "it stays" is "$(cat shared)" before
done
timeout 1200 "$saddle" run "${small[@]}" --trace /dev/stdout >>shared 2>err </dev/null
check "a trace is appended" is "$(head -1 shared) $(grep -c '^# ended: all iterations done' shared)" "before 1"
check "and so is the summary" grep -q '^  metric' shared
echo before >shared
# shellcheck disable=SC2094  # the same file on purpose
timeout 1200 "$saddle" run "${small[@]}" --trace shared >out 2>>shared </dev/null
check "standard error" grep -q "^saddle: --trace: cannot write 'shared': it is standard error" shared
check "it has the message only" is "$(wc -l <shared) $(head -1 shared)" "2 before"
timeout 1200 "$saddle" data generate /dev/fd/1 --rows 20 --features 2 >shared 2>err </dev/null
check "data" warns "PATH: cannot write '/dev/fd/1': it is standard output"
# ---- and those of other descriptors
for name in /dev/fd/3 /proc/self/fd/3; do
    for output in --model --report; do
        echo before >shared
        timeout 1200 "$saddle" run "${small[@]}" "$output" "$name" 3>>shared >out 2>err </dev/null
        code=$?
        check "$output to $name, a file" exits 2
        check "says so" warns "$output: cannot write '$name': it is a file that this process was given open; give another path"
        check "it stays" is "$(cat shared)" before
    done
    timeout 1200 "$saddle" run "${small[@]}" --trace "$name" --quiet 3>>shared >out 2>err </dev/null
    check "a trace is appended" is "$(head -1 shared) $(grep -c '^# ended: all iterations done' shared)" "before 1"
done
timeout 1200 "$saddle" run "${small[@]}" --trace /dev/stdout --quiet 2>err </dev/null | cat >piped
check "a pipe is written to" grep -q '^# ended: all iterations done' piped
timeout 1200 "$saddle" run "${small[@]}" --trace t.csv --report page.html >shared 2>&1 </dev/null
check "other files are" [ -s t.csv ]

# ---- other commands
try run "${small[@]}" --trace t.csv --model m.npz --quiet
keeps t.csv "is also the file of a trace" report t.csv -o t.csv
ln t.csv t.svg
keeps t.csv "is also the file of a trace" plot t.csv -o t.svg
keeps m.npz "is also the file of --model" predict --model m.npz --data d.libsvm --output m.npz
keeps d.libsvm "is also the file of --data" predict --model m.npz --data d.libsvm --output d.libsvm
keeps c.yaml "is also the file of --config" predict --model m.npz --data d.libsvm --config c.yaml --output c.yaml
keeps x-labels-idx1-ubyte "is also the file of --labels" predict --model m.npz --data x-images-idx3-ubyte \
    --output x-labels-idx1-ubyte
cp edges e.dot
keeps e.dot "is also the file of the topology" graph file:e.dot --draw e.dot
keeps edges "is also the file of the topology" graph file:edges --save edges
keeps weights "is also the file of --mixing" graph file:edges --mixing file:weights --save weights
for file in gda-seed1.csv summary.csv; do
    rm -rf c
    mkdir c
    ln d.libsvm "c/$file"
    keeps d.libsvm "is also the file of --data" compare --data d.libsvm --iterations 3 --algorithms gda,sgda \
        --output c --overwrite
done
keeps d.libsvm "--report: 'd.libsvm' is also the file of --data" compare --data d.libsvm --iterations 3 \
    --algorithms gda --output new --report d.libsvm
mkdir tuned
ln -s ../c.yaml tuned/gda.yaml
keeps c.yaml "--output: 'tuned/gda.yaml' is also the file of --config" tune --data d.libsvm --config c.yaml \
    --algorithms gda --budget 20000 --output tuned
keeps c.yaml "is also the file of --tuned" compare --data d.libsvm --iterations 3 --algorithms gda --tuned tuned \
    --output new --report tuned/gda.yaml

# ---- two runs and one file
endless=(run "${tiny[@]}" --iterations 1000000000 --trace-every 100 --threads 1 --quiet)
busy() { # FILE TEXT OPTION...: while a run writes to the file, another one is refused
    local file=$1 text=$2 first
    shift 2
    "$saddle" "${endless[@]}" "$@" </dev/null >first.out 2>first.err &
    first=$!
    check "$file: a run at work" wait_for rows_in "$file" 3
    refuse "$text" run "${small[@]}" "$@"
    # It is not replaced either.
    for output in --model --report; do
        refuse "$output: '$file' is being written by another run, process $first" run "${small[@]}" "$output" "$file"
    done
    refuse "'$file' is being written by another run" data generate "$file" --rows 300 --features 5
    refuse "--save: '$file' is being written by another run" graph ring --agents 5 --save "$file"
    refuse "--output: '$file' is being written by another run" report t.csv -o "$file"
    refuse "--output: '$file' is being written by another run" predict --model m.npz --data d.libsvm --output "$file"
    refuse "--report: '$file' is being written by another run" compare "${tiny[@]}" --algorithms gda --iterations 3 \
        --output unmade --report "$file"
    kill "$first"
    wait "$first"
    check "$file: the first is not disturbed" is "$?" 130
    check "$file: it has no zero bytes" is "$(tr -d -c '\000' <"$file" | wc -c)" 0
    try run "${small[@]}" "$@" --quiet
    check "$file: when it has ended another may" exits 0
}
busy b.csv "--trace: 'b.csv' is being written by another run" --trace b.csv

# Two at once, repeatedly: exactly those that are not refused write complete files.
for _ in $(seq 5); do
    rm -f both.csv
    for seed in 1 2; do
        "$saddle" run "${tiny[@]}" --iterations 20000 --trace-every 1 --threads 1 --quiet --seed $seed \
            --trace both.csv 2>"both-$seed.err" </dev/null &
    done
    wait
    check "no zero bytes" is "$(tr -d -c '\000' <both.csv | wc -c)" 0
    check "complete rows" is "$(grep -v '^#' both.csv | awk -F, '{print NF}' | sort -u)" 16
done

slow=(tune --problem quadratic --algorithms gda --budget 2000000000)
"$saddle" "${slow[@]}" --output log --quiet </dev/null >/dev/null 2>&1 &
first=$!
check "a search at work" wait_for rows_in log/gda.csv 3
refuse "--output: 'log/gda.csv' is being written by another run, process $first" "${slow[@]}" --output log --resume
kill "$first"
wait "$first"

comparison=(compare "${tiny[@]}" --algorithms gda --trace-every 100 --quiet)
"$saddle" "${comparison[@]}" --iterations 1000000000 --output cmp </dev/null >/dev/null 2>&1 &
first=$!
check "a comparison at work" wait_for rows_in cmp/gda-seed1.csv 3
refuse "is being written by another run, process $first" "${comparison[@]}" --output cmp --overwrite
kill "$first"
wait "$first"

# ---- results of another comparison
before=$(sha256sum cmp/*)
refuse "--output: 'cmp/gda-seed1.csv' belongs to another comparison: --iterations is '1000000000' there and '100' here" \
    "${comparison[@]}" --iterations 100 --output cmp
check "they stay" is "$(sha256sum cmp/*)" "$before"
try "${comparison[@]}" --iterations 100 --output cmp --overwrite
check "--overwrite" exits 0
refuse "give another directory, or set --overwrite to replace it" "${comparison[@]}" --iterations 101 --output cmp
refuse "--tuned: cannot read 'nowhere': No such file" "${comparison[@]}" --iterations 100 --output never --tuned nowhere
check "and nothing is made" absent never
refuse "as --checkpoint, or as --resume the path" run "${small[@]}" --resume
printf '1,nan,1\n2,3,-1\n' >odd.csv
refuse "set --header to yes" run --data odd.csv
rm -rf mixed
mkdir mixed
touch mixed/precision-seed7.csv
refuse "already has results of another comparison" "${comparison[@]}" --iterations 100 --output mixed
rm mixed/*
touch mixed/notes-seed.csv mixed/notes.txt
try "${comparison[@]}" --iterations 100 --output mixed
check "other files do not count as results" exits 0

# ---- a pipe
mkfifo pipe
started=$SECONDS
refuse "--trace: cannot write 'pipe': it is a pipe that no process reads; start its reader first" run "${small[@]}" --trace pipe
check "at once" [ $((SECONDS - started)) -lt 60 ]
cat pipe >read.csv &
reader=$!
sleep 0.2
try run "${small[@]}" --trace pipe --quiet
wait "$reader"
check "a pipe that is read" exits 0
check "has the rows" rows_in read.csv 3
try run "${small[@]}" --trace /dev/stdout --quiet
check "the standard output" says "iteration,ifo"

# ---- data with a name like that of generated data, in the directory of data
mkdir -p kept
try data generate kept/synthetic-train.libsvm --rows 200
cp kept/synthetic-train.libsvm before
export SADDLE_DATA=kept
refuse "is also the file of --data" run --data synthetic-train.libsvm --iterations 5 --trace kept/synthetic-train.libsvm
refuse "is also the file of NAME" data split synthetic-train.libsvm --train kept/synthetic-train.libsvm --test t.libsvm
refuse "is also the file of NAME" data convert synthetic-train.libsvm kept/synthetic-train.libsvm
unset SADDLE_DATA
check "they are as they were" cmp -s before kept/synthetic-train.libsvm

# ---- a page does not replace the edges that it draws
printf '0 1\n1 2\n2 3\n' >edges
ln -s edges link
try run --problem quadratic --agents 4 --topology file:edges --iterations 5 --gap never --quiet --trace drawn.csv
for page in edges link; do
    refuse "is also the file of the topology of a trace" report drawn.csv --output "$page"
    refuse "is also the file of --topology" run --problem quadratic --agents 4 --topology file:edges --iterations 5 \
        --gap never --report "$page"
done
check "they are as they were" is "$(head -n 1 edges)" "0 1"
try report drawn.csv --output drawn.html
check "another page" exits 0

finish
