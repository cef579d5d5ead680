"""Chains of messages that have to make room for ACKs: a bound on an operation's time where all hosts send and receive.

While a NIC sends a message it also answers what comes. Whoever delays what comes, so that a chain need not wait for its
ACKs, delays another chain. So the mean over many long chains is bounded: with weights w that flow along the chains and
add up to 1, T >= sum of w (time alone + ACKs sent meanwhile), and of the packets that a host receives no more can come
while it sends nothing than that time has room for.
"""

import numpy as np

from netsim.core.ideal.legs import ack_before, egress_of, is_received, leg_of
from netsim.core.link.wire import time_to_send
from netsim.kernel import inner

NEARLY = 256  # what is longer by less than a 256th is as good
STEPS = 50  # of halving
LANE = np.dtype(  # what a NIC's link sends of the chains
    [
        ("weight", "f8"),  # the least of its messages'
        ("rows", "i8"),
        ("work", "i8"),  # their packets
    ]
)


@inner
def hand_on(world, work, i):
    """Share the weight of message i among those that it waits for longest. Returns the time between, by weight."""
    first, begin, after, weights = work.own[0].first, work.begin, work.after, work.weights
    message_id, weight = first + i, weights[i]
    link_id, alone = egress_of(world, message_id), leg_of(world, work, message_id).alone
    count = 0
    for turn in range(2):
        between = 0.0
        for k in range(work.first_after[i], work.first_after[i + 1]):
            other = first + after[k]
            leg = leg_of(world, work, other)
            wait = ack_before(world, other, link_id) if is_received(world, other, message_id) else leg.back
            if begin[i] - (begin[after[k]] + leg.alone + wait) > alone // NEARLY:
                continue
            if turn == 0:
                count += 1
            else:
                weights[after[k]] += weight / count
                between += weight / count * wait
    return between if count > 0 else weight * begin[i]


@inner
def lay_weights(world, work, longest):
    """Weigh all messages on chains about as long as the longest, from the last ones on. Returns their mean length."""
    first, begin, weights = work.own[0].first, work.begin, work.weights
    ends = 0
    for i in range(begin.size):
        alone = leg_of(world, work, first + i).alone
        is_last = world.messages[first + i].first_dependent == world.messages[first + i + 1].first_dependent
        if is_last and begin[i] + alone >= longest - longest // NEARLY:
            weights[i] = 1.0
            ends += 1
    mean = 0.0
    for k in range(begin.size - 1, -1, -1):
        i = np.int64(work.order[k])
        if weights[i] > 0:
            mean += weights[i] * leg_of(world, work, first + i).alone
            mean += hand_on(world, work, i)
    for i in range(begin.size):
        weights[i] /= max(ends, 1)
    return mean / max(ends, 1)


@inner
def answers_within(world, work, time):
    """The time of ACKs that chains have to make room for, by weight, if the operation takes so long."""
    extra = 0.0
    for link_id in range(work.lanes.size):
        lane, answer = work.lanes[link_id], work.answers[link_id ^ 1]
        if lane.rows == 0 or answer.fulls == 0 or lane.weight == 0:
            continue
        ack = float(time_to_send(world.link_classes[world.links[link_id].link_class], world.settings[0].ack_bytes))
        if ack < answer.full:
            silent = time - (
                lane.work - 2 * lane.rows * work.spans[link_id].packet
            )  # the last two may leave before the ACKs
            inside = answer.fulls - 2 * lane.rows - 1 - max(silent, 0.0) / answer.full
            extra += lane.weight * ack * max(inside, 0.0) / (1.0 - ack / answer.full)
    return extra


@inner
def mean_chain(world, work, longest):
    """The bound in ps; what `longest_chain` and `look_over` fill in is there."""
    first = work.own[0].first
    mean = lay_weights(world, work, longest)
    for i in range(work.begin.size):
        leg, lane = leg_of(world, work, first + i), work.lanes[egress_of(world, first + i)]
        weight = work.weights[i]
        if leg.slow > leg.alone // NEARLY:
            weight = 0.0  # another link than the NIC's sets the pace
        lane.weight = weight if lane.rows == 0 else min(lane.weight, weight)
        lane.rows += 1
        lane.work += leg.first
    low, high = mean, mean + answers_within(world, work, mean)
    for _ in range(STEPS):
        middle = (low + high) / 2
        if mean + answers_within(world, work, middle) >= middle:
            low = middle
        else:
            high = middle
    return np.int64(low)
