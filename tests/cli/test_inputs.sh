#!/usr/bin/env bash
# No output overwrites a file that the command reads: every file that runs with all kinds of inputs open for reading
# is recorded (opened.c), and then refused as the output of the same command.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

preload opened

# reads "FILES" OUTPUT... -- ARGUMENTS...: the command reads exactly these files, and refuses to write to any of them
# with each of the options OUTPUT, or to OPTION=NAME, a link to it in a directory. --model may replace a file after a +.
reads() {
    local expected=$1 outputs=() file output before
    shift
    while [ "$1" != -- ]; do
        outputs+=("$1")
        shift
    done
    shift
    rm -f opened
    OPENED_ROOT=$(realpath "$work") OPENED_LOG=$work/opened LD_PRELOAD=$work/opened.so \
        timeout 1200 "$saddle" "$@" >out 2>err </dev/null
    code=$?
    check "runs: $*" exits 0
    check "reads: $expected" is "$(sed "s|^$(realpath "$work")/||" opened | sort -u | xargs)" \
        "$(xargs -n 1 <<<"${expected//+/}" | sort | xargs)"
    for file in $expected; do
        for output in "${outputs[@]}"; do
            [ "${file%%[!+]*}$output" != +--model ] || continue
            before=$(sha256sum <"${file#+}")
            if [ "${output#*=}" != "$output" ]; then
                rm -rf made && mkdir made && ln -s "../${file#+}" "made/${output#*=}"
                refuse "is also the file of " "$@" "${output%%=*}" made --overwrite
            else
                refuse "$output: '${file#+}' is also the file of --" "$@" "$output" "${file#+}"
            fi
            check "${file#+} stays with $output" is "$(sha256sum <"${file#+}")" "$before"
        done
    done
}

try data generate d.libsvm --rows 300 --features 5
try data split d.libsvm --train part-%d.libsvm --parts 5 --test t.libsvm
try run --problem auc --data d.libsvm --iterations 2 --model x.npz --quiet
cp x.npz y.npz
cp x.npz z.npz
printf 'nu: 0.05\n' >c.yaml
printf '%s\n' '0 1' '1 2' '2 3' '3 4' '4 0' | tee first | tee second >edges
printf '%s\n' '0.5 0.25 0 0 0.25' '0.25 0.5 0.25 0 0' '0 0.25 0.5 0.25 0' '0 0 0.25 0.5 0.25' '0.25 0 0 0.25 0.5' >weights
printf '%s\n' '0 0 1' '0 2 3' '5 1 2' >when
printf '%s\n' '2 leave 1' '4 return 1' >events
printf 'default latency 0.01\n' >costs
python3 - <<'END' || exit 1
import struct
for name in "x", "w":
    open(f"{name}-images-idx3-ubyte", "wb").write(struct.pack(">iiii", 0x803, 60, 1, 2) + bytes(range(120)))
open("x-labels-idx1-ubyte", "wb").write(struct.pack(">ii", 0x801, 60) + bytes([0, 1] * 30))
open("other-labels", "wb").write(struct.pack(">ii", 0x801, 60) + bytes([0, 1] * 30))
END
"$compiler" -std=c17 -shared -fPIC -I"$here/../../include" "$here/../../examples/plugin/shrunk_mean.c" -o mean.so || exit 1
try run "${small[@]}" --checkpoint ck --quiet
saved=$(find ck -name '*.saddle' | sort | tail -1)

common=(--iterations 9 --quiet)
all=(--trace --model --report)
reads "d.libsvm t.libsvm edges weights +x.npz +y.npz c.yaml events costs" "${all[@]}" -- \
    run --problem auc --data d.libsvm --test-data t.libsvm --topology file:edges --mixing file:weights \
    --init file:x.npz --init-x file:y.npz --config c.yaml --churn events --link-model costs "${common[@]}"
reads "d.libsvm edges when +z.npz" "${all[@]}" -- \
    run --problem auc --data d.libsvm --topology file:edges --links schedule:when --init-y file:z.npz "${common[@]}"
reads "first second" "${all[@]}" -- \
    run --problem quadratic --agents 5 --links sequence:ring,file:first,star,file:second "${common[@]}"
reads "part-0.libsvm part-1.libsvm part-2.libsvm part-3.libsvm part-4.libsvm" "${all[@]}" -- \
    run --problem robust-logistic --data part-%d.libsvm "${common[@]}"
reads "x-images-idx3-ubyte x-labels-idx1-ubyte" "${all[@]}" -- \
    run --problem auc --data x-images-idx3-ubyte --positive 1 "${common[@]}"
reads "w-images-idx3-ubyte other-labels" "${all[@]}" -- \
    run --problem auc --data w-images-idx3-ubyte --labels other-labels --positive 1 "${common[@]}"
reads "mean.so" "${all[@]}" -- run --problem ./mean.so:rho=3 "${common[@]}"
reads "$saved" "${all[@]}" -- run "${small[@]}" --resume "$saved" --quiet
reads "d.libsvm edges events costs c.yaml" --report --output=gt-gda-seed1.csv --output=summary.csv -- \
    compare --problem auc --data d.libsvm --topology file:edges --churn events --link-model costs --config c.yaml \
    --algorithms gt-gda --output finished --overwrite "${common[@]}"
reads "first second mean.so" --report --output=gt-gda-seed1.csv --output=summary.csv -- \
    compare --problem ./mean.so --agents 5 --links sequence:file:first,file:second --algorithms gt-gda --output other \
    --overwrite "${common[@]}"

# Every option whose value is the path of a file is in one of these runs.
while read -r option; do
    if [ "$("$saddle" __complete run "$option" '' | head -c 5)" = @FILE ]; then
        check "$option is tested" grep -q -- "$option " "$here/test_inputs.sh"
    fi
done < <("$saddle" __complete run -- | cut -f 1)
check "--churn takes a file" is "$("$saddle" __complete run --churn '' | head -c 5)" @FILE
finish
