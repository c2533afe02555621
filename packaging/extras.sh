#!/bin/sh
# Writes the shell completions and the manual pages of a built `cru` into packaging/out, from where dist-workspace.toml
# puts them into every package: packaging/extras.sh [PROGRAM] [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cru=${1:-cru}
out=${2:-$here/out}
mkdir -p "$out/completions" "$out/man"
"$cru" completions bash > "$out/completions/cru.bash"
"$cru" completions zsh > "$out/completions/_cru"
"$cru" completions fish > "$out/completions/cru.fish"
"$cru" completions elvish > "$out/completions/cru.elv"
"$cru" completions powershell > "$out/completions/_cru.ps1"
"$cru" man > "$out/man/cru.1"
for command in init import connect status list show search stats review resume log checkpoint codify learn read why check undo \
    'session show' 'session codify' 'session learn' 'session resume' 'hooks status'; do
    # One page for each command that is used often: cru-session-show.1
    # shellcheck disable=SC2086
    "$cru" man $command > "$out/man/cru-$(echo "$command" | tr ' ' '-').1"
done
