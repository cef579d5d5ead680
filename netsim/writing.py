"""The one place that writes files: whole or not at all, and never over anything but a regular file.

Who reads a file meanwhile, or after a crash, finds the old one or the new one: it is written beside its place under
another name, and then renamed.
"""

import contextlib
import errno
import gzip
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from netsim.errors import InputError, NetsimError, RunError

LONGEST_DRAFT = 60  # characters of a name that its draft keeps: file systems take 255 bytes
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # no mistake of the user's
OTHERS = (  # what a path may name instead of a file or a folder
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISREG, "a file"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def check_file(path: Path) -> None:
    """Refuse a path where no file can be written, before the work is done and not after it.

    Only a regular file is ever replaced: a device, a pipe or a symbolic link stays what it is.
    """
    if "\0" in str(path):
        raise InputError("has a NUL in its name", where=repr(str(path)), hint="name a file without")
    with plain_errors(path):
        check_kind(path, stat.S_ISREG, "name a file")
        check_folder_of(path)


def check_kind(path: Path, is_right: object, hint: str) -> None:
    """Refuse a path that names something else than what is meant; nothing there is fine. May raise OSError."""
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not is_right(mode):  # type: ignore[operator]
        what = next((name for is_it, name in OTHERS if is_it(mode)), "a device")
        raise InputError(f"is {what}", where=str(path), hint=hint)


def is_folder(path: Path) -> bool:
    """Whether a folder is there; an error of one line for what the system cannot look up, as a name of 300 letters."""
    with plain_errors(path):
        return path.is_dir()


def check_folder_of(path: Path) -> None:
    """Refuse a path in a folder that is not there or cannot be written. May raise OSError."""
    above = path.absolute().parent
    if not stat.S_ISDIR(os.stat(above).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not os.access(above, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def written(path: Path, later: list[tuple[str, Path]] | None = None) -> Iterator[IO[bytes]]:
    """Give a stream to write a file by; it takes its place when all went well, and vanishes otherwise.

    With `later` it does not take its place yet: the draft is put there, with where it belongs.
    """
    check_file(path)
    with plain_errors(path):
        handle, draft = tempfile.mkstemp(prefix=f".{path.name[:LONGEST_DRAFT]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            os.chmod(draft, _usual_mode(path))
            if later is None:
                os.replace(draft, path)
            else:
                later.append((draft, path))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(draft)
            raise


def write_whole(path: Path, content: Iterable[bytes], later: list[tuple[str, Path]] | None = None) -> None:
    """Write pieces to a file, packed where the name ends in ".gz"; the same pieces give the same bytes."""
    with written(path, later) as stream:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0) as packed:
                for piece in content:
                    packed.write(piece)
        else:
            stream.writelines(content)


def write_together(files: Iterable[tuple[Path, Iterable[bytes]]]) -> list[Path]:
    """Write files that belong together, all of them or none, and say which."""
    drafts: list[tuple[str, Path]] = []
    try:
        for path, content in files:
            write_whole(path, content, drafts)
        for draft, path in drafts:
            with plain_errors(path):
                os.replace(draft, path)
    except BaseException:
        for draft, _ in drafts:
            with contextlib.suppress(OSError):
                os.unlink(draft)
        raise
    return [path for _, path in drafts]


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8; a letter that has no code there (of a file's name) becomes a question mark."""
    write_whole(path, [text.encode("utf-8", "replace")])


@contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about writing a path into an error of one line."""
    try:
        yield
    except OSError as error:
        raise unwritten(path, error) from None


def unwritten(path: Path, error: OSError) -> NetsimError:
    """What to say of a path that cannot be written: a full disk is no mistake of the user's."""
    what = f"cannot be written ({os.strerror(error.errno) if error.errno else error})"
    if error.errno in FULL:
        return RunError(what, where=str(path), hint="make room, or choose another disk")
    return InputError(what, where=str(path), hint="name a file in a folder that is there and may be written")


def _usual_mode(path: Path) -> int:
    """The permissions of the file that is replaced, or those that a new file gets; a temporary one is for the owner."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
