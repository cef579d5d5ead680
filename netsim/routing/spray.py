"""Spray: every packet takes any of the equally short links, whatever waits there."""

from typing import Any, Literal

from netsim.routing.per_packet import PerPacket


class Spray(PerPacket):
    """Packet spraying: switches spread packets over all equally short links, at random or in turn, whatever their load.

    Dixit et al., "On the impact of packet spraying in data center networks" (INFOCOM 2013). order: "random" draws a
    link for every packet, keyed by the seed, the link it came by and its number there; "round_robin" takes the links
    one after the other, as htsim's switches can.
    """

    kind: Literal["spray"] = "spray"
    order: Literal["random", "round_robin"] = "random"

    @property
    def settings(self) -> dict[str, Any]:
        """Whether in turn."""
        return {"in_turn": self.order == "round_robin"}
