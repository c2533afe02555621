#!/bin/sh
# Writes the shell completions of a built `cru` and the manual page of each command: packaging/extras.sh PROGRAM OUT
set -eu
cru=$1
out=$2
mkdir -p "$out/completions" "$out/man"
"$cru" admin completions bash > "$out/completions/cru.bash"
"$cru" admin completions zsh > "$out/completions/_cru"
"$cru" admin completions fish > "$out/completions/cru.fish"
"$cru" admin completions elvish > "$out/completions/cru.elv"
"$cru" admin completions powershell > "$out/completions/_cru.ps1"

# The page of a command, given as words, and those of the commands that this page refers to.
page() {
    name=$(printf '%s-' cru "$@")
    file="$out/man/${name%-}.1"
    "$cru" admin man "$@" > "$file"
    # Names of commands have no blanks.
    # shellcheck disable=SC2013
    for below in $(sed -n "s/\\\\-/-/g; s/^$name\(.*\)(1)\$/\1/p" "$file"); do
        page "$@" "$below"
    done
}
page
# The second names of the verbs on sessions.
for verb in list show resume codify learn; do
    "$cru" admin man session "$verb" > "$out/man/cru-session-$verb.1"
done
