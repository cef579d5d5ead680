"""Routings: where the packets of a connection go; one kind per file, `ROUTINGS` names them all."""

from netsim.routing.base import Routes, Routing
from netsim.routing.ecmp import Ecmp
from netsim.routing.single import Single

ROUTINGS: dict[str, type[Routing]] = {
    "ecmp": Ecmp,
    "single": Single,
}

__all__ = ["ROUTINGS", "Routing", "Routes", "Ecmp", "Single"]
