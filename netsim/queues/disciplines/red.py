"""ECN as RED does it: from how many queued bytes on a switch port marks packets (RFC 3168; Floyd and Jacobson 1993)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from netsim.errors import InputError
from netsim.kernel import part
from netsim.kernel.rng import thirty_bits
from netsim.units import UNLIMITED, Rate, Size


class Ecn(BaseModel):
    """Marks nothing up to `kmin` bytes, with a probability rising to `pmax` at `kmax`, everything above `kmax`.

    The defaults are 20 % and 80 % of the default buffer of 416,000 bytes, as UEC NSCC (and htsim after it) mark
    at 0.2 and 0.8 of a queue of one bandwidth-delay product; kmin = kmax gives the step of DCTCP (SIGCOMM 2010, 3.1).
    With `rate` both thresholds are those of a link of that rate, and scale with the link's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kmin: Size = 83_200
    kmax: Size = 332_800
    pmax: float = Field(default=1.0, gt=0.0, le=1.0)
    rate: Rate | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Ecn:
        if self.kmin > self.kmax:
            raise InputError(
                f"kmin ({self.kmin} B) is above kmax ({self.kmax} B)", hint="swap them, or make them equal"
            )
        return self

    def of_link(self, rate_bps: int) -> Ecn:
        """The thresholds of a link of this rate, in bytes."""
        if self.rate is None:
            return self
        kmin, kmax = (min(each * rate_bps // self.rate, UNLIMITED) for each in (self.kmin, self.kmax))
        return Ecn(kmin=kmin, kmax=kmax, pmax=self.pmax)


NO_ECN = Ecn(kmin=UNLIMITED, kmax=UNLIMITED)


def _off(value: Any) -> Any:
    """Let `ecn = "off"` (also None and False, from Python) mean thresholds that no queue reaches."""
    if value is None or value is False or value == "off":
        return NO_ECN
    if isinstance(value, Ecn | dict):
        return value
    raise InputError(f"{value!r} is no ECN setting", hint='write a table { kmin = "80KB", kmax = "320KB" }, or "off"')


Marking = Annotated[Ecn, BeforeValidator(_off)]


@part
def is_marked(limits, backlog, seed, row, k):
    """Never up to Kmin, always above Kmax, between them with a chance that grows to Pmax; drawn for the k-th packet."""
    if backlog <= limits.mark_from:
        return False
    if backlog > limits.mark_all:
        return True
    drawn = thirty_bits(seed, row, k)
    return drawn * (limits.mark_all - limits.mark_from) < limits.mark_chance * (backlog - limits.mark_from)


@part
def on_enqueue(settings, state, limits, backlog, accepted, seed, row, now):
    return is_marked(limits, backlog, seed, row, accepted) and not limits.marks_late


@part
def on_dequeue(settings, state, limits, backlog, wire_bytes, waited, sent, seed, row, now):
    return limits.marks_late and is_marked(limits, backlog, seed, row, sent)
