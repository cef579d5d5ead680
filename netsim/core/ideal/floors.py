"""The ideal times of an operation and of its flows, worked out when it is admitted: what `slowdown` compares with."""

from typing import Any, NamedTuple

import numpy as np

from netsim.core.ideal.alone import LONG, MOST_MESSAGES, MOST_TRAINS, PASSING, TALLY, TURN, play
from netsim.core.ideal.alone_links import PORT, RUN
from netsim.core.ideal.chains import LANE, mean_chain
from netsim.core.ideal.event_queue import CALENDAR, EVENT
from netsim.core.ideal.flow_floors import FLOOR, flow_floors
from netsim.core.ideal.host_links import ANSWERS, SHARE, SPAN, SUBSETS, busiest_link, look_over
from netsim.core.ideal.idle_path import LAYER, LEG, REACHED
from netsim.core.ideal.legs import longest_chain
from netsim.core.state.memory import aligned_zeros
from netsim.core.state.world import World
from netsim.kernel import bare, entry

OWN = np.dtype([("first", "i8"), ("first_flow", "i8")])  # rows of the World that the operation's begin with


class Work(NamedTuple):
    """What is known of an operation of n messages while its ideal time is worked out."""

    own: Any  # one row
    first_after: Any  # i8[n + 1]: what each message waits for (CSR), counted from the operation's first
    after: Any  # i4
    waits: Any  # u4[n]: for how many it still waits
    order: Any  # u4[n]: of release
    begin: Any  # i8[n]: the soonest release of each, ps
    end: Any  # i8[n]: the least time from its delivery to the end of the operation, ps
    weights: Any  # f8[n]: of the mean over chains
    spans: Any  # these four per link
    answers: Any
    shares: Any  # SUBSETS rows each
    lanes: Any
    floors: Any  # these two per flow
    legs: Any
    reached: Any  # per node, and one row more
    nodes: Any  # i8
    layers: Any  # per link of the longest route
    tally: Any  # one row; these of the operation as it is played
    calendar: Any  # one row
    events: Any
    days: Any  # the first event of each day, u4
    today: Any  # the events of today, in order, u4
    merged: Any  # scratch of their sorting
    heap: Any  # those that were pushed today
    runs: Any  # per message
    turns: Any  # per flow
    ports: Any  # per link
    passing: Any  # per train


@entry
def measure(owned, owned_work):
    """The time in ps that nothing beats, -1 for a cycle; fills `floors`, and `tally` if the operation is played."""
    world, work = bare(owned), bare(owned_work)
    flow_floors(world, work)
    longest = longest_chain(world, work)
    if longest <= 0:
        return longest
    look_over(world, work)
    floor = max(longest, max(busiest_link(world, work), mean_chain(world, work, longest)))
    if work.events.size > 1:
        play(world, work, floor)
    return floor


def ideal_times(
    world: World, first: int, first_flow: int, flows: int, packets: int, first_after: Any, after: Any
) -> tuple[int, int, Any]:
    """Two times in ps of the messages from `first` on, and FLOOR of each of their flows.

    The one that nothing beats, -1 for a cycle; and the one they take in the order in which NICs send them, where
    nothing meets between hosts. first_after i8[n + 1] and after i4: what each of the n messages waits for, counted from
    the first (CSR).
    """
    rows, links, nodes = len(first_after) - 1, len(world.links), len(world.next_event)
    work = Work(
        own=np.array([(first, first_flow)], OWN),
        first_after=first_after,
        after=after,
        waits=world.messages["waits"][first : first + rows].copy(),
        order=np.zeros(rows, "u4"),
        **{name: np.zeros(rows, "i8") for name in ("begin", "end")},
        weights=np.zeros(rows, "f8"),
        spans=np.zeros(links, SPAN),
        answers=np.zeros(links, ANSWERS),
        shares=np.zeros(links * SUBSETS, SHARE),
        lanes=np.zeros(links, LANE),
        floors=np.zeros(flows, FLOOR),
        legs=aligned_zeros(flows, LEG),
        reached=np.zeros(nodes + 1, REACHED),
        nodes=np.zeros(nodes + 1, "i8"),
        layers=np.zeros(int(world.settings[0]["stride"]), LAYER),
        **_as_played(rows, flows, links, packets, len(after)),
    )
    floor = int(measure(world, work))
    return floor, max(floor, int(work.tally[0]["ended_at"])), work.floors


def _as_played(rows: int, flows: int, links: int, packets: int, waiting: int) -> dict[str, Any]:
    """What `play` writes to; empty for an operation that is too large to be played."""
    train = max(1, packets // (2 * MOST_TRAINS if waiting else MOST_TRAINS))
    trains = packets // train + rows  # at most
    events = links + waiting + 2 * trains + 1
    if rows > 4 * MOST_MESSAGES or (rows > MOST_MESSAGES and packets < LONG * rows):
        rows = flows = links = trains = 0
        events = 1
    return {
        "tally": np.array([(0, train, 0)], TALLY),
        "calendar": np.zeros(1, CALENDAR),
        "events": aligned_zeros(events, EVENT),
        "days": np.zeros(1 << trains.bit_length(), "u4"),
        **{name: np.zeros(events, "u4") for name in ("today", "merged", "heap")},
        "passing": np.zeros(trains, PASSING),
        "runs": aligned_zeros(rows, RUN),
        "turns": np.zeros(flows, TURN),
        "ports": aligned_zeros(links, PORT),
    }
