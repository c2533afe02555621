#!/usr/bin/env bash
# The Spark job on this machine with two workers: scripts/spark-example.sh [TRANSCRIPTS [OUT]]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup-tables.sh java
from="${1:-tests/corpus}"
out="${2:-target/tables}"
"$PYTHON" -m cru_spark --master 'local[2]' --cru "$CRU" "$from" "$out"
echo "tables in $out/v1"
