"""Flowlet: a connection that has paused may take another link."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from netsim.routing.per_packet import PerPacket
from netsim.units import Duration, parse_time


class Flowlet(PerPacket):
    """Flowlet switching (LetFlow, NSDI 2017): a switch draws a link anew when a connection paused longer than `gap`.

    Packets closer together than `gap` keep their order. Default of gap: 100 us, as in the ns-3 models of LetFlow and
    CONGA by ConWeave's authors (SIGCOMM 2023) at 100 Gb/s. `slots`: entries of a switch's table; connections that hash
    to the same entry share their flowlets.
    """

    kind: Literal["flowlet"] = "flowlet"
    gap: Duration = parse_time("100us")
    slots: Annotated[int, Field(ge=1, le=1 << 16)] = 4096

    @field_validator("gap")
    @classmethod
    def _some_time(cls, gap: int) -> int:
        if gap <= 0:
            raise ValueError('no gap at all; give one above 0, or take routing = "spray"')
        return gap

    @property
    def settings(self) -> dict[str, Any]:
        """Gap and size of the table."""
        return {"gap_ps": self.gap, "slots": self.slots}
