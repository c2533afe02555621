#!/usr/bin/env bash
# Trains and evaluates on an export of real sessions with the real programs. Not part of .ci/run: it installs some 8 GB.
#
#   tests/trainers.sh CHECKS SESSIONS [WORK]
#
# CHECKS     folder with train_check.py and puzzle_check.py
# SESSIONS   transcripts to import (a file or folder), or a vault
# WORK       where the virtual environment, the packages and the exports go; default: target/trainers
#
# CRU is the program (default: the release build). PROMPTFOO=0 leaves promptfoo (1.4 GB of packages) out. Training is on the
# processor: rows of at most ROW tokens (4096), MAX_ROWS (8) of each file; all rows are loaded, checked and rendered.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 2 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
checks=$(realpath "$1")
sessions=$(realpath "$2")
mkdir -p "${3:-target/trainers}"
work=$(realpath "${3:-target/trainers}")
cru=$(realpath "${CRU:-target/release/cru}")
row=${ROW:-4096}
python=$work/venv/bin/python
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

if ! "$python" -c 'import torch, trl, peft, datasets, inspect_ai' 2>/dev/null; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet torch transformers datasets trl peft inspect-ai
fi
# The readers of the other dialects: their published code, of which only what reads rows is loaded.
if [ ! -d "$work/readers/axolotl" ]; then
    "$work/venv/bin/pip" install --quiet openai colorama addict
    "$work/venv/bin/pip" install --quiet --no-deps --target "$work/readers" 'together<2' llamafactory
    "$work/venv/bin/pip" download --quiet --no-deps --no-binary :all: --dest "$work/sources" axolotl
    tar -xzf "$work"/sources/axolotl-*.tar.gz -C "$work/sources"
    mv "$work"/sources/axolotl-*/src/axolotl "$work/readers/axolotl"
fi
promptfoo=$work/node_modules/.bin/promptfoo
if [ "${PROMPTFOO:-1}" != 0 ] && [ ! -x "$promptfoo" ]; then
    npm install --silent --no-audit --no-fund --prefix "$work" promptfoo
fi

vault=$sessions
if [ ! -d "$sessions/.cru" ]; then
    vault=$work/vault
    [ -d "$vault/.cru" ] || "$cru" init "$vault" >/dev/null
    "$cru" --quiet --vault "$vault" import "$sessions" >/dev/null
fi

rm -rf "$work/rows" "$work/openai" "$work/axolotl" "$work/puzzles" "$work/promptfoo"
learn() { "$cru" --vault "$vault" session learn "$@"; }
learn --export jsonl -o "$work/rows" --max-tokens "$row" --split 0.8 >"$work/rows.txt"
learn --export jsonl -o "$work/openai" --dialect openai --split 0.8 >/dev/null
learn --export jsonl -o "$work/axolotl" --dialect axolotl --split 0.8 >/dev/null
learn --export puzzle -o "$work/puzzles" --split 0.5 >/dev/null
learn --export puzzle -o "$work/promptfoo" --split 0.5 --eval promptfoo >/dev/null

failed=0
files=("$work"/rows/*/train.jsonl)
# A tokenizer of 2,000 words, as the check trains one, needs up to twice as many tokens.
"$python" "$checks/train_check.py" "$work/rows" "${files[@]}" --max-length $((2 * row)) --max-rows "${MAX_ROWS:-8}" \
    --report "$work/train.json" || true
# The check looks for the first 60 characters of a text as they are; rendered.py looks for all of it, also as a JSON string.
"$python" tests/trainers/rendered.py "$work/train.json" "${files[@]}" || failed=1
# Whole sessions, on the rows of one file.
rm -rf "$work/sessions"
learn --export trajectories -o "$work/sessions" --max-tokens "$row" >/dev/null
"$python" "$checks/train_check.py" "$work/sessions" "$work/sessions/trajectories/train.jsonl" --max-length $((2 * row)) \
    --max-rows "${MAX_ROWS:-8}" --report "$work/train-sessions.json" || true
"$python" tests/trainers/rendered.py "$work/train-sessions.json" "$work/sessions/trajectories/train.jsonl" || failed=1
# Rows that are written for a template that loses something lose nothing in it.
for template in llama3 gptoss deepseek; do
    rm -rf "$work/rows-$template"
    learn --export jsonl -o "$work/rows-$template" --max-tokens "$row" --split 0.8 --template "$template" >/dev/null
    "$python" tests/trainers/rendered.py --template "$template" "$work/rows-$template"/*/train.jsonl || failed=1
done
PYTHONPATH="$work/readers" "$python" tests/trainers/dialects.py "$work/openai" "$work/axolotl" 2>/dev/null || failed=1
"$python" "$checks/puzzle_check.py" --inspect "$work/puzzles/puzzles.jsonl" || failed=1
if [ "${PROMPTFOO:-1}" != 0 ]; then
    "$python" "$checks/puzzle_check.py" --promptfoo "$work/promptfoo/promptfooconfig.yaml" --promptfoo-bin "$promptfoo" || failed=1
fi
exit $failed
