"""Collectives: a request (all-reduce 64 MiB among 8 ranks) becomes a schedule of chunk flows. No time, no network.

To add an algorithm write a function from Request to Schedule and give it a line in ALGORITHMS; the tests run over it.
"""

from collections.abc import Callable

from netsim.collectives import all_to_all, bruck, direct, msccl, recursive, ring, tree
from netsim.collectives.checking import check, depths
from netsim.collectives.layout import Layout
from netsim.collectives.request import Request
from netsim.collectives.schedule import Schedule
from netsim.errors import InputError, nearest

Algorithm = Callable[[Request], Schedule]

ALGORITHMS: dict[str, dict[str, Algorithm]] = {
    "all_reduce": {
        "ring": ring.all_reduce,
        "tree": tree.all_reduce,
        "recursive_doubling": recursive.recursive_doubling,
        "halving_doubling": recursive.halving_doubling,
    },
    "all_gather": {"ring": ring.all_gather, "bruck": bruck.all_gather},
    "reduce_scatter": {"ring": ring.reduce_scatter},
    "broadcast": {"ring": ring.broadcast, "tree": tree.broadcast},
    "reduce": {"ring": ring.reduce, "tree": tree.reduce},
    "all_to_all": {"pairwise": all_to_all.all_to_all, "bruck": bruck.all_to_all},
    "all_to_all_v": {"pairwise": all_to_all.all_to_all_v},
    "gather": {"direct": direct.gather},
    "scatter": {"direct": direct.scatter},
    "barrier": {"dissemination": direct.barrier},
    "send": {"direct": direct.send},
    "flows": {"direct": direct.flows},
}
"""Every operation and the algorithms for it; the first is the one taken when none is named."""


def plan(request: Request, algorithm: str | None = None) -> Schedule:
    """The schedule of a request, checked; raises InputError for an unknown operation or algorithm.

    An algorithm is a name in ALGORITHMS or the path of an MSCCL file, whose name ends in ".xml"; sizes that the file is
    not for take the algorithm that is taken when none is named, and a warning.

    >>> schedule = plan(Request(op="all_reduce", ranks=4, bytes=1000))
    >>> int(schedule.bytes.sum())  # 2 (n - 1) times the buffer crosses the ring
    6000
    """
    known = ALGORITHMS.get(request.op)
    if known is None:
        raise InputError(f"unknown operation {request.op!r}", where="collective", hint=nearest(request.op, ALGORITHMS))
    first = next(iter(known))
    name = first if algorithm is None else algorithm
    check_name(request.op, name)
    if name not in known and not msccl.takes(request, name, instead=first):
        name = first
    schedule = known[name](request) if name in known else msccl.schedule(request, name)
    check(schedule)
    return schedule


def check_name(op: str, name: str) -> None:
    """Raise InputError if an operation has no algorithm of this name, and it is no MSCCL file (`my.xml`) either."""
    known = ALGORITHMS.get(op, {})
    if name in known:
        return
    if msccl.is_file(name):
        msccl.load(name, op)
        return
    raise InputError(f"unknown algorithm {name!r}", where=op, hint=nearest(name, known))


__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Layout",
    "Schedule",
    "Request",
    "check",
    "check_name",
    "depths",
    "plan",
]
