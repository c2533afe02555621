#!/usr/bin/env bash
# What the examples of docs/scale.md need: a cru with the feature `rows`, Python packages in a folder of their own, and,
# with `java` as argument, a Java runtime where there is none. Sets CRU and PYTHON. To be sourced.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

if [ "${1:-}" = java ] && ! command -v java > /dev/null; then
  echo "installing default-jre-headless (Debian)" >&2
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root="sudo"
  $as_root apt-get update -qq
  $as_root apt-get install -y -qq --no-install-recommends default-jre-headless > /dev/null
fi

if [ -z "${CRU:-}" ]; then
  (cd "$root" && cargo build --locked --release --features rows >&2)
  CRU="$root/target/release/cru"
fi
CRU="$(realpath "$CRU")"

PYTHON="$root/target/tables-venv/bin/python"
if ! "$PYTHON" -c 'import pyspark, pyarrow, duckdb, polars, pytest' 2> /dev/null; then
  echo "installing pyspark, pyarrow, duckdb, polars, pytest, ruff, mypy (PyPI)" >&2
  python3 -m venv "$root/target/tables-venv"
  "$PYTHON" -m pip install -q 'pyspark[sql]>=4.0' 'pandas<3' 'pyarrow>=15' duckdb polars pytest ruff mypy
fi
export PYTHONPATH="$root/python/src" CRU PYTHON PYSPARK_PYTHON="$PYTHON" SPARK_LOCAL_IP=127.0.0.1
