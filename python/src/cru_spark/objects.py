"""Objects of a store: listed once, read in pieces by the workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pyarrow import fs

PIECE = 8 << 20
"""Bytes of an object that are in memory at once."""


@dataclass(frozen=True)
class StoredObject:
    """An object as a listing tells it; another size or time means that it changed."""

    uri: str
    size: int
    modified: int


def store(uri: str) -> tuple[fs.FileSystem, str, str]:
    """The store of a URI, the path in it, and what stands before the path in a URI."""
    if "://" not in uri:
        return fs.LocalFileSystem(), str(Path(uri).absolute()), ""
    system, path = fs.FileSystem.from_uri(uri)
    return system, path, uri[: len(uri) - len(path)] if uri.endswith(path) else uri.split("://")[0] + "://"


def listed(uri: str) -> list[StoredObject]:
    """The objects below a URI, by name."""
    system, path, prefix = store(uri)
    found = system.get_file_info(fs.FileSelector(path, recursive=True))
    files = [it for it in found if it.type == fs.FileType.File]
    objects = [StoredObject(prefix + it.path, it.size or 0, it.mtime_ns or 0) for it in files]
    return sorted(objects, key=lambda it: it.uri)


def pieces(uri: str) -> Iterator[bytes]:
    """The bytes of an object; one empty piece where it is empty, gone, or may not be read.

    Any other error of the store is raised, so that the engine tries again.
    """
    system, path, _ = store(uri)
    try:
        with system.open_input_stream(path) as source:
            piece = source.read(PIECE)
            yield piece
            while piece:
                piece = source.read(PIECE)
                if piece:
                    yield piece
    except (FileNotFoundError, PermissionError):
        yield b""
