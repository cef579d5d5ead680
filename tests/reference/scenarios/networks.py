"""Small networks, routes and schedules for the twin's scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from netsim.queues.disciplines.red import NO_ECN, Ecn
from netsim.topology.builder import NetworkBuilder
from netsim.topology.network import SCALE_UP, Link, Network
from netsim.topology.pfc import Pfc
from netsim.units import UNLIMITED

GIGABIT, NANOSECOND, MICROSECOND = 10**9, 10**3, 10**6
PACKET = 4160  # a full packet on the wire: 4096 + 64 bytes
Row = tuple[int, int, int, int, tuple[int, ...]]  # source, target, channel, bytes, after


@dataclass(frozen=True)
class Queue:
    """What a switch port has: room in bytes, and ECN thresholds."""

    buffer_bytes: int = UNLIMITED
    ecn: Ecn = NO_ECN


DEEP = Queue()


def queue(packets: int, kmin: int | None = None, kmax: int = 0, pmax: float = 1.0) -> Queue:
    """A port's queue, measured in full packets; without kmin it marks nothing."""
    ecn = NO_ECN if kmin is None else Ecn(kmin=kmin * PACKET, kmax=kmax * PACKET, pmax=pmax)
    return Queue(packets * PACKET, ecn)


def star(
    hosts: int,
    *,
    gigabits: int = 100,
    delays_ns: Iterable[int] = (1000,),
    at: Queue = DEEP,
    control_class: str = "strict",
    pfc: Pfc | None = None,
) -> Network:
    """Hosts around one switch; the delays are used in turn."""
    builder = NetworkBuilder("star", control_class, pfc)
    numbers = [builder.host(f"host{i}") for i in range(hosts)]
    tor = builder.switch("tor0", "tor")
    delays = list(delays_ns)
    for i, host in enumerate(numbers):
        delay_ps = delays[i % len(delays)] * NANOSECOND
        builder.connect(host, tor, rate_bps=gigabits * GIGABIT, delay_ps=delay_ps, kind="tor", **vars(at))
    return builder.build()


def line(
    switches: int, *, gigabits: Iterable[int], delay_ns: int = 1000, at: Queue = DEEP, pfc: Pfc | None = None
) -> Network:
    """Two hosts at the ends of a row of switches; link by link the rates are used in turn."""
    builder = NetworkBuilder("line", pfc=pfc)
    ends = [builder.host("left"), builder.host("right")]
    nodes = [ends[0], *(builder.switch(f"switch{i}", "tor") for i in range(switches)), ends[1]]
    rates = list(gigabits)
    for i, (a, b) in enumerate(pairwise(nodes)):
        rate_bps = rates[i % len(rates)] * GIGABIT
        builder.connect(a, b, rate_bps=rate_bps, delay_ps=delay_ns * NANOSECOND, kind="tor", **vars(at))
    return builder.build()


