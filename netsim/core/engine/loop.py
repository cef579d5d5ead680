"""The loop over time, in conservative windows.

A link is never faster than its delay plus its smallest packet: W. So what reaches a node before T + W was put on a wire
before T, and inside one window nodes do not depend on each other: they are visited in any order, each runs through its
own events in order.

Where the network has two colours, every link joining one to the other, the colours take turns: while one stands at T
the other may run to T + W, then the first to T + 2 W, and so on. Each visit to a node so covers two windows.
"""

from netsim.core.engine.prefetch import MANY, MANY_LINKS, prefetch_links, prefetch_node, prefetch_packets
from netsim.core.flows.messages import finish_if_done, send
from netsim.core.host.host import host
from netsim.core.observe.packet_trace import is_trace_full
from netsim.core.observe.queue_samples import is_sample_buffer_full, sample_queues
from netsim.core.state.dtypes import NEVER, NODE_BLOCK, NONE
from netsim.core.state.sack_scoreboard import SCOREBOARD_PER_USED
from netsim.core.switch.batched import batched_switch, begin_events, end_events
from netsim.core.switch.event_driven import event_driven_switch
from netsim.core.switch.per_packet_routing import REPS
from netsim.kernel import bare, entry, inner, part

REACHED, FINISHED, IDLE, PAUSED, POOL_SHORT, FAILED, SAMPLES_FULL = range(7)  # why `advance` came back


@part
def nodes_due(world, colour, until):
    """List the nodes of a colour that have something to do before `until`; groups without any are passed over.

    A group keeps when the others in it are next due; those listed are entered again after their visit.
    """
    n = 0
    for slot in range(colour, world.next_event_of_group.size, 2):
        if world.next_event_of_group[slot] < until:
            soonest = NEVER
            first = (slot >> 1) << NODE_BLOCK
            for node_id in range(first, min(first + (1 << NODE_BLOCK), world.next_event.size)):
                if world.node_blocks[node_id] == slot:
                    if world.next_event[node_id] < until:
                        world.nodes_due[n] = node_id
                        n += 1
                    else:
                        soonest = min(soonest, world.next_event[node_id])
            world.next_event_of_group[slot] = soonest
    return n


@part
def record_next_event(world, node_id):
    """After a visit: when its group is next due."""
    slot = world.node_blocks[node_id]
    world.next_event_of_group[slot] = min(world.next_event_of_group[slot], world.next_event[node_id])


@part
def next_wake(world, colour):
    soonest = NEVER
    for slot in range(colour, world.next_event_of_group.size, 2):
        soonest = min(soonest, world.next_event_of_group[slot])
    return soonest


@part
def is_pool_short(world):
    """Whether one more visit to a node might need more room than there is: every ring may double."""
    settings, progress = world.settings[0], world.progress[0]
    if settings.tracing and is_trace_full(world):
        return True
    if (
        settings.selective
        and SCOREBOARD_PER_USED * progress.scoreboard_used + settings.pool_reserve > world.sack_scoreboard.size
    ):
        return True
    return 2 * progress.pool_used + settings.pool_reserve > world.packet_pool.size


@inner
def busier_host(world, node_id, until):
    """A host with more to ask at every packet than how long the queue is."""
    host(world, node_id, until)


@inner
def run_events(world, node_id, until):
    """A switch whose egresses depend on each other, always or in this visit."""
    is_batched = not world.settings[0].event_driven
    if is_batched:
        begin_events(world, node_id)
    event_driven_switch(world, node_id, until)
    if is_batched:
        end_events(world, node_id)


@inner
def busier_switch(world, node_id, until):
    """A switch with more to ask at every packet than whether there is flow control."""
    if world.settings[0].event_driven or not batched_switch(world, node_id, until):
        run_events(world, node_id, until)


