"""What is possible and hardly meant: said before a run, which goes on."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from netsim.config.scenario import Scenario
from netsim.core.state.shared_buffer_sizes import largest_queues
from netsim.routing import PerPacket
from netsim.topology.network import Network
from netsim.units import UNLIMITED

HEAR_MARKS = ("dctcp", "dcqcn", "nscc")
NDP_BUFFER = 8  # packets: what switches hold in the paper, with trimming


def doubts_of(scenario: Scenario, network: Network) -> Iterator[str]:
    """One line each."""
    routing, transport = scenario.routing, scenario.transport
    if isinstance(routing, PerPacket) and transport.recovery == "go_back_n":
        what = f"{routing.kind} reorders packets, which go_back_n takes for losses and sends much again"
        yield f"{what}; ecmp keeps the order"
    room = largest_queues(network)
    yield from _thresholds_out_of_reach(network, room, hears_marks=transport.control in HEAR_MARKS)
    packet = scenario.packet.header + scenario.packet.payload
    if transport.control == "ndp" and not (network.trim or network.pfc) and room.min() < NDP_BUFFER * packet:
        what = f"ndp sends a first window at line rate, and a port of {int(room.min()):,} B without trimming"
        yield f"{what} loses most of it unheard; set topology.trim = true, or buffers of at least {NDP_BUFFER} packets"


def _thresholds_out_of_reach(network: Network, room: NDArray[np.int64], *, hears_marks: bool) -> Iterator[str]:
    """ECN that a control listens to, and flow control, that no queue can come to."""
    for name, column in (("ecn.kmin", network.kmin), ("ecn.kmax", network.kmax)):
        beyond = np.flatnonzero((column < UNLIMITED) & (column > room) & hears_marks)
        if len(beyond):
            first = int(beyond[0])
            then = "nothing is marked there" if name == "ecn.kmin" else "marks never come to be certain there"
            yield (
                f"{name} = {int(column[first]):,} B is above what {network.link_name(first)} can hold "
                f"({int(room[first]):,} B): {then}; set topology.ecn to a part of the buffer"
            )
            break
    smallest = int(room.min(initial=UNLIMITED))
    if network.pfc and not network.shared_buffer and smallest < network.pfc.xoff < UNLIMITED:
        what = f"pfc.xoff = {network.pfc.xoff:,} B is above the buffer of a port"
        yield f"{what}, by which senders are stopped before; make it smaller, or the buffer larger"