def leaves(
    count: int,
    hosts: int,
    spines: int,
    *,
    at: Queue = DEEP,
    control_class: str = "strict",
    delays_ns: tuple[int, int] = (1000, 1000),
    pfc: Pfc | None = None,
) -> Network:
    """A leaf-spine fabric at 100 Gb/s; `delays_ns` below and above the leaves."""
    builder = NetworkBuilder("leaves", control_class, pfc)
    numbers = [builder.host(f"host{i}") for i in range(count * hosts)]
    tops = [builder.switch(f"leaf{i}", "leaf") for i in range(count)]
    cores = [builder.switch(f"spine{i}", "spine") for i in range(spines)]
    cables = [(host, tops[host // hosts], delays_ns[0], "leaf") for host in numbers]
    cables += [(leaf, spine, delays_ns[1], "spine") for leaf in tops for spine in cores]
    for a, b, delay_ns, kind in cables:
        builder.connect(a, b, rate_bps=100 * GIGABIT, delay_ps=delay_ns * NANOSECOND, kind=kind, **vars(at))
    return builder.build()


def rails(
    servers: int,
    gpus: int,
    *,
    at: Queue = DEEP,
    scale_up_gigabits: int = 3600,
    control_class: str = "strict",
    pfc: Pfc | None = None,
) -> Network:
    """Servers of GPUs that share an NVLink switch; one rail switch for each place in a server; one spine."""
    builder = NetworkBuilder("rails", control_class, pfc)
    places = [(server, rail) for server in range(servers) for rail in range(gpus)]
    hosts = [builder.host(f"gpu{s}.{r}", server=s, rail=r) for s, r in places]
    inner = [builder.switch(f"nvswitch{s}", "nvswitch") for s in range(servers)]
    rail = [builder.switch(f"rail{r}", "rail") for r in range(gpus)]
    spine = builder.switch("spine0", "spine")
    for host, (s, r) in zip(hosts, places, strict=True):
        fast, slow = scale_up_gigabits * GIGABIT, 400 * GIGABIT
        builder.connect(host, inner[s], rate_bps=fast, delay_ps=300 * NANOSECOND, kind=SCALE_UP)
        builder.connect(host, rail[r], rate_bps=slow, delay_ps=500 * NANOSECOND, kind="rail", **vars(at))
    for switch in rail:
        builder.connect(switch, spine, rate_bps=400 * GIGABIT, delay_ps=500 * NANOSECOND, kind="spine", **vars(at))
    return builder.build()


def loop(switches: int, *, pfc: Pfc | None = None) -> Network:
    """Switches in a cycle, one host at each; with an odd number of them every route is the only shortest one."""
    builder = NetworkBuilder("loop", pfc=pfc)
    hosts = [builder.host(f"host{i}") for i in range(switches)]
    cycle = [builder.switch(f"switch{i}", "tor") for i in range(switches)]
    for a, b in [*zip(hosts, cycle, strict=True), *zip(cycle, cycle[1:] + cycle[:1], strict=True)]:
        builder.connect(a, b, rate_bps=100 * GIGABIT, delay_ps=MICROSECOND, kind="tor")
    return builder.build()


def distances(network: Network, goal: int, *, outside: bool = False) -> dict[int, int]:
    """Links from every node to a host, over switches; outside servers only, or over NVLink too."""
    hosts, found, edge = len(network.hosts), {goal: 0}, [goal]
    for node in edge:  # grows while it is read
        for link in network.links:
            usable = (node >= hosts or node == goal) and not (outside and link.kind == SCALE_UP)
            if link.target == node and usable and link.source not in found:
                found[link.source] = found[node] + 1
                edge.append(link.source)
    return found


def nearer(network: Network, node: int, goal: int, far: dict[int, int]) -> list[Link]:
    """The links on a shortest way from a node to a host, by the distances from it."""
    return [
        link
        for link in network.links
        if link.source == node and far.get(link.target) == far[node] - 1
        if link.target >= len(network.hosts) or link.target == goal
    ]


def shortest_routes(network: Network) -> Callable[[int, int, int], tuple[int, ...]]:
    """Give route(source, target, channel): a shortest path, spread over equal ones; between servers PXN."""

    def walk(source: int, target: int, channel: int) -> tuple[int, ...]:
        far, node, route = distances(network, target), source, []
        while node != target:
            links = nearer(network, node, target, far)
            chosen = links[(source + target + channel) % len(links)]
            route.append(chosen.number)
            node = chosen.target
        return tuple(route)

    def route(source: int, target: int, channel: int) -> tuple[int, ...]:
        a, b = network.hosts[source], network.hosts[target]
        if network.has_servers and a.server != b.server and a.rail != b.rail:
            via = next(h.number for h in network.hosts if h.server == a.server and h.rail == b.rail)
            return walk(source, via, channel) + walk(via, target, channel)
        return walk(source, target, channel)

    return route


def longest_round_trip(network: Network, packet_bytes: int, ack_bytes: int) -> int:
    """Give the time there and back between the two hosts farthest apart outside servers, walking every shortest way."""

    def sent(link: Link, size: int) -> int:
        return -(-size * 8 * 10**12 // link.rate_bps) + link.delay_ps

    def longest_to(goal: int) -> int:
        far, times = distances(network, goal, outside=True), {goal: 0}
        for node in sorted(far, key=far.__getitem__)[1:]:
            times[node] = max(
                times[link.target] + sent(link, packet_bytes) + sent(network.links[link.number ^ 1], ack_bytes)
                for link in nearer(network, node, goal, far)
            )
        return max(time for node, time in times.items() if node < len(network.hosts))

    return max(longest_to(host.number) for host in network.hosts)


def ring(ranks: int, steps: int, bytes_per_step: int, pieces: int = 1, channel: int = 0) -> list[Row]:
    """Every rank passes on in each step what it received in the step before, piece by piece."""
    rows: list[Row] = []
    for step in range(steps):
        for rank in range(ranks):
            for piece in range(pieces):
                before = ((step - 1) * ranks + (rank - 1) % ranks) * pieces + piece
                rows.append((rank, (rank + 1) % ranks, channel, bytes_per_step, (before,) if step else ()))
    return rows


def shift(ranks: int, by: int, size: int, channel: int = 0) -> list[Row]:
    """Rank s sends to rank s + by, all at once."""
    return [(s, (s + by) % ranks, channel, size, ()) for s in range(ranks)]


def incast(senders: int, size: int, channels: int = 1) -> list[Row]:
    """Ranks 1..n send to rank 0, all at once."""
    return [(s, 0, c, size, ()) for s in range(1, senders + 1) for c in range(channels)]


def all_to_all(ranks: int, size: int) -> list[Row]:
    """Round by round, everybody's block for everybody; a round follows what the round before brought."""
    rows: list[Row] = []
    for k in range(1, ranks):
        for i in range(ranks):
            before = (k - 2) * ranks + (i - (k - 1)) % ranks
            rows.append((i, (i + k) % ranks, 0, size, (before,) if k > 1 else ()))
    return rows
