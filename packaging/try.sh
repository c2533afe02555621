#!/usr/bin/env bash
# Installs each package that packaging/build.sh made, from its file and away from the person's own files, runs the program there
# and looks for its manual pages and completions where man and the shells do: packaging/try.sh OUT [DEBIAN]
#
# DEBIAN is the root of a Debian system, such as debootstrap makes, in which the .deb is installed and removed again. Without
# one it goes to an empty root that has only the libraries that the program is linked with. What this machine has no
# program for is named as NOT RUN.
set -euo pipefail
fail() { printf 'packaging/try.sh: %s\n' "$1" >&2; exit 1; }
not_run() { printf '  NOT RUN: %s\n' "$1"; }
[ $# -ge 1 ] || fail 'usage: packaging/try.sh OUT [DEBIAN]'
root=$(cd "$(dirname "$0")/.." && pwd)
out=$(cd "$1" && pwd)
debian=${2:-}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
transcript=$(find "$root/tests/corpus/claude-projects/-home-mara-code-harbour" -name '6018366c-*.jsonl')
title='Split the parser'
has() { command -v "$1" > /dev/null; }

work=$(mktemp -d)
server=''
cleanup() {
    if [ -n "$server" ]; then
        kill "$server" && { wait "$server"; } 2> /dev/null || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT

# A command without the settings of who runs this, in a home of its own: in_home HOME COMMAND…
in_home() {
    local home=$1
    shift
    mkdir -p "$home"
    env -i HOME="$home" PATH="$home/.local/bin:$PATH" LC_ALL=C.UTF-8 "$@"
}

# Whether a file has the licences of what is compiled in, by some of it: licenses FILE
licenses() {
    local each
    [ -f "$1" ] || fail "there is no ${1##*/}"
    for each in 'serde_json [0-9]' 'tantivy [0-9]' 'libsqlite3-sys [0-9]' 'libmimalloc-sys .*c_src' 'rules for secrets' 'the standard library'; do
        grep -q "^$each" "$1" || fail "${1##*/} has no licence of $each"
    done
    grep -q 'WITHOUT WARRANTY OF ANY KIND' "$1" && grep -q 'Apache License' "$1" || fail "${1##*/} has no texts"
    printf '  has the licences of what is compiled in\n'
}

# The first steps of a person with the program; HOME is an empty folder, at the same path for the program: steps HOME COMMAND…
steps() {
    local home=$1 said
    shift
    said=$(env -i HOME="$home" PATH="$PATH" "$@" --version)
    [ "$said" = "cru $version" ] || fail "$* --version says: $said"
    cp "$transcript" "$tree$home/transcript.jsonl"
    env -i HOME="$home" PATH="$PATH" "$@" init "$home/notes" > /dev/null
    env -i HOME="$home" PATH="$PATH" "$@" --vault "$home/notes" import claude "$home/transcript.jsonl" > /dev/null
    said=$(env -i HOME="$home" PATH="$PATH" "$@" --vault "$home/notes" list)
    [[ $said == *"$title"* ]] || fail "$* list says: $said"
    printf '  runs: --version, init, import, list\n'
}
# Where a program in a root of its own sees its home as this path less the root's.
tree=''

# The pages below SHARE, as man finds them: pages SHARE
pages() {
    local page
    has man || { not_run 'man is not installed'; return; }
    for page in cru cru-session-start; do
        MANPATH=$1/man man -w "$page" > /dev/null 2>&1 || fail "man finds no page $page below $1/man"
    done
    printf '  man finds the pages\n'
}
# What each shell completes when SHARE is a folder of data, with zsh's folder below it and that of the program:
# completions SHARE ZSH BIN
completions() {
    local loader=/usr/share/bash-completion/bash_completion said
    if [ -f "$loader" ]; then
        # shellcheck disable=SC2016
        said=$(env -i HOME="$work" PATH="$PATH" XDG_DATA_DIRS="$1" bash --norc -c '. "$0"
            _completion_loader cru || [ $? = 124 ]
            COMP_WORDS=(cru checkp) COMP_CWORD=1 COMP_LINE="cru checkp" COMP_POINT=10
            function=$(complete -p cru); function=${function##*-F }; ${function%% *} cru checkp cru; echo "${COMPREPLY[*]}"' "$loader")
        [ "$said" = checkpoint ] || fail "bash completes checkp with: $said"
        printf '  bash completes\n'
    else
        not_run 'bash-completion is not installed'
    fi
    if has zsh; then
        # shellcheck disable=SC2016
        said=$(env -i HOME="$work" PATH="$PATH" zsh -f -c \
            'fpath=("$0" $fpath); autoload -Uz compinit; compinit -D -u; autoload +X $_comps[cru]; echo $_comps[cru]' "$1/$2")
        [ "$said" = _cru ] || fail "zsh completes cru with: $said"
        printf '  zsh finds the completions\n'
    else
        not_run 'zsh is not installed'
    fi
    if has fish; then
        # fish asks only for a program that it finds.
        said=$(env -i HOME="$work" PATH="$3:$PATH" XDG_DATA_DIRS="$1:/usr/share" fish -c 'complete -C "cru checkp"')
        [[ $said == checkpoint* ]] || fail "fish completes checkp with: $said"
        printf '  fish completes\n'
    else
        not_run 'fish is not installed'
    fi
}

archive() {
    local home=$work/archive name target
    printf '%s\n' "${1##*/}"
    mkdir -p "$home/.local/bin" "$home/.local/share/man/man1" "$home/.local/share/bash-completion/completions"
    tar -C "$work" -xzf "$1"
    name=$work/$(basename "$1" .tar.gz)
    # What cargo-binstall makes of Cargo.toml: the end of the address, and the program's path within the archive.
    target=$(basename "$1" .tar.gz)
    target=${target#"cru-$version-"}
    binstall() {
        sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$root/Cargo.toml" | sed -e 's/{ name }\|{ bin }/cru/g' -e "s/{ version }/$version/g" \
            -e "s/{ target }/$target/g" -e 's/{ binary-ext }//'
    }
    [ "$(basename "$(binstall pkg-url)")" = "${1##*/}" ] || fail "cargo-binstall looks for $(binstall pkg-url)"
    [ -x "$work/$(binstall bin-dir)" ] || fail "cargo-binstall looks for $(binstall bin-dir) in the archive"
    licenses "$name/THIRD-PARTY-LICENSES"
    cp "$name/cru" "$home/.local/bin/"
    cp "$name"/man/* "$home/.local/share/man/man1/"
    cp "$name/completions/cru.bash" "$home/.local/share/bash-completion/completions/cru"
    mkdir -p "$home/.local/share/zsh/site-functions" "$home/.local/share/fish/vendor_completions.d"
    cp "$name/completions/_cru" "$home/.local/share/zsh/site-functions/"
    cp "$name/completions/cru.fish" "$home/.local/share/fish/vendor_completions.d/"
    steps "$home" "$home/.local/bin/cru"
    pages "$home/.local/share"
    completions "$home/.local/share" zsh/site-functions "$home/.local/bin"
}

wheel() {
    local home=$work/wheel
    printf '%s with pip\n' "${1##*/}"
    mkdir "$home"
    python3 -m venv "$home/venv"
    in_home "$home" "$home/venv/bin/python" -m pip install --quiet --no-index --disable-pip-version-check "$1"
    steps "$home" "$home/venv/bin/cru"
    licenses "$(echo "$home"/venv/lib/python*/site-packages/cru-*.dist-info/licenses/THIRD-PARTY-LICENSES)"
    pages "$home/venv/share"
    completions "$home/venv/share" zsh/site-functions "$home/venv/bin"
    for tool in pipx uv; do
        home=$work/$tool
        has "$tool" || { not_run "$tool is not installed"; continue; }
        printf '%s with %s\n' "${1##*/}" "$tool"
        case $tool in
            pipx) in_home "$home" pipx install "$1" > "$work/said" 2>&1 || fail "pipx: $(cat "$work/said")" ;;
            uv) in_home "$home" uv tool install --quiet --offline "$1" ;;
        esac
        steps "$home" "$home/.local/bin/cru"
        # Newer versions of pipx link the pages.
        [ ! -e "$home/.local/share/man" ] || pages "$home/.local/share"
    done
}

# A registry on this machine that has `cru`, and each package that it depends on by name; only this platform's has a file.
npm() {
    local home=$work/npm main=$1 port cru code started child signal said
    printf '%s\n' "${main##*/}"
    mkdir "$home"
    python3 - "$out" "$home" << 'END' &
import functools, http.server, json, os, pathlib, sys, tarfile

out, home = map(pathlib.Path, sys.argv[1:])

class Registry(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path.endswith(".tgz"):
            return super().do_GET()
        name = self.path.strip("/")
        if name not in manifests:
            return self.send_error(404)
        manifest = manifests[name]
        manifest["dist"] = {"tarball": f"http://127.0.0.1:{server.server_port}/{name}-{manifest['version']}.tgz"}
        body = {"name": name, "dist-tags": {"latest": manifest["version"]}, "versions": {manifest["version"]: manifest}}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass

manifests = {}
for path in sorted(out.glob("*.tgz")):
    with tarfile.open(path) as file:
        manifest = json.load(file.extractfile("package/package.json"))
    manifests[manifest["name"]] = manifest
for name, version in manifests["cru"]["optionalDependencies"].items():
    system, cpu = name.split("-")[1:]
    manifests.setdefault(name, {"name": name, "version": version, "os": [system], "cpu": [cpu]})
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Registry, directory=out))
(home / "port.new").write_text(str(server.server_port))
os.rename(home / "port.new", home / "port")
server.serve_forever()
END
    server=$!
    until [ -s "$home/port" ]; do
        kill -0 "$server" 2> /dev/null || fail 'the registry does not start'
        sleep 0.1
    done
    port=$(cat "$home/port")
    in_home "$home" npm --registry "http://127.0.0.1:$port" --prefix "$home/prefix" --no-audit --no-fund --no-update-notifier \
        --loglevel error install --global cru > "$work/said" 2>&1 || fail "npm: $(cat "$work/said")"
    cru=$home/prefix/bin/cru
    steps "$home" "$cru"
    licenses "$(find "$home/prefix/lib/node_modules" -name THIRD-PARTY-LICENSES)"
    pages "$home/prefix/share"

    # The launcher: exit codes, standard input, and signals both ways.
    code=0
    in_home "$home" "$cru" --no-such-option 2> /dev/null || code=$?
    [ "$code" = 2 ] || fail "an error of usage ends with $code"
    [ "$(printf '{"query": 1}' | in_home "$home" "$cru" --vault "$home/notes" admin completions bash | head -c 5)" = '_cru(' ] ||
        fail 'standard output is not that of the program'
    in_home "$home" "$cru" --vault "$home/notes" mcp < /dev/null || fail 'the end of standard input is not told to the program'
    mkfifo "$home/input"
    exec 3<> "$home/input"
    for signal in TERM KILL; do
        # shellcheck disable=SC2016
        in_home "$home" sh -c 'echo $$ > "$HOME/pid"; exec "$0" --vault "$HOME/notes" mcp' "$cru" < "$home/input" 3>&- 2> "$work/said" &
        started=$!
        until [ -s "$home/pid" ] && child=$(pgrep -P "$(cat "$home/pid")"); do
            kill -0 "$started" 2> /dev/null || fail 'the program ended before it was told to'
            sleep 0.1
        done
        # A signal to the launcher reaches the program; the end of the program by one is the end of the launcher by the same.
        if [ "$signal" = TERM ]; then kill -TERM "$(cat "$home/pid")"; else kill -KILL "$child"; fi
        code=0
        { wait "$started"; } 2> /dev/null || code=$?
        [ "$code" = $((128 + $(kill -l "$signal"))) ] || fail "a program that SIG$signal ended gives $code"
        if kill -0 "$child" 2> /dev/null; then fail "SIG$signal left the program running"; fi
        rm "$home/pid"
    done
    exec 3>&-
    printf '  exit codes, standard streams and signals are those of the program\n'
    rm -r "$home/prefix/lib/node_modules/cru/node_modules"
    code=0
    said=$(in_home "$home" "$cru" --version 2>&1) || code=$?
    [ "$code" = 3 ] && [[ $said == *'is not installed'* ]] || fail "without the program it ends with $code and says: $said"
}

deb() {
    local home=/tmp/cru-home library owner
    printf '%s\n' "${1##*/}"
    if [ -n "$debian" ]; then
        tree=$debian
        cp "$1" "$tree/tmp/cru.deb"
        chroot "$tree" dpkg --install /tmp/cru.deb > "$work/said" || fail "dpkg: $(cat "$work/said")"
    else
        tree=$work/deb
        mkdir -p "$tree/tmp"
        dpkg --root="$tree" --force-not-root --force-depends --log=/dev/null --install "$1" > "$work/said" 2>&1 ||
            fail "dpkg: $(cat "$work/said")"
        # Each library of a package that the .deb depends on, and nothing else.
        while read -r library; do
            owner=$(dpkg --search "*/${library##*/}" | sed -n 's/^\([^:, ]*\).*/\1/p' | sort -u)
            for each in $owner; do
                dpkg-deb --field "$1" Depends | grep -q "\b$each\b" && owner='' && break
            done
            [ -z "$owner" ] || fail "the package does not depend on $owner, which has $library"
            mkdir -p "$tree$(dirname "$library")"
            cp -L "$library" "$tree$library"
        done < <(ldd "$tree/usr/bin/cru" | grep -o '/[^ ]*')
    fi
    mkdir -p "$tree$home"
    if [ "$(id -u)" = 0 ]; then
        steps "$home" chroot "$tree" /usr/bin/cru
    elif unshare --map-root-user chroot "$tree" /usr/bin/cru --version > /dev/null 2>&1; then
        steps "$home" unshare --map-root-user chroot "$tree" /usr/bin/cru
    else
        not_run 'the program in a root of its own, which this user may not change to'
    fi
    gzip -dc "$tree/usr/share/doc/cru/THIRD-PARTY-LICENSES.gz" > "$work/THIRD-PARTY-LICENSES"
    licenses "$work/THIRD-PARTY-LICENSES"
    pages "$tree/usr/share"
    completions "$tree/usr/share" zsh/vendor-completions "$tree/usr/bin"
    [ -z "$debian" ] || {
        chroot "$tree" dpkg --purge cru > "$work/said"
        rm -r "$tree/tmp/cru.deb" "${tree:?}$home"
        [ ! -e "$tree/usr/bin/cru" ] && [ ! -e "$tree/usr/share/doc/cru" ] || fail 'files of the package stay after it was removed'
    }
    tree=''
}

count=0
for file in "$out"/*; do
    case $file in
        *.tar.gz) archive "$file" ;;
        *.whl) wheel "$file" ;;
        "$out/cru-$version.tgz") npm "$file" ;;
        *.deb) deb "$file" ;;
        *) continue ;;
    esac
    count=$((count + 1))
done
[ "$count" -gt 0 ] || fail "$out has no packages"
