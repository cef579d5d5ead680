"""Routings: where the packets of a connection go; one kind per file, `ROUTINGS` names them all."""

from netsim.routing.adaptive import Adaptive
from netsim.routing.base import Routes, Routing
from netsim.routing.ecmp import Ecmp
from netsim.routing.flowlet import Flowlet
from netsim.routing.per_packet import PerPacket
from netsim.routing.reps import Reps
from netsim.routing.single import Single
from netsim.routing.spray import Spray

ROUTINGS: dict[str, type[Routing]] = {
    "ecmp": Ecmp,
    "single": Single,
    "spray": Spray,
    "flowlet": Flowlet,
    "adaptive": Adaptive,
    "reps": Reps,
}

__all__ = ["ROUTINGS", "Adaptive", "Ecmp", "Flowlet", "PerPacket", "Reps", "Routes", "Routing", "Single", "Spray"]
