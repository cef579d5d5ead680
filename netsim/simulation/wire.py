"""Wire: the sizes of packets; and what the core is told of them, the network and the transport at the start."""

from dataclasses import dataclass

from netsim.core.flows.connections import Sender
from netsim.core.state.build import new_world
from netsim.core.state.world import World
from netsim.routing.longest import base_rtt_ps
from netsim.topology.network import Network
from netsim.transport.settings import Transport


@dataclass(frozen=True)
class Wire:
    """Sizes on the wire in bytes: payload of a packet, of one inside a scale-up domain, header of each, an ACK."""

    payload: int = 4096
    scale_up_payload: int = 8192
    header: int = 64
    ack: int = 64


def world_of(network: Network, wire: Wire, transport: Transport, seed: int, classes: int, jitter: float) -> World:
    """The core's tables for a network at rest."""
    return new_world(
        network,
        header=wire.header,
        ack=wire.ack,
        payloads=(wire.payload, wire.scale_up_payload),
        seed=seed,
        control=transport.control,
        parameters=transport.control_settings.numbers(),
        selective=transport.recovery == "selective_repeat",
        nak_per_packet=transport.go_back_n.naks == "every",
        classes=classes,
        jitter=jitter,
    )


def sender_of(network: Network, wire: Wire, transport: Transport, *, in_order: bool) -> Sender:
    """What every new connection's sender gets; `in_order`: all its packets take one route."""
    return Sender(
        transport.control,
        transport.window,
        transport.timeout,
        wire.payload,
        wire.scale_up_payload,
        transport.retries,
        transport.selective_repeat.limits(in_order=in_order),
        base_rtt_ps(network, transport, wire.header + wire.payload, wire.ack),
    )
