#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_json.sh SADDLE MPIEXEC NUMBER-FLAG: with several processes, process 0 prints the object of --json.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3
has python3 || exit 0
size=(--samples 30 --agents 6 --iterations 25 --trace-every 5)

# under ARGUMENTS...: runs the program in three processes; sets $code, out and err.
under() {
    timeout 1200 "$mpiexec" "$number" 3 "$saddle" "$@" --engine mpi --json >out 2>err </dev/null
    code=$?
}
valid() { python3 "$here/json_schema.py" "$here/../../docs/json.md" out; }
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

try run "${size[@]}" --json
cp out alone.json
under run "${size[@]}"
check "run" exits 0
check "prints one object" valid
check "the numbers of a single process" python3 - <<'END'
import json_schema
alone, several = json_schema.load("alone.json"), json_schema.load("out")
timeless = lambda trace: {name: column for name, column in trace.items() if name != "seconds"}
assert timeless(alone["trace"]) == timeless(several["trace"])
assert alone["cost"] == several["cost"] and several["settings"]["engine"] == "mpi"
END
under run --problem quadratic --nu 1 --eta 1 --tau 1e-9 --iterations 500
check "a run that diverges" exits 3
check "prints one object, too" valid
under compare "${size[@]}" --algorithms precision,prox-dsgda --report page.html
check "compare" exits 0
check "prints one object, too" valid
under run "${size[@]}" --samples 0
check "an error" exits 2
check "prints none" is "$(wc -c <out)" 0
under run "${size[@]}" --trace /dev/stdout
check "a trace to standard output is refused" exits 2
finish
