"""Pfc: when a switch tells its neighbour to stop sending (IEEE 802.1Qbb), by accounts kept per ingress port."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from netsim.errors import InputError
from netsim.units import PS_BITS, UNLIMITED, Size

PACKETS_IN_FLIGHT = 3  # one being sent at either end, one that came before the pause was heeded


class Pfc(BaseModel):
    """PAUSE above `xoff` bytes held from one ingress port, RESUME at or below `xon`; `headroom` takes what still comes.

    What does not fit into xoff + headroom of its ingress is dropped. Without a headroom each port gets what makes it
    lossless: the link's round trip and three packets (closed form: 2 d R + 2 MTU + the packet being sent). Defaults: 15
    and 12 packets of 4096 bytes, as htsim's RoCE. A port's `buffer` holds as it does without flow control: senders are
    stopped before what comes to its queue no longer fits, whatever xoff says (core/state/pfc_thresholds.py).
    Nothing of this is for NVLink.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    xoff: Size = Field(default=15 * 4096, gt=0)
    xon: Size = Field(default=12 * 4096, ge=0)
    headroom: Size | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Pfc:
        if self.xon > self.xoff:
            raise InputError(f"xon ({self.xon} B) is above xoff ({self.xoff} B)", hint="swap them")
        return self

    def headroom_of(self, rate_bps: int, delay_ps: int, packet_bytes: int) -> int:
        """Bytes beyond xoff that a port with this link takes in."""
        if self.headroom is not None:
            return min(self.headroom, UNLIMITED)
        return 2 * rate_bps * delay_ps // PS_BITS + PACKETS_IN_FLIGHT * packet_bytes


def _off(value: Any) -> Any:
    """Let `pfc = "off"` (also None and False, from Python) mean no flow control, and `pfc = "on"` the defaults."""
    if value is None or value is False or value == "off":
        return None
    if value is True or value == "on":
        return Pfc()
    if isinstance(value, Pfc | dict):
        return value
    raise InputError(
        f"{value!r} is no flow control", hint='write a table { xoff = "60KB", xon = "48KB" }, "on" or "off"'
    )


FlowControl = Annotated[Pfc | None, BeforeValidator(_off)]
