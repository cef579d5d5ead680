"""A scenario as data, and how the twin runs it."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import simpy

from netsim.topology.network import Network
from tests.reference.flows.queue_pairs import Pairs
from tests.reference.recovery.selective_repeat import SelectiveTwin
from tests.reference.scenarios.networks import MICROSECOND, Row, shortest_routes, star
from tests.reference.switch.per_packet_routing import PerPacket
from tests.reference.twin import Twin


@dataclass(frozen=True)
class Collective:
    """A schedule by rows (source, target, channel, bytes, after); positions are `members` (ranks), by default all.

    Position p enters at `enters[p]` (by default at 0), but not before its rank has finished the collectives in `waits`.
    """

    rows: Sequence[Row]
    enters: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    waits: tuple[int, ...] = ()
    traffic_class: int = 0


@dataclass(frozen=True)
class Scenario:
    """One run; rank r is on host `hosts[r]` (on host r by default).

    `shows` names counts that must not be zero, `never` such that must, with spaces between.
    """

    name: str
    network: Network
    collectives: tuple[Collective, ...]
    shows: str = ""
    never: str = ""
    hosts: tuple[int, ...] = ()
    control: str = "window"
    window: int | str = 50
    dcqcn: Mapping[str, Any] = field(default_factory=dict)  # settings as a user writes them, where not the paper's
    chosen: Mapping[str, Any] = field(default_factory=dict)  # the same of a control that measures round trips
    timeout_ps: int = 100 * MICROSECOND
    payload: int = 4096
    header: int = 64
    ack: int = 64
    scale_up_payload: int = 16384
    seed: int = 1
    per_packet: PerPacket | None = None
    queue_pairs: int = 1
    split: bool = False
    recovery: str = "go_back_n"
    places: int = 1024  # selective repeat: its window and its tolerance, packets
    reordering: int = 3
    share: float = 0.99  # of the line rate, at which receivers pull
    retries: int = 1 << 30
    jitter: float = 0  # of NICs, in times to send a packet
    nak_per_packet: bool = False  # go-back-N: every packet beyond a gap brings a NAK

    @property
    def classes(self) -> int:
        """How many classes of traffic there are."""
        return 1 + max((collective.traffic_class for collective in self.collectives), default=0)

    def members_of(self, collective: Collective) -> tuple[int, ...]:
        """The hosts of a collective's positions."""
        hosts = self.hosts or tuple(range(len(self.network.hosts)))
        return tuple(hosts[rank] for rank in collective.members) or hosts


UNSET = vars(Scenario("unset", star(2), ()))


def scenarios(*each: Scenario, **common: Any) -> dict[str, Scenario]:
    """Scenarios by name, with what they have in common where they say nothing else."""
    found = {}
    for one in each:
        changes = {name: value for name, value in common.items() if getattr(one, name) == UNSET[name]}
        found[one.name] = replace(one, **changes)
    return found


def build_twin(scenario: Scenario) -> Twin:
    """Give the scenario's network in motion, with a process for every position that enters a collective."""
    twin = SelectiveTwin(scenario) if scenario.recovery == "selective_repeat" else Twin(scenario)
    route = shortest_routes(scenario.network)
    several = {"split": scenario.split, "payload": scenario.payload}
    pairs = [Pairs(scenario.network, scenario.queue_pairs, **several) for _ in range(scenario.classes)]
    for number, collective in enumerate(scenario.collectives):
        hosts = scenario.members_of(collective)
        columns = zip(*pairs[collective.traffic_class].spread(collective.rows, hosts), strict=True)
        twin.collective(*columns, hosts=hosts, route=route, traffic_class=collective.traffic_class)
        for position in range(len(hosts)):
            twin.env.process(rank(twin, collective, number, position))
    return twin


def rank(twin: Twin, collective: Collective, number: int, position: int) -> Generator[simpy.Event, None, None]:
    """Enter one collective when its time has come and what it waits for is finished on the same host."""
    yield twin.env.timeout(collective.enters[position] if collective.enters else 0)
    for before in collective.waits:
        yield twin.part(before, twin.hosts[before].index(twin.hosts[number][position]))
    twin.enter(number, position)


def one(rows: Sequence[Row], *enters: int) -> tuple[Collective, ...]:
    return (Collective(rows, enters),)
