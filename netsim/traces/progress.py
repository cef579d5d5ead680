"""Who wants to know how far the reading of a large file is; nobody unless a command line asks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

Watcher = Callable[[Path, int, int], None]  # (file, bytes of it that are read, bytes it has)

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let a function be told how far reading is, as long as the context lasts."""
    before = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(before)


def tell(path: Path, done: int) -> None:
    """Say how many bytes of a file, as it lies on the disk, are read."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(path, done, path.stat().st_size)
