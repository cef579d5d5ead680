"""All-to-alls whose ranks send different sizes to their peers: the matrix out of what each rank tells."""

from __future__ import annotations

from netsim.errors import InputError
from netsim.traces.joining.communicators import Missing
from netsim.traces.joining.reports import Call
from netsim.traces.limits import MAX_CELLS
from netsim.traces.trace import Sizes


def matrix(calls: dict[int, Call], size: int, absent: Missing) -> Sizes:
    """Give what the i-th member sends to the j-th; a rank without sizes sends the same to all.

    Ranks that are not seen send as the first seen one does, turned by their distance to it, where the user wants
    missing ranks filled in; else they send nothing.
    """
    if size * size > MAX_CELLS:
        what = f"an all-to-all of different sizes among {size:,} ranks is too large"
        raise InputError(what, hint="take a part of the job")
    rows = {rank: call.row or (call.bytes // size,) * size for rank, call in calls.items()}
    first = min(rows)
    turned = rows[first] if absent is Missing.FILL else (0,) * size
    twice = turned * 2
    starts = (-(rank - first) % size for rank in range(size))
    return tuple(rows.get(rank) or twice[start : start + size] for rank, start in enumerate(starts))
