"""Rings of packets that grow. All wires, queues and inboxes are rings in one table of PACKETs, the packet pool.

In a table a ring is a RING record. A hot loop holds it as a Ring, a value: the compiler keeps it in registers.
"""

from typing import NamedTuple

from netsim.core.state.dtypes import NEVER
from netsim.core.state.packet_metadata import copy_metadata
from netsim.kernel import inner, part

FIRST_SIZE = 4  # entries of a new ring


class Ring(NamedTuple):
    head: int
    tail: int
    start: int
    mask: int


@part
def load_ring(row):
    return Ring(row.head, row.tail, row.start, row.mask)


@part
def store_ring(row, ring):
    row.head = ring.head
    row.tail = ring.tail


@part
def length(ring):
    return ring.tail - ring.head


@part
def is_full(ring):
    return ring.tail - ring.head > ring.mask


@part
def first(packet_pool, ring):
    return packet_pool[ring.start + (ring.head & ring.mask)]


@part
def behind_head(ring):
    return Ring(ring.head + 1, ring.tail, ring.start, ring.mask)


@part
def push(packet_pool, ring, at, header, meta):
    packet = packet_pool[ring.start + (ring.tail & ring.mask)]
    packet.at = at
    packet.header = header
    packet.meta = meta
    return Ring(ring.head, ring.tail + 1, ring.start, ring.mask)


@part
def first_at(packet_pool, ring):
    return packet_pool[ring.start + (ring.head & ring.mask)].at if ring.head < ring.tail else NEVER


@part
def append(world, row, at, header, meta):
    """Push onto a ring that stays in its table."""
    if is_full(row):
        grow(world, row)
    packet = world.packet_pool[row.start + (row.tail & row.mask)]
    packet.at = at
    packet.header = header
    packet.meta = meta
    row.tail += 1


@inner
def size_class(size):
    k = 0
    while (1 << k) < size:
        k += 1
    return k


@inner
def take_block(world, size):
    """A block of `size` = 2^k entries: a used one of that size if there is one, else a new one."""
    k = size_class(size)
    block = world.blocks[k]
    if block >= 0:
        world.blocks[k] = world.packet_pool[block].at  # a free block holds the number of the next one
        return block
    progress = world.progress[0]
    block = progress.pool_used
    progress.pool_used += size
    if progress.pool_used > world.packet_pool.size:
        raise MemoryError("no room for more packets")
    return block


@inner
def give_block(world, start, size):
    k = size_class(size)
    world.packet_pool[start].at = world.blocks[k]
    world.blocks[k] = start


@inner
def grow(world, row):
    """Double a ring: move it to a block twice as large."""
    size = row.mask + 1
    block = take_block(world, 2 * size)
    timestamped = world.settings[0].timestamped
    for i in range(row.head, row.tail):
        old = world.packet_pool[row.start + (i & row.mask)]
        new = world.packet_pool[block + (i & (2 * size - 1))]
        new.at = old.at
        new.header = old.header
        new.meta = old.meta
        if timestamped:
            copy_metadata(world, row.start + (i & row.mask), block + (i & (2 * size - 1)))
    give_block(world, row.start, size)
    row.start = block
    row.mask = 2 * size - 1


@inner
def insert_sorted(world, row, at, header, by_label):
    """Insert into a ring that is in order of time; among equals by label, or behind those that came before."""
    if is_full(row):
        grow(world, row)
    i = row.tail
    while i > row.head:
        before, here = (
            world.packet_pool[row.start + ((i - 1) & row.mask)],
            world.packet_pool[row.start + (i & row.mask)],
        )
        if before.at < at or (before.at == at and not (by_label and before.header > header)):
            break
        here.at = before.at
        here.header = before.header
        i -= 1
    here = world.packet_pool[row.start + (i & row.mask)]
    here.at = at
    here.header = header
    row.tail += 1


@part
def make_room(world, row, count):
    while row.tail - row.head + count > row.mask + 1:
        grow(world, row)


@part
def insert_into_inbox(world, inbox, at, header, meta, pool_index):
    """Insert into a ring that begins at its start, in order of time; what came before stays first among equals.

    pool_index: where the packet itself lies, which keeps its metadata.
    """
    timestamped = world.settings[0].timestamped
    if is_full(inbox):
        grow(world, inbox)
    packet_pool, start = world.packet_pool, inbox.start
    i = start + inbox.tail
    while i > start and packet_pool[i - 1].at > at:
        before, here = packet_pool[i - 1], packet_pool[i]
        here.at = before.at
        here.header = before.header
        here.meta = before.meta
        if timestamped:
            world.packet_metadata[i].pool_index = world.packet_metadata[i - 1].pool_index
        i -= 1
    if timestamped:
        world.packet_metadata[i].pool_index = pool_index
    packet = packet_pool[i]
    packet.at = at
    packet.header = header
    packet.meta = meta
    inbox.tail += 1
