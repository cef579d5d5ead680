"""Writing a file whole or not at all: who reads it meanwhile, or after a crash, finds the old one or the new one."""

from __future__ import annotations

import contextlib
import gzip
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from netsim.errors import InputError


def write_whole(path: Path, content: Iterable[bytes]) -> None:
    """Write pieces to a file, packed where the name ends in ".gz"; the same pieces give the same bytes."""
    try:
        if path.exists() and not path.is_file():  # a device or a pipe is no place to rename to
            with path.open("wb") as stream:
                _put(stream, path, content)
            return
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                _put(stream, path, content)
            Path(temporary).chmod(_usual_mode(path))
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        mend = "choose a path in a folder that exists and may be written"
        raise InputError(what, where=str(path), mend=mend) from error


def _put(stream: IO[bytes], path: Path, content: Iterable[bytes]) -> None:
    if path.suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
            for piece in content:
                packed.write(piece)
    else:
        stream.writelines(content)


def _usual_mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets; a temporary one is for the owner."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
