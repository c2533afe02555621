"""One process of `cru rows` between two iterators of Arrow batches."""

from __future__ import annotations

import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator

import pyarrow as pa


class CruError(RuntimeError):
    """`cru` ended with an error; the message is what it said."""


def through(
    cru: str, verb: list[str], schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Sends `batches` to `cru rows VERB` and gives what comes back, while more is sent.

    Errors: `CruError` where cru fails; an error of `batches` is raised as it is.
    """
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [cru, "--color", "never", "rows", *verb],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        failed: list[BaseException] = []

        def feed() -> None:
            assert process.stdin is not None
            try:
                with process.stdin as sink, pa.ipc.new_stream(sink, schema) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
            except BrokenPipeError:
                pass  # What cru said tells why.
            except BaseException as error:
                failed.append(error)
                process.kill()

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            assert process.stdout is not None
            try:
                with pa.ipc.open_stream(process.stdout) as reader:
                    yield from reader
            except pa.ArrowInvalid as error:
                # A stream that ends early is told by the exit code.
                broken: Exception | None = error
            else:
                broken = None
        except BaseException:
            process.kill()
            raise
        feeder.join()
        code = process.wait()
        if failed:
            raise failed[0]
        if code != 0:
            said.seek(0)
            raise CruError(said.read().decode(errors="replace").strip() or f"cru ended with {code}")
        if broken is not None:
            raise broken


def schema_of(cru: str, verb: list[str], schema: pa.Schema) -> pa.Schema:
    """The schema of what `cru rows VERB` gives."""
    sink = pa.BufferOutputStream()
    pa.ipc.new_stream(sink, schema).close()
    done = subprocess.run(
        [cru, "rows", *verb], input=sink.getvalue().to_pybytes(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise CruError(done.stderr.decode(errors="replace").strip())
    return pa.ipc.open_stream(done.stdout).schema
