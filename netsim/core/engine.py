"""The loop over time, in conservative windows.

A link is never faster than its delay plus its smallest packet: W. So what reaches a node before T + W was put on a wire
before T, and inside one window nodes do not depend on each other: they are visited in any order, each runs through its
own events in order.

Where the network has two colours, every link joining one to the other, the colours take turns: while one stands at T
the other may run to T + W, then the first to T + 2 W, and so on. Each visit to a node so covers two windows.
"""

from netsim.core.batched import begin_events, end_events, switch
from netsim.core.egress import GROUP
from netsim.core.event_driven import coupled_switch
from netsim.core.hosts import host
from netsim.core.messages import finish_if_done, send
from netsim.core.packet_trace import is_journal_full
from netsim.core.per_packet_routing import REPS
from netsim.core.prefetch import MANY, MANY_LINKS, ask_ahead, ask_for_links, ask_for_packets
from netsim.core.queue_samples import is_album_full, look
from netsim.core.sack_scoreboard import PLACES_PER_USED
from netsim.core.tables import NEVER, NONE
from netsim.kernel import bare, entry, inner, part

REACHED, FINISHED, IDLE, PAUSED, CROWDED, FAILED, LOOKED = range(7)  # why `advance` came back


@part
def nodes_due(world, colour, until):
    """List the nodes of a colour that have something to do before `until`, looking only into groups that are awake.

    What is noted of such a group is when the others in it wake; those listed are noted again after their visit.
    """
    n = 0
    for slot in range(colour, world.wakes.size, 2):
        if world.wakes[slot] < until:
            soonest = NEVER
            first = (slot >> 1) << GROUP
            for v in range(first, min(first + (1 << GROUP), world.wake.size)):
                if world.slots[v] == slot:
                    if world.wake[v] < until:
                        world.nodes_due[n] = v
                        n += 1
                    else:
                        soonest = min(soonest, world.wake[v])
            world.wakes[slot] = soonest
    return n


@part
def note(world, v):
    """After a visit: when its group wakes next."""
    slot = world.slots[v]
    world.wakes[slot] = min(world.wakes[slot], world.wake[v])


@part
def next_wake(world, colour):
    soonest = NEVER
    for slot in range(colour, world.wakes.size, 2):
        soonest = min(soonest, world.wakes[slot])
    return soonest


@part
def is_crowded(world):
    """Whether one more visit to a node might need more room than there is: every ring may double."""
    settings, progress = world.settings[0], world.progress[0]
    if settings.tracing and is_journal_full(world):
        return True
    if settings.selective and PLACES_PER_USED * progress.places_used + settings.reserve > world.places.size:
        return True
    return 2 * progress.pool_used + settings.reserve > world.packet_pool.size


@inner
def busier_host(world, v, until):
    """A host with more to ask at every packet than how long the queue is."""
    host(world, v, until)


@inner
def busier_switch(world, v, until):
    """A switch with flow control, or one whose egresses depend on each other."""
    is_batched = not world.settings[0].coupled
    if is_batched and switch(world, v, until):
        return
    if is_batched:
        begin_events(world, v)
    coupled_switch(world, v, until)
    if is_batched:
        end_events(world, v)


@part
def visit(world, v, until):
    settings = world.settings[0]
    if v < settings.hosts:
        if (
            settings.selective == 0
            and settings.classes == 1
            and settings.pulling == 0
            and settings.paced == 0
            and settings.timestamped == 0
            and settings.lossy == 0
            and settings.jittery == 0
            and settings.tracing == 0
            and settings.steering != REPS
        ):
            host(world, v, until)  # once more: with those questions answered the compiler leaves them out
        else:
            busier_host(world, v, until)
    elif settings.coupled == 0 and settings.lossless == 0:
        switch(world, v, until)  # likewise
    else:
        busier_switch(world, v, until)


@part
def visit_due(world, n, until):
    """Visit the nodes that are due, while there is room for what they send and nobody wants it to stop.

    The memory of the next is asked for.
    """
    progress = world.progress[0]
    many, large = world.settings[0].connections > MANY, world.links.size > MANY_LINKS
    has_room = True
    for i in range(n):
        v = world.nodes_due[i]
        if has_room:
            if large and i + 2 < n:
                ask_for_links(world, world.nodes_due[i + 2], until)
                ask_for_packets(world, world.nodes_due[i + 1], until)
            if many:
                ask_ahead(world, v, until)
            visit(world, v, until)
            has_room = not is_crowded(world) and not progress.interrupted
        note(world, v)


@entry
def advance(owned, stop, patience):
    """Let everything before `stop` (ps) happen; says why it came back.

    It comes back early when a part finishes, after about `patience` node steps, when it is interrupted, when room for
    packets runs short, or when looks at the queues are to be taken away.
    """
    world = bare(owned)
    settings, progress = world.settings[0], world.progress[0]
    rest = patience
    while True:
        if progress.finished > 0:
            return FINISHED
        if rest <= 0 or progress.interrupted:
            return PAUSED
        if is_crowded(world):
            return CROWDED
        wakes = next_wake(world, 0), next_wake(world, 1)
        colour = 1 if wakes[1] < wakes[0] else 0
        soonest = wakes[colour]
        if progress.failed and progress.failed_at < stop and progress.failed_at <= soonest:
            return FAILED
        if soonest == NEVER:
            return IDLE
        if progress.next_look <= min(soonest, stop):
            look(world, soonest, stop)
            rest -= 1
            if is_album_full(world):
                return LOOKED
            continue
        if soonest >= stop:
            return REACHED
        until = min(wakes[1 - colour] + settings.window, soonest + settings.span)
        until = min(min(until, stop), min(progress.failed_at, progress.next_look))
        n = nodes_due(world, colour, until)
        visit_due(world, n, until)
        progress.windows += 1
        progress.node_steps += n
        rest -= n + 1


@entry
def enter(owned, p, now):
    """A rank begins its part p of a collective: what it may send at once is sent. Returns when it takes effect, in ps.

    That is `now`, unless the rank was started by something else than its own progress: then its host may be ahead by up
    to two windows.
    """
    world = bare(owned)
    progress = world.progress[0]
    part = world.parts[p]
    ahead = world.hosts[part.host].reached - 1
    if ahead > now:
        progress.late_entries += 1
        now = ahead
    part.entered = 1
    if progress.next_look == NEVER and world.settings[0].look_every > 0:
        progress.first_look = progress.next_look = now
    m = part.first_waiting
    while m != NONE:
        following = world.messages[m].next
        send(world, m, now)
        m = following
    finish_if_done(world, p, now)
    return now
