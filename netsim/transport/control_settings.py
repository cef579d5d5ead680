"""What a user chooses about the controls that measure round trips or links: tables [transport.timely] and so on.

`core` gives what the kernels take: ps, bytes, bit/s, fractions in 1 / 65536 unless the kernel says otherwise.
"""

from math import sqrt
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from netsim.units import Duration, Rate, parse_rate, parse_time

Share = Annotated[float, Field(gt=0, le=1)]
Auto = Annotated[Duration, Field(gt=0)] | Literal["auto"]
Packets = Annotated[float, Field(gt=0, le=1 << 20)]
Whole = Annotated[int, Field(ge=0, le=1 << 20)]
Least = Annotated[int, Field(ge=1, le=10**6, description="the lowest rate is the line's divided by this")]


def fixed(number: float) -> int:
    """16 fractional bits."""
    return round(number * 65536)


class Timely(BaseModel):
    """Settings of TIMELY. Shares, delta (at 10 Gb/s: it scales) and HAI from the paper, section 5 and algorithm 1.

    Its thresholds, 50 us and 500 us over a round trip of 20 us, scale with the idle round trip: "auto" is 2.5 and 25 of
    them. patched: the rule of CoNEXT 2016 between the thresholds, with its beta; false: the one of 2015.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    alpha: Share = 0.875
    beta: Share = 0.8
    beta_patched: Share = 0.008
    t_low: Auto = "auto"
    t_high: Auto = "auto"
    delta: Rate = parse_rate("10Mb/s")
    hai: Annotated[int, Field(ge=1, le=10**6)] = 5
    hai_after: Whole = 5
    least: Least = 1000
    patched: bool = True

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if isinstance(self.t_low, int) and isinstance(self.t_high, int) and self.t_low >= self.t_high:
            raise ValueError("timely.t_low is not below t_high; the rate is raised below t_low and cut above t_high")
        return self

    @property
    def core(self) -> dict[str, int]:
        low, high = (0 if isinstance(each, str) else each for each in (self.t_low, self.t_high))
        shares = {name: fixed(getattr(self, name)) for name in ("alpha", "beta", "beta_patched")}
        plain = {name: int(getattr(self, name)) for name in ("delta", "hai", "hai_after", "least", "patched")}
        return {**shares, **plain, "low": low, "high": high, "low_share": fixed(2.5), "high_share": fixed(25)}


class Swift(BaseModel):
    """Settings of Swift, named as in the paper; it gives no numbers for most: these are those of csg-htsim.

    base_target must hold the idle round trip: "auto" is that, and at least 20 us; hop_scale counts the switches on the
    way. max_cwnd: "auto" is twice the first window, and at least 1,024 packets.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_target: Auto = "auto"
    hop_scale: Duration = parse_time("3.053us")  # 20 us / 6.55
    fs_range: Duration = parse_time("100us")
    fs_min_cwnd: Packets = 0.1
    fs_max_cwnd: Packets = 100
    ai: Packets = 1
    beta: Share = 0.8
    max_mdf: Share = 0.5
    min_cwnd: Annotated[float, Field(ge=0.0001, le=1)] = 0.001
    max_cwnd: Annotated[float, Field(ge=1, le=1 << 20)] | Literal["auto"] = "auto"
    retx_reset_threshold: Annotated[int, Field(ge=1)] = 5

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.fs_min_cwnd >= self.fs_max_cwnd:
            raise ValueError("swift.fs_min_cwnd is not below fs_max_cwnd; flow scaling needs a range of windows")
        return self

    @property
    def core(self) -> dict[str, int]:
        alpha = self.fs_range / (1 / sqrt(self.fs_min_cwnd) - 1 / sqrt(self.fs_max_cwnd))
        names = ("ai", "beta", "max_mdf", "min_cwnd")
        plain = ("hop_scale", "fs_range", "retx_reset_threshold")
        return {
            **{name: fixed(getattr(self, name)) for name in names},
            **{name: getattr(self, name) for name in plain},
            "base_target": 0 if isinstance(self.base_target, str) else self.base_target,
            "max_cwnd": 0 if isinstance(self.max_cwnd, str) else fixed(self.max_cwnd),
            "fs_alpha": round(alpha),
            "fs_beta": round(alpha / sqrt(self.fs_max_cwnd)),
        }


class Hpcc(BaseModel):
    """Settings of HPCC: eta and max_stage as in its authors' simulations; ai is W_AI / T at 25 Gb/s: it scales."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    eta: Share = 0.95
    max_stage: Whole = 0
    ai: Rate = parse_rate("10Mb/s")
    least: Least = 1000

    @property
    def core(self) -> dict[str, int]:
        plain = {name: getattr(self, name) for name in ("max_stage", "ai", "least")}
        return {"eta": round(self.eta * (1 << 20)), **plain}


class Nscc(BaseModel):
    """Settings of NSCC, named and chosen as in uet-htsim; those in packets hold at 100 Gb/s and 12 us, and scale.

    base_rtt: of the whole network, from which target, steps and their period follow, and with which a connection's own
    begins; "auto" is the idle round trip of its longest path (uet-htsim's main_uec.cpp; UE 1.0 has it configured).
    target_qdelay: "auto" is one of these, as there without trimming (with it: 0.75). max_window: in what a NIC sends in
    the connection's own base RTT; with it a connection begins. qa_gate: quick adapt acts below max_window / 2^3.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_rtt: Auto = "auto"
    target_qdelay: Auto = "auto"
    target_share: Annotated[float, Field(gt=0, le=100)] = 1.0
    max_window: Annotated[float, Field(ge=1, le=100)] = 1.5
    alpha: Packets = 4.0
    fi: Packets = 5.0
    eta: Packets = 0.15
    gamma: Share = 0.8
    max_md: Share = 0.5
    delay_alpha: Share = 0.0125
    fi_scale: Packets = 0.25
    fast_below: Duration = parse_time("1us")
    qa_threshold: Annotated[int, Field(ge=1, le=1000)] = 4
    qa_gate: Annotated[int, Field(ge=0, le=16)] = 3
    adjust_after: Whole = 8

    @property
    def core(self) -> dict[str, int]:
        shares = ("target_share", "max_window", "alpha", "fi", "eta", "gamma", "max_md", "delay_alpha", "fi_scale")
        plain = ("fast_below", "qa_threshold", "qa_gate", "adjust_after")
        return {
            "target": 0 if isinstance(self.target_qdelay, str) else self.target_qdelay,
            **{name: fixed(getattr(self, name)) for name in shares},
            **{name: getattr(self, name) for name in plain},
        }
