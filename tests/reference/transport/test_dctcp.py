"""The twin's random bits, ECN marks and DCTCP against arithmetic by hand."""

import pytest

from tests.reference.by_hand import MSS, twin_of
from tests.reference.scenarios.networks import PACKET, incast, queue, star
from tests.reference.state.records import mix
from tests.reference.transport.control import Control, Dctcp


def test_mix_gives_the_published_numbers_of_splitmix64() -> None:
    assert [mix(n, 0, 0) for n in (1, 2)] == [0xE220A8397B1DCDAF >> 34, 0x6E789E6AA1B965F4 >> 34]
    assert len({mix(1, link, k) for link in range(20) for k in range(20)}) == 400


@pytest.mark.parametrize(("packets", "threshold"), [(30, 10), (30, 0), (5, 9)])
def test_a_step_marks_every_packet_that_finds_more_than_the_threshold(packets: int, threshold: int) -> None:
    network = star(3, at=queue(100, threshold, threshold))
    twin = twin_of(network, incast(2, packets * MSS))
    result = twin.run()
    found = [depth for slot in range(packets) for depth in (slot, slot + 1)]  # packets queued before each arrival
    marks = sum(depth > threshold for depth in found)
    assert result.links[1].ecn_marks == marks
    assert sum(each.marked for each in result.flows.values()) == marks


def test_the_ramp_marks_in_proportion() -> None:
    port = twin_of(star(2, at=queue(100, 10, 50, 0.6)), [(0, 1, 0, 1, ())]).ports[1]
    for depth, share in ((10, 0.0), (20, 0.15), (40, 0.45), (50, 0.6), (51, 1.0)):
        marked = sum(port.marks(depth * PACKET, k) for k in range(10_000))
        assert marked == pytest.approx(share * 10_000, abs=4 * (10_000 * share * (1 - share)) ** 0.5)


def test_dctcp_by_hand() -> None:
    twin = twin_of(star(2), [(0, 1, 0, MSS, ())], control="dctcp", window=10)
    connection = twin.connections[0, 1, 0]
    dctcp = connection.control
    assert isinstance(dctcp, Dctcp)
    connection.next = 4
    dctcp.on_ack(connection, 1, marked=True, advanced=True)  # the first round is one ACK: F = 1, alpha = 1/16
    assert (dctcp.alpha, dctcp.window, dctcp.round_end) == (4096, 655_360 - 20_480, 4)
    dctcp.on_ack(connection, 2, marked=True, advanced=True)
    dctcp.on_ack(connection, 2, marked=False, advanced=False)
    dctcp.on_ack(connection, 3, marked=False, advanced=True)
    assert dctcp.window == 634_880
    dctcp.on_ack(connection, 4, marked=False, advanced=True)  # F = 1/4: alpha += (16384 - 4096) / 16
    assert (dctcp.alpha, dctcp.window) == (4864, 634_880 - 634_880 * 4864 // 131_072)
    dctcp.on_ack(connection, 5, marked=False, advanced=True)
    assert dctcp.alpha == 4864 - 304
    assert dctcp.window == 634_880 - 634_880 * 4864 // 131_072 + 65_536


def test_dctcp_halves_at_a_time_out_but_never_below_one_packet() -> None:
    twin = twin_of(star(2), [(0, 1, 0, MSS, ())], control="dctcp", window=3)
    control = twin.connections[0, 1, 0].control
    assert type(control) is not Control
    windows = []
    for _ in range(3):
        control.on_timeout(twin.connections[0, 1, 0])
        windows.append(control.window / 65_536)
    assert windows == [1.5, 1.0, 1.0]
