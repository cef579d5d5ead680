"""What a user chooses about the transport: the table [transport] of a scenario."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from netsim.errors import nearest
from netsim.transport import CONTROLS, RECOVERIES
from netsim.transport.control_settings import Hpcc, Nscc, Swift, Timely
from netsim.units import Duration, Rate, Size, parse_rate, parse_time

IB_ACK_TIMEOUT_10_PS = 4_194_304_000  # InfiniBand's local ack timeout with code 10: 4.096 us * 2^10
IB_ACK_TIMEOUT_14_PS = 67_108_864_000

SHORTEST_TICK_PS = 1_000_000
AUTO_TICK_PS = 8_000_000


class Dctcp(BaseModel):
    """Settings of DCTCP. gain: weight g of the newest marked fraction; 1/16 as in the paper, section 4."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gain: Annotated[float, Field(gt=0, le=1)] = 1 / 16


class Dcqcn(BaseModel):
    """Settings of DCQCN, named as in the paper; defaults from its section 5 (ai and hai at 40 Gb/s: they scale)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    g: Annotated[float, Field(gt=0, le=1)] = 1 / 256
    alpha_timer: Duration = parse_time("55us")
    increase_timer: Duration = parse_time("55us")
    byte_counter: Annotated[Size, Field(gt=0)] = 10_000_000
    fast_recovery: Annotated[int, Field(ge=1)] = 5
    ai: Rate = parse_rate("40Mb/s")
    hai: Rate = parse_rate("400Mb/s")
    least: Annotated[int, Field(ge=1, description="the lowest rate is the line's divided by this")] = 1000


class Transport(BaseModel):
    """Congestion control and loss recovery of every connection.

    control: one of CONTROLS. recovery: go_back_n. window: packets that may be on the way unacknowledged, at first
    (dctcp, swift), at most (hpcc, dcqcn, timely) or always (window), or where NSCC's begins once it is multiplied by
    its max_window; "bdp" is what the idle route holds: rate times round trip (dcqcn, timely: no limit).
    timeout: without progress for so long, everything unacknowledged is sent again; "auto" is what a packet can need at
    most, every queue on its way being full (InfiniBand's 4.19 ms where queues have no limit).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    control: str = "dctcp"
    recovery: str = "go_back_n"
    timeout: Duration | Literal["auto"] = "auto"
    window: Annotated[int, Field(ge=1, le=1 << 29)] | Literal["bdp"] = "bdp"
    dctcp: Dctcp = Dctcp()
    dcqcn: Dcqcn = Dcqcn()
    timely: Timely = Timely()
    swift: Swift = Swift()
    hpcc: Hpcc = Hpcc()
    nscc: Nscc = Nscc()

    @field_validator("control")
    @classmethod
    def _known_control(cls, name: str) -> str:
        if name not in CONTROLS:
            raise ValueError(f"no control {name!r}; {nearest(name, CONTROLS)}")
        return name

    @field_validator("recovery")
    @classmethod
    def _known_recovery(cls, name: str) -> str:
        if name not in RECOVERIES:
            raise ValueError(f"no recovery {name!r}; {nearest(name, RECOVERIES)}")
        return name

    @field_validator("timeout")
    @classmethod
    def _long_enough(cls, timeout: int | str) -> int | str:
        if isinstance(timeout, int) and timeout < SHORTEST_TICK_PS:
            raise ValueError("shorter than 1us; give at least 1us")
        return timeout

    @property
    def parameters(self) -> dict[str, dict[str, int]]:
        """The settings of every control as the core takes them: ps, bytes, bit/s, fractions in 1 / 65536."""
        paper = self.dcqcn
        return {
            "dctcp": {"gain": round(self.dctcp.gain * 65536)},
            "dcqcn": {
                "gain": round(paper.g * 65536),
                "alpha_timer": paper.alpha_timer,
                "increase_timer": paper.increase_timer,
                "byte_counter": paper.byte_counter,
                "fast_recovery": paper.fast_recovery,
                "additive": paper.ai,
                "hyper": paper.hai,
                "least": paper.least,
            },
            **{name: getattr(self, name).core for name in ("timely", "swift", "hpcc", "nscc")},
        }

    @property
    def tick_ps(self) -> int:
        """How often time-outs are looked for."""
        return AUTO_TICK_PS if isinstance(self.timeout, str) else max(SHORTEST_TICK_PS, self.timeout // 16)
