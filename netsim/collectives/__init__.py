"""Collectives: a wish (all-reduce 64 MiB among 8 ranks) becomes a schedule of chunk flows. No time, no network.

To add an algorithm write a function from Wish to Schedule and give it a line in ALGORITHMS; the tests run over it.
"""

from collections.abc import Callable

from netsim.collectives import all_to_all, direct, msccl, ring, tree
from netsim.collectives.checking import check, depths
from netsim.collectives.layout import Layout
from netsim.collectives.schedule import Schedule
from netsim.collectives.table import columns
from netsim.collectives.wish import Wish
from netsim.errors import InputError, nearest

Algorithm = Callable[[Wish], Schedule]

ALGORITHMS: dict[str, dict[str, Algorithm]] = {
    "all_reduce": {"ring": ring.all_reduce, "tree": tree.all_reduce},
    "all_gather": {"ring": ring.all_gather},
    "reduce_scatter": {"ring": ring.reduce_scatter},
    "broadcast": {"ring": ring.broadcast, "tree": tree.broadcast},
    "reduce": {"ring": ring.reduce, "tree": tree.reduce},
    "all_to_all": {"pairwise": all_to_all.all_to_all},
    "all_to_all_v": {"pairwise": all_to_all.all_to_all_v},
    "gather": {"direct": direct.gather},
    "scatter": {"direct": direct.scatter},
    "barrier": {"dissemination": direct.barrier},
    "send": {"direct": direct.send},
    "flows": {"direct": direct.flows},
}
"""Every operation and the algorithms for it; the first is the one taken when none is named."""


def plan(wish: Wish, algorithm: str | None = None) -> Schedule:
    """The schedule of a wish, checked; raises InputError for an unknown operation or algorithm.

    An algorithm is a name in ALGORITHMS or the path of an MSCCL file, whose name ends in ".xml"; sizes that the file is
    not for take the algorithm that is taken when none is named, and a warning.

    >>> schedule = plan(Wish(op="all_reduce", ranks=4, bytes=1000))
    >>> int(schedule.bytes.sum())  # 2 (n - 1) times the buffer crosses the ring
    6000
    """
    known = ALGORITHMS.get(wish.op)
    if known is None:
        raise InputError(f"unknown operation {wish.op!r}", where="collective", mend=nearest(wish.op, ALGORITHMS))
    first = next(iter(known))
    name = first if algorithm is None else algorithm
    check_name(wish.op, name)
    if name not in known and not msccl.takes(wish, name, instead=first):
        name = first
    schedule = known[name](wish) if name in known else msccl.schedule(wish, name)
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
    raise InputError(f"unknown algorithm {name!r}", where=op, mend=nearest(name, known))


__all__ = ["ALGORITHMS", "Algorithm", "Layout", "Schedule", "Wish", "check", "check_name", "columns", "depths", "plan"]
