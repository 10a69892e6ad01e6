#!/usr/bin/env bash
# Help of every command, version, manual page and completion scripts.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

try
check "no argument greets" exits 0
for command in demo run help; do
    check "and names $command" says "saddle $command  "
    try "$command" --help
    check "which is a command" exits 0
    try
done
try help
check "help prints the overview" exits 0
check "overview names run" says "solve a problem with one algorithm"
check "overview has an example" says "saddle compare --algorithms"
check "overview names the glossary" says "docs/glossary.md"
cp out overview
try --help
check "--help is the overview" cmp -s out overview
try --version
check "version" grep -qE '^saddle [0-9]+\.[0-9]+\.[0-9]+$' out

try help tau
check "help of an option" says "--tau WEIGHT"
check "names the commands that have it" says "In: \`saddle run\`, \`saddle compare\`"
check "once" test "$(grep -c -- '--tau WEIGHT' out)" = 1
check "in 80 columns" narrow out
try help output
check "an option that means several things is explained for each" says "Directory for the traces and summary.csv"
check "with its own kind of value" says "--output FILE"
# A command that has moved says where, whatever its arguments.
try reproduce --quick --only theorem
check "reproduce has moved" exits 2
check "and says where" warns "python3 -m saddle.reproduce"
check "in one line" is "$(wc -l <err) $(wc -c <out)" "1 0"
try help no-such-thing
check "neither a command nor an option" exits 2

commands=(demo run compare tune reproduce plot watch report eval predict checkpoint theory graph "data list" "data info"
    "data generate" "data fetch" "peer demo" "peer keygen" "peer init" "peer check" "peer run" "peer status" algorithms problems sets topologies check-grad completion man help)
for command in "${commands[@]}"; do
    read -ra words <<<"$command"
    try "${words[@]}" --help
    check "$command --help" exits 0
    check "$command --help shows its usage" says "Usage: saddle $command"
    check "$command --help fits 80 columns" narrow out
    check "$command --help warns of nothing" silent
    check "$command --help fits a screen, or is all there is" \
        test "$(wc -l <out)" -le 40 -o "$(grep -c 'Exit status:' out)" = 1
    cp out by-option
    try help "${words[@]}"
    check "help $command is $command --help" cmp -s out by-option
    try "${words[@]}" --help-all
    check "$command --help-all" exits 0
    check "$command --help-all shows the exit codes" says "Exit status:"
    check "$command --help-all fits 80 columns" narrow out
done
try data --help
check "the family's help" says "saddle data COMMAND"

for option in problem data samples partition agents topology mixing links inexact compress mixing-rate algorithm nu eta tau alpha q \
    batch iterations tolerance max-ifo max-rounds max-seconds max-network-seconds link-model stall-seconds seed init init-x init-y x-set y-set \
    regularizer threads trace trace-every metric-tau model config quiet; do
    try run --help-all
    check "run has --$option" grep -qE "^  --$option( |$)" out
done
for command in run compare tune; do
    try "$command" --help
    check "$command --help has examples" grep -q '^Examples:' out
    check "$command --help names what shows the rest" says "--help-all"
    # The options in the examples exist and their values are valid.
    sed -n '/^Examples:/,/^$/s/^  //p' out >examples
    while read -r line; do
        read -ra words <<<"${line#saddle }"
        try "${words[@]}" --no-such-option
        check "$command: example '$line'" grep -q 'has no option --no-such-option' err
    done <examples
done
try run --help
check "the help of run shows basic options alone" is "$(grep -cE '^  --(nu|partition|engine) ' out)" 0
try run --problem fair --algorithm sreda --help
check "options of a problem are shown with it" says "Options of problem fair:"
check "all of them" says "--exclude-features LIST"
check "options of an algorithm are shown with it" says "--maximizer-steps M"
try run --help --problem nothing
check "help is there whatever is given" exits 0
try run --algorithm PRECISION
check "names in any spelling" grep -q "did you mean 'precision'?" err
try run --algorithm Prox_GT_SGDA
check "underscores, too" grep -q "did you mean 'prox-gt-sgda'?" err
try run --iterations 3 --tolerance 1e-9 --data synthetic:100
check "a missed tolerance is reported" says "tolerance 1e-09 not reached"
try run --help-all
check "defaults are shown" says "Default: synthetic."
check "groups are shown" says "Stopping:"
for value in steps:practical steps:paper steps:theory missing:impute links:gossip metric-direction:own; do
    # Each value of an option has its own line, in the column of the explanations.
    sed -n "/^  --${value%:*} /,/Default:/p" out >lines
    check "--${value%:*} explains ${value#*:} on a line" grep -qE "^ {26}${value#*:}: " lines
