"""Laws of every run, as functions that name each breach; a run that keeps them all gives empty lists."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from netsim.core.observe.counters import packets_in_flight
from netsim.core.state.dtypes import RING
from netsim.core.state.world import World
from netsim.transport.registry import REGISTRY
from tests.core.scenario_runs import CoreRun, build_core
from tests.reference.scenarios.scenario import Scenario

ACK_FLAG = 1


def rings_of(world: World) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Every wire and queue with what is in it, first to leave first: (at, header, meta)."""
    names = [name for name in world.links.dtype.names or () if world.links.dtype[name] == RING and name != "send_ring"]
    for number, link in enumerate(world.links):
        for name in names:
            head, tail, start, mask = (int(each) for each in link[name].tolist())
            yield (
                f"{name} of link {number}",
                [world.packet_pool[start + (i & mask)].tolist() for i in range(head, tail)],
            )


def counted(world: World) -> Counter[tuple[int, str]]:
    """Packets in all rings by connection and kind."""
    found: Counter[tuple[int, str]] = Counter()
    for _, packets in rings_of(world):
        found.update((header >> 32, "acks" if meta & ACK_FLAG else "data") for _, header, meta in packets)
    return found


def no_packet_is_lost_from_the_books(run: CoreRun) -> list[str]:
    """Per connection: injected = received + dropped + under way; each received one was answered: the same of ACKs."""
    world = run.fabric.world
    inside = counted(world)
    breaches = []
    for c, row in enumerate(run.connections):
        data = int(row["injected"] - row["received"] - row["dropped"])
        pulled = int(world.sack_state["pulled"][c]) if len(world.sack_state) else 0
        acks = int(row["received"] + pulled - row["acks_received"] - row["acks_dropped"])
        for kind, missing in (("data", data), ("acks", acks)):
            if missing != inside[c, kind]:
                breaches.append(
                    f"connection {c}: {missing} {kind} under way by the books, {inside[c, kind]} in the rings"
                )
    totals = [sum(n for (_, kind), n in inside.items() if kind == each) for each in ("data", "acks")]
    if list(packets_in_flight(world)) != totals:
        breaches.append(f"packets_in_flight says {packets_in_flight(world)}, the rings hold {totals}")
    return breaches


def wires_keep_their_order(run: CoreRun) -> list[str]:
    """On every wire packets arrive one after the other, no closer together than their serialisation allows."""
    world = run.fabric.world
    breaches = []
    for name, packets in rings_of(world):
        if not name.startswith("in_flight"):
            continue
        rate_bps = int(run.fabric.network.rate_bps[int(name.split()[-1]) % len(run.fabric.network.links)])
        for (before, *_), (at, _, meta) in pairwise(packets):
            if (at - before) * rate_bps < (meta >> 16) * 8 * 10**12:
                breaches.append(f"{name}: a packet {at - before} ps behind another")
    return breaches


def acks_never_go_back(run: CoreRun) -> list[str]:
    """What a connection's ACKs say only grows, the oldest are nearest the sender: first in, first out.

    Not so with selective repeat, where they speak of single packets, nor where switches choose per packet.
    """
    world = run.fabric.world
    if world.settings[0]["selective"] or world.settings[0]["per_packet_routing"]:
        return []
    stride = int(world.settings[0]["stride"])
    held = dict(rings_of(world))
    breaches = []
    for c, row in enumerate(run.connections):
        said = [int(row["acked"])]
        for link in world.hops[c * stride : c * stride + int(row["length"])]:
            names = [name for name in held if name.endswith(f" of link {int(link) ^ 1}")]
            for name in sorted(names, key=lambda name: not name.startswith("in_flight")):
                acks = [header & 0xFFFFFFFF for _, header, meta in held[name] if meta & ACK_FLAG and header >> 32 == c]
                said += acks
        said = [*said[1:], int(row["expected"])]
        if said != sorted(said):
            breaches.append(f"connection {c}: ACKs say {said}, sender first")
    return breaches


