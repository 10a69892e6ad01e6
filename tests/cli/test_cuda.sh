#!/usr/bin/env bash
# The engines cuda-host and, with SADDLE_TEST_ENGINE=cuda on a machine with a card (scripts/test-gpu), cuda: the same
# bytes of traces and models as threads, checkpoints that all engines resume, and refusals.
# shellcheck disable=SC2317  # functions are called by check
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
engine=${SADDLE_TEST_ENGINE:-cuda-host}

# both OPTIONS...: runs threads and the engine; the traces have the same rows and the models the same bytes.
both() {
    local one
    for one in threads "$engine"; do
        # shellcheck disable=SC2086  # its options follow the algorithm
        try run --algorithm ${algorithm:-precision} --gap never --quiet "$@" --engine "$one" --trace "$one.csv" --model "$one.npz"
        grep -v '^saddle: warning' err >"$one.err"
        check "$one: $*" exits "${expected:-0}"
    done
    check "the trace of $*" same_trace threads.csv "$engine.csv"
    check "what is said of $*" cmp -s threads.err "$engine.err"
    check "the model of $*" cmp -s threads.npz "$engine.npz"
}

# rows COUNT COLUMNS SHARE FILE [1]: random rows, of which a share of the columns is not 0; their labels are numbers.
rows() {
    awk -v rows="$1" -v columns="$2" -v share="$3" -v real="${5:-0}" 'BEGIN { srand(7); for (i = 0; i < rows; i++) {
        printf "%s", real ? 3 * rand() : rand() < 0.5 ? "+1" : "-1"
        for (k = 1; k <= columns; k++) if (rand() < share) printf " %d:%.4f", k, 2 * rand() - 1
        print "" } }' >"$4"
}
rows 120 1300 0.02 wide.libsvm
rows 200 13 1 dense.libsvm
rows 120 1300 0.02 wide-real.libsvm 1
rows 400 13 1 dense-real.libsvm 1

both --data synthetic:3000 --iterations 200
both --data synthetic:4000 --agents 20 --topology er:0.3 --iterations 120 --batch 3 --q 7 --trace-every 13
both --data synthetic:900 --agents 3 --iterations 100 --sampling with-replacement --batch 280 --q 9
both --data synthetic:900 --agents 3 --iterations 40 --batch 300 --q 9
both --data synthetic:24000 --agents 2 --iterations 20 --batch 11000 --q 6
both --data synthetic:1200 --agents 12 --topology torus:3x4 --x-set none --iterations 100
both --data synthetic:1200 --agents 6 --partition label-skew:0.3 --agent-weights by-size --iterations 100 --y-set box:0:2
both --data synthetic:7000 --agents 70 --topology complete --iterations 30
both --data "$work/wide.libsvm" --agents 3 --x-set none --iterations 60
both --data "$work/dense.libsvm" --agents 4 --x-set none --iterations 60
# Entries of x decay until they are too small to be normal.
both --data synthetic:60:6 --agents 3 --x-set box:0:1 --lambda2 0 --nu 0.3 --iterations 6000 --trace-every 500
both --data synthetic:900 --iterations 60 --trace-every 7 --metric-direction own --gap end
both --data synthetic:900 --max-ifo 7000 --iterations 100000
expected=3 both --data synthetic:900 --alpha 1e6 --eta 1 --y-set none --iterations 3000 --trace-every 1000
# Blocks of several agents, with more neighbours than they keep.
both --data synthetic:9000 --agents 2200 --topology regular:60 --iterations 20 --trace-every 10

# ---- other losses, and an intercept
regression=(--problem robust-regression --weights-per slot)
for algorithm in precision prox-gt-sgda "precision+ --c-gamma 1"; do
    both "${regression[@]}" --data "$work/dense-real.libsvm" --agents 4 --iterations 100
    both "${regression[@]}" --data "$work/wide-real.libsvm" --agents 3 --loss huber --regularizer l1:0.001 --iterations 60
