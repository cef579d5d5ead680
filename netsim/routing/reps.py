"""Reps: entropies that brought a packet through without a mark are used again."""

from typing import Annotated, Any, Literal

from pydantic import Field

from netsim.routing.per_packet import PerPacket


class Reps(PerPacket):
    """Recycled entropies (REPS, Bonato et al. 2024): senders reuse what came back unmarked and draw the rest anew.

    Switches hash a packet's entropy to a link; so a sender leaves congested paths without knowing any. It needs ECN:
    without marks every entropy is good. `entropies`: how many different ones there are; 65536 are those of a UDP port.
    """

    kind: Literal["reps"] = "reps"
    entropies: Annotated[int, Field(ge=1, le=1 << 16)] = 1 << 16

    @property
    def settings(self) -> dict[str, Any]:
        """How many entropies."""
        return {"entropies": self.entropies}
