"""What a user chooses about the transport: the table [transport] of a scenario."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator, model_validator

from netsim.errors import InputError, nearest
from netsim.kernel.settings import KernelSettings
from netsim.transport import CONTROLS, RECOVERIES
from netsim.transport.presets import PRESETS, laid_under, preset_named_by
from netsim.transport.registry import REGISTRY
from netsim.units import Duration

IB_ACK_TIMEOUT_10_PS = 4_194_304_000  # InfiniBand's local ack timeout with code 10: 4.096 us * 2^10
IB_ACK_TIMEOUT_14_PS = 67_108_864_000

IB_RETRIES = 7  # the largest retry count of InfiniBand, and NCCL's default
TCP_DUPLICATES = 3

SHORTEST_TIMEOUT_PS = 1_000_000


class GoBackN(BaseModel):
    """Settings of go-back-N. naks: a gap brings one NAK ("once", as InfiniBand), or each packet beyond it ("every").

    Once is what NICs do: packets that overtake the one asked for are then silently thrown away a second time.
    "every" is what htsim's RoCE model does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    naks: Literal["once", "every"] = "once"


class SelectiveRepeat(BaseModel):
    """Settings of selective repeat, both in packets.

    window: how far both ends look beyond the first missing packet; "auto" has no limit. reordering: a packet is taken
    for lost when one that was sent so many transmissions later has arrived; "auto" is 3 (as TCP's duplicate ACKs, RFC
    5681) where every packet of a connection takes the same route; where they are spread a quarter of the window, or,
    where that is "auto", of what the path holds, at least 256, and what is sent while one on the longest way is later
    than one on the shortest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: Annotated[int, Field(ge=8, le=1 << 29)] | Literal["auto"] = "auto"
    reordering: Annotated[int, Field(ge=1)] | Literal["auto"] = "auto"

    def limits(self, *, in_order: bool) -> tuple[int | str, int | str]:
        """Window and tolerance in packets or "auto"; in_order: all packets of a connection take one route."""
        if self.reordering != "auto" or isinstance(self.window, str):
            return self.window, TCP_DUPLICATES if in_order and self.reordering == "auto" else self.reordering
        return self.window, TCP_DUPLICATES if in_order else self.window // 4


if TYPE_CHECKING:

    class ControlTables(BaseModel):
        """A table of settings for each control that has some."""

else:
    _tables = {name: (each.settings, each.settings()) for name, each in REGISTRY.items() if each.has_settings}
    ControlTables = create_model("ControlTables", __module__=__name__, **_tables)


class Transport(ControlTables):
    """Congestion control and loss recovery of every connection.

    preset: fills in what is not set, here and of routing, topology and NICs; "roce" unless a control is set: that
    alone starts from no preset. control and recovery: see `netsim list`.
    window: packets that may be on the way unacknowledged, at first
    (dctcp, swift, ndp), at most (hpcc, dcqcn, timely) or always (window), or with which NSCC begins; "bdp" is what the
    idle route holds: rate times round trip (dcqcn, timely: no limit; nscc: its max_window).
    timeout: without progress for so long, everything unacknowledged is retransmitted; "auto" is what a packet can need
    at most, every queue on its way being full (InfiniBand's 4.19 ms where queues have no limit). retries: after so many
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
    go_back_n: GoBackN = GoBackN()
    selective_repeat: SelectiveRepeat = SelectiveRepeat()

    @model_validator(mode="before")
    @classmethod
    def _fitting_recovery(cls, given: Any) -> Any:
        """Let a receiver-driven control bring selective repeat with it where nothing is said of the recovery."""
        if isinstance(given, dict) and _is_receiver_driven(given.get("control")):
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
        if _is_receiver_driven(self.control) and self.recovery != "selective_repeat":
            what = f'control = "{self.control}" pulls packets one by one, which {self.recovery} cannot'
            raise InputError(what, hint='set transport.recovery = "selective_repeat"')
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
        if isinstance(timeout, int) and timeout < SHORTEST_TIMEOUT_PS:
            raise ValueError("shorter than 1us; give at least 1us")
        return timeout

    @property
    def control_settings(self) -> KernelSettings:
        """Those of the chosen control."""
        control = REGISTRY[self.control]
        settings: KernelSettings = getattr(self, self.control) if control.has_settings else control.settings()
        return settings


def _is_receiver_driven(control: Any) -> bool:
    return control in list(REGISTRY) and REGISTRY[control].receiver_credit
