#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called through check
#
# test_versions.sh SADDLE MPIEXEC NUMBER-FLAG MOMENT OTHER-VERSION OTHER-ABI: processes of different versions, or with
# different plug-ins of the same name, do not run together.
# shellcheck source=../cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
mpiexec=$2
number=$3
other_version=$5
other_abi=$6
run=(run --engine mpi --samples 20 --agents 6 --iterations 5 --trace trace)
host=$(uname -n)
version=$("$saddle" --version | cut -d' ' -f2)
abi=$(sed -n 's/^#define SADDLE_ABI \([0-9]*\)u.*/\1/p' "$here/../../include/saddle/status.h")

# mixed FIRST... : LAST...: runs a job of three processes, the last of which is another program. One script chooses, because
# mpirun of Open MPI 5.0.7 crashes if it is given several programs.
cat >choose <<'END'
#!/bin/bash
if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -lt 2 ]; then
    for ((k = 1; k <= $#; k++)); do
        [ "${!k}" != or ] || exec "${@:1:k-1}"
    done
fi
while [ "$1" != or ]; do shift; done
shift
exec "$@"
END
chmod +x choose
mixed() {
    timeout 600 "$mpiexec" "$number" 3 ./choose "${@/#:/or}" >out 2>err </dev/null
    code=$?
}

# refused NAME TEXT: one process fails with a text, before anything is written.
refused() {
    check "$1: it is refused" exits 2
    check "$1: by one process" test "$(grep -c '^saddle: ' err)" -eq 1
    check "$1: what differs" warns "$2"
    check "$1: nothing is written" absent trace
    rm -f trace
}

own="has $version (ABI $abi)"
mixed "$saddle" "${run[@]}" : "$other_version" "${run[@]}"
refused "a version" "rank 0 on $host $own, rank 2 on $host has 0.0.7 (ABI $abi)"
mixed "$other_version" "${run[@]}" : "$saddle" "${run[@]}"
refused "a version in most processes" "rank 0 on $host has 0.0.7 (ABI $abi), rank 2 on $host $own"
mixed "$saddle" "${run[@]}" : "$other_abi" "${run[@]}"
refused "an ABI" "rank 0 on $host $own, rank 2 on $host has $version (ABI 4099)"
printf 'engine: mpi\nsamples: 20\nagents: 6\ntrace: trace\n' >config.yaml
mixed "$saddle" run --config config.yaml : "$other_version" run --config config.yaml
refused "a version, by a configuration file" "has 0.0.7"
mixed "$other_version" "${run[@]}" : "$other_version" "${run[@]}"
check "processes of one version compute" exits 0
check "and write" test -s trace
rm -f trace

# ---- plug-ins -----------------------------------------------------------------------------------

has_compiler || finish
cat >half.c <<'END'
#include <saddle/plugin.h>
/* All entries at most LIMIT. */
static void project(const saddle_set *set, double *v, double *scratch)
{
    (void)scratch;
    for (size_t k = 0; k < set->term.dimension; k++)
        v[k] = v[k] <= LIMIT ? v[k] : LIMIT;
}
static const saddle_set_class half = {
    .term = {.name = "half", .synopsis = "half", .summary = "x", .size = sizeof(saddle_set)},
    .project = project};
const saddle_plugin_table saddle_plugin = {.abi = SADDLE_ABI, .set = &half};
END
mkdir a b same none
"$compiler" -shared -fPIC -O1 -I"$here/../../include" -DLIMIT=1.0 -o a/half.so half.c || exit 1
"$compiler" -shared -fPIC -O1 -I"$here/../../include" -DLIMIT=2.0 -o b/half.so half.c || exit 1
cp a/half.so same
set=("$saddle" "${run[@]}" --trace ../trace --x-set ./half.so)
mixed env -C a "${set[@]}" : env -C b "${set[@]}"
refused "a plug-in" "rank 2: --x-set: the plug-in './half.so' of process 2 on $host is not the same file"
mixed env -C a "${set[@]}" : env -C none "${set[@]}"
refused "a plug-in that one process lacks" "of process 2 on $host is not the same file"
blocks=("$saddle" "${run[@]}" --trace ../trace --x-set 'blocks:1*none,2*./half.so,*none')
mixed env -C a "${blocks[@]}" : env -C b "${blocks[@]}"
refused "a plug-in in blocks" "of process 2 on $host is not the same file"
twice=("$saddle" "${run[@]}" --trace ../trace --x-set 'blocks:1*./half.so,2*./half.so,*none')
mixed env -C a "${twice[@]}" : env -C b "${twice[@]}"
refused "a plug-in in two blocks" "of process 2 on $host is not the same file"
mixed env -C a "${blocks[@]}" : env -C same "${blocks[@]}"
check "copies of one plug-in in blocks compute" exits 0
rm -f trace
mixed env -C a "${set[@]}" : env -C same "${set[@]}"
check "copies of one plug-in compute" exits 0
check "and write their trace" test -s trace

finish
