"""Explicit congestion notification: whether a packet is marked (RED on the length of its queue)."""

from netsim.core.state.rng import thirty_bits
from netsim.kernel import part


@part
def is_marked(world, link_id, link_class, backlog, k):
    """ECN as RED does it: never up to Kmin, always above Kmax, between them with a chance that grows to Pmax."""
    if backlog <= link_class.mark_from:
        return False
    if backlog > link_class.mark_all:
        return True
    drawn = thirty_bits(world.settings[0].seed, link_id, k)
    return drawn * (link_class.mark_all - link_class.mark_from) < link_class.mark_chance * (
        backlog - link_class.mark_from
    )
