"""How many of a known number of runs are done, and how long the rest will take: a bar for people, lines for a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from netsim.cli.progress import bar_of

QUIET_SECONDS = 2.0  # before anything is said where no bar is drawn
BETWEEN_SECONDS = 10.0  # and between two lines


@contextmanager
def finishing(total: int, noun: str) -> Iterator[Callable[[object], None]]:
    """Give a function to call whenever one of `total` things is done; how many are, and how long the rest will take.

    A bar where a person looks; else a line now and then, for the log of a long study.
    """
    if not sys.stderr.isatty():
        yield _Lines(total, noun)
        return
    from rich.progress import MofNCompleteColumn, TimeElapsedColumn

    with bar_of(MofNCompleteColumn(), TimeElapsedColumn(), "left") as bar:
        task = bar.add_task(noun, total=total)
        yield lambda _: bar.advance(task)


class _Lines:
    """Progress for a log: "12 of 24 runs done, about 30 s left"."""

    def __init__(self, total: int, noun: str) -> None:
        self.total, self.noun, self.done = total, noun, 0
        self.first = 0.0  # when the first was done: the start of processes comes before it
        self.next = time.monotonic() + QUIET_SECONDS

    def __call__(self, _: object) -> None:
        self.done += 1
        now = time.monotonic()
        self.first = self.first or now
        if now < self.next or not 1 < self.done < self.total:
            return
        self.next = now + BETWEEN_SECONDS
        left = (now - self.first) / (self.done - 1) * (self.total - self.done)
        sys.stderr.write(f"netsim: {self.done:,} of {self.total:,} {self.noun} done, about {_duration(left)} left\n")


def _duration(seconds: float) -> str:
    """Wall-clock time in the largest unit that fits: "30 s", "12 min", "3.5 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
