#!/usr/bin/env bash
# Writes the licences of what is compiled into `cru` for a target, with their texts: packaging/licenses.sh TARGET OUT
#
# The packages are those that Cargo links for the target and the default features, macros and build scripts left out. Texts are
# the files that each package has of its own; one that several share stands once. A package without any gets the text of the
# MIT licence with its authors, where it may be used by that; else this fails.
set -euo pipefail
fail() { printf 'packaging/licenses.sh: %s\n' "$1" >&2; exit 1; }
[ $# = 2 ] || fail 'usage: packaging/licenses.sh TARGET OUT'
root=$(cd "$(dirname "$0")/.." && pwd)
target=$1 out=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

linked() {
    cargo tree --locked --target "$target" --package cru --edges normal,no-proc-macro --prefix none --format "$1" |
        sed -e '/^cru\(-[a-z]*\)\? v/d' -e 's/ (\*)$//' | sort -u
}
cargo metadata --locked --format-version 1 --filter-platform "$target" | tr ',' '\n' |
    sed -n -e 's/^"manifest_path":"\(.*\)Cargo.toml"$/\1/p' | tr '\\' '/' | tr -s / > "$work/folders"

# The text of the MIT licence below its line of copyright.
mit() { sed -e '1,/^Copyright/d' "$root/LICENSE-MIT"; }
# Adds a text of a package to those that are there: text PACKAGE < TEXT
text() {
    local sum
    tr -d '\r' > "$work/text"
    # Lines are broken and indented in many ways.
    sum=$(tr -s '[:space:]' ' ' < "$work/text" | cksum | tr ' ' -)
    mv "$work/text" "$work/$sum.text"
    printf '%s\n' "$1" >> "$work/$sum.packages"
}

count=0
while IFS='|' read -r package license; do
    name=${package%% *} version=${package#* v}
    version=${version%% *}
    folder=$(grep "/$name-$version/\$" "$work/folders") || fail "$package is in no folder of its own"
    find "$folder" -maxdepth 4 -type f \( -iname 'licen[sc]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'unlicense*' \
        -o -iname 'copyright*' \) ! -name '*.rs' | LC_ALL=C sort > "$work/files"
    while read -r file; do
        text "$name $version ($license): ${file#"$folder"}" < "$file"
    done < "$work/files"
    if [ ! -s "$work/files" ]; then
        [[ $license == *MIT* ]] || fail "$name $version has no text of its licence, $license"
        authors=$(sed -n 's/^authors = \[\(.*\)\]$/\1/p' "$folder/Cargo.toml" | tr -d '"')
        { printf 'Copyright (c) %s\n' "${authors:-the authors of $name}"; mit; } | text "$name $version ($license)"
    fi
    count=$((count + 1))
done < <(linked '{p}|{l}')
[ "$count" -gt 0 ] || fail "nothing is linked for $target"
{ printf 'Copyright (c) The Rust Project Developers\n'; mit; } |
    text "the standard library of $(rustc --version | cut -d ' ' -f 1,2) (MIT OR Apache-2.0)"
text 'rules for secrets of gitleaks (MIT)' < crates/cru-secrets/data/gitleaks.LICENSE

{
    printf 'cru contains software of others, under the licences below. A package is named above each of its texts.\n'
    # By the first of their packages.
    for each in "$work"/*.packages; do printf '%s %s\n' "$(head -n 1 "$each" | tr ' ' _)" "$each"; done |
        LC_ALL=C sort | while read -r _ each; do
            printf '\n%.0s' 1 2
            printf -- '-%.0s' {1..100}
            printf '\n'
            cat "$each"
            printf '\n'
            cat "${each%.packages}.text"
        done
} > "$out"
