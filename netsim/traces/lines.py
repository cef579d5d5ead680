"""Opening a trace file safely: plain or gzip, line by line, never more of a line than asked for."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from netsim.errors import InputError
from netsim.traces.limits import MAX_UNPACKED, MAX_UNPACKED_LINES

GZIP_MAGIC = b"\x1f\x8b"


def check_file(path: Path) -> None:
    """Refuse a path that is missing, a directory, not a regular file, or empty."""
    where = str(path)
    if path.is_dir():
        raise InputError("is a directory", where=where, mend="name the trace files inside it")
    if not path.exists():
        raise InputError("there is no such file", where=where, mend="check the path, or name a shipped trace")
    if not path.is_file():
        raise InputError("is not a regular file", where=where, mend="save the trace to a file first")
    with _plain_errors(path):
        if path.stat().st_size == 0:
            raise InputError("is empty", where=where, mend="check that the program that writes it has ended well")


def pieces(path: Path, limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, raw line with its end); a line longer than `limit` bytes comes in pieces of that length."""
    number, unpacked = 1, 0
    with _plain_errors(path), path.open("rb") as raw:
        packed = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        stream = cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw
        while piece := stream.readline(limit):
            unpacked += len(piece)
            if packed and (unpacked > MAX_UNPACKED or number > MAX_UNPACKED_LINES):
                what = f"unpacks to more than {MAX_UNPACKED:,} bytes or {MAX_UNPACKED_LINES:,} lines"
                raise InputError(what, where=str(path), mend="unpack it yourself, or cut it into parts")
            yield number, piece
            number += piece.endswith(b"\n")


def head(path: Path, size: int = 1 << 16) -> bytes:
    """Read the first bytes of the (unpacked) file."""
    with _plain_errors(path), path.open("rb") as raw:
        packed = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        return gzip.GzipFile(fileobj=raw).read(size) if packed else raw.read(size)


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about a file into an InputError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file ({error})", where=str(path), mend="copy or pack it again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, where=str(path), mend="check the path and its permissions") from error
