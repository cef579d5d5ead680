"""Networks that the core refuses, before anything moves."""

from typing import Any

import numpy as np

from netsim.core.state.shared_buffer_sizes import check_pools
from netsim.errors import InputError
from netsim.topology.network import Network


def check_trimming(network: Network, *, is_selective: bool) -> None:
    """Refuse headers, which trimming leaves of packets, where the recovery of losses does not understand them."""
    if network.trim and not is_selective:
        what = "trim = true, but what a trimmed packet leaves says nothing to go-back-N"
        raise InputError(what, where=network.name, hint='set transport.recovery = "selective_repeat"')


def check_classes(network: Network, classes: int) -> None:
    if classes > 1 and network.control_class != "strict":
        what = f"{classes} classes of traffic where control shares a queue with data"
        raise InputError(what, where=network.name, hint='set control_class = "strict"')


def check_headers(network: Network, header: int) -> None:
    """Refuse headers of no bytes that cross a link in no time: time would stand still while they go round."""
    if network.trim and header == 0 and (network.delay_ps == 0).any():
        what = "what trimming leaves of a packet has no bytes (packet.header = 0), and crosses a link without delay"
        where = network.link_name(int((network.delay_ps == 0).argmax()))
        raise InputError(what, where=where, hint="give packet.header at least 1 B, or the link a delay")


def check(
    network: Network, kinds: Any, kind_of: Any, largest: Any, sizes: Any, *, is_selective: bool, classes: int
) -> None:
    """Raise InputError for what the core cannot carry. largest: bytes of a packet of each link."""
    check_trimming(network, is_selective=is_selective)
    check_headers(network, sizes.header)
    check_classes(network, classes)
    check_pools(network, largest)
    check_room(network, kinds, kind_of, largest, sizes.ack, sizes.header)


def check_room(network: Network, kinds: Any, kind_of: Any, largest: Any, ack: int, header: int) -> None:
    """Refuse ports that no full packet, ACK or header can pass: it would be dropped and retransmitted for ever."""
    _, firsts = np.unique(kind_of.astype("i8") << 32 | largest, return_index=True)
    for link in map(network.links.__getitem__, np.sort(firsts).tolist()):  # one of each kind, in order of number
        kind = kinds[kind_of[link.number]]
        rooms = [("buffer", kind["buffer"], "packet", int(largest[link.number]))]
        rooms.append(("buffer", kind["control_room" if network.control_class == "strict" else "buffer"], "ACK", ack))
        if network.trim:
            rooms.append(("buffer", kind["control_room"], "trimmed header", header))
        if network.pfc and kind["pausable"]:
            rooms.append(("pfc.xoff + pfc.headroom", network.pfc.xoff + kind["headroom"], *rooms[0][2:]))
        for name, room, what, needed in rooms:
            if room < needed:
                text = f"{name} = {room} B holds no {what} of {needed} B"
                raise InputError(text, where=network.link_name(link.number), hint=f"give at least {needed} B")
        if network.pfc and kind["pausable"] and link.delay_ps == 0:
            what = "a link with flow control has no delay"
            raise InputError(what, where=network.link_name(link.number), hint="give a delay above 0, as a pause has")
