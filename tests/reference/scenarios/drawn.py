"""Scenarios drawn at random, to find what nobody thought of: `drawn(n)` and `drawn_together(n)` never change."""

import random
from dataclasses import replace
from typing import Any

from netsim.queues.disciplines.trim import Trim
from netsim.topology.network import Network
from netsim.topology.pfc import Pfc
from netsim.transport.registry import REGISTRY
from tests.reference.scenarios.networks import PACKET, US, Queue, Row, leaves, queue, rails, star
from tests.reference.scenarios.per_packet_routing import ADAPTIVE, REPS, SPRAY, TURNS
from tests.reference.scenarios.recovery import ARRIVING, SELECTIVE, losing, trimming
from tests.reference.scenarios.scenario import Collective, Scenario
from tests.reference.scenarios.shared_buffer import sharing
from tests.reference.switch.per_packet_routing import PerPacket

MARKS = [(None, 0, 1.0), (0, 0, 1.0), (1, 4, 0.7), (2, 9, 1.0)]  # kmin, kmax in packets, pmax
TRIMS = [Trim(), Trim(), ARRIVING, Trim(last=0.9, marking="enqueue")]
LOW = 6 * US
# fmt: off
SETTINGS: dict[str, dict[str, list[Any]]] = {  # what matters within the few round trips of a small scenario
    "dcqcn": {
        "g": [1 / 256, 1 / 16, 0.457], "fast_recovery": [1, 2, 5], "clamp_tgt_rate": [True, False],
        "alpha_timer": [1 * US, 3 * US, 55 * US], "increase_timer": [1 * US, 3 * US, 55 * US],
        "cnp_interval": [1 * US, 5 * US, 50 * US], "byte_counter": [1500, 20_000, 10**7],
        "ai": [10**9, 4 * 10**9], "hai": [4 * 10**9, 9 * 10**9], "min_rate": [10**6, 10**8],
    },
    "timely": {
        "t_low": [LOW, "auto"], "t_high": ["auto", 3 * LOW], "delta": [10**6, 2 * 10**8], "least": [4, 100],
        "hai_after": [1, 5], "patched": [True, False], "beta_patched": [0.001, 0.1, 0.4],
    },
    "swift": {
        "base_target": [LOW // 2, LOW, 2 * LOW], "hop_scale": [0, 700_000], "fs_range": [1 * US, 20 * US],
        "ai": [0.1, 1, 3], "min_cwnd": [0.01, 0.2], "max_cwnd": [6, 1000], "beta": [0.1, 0.37, 0.6],
    },
    "hpcc": {"ai": [10**7, 5 * 10**8], "max_stage": [0, 0, 2, 5], "eta": [0.5, 0.95, 1], "least": [5, 1000]},
    "nscc": {
        "qa_threshold": [1, 2, 4], "qa_gate": [0, 1, 3], "target_qdelay": ["auto", LOW // 3],
        "delay_alpha": [0.0125, 0.3], "fi_scale": [0.25, 0.02],
    },
}
# fmt: on


def drawn(number: int) -> Scenario:
    """Give random scenario `number`: one or two collectives that may lose, mark, time out, pass through."""
    draw = random.Random(number)
    room, (kmin, kmax, pmax) = draw.choice([2, 5, 12, 60]), draw.choice(MARKS)
    network = drawn_network(draw, queue(room, kmin, kmax, pmax))
    hosts = len(network.hosts)
    first = Collective(drawn_rows(draw, hosts), drawn_entries(draw, hosts))
    waits = draw.choice([(), (0,)])
    second = Collective(drawn_rows(draw, hosts), drawn_entries(draw, hosts), waits=waits)
    return Scenario(
        f"random_{number}",
        network,
        (first, second)[: draw.choice([1, 2])],
        control=draw.choice(["none", "window", "dctcp", "dctcp"]),
        window=draw.choice([1, 3, 8, 20, 50]),
        timeout_ps=draw.choice([16, 30, 64]) * US,
        payload=draw.choice([1000, 3936, 4096]),
        seed=number,
    )


def drawn_network(draw: random.Random, at: Queue) -> Network:
    control_class = draw.choice(["strict", "shared"])
    delays = draw.choice([[1000], [500, 1000], [0, 300, 70]])
    servers, gigabits = draw.choice([2, 3]), draw.choice([400, 800, 3600])
    kind = draw.choice(["star", "leaves", "rails"])
    if kind == "star":
        return star(5, at=at, control_class=control_class, delays_ns=delays)
    if kind == "leaves":
        return leaves(2, 3, 1, at=at, control_class=control_class)
    return rails(servers, 2, at=at, scale_up_gigabits=gigabits)


def drawn_rows(draw: random.Random, hosts: int) -> list[Row]:
    """Give rows that wait for up to two earlier ones that end or begin where they begin."""
    rows: list[Row] = []
    for _ in range(draw.randint(3, 25)):
        source, target = draw.sample(range(hosts), 2)
        near = [number for number, row in enumerate(rows) if source in row[:2]]
        after = tuple(draw.sample(near, min(len(near), draw.choice([0, 0, 1, 2]))))
        size = draw.choice([1, 4096, draw.randint(1, 90_000)])
        rows.append((source, target, draw.randrange(2), size, after))
    return rows


def drawn_entries(draw: random.Random, hosts: int) -> tuple[int, ...]:
    """Give when each rank enters: at once, on a whole microsecond, or at any time in the first ten."""
    choices = [0, 0, draw.randint(0, 40) * US, draw.randint(0, 10 * US)]
    return tuple(draw.choice(choices) for _ in range(hosts))


def crowd(draw: random.Random, hosts: int) -> Collective:
    """Everybody sends to one host, which sends to two of them."""
    hot = draw.randrange(hosts)
    others = [host for host in range(hosts) if host != hot]
    rows: list[Row] = [
        (s, hot, c, draw.randint(1, 40) * 3936, ()) for s in others for c in range(2, draw.choice([3, 5]))
    ]
    rows += [(hot, target, 2, 60_000, ()) for target in draw.sample(others, 2)]
    return Collective(rows, drawn_entries(draw, hosts))


def drawn_together(number: int) -> Scenario:
    """Give random scenario `number` with a crowd, in which any mechanisms meet: half of them are off in each."""
    draw = random.Random(f"together {number}")
    base = drawn(draw.randrange(10_000))
    control = draw.choice(list(REGISTRY))
    recovery = SELECTIVE if REGISTRY[control].receiver_credit else draw.choice([SELECTIVE, "go_back_n"])
    network = altered(draw, base.network, trims=recovery == SELECTIVE)
    levels = draw.choice([(0, 0, 0), (0, 1, 2), (2, 0, 0), (0, 3, 1)])
    if network.control_class == "shared":
        levels = (0, 0, 0)
    given = zip((*base.collectives, crowd(draw, len(network.hosts))), levels, strict=False)
    flowlet = PerPacket("flowlet", gap_ps=draw.choice([1, 2, 9]) * US, slots=draw.choice([1, 8]))
    settings = {name: draw.choice(values) for name, values in SETTINGS.get(control, {}).items()}
    return replace(
        base,
        name=f"random_together_{number}_{control}",
        network=network,
        collectives=tuple(replace(collective, traffic_class=level) for collective, level in given),
        control=control,
        window=draw.choice(["bdp", "bdp", 1, 2, 8, 30]),
        chosen={} if control == "dcqcn" else settings,
        dcqcn=settings if control == "dcqcn" else {},
        recovery=recovery,
        places=draw.choice([8, 60, 1 << 20]),
        reordering=draw.choice([1, 3, 20, 256]),
        share=draw.choice([0.99, 1.0, 0.6]),
        nak_per_packet=draw.choice([False, False, True]),
        per_packet=draw.choice([None, None, None, SPRAY, TURNS, ADAPTIVE, REPS, flowlet]),
        queue_pairs=draw.choice([1, 1, 2, 3]),
        split=draw.choice([False, True]),
        jitter=draw.choice([0, 0, 0.3, 2.5]),
        timeout_ps=draw.choice([30, 64]) * US,
    )


def altered(draw: random.Random, network: Network, *, trims: bool) -> Network:
    """Give a network of the same kind with several spines, wires that lose, trimming, flow control, a shared buffer."""
    if len(network.hosts) == 6 and not network.has_servers:
        network = leaves(2, 3, draw.choice([2, 3]), at=queue(9, 1, 5, 0.6), control_class=network.control_class)
    if draw.randrange(3) == 0:
        network = losing(network, draw.choice([0.002, 0.03]))
    if trims and network.control_class == "strict" and draw.randrange(2):
        network = trimming(network, draw.choice(TRIMS))
    if draw.randrange(2):
        network = with_pfc(draw, network)
    if draw.randrange(4) == 0:
        size = draw.choice([12, 25, 60, 300]) * PACKET + draw.randrange(PACKET)
        network = sharing(network, size, draw.choice([0.25, 0.5, 1, 1.7, 8]))
    return network


def with_pfc(draw: random.Random, network: Network) -> Network:
    """Give the same network with flow control, and no link without a delay (a PAUSE takes nothing else)."""
    xoff = draw.choice([1, 2, 5]) * PACKET
    xon = draw.choice([0, PACKET, xoff])
    headrooms = [None, None, None, 4 * PACKET, 7 * PACKET]  # one packet inside a server has the size of four
    pfc = Pfc(xoff=xoff, xon=xon, headroom=draw.choice(headrooms))
    links = tuple(link._replace(delay_ps=max(link.delay_ps, 40_000)) for link in network.links)
    return replace(network, links=links, pfc=pfc)
