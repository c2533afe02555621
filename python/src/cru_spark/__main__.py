"""`cru-spark SOURCE OUT`: the job on the command line, on this machine or where `spark-submit` says."""

from __future__ import annotations

import argparse
import shutil
import sys

from pyspark.sql import SparkSession

from cru_spark.job import run


def main() -> int:
    """Runs the job and prints what it did as a line of JSON."""
    parser = argparse.ArgumentParser(prog="cru-spark", description=__doc__)
    parser.add_argument("source", help="a folder, or a URI that pyarrow.fs reads")
    parser.add_argument("out", help="the folder of the tables; a second run brings them up to date")
    parser.add_argument("--cru", default=shutil.which("cru"), help="a cru with the feature `rows`")
    parser.add_argument("--master", help="where to run, `local[2]`; else what spark-submit says")
    parser.add_argument("--partitions", type=int, default=8, help="tasks of a stage")
    parser.add_argument("--seed", type=int, default=0, help="another distribution of the families")
    args = parser.parse_args()
    if not args.cru:
        parser.error("no cru in PATH; name one with --cru")
    builder = SparkSession.builder.appName("cru-spark").config(
        "spark.sql.shuffle.partitions", str(args.partitions)
    )
    builder = builder.config("spark.ui.enabled", "false")
    if args.master:
        builder = builder.master(args.master)
    spark = builder.getOrCreate()
    try:
        result = run(spark, args.source, args.out, args.cru, args.partitions, args.seed)
    finally:
        spark.stop()
    print(result.json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