done
# Sums over rows behind the features, in several parts and blocks.
for algorithm in precision prox-gt-sgda prox-dsgda "precision+ --c-gamma 1"; do
    both --problem auc --data synthetic:9000 --agents 3 --iterations 60 --batch 300 --sampling with-replacement
    both --problem auc --data synthetic:3000 --agents 6 --partition label-skew:0.3 --agent-weights by-size \
        --iterations 60 --batch 200 --trace-every 7
    both --problem auc --data "$work/dense.libsvm" --agents 4 --iterations 60
    both --problem auc --data "$work/wide.libsvm" --agents 3 --iterations 60 --x-set l2-ball:1 --regularizer l1:0.001
done
unset algorithm
both --problem auc --data synthetic:60000 --agents 2 --iterations 30 --batch 2000 --q 7

# ---- other algorithms, and sets that need all coordinates
for algorithm in prox-gt-sgda prox-dsgda; do
    both --data synthetic:3000 --iterations 100 --batch 60
    both --data synthetic:900 --agents 3 --iterations 60 --sampling with-replacement --batch 280
    both --data synthetic:900 --agents 3 --iterations 40 --batch 300 --partition label-skew:0.3 --agent-weights by-size
    both --data "$work/wide.libsvm" --agents 3 --x-set l2-ball:0.5 --regularizer l1:0.01 --iterations 60 --batch 7
done
# Refreshes of a part of the samples, at times of each agent's own.
algorithm=precision+
both --data synthetic:3000 --c-gamma 10 --iterations 200
both --data synthetic:4000 --agents 20 --topology er:0.3 --c-gamma 0.1 --iterations 120 --batch 3 --q 7 --trace-every 13
both --data synthetic:24000 --agents 2 --steps paper --epsilon 1 --iterations 120
both --data synthetic:900 --c-gamma 1 --max-ifo 30000 --iterations 100000
both --data synthetic:900 --agents 3 --sigma2 1e-3 --refresh-min 1 --x-set l2-ball:0.1 --iterations 200 \
    --sampling with-replacement --partition label-skew:0.3 --agent-weights by-size
both --data "$work/wide.libsvm" --agents 3 --x-set none --regularizer l1:0.01 --c-gamma 1 --iterations 60
both --data "$work/dense.libsvm" --agents 4 --x-set none --c-gamma 1 --iterations 60
expected=3 both --data synthetic:900 --c-gamma 1 --alpha 1e6 --eta 1 --y-set none --iterations 3000 --trace-every 1000
unset algorithm
both --data synthetic:3000 --weights simplex --iterations 100
both --data synthetic:3000 --agents 70 --x-set l1-ball:0.1 --y-set simplex:2 --iterations 60 --trace-every 7
both --data synthetic:3000 --x-set l2-ball:0.1 --y-set l1-ball:0.5 --iterations 60
both --data synthetic:3000 --x-set box:-1:1 --regularizer elastic-net:0.01:0.1 --iterations 60
both --data synthetic:3000 --x-set simplex:3e-200 --iterations 30
both --data synthetic:3000 --x-set l2-ball:1e-170 --lambda2 0 --iterations 30

# ---- checkpoints: half of a run by one engine, half by another.
for options in precision "precision+ --c-gamma 1"; do
    # shellcheck disable=SC2206  # several options
    run=(run --algorithm $options --data synthetic:1500 --gap never --quiet --iterations 301 --trace-every 50)
    rm -rf by-threads "by-$engine"
    try "${run[@]}" --model whole.npz
    for pair in "threads $engine" "$engine threads"; do
        read -r first second <<<"$pair"
        try "${run[@]}" --iterations 150 --engine "$first" --checkpoint "by-$first"
        check "$first writes a checkpoint" exits 0
        try "${run[@]}" --engine "$second" --checkpoint "by-$first" --resume auto --model resumed.npz
        check "$second resumes it" exits 0
        check "to the same model" cmp -s whole.npz resumed.npz
    done
done

# ---- what is refused
no() {
    local words=$1
    shift
    refuse "$words use --engine threads" run --algorithm precision --quiet --iterations 5 --engine "$engine" "$@"
}
algorithms="precision or precision+ or prox-gt-sgda or prox-dsgda"
for algorithm in gda precision-auto dama; do
    no "--algorithm: --engine $engine has no code for $algorithm; give $algorithms, or" --algorithm "$algorithm"
