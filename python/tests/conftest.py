"""What the tests share: the program, an engine with two workers, and transcripts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from cru_spark.job import FAMILY_IN, FOLD_IN, SCAN_IN, TABLES
from cru_spark.objects import listed, pieces
from cru_spark.pipe import through

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def cru() -> str:
    """`CRU`, else what cargo built with the feature `rows`."""
    found = os.environ.get("CRU") or shutil.which("cru", path=f"{ROOT}/target/release:{ROOT}/target/debug")
    assert found, "build it: cargo build --features rows"
    return str(Path(found).absolute())


@pytest.fixture(scope="session")
def transcripts() -> Path:
    """`CRU_TEST_TRANSCRIPTS`, else the corpus of the project."""
    return Path(os.environ.get("CRU_TEST_TRANSCRIPTS", ROOT / "tests" / "corpus"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Two workers that try a task four times."""
    builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.host", "127.0.0.1")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


Rows = dict[str, list[str]]


def one_machine(cru: str, source: Path) -> Rows:
    """The tables of all objects below `source`, by one process after the other."""
    uris = [it.uri for it in listed(str(source))]
    given = (pa.record_batch([[uri], [piece]], schema=SCAN_IN) for uri in uris for piece in pieces(uri))
    scanned = pa.Table.from_batches(through(cru, ["scan"], SCAN_IN, given)).select(["uri", "keys"])
    joined = pa.Table.from_batches(
        through(cru, ["families"], FAMILY_IN, scanned.cast(FAMILY_IN).to_batches())
    )
    order = sorted(zip(joined["family"].to_pylist(), joined["uri"].to_pylist(), strict=True))
    whole = [
        pa.record_batch([[family], [uri], [piece]], schema=FOLD_IN)
        for family, uri in order
        for piece in pieces(uri)
    ]
    rows: Rows = {table: [] for table in TABLES}
    for envelope in through(cru, ["fold"], FOLD_IN, whole):
        for table, packed in zip(envelope["table"].to_pylist(), envelope["ipc"], strict=True):
            rows[table] += as_text(pa.ipc.open_stream(packed.as_buffer()).read_all())
    return {table: sorted(found) for table, found in rows.items()}


def as_text(table: pa.Table) -> list[str]:
    """Rows as text that is the same for the same values."""
    names = sorted(table.column_names)
    return [repr([(name, row[name]) for name in names]) for row in table.to_pylist()]