def queues_stay_inside_their_buffers(run: CoreRun) -> list[str]:
    """At switches neither data nor control ever hold more than the buffer; with trimming control twice as much."""
    links, network = run.fabric.world.links, run.fabric.network
    if network.shared_buffer or run.scenario.classes > 1:
        return []  # a port's buffer is another one, or one of several
    room = np.asarray(network.buffer_bytes)
    at_switch = np.asarray(network.source) >= len(network.hosts)
    fullest = np.maximum.reduce(
        [links["longest"], links["backlog"], links["control_backlog"] // (1 + bool(network.trim))]
    )
    return [f"link {n}: {fullest[n]} B in a buffer of {room[n]}" for n in np.flatnonzero(at_switch & (fullest > room))]


def pools_are_the_sum_of_their_queues(run: CoreRun) -> list[str]:
    """A shared buffer holds what its ports' queues hold; no more than there is, no queue more than its share."""
    world, shared, breaches = run.fabric.world, run.fabric.network.shared_buffer, []
    switch_of = world.links["source"]
    for node in np.flatnonzero(world.pools["room"]):
        held = int(world.links["backlog"][switch_of == node].sum())
        longest = int(world.links["longest"][switch_of == node].max())
        if not shared or held != world.pools["taken"][node] or held > shared.size or longest > shared.most_of(1):
            breaches.append(f"node {node} holds {held} B, says {world.pools['taken'][node]}; a queue had {longest}")
    return breaches


def no_link_is_faster_than_its_rate(run: CoreRun) -> list[str]:
    """What a link has put on its wire took its time: it is busy until then at the earliest."""
    links, rate = run.fabric.world.links, run.fabric.network.rate_bps
    return [
        f"link {n}: {links['sent_bytes'][n]} B until {links['free_at'][n]} ps"
        for n in range(len(links))
        if int(links["sent_bytes"][n]) * 8 * 10**12 > int(links["free_at"][n]) * int(rate[n % len(rate)])
    ]


def windows_are_kept(run: CoreRun) -> list[str]:
    """acked <= expected <= sent <= stop, acked <= next <= sent; never more outstanding than a fixed window holds."""
    world = run.fabric.world
    breaches = []
    for c, row in enumerate(run.connections):
        acked, expected, sent, stop, ahead = (int(row[n]) for n in ("acked", "expected", "sent", "stop", "next"))
        if not (acked <= expected <= sent <= stop and acked <= ahead <= sent):
            breaches.append(
                f"connection {c}: acked {acked}, expected {expected}, next {ahead}, sent {sent}, stop {stop}"
            )
        outstanding = ahead - acked
        if len(world.sack_state):
            repair = world.sack_state[c]
            outstanding -= int(repair["got"] + repair["lost"])
            if not (min(repair["got"], repair["lost"], outstanding) >= 0 and ahead - acked <= repair["limit"]):
                breaches.append(f"connection {c}: {repair} of {ahead - acked} sent")
        if row["control"] in FIXED_WINDOWS and outstanding > int(row["cwnd"]) >> 16:
            breaches.append(f"connection {c}: {outstanding} outstanding, window {int(row['cwnd']) >> 16}")
    return breaches


# others shrink under what is out
FIXED_WINDOWS = [each.code for each in REGISTRY.values() if not each.traits.moves_window]


ALWAYS: list[Callable[[CoreRun], list[str]]] = [
    no_packet_is_lost_from_the_books,
    wires_keep_their_order,
    acks_never_go_back,
    queues_stay_inside_their_buffers,
    pools_are_the_sum_of_their_queues,
    no_link_is_faster_than_its_rate,
    windows_are_kept,
]


def nothing_is_left(run: CoreRun) -> list[str]:
    """In the end every ring, queue and account is empty and everything sent is received or dropped."""
    links, hosts = run.fabric.world.links, len(run.fabric.network.hosts)
    held = (links["backlog"] - links["leaving"])[links["source"] >= hosts]  # what has left is taken off later
    breaches = ["a queue holds bytes"] if held.any() else []
    breaches += ["an account holds bytes"] if run.fabric.world.pfc_state["ingress_occupancy"].any() else []
    breaches += [f"{name} holds {len(packets)}" for name, packets in rings_of(run.fabric.world) if packets]
    rows = run.connections
    breaches += [f"connection {c} is not done" for c, row in enumerate(rows) if row["acked"] != row["stop"]]
    return breaches


def flows_add_up(run: CoreRun) -> list[str]:
    """What flows say they sent is what connections sent, and every byte arrived once."""
    rows = run.connections
    flows = [each.flows for each in run.carried]
    sent, again = (int(sum(each[name].sum() for each in flows)) for name in ("packets", "retransmitted"))
    pairs: dict[str, tuple[Any, Any]] = {
        "packets": (sent, rows["injected"].sum()),
        "first transmissions": (sent - again, rows["expected"].sum()),
    }
    return [f"{name}: flows {one}, connections {other}" for name, (one, other) in pairs.items() if one != other]


def no_flow_beats_its_ideal(run: CoreRun) -> list[str]:
    """From its first message to its last delivery; and an ACK comes after what it answers."""
    breaches = []
    for carried in run.carried:
        flows = carried.flows
        took, ideal = flows["delivered_ps"] - flows["start_ps"], flows["ideal_ps"]
        names = [f"flow {i} of collective {carried.number}" for i in range(len(took))]
        breaches += [f"{names[i]}: {took[i]} ps, at least {ideal[i]}" for i in np.flatnonzero(took < ideal)]
        early = flows["acked_ps"] <= flows["delivered_ps"]
        breaches += [f"{names[i]}: its ACK came first" for i in np.flatnonzero(early)]
    return breaches


def no_collective_beats_its_floor(run: CoreRun) -> list[str]:
    """From first coming to last delivery: no order of sending is faster than its bounds say."""
    took = [(each.end_ps or 0) - (each.start_ps or 0) for each in run.carried]
    floor = [each.admitted.floor_ps for each in run.carried]
    return [f"collective {n}: {took[n]} ps, at least {floor[n]}" for n in range(len(took)) if took[n] < floor[n]]


IN_THE_END: list[Callable[[CoreRun], list[str]]] = [
    nothing_is_left,
    flows_add_up,
    no_flow_beats_its_ideal,
    no_collective_beats_its_floor,
]


def breaches(scenario: Scenario, stops: Iterable[int]) -> list[str]:
    """What breaks a law when the run stops at these times, and in the end."""
    run, found = build_core(scenario), []
    for stop in stops:
        run.env.run(until=stop)
        found += [f"at {stop} ps: {breach}" for law in ALWAYS for breach in law(run)]
    run.end()
    return found + [breach for law in ALWAYS + IN_THE_END for breach in law(run)]
