"""Opening a trace file safely: plain or gzip, by lines or blocks of lines, never more at once than asked for."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from netsim.errors import InputError
from netsim.traces import progress
from netsim.traces.limits import MAX_UNPACKED, MAX_UNPACKED_LINES

GZIP_MAGIC = b"\x1f\x8b"
BLOCK = 1 << 20  # bytes taken in at a time


def check_file(path: Path) -> None:
    """Refuse a path that is missing, a directory, not a regular file, or empty."""
    where = str(path)
    if path.is_dir():
        raise InputError("is a directory", where=where, hint="name the trace files inside it")
    if not path.exists():
        raise InputError("there is no such file", where=where, hint="check the path, or name a built-in trace")
    if not path.is_file():
        raise InputError("is not a regular file", where=where, hint="save the trace to a file first")
    with _plain_errors(path):
        if path.stat().st_size == 0:
            raise InputError("is empty", where=where, hint="check that the program that writes it has ended well")


def raw_lines(path: Path, limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, raw line with its end); a line longer than `limit` bytes comes in pieces of that length."""
    for number, block in blocks(path, max(limit, BLOCK)):
        lines = io.BytesIO(block)
        while piece := lines.readline(limit):
            yield number, piece
            number += piece.endswith(b"\n")


def text_lines(path: Path, longest: int, most: int, hint: str, errors: str = "replace") -> Iterator[tuple[int, str]]:
    """Yield (line number, text without space around it) of the lines of a text that hold something.

    InputError with `hint` where a line is longer than `longest` bytes or there are more than `most` lines.
    """
    for line, raw in raw_lines(path, longest):
        if line > most or (len(raw) == longest and not raw.endswith(b"\n")):
            what = f"is longer than {longest:,} bytes a line and {most:,} lines"
            raise InputError(what, where=f"{path}:{line}", hint=hint)
        try:
            text = raw.decode("utf-8-sig" if line == 1 else "utf-8", errors=errors).strip()
        except UnicodeDecodeError as error:
            what = f"byte {error.start + 1} of the line is not UTF-8"
            raise InputError(what, where=f"{path}:{line}", hint="save the file as UTF-8") from None
        if text:
            yield line, text


def content(path: Path, most: int, hint: str) -> bytes:
    """Read a whole file; InputError with `hint` where it is longer than `most` bytes."""
    data = bytearray()
    for _, block in blocks(path):
        data += block
        if len(data) > most:
            raise InputError(f"is longer than {most:,} bytes", where=str(path), hint=hint)
    return bytes(data)


def is_whole(text: str, digits: int = 19) -> bool:
    """Tell whether a text is a whole number of so many digits at most."""
    return text.isdecimal() and text.isascii() and len(text) <= digits


def blocks(path: Path, size: int = BLOCK) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, bytes): blocks that end with a line, or within one that is longer than `size`.

    Far faster than lines where most are of no interest: bytes can be searched in a whole block.
    """
    number, unpacked, rest = 1, 0, b""
    with _plain_errors(path), path.open("rb") as raw:
        stream, packed = _unpacking(raw)
        while read := stream.read(size):
            unpacked += len(read)
            progress.tell(path, raw.tell())
            _check_unpacked(path, packed, unpacked, number + read.count(b"\n"))
            read = rest + read
            end = read.rfind(b"\n") + 1 or (len(read) if len(read) > size else 0)
            rest = read[end:]
            if end:
                yield number, read[:end]
            number += read.count(b"\n", 0, end)
        if rest:
            yield number, rest


def _unpacking(raw: IO[bytes]) -> tuple[IO[bytes], bool]:
    """The bytes of a file, unpacked if need be, and whether it is packed."""
    packed = raw.read(2) == GZIP_MAGIC
    raw.seek(0)
    return cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if packed else raw, packed


def _check_unpacked(path: Path, packed: bool, unpacked: int, lines: int) -> None:
    if packed and (unpacked > MAX_UNPACKED or lines > MAX_UNPACKED_LINES):
        what = f"unpacks to more than {MAX_UNPACKED:,} bytes or {MAX_UNPACKED_LINES:,} lines"
        raise InputError(what, where=str(path), hint="unpack it yourself, or cut it into parts")


def head(path: Path, size: int = 1 << 16) -> bytes:
    """Read the first bytes of the (unpacked) file."""
    with _plain_errors(path), path.open("rb") as raw:
        return _unpacking(raw)[0].read(size)


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about a file into an InputError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file ({error})", where=str(path), hint="copy or pack it again") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise InputError(what, where=str(path), hint="check the path and its permissions") from error