done
check "a help that lists its values does not list them twice" is "$(grep -c 'One of: practical' out)" 0
check "no text is cut" is "$(grep -c 'Default: practical\.$' out)" 1
check "the paper has a name" is "$(grep -cP '\b[Tt]he paper(?! of)' out)" 0
check "run prints no tables with --quiet" says "Print only warnings and errors."
try theory --help
check "theory has no options that it refuses" is "$(grep -cE '^  --(links|churn|compress) ' out)" 0
try compare --help
check "a fair comparison is among the basics" is "$(grep -cE '^  --(max-ifo|tuned) ' out)" 2
try compare --help-all
check "compare has no --trace" is "$(grep -cE '^  --trace ' out)" 0
check "compare has --trace-every" says "--trace-every N"

try algorithms
check "algorithms" exits 0
check "algorithms fit 80 columns" narrow out
for title in "^Algorithms$" "^What they handle" "^Cost of one iteration" "^Published complexities"; do
    check "table: $title" grep -q "$title" out
done
check "an algorithm is in every table" is "$(grep -c '^  prox-dsgda ' out)" 4
check "a decentralized one" grep -qE '^  precision +yes +yes +yes +stochastic +yes$' out
check "a centralized one" grep -qE '^  gda +yes +yes +yes +full +no$' out
check "its cost" grep -qE '^  precision +1 +2 \|S\|; n_i at a refresh +2 \(dim x \+ dim y\)$' out
check "bytes are explained" says "8 x doubles x"
check "its complexities" grep -qE '^  precision +O\(m sqrt\(n\) eps\^-2\) +O\(eps\^-2\)$' out
check "its citation" says "Liu, Zhang, Lu, Liu 2023, Algorithm 1."
names=$(awk '/^$/ {exit} /^  [a-z]/ && !/^  algorithm/ {print $1}' out)
for name in $names; do
    try algorithms "$name"
    check "algorithms $name" exits 0
    check "$name fits 80 columns" narrow out
    for word in runs handles gradients iterates assumes "IFO calls" rounds message samples Options; do
        check "$name: $word" grep -qE "^ *$word" out
    done
done
try algorithms precision+
check "options of one algorithm" says "--c-gamma C"
check "with their ranges" says "Range: above 0, at most 1."
check "and their defaults" says "Default: without-replacement."
if has_terminal; then
    # On a narrow terminal: one block per option, no line longer than the terminal.
    script -qec "stty cols 50; '$saddle' algorithms" /dev/null </dev/null 2>err | tr -d '\r' >out
    check "blocks on a narrow terminal" says "decentralized: at every agent"
    check "no line is too long" is "$(grep -cE '^.{51}' out)" 0
fi
try problems quadratic
check "options of one problem" says "--mu MU"
try sets
check "costs are in terms of the dimension" says "O(dim x)"
check "sets" says "l1-ball:R"
check "regularizers" says "group-l2:W:SIZE"
try topologies
check "topologies" says "small-world:K:P"
check "mixing rules" says "lazy-metropolis"
check "and their letters" says "the Laplacian matrix of the graph"

try man
check "man" exits 0
check "man has every part" is "$(grep -cE '^\.SH (NAME|SYNOPSIS|DESCRIPTION|COMMANDS|OPTIONS|EXIT STATUS|FILES|ENVIRONMENT|EXAMPLES)$' out)" 9
check "man documents SADDLE_DATA" says "SADDLE_DATA"
check "man documents exit code 130" says ".B 130"
check "man explains terms" grep -qx '.SH TERMS' out
check "man has a line for each value" grep -qx '.br' out
for command in "${commands[@]}"; do
    check "man has $command" grep -qE "^\.SS saddle ${command//-/\\\\-}( |$)" out
done
if has groff; then
    groff -man -ww -Tutf8 out >/dev/null 2>warnings
    check "groff has no warning" is "$(wc -c <warnings)" 0
fi

try sets l2-ball
check "a set is explained" exits 0
check "with what it is given as" says "Use it as --x-set or --y-set l2-ball:R"
try sets l1:0.1
check "a regularizer, too" says "Use it as --regularizer l1:W"
refuse "'l9-ball' is not a set or regularizer; \`saddle sets\` lists them" sets l9-ball

for shell in bash zsh fish; do
    try completion "$shell"
    check "completion $shell" exits 0
    cp out "completion.$shell"
    if has "$shell"; then
        check "$shell accepts it" "$shell" -n "completion.$shell"
    fi
done

