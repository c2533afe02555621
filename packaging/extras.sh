#!/bin/sh
# Writes the shell completions of a built `cru` and the manual page of each command: packaging/extras.sh PROGRAM OUT
set -eu
cru=$1
out=$2
mkdir -p "$out/completions" "$out/man"
"$cru" completions bash > "$out/completions/cru.bash"
"$cru" completions zsh > "$out/completions/_cru"
"$cru" completions fish > "$out/completions/cru.fish"
"$cru" completions elvish > "$out/completions/cru.elv"
"$cru" completions powershell > "$out/completions/_cru.ps1"

# The page of a command, given as words, and those of the commands that this page refers to.
page() {
    name=$(printf '%s-' cru "$@")
    file="$out/man/${name%-}.1"
    "$cru" man "$@" > "$file"
    # Names of commands have no blanks.
    # shellcheck disable=SC2013
    for below in $(sed -n "s/\\\\-/-/g; s/^$name\(.*\)(1)\$/\1/p" "$file"); do
        page "$@" "$below"
    done
}
page
