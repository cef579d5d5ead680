"""Congestion controls on one base: what stays the same, and where a control cannot do what it is made for."""

from collections.abc import Iterator

from netsim.config.scenario import Scenario
from netsim.topology.pfc import Pfc
from netsim.transport import CONTROLS
from netsim.transport.registry import REGISTRY
from netsim.units import UNLIMITED, format_rate, format_size


def base_text(scenario: Scenario) -> str:
    """What all controls of a comparison have in common, in a line: buffers, PFC, marks, recovery, routing."""
    topology, transport = scenario.topology, scenario.transport
    ecn, pfc, shared = topology.ecn, topology.pfc, topology.shared_buffer
    at = f" at {format_rate(ecn.rate)}" if ecn.rate else ""
    marks = f"ECN {format_size(ecn.kmin)} to {format_size(ecn.kmax)}{at}, pmax {ecn.pmax:g}"
    parts = [
        f"preset {transport.preset}" if transport.preset else "no preset",
        f"buffer {format_size(topology.buffer)} per port" if topology.buffer < UNLIMITED else "buffer unlimited",
        *([f"shared buffer {format_size(shared.size)}, alpha {shared.alpha:g}"] if shared else []),
        _pauses(pfc) if pfc else "no PFC",
        marks if _marks(scenario) else "no ECN",
        "trimming" if topology.trim else "no trimming",
        transport.recovery,
        scenario.routing.kind,
    ]
    return f"{topology.title}: {', '.join(parts)}"


def _pauses(pfc: Pfc) -> str:
    if pfc.xoff >= UNLIMITED:
        return "PFC where that is used up"
    return f"PFC from {format_size(pfc.xoff)} to {format_size(pfc.xon)}"


def misfits(scenario: Scenario) -> Iterator[str]:
    """What the control of a scenario lacks on this fabric, a sentence each."""
    control, topology = scenario.transport.control, scenario.topology
    kind = REGISTRY[control]
    drops = topology.pfc is None and topology.buffer < UNLIMITED
    if drops and kind.measures_delay_alone:
        yield f"{control} measures the delay of packets that arrive: without PFC it sees nothing of those dropped"
    elif drops and not kind.reacts_to_loss:
        yield f"{control} takes no notice of losses, and without PFC a full queue drops packets"
    if kind.traits.reacts_to_ecn and not _marks(scenario):
        yield f"{control} needs ECN, which is off"
    if kind.receiver_credit and not topology.trim:
        yield f"{control} needs switches that trim: without, what its first windows overflow is lost until a time-out"
    if kind.telemetered:
        yield f"{control} needs INT: every switch is taken to write it"
    if kind.traits.unlimited and "on_nack" in kind.kernels and not topology.trim:  # no window held it back before
        yield f"{control} hears of a full queue by trimmed packets: without trimming it waits for the recovery to tell"
    if kind.telemetered and scenario.routing.kind not in ("ecmp", "single"):
        yield f"{control} compares what a link said at two times: packets that are spread over paths hide that"


def cannot_pull(control: str, base: Scenario) -> str:
    """Why a receiver-driven control cannot run on a base at all; "" where it can, and for all others."""
    if not REGISTRY[control].receiver_credit or base.transport.recovery == "selective_repeat":
        return ""
    return (
        f"{control} is left out: it pulls packets one by one, which {base.transport.recovery} cannot; "
        "add --set transport.recovery=selective_repeat"
    )


def names_of(text: str) -> list[str]:
    """The controls of an option: all, or names with commas between them."""
    return list(CONTROLS) if text == "all" else [name.strip() for name in text.split(",")]


def _marks(scenario: Scenario) -> bool:
    return scenario.topology.ecn.kmin < UNLIMITED
