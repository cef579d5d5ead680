"""The progress bars of a long read and of a running simulation: on stderr, and only when a person is looking."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from netsim.units import format_time

Progress = Callable[[int, float, int, int], None]  # (now_ps, collectives done, collectives in all, packet hops)


def bar_of(*between: Any) -> Any:
    """A bar on stderr that vanishes at its end: what is done, the bar, columns of rich, and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), *between, TimeRemainingColumn())
    return Bar(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def watching(name: str) -> Iterator[Progress | None]:
    """Give a function that `simulate` calls now and then; it draws simulated time, collectives, speed and time left."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import MofNCompleteColumn

    text = "collectives  {task.fields[simulated]}  {task.fields[speed]}  left"
    with bar_of(MofNCompleteColumn(), text) as bar:
        task = bar.add_task(name, total=None, simulated="planning", speed="")
        began, before = 0.0, 0  # at the first word: planning and routing come before it

        def show(now_ps: int, done: float, total: int, packet_hops: int) -> None:
            nonlocal began, before
            if not began:
                began, before = time.perf_counter(), packet_hops
            seconds = max(time.perf_counter() - began, 1e-9)
            speed = f"{(packet_hops - before) / seconds / 1e6:,.1f} M packet-hops/s"
            bar.update(task, completed=done, total=total, simulated=format_time(now_ps), speed=speed)

        yield show


@contextmanager
def counting_up(what: str, noun: str) -> Iterator[Callable[[int], None]]:
    """Give a function that takes how many there are so far, of what ends nobody knows when."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(what) as status:
        yield lambda count: status.update(f"{what}: {count:,} {noun}")


LARGE = 8 << 20  # bytes of a file; smaller ones are read before a bar could be drawn


@contextmanager
def reading() -> Iterator[None]:
    """Draw how far the reading of large files is, as long as the context lasts."""
    if not sys.stderr.isatty():
        yield
        return
    from netsim.traces.progress import watched_by

    with ExitStack() as stack:
        stack.enter_context(watched_by(_FileBar(stack)))
        yield


class _FileBar:
    """The bar of the file that is being read; it appears with the first large one."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack, self.path = stack, Path()
        self.bar: Any = None
        self.task: Any = None

    def __call__(self, path: Path, done: int, total: int) -> None:
        if total < LARGE:
            return
        if self.bar is None:
            from rich.progress import DownloadColumn, TransferSpeedColumn

            self.bar = self.stack.enter_context(bar_of(DownloadColumn(), TransferSpeedColumn(), "left"))
        if path != self.path:
            self.path = path
            if self.task is not None:
                self.bar.remove_task(self.task)
            self.task = self.bar.add_task(f"reading {path.name}", total=total)
        self.bar.update(self.task, completed=done)
