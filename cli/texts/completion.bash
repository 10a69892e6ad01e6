# bash completion for saddle
_saddle() {
    local cur piece line rest=$COMP_LINE found prefix cut value k
    local -a words=()
    # Bash splits words at = and :; join pieces that have nothing between them.
    for ((k = 0; k <= COMP_CWORD; k++)); do
        piece=${COMP_WORDS[k]}
        if ((k > 0)) && [[ ${rest:0:1} != [[:blank:]] && -n $rest &&
            ( $piece == [:=]* || ${COMP_WORDS[k - 1]} == *[:=] ) ]]; then
            words[-1]+=$piece
        elif ((k > 0)) && [[ -z $piece && ${COMP_LINE:COMP_POINT-1:1} == [:=] ]]; then
            :
        else
            words+=("$piece")
        fi
        rest=${rest#"${rest%%[![:blank:]]*}"}
        rest=${rest#"$piece"}
    done
    # Remove backslashes and an opening quote.
    for k in "${!words[@]}"; do
        words[k]=${words[k]//\\/}
        words[k]=${words[k]#[\"\']}
    done
    cur=${words[-1]}
    found=$("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)
    # Readline keeps everything up to the last = or :.
    cut=${cur%"${cur##*[:=]}"}
    COMPREPLY=()
    case $found in
    @FILE* | @DIRECTORY*)
        prefix=${found#*$'\t'}
        value=${cur#"$prefix"}
        value=${value/#\~\//$HOME/}
        k=-f
        [[ $found == @DIRECTORY* ]] && k=-d
        while IFS= read -r line; do
            if [[ $prefix == *, ]]; then
                [[ -d $line ]] && line+=/
                compopt -o nospace
                line=${prefix#"$cut"}$line
            else
                compopt -o filenames
            fi
            COMPREPLY+=("$line")
        done < <(compgen $k -- "$value")
        ;;
    *)
        while IFS= read -r line; do
            line=${line%%$'\t'*}
            [[ -n $line && $line == "$cur"* ]] && COMPREPLY+=("${line#"$cut"}")
        done <<<"$found"
        [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[:,] ]] || compopt -o nospace
        ;;
    esac
}
complete -F _saddle saddle
