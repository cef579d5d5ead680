"""Why a link held up a packet: the kinds of cause, told apart by what the links carried in that time."""

from typing import NamedTuple

import numpy as np

from netsim.core.observe.packet_trace import LOST
from netsim.explain.alternatives import Alternatives
from netsim.explain.path import IDLE, NO_LINK, PAUSE, QUEUEING, RETRANSMISSION, SERIALISATION, Path, Segment
from netsim.explain.trace_columns import Column
from netsim.explain.traffic import Traffic
from netsim.report.bottleneck import LOPSIDED, MORE_THAN_HOSTS
from netsim.result.reason import ReasonKind
from netsim.topology import Network
from netsim.transport.fixed_point import WIDEST
from netsim.transport.registry import REGISTRY, Control

# Where one answer ends and the next begins; near a border both are partly true.
UNEVEN = 1.25  # a link with so much more to carry than the mean of its alternatives
OFTEN_PAUSED = 0.25  # of the time in which packets queued: then they queued because of the pauses
SELDOM = 0.05  # of a connection's marks or waits: a link with no more did not hold it down
UNFELT = 0.05  # of its idle round trip: packets that wait less, in the mean, did not hold it down
MOST_STEPS = 16  # from one paused link to the next


class Cause(NamedTuple):
    """The kind of cause, and the link it lies at, or the rank that came late; -1 for none."""

    kind: str
    link: int = NO_LINK
    rank: int = -1


