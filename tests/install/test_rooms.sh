#!/usr/bin/env bash
# The include graph: a file includes files of its own room and of rooms before it, and no two files
# include each other, directly or through others. draw/ sees lab/ and src/files/ alone. No two files have
# the same name.
#
#   test_rooms.sh SOURCE-DIRECTORY
set -u
cd "$1" || exit 1
rooms=(core files graph sets data models problems algorithms engines observe instance checkpoint run lab draw cli)

# room FILE: where it is.
room() {
    local folder=${1%/*}
    printf '%s\n' "${folder#src/}"
}

# edges: every `FILE INCLUDED-FILE` within the sources.
edges() {
    local file line target
    for file in src/*/*.[ch] lab/*.[ch] draw/*.[ch] cli/*.[ch]; do
        while read -r line; do
            target=${line#*\"}
            target=${target%\"*}
            case $target in
            lab/* | draw/*) ;;
            */*) target=src/$target ;;
            *) target=${file%/*}/$target ;;
            esac
            printf '%s %s\n' "$file" "$target"
        done < <(grep -h '^#include "' "$file")
    done
}

# upward: the edges that point to a later room.
upward() {
    local from to
    while read -r from to; do
        printf '%s %s %s %s\n' "$(room "$from")" "$(room "$to")" "$from" "$to"
    done | awk -v list="${rooms[*]}" '
        BEGIN { n = split(list, name, " "); for (k = 1; k <= n; k++) rank[name[k]] = k }
        !($1 in rank) || !($2 in rank) || rank[$2] > rank[$1] { print $3, "includes", $4 }'
}

passed=0
failed=0
# nothing NAME TEXT: a check that holds if the text is empty.
nothing() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$1" "$2"
    fi
}

graph=$(edges)
nothing "there are files that include others" "$([ "$(wc -l <<<"$graph")" -gt 300 ] || echo none)"
nothing "what is included exists" "$(while read -r _ to; do [ -e "$to" ] || echo "$to"; done <<<"$graph" | sort -u)"
nothing "no file includes one of a later room" "$(upward <<<"$graph")"
nothing "no files include each other" "$(tsort <<<"$graph" 2>&1 >/dev/null)"
nothing "draw sees lab and files alone" \
    "$(grep '^draw/' <<<"$graph" | grep -vE ' (draw|lab|src/files)/')"
nothing "no two files have the same name" \
    "$(printf '%s\n' src/*/*.[ch] lab/*.[ch] draw/*.[ch] cli/*.[ch] | sed 's|.*/||' | sort | uniq -d)"
printf 'checks: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
