"""The operations of a trace in brief."""

from netsim.traces import Trace


def sizes(trace: Trace) -> list[tuple[str, int]]:
    """What is sent, and its bytes."""
    return [(each.op, each.bytes) for each in trace.operations if each.op != "compute"]


def brief(trace: Trace) -> list[tuple[str, tuple[int, ...], int]]:
    """Everything, with its ranks and bytes."""
    return [(each.op, each.ranks, each.bytes) for each in trace.operations]
