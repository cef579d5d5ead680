"""Rings of packets against plain queues: order, growth, and not a row of the pool lost or used twice."""

from collections import deque
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_pool import (
    FIRST_SIZE,
    append,
    first,
    first_at,
    length,
    load_ring,
    make_room,
    push,
    store_ring,
)
from netsim.core.state.world import World
from netsim.kernel import bare, entry
from tests.core.worlds import at_rest
from tests.reference.scenarios.networks import star

PUSH, POP, PUSH_HELD, ROOM = range(4)


@entry
def work(owned, kinds, links, values, out):  # type: ignore[no-untyped-def]
    """Do one step after the other on the wires of some links; out[i] is what step i took or saw."""
    world = bare(owned)
    for i in range(kinds.size):
        row = world.links[links[i]].in_flight
        if kinds[i] == PUSH:
            append(world, row, values[i], 2 * values[i], 3 * values[i])
        elif kinds[i] == ROOM:
            make_room(world, row, values[i])
            out[i] = row.mask + 1 - length(row)
        elif kinds[i] == PUSH_HELD:
            make_room(world, row, 1)
            ring = push(world.packet_pool, load_ring(row), values[i], 2 * values[i], 3 * values[i])
            store_ring(row, ring)
        else:
            out[i] = first_at(world.packet_pool, load_ring(row))
            if length(row):
                packet = first(world.packet_pool, load_ring(row))
                out[i] = packet.at if packet.header == 2 * packet.at and packet.meta == 3 * packet.at else -1
                row.head += 1


def a_star(hosts: int = 3) -> World:
    return at_rest(star(hosts))


def blocks_of(world: World) -> list[tuple[int, int]]:
    """Every block of the pool below pool_used that belongs to a ring or is free: (first, rows)."""
    names = [name for name in world.links.dtype.names or () if world.links.dtype[name] == world.inboxes.dtype]
    rings = [ring for name in names for ring in world.links[name]] + [
        *world.inboxes,
        *world.account_events,
        *world.pool_events,
    ]
    rings += [*world.pfc_state["signals"], *world.pfc_state["paced_queue"], *world.hosts["timers"]]
    found = [(int(ring["start"]), int(ring["mask"]) + 1) for ring in rings]
    for size_class, block in enumerate(world.blocks.tolist()):
        while block >= 0:
            found.append((block, 1 << size_class))
            block = int(world.packet_pool["at"][block])
    return sorted(found)


steps = st.lists(
    st.tuples(st.sampled_from([PUSH, PUSH, PUSH, POP, PUSH_HELD, ROOM]), st.integers(0, 2), st.integers(1, 40)),
    max_size=120,
)


@settings(deadline=None)
@given(steps)
def test_rings_are_queues_and_the_pool_is_tiled_by_blocks(chosen: list[tuple[int, int, int]]) -> None:
    world, queues = a_star(), [deque[int]() for _ in range(3)]
    columns = np.array(chosen, "i8").reshape(-1, 3).T.copy()
    out = np.zeros(len(chosen), "i8")
    work(world, *columns, out)
    for (kind, link, value), seen in zip(chosen, out.tolist(), strict=True):
        if kind in (PUSH, PUSH_HELD):
            queues[link].append(value)
        elif kind == POP:
            assert seen == (queues[link].popleft() if queues[link] else NEVER)
        else:
            assert seen >= value
    end = 0
    for start, rows in blocks_of(world):
        assert start == end
        end = start + rows
    assert end == int(world.progress[0]["pool_used"])


def test_a_ring_grows_only_when_it_is_full_and_leaves_its_block_to_the_next() -> None:
    world = a_star()
    used = int(world.progress[0]["pool_used"])
    do(world, [(PUSH, 0, n) for n in range(1, FIRST_SIZE + 1)])
    assert int(world.progress[0]["pool_used"]) == used
    left = int(world.links[0]["in_flight"]["start"])
    do(world, [(PUSH, 0, 9)])
    assert int(world.progress[0]["pool_used"]) == used + 2 * FIRST_SIZE
    do(world, [(PUSH, 1, n) for n in range(1, 2 * FIRST_SIZE + 2)])  # grows twice: 8, then 16
    do(world, [(PUSH, 2, n) for n in range(1, FIRST_SIZE + 2)])  # takes the 8 that ring 1 left
    assert int(world.progress[0]["pool_used"]) == used + (2 + 2 + 4) * FIRST_SIZE
    assert (left, FIRST_SIZE) in blocks_of(world)


def test_a_wrapped_ring_keeps_its_order_when_it_grows() -> None:
    world = a_star()
    script = [(PUSH, 0, n) for n in (1, 2, 3, 4)] + [(POP, 0, 1)] * 3 + [(PUSH, 0, n) for n in range(5, 12)]
    assert do(world, script + [(POP, 0, 1)] * 9)[-9:] == [4, 5, 6, 7, 8, 9, 10, 11, NEVER]


def test_without_room_left_a_ring_says_so() -> None:
    world = a_star()
    world.progress[0]["pool_used"] = len(world.packet_pool) - 4
    with pytest.raises(MemoryError, match="no room for more packets"):
        do(world, [(PUSH, 0, n) for n in range(1, FIRST_SIZE + 2)])


def do(world: World, script: list[tuple[int, int, int]]) -> list[Any]:
    columns = np.array(script, "i8").T.copy()
    out = np.zeros(len(script), "i8")
    work(world, *columns, out)
    return out.tolist()
