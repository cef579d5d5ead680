"""What packets of another size than usual change: a part of the run once more with usual ones, beside the same part.

Larger packets make a run cheap and coarse: they are stored whole at each hop, queues and windows hold few of them, and
thresholds in bytes are passed in larger steps. How far off that is depends on everything, so it is measured.
"""

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.config.limits import NO_LIMITS, Limits
from netsim.config.scenario import Packet, Scenario
from netsim.core.state.dtypes import NEVER
from netsim.errors import InputError, RunError
from netsim.result.tables import RawResult
from netsim.simulation.fabric import ActiveCollective, Fabric
from netsim.units import format_size, format_time

USUAL = 2  # sizes within a factor of two of the default are packets that networks have
NEAR = 0.02  # what is not worth a word
FEWEST_HOPS = 1 << 21  # that the part may cost, or half as many as the run: the same part is run as chosen, too
MOST_SAMPLES, FEWEST_SAMPLES = 128, 8
Run = Callable[..., tuple[RawResult, Scenario]]


class _EnoughError(Exception):
    """The part has been measured."""


@dataclass
class Meter:
    """Bytes delivered over time, until a run has cost so many packet hops or delivered so much, in both measures.

    In two measures: all together, and as if no flow of a collective were further than its slowest.
    """

    every_ps: int
    limits: Limits = NO_LIMITS
    most_hops: int = NEVER
    most_bytes: tuple[int, int] = (NEVER, NEVER)
    times: list[int] = field(default_factory=lambda: [0])
    delivered: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    ended_ps: int | None = None

    def measure(self, run: Run, scenario: Scenario) -> None:
        """Run a scenario as far as that. InputError or RunError where it cannot run."""
        with suppress(_EnoughError):
            found, _ = run(scenario, None, self.limits, None, lambda fabric: fabric.env.process(self._tick(fabric)))
            self.ended_ps = found.totals["completion_time_ps"]

    def _tick(self, fabric: Fabric) -> Generator[Any, Any, None]:
        while True:
            yield fabric.env.timeout(self.every_ps)
            if not any(process.is_alive for _, process in fabric.processes):
                return
            self.times.append(int(fabric.env.now))
            text = [_delivered(fabric, each) for each in fabric.carried]
            self.delivered.append((sum(each for each, _ in text), sum(each for _, each in text)))
            is_far = all(each >= most for each, most in zip(self.delivered[-1], self.most_bytes, strict=True))
            if is_far or fabric.packet_hops >= self.most_hops:
                raise _EnoughError
            if len(self.times) > MOST_SAMPLES:
                self.every_ps *= 2
                del self.times[1::2], self.delivered[1::2]


def _delivered(fabric: Fabric, carried: ActiveCollective) -> tuple[int, int]:
    """Bytes of a collective that are at their targets without a gap: all, and by the share of its slowest flow."""
    admitted, world = carried.admitted, fabric.world
    if carried.flows or not admitted.messages:
        return (int(admitted.bytes.sum()),) * 2
    rows = world.messages[admitted.first_message : admitted.first_message + admitted.messages]
    connection = world.flows["connection"][rows["flow"]]
    payload = world.connections["payload"][connection].astype("i8")
    missing = np.maximum(rows["end"] - world.connections["expected"][connection], 0) * payload
    whole = -(-rows["bytes"] // payload) * payload
    here = np.where(rows["end"] > 0, np.clip(whole - missing, 0, rows["bytes"]), 0)
    of_flow = np.bincount(rows["flow"] - admitted.first_flow, weights=here, minlength=admitted.flows)
    return int(here.sum()), int((of_flow / admitted.bytes).min() * admitted.bytes.sum())


def change_by_packet_size(run: Run, scenario: Scenario, raw_result: RawResult, limits: Limits) -> str:
    """Say what usual packets change of a run's time if it is more than 2 %; "" else, and where that cannot be told."""
    packet, usual = scenario.packet, Packet()
    sizes = [(packet.payload, usual.payload), (packet.scale_up_payload, usual.scale_up_payload)]
    if all(each < USUAL * other and other < USUAL * each for each, other in sizes):
        return ""
    chosen = packet.model_copy(update={"payload": usual.payload, "scale_up_payload": usual.scale_up_payload})
    other = scenario.changed(packet=chosen)
    took = int(raw_result.totals["completion_time_ps"])
    most_hops = max(FEWEST_HOPS, int(raw_result.totals["packet_hops"]) // 2)
    part = Meter(max(1, took >> 12), Limits(None, limits.wall_ps), most_hops=most_hops)
    try:
        part.measure(run, other)
        found = [part.ended_ps] if part.ended_ps else _whole_times(run, scenario, part, took)
    except (InputError, RunError):
        return ""
    if not took or not found or all(abs(took / each - 1) <= NEAR for each in found):
        return ""
    name = "payload" if packet.payload != usual.payload else "scale_up_payload"
    text = f"packet.{name} = {format_size(getattr(packet, name))} makes this {_change(took, found)} than packets of "
    text += f"{format_size(getattr(usual, name))} do: {format_time(took)}, not {' to '.join(map(format_time, found))}"
    if not part.ended_ps:
        text += f", as the first {format_time(part.times[-1])} of both suggest"
    return f"{text} ({_design(scenario)})"


def _design(scenario: Scenario) -> str:
    """Which of several that are compared it is."""
    transport = scenario.transport
    names = dict.fromkeys([transport.preset or transport.control, transport.control, scenario.routing.kind])
    return f"{', '.join(names)} on {scenario.topology.title}"


def _change(took: int, found: list[int]) -> str:
    """By how much a time is longer than others, or shorter: "3.1% longer"."""
    changes = [took / each - 1 for each in found]
    how = "longer" if sum(changes) > 0 else "shorter"
    sign = 1 if how == "longer" else -1
    return " to ".join(f"{sign * each:.1%}" for each in changes) + f" {how}"


def _whole_times(run: Run, scenario: Scenario, part: Meter, took: int) -> list[int]:
    """How long all would take, from the part and the same part of a run that took so long: by either measure.

    One number where they agree, and none where so short a part tells nothing.
    """
    same = Meter(part.every_ps, part.limits, most_bytes=part.delivered[-1])
    same.measure(run, scenario)
    if same.ended_ps:
        same.times.append(same.ended_ps)
        same.delivered.append(tuple(map(max, same.delivered[-1], part.delivered[-1])))  # type: ignore[arg-type]
    found = []
    for theirs, ours in zip(zip(*part.delivered, strict=True), zip(*same.delivered, strict=True), strict=True):
        rises = np.flatnonzero(np.diff(ours, prepend=-1) > 0)
        at = np.interp(theirs, np.array(ours)[rises], np.array(same.times)[rises])
        later = slice(len(at) // 2, None)
        if len(np.unique(at[later])) >= FEWEST_SAMPLES:
            pace = float(np.polyfit(at[later], part.times[later], 1)[0])
            found.append(round(part.times[-1] + max(took - float(at[-1]), 0.0) * pace))
    found.sort()
    return found[-1:] if found and found[-1] - found[0] <= NEAR / 2 * found[0] else found
