#!/usr/bin/env bash
# Makes the packages of a built `cru` for the machine it runs on: packaging/build.sh PROGRAM OUT [FORM…]
#
# FORM is archive, wheel, npm or deb; without one, all that this system has a form for. OUT may not hold anything yet.
# MAINTAINER is who answers for the .deb; LEVEL (1 to 9, else 9) is the compression; SOURCE_DATE_EPOCH is the time that all
# files get, else that of the last commit. The version is that of Cargo.toml, and the program has to say the same.
set -euo pipefail
fail() { printf 'packaging/build.sh: %s\n' "$1" >&2; exit 1; }
[ $# -ge 2 ] || fail 'usage: packaging/build.sh PROGRAM OUT [FORM…]'
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1 out=$2
shift 2

setting() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$root/Cargo.toml" | head -n 1; }
version=$(setting version) summary=$(setting description) license=$(setting license)
level=${LEVEL:-9}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)} || fail 'no commit here: set SOURCE_DATE_EPOCH'
export SOURCE_DATE_EPOCH

# The target of Rust, and the names of the same platform for wheels, npm and Debian.
exe='' deb=''
case "$(uname -s) $(uname -m)" in
    'Linux x86_64') target=x86_64-unknown-linux-gnu npm=linux-x64 deb=amd64 ;;
    'Linux aarch64') target=aarch64-unknown-linux-gnu npm=linux-arm64 deb=arm64 ;;
    'Darwin x86_64') target=x86_64-apple-darwin npm=darwin-x64 wheel=macosx_10_12_x86_64 ;;
    'Darwin arm64') target=aarch64-apple-darwin npm=darwin-arm64 wheel=macosx_11_0_arm64 ;;
    MINGW64*x86_64 | MSYS*x86_64) target=x86_64-pc-windows-msvc npm=win32-x64 wheel=win_amd64 exe=.exe ;;
    *) fail "there are no packages for $(uname -s) on $(uname -m)" ;;