# What bash suggests for a line of words, the last of which is being typed.
offers() {
    bash -c '. ./completion.bash || exit
        compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _saddle && printf "%s\n" "${COMPREPLY[@]}"' bash "$saddle" "${@:2}" 2>&1
}
check "commands are offered" is "$(offers saddle th)" theory
check "tune is offered" is "$(offers saddle tu)" tune
check "its options are offered" is "$(offers saddle tune --bud)" --budget
check "its choices are offered" is "$(offers saddle tune --objective st)" stationarity
check "options are offered" is "$(offers saddle run --init-)" $'--init-x\n--init-y'
check "choices are offered" is "$(offers saddle run --sampling with-)" with-replacement
check "algorithms are offered" is "$(offers saddle run --algorithm prox-d)" prox-dsgda
check "data commands are offered" is "$(offers saddle data f)" fetch
check "pictures' axes are offered" is "$(offers saddle plot --x sa)" samples
check "operands are offered" is "$(offers saddle completion z)" zsh
check "no value of a flag is offered" is "$(offers saddle run --quiet '')" ""
mkdir offered && touch offered/file && mkdir offered/directory
check "files are offered" is "$(offers saddle run --trace offered/ | sort)" $'offered/directory\noffered/file'
check "directories are offered" is "$(offers saddle tune --output offered/)" offered/directory
check "files are offered as operands" is "$(offers saddle plot offered/f)" offered/file

# The same, typed on a terminal: what precedes the arrow, with the tab key, becomes what follows it.
if has python3; then
    mkdir -p typed/tn2/inner "typed/two words"
    touch typed/mine.so typed/edges.txt "typed/my data.csv"
    cat >lines <<'END'
saddle ru => saddle run 
saddle run --heterog => saddle run --heterogeneity 
saddle run --topology gr => saddle run --topology grid:
saddle run --x-set l2 => saddle run --x-set l2-ball:
saddle run --checkpoint tn => saddle run --checkpoint tn2/
saddle run --checkpoint two => saddle run --checkpoint two\ words/
saddle run --resume tn2/in => saddle run --resume tn2/inner/
saddle run --data my => saddle run --data my\ data.csv 
saddle run --data my\ d => saddle run --data my\ data.csv 
saddle run --data "my d => saddle run --data "my data.csv" 
saddle run --algorithm=min => saddle run --algorithm=minimax-ppa 
saddle run --algorithm ./mi => saddle run --algorithm ./mine.so 
saddle run --algorithm=./mi => saddle run --algorithm=./mine.so 
saddle run --topology file:e => saddle run --topology file:edges.txt 
saddle run --topology=file:e => saddle run --topology=file:edges.txt 
saddle compare --algorithms mini => saddle compare --algorithms minimax-ppa 
saddle compare --algorithms precision,sreda- => saddle compare --algorithms precision,sreda-boost 
saddle compare --algorithms precision,./mi => saddle compare --algorithms precision,./mine.so
saddle tune --algorithms=precision,./tn => saddle tune --algorithms=precision,./tn2/
END
    (cd typed && sed 's/ => .*//' ../lines | python3 "$here/typed.py" ../completion.bash "$saddle") >typed.out
    check "the tab key in bash" cmp <(sed 's/.* => \(.*\)$/{\1}/' lines) typed.out
fi

# What the scripts of zsh and fish request: words and their explanations.
try __complete ''
check "commands are explained" grep -qxP 'theory\t.+' out
check "families are offered once" is "$(grep -cP '^data\t' out)" 1
check "--version is offered" grep -qP '^--version\t' out
try __complete data ''
check "all commands of a family" is "$(cut -f 1 out | xargs)" "list info convert split generate fetch"
try __complete run --
check "options are explained" grep -qxP -- '--seed\t.+' out
check "every option is offered" is "$(cut -f 1 out | sort)" \
    "$("$saddle" run --help-all | grep -oE '^  --[a-z0-9-]+' | tr -d ' ' | cat - <(printf '%s\n' --help --help-all) | sort)"
try __complete run --x-set ''
check "sets end where numbers follow" grep -qx 'box:' out
try __complete run --sampling=with
check "values after an equals sign" grep -qx -- '--sampling=with-replacement' out
try __complete run --trace a=b
check "an equals sign in a value does not end an option" is "$(cat out)" $'@FILE\t'
try __complete run --trace ''
check "files are left to the shell" is "$(cat out)" $'@FILE\t'
try __complete tune --output ''
check "directories are left to the shell" is "$(cat out)" $'@DIRECTORY\t'
try __complete nonsense ''
check "nothing is offered after an unknown command" is "$(cat out)" ""
for shell in zsh fish; do
    check "$shell asks the program" grep -q '__complete' "completion.$shell"
    check "$shell completes files" grep -q '@FILE' "completion.$shell"
    check "$shell completes directories" grep -q '@DIRECTORY' "completion.$shell"
done
finish
