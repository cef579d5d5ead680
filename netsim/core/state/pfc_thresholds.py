"""What priority flow control means for each link: whom it rules, how long a queue gets, what is kept for late comers.

A queue has the port's buffer, with flow control as without. Of it as much is kept free, up to half, as may still come
when all who can add to the queue are told to stop: the headroom of the other ports. So in a switch whose ports ask for
no more than that the queue never outgrows its buffer; where they do, it may by the rest of their headroom. Senders go
on at four fifths of the length that stopped them (12 of 15 packets in htsim's RoCE model).
"""

from typing import Any

import numpy as np

from netsim.core.state.dtypes import NEVER
from netsim.core.state.shared_buffer_sizes import pools
from netsim.topology.network import SCALE_UP, Network
from netsim.units import PS_BITS, UNLIMITED

LARGEST_HEADROOM = 1 << 40  # bytes that count; so that those of all ports add up


def flow_control(network: Network, largest: Any, jitter: Any) -> Any:
    """The columns pausable, headroom, stop_above, go_at and room of KIND, i8[5, links].

    largest: a packet of each link. jitter: of each, in 1/65536 of the time that it takes to send one.
    """
    numbers, pfc = np.arange(len(network.links)), network.pfc
    if pfc is None:
        return np.zeros((5, len(numbers)), "i8")
    source, target = np.asarray(network.source), np.asarray(network.target)
    pausable = np.array([kind != SCALE_UP for kind in network.kinds], bool) & (target >= len(network.hosts))
    each = zip(network.rate_bps.tolist(), network.delay_ps.tolist(), largest.tolist(), jitter.tolist(), strict=True)
    longest = [pfc.headroom_of(rate, delay + _longer(rate, most, late), most) for rate, delay, most, late in each]
    headroom = np.array(longest, "i8") * pausable
    into = np.zeros(len(network.hosts) + len(network.switches), "i8")
    late = np.minimum(headroom, LARGEST_HEADROOM)
    np.add.at(into, target, late)
    others = into[source] - late[numbers ^ 1]
    buffer = np.asarray(network.buffer_bytes)
    stop_above = buffer - np.minimum(others, buffer // 2)
    room = np.maximum(buffer, stop_above + others)
    has_limit = (buffer < UNLIMITED) & (pools(network)[source] == 0)
    lengths = [np.where(has_limit, each, NEVER) for each in (stop_above, stop_above * 4 // 5, room)]
    return np.stack([pausable, headroom, *lengths])


def _longer(rate_bps: int, largest: int, jitter: int) -> int:
    """Half of the most that jitter makes a packet late, in ps: a round trip is longer by all of it."""
    return -(-largest * PS_BITS * jitter // rate_bps >> 17)
