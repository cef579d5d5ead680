"""No control: a sender sends at line rate until its last packet has left."""

from netsim.kernel import part
from netsim.transport.fixed_point import WIDEST
from netsim.transport.traits import Traits

TRAITS = Traits(reacts_to_ecn=False, moves_window=False, unlimited=True)


@part
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    sender.cwnd = WIDEST
