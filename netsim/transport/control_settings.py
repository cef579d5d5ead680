"""What the settings of a control are made of, beside what kernel/settings.py has."""

from typing import Annotated, Literal

from pydantic import Field

from netsim.kernel.settings import FixedPoint, KernelSettings, Share, derived
from netsim.units import Duration

Packets = Annotated[float, Field(gt=0, le=1 << 20), FixedPoint()]
Auto = Annotated[Duration, Field(gt=0)] | Literal["auto"]
Whole = Annotated[int, Field(ge=0, le=1 << 20)]
Least = Annotated[int, Field(ge=1, le=10**6, description="the lowest rate is the line's divided by this")]


class ControlSettings(KernelSettings):
    """Settings of a congestion control."""


__all__ = ["Auto", "ControlSettings", "FixedPoint", "Least", "Packets", "Share", "Whole", "derived"]
