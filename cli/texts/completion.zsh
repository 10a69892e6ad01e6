#compdef saddle
# zsh completion for saddle
_saddle() {
    local tab=$'\t'
    local -a found
    found=("${(@f)$(${~words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    case $found[1] in
    '') ;;
    @FILE*) compset -P "${(b)found[1]#*$tab}"; _files ;;
    @DIRECTORY*) compset -P "${(b)found[1]#*$tab}"; _files -/ ;;
    *)
        found=("${(@)found//:/\\:}")
        found=("${(@)found/$tab/:}")
        _describe value found
        ;;
    esac
}
if [[ $funcstack[1] == _saddle ]]; then
    _saddle "$@"
elif (( $+functions[compdef] )); then
    compdef _saddle saddle
fi
