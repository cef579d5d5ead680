"""Why nothing moves any more: who waits for what, in words."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from netsim.core.state.packet_header import INGRESS
from netsim.errors import RunError
from netsim.units import format_time

MOST_NAMED = 4  # ranks in a list, links in a chain

SAME_ORDER = "let the ranks of a group call its collectives in the same order"
EVERYONE = "every rank of a group must call the collective, and each recv needs its send"
TRIGGER = "trigger the event, or do not wait for it"
REPORT = "this is a fault of netsim: report it"


def who_waits(fabric: Any) -> RunError:
    """The error for a fabric on which nothing is in flight though parts are not finished, or ranks not at their end.

    It follows the chain: a collective waits for a rank that never began it; that rank has ended, or waits itself.
    """
    blocked = {rank: each for each in reversed(fabric.under_way) for rank in fabric.waiting(each)}
    first = next((each for each in fabric.under_way if _absent(each)), None)
    if first is None:
        return _nobody_absent(fabric, blocked)
    links, seen, each, hint = [f"{_name(first)} waits for {_ranks(_absent(first))}"], {first.number}, first, EVERYONE
    while len(links) <= MOST_NAMED:
        rank = _absent(each)[0]
        if rank not in blocked:
            links.append(f"rank {rank} {_elsewhere(fabric, rank)}")
            hint = EVERYONE if rank not in _alive(fabric) else f"{EVERYONE}; {TRIGGER}"
            break
        each, hint = blocked[rank], SAME_ORDER
        if each.number in seen:
            links.append(f"rank {rank} waits in {_name(each)}: a cycle")
            break
        seen.add(each.number)
        absent = _absent(each)
        links.append(f"rank {rank} waits in {_name(each)}" + (f" for {_ranks(absent)}" if absent else ""))
        if not absent:
            break
    return RunError(f"the job stands still at {format_time(int(fabric.env.now))}: {', '.join(links)}", hint=hint)


def out_of_time(fabric: Any, limit_ps: int) -> RunError:
    """The error for a job that is not at its end when the user's limit of simulated time is."""
    what = f"not finished within the time limit of {format_time(limit_ps)}: {_so_far(fabric)}"
    return RunError(what, hint="raise the time limit")


def out_of_patience(fabric: Any, limit_s: float) -> RunError:
    """The error for a job that is not at its end when the user's limit by the clock is."""
    what = f"not finished within the wall limit of {limit_s:g} s, at {format_time(fabric.now_ps)}: {_so_far(fabric)}"
    return RunError(what, hint="raise the wall limit")


def in_vain(fabric: Any, since_ps: int, sent: int) -> RunError:
    """The error for a fabric on which packets move, and nothing new arrives."""
    since = f"nothing new has arrived since {format_time(since_ps)}, though {sent:,} packets were sent"
    what = f"{since}: {_so_far(fabric)}"
    hint = "look at buffers that hold too few packets, at losses, and at what the congestion control makes of them"
    return RunError(what, hint=hint)


def _so_far(fabric: Any) -> str:
    """What is finished, and who waits in the first that is not."""
    done = len(fabric.carried) - len(fabric.under_way)
    finished = f"{done:,} collective{'s are' if done != 1 else ' is'} finished"
    first = next(iter(fabric.under_way), None)
    if first is None:
        return f"{finished}, none is under way"
    waiting, absent = _ranks(fabric.waiting(first)), _absent(first)
    return f"{finished}, {_name(first)} is not: {f'waits for {_ranks(absent)}' if absent else f'goes on at {waiting}'}"


def gave_up(fabric: Any) -> RunError:
    """The error for a connection that has timed out more often in a row than its retries allow."""
    world, network = fabric.world, fabric.network
    c = int(world.progress[0]["failed"]) - 1
    row, stride = world.connections[c], int(world.settings[0]["stride"])
    route = [int(link) for link in world.hops[c * stride : c * stride + int(row["length"])]]
    ends = (
        f"{network.node_name(network.links[route[0]].source)} to {network.node_name(network.links[route[-1]].target)}"
    )
    links = ", ".join(network.link_name(link) for link in route)
    what = f"the connection from {ends} gave up after {int(row['retries'])} time-outs without an answer by {links}"
    return RunError(what, hint="raise transport.retries or transport.timeout, or look at these links' loss and drops")


