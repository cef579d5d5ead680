"""What the twin's arithmetic tests share."""

from collections.abc import Sequence

from netsim.topology.network import Network
from tests.reference.scenarios.networks import MICROSECOND, Row
from tests.reference.scenarios.scenario import Collective, Scenario, build_twin
from tests.reference.state.records import Flow
from tests.reference.twin import Twin

DELAY = MICROSECOND
SLOT, ACK = 332_800, 5_120  # 4160 and 64 bytes at 100 Gb/s
MSS = 4096


def twin_of(network: Network, rows: Sequence[Row], *enters: int, **settings: int | str) -> Twin:
    """Build one collective on a network, window 1000 unless told, time-out after the test."""
    chosen = {"window": 1000, "timeout_ps": 4_000 * MICROSECOND} | settings
    return build_twin(Scenario("by hand", network, (Collective(rows, enters),), **chosen))  # type: ignore[arg-type]


def flow(twin: Twin, source: int, target: int, channel: int = 0, collective: int = 0) -> Flow:
    return twin.flows[collective, twin.connections[source, target, channel].number]


class Equal:
    """Compares only the named fields."""

    def __init__(self, **fields: int) -> None:
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return all(getattr(other, name) == value for name, value in self.fields.items())

    def __repr__(self) -> str:
        return f"{self.fields}"
