"""Events of an operation that is played: the first by time, among equals by kind, by link, by when it was put there.

A calendar queue (Brown 1988): a day is some picoseconds long, and what is to happen on a later day is put on that day's
list in no order. When the day comes its events are sorted; what is pushed for the same day goes to a binary heap, which
so stays small. A list serves every day that has its number modulo the number of lists.
"""

import numpy as np

from netsim.kernel import inner, part

EVENT = np.dtype(
    [  # a cache line
        ("at", "i8"),
        ("number", "i8"),  # its place among events of one time
        ("what", "i8"),
        ("row", "i8"),
        ("packets", "i8"),
        ("last_at", "i8"),
        ("next", "i8"),  # in the list of its day, or among rows that are free
        ("spare", "i8"),
    ]
)
CALENDAR = np.dtype(
    [
        ("events", "i8"),  # that are still to happen
        ("pushed", "i8"),
        ("used", "i8"),  # rows of events that were ever in use; row 0 stands for none
        ("free", "i8"),  # the first row that is not in use any more
        ("today", "i8"),
        ("sorted", "i8"),  # events of today, in order, and how many of them have happened
        ("taken", "i8"),
        ("in_heap", "i8"),  # events of today that were pushed today
        ("shift", "i8"),  # a day has 2 ** shift ps
    ]
)
SENDS, LEAVES, ENTERS, PASSES, COMES, THERE, ANSWERS, ACKED = range(8)  # in this order at one time: send, then hear
LINKS, EVENTS = 28, 32  # binary digits of either in the number of an event


@part
def start_calendar(work, duration):
    """No event yet; the days of about `duration` ps have a list each."""
    calendar = work.calendar[0]
    calendar.used = 1
    while duration >> calendar.shift >= work.days.size:
        calendar.shift += 1


@part
def push(work, at, what, row, packets, last_at, link_id=0):
    """Add an event: among those of one time by kind, by link `link_id`, then the earlier one."""
    integer = np.int64  # of whatever width they come: compiled once
    insert(work, integer(at), integer(what), integer(row), integer(packets), integer(last_at), integer(link_id))


@inner
def insert(work, at, what, row, packets, last_at, link_id):
    """The same, of numbers of one width."""
    calendar = work.calendar[0]
    calendar.events += 1
    calendar.pushed += 1
    new = np.int64(calendar.free)
    if new:
        calendar.free = work.events[new].next
    else:
        new = np.int64(calendar.used)
        calendar.used += 1
    event = work.events[new]
    event.at, event.number = at, (what << LINKS | link_id) << EVENTS | calendar.pushed
    event.what, event.row, event.packets, event.last_at = what, row, packets, last_at
    day = at >> calendar.shift
    if day <= calendar.today:
        put_in_heap(work, new)
    else:
        first = day & (work.days.size - 1)
        event.next = work.days[first]
        work.days[first] = new


@part
def is_before(work, one, other):
    one, other = work.events[one], work.events[other]
    return one.at < other.at or (one.at == other.at and one.number < other.number)


@inner
def put_in_heap(work, new):
    """One more event of today."""
    heap, k = work.heap, np.int64(work.calendar[0].in_heap)
    work.calendar[0].in_heap += 1
    while k > 0 and is_before(work, new, np.int64(heap[(k - 1) >> 1])):
        heap[k] = heap[(k - 1) >> 1]
        k = (k - 1) >> 1
    heap[k] = new


@part
def run_end(work, rows, begin, end):
    """Where the events that stand in order from `begin` on end."""
    k = begin + 1
    while k < end and is_before(work, np.int64(rows[k - 1]), np.int64(rows[k])):
        k += 1
    return min(k, end)


@inner
def merge_runs(work, rows, to, count):
    """Merge every two runs of events that stand in order. Returns how many there are now."""
    runs, begin, k = 0, np.int64(0), np.int64(0)
    while begin < count:
        middle = run_end(work, rows, begin, count)
        end = run_end(work, rows, middle, count)
        left, right = begin, middle
        while k < end:
            takes_left = right == end or (
                left < middle and is_before(work, np.int64(rows[left]), np.int64(rows[right]))
            )
            to[k] = rows[left] if takes_left else rows[right]
            left, right, k = left + takes_left, right + (not takes_left), k + 1
        begin, runs = end, runs + 1
    return runs


@inner
def sort_today(work, count):
    """Natural merge sort: most of a day's events were pushed in order."""
    calendar = work.calendar[0]
    while run_end(work, work.today, np.int64(0), count) < count:
        merge_runs(work, work.today, work.merged, count)
        for k in range(count):
            work.today[k] = work.merged[k]
    calendar.sorted, calendar.taken = count, 0


@inner
def next_day(work):
    """The events of the next day that has any are those of today."""
    calendar, count = work.calendar[0], np.int64(0)
    while count == 0:
        calendar.today += 1
        first = calendar.today & (work.days.size - 1)
        row, later, end = np.int64(work.days[first]), np.int64(0), work.today.size
        while row:
            event = work.events[row]
            following = np.int64(event.next)
            if event.at >> calendar.shift == calendar.today:
                count += 1
                work.today[end - count] = row  # the list begins with what was pushed last
            else:
                event.next, later = later, row
            row = following
        work.days[first] = later
    for k in range(count):
        work.today[k] = work.today[work.today.size - count + k]
    sort_today(work, count)


@inner
def take_from_heap(work):
    calendar, heap = work.calendar[0], work.heap
    calendar.in_heap -= 1
    soonest, last, size, k = np.int64(heap[0]), np.int64(heap[calendar.in_heap]), calendar.in_heap, np.int64(0)
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and is_before(work, np.int64(heap[child + 1]), np.int64(heap[child])):
            child += 1
        if not is_before(work, np.int64(heap[child]), last):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = last
    return soonest


@inner
def pop(work):
    """Take the first event: its row stands until the next push."""
    calendar = work.calendar[0]
    if calendar.in_heap == 0 and calendar.taken == calendar.sorted:
        next_day(work)
    calendar.events -= 1
    soonest = np.int64(work.today[calendar.taken])
    if calendar.in_heap and (calendar.taken == calendar.sorted or is_before(work, np.int64(work.heap[0]), soonest)):
        soonest = take_from_heap(work)
    else:
        calendar.taken += 1
    event = work.events[soonest]
    event.next, calendar.free = calendar.free, soonest
    return event
