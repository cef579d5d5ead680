"""What a user chooses about the transport: the table [transport] of a scenario."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from netsim.errors import InputError, nearest
from netsim.transport import CONTROLS, PULLED, RECOVERIES
from netsim.transport.control_settings import Hpcc, Nscc, Swift, Timely
from netsim.transport.presets import PRESETS, laid_under, preset_named_by
from netsim.units import Duration, Rate, Size, parse_rate, parse_time

IB_ACK_TIMEOUT_10_PS = 4_194_304_000  # InfiniBand's local ack timeout with code 10: 4.096 us * 2^10
IB_ACK_TIMEOUT_14_PS = 67_108_864_000

IB_RETRIES = 7  # the largest retry count of InfiniBand, and NCCL's default
TCP_DUPLICATES = 3

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


class Ndp(BaseModel):
    """Settings of NDP. share: of the line rate, at which pulls are paced (0.99, as htsim's NDP does)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    share: Annotated[float, Field(gt=0, le=1)] = 0.99


class GoBackN(BaseModel):
    """Settings of go-back-N. naks: a gap brings one NAK ("once", as InfiniBand), or each packet beyond it ("every").

    Once is what NICs do: packets that overtake the one asked for are then silently thrown away a second time.
    "every" is what htsim's RoCE model does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    naks: Literal["once", "every"] = "once"


class SelectiveRepeat(BaseModel):
    """Settings of selective repeat, both in packets.

    window: how far both ends look beyond the first missing packet, a power of two. reordering: a packet is taken for
    lost when one that was sent so many transmissions later has arrived; "auto" is 3 (as TCP's duplicate ACKs, RFC 5681)
    where every packet of a connection takes the same route, and a quarter of the window where they are spread.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: Annotated[int, Field(ge=8, le=1 << 15)] = 1024
    reordering: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"

    @field_validator("window")
    @classmethod
    def _power_of_two(cls, window: int) -> int:
        if window & (window - 1):
            raise ValueError(f"{window} is no power of two; give {1 << window.bit_length()}")
        return window

    def tolerance(self, *, in_order: bool) -> int:
        """Transmissions by which a packet may be overtaken; in_order: all packets of a connection take one route."""
        if isinstance(self.reordering, int):
            return self.reordering
        return TCP_DUPLICATES if in_order else self.window // 4


class Transport(BaseModel):
    """Congestion control and loss recovery of every connection.

    preset: fills in what is not set, here and (see netsim.presets) of routing and topology; "roce" unless a control is
    set: that alone starts from no preset. control and recovery: see `netsim list`.
    window: packets that may be on the way unacknowledged, at first
    (dctcp, swift, ndp), at most (hpcc, dcqcn, timely) or always (window), or with which NSCC begins; "bdp" is what the
    idle route holds: rate times round trip (dcqcn, timely: no limit; nscc: its max_window).
    timeout: without progress for so long, everything unacknowledged is sent again; "auto" is what a packet can need at
    most, every queue on its way being full (InfiniBand's 4.19 ms where queues have no limit). retries: after so many
    time-outs in a row without anything acknowledged, one more makes the connection fail, as the NIC's retry count does;
    with timeout "auto" it tries for as long as a NIC with perftest's time-out (67 ms) would.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: str | None = None
    control: str = "dctcp"
    recovery: str = "go_back_n"
    timeout: Duration | Literal["auto"] = "auto"
    window: Annotated[int, Field(ge=1, le=1 << 29)] | Literal["bdp"] = "bdp"
    retries: Annotated[int, Field(ge=0, lt=1 << 31)] = IB_RETRIES
    dctcp: Dctcp = Dctcp()
    dcqcn: Dcqcn = Dcqcn()
    timely: Timely = Timely()
    swift: Swift = Swift()
    hpcc: Hpcc = Hpcc()
    nscc: Nscc = Nscc()
    ndp: Ndp = Ndp()
    go_back_n: GoBackN = GoBackN()
    selective_repeat: SelectiveRepeat = SelectiveRepeat()

    @model_validator(mode="before")
    @classmethod
    def _fitting_recovery(cls, given: Any) -> Any:
        """Let a receiver-driven control bring selective repeat with it where nothing is said of the recovery."""
        if isinstance(given, dict) and given.get("control") in PULLED:
            return {"recovery": "selective_repeat"} | given
        return given

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, given: Any) -> Any:
        """Lay the preset under what is given (this runs first: pydantic goes through them from the last)."""
        if not isinstance(given, dict):
            return given
        name = preset_named_by(given)
        preset = PRESETS.get(str(name))
        return given if preset is None else {**laid_under(given, preset.transport), "preset": name}

    @model_validator(mode="after")
    def _pulls_name_packets(self) -> Self:
        if self.control in PULLED and self.recovery != "selective_repeat":
            what = f'control = "{self.control}" pulls packets one by one, which {self.recovery} cannot'
            raise InputError(what, mend='set recovery = "selective_repeat", or leave it out')
        return self

    @field_validator("preset")
    @classmethod
    def _known_preset(cls, name: str | None) -> str | None:
        if name is not None and name not in PRESETS:
            raise ValueError(f"no preset {name!r}; {nearest(name, PRESETS)}")
        return name

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
            "ndp": {"share": round(self.ndp.share * 65536)},
        }

    @property
    def tick_ps(self) -> int:
        """How often time-outs are looked for."""
        return AUTO_TICK_PS if isinstance(self.timeout, str) else max(SHORTEST_TICK_PS, self.timeout // 16)
