"""From the graphs of all ranks to the operations of a trace: a matrix of flows, or operations on streams."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from netsim.errors import InputError
from netsim.traces.graphs.graph import Joined, Joiner, Part
from netsim.traces.graphs.streams import Streams
from netsim.traces.matrix import matrix
from netsim.traces.topological_order import topological_order_of
from netsim.traces.trace import Flows, Operation, Turn, changed

EMPTY = "transfers carry nothing: they count as one byte, so that somebody can wait for them"


@dataclass(slots=True)
class Unit:
    """An operation of the trace to be: `needs` are the units that each of its ranks waits for.

    `recorded` says that the file names its stream. `waits` are the needs that hold it up: of a transfer, its source's.
    """

    request: Operation
    recorded: bool
    first: Joined
    needs: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    waits: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


def operations(joiner: Joiner, where: str) -> tuple[Operation, ...]:
    """The operations of joined graphs in program order; `where` is named if ranks wait for each other in a cycle.

    Where nothing but transfers is left they become one matrix, whose flows wait for each other inside the packet core;
    else each operation gets a stream and the numbers of those that it waits for on other streams.
    """
    waits = joiner.waits()
    is_told = any(joiner.graph[rank][number].turn is not None for rank, number in joiner.of_node)
    if not is_told:
        _fill_empty(joiner)
    if joiner.joined and not is_told and all(joined.is_send for joined in joiner.joined):
        order = topological_order_of(waits, lambda number, _: _cycle(joiner, joiner.joined[number], where))
        return (Operation("flows", **_matrix(joiner, order, waits)),)
    units = _units(joiner, waits)
    listed = [sorted(set().union(*unit.waits.values())) for unit in units]
    order = topological_order_of(listed, lambda number, _: _cycle(joiner, units[number].first, where))
    streams = Streams(len(units), {unit.request.stream for unit in units if unit.recorded})
    return tuple(_placed(units[number], number, streams) for number in order)


def _fill_empty(joiner: Joiner) -> None:
    for joined in joiner.joined:
        if joined.is_send and not joined.request.bytes:
            joiner.notes[EMPTY] += 1
            joined.request = replace(joined.request, bytes=1)


def _cycle(joiner: Joiner, joined: Joined, where: str) -> InputError:
    rank, place = joined.nodes[0]
    node = joiner.graph[rank][place]
    what = f"ranks wait for each other in a cycle: rank {rank} never gets to {node.kind} {node.place}"
    return InputError(what, where=where, hint="the job would hang: take out one of the dependencies")


def _matrix(joiner: Joiner, flows: list[int], waits: list[list[int]]) -> dict[str, Any]:
    """Transfers as the flows of one matrix, which wait for those of it that they need."""
    place = {number: position for position, number in enumerate(flows)}
    requests = [joiner.joined[number].request for number in flows]
    listed: Flows = tuple((request.src, request.dst, request.bytes) for request in requests)
    turns = []
    for number in flows:
        part = _part(joiner, number) or Part(0)
        after = tuple(sorted(place[each] for each in waits[number] if each in place))
        turns.append(Turn(part.start_ps, after, part.channel))
    return matrix(listed, turns)


def _part(joiner: Joiner, number: int) -> Part | None:
    rank, place = joiner.joined[number].nodes[0]
    return joiner.graph[rank][place].part


def _units(joiner: Joiner, waits: list[list[int]]) -> list[Unit]:
    """One unit for each operation; transfers that the file says are flows of one operation are one."""
    unit_of: list[int] = []
    flows: dict[int, list[int]] = defaultdict(list)  # by unit
    by_turn: dict[int, int] = {}
    units: list[Unit] = []
    for number, joined in enumerate(joiner.joined):
        rank, place = joined.nodes[0]
        node = joiner.graph[rank][place]
        unit = len(units)
        if node.part is not None and node.turn is not None:
            unit = by_turn.setdefault(node.turn, unit)
            flows[unit].append(number)
        unit_of.append(unit)
        if unit == len(units):
            units.append(Unit(joined.request, node.turn is not None, joined))
    for unit, numbers in flows.items():
        numbers.sort(key=lambda number: _part(joiner, number) or Part(0))
        given = replace(units[unit].request, op="flows", src=-1, dst=-1)
        units[unit].request = replace(given, **_matrix(joiner, numbers, waits))
    for number, joined in enumerate(joiner.joined):
        _need(joiner, joined, units[unit_of[number]], unit_of[number], unit_of)
    return units


def _need(joiner: Joiner, joined: Joined, unit: Unit, own: int, unit_of: list[int]) -> None:
    for position, key in enumerate(joined.nodes):
        needed: Iterable[int] = {unit_of[each] for each in joiner.needs[key]} - {own}
        unit.needs[key[0]].update(needed)
        if not (joined.is_send and position):
            unit.waits[key[0]].update(needed)


def _placed(unit: Unit, number: int, streams: Streams) -> Operation:
    """The operation on its stream."""
    needs = [(rank, unit.needs.get(rank, ())) for rank in unit.request.ranks]
    named = unit.request.stream if unit.recorded else None
    stream, after = streams.put(number, needs, set().union(*unit.waits.values()), named)
    return changed(unit.request, stream=stream, after=after)
