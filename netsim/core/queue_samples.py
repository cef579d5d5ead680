"""Looks at all queues at regular times: often in a short run, seldom in a long one."""

import numpy as np

from netsim.core.rings import length
from netsim.kernel import inner, part

SAMPLE = np.dtype(  # what waited at a link, and what has happened there since the beginning
    [
        ("at", "i8"),
        ("bytes", "i8"),
        ("link", "u4"),
        ("spare", "u4"),
        ("sent_bytes", "i8"),  # these of all classes together
        ("marks", "i8"),
        ("drops", "i8"),
        ("paused_ps", "i8"),
    ]
)


@inner
def look(world, moves_at, stop):
    """Note what waits at `next_look`, before anything of that instant happens here; nothing moves before `moves_at`."""
    settings, progress = world.settings[0], world.progress[0]
    found = progress.samples
    for l in range(world.links.size):
        link = world.links[l]
        if length(link.payload):
            sample = world.samples[found]
            sample.at = progress.next_look
            sample.link = l
            free_at = world.links[l % settings.ports].free_at
            sample.bytes = link.backlog - (link.leaving if free_at <= progress.next_look else 0)
            count_up(world, sample, l % settings.ports, progress.next_look)
            found += 1
    nothing_waits = found == progress.samples
    progress.samples = found
    progress.looks_taken += 1
    progress.next_look += settings.look_every
    if moves_at < progress.next_look or not nothing_waits:
        progress.looks += 1  # only these: how often an idle network is looked at depends on who stops the clock
    if nothing_waits:  # nor will anything before the next packet moves, and nobody acts before `stop`
        quiet = min(moves_at, stop) - progress.next_look
        progress.next_look += max(0, -(-quiet // settings.look_every) * settings.look_every)


@part
def count_up(world, sample, port, now):
    """Note what a link has sent, to the byte, marked, dropped and been paused by now, over all classes."""
    settings, kind = world.settings[0], world.kinds[world.links[port].kind]
    rest = max(0, world.links[port].free_at - now)  # of the packet in transmission
    sample.sent_bytes = world.links[port].sent_bytes - rest * kind.per_bytes // kind.ps
    sample.marks, sample.drops, sample.paused_ps = 0, 0, 0
    for l in range(port, world.links.size, settings.ports):
        link, gate = world.links[l], world.gates[l]
        sample.marks += link.marks
        sample.drops += link.drops
        sample.paused_ps += gate.paused_ps
        if gate.paused:
            sample.paused_ps += world.progress[0].next_look - gate.paused_since


@inner
def is_album_full(world):
    """Whether the next look may not find room, or there are more looks than wanted."""
    settings, progress = world.settings[0], world.progress[0]
    return progress.samples + world.links.size > world.samples.size or progress.looks > settings.most_looks
