#!/usr/bin/env bash
# Bad input: one line that names the value, exit code 2, nothing written.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

mkdir place && cd place || exit 1
# At the end, out and err must be the only files here.

# Commands and arguments.
refuse "did you mean 'run'?" rnu
refuse "no command 'zzzzzzzz'" zzzzzzzz
refuse "did you mean 'data fetch'?" data fech
refuse "'rune'" help rune
refuse "extra argument 'more'" run more
refuse "extra argument 'more'" topologies more
touch rows.csv
refuse "usage: saddle predict [options]; give a data file as --data FILE" predict --model m.npz rows.csv
refuse "write %d in place of the number: --data 'part-%d.csv'" run --data part-0.csv rows.csv
try run more
check "no hint for what is not a file" is "$(cat err)" "saddle: extra argument 'more'; usage: saddle run [options]"
rm rows.csv
refuse "extra argument 'more'" run -- more
refuse "needs TOPOLOGY" graph
refuse "needs NAME" data info
refuse "'-x' is not an option" run -x
refuse "'tcsh'" completion tcsh

# Options.
refuse "did you mean --nu?" run --nuu 0.1
refuse "did you mean --iterations?" run --iters 10
refuse "did you mean --iterations?" run --iter 10
refuse "--trace-every needs a value" run --trace-every
refuse "--trace needs a value" run --trace --quiet
refuse "'maybe' is neither yes nor no" run --quiet=maybe
refuse "no option --trace" compare --trace x.csv
refuse "no option --epsilon" graph ring --epsilon 1

# Starting points.
refuse "are not finite: variable x" run --problem quadratic --init constant:1e200 --trace t.csv

# Empty names, as from an unset shell variable.
for option in checkpoint trace model report config data test-data labels resume; do
    refuse "--$option: the name is empty; give a name, or leave the option out" run "--$option" ''
done
refuse "--output: the name is empty" report t.csv -o ''
refuse "--output: the name is empty" compare --output=

# Numbers.
refuse "'abc'" run --nu abc
refuse "'0.1x'" run --nu 0.1x
refuse "'2' is out of range" run --nu 2
refuse "'-0.1'" run --eta -0.1
refuse "'nan'" run --tau nan
refuse "'inf'" run --alpha inf
refuse "'0x10'" run --q 0x10
refuse "'1.5' is not a whole number" run --iterations 1.5
refuse "'' " run --agents ''
refuse "'-1'" run --seed -1
refuse "'18446744073709551616'" run --seed 18446744073709551616
refuse "'0'" run --agents 0
refuse "'0'" run --threads 0
refuse "'0'" compare --repeats 0
refuse "'-1' is not a level; give finite numbers of at least 0" compare --levels 1,-1
refuse "''" compare --levels 1,,2

# Every error message begins with the option that is wrong.
while read -r option value rest; do
    # shellcheck disable=SC2086  # further words
    refuse "saddle: --$option: " run --problem quadratic "--$option" "$value" $rest
done <<'END'
topology foo
topology ring:3
topology grid:0x3
topology er:2
topology file:none
mixing foo
mixing file:none
x-set foo
x-set box:1:0
x-set l2-ball
x-set ./none.so
x-set blocks:2*box:1:0,*none
y-set simplex:-1
regularizer foo
regularizer l1
regularizer ./none.so
engine gpu
algorithm gad
algorithm ./none.so
problem foo
problem ./none.so
resume none
init-x file:none
data none --problem auc
data synthetic:0 --problem auc
test-data none --problem auc
positive 7 --problem auc
positive z --problem auc
positive -1,1 --problem auc
partition label-skew:x --problem auc
partition foo --problem auc
agents 20 --problem auc --data synthetic:10
samples 50 --problem auc --data synthetic:100
regularizer group-l2:1:3 --x-set box:0:1
END
refuse "--algorithms: there is no algorithm 'gad'" compare --algorithms gad
printf 'resume: yes\ncheckpoint: none\n' >../resume.yaml
refuse "--resume: cannot read the directory 'none': No such file or directory; give a directory of checkpoints" \
    run --config ../resume.yaml
refuse "--regularizer: no exact joint prox of 'group-l2:1:3' and the set 'box:0:1' is known; set --x-set to none or nonneg or l2-ball, or choose another regularizer" \
    run --problem quadratic --regularizer group-l2:1:3 --x-set box:0:1
refuse "x-set was not given, so the set is the problem's default" run --regularizer group-l2:1:3

