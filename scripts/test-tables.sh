#!/usr/bin/env bash
# Lints and tests of the Spark job: scripts/test-tables.sh [PYTEST ARGUMENTS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup-tables.sh java
cd python
"$PYTHON" -m ruff check .
"$PYTHON" -m ruff format --check .
"$PYTHON" -m mypy
"$PYTHON" -m pytest -q "$@"
