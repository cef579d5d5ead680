"""A binary heap of events in a table: the first by time, among equals by kind, by link, by when it was put there."""

import numpy as np

from netsim.kernel import inner, part

EVENT = np.dtype([("at", "i8"), ("number", "i8"), ("what", "i8"), ("row", "i8"), ("packets", "i8"), ("last_at", "i8")])
SENDS, LEAVES, ENTERS, PASSES, COMES, THERE, ANSWERS, ACKED = range(8)  # in this order at one time: send, then hear
LINKS, EVENTS = 28, 32  # binary digits of either in the number of an event


@part
def push(work, at, what, row, packets, last_at, link_id=0):
    """Put an event on the heap: among those of one time by kind, by link `link_id`, then the earlier one."""
    integer = np.int64  # of whatever width they come: compiled once
    insert(work, integer(at), integer(what), integer(row), integer(packets), integer(last_at), integer(link_id))


@inner
def insert(work, at, what, row, packets, last_at, link_id):
    """The same, of numbers of one width."""
    heap, tally = work.heap, work.tally[0]
    k = tally.events
    tally.events += 1
    tally.pushed += 1
    number = (what << LINKS | link_id) << EVENTS | tally.pushed
    while k > 0 and (
        heap[(k - 1) >> 1].at > at or (heap[(k - 1) >> 1].at == at and heap[(k - 1) >> 1].number > number)
    ):
        move(heap[(k - 1) >> 1], heap[k])
        k = (k - 1) >> 1
    event = heap[k]
    event.at, event.number, event.what, event.row = at, number, what, row
    event.packets, event.last_at = packets, last_at


@part
def move(event, to):
    to.at, to.number, to.what, to.row = event.at, event.number, event.what, event.row
    to.packets, to.last_at = event.packets, event.last_at


@part
def is_before(one, other):
    return one.at < other.at or (one.at == other.at and one.number < other.number)


@inner
def pop(work):
    """The first event: its row of the heap is the one behind those in use, until the next push."""
    heap, tally = work.heap, work.tally[0]
    tally.events -= 1
    size = np.int64(tally.events)
    spare = heap[heap.size - 1]
    move(heap[0], spare)
    last, k = heap[size], np.int64(0)
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and is_before(heap[child + 1], heap[child]):
            child += 1
        if not is_before(heap[child], last):
            break
        move(heap[child], heap[k])
        k = child
    move(last, heap[k])
    return spare
