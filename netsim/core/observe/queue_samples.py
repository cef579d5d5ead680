"""Samples of all queues at regular times: often in a short run, seldom in a long one."""

from netsim.core.state.packet_pool import length
from netsim.kernel import inner, part


@inner
def sample_queues(world, moves_at, stop):
    """Sample what waits at `next_sample_at`, before anything of that instant happens; nothing moves till `moves_at`."""
    settings, progress = world.settings[0], world.progress[0]
    found = progress.samples
    for link_id in range(world.links.size):
        link = world.links[link_id]
        if link.backlog > 0 and length(link.payload):  # the first is at hand sooner
            sample = world.samples[found]
            sample.at = progress.next_sample_at
            sample.link = link_id
            free_at = world.links[link_id % settings.ports].free_at
            sample.bytes = link.backlog - (link.leaving if free_at <= progress.next_sample_at else 0)
            count_up(world, sample, link_id % settings.ports, progress.next_sample_at)
            found += 1
    nothing_waits = found == progress.samples
    progress.samples = found
    progress.sample_calls += 1
    progress.next_sample_at += settings.sample_interval
    if moves_at < progress.next_sample_at or not nothing_waits:
        progress.sample_times += 1  # only these: how often an idle network is sampled depends on who stops the clock
    if nothing_waits:  # nor will anything before the next packet moves, and nobody acts before `stop`
        quiet = min(moves_at, stop) - progress.next_sample_at
        progress.next_sample_at += max(0, -(-quiet // settings.sample_interval) * settings.sample_interval)


@part
def count_up(world, sample, port, now):
    """Record what a link has sent, to the byte, marked, dropped and been paused by now, over all classes."""
    settings, link_class = world.settings[0], world.link_classes[world.links[port].link_class]
    rest = max(0, world.links[port].free_at - now)  # of the packet in transmission
    sample.sent_bytes = world.links[port].sent_bytes - rest * link_class.per_bytes // link_class.ps
    sample.marks, sample.drops, sample.paused_ps = 0, 0, 0
    for link_id in range(port, world.links.size, settings.ports):
        link, pfc = world.links[link_id], world.pfc_state[link_id]
        sample.marks += link.marks
        sample.drops += link.drops
        sample.paused_ps += pfc.paused_ps
        if pfc.paused:
            sample.paused_ps += world.progress[0].next_sample_at - pfc.paused_since


@inner
def is_sample_buffer_full(world):
    """Whether the next samples may not find room, or there are more of them than wanted."""
    settings, progress = world.settings[0], world.progress[0]
    return progress.samples + world.links.size > world.samples.size or progress.sample_times > settings.max_sample_times
