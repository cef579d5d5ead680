"""A window that never changes: at most so many packets without an acknowledgement."""

from netsim.transport.traits import Traits

TRAITS = Traits(reacts_to_ecn=False, moves_window=False, unlimited=False)