esac
[ $# -gt 0 ] || set -- archive wheel npm ${deb:+deb}

# The newest version of a library's interface that the program asks for: needs GLIBC.
needs() { sed -n "s/.* $1_\([0-9.]*\)\$/\1/p" <<< "$interfaces" | sort -V | tail -n 1; }
if [ -n "$deb" ]; then
    interfaces=$(objdump -p "$program")
    glibc=$(needs GLIBC)
    [ -n "$glibc" ] || fail "$program is not linked with glibc, which the packages for $target expect"
    # An interface without a number, which came with 2.36: relocations in the short form.
    if [[ $interfaces == *GLIBC_ABI_DT_RELR* ]]; then
        glibc=$(printf '%s\n' "$glibc" 2.36 | sort -V | tail -n 1)
    fi
    wheel=manylinux_${glibc//./_}_${target%%-*}
fi

mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
install -m 755 "$program" "$work/cru$exe"
said=$("$work/cru$exe" --version)
[ "$said" = "cru $version" ] || fail "the program says \`$said\`, and Cargo.toml version $version"
sh "$root/packaging/extras.sh" "$work/cru$exe" "$work/extras"
licenses=$work/THIRD-PARTY-LICENSES
"$root/packaging/licenses.sh" "$target" "$licenses"

# Files with one mode, at a path that may be new: put MODE TO FROM…
put() {
    local mode=$1 to=$2
    shift 2
    mkdir -p "$to"
    install -m "$mode" "$@" "$to"
}
# A tar.gz that is the same for the same files: pack FILE BASE FOLDER
pack() {
    local same=()
    if tar --version | grep -q GNU; then
        same=(--sort=name --owner=0 --group=0 --numeric-owner "--mtime=@$SOURCE_DATE_EPOCH")
    fi
    tar -C "$2" ${same[@]+"${same[@]}"} -cf - "$3" | gzip "-n$level" > "$1"
}
# What is beside the program in a package without places of its own for it.
beside() {
    put 644 "$1" "$root"/LICENSE-* "$root/README.md" "$root/CHANGELOG.md"
    put 644 "$1/man" "$work"/extras/man/*
    put 644 "$1/completions" "$work"/extras/completions/*
}
# The places below a prefix where man and the shells look; zsh has another one on Debian.
share() {
    put 644 "$1/share/man/man1" "$work"/extras/man/*
    put 644 "$1/share/zsh/${2:-site-functions}" "$work/extras/completions/_cru"
    put 644 "$1/share/fish/vendor_completions.d" "$work/extras/completions/cru.fish"
    put 644 "$1/share/bash-completion/completions" "$work/extras/completions/cru.bash"
    mv "$1/share/bash-completion/completions/cru.bash" "$1/share/bash-completion/completions/cru"
}

# As `[package.metadata.binstall]` of Cargo.toml tells cargo-binstall.
archive() {
    local name=cru-$version-$target
    beside "$work/archive/$name"
    put 644 "$work/archive/$name" "$licenses"
    put 755 "$work/archive/$name" "$work/cru$exe"
    pack "$out/$name.tar.gz" "$work/archive" "$name"
}

wheel() {
    put 755 "$work/wheel/scripts" "$work/cru$exe"
    share "$work/wheel/data"
    python3 "$root/packaging/wheel.py" "$work/wheel" "$out" "$version" "$wheel" "$summary" "$license" "$level" "$licenses"
}

# The package of this platform, and `cru`, which depends on that of each platform and holds what runs it.
npm() {
    local platforms=(linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64) each libc='' depends='' pages=''
    [ -z "$deb" ] || libc=' "libc": ["glibc"],'
    put 755 "$work/npm/cru-$npm/package/bin" "$work/cru$exe"
    put 644 "$work/npm/cru-$npm/package" "$root"/LICENSE-* "$licenses"
    cat > "$work/npm/cru-$npm/package/package.json" <<END
{
  "name": "cru-$npm",
  "version": "$version",
  "description": "The program of the package cru for $npm",
  "license": "$license",
  "os": ["${npm%-*}"], "cpu": ["${npm#*-}"],$libc
  "preferUnplugged": true
}
END
    for each in "${platforms[@]}"; do depends="$depends, \"cru-$each\": \"$version\""; done
    for each in "$work"/extras/man/*; do pages="$pages, \"./man/${each##*/}\""; done
    beside "$work/npm/cru/package"
    put 755 "$work/npm/cru/package/bin" "$root/packaging/npm/cru.js"
    cat > "$work/npm/cru/package/package.json" <<END
{
  "name": "cru",
  "version": "$version",
  "description": "$summary",
  "license": "$license",
  "bin": { "cru": "bin/cru.js" },
  "man": [${pages#, }],
  "engines": { "node": ">=18" },
  "optionalDependencies": { ${depends#, } }
}
END
    for each in "cru-$npm" cru; do pack "$out/$each-$version.tgz" "$work/npm/$each" package; done
}

deb() {
    local tree=$work/deb libgcc
    local full=${version//-/\~}-1 doc=$tree/usr/share/doc/cru who=${MAINTAINER:-The cru contributors <nobody@cru.invalid>}
    put 755 "$tree/usr/bin" "$work/cru"
    share "$tree/usr" vendor-completions
    mkdir -p "$doc" "$tree/DEBIAN"
    cp "$root/CHANGELOG.md" "$doc/changelog"
    printf 'cru (%s) unstable; urgency=medium\n\n  * Packaged from the program of version %s.\n\n -- %s  %s\n' \
        "$full" "$version" "$who" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" > "$doc/changelog.Debian"
    cp "$licenses" "$doc"
    gzip -n9 "$doc"/changelog* "$doc/${licenses##*/}" "$tree"/usr/share/man/man1/*
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: cru\n\n'
        printf 'Comment: The licences of what is compiled into the program are in %s.gz.\n\n' "${licenses##*/}"
        printf 'Files: *\nCopyright: %s\nLicense: MIT or Apache-2.0\n\n' "$(sed -n 's/^Copyright (c) //p' "$root/LICENSE-MIT")"
        printf 'License: MIT\n'
        sed -e '1,/^Copyright/d' -e '/./,$!d' -e 's/^$/./' -e 's/^/ /' "$root/LICENSE-MIT"
        printf '\nLicense: Apache-2.0\n On Debian the whole text is in /usr/share/common-licenses/Apache-2.0.\n'
    } > "$doc/copyright"
    libgcc=$(needs GCC)
    cat > "$tree/DEBIAN/control" <<END
Package: cru
Version: $full
Architecture: $deb
Maintainer: $who
Section: utils
Priority: optional
Installed-Size: $(du -k -s "$tree/usr" | cut -f 1)
Depends: libc6 (>= $glibc)${libgcc:+, libgcc-s1 (>= ${libgcc%.0})}
Suggests: git
Description: sessions of AI agents as markdown notes
 cru writes the sessions of coding agents as markdown notes that a person
 reads, edits and searches in Obsidian or any editor. It imports the
 transcripts that agents leave on a machine, makes workflows and learning
 cases of them, and never overwrites what a person wrote.
END
    (cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    find "$tree" -type d -exec chmod 755 {} +
    chmod 644 "$doc"/* "$tree"/DEBIAN/*
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$tree" "$out/cru_${full}_$deb.deb" > "$work/said"
}

for form; do
    case $form in
        archive | wheel | npm) "$form" ;;
        deb) [ -n "$deb" ] || fail "there is no .deb for $target"; deb ;;
        *) fail "unknown form: $form" ;;
    esac
done
ls -l "$out"