@part
def visit(world, node_id, until):
    settings = world.settings[0]
    if node_id < settings.hosts:
        if (
            settings.selective == 0
            and settings.classes == 1
            and settings.receiver_credit == 0
            and settings.paced == 0
            and settings.timestamped == 0
            and settings.lossy == 0
            and settings.jittery == 0
            and settings.tracing == 0
            and settings.per_packet_routing != REPS
        ):
            host(world, node_id, until)  # once more: with those questions answered the compiler leaves them out
        else:
            busier_host(world, node_id, until)
    elif (
        settings.event_driven == 0
        and settings.disciplined == 0
        and settings.timestamped == 0
        and settings.lossy == 0
        and settings.per_packet_routing == 0
    ):
        if settings.lossless == 0:
            batched_switch(world, node_id, until)  # likewise; without flow control no egress depends on another
        elif not batched_switch(world, node_id, until):
            run_events(world, node_id, until)
    else:
        busier_switch(world, node_id, until)


@part
def visit_due(world, n, until):
    """Visit the nodes that are due, while there is room for what they send and nobody wants it to stop.

    The memory of the next is asked for.
    """
    progress = world.progress[0]
    many, large = world.settings[0].connections > MANY, world.links.size > MANY_LINKS
    has_room = True
    for i in range(n):
        node_id = world.nodes_due[i]
        if has_room:
            if large and i + 2 < n:
                prefetch_links(world, world.nodes_due[i + 2], until)
                prefetch_packets(world, world.nodes_due[i + 1], until)
            if many:
                prefetch_node(world, node_id, until)
            visit(world, node_id, until)
            has_room = not is_pool_short(world) and not progress.interrupted
        record_next_event(world, node_id)


@entry
def advance(owned, stop, max_steps):
    """Let everything before `stop` (ps) happen; says why it came back.

    It comes back early when a part finishes, after about `patience` node steps, when it is interrupted, when room for
    packets runs short, or when the samples of queues are to be taken away.
    """
    world = bare(owned)
    settings, progress = world.settings[0], world.progress[0]
    rest = max_steps
    while True:
        if progress.finished > 0:
            return FINISHED
        if rest <= 0 or progress.interrupted:
            return PAUSED
        if is_pool_short(world):
            return POOL_SHORT
        next_events = next_wake(world, 0), next_wake(world, 1)
        colour = 1 if next_events[1] < next_events[0] else 0
        soonest = next_events[colour]
        if progress.failed and progress.failed_at < stop and progress.failed_at <= soonest:
            return FAILED
        if soonest == NEVER:
            return IDLE
        if progress.next_sample_at <= min(soonest, stop):
            sample_queues(world, soonest, stop)
            rest -= 1
            if is_sample_buffer_full(world):
                return SAMPLES_FULL
            continue
        if soonest >= stop:
            return REACHED
        until = min(next_events[1 - colour] + settings.lookahead, soonest + settings.lookahead_across)
        until = min(min(until, stop), min(progress.failed_at, progress.next_sample_at))
        n = nodes_due(world, colour, until)
        visit_due(world, n, until)
        progress.windows += 1
        progress.node_steps += n
        rest -= n + 1


@entry
def enter(owned, part_id, now):
    """A rank begins its part p of a collective: what it may send at once is sent. Returns when it takes effect, in ps.

    That is `now`, unless the rank was started by something else than its own progress: then its host may be ahead by up
    to two windows.
    """
    world = bare(owned)
    progress = world.progress[0]
    part = world.parts[part_id]
    ahead = world.hosts[part.host].reached - 1
    if ahead > now:
        progress.late_entries += 1
        now = ahead
    part.entered = 1
    if progress.next_sample_at == NEVER and world.settings[0].sample_interval > 0:
        progress.first_sample_at = progress.next_sample_at = now
    message_id = part.first_waiting
    while message_id != NONE:
        following = world.messages[message_id].next
        send(world, message_id, now)
        message_id = following
    finish_if_done(world, part_id, now)
    return now