# Names.
refuse "'precisoin'; did you mean 'precision'?" run --algorithm precisoin
refuse "'precisoin'" compare --algorithms precision,precisoin
refuse "'precision' is named twice" compare --algorithms precision,precision
refuse "'quadratik'" run --problem quadratik
refuse "'practicle'" run --steps practicle
refuse "'theads'" run --engine theads
refuse "'nosuch'" algorithms nosuch
refuse "'nosuch'" problems nosuch

# Graphs and sizes.
refuse "'rign'" graph rign
refuse "er:1.5" graph er:1.5 --agents 4
refuse "ring:3" run --topology ring:3
refuse "hypercube" graph hypercube --agents 6
refuse "regular:3" graph regular:3 --agents 5
refuse "grid:3x4" graph grid:3x4 --agents 5
refuse "'metropolitan'" graph ring --agents 4 --mixing metropolitan
refuse "no-such-file" graph file:no-such-file
refuse "no-such-file" graph ring --agents 3 --mixing file:no-such-file
printf '0 1\n2 3\n' >../apart.edges
refuse "component" graph file:../apart.edges
printf '0 1\n1 x\n' >../bad.edges
refuse "bad.edges:2:" graph file:../bad.edges
printf '0 1\n1 1\n' >../loop.edges
refuse "loop.edges:2:" graph file:../loop.edges
refuse "999999" run --data synthetic:100 --samples 999999
refuse "3,4" run --data synthetic:100 --agents 5 --samples 3,4
refuse "label-skew:-1" run --data synthetic:100 --partition label-skew:-1
refuse "box:1:0" run "${small[@]}" --x-set box:1:0
refuse "blocks:3*box:0:1" run "${small[@]}" --x-set 'blocks:3*box:0:1'
refuse "l1:-1" run "${small[@]}" --regularizer l1:-1
refuse "simplex" run "${small[@]}" --x-set simplex --regularizer group-l2:1:2
refuse "constant:x" run "${small[@]}" --init constant:x
refuse "normal:-1" run "${small[@]}" --init-y normal:-1
refuse "no-such.npz" run "${small[@]}" --init file:no-such.npz
refuse "--data" run --problem quadratic --data a9a

# Files.
refuse "'no-such-data'" run --data no-such-data
refuse "(saddle data fetch a9a)" run --data a9a
refuse "no-such-data" data info no-such-data
printf '1 1:1\n-1 2:x\n' >../bad.libsvm
refuse "bad.libsvm:2:6" data info ../bad.libsvm
refuse "no-such.yaml" run --config no-such.yaml
printf 'agents: 4\nnuu: 0.1\n' >../bad.yaml
refuse "nuu" run --config ../bad.yaml
printf 'agents: 4\nnu: 7\n' >../range.yaml
refuse "range.yaml:2" run --config ../range.yaml
printf 'agents: [\n' >../broken.yaml
refuse "broken.yaml" run --config ../broken.yaml
refuse "no-such-directory/t.csv" run "${small[@]}" --trace no-such-directory/t.csv
refuse "no-such-directory/m.npz" run "${small[@]}" --model no-such-directory/m.npz
refuse "is a directory" run "${small[@]}" --trace ..
refuse "'same' is also the file of --trace" run "${small[@]}" --trace same --model same
refuse "'./same' is also the file of --trace" run "${small[@]}" --trace same --model ./same
refuse "no-such-directory/e" graph ring --save no-such-directory/e
refuse "no-such-directory/d" data generate no-such-directory/d
refuse "is a file" compare "${small[@]}" --output ../bad.yaml
refuse "no-such-directory/c" compare "${small[@]}" --output no-such-directory/c
refuse "'nosuch'" data fetch nosuch
refuse "'12' is not a SHA-256" data fetch a9a --accept 12 --directory .

# Errors that show only after everything else has been read: still nothing is written.
refuse "group-l2" run "${small[@]}" --x-set simplex --regularizer group-l2:1:2 --trace t.csv \
    --model m.npz
refuse "simplex" compare "${small[@]}" --x-set simplex --regularizer group-l2:1:2 --output c
check "nothing was written" is "$(echo *)" "err out"
# A line end in a value would forge a line of the trace's head.
refuse "--trace: 'a\\x0ab' has a control character" run --trace $'a\nb'
refuse "--data: 'a\\x0a# x: 1' has a control character" run --data $'a\n# x: 1'

finish
