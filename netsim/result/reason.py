"""What limits a run or a collective: a cause out of one closed list, the link or rank it lies at, and a sentence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class ReasonKind(StrEnum):
    """All there is; what lies at a link but host link and slower link is there because something waited or was lost."""

    INCAST = "incast"
    OVERSUBSCRIPTION = "oversubscription"
    ECMP_COLLISION = "ECMP collision"
    PATH_COLLISION = "path collision"  # by any other choice of paths than a hash
    PFC_SPREADING = "PFC spreading"
    PASSING_CONGESTION = "passing congestion"
    LOSS_RECOVERY = "loss recovery"
    WINDOW_LIMIT = "window limit"
    RATE_LIMIT = "rate limit"
    STRAGGLER = "straggler"
    HOST_LINK = "host link"
    SLOWER_LINK = "slower link"
    LATENCY = "latency"
    NOTHING = "nothing"

    @classmethod
    def collision_under(cls, routing: str) -> ReasonKind:
        """What a collision of flows is called under a kind of routing."""
        return cls.ECMP_COLLISION if routing == "ecmp" else cls.PATH_COLLISION


@dataclass(frozen=True, slots=True)
class Reason:
    """One of ReasonKind with its link ("tor7->host15") or rank, if it has one; its share of the operations' time.

    `text` says it in a sentence with its figures; `estimated`: told from what links carried, not from the packets.
    """

    kind: str
    link: str | None = None
    rank: int | None = None
    share: float = 0.0
    text: str = ""
    estimated: bool = False

    def as_json(self) -> dict[str, Any]:
        """Plain values, in this order."""
        return asdict(self)

    @classmethod
    def read(cls, value: object) -> Reason | None:
        """Take one out of a summary; None where that holds none, or one that no netsim wrote."""
        if not isinstance(value, dict) or set(value) != set(cls.__slots__) or value["kind"] not in list(ReasonKind):
            return None
        types = {"link": str | None, "rank": int | None, "share": float, "text": str, "estimated": bool}
        return cls(**value) if all(isinstance(value[name], kind) for name, kind in types.items()) else None


def reason(
    kind: str,
    how: str,
    link: str | None = None,
    *,
    rank: int | None = None,
    share: float = 0.0,
    estimated: bool = False,
) -> Reason:
    """Say a reason in a sentence: "Limited by incast at tor7->host15: ..."."""
    place = f" at {link}" if link else ""
    return Reason(str(kind), link, rank, share, f"Limited by {kind}{place}: {how}", estimated)
