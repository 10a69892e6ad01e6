#!/usr/bin/env bash
# Checkpoints: a run that is killed at any moment resumes to the same bits. Damaged checkpoints and those of another
# run are refused with the reason, and another checkpoint is suggested.
# shellcheck disable=SC2317  # functions are called by check and wait_for
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
preload moments

newest() { find "$1" -name 'checkpoint-*.saddle' | sort | tail -1; }
older() { find "$1" -name 'checkpoint-*.saddle' | sort | head -1; }
files() { find "$1" -type f | wc -l; }

# ---- twenty kills at moments of a fixed sequence (moments.c): some while the program starts, the others when it
# reads the clock, which every iteration does, or accesses a file.
long=(run --problem auc --data synthetic:3000 --samples 500 --checkpoint-every 100 --quiet
    --iterations 2000 --trace-every 20)
at_moment -- "${long[@]}" --checkpoint whole --trace whole.csv --model whole.npz --threads 1
check "a run that is left alone" exits 0
check "keeps two checkpoints" is "$(files whole)" 2
read -r looks touches <calls
check "there are moments enough, $looks and $touches" [ $((looks > 2000 && touches > 100)) -eq 1 ]
RANDOM=20
kills=0
: >began
# A run that ends before its moment is started again.
for k in $(seq 60); do
    case $((k % 5)) in
    0) moment=MOMENT_FILE=$((1 + RANDOM % 12)) ;;
    1 | 2) moment=MOMENT_FILE=$((1 + RANDOM % (touches / 4))) ;;
    *) moment=MOMENT_CLOCK=$((1 + RANDOM % (looks / 4))) ;;
    esac
    at_moment "$moment" MOMENT_SIGNAL=9 -- "${long[@]}" --checkpoint part --resume auto --trace part.csv \
        --model part.npz --threads $((k % 7 == 3 ? 2 : 1))
    case $code in
    137) kills=$((kills + 1)) ;;
    0) rm -rf part ;;
    *) break ;;
    esac
    grep -v '^#' part.csv 2>/dev/null | tail -1 | cut -d, -f1 >>began
    [ "$kills" -lt 20 ] || break
done
check "twenty kills hit the run" is "$kills" 20
check "and it resumed in between" [ "$(sort -n began | tail -1)" -ge 1000 ]
check "two checkpoints, or three between two moments" [ "$(find part -name '*.saddle' | wc -l)" -le 3 ]
try "${long[@]}" --checkpoint part --resume auto --trace part.csv \
    --model part.npz --threads 1
check "the last one runs to the end" exits 0
check "without a warning" silent
check "the model has the same bytes" cmp -s whole.npz part.npz
check "the trace has the same rows" same_trace whole.csv part.csv
check "with AUC in each" is "$(grep -cE '^[0-9].*,0\.[0-9]+,[0-9.e-]+$' part.csv)" 101
check "nothing unfinished is left" is "$(files part)" 2

# ---- signals: a checkpoint, then the end; --resume DIR needs no other options except the files to write. Every
# iteration reads the clock; the 1000th reading is in the middle of the run.
endless=(run "${tiny[@]}" --trace-every 100 --threads 1 --quiet)
for signal in INT TERM HUP; do
    at_moment MOMENT_CLOCK=1000 MOMENT_SIGNAL="$(kill -l "$signal")" -- "${endless[@]}" --iterations 1000000000 \
        --trace s.csv --model s.npz --checkpoint "on-$signal" --checkpoint-every 1e9s
    check "$signal: exit code" exits 130
    check "$signal: says how to go on" warns \
        "saddle: interrupted; \`saddle run --resume on-$signal --trace s.csv --model s.npz\` continues"
    check "$signal: a checkpoint" is "$(files "on-$signal")" 1
    reached=$(newest "on-$signal" | sed 's/.*-0*//; s/.saddle//')
    whole=$(((reached / 100 + 5) * 100))
    try "${endless[@]}" --iterations "$whole" --trace ref.csv --model ref.npz
    try run --resume "on-$signal" --trace s.csv --model s.npz --iterations "$whole" --quiet --threads 1
    check "$signal: resumes" exits 0
    check "$signal: the model has the same bytes" cmp -s ref.npz s.npz
    check "$signal: the trace has the same rows" same_trace ref.csv s.csv
    rm -f s.csv s.npz
