"""How long the links of hosts need for an operation: for what each carries, between what is before and after it.

What a link carries at all is one bound; what comes late, or has far to go afterwards, is another. A NIC sends ACKs
first: those of the packets that come in the meantime are among what it has to carry.
"""

import numpy as np

from netsim.core.ideal.legs import egress_of, leg_of
from netsim.core.link.wire import time_to_send
from netsim.core.state.dtypes import NEVER, NONE
from netsim.kernel import inner, part

QUARTERS = 4
SUBSETS = 2 * QUARTERS - 1  # of what a link carries: all; what comes later, what has farther to go by so many quarters
SPAN = np.dtype(  # of all messages on a link: the soonest and the latest begin, the least and the most after it
    [("soonest", "i8"), ("latest", "i8"), ("least", "i8"), ("most", "i8"), ("packet", "i8")]  # and the longest packet
)
SHARE = np.dtype([("work", "i8"), ("before", "i8"), ("after", "i8")])  # of a subset: its sum, and the least of both
ANSWERS = np.dtype(  # per link of a host, by which packets come
    [
        ("fulls", "i8"),  # full packets of messages
        ("full", "i8"),  # the least time of one
        ("before", "i8"),  # until the first of them
    ]
)


@part
def full_packet(world, message_id, link_id):
    """The time of a full packet of a message's connection on link l."""
    connection = world.connections[world.flows[world.messages[message_id].flow].connection]
    link_class = world.link_classes[world.links[link_id].link_class]
    return np.int64(time_to_send(link_class, world.settings[0].header_bytes + np.int64(connection.payload)))


@part
def span_over(world, work, message_id, link_id, before, after):
    span = work.spans[link_id]
    span.packet = max(span.packet, full_packet(world, message_id, link_id))
    span.soonest, span.latest = min(span.soonest, before), max(span.latest, before)
    span.least, span.most = min(span.least, after), max(span.most, after)


@inner
def share_out(work, link_id, before, time, after):
    """Add what a message brings a link to all subsets that it belongs to."""
    span = work.spans[link_id]
    for k in range(SUBSETS):
        late = k < QUARTERS and QUARTERS * (before - span.soonest) > k * (span.latest - span.soonest)
        far = k >= QUARTERS and QUARTERS * (after - span.least) > (k - QUARTERS + 1) * (span.most - span.least)
        if k == 0 or late or far:
            share = work.shares[link_id * SUBSETS + k]
            share.work += time
            share.before, share.after = min(share.before, before), min(share.after, after)


@inner
def look_over(world, work):
    """Fill SPAN and ANSWERS of each link."""
    first, begin, end, spans, answers = work.own[0].first, work.begin, work.end, work.spans, work.answers
    for link_id in range(spans.size):
        spans[link_id].soonest, spans[link_id].least, answers[link_id].full, answers[link_id].before = (
            NEVER,
            NEVER,
            NEVER,
            NEVER,
        )
    for i in range(begin.size):
        leg = leg_of(world, work, first + i)
        span_over(world, work, first + i, egress_of(world, first + i), begin[i], leg.rest + end[i])
        if leg.relay != NONE:
            span_over(world, work, first + i, leg.relay, begin[i] + leg.relay_before, leg.relay_rest + end[i])
        if leg.end != NONE:
            link_class, answer = world.link_classes[world.links[leg.end].link_class], answers[leg.end]
            span_over(world, work, first + i, leg.end, begin[i] + leg.before, link_class.delay + end[i])
            answer.before = min(answer.before, begin[i] + leg.before)
            if leg.fulls > 0:
                answer.fulls += leg.fulls
                answer.full = min(answer.full, leg.full)


@inner
def answering(world, work, link_id, share):
    """The least time that a NIC's link sends ACKs between its first packet and its last one.

    Packets that come before the first, or while the last is sent and on its way, count for nothing; nor do short ones.
    """
    answer, link_class = work.answers[link_id ^ 1], world.link_classes[world.links[link_id].link_class]
    ack = time_to_send(link_class, world.settings[0].ack_bytes)
    if answer.fulls == 0 or ack > answer.full:
        return np.int64(0)
    elsewhen = max(0, share.before - answer.before) + share.after + work.spans[link_id].packet
    return ack * max(0, answer.fulls - elsewhen // answer.full - 3)


@inner
def busiest_link(world, work):
    """The most that any link of a host needs, in ps."""
    first, begin, end, shares = work.own[0].first, work.begin, work.end, work.shares
    for k in range(shares.size):
        shares[k].before, shares[k].after = NEVER, NEVER
    for i in range(begin.size):
        leg = leg_of(world, work, first + i)
        link_id = egress_of(world, first + i)
        share_out(work, link_id, begin[i], leg.first, leg.rest + end[i])
        if leg.relay != NONE:
            before, after = begin[i] + leg.relay_before, leg.relay_rest + end[i]
            share_out(work, leg.relay, before, leg.relay_work, after)
        if leg.end != NONE:
            delay = world.link_classes[world.links[leg.end].link_class].delay
            share_out(work, leg.end, begin[i] + leg.before, leg.last, delay + end[i])
    most = np.int64(0)
    for k in range(shares.size):
        share, link_id = shares[k], k // SUBSETS
        if share.work > 0:
            needs = share.before + share.work + share.after
            if k % SUBSETS == 0 and world.links[link_id].source < world.settings[0].hosts:
                needs += answering(world, work, link_id, share)
            most = max(most, needs)
    return most
