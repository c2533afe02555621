#!/usr/bin/env bash
# Exports recorded runs of real sessions as event logs, validates them against the published schemas and loads them in
# pm4py. Not part of .ci/run: it installs some 500 MB.
#
#   tests/mining.sh SESSIONS [WORK]
#
# SESSIONS   transcripts to import (a file or folder), or a vault
# WORK       where the virtual environment, the schemas and the logs go; default: target/mining
#
# CRU is the program (default: the release build). SCHEMAS is a folder with ocel20-schema-json.json (of OCEL 2.0) and
# xes-ieee-1849-2016.xsd (of XES); without it they are downloaded to WORK.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -ge 1 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
sessions=$(realpath "$1")
mkdir -p "${2:-target/mining}"
work=$(realpath "${2:-target/mining}")
cru=$(realpath "${CRU:-target/release/cru}")
python=$work/venv/bin/python
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config

if ! "$python" -c 'import pm4py, jsonschema, xmlschema' 2>/dev/null; then
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet pm4py 'jsonschema[format]' xmlschema
fi
schemas=${SCHEMAS:-$work/schemas}
mkdir -p "$schemas"
fetch() { [ -s "$schemas/$1" ] || curl --fail --silent --show-error --location --output "$schemas/$1" "$2"; }
fetch ocel20-schema-json.json https://www.ocel-standard.org/2.0/ocel20-schema-json.json
fetch xes-ieee-1849-2016.xsd http://www.xes-standard.org/xes-ieee-1849-2016.xsd

vault=$work/vault
rm -rf "$vault"
if [ -d "$sessions/.cru" ]; then
    cp -r "$sessions" "$vault"
else
    "$cru" init "$vault" >/dev/null
    "$cru" --quiet --vault "$vault" import "$sessions" >/dev/null
fi
# A workflow of each session that has more than one step.
mkdir -p "$vault/workflows"
find "$vault/sessions" -name '*.md' | sort | while read -r note; do
    "$cru" --quiet --vault "$vault" session codify "$note" -o "$vault/workflows/$(basename "$note" .md)-again.md" >/dev/null
done
rm -f "$work/runs.xes" "$work/runs.json"
"$cru" --vault "$vault" workflow export --to xes -o "$work/runs.xes"
"$cru" --vault "$vault" workflow export --to ocel -o "$work/runs.json"
"$python" tests/process_mining.py "$work/runs.xes" "$work/runs.json" "$schemas"
