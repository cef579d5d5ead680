"""Scenarios drawn at random, to find what nobody thought of: `drawn(n)` is always the same one."""

from __future__ import annotations

import random
from dataclasses import replace

from netsim.topology.network import Network
from netsim.topology.pfc import Pfc
from tests.reference.scenarios.networks import MICROSECOND, PACKET, Queue, Row, leaves, queue, rails, star
from tests.reference.scenarios.scenario import Collective, Scenario

MARKS = [(None, 0, 1.0), (0, 0, 1.0), (1, 4, 0.7), (2, 9, 1.0)]  # kmin, kmax in packets, pmax


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
        timeout_ps=draw.choice([16, 30, 64]) * MICROSECOND,
        payload=draw.choice([1000, 3936, 4096]),
        seed=number,
    )


def drawn_network(draw: random.Random, at: Queue) -> Network:
    """Give a network."""
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
    choices = [0, 0, draw.randint(0, 40) * MICROSECOND, draw.randint(0, 10 * MICROSECOND)]
    return tuple(draw.choice(choices) for _ in range(hosts))


def drawn_lossless(number: int) -> Scenario:
    """Give random scenario `number` with flow control: thresholds and headroom drawn too, any control."""
    draw = random.Random(f"lossless {number}")
    base = crowded(draw, drawn(number))
    return replace(
        base,
        name=f"random_lossless_{number}",
        network=with_pfc(draw, base.network),
        control=draw.choice(["none", "window", "dctcp"]),
    )


def drawn_paced(number: int) -> Scenario:
    """Give random scenario `number` under dcqcn, half of them with flow control; timers and counter drawn too."""
    draw = random.Random(f"paced {number}")
    base = crowded(draw, drawn(number))
    windows: list[int | str] = ["bdp", "bdp", 2, 8]
    settings = {
        "g": draw.choice([256, 4096, 30_000]) / 65536,
        "alpha_timer": draw.choice([1, 3, 55]) * MICROSECOND,
        "increase_timer": draw.choice([1, 3, 55]) * MICROSECOND,
        "byte_counter": draw.choice([1500, 20_000, 10**7]),
        "fast_recovery": draw.choice([1, 2, 5]),
        "ai": draw.choice([1, 4]) * 10**9,
        "hai": draw.choice([4, 9]) * 10**9,
        "cnp_interval": draw.choice([1, 5, 50]) * MICROSECOND,
        "min_rate": draw.choice([1, 100]) * 10**6,
        "clamp_tgt_rate": draw.choice([True, False]),
    }
    return replace(
        base,
        name=f"random_paced_{number}",
        network=draw.choice([base.network, with_pfc(draw, base.network)]),
        control="dcqcn",
        window=draw.choice(windows),
        dcqcn=settings,
    )


def drawn_measuring(number: int) -> Scenario:
    """Give random scenario `number` under a control that measures round trips or links, half of them with PFC."""
    draw = random.Random(f"measuring {number}")
    base = crowded(draw, drawn(number))
    control = draw.choice(["timely", "swift", "hpcc", "nscc"])
    windows: list[int | str] = ["bdp", "bdp", 2, 8]
    return replace(
        base,
        name=f"random_{control}_{number}",
        network=draw.choice([base.network, with_pfc(draw, base.network)]),
        control=control,
        window=draw.choice(windows),
        chosen=drawn_settings(draw, control),
    )


def drawn_settings(draw: random.Random, control: str) -> dict[str, int | float | str]:
    """Give settings that matter within the few round trips of a small scenario."""
    low = draw.choice([3, 6, 12]) * MICROSECOND
    if control == "timely":
        thresholds = draw.choice([{}, {"t_low": low, "t_high": 3 * low}])
        steps = {
            "delta": draw.choice([1, 200]) * 10**6,
            "least": draw.choice([4, 100]),
            "hai_after": draw.choice([1, 5]),
        }
        return {**thresholds, **steps, "patched": draw.choice([True, False]), "beta_patched": draw.random() / 2 + 0.001}
    if control == "swift":
        targets = {"base_target": low, "hop_scale": draw.choice([0, 700_000]), "ai": draw.choice([0.1, 1, 3])}
        limits = {"min_cwnd": draw.choice([0.01, 0.2]), "max_cwnd": draw.choice([6, 1000])}
        return {**targets, **limits, "fs_range": draw.choice([1, 20]) * MICROSECOND, "beta": draw.random() / 2 + 0.1}
    if control == "hpcc":
        steps = {"ai": draw.choice([10, 500]) * 10**6, "max_stage": draw.choice([0, 0, 2, 5])}
        return {**steps, "eta": draw.choice([0.5, 0.95, 1]), "least": draw.choice([5, 1000])}
    quick = {"qa_threshold": draw.choice([1, 2, 4]), "qa_gate": draw.choice([0, 1, 3])}
    goal: dict[str, int | str] = draw.choice([{}, {"target_qdelay": low // 3}])
    return {**goal, **quick, "delay_alpha": draw.choice([0.0125, 0.3]), "fi_scale": draw.choice([0.25, 0.02])}


def crowded(draw: random.Random, base: Scenario) -> Scenario:
    """Add that everybody else sends to one host, which sends to two of them."""
    hosts = len(base.network.hosts)
    hot = draw.randrange(hosts)
    others = [host for host in range(hosts) if host != hot]
    rows: list[Row] = [
        (s, hot, c, draw.randint(1, 40) * 3936, ()) for s in others for c in range(2, draw.choice([3, 5]))
    ]
    rows += [(hot, target, 2, 60_000, ()) for target in draw.sample(others, 2)]
    return replace(base, collectives=(*base.collectives, Collective(rows, drawn_entries(draw, hosts))))


def with_pfc(draw: random.Random, network: Network) -> Network:
    """Give the same network with flow control, and no link without a delay (a PAUSE takes nothing else)."""
    xoff = draw.choice([1, 2, 5]) * PACKET
    xon = draw.choice([0, PACKET, xoff])
    headrooms = [None, None, None, 4 * PACKET, 7 * PACKET]  # one packet inside a server has the size of four
    pfc = Pfc(xoff=xoff, xon=xon, headroom=draw.choice(headrooms))
    links = tuple(replace(link, delay_ps=max(link.delay_ps, 40_000)) for link in network.links)
    return replace(network, links=links, pfc=pfc)
