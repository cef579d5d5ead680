"""What is noted of a packet stays with it on its whole way, and changes nothing else."""

from typing import Any

import numpy as np
import pytest

from netsim.core.state.dtypes import MOST_HOPS
from netsim.core.state.growth import with_larger_packet_pool
from netsim.core.state.packet_header import ACK
from netsim.transport.registry import Control
from tests.core.scenario_runs import CoreRun, build_core, core_figures, differences, of_twin
from tests.reference.scenarios.networks import PACKET, incast, leaves, queue, shift
from tests.reference.scenarios.pfc import LOSSLESS
from tests.reference.scenarios.plain import SCENARIOS
from tests.reference.scenarios.scenario import Scenario, one

EVERY = SCENARIOS | LOSSLESS
NAMES = [
    "odd_bytes_at_600g", "uneven_delays", "fat_tree", "incast_drops", "shared_queue_loses_acks", "dctcp_ramp_and_drops",
    "dctcp_shared_queue", "acks_fill_their_own_class", "everybody_over_one_rail_with_losses",
    "slow_nvlink_queues_in_transit", "pfc_fat_tree", "pfc_stops_transit_shared",
]  # fmt: skip


@pytest.fixture
def timestamped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packets have notes and telemetry under every control."""
    for need in ("timestamped", "telemetered"):
        monkeypatch.setattr(Control, need, True)


@pytest.mark.usefixtures("timestamped")
@pytest.mark.parametrize("name", NAMES)
def test_notes_change_no_figure(name: str) -> None:
    """They are carried along; nothing asks for them."""
    run = build_core(EVERY[name])
    assert run.fabric.world.settings[0]["timestamped"] == 1
    assert differences(core_figures(run.end()), of_twin(EVERY[name])) == []


def test_without_notes_there_is_no_room_for_them() -> None:
    world = build_core(SCENARIOS["fat_tree"]).fabric.world
    assert (len(world.packet_metadata), len(world.telemetry)) == (1, 1)
    larger = with_larger_packet_pool(world)
    assert (len(larger.packet_metadata), len(larger.telemetry)) == (1, 1)


BUSY = Scenario("busy", leaves(2, 4, 1, at=queue(40)), one(shift(8, 4, 400_000) + incast(3, 200_000)), control="none")


def packets(run: CoreRun) -> list[tuple[int, Any, Any]]:
    """Every packet that is somewhere: the link it is at, its row of the air, its note and telemetry."""
    world, found = run.fabric.world, []
    for name in ("in_flight", "payload", "control"):
        for link, ring in enumerate(world.links[name]):
            for i in range(int(ring["head"]), int(ring["tail"])):
                place = int(ring["start"]) + (i & int(ring["mask"]))
                told = world.telemetry[place * MOST_HOPS :][: int(world.packet_metadata["hops"][place])]
                found.append((link, world.packet_pool[place], (world.packet_metadata[place], told)))
    return found


@pytest.mark.usefixtures("timestamped")
def test_every_packet_knows_when_it_was_sent_and_what_it_passed() -> None:
    run = build_core(BUSY)
    slot, delay = 332_800, 1_000_000
    seen = 0
    for until in range(3_000_000, 60_000_000, 5_000_000):
        run.env.run(until=until)
        now = run.fabric.now_ps
        world = run.fabric.world
        stride, sent_at = int(world.settings[0]["stride"]), {}
        for _, packet, (note, told) in packets(run):
            name, content = int(packet["header"]), int(packet["meta"])
            connection, hop, ack = name >> 32, (content >> 8) & 0xFF, content & ACK
            route = world.hops[connection * stride :][: int(world.connections["length"][connection])].tolist()
            assert 0 <= note["stamp"] <= now + slot
            if not ack:
                key = (route[0], int(note["stamp"]))
                assert key not in sent_at, "a NIC sends one packet at a time"
                sent_at[key] = name
            links = told["link"].tolist()
            assert links == route[1 : 1 + len(links)]
            passed = len(route) - 1 if ack else hop
            assert len(links) in (passed, passed - 1)  # one less while it waits
            times = [int(note["stamp"]), *told["at"].tolist()]
            assert np.all(np.diff(times) >= delay + PACKET * 80 - 80 * 4096)
            assert np.all(told["queue"] >= 0)
            seen += len(links)
    assert seen > 1000
