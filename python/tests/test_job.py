"""The tables that Spark makes are those of one machine, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pytest
from conftest import Rows, as_text, one_machine
from pyspark import TaskContext
from pyspark.sql import SparkSession

from cru_spark import job
from cru_spark.job import TABLES, run
from cru_spark.pipe import CruError, through


def written(spark: SparkSession, out: Path) -> Rows:
    """What stands in the files, without the column of the layout."""
    rows: Rows = {}
    for table in TABLES:
        path = out / "v1" / table
        frame = spark.read.parquet(str(path)).drop("bucket") if any(path.rglob("*.parquet")) else None
        rows[table] = sorted(as_text(frame.toArrow())) if frame is not None else []
    return rows


def same(found: Rows, wanted: Rows) -> None:
    """Fails with the name of the first table that differs."""
    for table in TABLES:
        assert len(found[table]) == len(wanted[table]), table
        assert found[table] == wanted[table], table


@pytest.fixture(scope="session")
def alone(cru: str, transcripts: Path) -> Rows:
    """The tables of one machine."""
    return one_machine(cru, transcripts)


@pytest.mark.parametrize(("seed", "partitions"), [(1, 3), (2, 8), (3, 13)])
def test_any_distribution_gives_the_tables_of_one_machine(
    spark: SparkSession, cru: str, transcripts: Path, alone: Rows, tmp_path: Path, seed: int, partitions: int
) -> None:
    result = run(spark, str(transcripts), str(tmp_path), cru, partitions, seed)
    print(result.json())
    assert result.families < result.objects, "some objects belong together"
    same(written(spark, tmp_path), alone)


def test_what_is_broken_is_named_and_changes_nothing_else(
    spark: SparkSession, cru: str, transcripts: Path, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    shutil.copytree(transcripts, source)
    before = one_machine(cru, source)
    count = max(1, sum(1 for it in source.rglob("*") if it.is_file()) // 100)
    broken = [source / "claude" / f"broken-{at}.jsonl" for at in range(count)]
    for at, path in enumerate(broken):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(
            [b"\x00\xff" * 5000, b'{"type":"user","message"', b"\x28\xb5\x2f\xfd\xff\xff"][at % 3]
        )
    run(spark, str(source), str(tmp_path / "out"), cru)
    after = written(spark, tmp_path / "out")
    names = [f"'uri', '{path}'" for path in broken]
    mine = [row for row in after["accounting"] if any(name in row for name in names)]
    assert len(mine) == len(broken)
    assert not any("'outcome', 'read'" in row for row in mine)
    after["accounting"] = [row for row in after["accounting"] if row not in mine]
    same(after, before)


def test_a_task_that_dies_is_done_again(
    spark: SparkSession,
    cru: str,
    transcripts: Path,
    alone: Rows,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = job.folder

    def dying(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        fold = real(name)

        def once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            context = TaskContext.get()
            assert context is not None
            for at, batch in enumerate(fold(batches)):
                if context.attemptNumber() == 0 and context.partitionId() % 2 == 0 and at == 2:
                    os._exit(137)
                yield batch

        return once

    monkeypatch.setattr(job, "folder", dying)
    run(spark, str(transcripts), str(tmp_path), cru)
    same(written(spark, tmp_path), alone)


def test_a_second_run_folds_what_changed(
    spark: SparkSession, cru: str, transcripts: Path, tmp_path: Path
) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(transcripts, source)
    first = run(spark, str(source), str(out), cru)
    again = run(spark, str(source), str(out), cru)
    assert (again.scanned, again.folded) == (0, 0)
    lines = sorted(it for it in source.rglob("*.jsonl") if it.stat().st_size > 2000)[:10]
    # One is gone, the others lose their last record.
    lines[0].unlink()
    for path in lines[1:]:
        kept = path.read_bytes().rstrip(b"\n").rsplit(b"\n", 1)[0]
        path.write_bytes(kept + b"\n")
    second = run(spark, str(source), str(out), cru)
    print(first.json(), second.json())
    assert second.scanned == len(lines) - 1
    assert second.folded <= len(lines) < first.folded
    same(written(spark, out), one_machine(cru, source))


def test_readers_agree(spark: SparkSession, cru: str, transcripts: Path, tmp_path: Path) -> None:
    run(spark, str(transcripts), str(tmp_path), cru)
    files = f"{tmp_path}/v1/steps/**/*.parquet"
    question = "select agent, count(*) from steps where status = 'failed' group by agent order by agent"
    duck = duckdb.sql(
        question.replace("steps where", f"read_parquet('{files}', hive_partitioning=true) where")
    )
    asked = polars.scan_parquet(files, hive_partitioning=True).filter(polars.col("status") == "failed")
    polar = asked.group_by("agent").len().sort("agent", nulls_last=True).collect().rows()
    spark.read.parquet(f"{tmp_path}/v1/steps").createOrReplaceTempView("steps")
    sparks = [tuple(row) for row in spark.sql(question.replace("by agent", "by agent", 1)).collect()]
    assert duck is not None
    assert sorted(duck.fetchall(), key=repr) == sorted(polar, key=repr) == sorted(sparks, key=repr)


def test_an_error_of_cru_is_told(cru: str) -> None:
    schema = pa.schema([("family", pa.int64()), ("uri", pa.string()), ("bytes", pa.binary())])
    rows = [pa.record_batch([[1, 2, 1], ["a", "b", "c"], [b"", b"", b""]], schema=schema)]
    with pytest.raises(CruError, match="do not follow one another"):
        list(through(cru, ["fold"], schema, rows))