class Causes:
    """The causes of the pieces of one collective's critical path."""

    def __init__(
        self, network: Network, alternatives: Alternatives, routing: str, path: Path, traffic: Traffic
    ) -> None:
        self.traffic, self.rows = traffic, path.rows
        self.network, self.alternatives, self.routing = network, alternatives, routing
        self.timelines, self.number = path.timelines, path.number
        self.start_ps, self.end_ps = path.start_ps, path.end_ps
        self._queues: dict[tuple[int, int], Cause] = {}
        self._throttles: dict[tuple[int, bool], Cause] = {}

    def of(self, segment: Segment) -> Cause | None:
        """The cause of a piece; None for one that an idle network has too."""
        if segment.kind in IDLE:
            return None
        if segment.rank >= 0:
            return Cause(ReasonKind.STRAGGLER, rank=segment.rank)
        if segment.kind == QUEUEING:
            return self._of_queue(segment.link, segment.connection)
        if segment.kind == PAUSE:
            return self._of_pause(segment.link, segment.connection, segment.start_ps, segment.end_ps)
        if segment.kind == RETRANSMISSION:
            return self._of_loss(segment)
        return self._of_throttling(segment.connection, paced=segment.paced)

    def unavoidable(self, segment: Segment) -> Cause:
        """What sets the time of a piece that an idle network has too: the narrowest link of a route, or latency."""
        is_spread = bool(self.rows.world.settings[0]["per_packet_routing"])
        if segment.kind != SERIALISATION or not (is_spread or segment.link in self._route(segment.connection)):
            return Cause(ReasonKind.LATENCY)  # propagation; or an answer, which goes the other way
        link, _ = self.rows.narrowest(segment.connection)
        is_hosts = self.network.source[link] < len(self.network.hosts)
        return Cause(ReasonKind.HOST_LINK if is_hosts else ReasonKind.SLOWER_LINK, link)

    def _of_queue(self, link: int, connection: int) -> Cause:
        key = link, connection
        if key not in self._queues:
            when = self.start_ps, self.end_ps
            paused = self.traffic.paused(link, connection, *when) > OFTEN_PAUSED * (self.end_ps - self.start_ps)
            self._queues[key] = self._of_pause(link, connection, *when) if paused else self._at(link, connection)
        return self._queues[key]

    def _at(self, link: int, connection: int) -> Cause:
        """Why there is a queue at a link that a connection crosses."""
        hosts, route = len(self.network.hosts), self._route(connection)
        if self.network.source[link] < hosts:
            return Cause(ReasonKind.HOST_LINK, link)
        sources = np.unique(self.rows.world.connections["source"][self._crossing(link)])
        sent_at = min(self.network.rate_bps[each] for each in route if self.network.source[each] < hosts)
        if len(sources) <= 1 and self.network.rate_bps[link] < sent_at:
            return Cause(ReasonKind.SLOWER_LINK, link)
        if self.network.target[link] < hosts:
            return Cause(ReasonKind.INCAST if len(sources) > 1 else ReasonKind.PASSING_CONGESTION, link)
        ends = self._ends(link, route)
        others = self.alternatives.of(link, *ends)
        needed = np.array([self._needed_ps(each) for each in others.tolist()])
        rates = self.network.rate_bps[others]
        even = float((needed * rates).sum() / rates.sum())
        ends_of = self._host_links_of(others)
        if even > MORE_THAN_HOSTS * max(map(self._needed_ps, ends_of), default=0.0):
            return Cause(ReasonKind.OVERSUBSCRIPTION, link)
        receiver = self._lopsided(ends_of)
        if receiver != NO_LINK and self._needed_ps(receiver) > self._needed_ps(link):
            return Cause(ReasonKind.INCAST, receiver)  # wherever its packets met first
        if self._needed_ps(link) > UNEVEN * even and len(self._crossing(link)) > 1:
            return Cause(ReasonKind.collision_under(self.routing), link)
        return Cause(ReasonKind.PASSING_CONGESTION, link)

    def _needed_ps(self, link: int) -> float:
        """How long a link needs for the data that it carried while the collective lasted."""
        sent = self.traffic.bytes_sent(link, self.start_ps, self.end_ps)
        return sent * 8e12 / float(self.network.rate_bps[link])

    def _crossing(self, link: int) -> list[int]:
        """The connections whose data a link carried while the collective lasted."""
        return list(self.traffic.senders(link, self.start_ps, self.end_ps)[0].tolist())

    def _host_links_of(self, links: np.ndarray) -> list[int]:
        """The links of hosts that sent over some links or received over them."""
        crossing = {each for link in links.tolist() for each in self._crossing(link)}
        return sorted({end for each in crossing for end in self._host_links(self._route(each))})

    def _lopsided(self, ends: list[int]) -> int:
        """Of links of hosts the one that is received over for much longer than any is sent over; NO_LINK if none is."""
        leaves = [link for link in ends if self.network.source[link] < len(self.network.hosts)]
        most = max(ends, key=self._needed_ps, default=NO_LINK)
        sent_ps = max(map(self._needed_ps, leaves), default=0.0)
        return most if ends and self._needed_ps(most) > LOPSIDED * sent_ps else NO_LINK

    def _host_links(self, route: list[int]) -> list[int]:
        hosts = len(self.network.hosts)
        return [link for link in route if self.network.source[link] < hosts or self.network.target[link] < hosts]

    def _route(self, connection: int) -> list[int]:
        return list(self.rows.route_of(connection).tolist())

    def _ends(self, link: int, route: list[int]) -> tuple[int, int]:
        """The hosts before and after a link on a route, which may pass through hosts on its way."""
        network, hosts = self.network, len(self.network.hosts)
        if link not in route:  # switches choose per packet: outside servers there is no host between the ends
            inside = [each for each in route if network.kinds[each] != "nvlink"]
            return int(network.source[inside[0]]), int(network.target[inside[-1]])
        place = route.index(link)
        before = [int(network.source[each]) for each in route[: place + 1] if network.source[each] < hosts]
        after = [int(network.target[each]) for each in route[place:] if network.target[each] < hosts]
        return before[-1], after[0]

    def _of_pause(self, link: int, connection: int, start_ps: int, end_ps: int) -> Cause:
        """Follow a pause downstream, to the link behind which packets wait that is not stopped itself."""
        root = self._root(link, connection, start_ps, end_ps)
        if root in self._route(connection) and root != link:
            return self._at(root, connection)
        return Cause(ReasonKind.PFC_SPREADING, root)

    def _root(self, link: int, connection: int, start_ps: int, end_ps: int) -> int:
        seen = [link]
        while len(seen) < MOST_STEPS:
            behind = self._fullest(seen[-1], start_ps, end_ps)
            if behind is None or behind in seen:
                break
            seen.append(behind)
            if self.traffic.paused(behind, connection, start_ps, end_ps) == 0:
                break
        return seen[-1]

    def _fullest(self, link: int, start_ps: int, end_ps: int) -> int | None:
        """Of the links that the far end of a link sends on: where most of what came by it waits in that time."""
        waiting = {}
        for egress in np.flatnonzero(self.network.source == self.network.target[link]).tolist():
            waiting[egress] = self.traffic.waiting(egress, link, start_ps, end_ps)
        best = max(waiting, key=lambda egress: waiting[egress], default=None)
        return best if best is not None and waiting[best] > 0 else None

    def _of_loss(self, segment: Segment) -> Cause:
        """Where packets of the connection got lost since; if none did, its receiver still missed one lost before."""
        rows, times = self.traffic.losses(segment.connection)
        first, last = np.searchsorted(times, [segment.start_ps, segment.end_ps])
        first = max(0, last - 1) if first == last else first
        return Cause(ReasonKind.LOSS_RECOVERY, _most(self.rows.link[rows[first:last]]))

    def behind(self, cause: Cause, connection: int) -> str:
        """Why a queue was full in which packets were lost, a kind; "" where a wire lost them. Or whose limit."""
        if cause.kind in (ReasonKind.WINDOW_LIMIT, ReasonKind.RATE_LIMIT):
            return self._limit(connection, is_window=cause.kind == ReasonKind.WINDOW_LIMIT)
        if cause.kind != ReasonKind.LOSS_RECOVERY or cause.link == NO_LINK:
            return ""
        rows, _ = self.traffic.losses(connection)
        here = rows[self.rows.link[rows] == cause.link]
        wire_lost = (self.rows.flags[here] & LOST) != 0
        return "" if wire_lost.all() else self._of_queue(cause.link, connection).kind

    def _of_throttling(self, connection: int, *, paced: bool) -> Cause:
        """At the most needed link that marked a connection's packets or let them wait, else where it lost most.

        A packet is marked once, at the first queue that is long enough, so whoever marked most may only stand first:
        what holds a connection down for long is the link on its way with most to carry. Where nothing on its way told
        its control to slow down, the limit is its own: its pace, or its window.
        """
        if (connection, paced) not in self._throttles:
            self._throttles[connection, paced] = self._that_slowed(connection) or Cause(
                ReasonKind.RATE_LIMIT if paced else ReasonKind.WINDOW_LIMIT
            )
        return self._throttles[connection, paced]

    def _that_slowed(self, connection: int) -> Cause | None:
        marked, lost, waited = self.traffic.slowed(connection, self.start_ps, self.end_ps)
        control = self._control(connection)
        if lost.any() and not marked.any() and not control.receiver_credit:
            return Cause(ReasonKind.LOSS_RECOVERY, int(np.argmax(lost)))
        is_told = control.traits.reacts_to_ecn and marked.any()
        by_delay = control.timestamped or control.receiver_credit  # a packet that is trimmed waits too
        if not is_told and not (by_delay and self._is_felt(connection, int(waited.sum()))):
            return None
        links = np.union1d(_often(marked), _often(waited))
        needed = [self._needed_ps(each) for each in links.tolist()]
        return self._of_queue(int(links[np.argmax(needed)]), connection)

    def _limit(self, connection: int, *, is_window: bool) -> str:
        """Whose limit holds a connection back: its control's, or that of a setting."""
        control = self._control(connection)
        if not is_window or control.traits.moves_window:
            return control.name
        is_open = int(self.rows.world.connections["cwnd"][connection]) >= WIDEST
        return "selective_repeat.window" if is_open else "transport.window"

    def _control(self, connection: int) -> Control:
        return list(REGISTRY.values())[int(self.rows.world.connections["control"][connection])]

    def _is_felt(self, connection: int, waited_ps: int) -> bool:
        """Whether so long a wait of all a connection's packets of the collective shows in their round trips."""
        timeline = self.timelines.timeline(self.number)
        mine: Column = timeline.connection == connection
        packets = max(1, int((timeline.end[mine] - timeline.first[mine]).sum()))
        delays = [self.network.links[each].delay_ps for each in self._route(connection)]
        return waited_ps > UNFELT * 2 * sum(delays) * packets


def _often(shares: np.ndarray) -> np.ndarray:
    """The links that have a fair share of something."""
    return np.flatnonzero(shares > SELDOM * shares.sum())


def _most(links: np.ndarray) -> int:
    """The link that occurs most; NO_LINK if there is none."""
    return int(np.argmax(np.bincount(links))) if len(links) else NO_LINK
