"""What the core is told of the sizes of packets, the network and the transport at the start."""

from netsim.config.scenario import Packet
from netsim.core.flows.connections import Sender
from netsim.core.state.build import Bytes, new_world
from netsim.core.state.world import World
from netsim.routing.longest import base_rtt_ps
from netsim.topology.network import Network
from netsim.transport.settings import Transport


def world_of(network: Network, packet: Packet, transport: Transport, seed: int, classes: int, jitter: float) -> World:
    """The core's tables for a network at rest."""
    return new_world(
        network,
        Bytes(packet.header, packet.ack, packet.payload, packet.scale_up_payload),
        seed=seed,
        control=transport.control,
        parameters=transport.control_settings.numbers(),
        selective=transport.recovery == "selective_repeat",
        nak_per_packet=transport.go_back_n.naks == "every",
        classes=classes,
        jitter=jitter,
    )


def sender_of(network: Network, packet: Packet, transport: Transport, *, in_order: bool) -> Sender:
    """What every new connection's sender gets; `in_order`: all its packets take one route."""
    return Sender(
        transport.control,
        transport.window,
        transport.timeout,
        packet.payload,
        packet.scale_up_payload,
        transport.retries,
        transport.selective_repeat.limits(in_order=in_order),
        base_rtt_ps(network, transport, packet.header + packet.payload, packet.ack),
    )
