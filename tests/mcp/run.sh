#!/usr/bin/env bash
# Runs `cru mcp` against the Python SDK of the protocol, which is kept in a virtual environment below target/.
# Without Python or without a network, where the package is not there yet, it fails and says so. `--prepare` only makes the
# environment.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=2.3.0
environment="${CARGO_TARGET_DIR:-target}/mcp-client"
python="$environment/bin/python"
fail() { printf 'the client of another implementation was not tested: %s\n' "$1" >&2; exit 1; }

has_package() { "$python" -c "import importlib.metadata as m, mcp; assert m.version('mcp') == '$version'" 2>/dev/null; }
if ! has_package; then
  command -v python3 >/dev/null || fail "there is no python3"
  python3 -m venv "$environment" || fail "python3 makes no virtual environment"
  timeout 100 "$python" -m pip install --quiet --disable-pip-version-check "mcp==$version" \
    || fail "the package mcp $version cannot be installed (no network?)"
  has_package || fail "the package mcp $version cannot be used"
fi
[ "${1:-}" = --prepare ] && exit 0
CRU_MCP_PYTHON="$(realpath --no-symlinks "$python")" cargo test --locked --test it -- --ignored --exact running::mcp::a_client_of_another_implementation
