"""The loop over time, in conservative windows.

A link is never faster than its delay plus its smallest packet. So what reaches a node before T + W was put on a wire
before T, and inside one window nodes do not depend on each other: they are visited in any order, each runs through its
own events in order.
"""

from netsim.core.coupled import coupled_switch
from netsim.core.egress import GROUP
from netsim.core.hosts import host
from netsim.core.messages import finish_if_done, send
from netsim.core.switches import switch
from netsim.core.tables import NEVER, NONE
from netsim.core.timers import check_timeouts, tick_after
from netsim.kernel import bare, entry, part

REACHED, FINISHED, IDLE, PAUSED, CROWDED, STUCK, FAILED = range(7)  # why `advance` came back


@part
def nodes_due(world, until):
    """List the nodes that have something to do before `until`, looking only into groups that are awake."""
    n = 0
    for group in range(world.wakes.size):
        if world.wakes[group] < until:
            for v in range(group << GROUP, min((group + 1) << GROUP, world.wake.size)):
                world.nodes_due[n] = v
                n += world.wake[v] < until
    return n


@part
def fall_asleep(world, until):
    """Groups that had nodes to run: when each wakes next."""
    for group in range(world.wakes.size):
        if world.wakes[group] < until:
            soonest = NEVER
            for v in range(group << GROUP, min((group + 1) << GROUP, world.wake.size)):
                soonest = min(soonest, world.wake[v])
            world.wakes[group] = soonest


@part
def next_wake(world):
    soonest = NEVER
    for group in range(world.wakes.size):
        soonest = min(soonest, world.wakes[group])
    return soonest


@entry
def advance(owned, stop, patience):
    """Let everything before `stop` (ps) happen; says why it came back.

    It comes back early when a part finishes, after `patience` node steps, or when room for packets runs short.
    """
    world = bare(owned)
    settings = world.settings[0]
    hosts, window, coupled = settings.hosts, settings.window, settings.coupled
    rest = patience
    while True:
        if settings.finished > 0:
            return FINISHED
        if rest <= 0:
            return PAUSED
        if 2 * settings.air_used > world.air.size:
            return CROWDED
        soonest = next_wake(world)
        if settings.next_tick <= soonest:
            now = settings.next_tick
            if now == NEVER:
                return IDLE
            if now >= stop:
                return REACHED
            check_timeouts(world, now)
            if settings.failed:
                return FAILED
            settings.idle_ticks += 1
            if settings.idle_ticks > settings.connections + 1 and next_wake(world) == NEVER:
                return STUCK  # every connection has timed out and none could send
            settings.next_tick = max(now + settings.tick, tick_after(world, next_wake(world)))
            continue
        if soonest >= stop:
            return REACHED
        until = min(min(soonest + window, stop), settings.next_tick)
        n = nodes_due(world, until)
        for i in range(n):
            v = world.nodes_due[i]
            if v < hosts:
                host(world, v, until)
            elif coupled:
                coupled_switch(world, v, until)
            else:
                switch(world, v, until)
        fall_asleep(world, until)
        settings.windows += 1
        settings.node_steps += n
        settings.idle_ticks = 0
        rest -= n


@entry
def enter(owned, p, now):
    """A rank begins its part p of a collective: what it may send at once is sent. Returns when it takes effect, in ps.

    That is `now`, unless the rank was started by something else than its own progress: then its host may be ahead by up
    to one window.
    """
    world = bare(owned)
    settings = world.settings[0]
    part = world.parts[p]
    ahead = world.hosts[part.host].reached - 1
    if ahead > now:
        settings.late_entries += 1
        now = ahead
    part.entered = 1
    if settings.next_tick == NEVER:
        settings.next_tick = min(-(-(now + settings.timeout) // settings.tick) * settings.tick, NEVER)
    m = part.first_waiting
    while m != NONE:
        following = world.messages[m].next
        send(world, m, now)
        m = following
    finish_if_done(world, p, now)
    return now
