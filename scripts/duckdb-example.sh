#!/usr/bin/env bash
# Parquet of the transcripts of this machine, asked with DuckDB: scripts/duckdb-example.sh [TRANSCRIPTS]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup-tables.sh
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
"$CRU" export parquet "$out" "${1:-tests/corpus}"
"$PYTHON" - "$out" << 'PY'
import sys

import duckdb

steps = f"read_parquet('{sys.argv[1]}/v1/steps/**/*.parquet', hive_partitioning = true)"
print(
    duckdb.sql(
        f"""select agent, strftime(time, '%Y-%m') as month, count(*) as failed,
                   quantile_disc(duration_ms, 0.95) as p95_ms
            from {steps} where status = 'failed' and duration_ms is not null
            group by all order by all"""
    )
)
PY
