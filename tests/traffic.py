"""Traces for the tests, of one collective or of flows that all start together, and operations of one or two ranks."""

from typing import Any

from netsim import Operation, Trace
from netsim.simulation.job import Rank
from netsim.validate.bench import matrix

flows = matrix  # of pairs (source, target), which get so many bytes each


def collective(op: str, ranks: int, size: int, algorithm: str | None = None, root: int = 0) -> Trace:
    """All ranks call one collective on a buffer of `size` bytes."""
    operation = Operation(op, "world", tuple(range(ranks)), size, root=root, algorithm=algorithm)
    return Trace(op, ranks, {}, (operation,))


def send(source: int, target: int, size: int = 4096, **more: Any) -> Operation:
    return Operation("send", None, (source, target), size, src=source, dst=target, **more)


def compute(rank: int, duration_ps: int, **more: Any) -> Operation:
    return Operation("compute", None, (rank,), duration_ps=duration_ps, **more)


def job(rank: Rank) -> Any:
    """Of 16 ranks half come late."""
    if rank.number >= 8:
        yield rank.compute("20us")
    yield rank.all_reduce("256KiB")
    yield rank.all_gather("1MiB")
