# fish completion for saddle
function __saddle_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l found ($program __complete $words "$last" 2>/dev/null)
    set -l prefix (string replace -r -- '^@[A-Z]*\t' '' "$found[1]")
    set -l value (string sub -s (math (string length -- "$prefix") + 1) -- "$last")
    switch "$found[1]"
        case '@FILE*'
            set found (__fish_complete_path "$value")
            string replace -r -- '^' "$prefix" $found
        case '@DIRECTORY*'
            set found (__fish_complete_directories "$value")
            string replace -r -- '^' "$prefix" $found
        case '*'
            printf '%s\n' $found
    end
end
complete -c saddle -f -a '(__saddle_complete)'
