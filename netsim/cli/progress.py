"""The progress bar of a running simulation: on stderr, and only when a person is looking."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netsim.units import format_time

Progress = Callable[[int, float, int, int], None]  # (now_ps, collectives done, collectives in all, packet hops)


@contextmanager
def watching(name: str) -> Iterator[Progress | None]:
    """Give a function that `simulate` calls now and then; it draws simulated time, collectives, speed and time left."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("collectives  {task.fields[simulated]}  {task.fields[speed]}  left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True, refresh_per_second=5) as bar:
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
