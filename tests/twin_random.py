"""Scenarios drawn at random, to find what nobody thought of: `drawn(n)` is always the same one."""

from __future__ import annotations

import random
from collections.abc import Callable

from netsim.topology.network import Network
from tests.twin_networks import MICROSECOND, Queue, Row, leaves, queue, rails, star
from tests.twin_runs import Collective, Scenario

MARKS = [(None, 0, 1.0), (0, 0, 1.0), (1, 4, 0.7), (2, 9, 1.0)]  # kmin, kmax in packets, pmax


def drawn(number: int) -> Scenario:
    """Give random scenario `number`: one or two collectives that may lose, mark, time out, pass through."""
    draw = random.Random(number)
    room, (kmin, kmax, pmax) = draw.choice([2, 5, 12, 60]), draw.choice(MARKS)
    network, hosts = drawn_network(draw, queue(room, kmin, kmax, pmax))
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


def drawn_network(draw: random.Random, at: Queue) -> tuple[Callable[[], Network], int]:
    """Give a network and how many hosts it has."""
    control_class = draw.choice(["strict", "shared"])
    delays = draw.choice([[1000], [500, 1000], [0, 300, 70]])
    servers, gigabits = draw.choice([2, 3]), draw.choice([400, 800, 3600])
    return draw.choice(
        [
            (lambda: star(5, at=at, control_class=control_class, delays_ns=delays), 5),
            (lambda: leaves(2, 3, 1, at=at, control_class=control_class), 6),
            (lambda: rails(servers, 2, at=at, scale_up_gigabits=gigabits), 2 * servers),
        ]
    )


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