done

# ---- a finished run: resuming at its end repeats nothing, and more iterations make it longer
run=(run "${tiny[@]}" --trace-every 7 --threads 1)
outputs=(--trace t.csv --model m.npz)
try "${run[@]}" --iterations 100 --trace long.csv --model long.npz --quiet
try "${run[@]}" --iterations 60 --trace t.csv --model m.npz --quiet --checkpoint ck --checkpoint-every 25
check "checkpoints every K iterations and at the end" is "$(find ck -name '*.saddle' | sort |
    sed 's/.*-0*//; s/.saddle//' | tr '\n' ' ')" "50 60 "
cp t.csv before.csv
cp m.npz before.npz
try run --resume ck "${outputs[@]}"
check "a finished run ends at once" exits 0
check "says where it resumes" says "from iteration 60, ck/checkpoint-0000000000000060.saddle"
check "with the same rows" same_trace before.csv t.csv
check "with the same model" cmp -s before.npz m.npz
cp -r ck ck-copy
rm t.csv
try run --resume ck "${outputs[@]}" --iterations 100 --quiet
check "a longer run" exits 0
check "has the rows of one that was longer from the start" same_trace long.csv t.csv
check "and its model" cmp -s long.npz m.npz
cp -r ck-copy moved
list=$(find moved -type f | sort)
refuse "--checkpoint: '$(newest moved)' of iteration 60 would be lost, because this run resumes from iteration 50" \
    run --resume "$(older moved)" "${outputs[@]}" --iterations 100 --quiet --threads 1
check "a newer one stays" is "$(find moved -type f | sort)" "$list"
rm "$(newest moved)"
try run --resume "$(older moved)" "${outputs[@]}" --iterations 100 --quiet --threads 1
check "an older one may be named" exits 0
check "same rows" same_trace long.csv t.csv
check "the directory keeps two" is "$(files moved)" 2
check "the other run's stay" is "$(files ck)" 2
try run --resume "$(older ck-copy)" --iterations 100 --quiet --checkpoint elsewhere --trace t.csv --model e.npz
check "checkpoints may go elsewhere" is "$(files elsewhere)" 2
check "same model again" cmp -s long.npz e.npz

# ---- step sizes from which another algorithm derives its own are also stored in the checkpoint
for steps in '--tau 3' '--steps theory'; do
    own=(run --data synthetic:200:4 --algorithm dposg --quiet --trace o.csv)
    # shellcheck disable=SC2086  # a name and a value
    try "${own[@]}" $steps --iterations 9 --trace-every 3
    mv o.csv whole.csv
    # shellcheck disable=SC2086
    try "${own[@]}" $steps --iterations 6 --trace-every 3 --checkpoint "own$steps"
    try run --resume "own$steps" --iterations 9 --trace o.csv --quiet
    check "a resumed run with $steps" exits 0
    check "$steps: the same rows" same_trace whole.csv o.csv
done

# ---- files are synced before they are renamed: in each thread fsync comes just before rename
rm -rf order
at_moment MOMENT_CALLS="$work/order.calls" -- "${run[@]}" --iterations 30 --checkpoint order --checkpoint-every 10 --quiet
check "a run whose calls are recorded" exits 0
check "files are on the disk before they have their names" is "$(awk '
    $2 == "rename" { n++; bad += before[$1] != "fsync" }
    { before[$1] = $2 }
    END { print (n >= 3), bad + 0 }' order.calls)" "1 0"

# ---- outputs that only the checkpoint names are written only in its own directory: it may come from someone else
mkdir -p theirs yours
try "${run[@]}" --iterations 20 --trace yours/diary --model theirs/m.npz --checkpoint theirs --quiet
echo precious >yours/diary
for place in theirs "$(newest theirs)" theirs/../theirs; do
    refuse "'yours/diary' lies outside the directory of the checkpoint" \
        run --resume "$place" --iterations 30
    check "$place: what it names stays" is "$(cat yours/diary)" precious
