"""Small networks, routes and schedules for the twin's scenarios."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import Any

from netsim.queues.disciplines.red import NO_ECN, Ecn
from netsim.topology.builder import NetworkBuilder
from netsim.topology.network import SCALE_UP, Link, Network
from netsim.units import UNLIMITED

GIGABIT, NANOSECOND, MICROSECOND = 10**9, 10**3, 10**6
US = MICROSECOND
PACKET = 4160  # a full packet on the wire: 4096 + 64 bytes
Row = tuple[int, int, int, int, tuple[int, ...]]  # source, target, channel, bytes, after


@dataclass(frozen=True)
class Queue:
    """What a switch port has: room in bytes, and ECN thresholds."""

    buffer_bytes: int = UNLIMITED
    ecn: Ecn = NO_ECN


DEEP = Queue()
Cable = tuple[str, str, int, int, Queue]  # two nodes, Gb/s, ns, the queue at its switches


def queue(packets: int, kmin: int | None = None, kmax: int = 0, pmax: float = 1.0) -> Queue:
    """A port's queue, measured in full packets; without kmin it marks nothing."""
    ecn = NO_ECN if kmin is None else Ecn(kmin=kmin * PACKET, kmax=kmax * PACKET, pmax=pmax)
    return Queue(packets * PACKET, ecn)


def numbered(name: str, count: int) -> list[str]:
    """Give name0, name1, ..."""
    return [f"{name}{i}" for i in range(count)]


def in_servers(servers: int, gpus: int) -> dict[str, tuple[int, int]]:
    """Give the names of GPUs, each with its server and its rail."""
    return {f"gpu{s}.{r}": (s, r) for s in range(servers) for r in range(gpus)}


def cabled(
    name: str, hosts: Iterable[str], switches: Iterable[str], cables: Iterable[Cable], **settings: Any
) -> Network:
    """Give the network of these cables; a switch is called after its tier, a GPU in a server gpuS.R by server and rail.

    A cable is of the kind of its upper end, the node that is named later. Settings: control_class, pfc.
    """
    builder = NetworkBuilder(name, **settings)
    numbers = {}
    for host in hosts:
        server, _, rail = host.removeprefix("gpu").partition(".")
        numbers[host] = builder.host(host, int(server), int(rail)) if rail else builder.host(host)
    numbers |= {switch: builder.switch(switch, switch.rstrip("0123456789.")) for switch in switches}
    for a, b, gigabits, delay_ns, at in cables:
        tier = max(a, b, key=numbers.__getitem__).rstrip("0123456789.")
        speed = {"rate_bps": gigabits * GIGABIT, "delay_ps": delay_ns * NANOSECOND}
        builder.connect(numbers[a], numbers[b], kind=SCALE_UP if tier == "nvswitch" else tier, **speed, **vars(at))
    return builder.build()


def star(
    hosts: int, *, gigabits: int = 100, delays_ns: Iterable[int] = (1000,), at: Queue = DEEP, **settings: Any
) -> Network:
    """Hosts around one switch; the delays are used in turn."""
    names = numbered("host", hosts)
    delays = zip(names, cycle(delays_ns), strict=False)
    return cabled("star", names, ["tor0"], [(host, "tor0", gigabits, delay, at) for host, delay in delays], **settings)


def line(switches: int, *, gigabits: Iterable[int], delay_ns: int = 1000, at: Queue = DEEP, **settings: Any) -> Network:
    """Two hosts at the ends of a row of switches; link by link the rates are used in turn."""
    row = ["left", *numbered("tor", switches), "right"]
    rates = zip(pairwise(row), cycle(gigabits), strict=False)
    cables = [(*ends, rate, delay_ns, at) for ends, rate in rates]
    return cabled("line", ["left", "right"], row[1:-1], cables, **settings)


def leaves(
    count: int, hosts: int, spines: int, *, at: Queue = DEEP, delays_ns: tuple[int, int] = (1000, 1000), **settings: Any
) -> Network:
    """A leaf-spine fabric at 100 Gb/s; `delays_ns` below and above the leaves."""
    names, tops, cores = numbered("host", count * hosts), numbered("leaf", count), numbered("spine", spines)
    cables = [(host, tops[i // hosts], 100, delays_ns[0], at) for i, host in enumerate(names)]
    cables += [(leaf, spine, 100, delays_ns[1], at) for leaf in tops for spine in cores]
    return cabled("leaves", names, tops + cores, cables, **settings)


def rails(servers: int, gpus: int, *, at: Queue = DEEP, scale_up_gigabits: int = 3600, **settings: Any) -> Network:
    """Servers of GPUs that share an NVLink switch; one rail switch for each place in a server; one spine."""
    hosts, cables = in_servers(servers, gpus), list[Cable]()
    for gpu, (s, r) in hosts.items():
        cables += [(gpu, f"nvswitch{s}", scale_up_gigabits, 300, DEEP), (gpu, f"rail{r}", 400, 500, at)]
    cables += [(f"rail{r}", "spine0", 400, 500, at) for r in range(gpus)]
    switches = [*numbered("nvswitch", servers), *numbered("rail", gpus), "spine0"]
    return cabled("rails", hosts, switches, cables, **settings)


def loop(switches: int, **settings: Any) -> Network:
    """Switches in a cycle, one host at each; with an odd number of them every route is the only shortest one."""
    hosts, tors = numbered("host", switches), numbered("tor", switches)
    ends = [*zip(hosts, tors, strict=True), *zip(tors, tors[1:] + tors[:1], strict=True)]
    return cabled("loop", hosts, tors, [(a, b, 100, 1000, DEEP) for a, b in ends], **settings)


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
