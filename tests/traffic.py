"""Traces for the tests: one collective, or flows that all start together."""

from collections.abc import Iterable

from netsim import Operation, Trace


def flows(ranks: int, pairs: Iterable[tuple[int, int]], size: int) -> Trace:
    """Each pair (source, target) gets a flow of `size` bytes."""
    matrix = tuple((source, target, size) for source, target in pairs)
    operation = Operation("flows", None, tuple(range(ranks)), size * len(matrix), flows=matrix)
    return Trace("flows", ranks, {}, (operation,))


def collective(op: str, ranks: int, size: int, algorithm: str | None = None, root: int = 0) -> Trace:
    """All ranks call one collective on a buffer of `size` bytes."""
    operation = Operation(op, "world", tuple(range(ranks)), size, root=root, algorithm=algorithm)
    return Trace(op, ranks, {}, (operation,))
