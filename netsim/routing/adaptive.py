"""Adaptive: every packet takes the least loaded of the equally short links."""

from typing import Literal

from netsim.routing.per_packet import PerPacket


class Adaptive(PerPacket):
    """Adaptive routing: a switch sends each packet by the equally short link with the fewest bytes waiting.

    What it knows is its own queues, as DRILL (SIGCOMM 2017) with all ports sampled, or the adaptive mode of Ethernet
    switches for AI; equal ones at random.
    """

    kind: Literal["adaptive"] = "adaptive"