def _nobody_absent(fabric: Any, blocked: dict[int, Any]) -> RunError:
    """Everyone has come to every collective under way."""
    if not blocked:
        alone = sorted(_alive(fabric))
        what = f"{_ranks(alone)} {'waits' if len(alone) == 1 else 'wait'} for something that nobody does"
        return RunError(f"the job stands still at {format_time(int(fabric.env.now))}: {what}", hint=TRIGGER)
    each = next(iter(blocked.values()))
    cycle = paused_cycle(fabric)
    if cycle:
        ports, classes = len(fabric.network.links), int(fabric.world.settings[0]["classes"])
        stopped = cycle[0] // ports
        each = next((one for one in blocked.values() if one.traffic_class == stopped), each)
        links = ", ".join(fabric.network.link_name(link % ports) for link in cycle)
        of_class = f"class {stopped} of " if classes > 1 else ""
        what = f"{_name(each)} cannot go on: flow control has stopped {of_class}links that wait for each other: {links}"
        return RunError(what, hint="route without cycles, or without pfc")
    return RunError(f"{_name(each)} cannot go on at {_ranks(fabric.waiting(each))}: nothing is in flight", hint=REPORT)


def _absent(carried: Any) -> list[int]:
    """The ranks that never began this collective."""
    absent = (rank for position, rank in enumerate(carried.ranks) if position not in carried.entered)
    return list(dict.fromkeys(absent))


def _alive(fabric: Any) -> set[int]:
    return {rank for rank, process in fabric.processes if process.is_alive}


def _elsewhere(fabric: Any, rank: int) -> str:
    """What a rank does that waits in no collective."""
    if rank in _alive(fabric):
        return "waits for something that nobody does"
    return "has ended" if any(rank == known for known, _ in fabric.processes) else "never began it"


def _name(carried: Any) -> str:
    ends = carried.ranks
    if carried.about.get("op") == "send":
        return f"send {carried.number} (rank {ends[0]} to rank {ends[1]})"
    return f"{carried.about.get('op', 'collective')} {carried.number} ({_ranks(ends)})"


def _ranks(ranks: Iterable[int]) -> str:
    """Name the first few: rank 3; ranks 0, 1; ranks 0, 1, 2, 3 and 12 more."""
    named = list(ranks)
    text = ", ".join(map(str, named[:MOST_NAMED]))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return f"rank{'s' if len(named) != 1 else ''} {text}{more}"


def paused_cycle(fabric: Any) -> list[int]:
    """Links that flow control has stopped and that wait for each other in a cycle; [] if there is none.

    A stopped link waits for the switch it leads to to get rid of what came by it; that stands in other queues there, of
    the same class: the links of a class above the first are numbered on from those below (see core/link/priorities.py).
    """
    world = fabric.world
    pfc, links = world.pfc_state, world.links
    stopped = [link for link in np.flatnonzero(pfc["paused"]).tolist() if _length(links[link]["payload"])]
    waits = {link: [other for other in stopped if links["source"][other] == links["target"][link]] for link in stopped}
    waits = {link: [other for other in onward if _came_by(world, other, link)] for link, onward in waits.items()}
    for start in stopped:
        chain = [start]
        while waits[chain[-1]]:
            chain.append(min(waits[chain[-1]]))
            if chain[-1] in chain[:-1]:
                return chain[chain.index(chain[-1]) :]
    return []


def _came_by(world: Any, queue: int, link: int) -> bool:
    """Whether packets that came by a link wait in a switch's queue, both of one class."""
    ring, ports = world.links[queue]["payload"], int(world.settings[0]["ports"])
    places = int(ring["start"]) + (np.arange(ring["head"], ring["tail"]) & int(ring["mask"]))
    return queue // ports == link // ports and link % ports in (world.packet_pool["meta"][places] >> INGRESS).tolist()


def _length(ring: Any) -> int:
    return int(ring["tail"] - ring["head"])
