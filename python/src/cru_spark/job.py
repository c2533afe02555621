"""The job: scan what changed, join it to families, fold these, replace their rows."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkFiles, StorageLevel, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.pandas.types import from_arrow_schema

from cru_spark import objects as objects_module
from cru_spark import pipe as pipe_module
from cru_spark.objects import listed, pieces
from cru_spark.pipe import schema_of, through

LAYOUT = "v1"
BUCKETS = 256
TABLES = [
    "sessions",
    "phases",
    "steps",
    "messages",
    "decisions",
    "errors",
    "tasks",
    "subagents",
    "files",
    "tokens",
    "edges",
    "cases",
    "accounting",
]

SCAN_IN = pa.schema([("uri", pa.string()), ("bytes", pa.binary())])
FAMILY_IN = pa.schema([("uri", pa.string()), ("keys", pa.list_(pa.string()))])
FOLD_IN = pa.schema([("family", pa.int64()), ("uri", pa.string()), ("bytes", pa.binary())])
STATE = pa.schema(
    [
        ("uri", pa.string()),
        ("size", pa.int64()),
        ("modified", pa.int64()),
        ("keys", pa.list_(pa.string())),
        ("family", pa.int64()),
    ]
)
ENVELOPE = "table string, rows bigint, ipc binary"

Batches = Iterator[pa.RecordBatch]


@dataclass
class Result:
    """What a run did."""

    objects: int = 0
    scanned: int = 0
    families: int = 0
    folded: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def json(self) -> str:
        """The same as one line of JSON."""
        return json.dumps(self.__dict__)


def worker_binary(name: str) -> str:
    """Where Spark laid the program that `--files` ships."""
    return str(SparkFiles.get(name))


def scanner(name: str) -> Callable[[Batches], Batches]:
    """Gives, for batches of `uri`, what `cru rows scan` says of the objects."""

    def scan(batches: Batches) -> Batches:
        def read() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for uri in batch.column("uri").to_pylist():
                    for piece in pieces(uri):
                        yield pa.record_batch([[uri], [piece]], schema=SCAN_IN)

        yield from through(worker_binary(name), ["scan"], SCAN_IN, read())

    return scan


def folder(name: str) -> Callable[[Batches], Batches]:
    """Gives, for batches of `family, uri` in this order, the rows of all tables in envelopes."""

    def fold(batches: Batches) -> Batches:
        def read() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for row in batch.to_pylist():
                    for piece in pieces(row["uri"]):
                        yield pa.record_batch([[row["family"]], [row["uri"]], [piece]], schema=FOLD_IN)

        yield from through(worker_binary(name), ["fold"], FOLD_IN, read())

    return fold


def opened(batches: Batches) -> Batches:
    """The rows in envelopes."""
    for batch in batches:
        for packed in batch.column("ipc"):
            yield from pa.ipc.open_stream(packed.as_buffer())


def families(cru: str, scanned: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """The family of each object. One process joins all: a billion keys are a matter of its memory."""
    found: dict[str, int] = {}
    for batch in through(cru, ["families"], FAMILY_IN, scanned):
        found.update(zip(batch.column("uri").to_pylist(), batch.column("family").to_pylist(), strict=True))
    return found


def rows_of(spark: SparkSession, envelopes: DataFrame, table: str, schema: pa.Schema) -> DataFrame:
    """The rows of one table."""
    packed = envelopes.filter(sql.col("table") == table).select("ipc")
    return packed.mapInArrow(opened, from_arrow_schema(schema)).withColumn(
        "bucket", sql.col("family") % BUCKETS
    )


def replace(spark: SparkSession, new: DataFrame, path: str, dropped: DataFrame) -> None:
    """Replaces the rows of the `dropped` families by `new` ones, in the partitions they stand in."""
    key = ["day", "bucket"]
    emptied = []
    if any(Path(path).rglob("*.parquet")):
        old = spark.read.schema(new.schema).parquet(path)
        hit = old.join(sql.broadcast(dropped), "family", "left_semi").select(*key)
        parts = hit.union(new.select(*key)).distinct().persist(StorageLevel.DISK_ONLY)
        kept = old.join(sql.broadcast(parts), key, "left_semi")
        kept = kept.join(sql.broadcast(dropped), "family", "left_anti").select(*new.columns)
        new = new.unionByName(kept)
        emptied = parts.join(new.select(*key).distinct(), key, "left_anti").collect()
    ordered = new.repartition(*key).sortWithinPartitions(*key, "family", "session_uid")
    ordered.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").option(
        "compression", "zstd"
    ).partitionBy(*key).parquet(path)
    for row in emptied:
        folder_of = Path(path) / f"day={row['day']}" / f"bucket={row['bucket']}"
        for file in folder_of.glob("*"):
            file.unlink()


def run(spark: SparkSession, source: str, out: str, cru: str, partitions: int = 8, seed: int = 0) -> Result:
    """Brings the tables in `out` up to date with the objects below `source`.

    `seed` changes which partition a family falls into, and nothing else.
    """
    result, clock = Result(), time.monotonic()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.monotonic()
        result.seconds[name] = round(now - clock, 2)
        clock = now

    # Workers need this package no more than they need cru: both come with the job.
    for module in (objects_module, pipe_module, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    spark.sparkContext.addFile(cru)
    name = Path(cru).name
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "256")
    state = Path(out) / LAYOUT / "_scan"
    objects = {it.uri: it for it in listed(source)}
    known = {row["uri"]: row for row in _read(state)}
    same = {
        uri
        for uri, it in objects.items()
        if uri in known and (known[uri]["size"], known[uri]["modified"]) == (it.size, it.modified)
    }
    changed = sorted(objects.keys() - same)
    lap("list")

    todo = spark.createDataFrame([(uri,) for uri in changed], "uri string")
    scan_schema = schema_of(cru, ["scan"], SCAN_IN)
    todo = todo.repartition(partitions, sql.xxhash64("uri", sql.lit(seed)))
    scanned = todo.mapInArrow(scanner(name), from_arrow_schema(scan_schema)).toArrow() if changed else None
    rows = {row["uri"]: row for row in (scanned.to_pylist() if scanned is not None else [])}
    keys = {uri: rows[uri]["keys"] if uri in rows else known[uri]["keys"] for uri in sorted(objects)}
    lap("scan")

    family = families(cru, _key_batches(keys))
    old_family = {uri: row["family"] for uri, row in known.items()}
    moved = {uri for uri in objects if uri in old_family and old_family[uri] != family[uri]}
    gone = known.keys() - objects.keys()
    hit = set(changed) | moved
    torn = {old_family[uri] for uri in gone}
    fold_now = {family[uri] for uri in objects if uri in hit or old_family.get(uri) in torn}
    dropped = fold_now | {old_family[uri] for uri in (hit | gone) if uri in old_family}
    lap("families")

    members = [(family[uri], uri) for uri in sorted(objects) if family[uri] in fold_now]
    order = spark.createDataFrame(members, "family bigint, uri string")
    order = order.repartition(partitions, sql.xxhash64("family", sql.lit(seed)))
    order = order.sortWithinPartitions("family", "uri")
    envelopes = order.mapInArrow(folder(name), ENVELOPE).persist(StorageLevel.DISK_ONLY)
    if dropped:
        counts = envelopes.groupBy("table").agg(sql.sum("rows").alias("rows")).collect()
        result.rows = {row["table"]: row["rows"] for row in counts}
    lap("fold")

    dropped_frame = spark.createDataFrame([(it,) for it in sorted(dropped)], "family bigint")
    for table in TABLES if dropped else []:
        schema = schema_of(cru, ["fold", "--table", table], FOLD_IN)
        new = rows_of(spark, envelopes, table, schema)
        path = str(Path(out) / LAYOUT / table)
        replace(spark, new, path, dropped_frame)
    envelopes.unpersist()
    _write(
        state,
        [
            {"uri": uri, "size": it.size, "modified": it.modified, "keys": keys[uri], "family": family[uri]}
            for uri, it in sorted(objects.items())
        ],
    )
    lap("write")
    result.objects, result.scanned = len(objects), len(changed)
    result.families, result.folded = len(set(family.values())), len(fold_now)
    return result


def _key_batches(keys: dict[str, list[str]]) -> Iterator[pa.RecordBatch]:
    table = pa.table([list(keys), list(keys.values())], schema=FAMILY_IN)
    yield from table.to_batches(max_chunksize=4096)


def _read(path: Path) -> list[dict[str, Any]]:
    """The objects of the run before, with their families."""
    file = path / "objects.parquet"
    return list(pq.read_table(file).to_pylist()) if file.exists() else []


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=STATE), path / "objects.parquet", compression="zstd")