done
check "the remedy" warns "set --trace to this path, or to another one"
try run --resume theirs --trace yours/diary --iterations 30 --quiet
check "it is written if its path is repeated" exits 0
check "written" grep -q '^# saddle' yours/diary
check "in its own directory it is written, too" test -s theirs/m.npz
for plant in "ln -sfn $work/yours/diary" "ln -f yours/diary"; do
    rm -rf theirs
    try "${run[@]}" --iterations 20 --trace theirs/t.csv --checkpoint theirs --quiet
    echo precious >yours/diary
    rm theirs/t.csv
    $plant theirs/t.csv
    refuse "'theirs/t.csv' lies outside the directory of the checkpoint" run --resume theirs --iterations 30
    check "${plant%% -*}: what it leads to stays" is "$(cat yours/diary)" precious
done
rm theirs/t.csv
try run --resume theirs --iterations 30 --quiet
check "a file that is gone is made again" test -s theirs/t.csv
rm -rf theirs
try "${run[@]}" --iterations 20 --trace theirs-t.csv --checkpoint theirs --quiet
refuse "'theirs-t.csv' lies outside the directory of the checkpoint" run --resume theirs --iterations 30

# ---- listing and describing checkpoints
try checkpoint ck-copy
check "what they are" exits 0
check "iteration and state" says "valid: iteration 60, 9 trace points,"
check "the older one, too" says "valid: iteration 50"
check "the options" says "--trace-every 7"
check "those that were given alone" is "$(sed -n 's/^  --\([a-z-]*\) .*/\1/p' out | sort | tr '\n' ' ')" \
    "checkpoint-every data iterations model samples trace trace-every "
check "fits 80 columns" narrow out

# ---- refused: damage
damage() { # FILE: flip a bit in its middle
    local place byte
    place=$(($(stat -c %s "$1") / 2))
    byte=$(od -An -tu1 -j "$place" -N 1 "$1")
    printf '%b' "\\0$(printf %o $((byte ^ 4)))" |
        dd of="$1" bs=1 seek="$place" conv=notrunc status=none
}
fresh() { rm -rf ck && cp -r ck-copy ck; }
fresh
damage "$(newest ck)"
offered="'ck/checkpoint-0000000000000050.saddle' of iteration 50 is valid; resume from that one"
refuse "is damaged: its contents do not match" run --resume ck
check "the older one is offered" warns "$offered"
refuse "$offered" run --resume "$(newest ck)"
refuse "$offered" "${run[@]}" --iterations 60 --checkpoint ck --resume
check "the trace was not touched" same_trace long.csv t.csv
try checkpoint ck
check "shows the damage" says "is damaged"
check "and says so" exits 2
try "${run[@]}" --iterations 100 --trace t.csv --model m.npz --checkpoint ck --resume auto --quiet
check "auto takes the older one" exits 0
check "and says why" warns "resuming from 'ck/checkpoint-0000000000000050.saddle' of iteration 50 instead"
check "to the same end" cmp -s long.npz m.npz
fresh
truncate -s -100 "$(newest ck)"
refuse "is cut short: it has" run --resume ck
check "the older one is offered" warns "$offered"
: >"$(newest ck)"
refuse "is empty" run --resume ck
head -c 20000 /dev/zero >"$(newest ck)"
refuse "is not a checkpoint of saddle" run --resume ck
cp "$(newest ck)" "$(older ck)"
refuse "is not a checkpoint of saddle" "${run[@]}" --iterations 60 --checkpoint ck --resume auto

# ---- refused: another run
changed="the data, or the network, sets, start or a plug-in's files, have changed since the run of the checkpoint"
fresh
for other in "--seed 2" "--nu 0.05" "--topology ring" "--algorithm gda" "--agents 4" \
    "--trace-every 8" "--metric-tau 3"; do
    name=${other%% *}
    # shellcheck disable=SC2086
    refuse "a resumed run cannot change $name: it is '" run --resume ck "${outputs[@]}" $other
    check "the value here: $other" warns "'${other#* }' here"