done
problems="robust-logistic or auc or robust-regression or one of your own with card_gradients()"
for problem in fair group-dro quadratic policy-evaluation poisoning; do
    no "--problem: --engine $engine has no code for $problem; give $problems, or" --problem "$problem"
done
no "--score: --engine $engine has no code for this one;" --problem auc --score mlp:4
no "--weights-per sample: --engine $engine has no code for this one;" --problem robust-regression --data "$work/dense-real.libsvm"
no "--batch auto of precision+ (--c-gamma 10 takes the PRECISION paper's rule): --engine $engine has no code for this one;" \
    --algorithm precision+
no "--gamma exact: --engine $engine has no code for this one;" --algorithm precision+ --gamma exact
no "--links: --engine $engine has only reliable links;" --links agreed:0.1
no "--compress: --engine $engine does not compress messages;" --compress top:0.1
no "--clip-mixing: --engine $engine does not clip;" --clip-mixing liars:1 --topology complete
no "--link-model: --engine $engine does not simulate time;" --link-model latency:1e-3
no "--x-set: --engine $engine has no code for this one;" --x-set blocks:60*l2-ball:1,63*none
no "--regularizer: --engine $engine has no code for this one;" --x-set none --regularizer group-l2:0.1:3

# ---- no card, driver or module that fits
# unusable NAME TEXT: the engine cuda is refused with one line.
unusable() {
    try run --algorithm precision --quiet --iterations 5 --engine cuda
    check "$1: exit code" exits 2
    check "$1: one line" one_line
    check "$1: what it says" warns "$2"
}
# driver NUMBER: makes a driver for that CUDA that finds no card.
driver() {
    echo "int cuDriverGetVersion(int *out) { *out = $1; return 0; } int cuInit(unsigned flags) { return flags + 100; }" >driver.c
    "$compiler" -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 driver.c || exit 1
}
# module VERSION: makes a module with a table of that version and another size.
module() {
    echo "const struct { const char *version; unsigned long bytes; } saddle_module_table = {\"$1\", 16};" >module.c
    "$compiler" -shared -fPIC -o libsaddle-cuda.so module.c || exit 1
}
version=$("$saddle" --version | awk '{ print $2; exit }')
mkdir none
SADDLE_MODULES=$work/none unusable "no module" "cuda needs a module that is not installed ('$work/none/libsaddle-cuda.so'); install CUDA 13"
if has_compiler; then
    module 0.0.7
    SADDLE_MODULES=$work unusable "another version" "is of another build, of saddle 0.0.7, and this is saddle $version"
    module "$version"
    SADDLE_MODULES=$work unusable "another build" "is of another build, of saddle $version"
    # A card with a megabyte.
    cat >card.c <<END
#include "engines/cuda/card.h"
static saddle_card *find(size_t size, char *why) { return size > 0 ? (saddle_card *)why : NULL; }
static void give_up(saddle_card *card) { (void)card; }
static double megabyte(saddle_card *card) { return card != NULL ? 1e6 : 0.0; }
static const char *name(const saddle_card *card) { return card != NULL ? "Toy" : ""; }
const saddle_card_module saddle_module_table = {.module = {"$version", SADDLE_CARD_BYTES},
    .open = find, .close = give_up, .free_bytes = megabyte, .name = name};
END
    "$compiler" -I"$here/../../include" -I"$here/../../src" -shared -fPIC -o libsaddle-cuda.so card.c || exit 1
    SADDLE_MODULES=$work unusable "little memory" "GB of memory of Toy, of which 0.00 GB are free; give it fewer agents or rows, or use threads"
    if [ -e "${saddle%/*}/libsaddle-cuda.so" ]; then
        beside=$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        driver 12040
        LD_LIBRARY_PATH=$beside unusable "old driver" "cuda cannot be used: the driver of NVIDIA is for CUDA 12.4; install version 580 or later; use threads"
        driver 13000
        LD_LIBRARY_PATH=$beside unusable "no card" "cuda cannot be used: there is no graphics card of NVIDIA; use threads"
    else
        skip "there is no libsaddle-cuda.so"
    fi
fi
finish
