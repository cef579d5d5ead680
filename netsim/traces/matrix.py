"""Matrices of flows: those that start at their own time, and those that wait for others."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from netsim.errors import InputError
from netsim.traces.fields import Fields
from netsim.traces.limits import MAX_CELLS, MAX_CHANNEL
from netsim.traces.trace import Flows, Operation, Turn

EXAMPLE = "[[0, 8, 2000000], [1, 9, 2000000]]"
KEYS = ("src", "dst", "bytes", "start", "after", "channel")

Member = tuple[int, int]  # a rank, and the time in ps from which it starts flows
Slot = int  # 2 * flow for the flow's source, 2 * flow + 1 for its target


def matrix(flows: Flows, turns: Sequence[Turn]) -> dict[str, Any]:
    """Give the keyword arguments of Operation for a matrix; turns that say nothing are left out."""
    touched = sorted({rank for source, target, _ in flows for rank in (source, target)})
    recorded = tuple(turns) if any(turn != Turn() for turn in turns) else ()
    size = sum(flow[2] for flow in flows)
    return {"group": None, "ranks": tuple(touched), "flows": flows, "turns": recorded, "bytes": size}


def read_matrix(fields: Fields, ranks: int) -> dict[str, Any]:
    """Read the key "flows" of a native trace: each is [source, target, bytes], or an object that may say more."""
    flows, turns = [], []
    for entry in fields.items("flows", EXAMPLE, MAX_CELLS):
        flow, turn = _flow(fields, entry)
        source = fields.rank(flow[0], "a flow's source", ranks)
        target = fields.rank(flow[1], "a flow's target", ranks)
        if source == target:
            raise fields.wrong(f"a flow goes from rank {source} to itself", "name two different ranks")
        flows.append((source, target, fields.check_size(flow[2], "a flow's size", "2000000")))
        turns.append(turn)
    check_waits(tuple(flows), turns, "flow {}".format, lambda _, what, hint: fields.wrong(what, hint))
    return matrix(tuple(flows), turns)


def _flow(fields: Fields, entry: object) -> tuple[Sequence[object], Turn]:
    if isinstance(entry, dict):
        flow = Fields(entry, fields.where)
        flow.only(KEYS, "a flow")
        ends = [flow.take(key, example) for key, example in (("src", "0"), ("dst", "8"), ("bytes", "2000000"))]
        start = flow.time("start", '"5us"') if "start" in flow else 0
        channel = flow.whole("channel", "1", 0, MAX_CHANNEL) if "channel" in flow else 0
        return ends, Turn(start, _after(flow), channel)
    if not isinstance(entry, list) or len(entry) != 3:
        raise fields.wrong('a flow in "flows" must be [source, target, bytes]', f"write {EXAMPLE}")
    return entry, Turn()


def _after(flow: Fields) -> tuple[int, ...]:
    if "after" not in flow:
        return ()
    listed = flow.items("after", "[0]", MAX_CELLS)
    return tuple(flow.check_whole(number, 'a flow in "after"', "0", 0, MAX_CELLS) for number in listed)


def check_waits(
    flows: Flows, turns: Sequence[Turn], name: Callable[[int], str], error: Callable[[int, str, str], InputError]
) -> None:
    """Refuse a flow that waits for one which is not there, is itself, carries nothing, or is none of its source's.

    name(flow number) is what the file calls a flow; error(flow number, what, mend) knows its place in the file.
    """
    for number, turn in enumerate(turns):
        source = flows[number][0]
        for awaited in turn.after:
            if awaited >= len(flows):
                hint = f"flows are numbered from 0 to {len(flows) - 1} within their operation"
                raise error(number, f"{name(number)} waits for flow {awaited}, which is not there", hint)
            waits = f"{name(number)} waits for {name(awaited)}"
            if awaited == number:
                raise error(number, f"{name(number)} waits for itself", "let it wait for another, or for none")
            if source not in flows[awaited][:2]:
                what = f"{waits}, but starts at rank {source}, where that one neither ends nor starts"
                raise error(number, what, "nothing tells a rank what happens elsewhere: name a flow from or to it")
            if not flows[awaited][2] or not flows[number][2]:
                raise error(number, f"{waits}, and one of them carries no bytes", "give each at least one")


def members(operation: Operation) -> tuple[list[Member], list[tuple[int, int, int]]]:
    """Who takes part in a matrix, and from when; and the flows between them, by position among the members.

    A rank is a member once for each time at which flows of its own start: it enters when that time has come. Flows
    that wait, and their sources, belong to the member that the awaited flows make them known to.
    """
    if not any(turn.start_ps for turn in operation.turns):
        place = {rank: position for position, rank in enumerate(operation.ranks)}
        flows = [(place[source], place[target], size) for source, target, size in operation.flows]
        return [(rank, 0) for rank in operation.ranks], flows
    slots = _members_by_slot(operation)
    listed = sorted({*slots, *((rank, 0) for rank in operation.ranks)})
    place_of = {member: position for position, member in enumerate(listed)}
    sizes = (size for _, _, size in operation.flows)
    return listed, [(place_of[slots[2 * i]], place_of[slots[2 * i + 1]], size) for i, size in enumerate(sizes)]


def _members_by_slot(operation: Operation) -> list[Member]:
    """The member at either end of each flow; ends that a wait ties together are one, and start when either does."""
    parent = list(range(2 * len(operation.flows)))

    def root(slot: Slot) -> Slot:
        while parent[slot] != slot:
            parent[slot] = parent[parent[slot]]
            slot = parent[slot]
        return slot

    for one, other in _ties(operation):
        parent[root(one)] = root(other)
    start: dict[Slot, int] = {}
    for number, turn in enumerate(operation.turns):
        if turn.after and not turn.start_ps:
            continue
        if start.setdefault(root(2 * number), turn.start_ps) != turn.start_ps:
            rank = operation.flows[number][0]
            what = f"flow {number} of rank {rank} starts at another time than one that the same flows wait for"
            raise InputError(what, hint="let them start together, or let different flows wait for them")
    ends = [rank for source, target, _ in operation.flows for rank in (source, target)]
    return [(rank, start.get(root(slot), 0)) for slot, rank in enumerate(ends)]


def _ties(operation: Operation) -> Iterator[tuple[Slot, Slot]]:
    """The source of a flow that waits, and the end of each awaited flow at which it is told."""
    for number, turn in enumerate(operation.turns):
        for awaited in turn.after:
            arrives = operation.flows[awaited][1] == operation.flows[number][0]
            yield 2 * number, 2 * awaited + arrives