done
check "no older one is offered" eval '! warns "is valid"'
refuse "$changed" run --resume ck "${outputs[@]}" --data synthetic:310
refuse "is already at iteration 60; give at least 60 (got 40)" run --resume ck "${outputs[@]}" --iterations 40
try run --resume ck "${outputs[@]}" --nu 0.10 --quiet
check "another way to write the same value" exits 0
try run --problem auc "${small[@]}" --checkpoint plain --quiet
refuse "a resumed run cannot change --outcomes: it is 'ends' in the checkpoint 'plain" run --resume plain --outcomes always
refuse "a resumed run cannot change --outcomes-per-agent: it is 'no' in the checkpoint 'plain" run --resume plain --outcomes-per-agent
try run --resume plain --iterations 80 --trace late.csv --quiet
check "a trace that is requested later" exits 0
check "has outcomes at both ends" is "$(grep -cE '^[0-9].*,[^,]+,[^,]+$' late.csv)" 2

# ---- data may be moved, if they are the same
"$saddle" data generate one.libsvm --rows 300 --seed 5 >/dev/null
cp one.libsvm two.libsvm
try run --data one.libsvm --x-set box:0:10 --iterations 60 --checkpoint data --model one.npz --quiet
rm one.libsvm
try run --data two.libsvm --resume data --iterations 80 --model two.npz --quiet
check "data at another place" exits 0
sed -i 's/^+1/-1/;q' two.libsvm
"$saddle" data generate two.libsvm --rows 300 --seed 6 >/dev/null 2>&1
refuse "$changed" run --data two.libsvm --resume data --model two.npz --iterations 90
# Fewer rows are changed data, although samples and sizes follow from them.
for problem in auc robust-logistic; do
    for samples in "" "--samples auto"; do
        rm -rf fewer
        "$saddle" data generate rows.libsvm --rows 300 --seed 5 >/dev/null
        # shellcheck disable=SC2086  # an option and its value
        try run --problem $problem --x-set box:0:10 --data rows.libsvm $samples --iterations 20 --checkpoint fewer --quiet
        sed -i 4d rows.libsvm
        refuse "$changed" run --resume fewer --iterations 40
    done
done
# So they are if there are too few for --samples of the checkpoint.
"$saddle" data generate rows.libsvm --rows 60 --seed 5 >/dev/null
try run --problem auc --data rows.libsvm --agents 3 --samples 20 --iterations 20 --gap never --checkpoint too-few --quiet
sed -i 41,60d rows.libsvm
refuse "its data or settings have changed since" run --resume too-few --iterations 40

# So are the same rows with other names of columns.
awk 'BEGIN { print "a,b,c,y"; for (k = 0; k < 40; k++) print k % 2 "," k / 40 "," k % 3 % 2 "," (k % 5 < 2 ? 1 : -1) }' \
    >d.csv
groups=(--problem group-dro --groups a --data d.csv --agents 4 --topology ring --iterations 20)
try run "${groups[@]}" --checkpoint named --quiet
check "groups by the name of a column" exits 0
try compare "${groups[@]}" --algorithms precision --output named-o --quiet
check "and a comparison" exits 0
sed -i 1s/.*/c,b,a,y/ d.csv
refuse "$changed" run --resume named --iterations 40
try compare "${groups[@]}" --algorithms precision,prox-dsgda --output named-o --quiet
check "a comparison refuses them, too" exits 2
check "in these words" warns "contents of the data, the network, the link model or a plug-in's files have changed"

# ---- the network, too, may be read from files that are moved
"$saddle" graph ring --agents 5 --save edges >/dev/null
try run "${small[@]}" --topology file:edges --checkpoint network --quiet
"$saddle" graph path --agents 5 --save edges >/dev/null
refuse "$changed" run --resume network --iterations 90

