"""What the core tells the control of a sender: each event goes to the kernel of that name in the control's file.

A control has the kernels that it needs, with the arguments that stand here; `settings` are its own there. What stands
below an event is what happens under a control that has no such kernel.
"""

from collections.abc import Callable
from inspect import signature

from netsim.kernel import Kernel, part
from netsim.transport.registry import REGISTRY

EVENTS: dict[str, Callable[..., int | None]] = {}


def branch(code: int, name: str, own: Kernel, rest: Kernel) -> Kernel:
    """A step of the if-chain, which costs nothing measurable; functions as data would."""

    @part
    def step(sender, settings, *event):
        if sender.control == code:
            return own(sender, settings[name], *event)
        return rest(sender, settings, *event)

    return step


def event(otherwise: Callable[..., int | None]) -> Kernel:
    """The kernel for an event: that of the sender's control, or `otherwise`. TypeError where arguments differ."""
    name = otherwise.__name__
    kernel = part(otherwise)
    for control in reversed(REGISTRY.values()):
        own = control.kernels.get(name)
        if own is None:
            continue
        if list(signature(own).parameters) != list(signature(otherwise).parameters):
            raise TypeError(f"{control.name}.{name}{signature(own)}: an event has {name}{signature(otherwise)}")
        kernel = branch(control.code, control.name, own, kernel)
    EVENTS[name] = otherwise
    return kernel


@event
def start(sender, settings, line_bps, idle_ps, network_ps, wire_bytes):
    """A new connection on a NIC of this rate; idle round trip of a full packet, and its bytes on the wire.

    network_ps: the longest of these in the network.
    """


@event
def on_ack(sender, settings, advanced, marked, now):
    """An ACK has come; `advanced` if it acknowledged something new, `marked` if the packet it answers was."""


@event
def on_round_trip(sender, settings, gained, marked, rtt, outstanding, now):
    """An ACK has come that knows when the packet it answers was sent, rtt ps ago.

    gained: packets it acknowledges for the first time; outstanding: packets still under way.
    """


@event
def on_telemetry(sender, settings, gained, load, span):
    """An ACK has come that knows how full the links were: the fullest of them over the last `span` ps."""


@event
def base_rtt(sender, settings):
    """For that: the round trip of the idle route, ps; a queue is measured by what its link sends in it."""
    return 0


@event
def on_notification(sender, settings, now):
    """A congestion notification (CNP) has come; receivers send one each `cnp_interval`, a field of the settings."""


@event
def on_send(sender, settings, wire_bytes, now):
    """A packet starts now. Returns the gap in ps to the start of the next, 0 where the control does not pace."""
    return 0


@event
def on_nack(sender, settings, packets, rtt, outstanding, now):
    """The receiver says that packets came trimmed to their headers, sent rtt ps ago.

    outstanding: packets under way, these among them.
    """


@event
def on_loss(sender, settings, packets, now):
    """The receiver says that so many packets are missing."""


@event
def on_timeout(sender, settings, outstanding, now):
    """Everything unacknowledged is about to be retransmitted: so many packets that were under way."""


@event
def on_backlog(sender, settings):
    """Receiver credit: there is something to send, after there was nothing."""


@event
def on_drained(sender, settings, outstanding):
    """Receiver credit: the last packet is under way, with the others so many."""


@event
def on_answer(sender, settings, packets, credited):
    """Receiver credit: so many packets under way have been answered; `credited`: one more may go without a pull."""


@event
def on_pull(sender, settings, pulls, wants):
    """Receiver credit: the receiver has pulled so often in all; `wants` if there is something to send."""


@event
def first_window(sender, settings):
    """Receiver credit: packets that are sent before the first pull."""
    return 0


@event
def pull_gap(sender, settings, packet_ps):
    """Receiver credit: from one pull to the next, ps, when the pulled packet takes `packet_ps` on the line."""
    return packet_ps


def refuse_unheard() -> None:
    """Raise TypeError where a control has a kernel `on_...` that nobody would call."""
    for control in REGISTRY.values():
        if unheard := {name for name in control.kernels if name.startswith("on_")} - EVENTS.keys():
            raise TypeError(f"{control.name}: no event is called {', '.join(sorted(unheard))}")


refuse_unheard()