# ---- only one run at a time may use a directory
"$saddle" "${endless[@]}" --iterations 1000000000 --checkpoint held --checkpoint-every 10 &
process=$!
holds() { [ "$(files held)" -ge 1 ]; }
wait_for holds
refuse "'held' is being written by another run, process " "${endless[@]}" --iterations 1000000000 \
    --checkpoint held --resume auto
kill -9 "$process"
{ wait "$process"; } 2>/dev/null
try run --resume held --max-ifo 1 --quiet
check "a run that was killed holds it no longer" exits 0

# ---- refused: no checkpoints, or too many options
refuse "cannot read 'nowhere': No such file or directory; give the path of a checkpoint" run "${tiny[@]}" --resume nowhere
mkdir empty
refuse "there is no checkpoint in 'empty'" run "${tiny[@]}" --resume empty
refuse "there is no checkpoint in 'empty'" run "${tiny[@]}" --checkpoint empty --resume
refuse "--resume: neither a checkpoint nor a directory is given" run "${tiny[@]}" --resume
refuse "'ck' already has checkpoints of a run; resume that run" "${run[@]}" --checkpoint ck
refuse "neither a number of iterations" "${run[@]}" --checkpoint new --checkpoint-every soon
refuse "neither a number of iterations" "${run[@]}" --checkpoint new --checkpoint-every 0
refuse "neither a number of iterations" "${run[@]}" --checkpoint new --checkpoint-every -3s
refuse "--checkpoint-every: no directory is given; give one as --checkpoint," "${run[@]}" --checkpoint-every 5
refuse "'t.csv' is a file" "${run[@]}" --checkpoint t.csv
refuse "no option --checkpoint" compare --checkpoint ck
refuse "not from 'ck'" tune --resume ck
refuse "there is no checkpoint in 'empty'" checkpoint empty
refuse "'nowhere' does not exist" checkpoint nowhere
try run "${small[@]}" --checkpoint begun --resume auto --quiet
check "auto begins where there is nothing" exits 0
check "and makes checkpoints" is "$(files begun)" 1

# ---- processes: started by three, ended by a signal in two, resumed by one
if has_mpi 3; then
    timeout 120 "$mpirun" -n 3 "$saddle" run "${tiny[@]}" --engine mpi --threads 1 --trace-every 100 \
        --iterations 1000 --trace m.csv --model m.npz --checkpoint mpi --quiet >out 2>err </dev/null
    code=$?
    check "three processes" exits 0
    # Send the signal to the processes themselves: mpirun would pass it on but kill them a second later, and a
    # checkpoint may take longer on a busy machine.
    "$mpirun" -n 2 "$saddle" run --engine mpi --threads 1 --resume mpi --trace m.csv --model m.npz --iterations 1e9 \
        --quiet >out 2>err </dev/null &
    job=$!
    wait_for rows_in m.csv 14
    # shellcheck disable=SC2046  # a list of numbers
    kill -TERM $(processes_of "$job")
    wait "$job"
    unset job
    reached=$(newest mpi | sed 's/.*-0*//; s/.saddle//')
    check "two processes, ended by a signal" [ "$reached" -gt 1000 ]
    # How far they got depends on the machine, so the uninterrupted run is as long as it takes to get past that.
    whole=$(((reached / 100 + 5) * 100))
    try run "${tiny[@]}" --trace-every 100 --iterations "$whole" --trace ref.csv --threads 1 --model ref.npz --quiet
    try run --resume mpi --trace m.csv --model m.npz --iterations "$whole" --quiet --threads 1
    check "one process" exits 0
    check "to the same model" cmp -s ref.npz m.npz
    check "and the same trace" same_trace ref.csv m.csv
fi

# ---- a full disk does not end a run
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
    try "${run[@]}" --iterations 60 --checkpoint full --checkpoint-every 10 --model full.npz --quiet
    check "a full disk" exits 0
    check "is reported" warns "no checkpoint: cannot write 'full/"
    check "twice: when it fails and at the end" is "$(grep -c 'no checkpoint' err)" 2
    umount full
else
    skip "no file system may be mounted here"
fi
finish
