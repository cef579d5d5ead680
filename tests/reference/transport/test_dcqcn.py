"""The twin's flow control, pacing and DCQCN against arithmetic by hand."""

from dataclasses import replace
from math import ceil, log2

import pytest

from netsim.topology.pfc import Pfc
from tests.reference.by_hand import ACK, DELAY, MSS, SLOT, Equal, flow, twin_of
from tests.reference.scenarios.networks import GIGABIT, MICROSECOND, PACKET, incast, line, queue, star
from tests.reference.scenarios.scenario import Scenario, build_twin, one
from tests.reference.transport.dcqcn import RateControl
from tests.reference.twin import Twin

LINE = 100 * GIGABIT
FIRST = SLOT + DELAY  # when the first packets reach the switch


@pytest.mark.parametrize("host", [1, 2])
@pytest.mark.parametrize(("xoff", "xon"), [(4, 2), (7, 6), (10, 1)])
def test_two_into_one_stops_and_goes_on_when_arithmetic_says(xoff: int, xon: int, host: int) -> None:
    # When packet k of hosts 1 and 2 comes, at FIRST + k SLOT, the switch has sent k packets, the even ones host 1's.
    # So it holds k // 2 + 1 packets of host 1 and (k + 1) // 2 + 1 of host 2: too many at k = 2 xoff and 2 xoff - 1.
    network = star(3, pfc=Pfc(xoff=xoff * PACKET, xon=xon * PACKET))
    twin = twin_of(network, incast(2, 400 * MSS), control="none")
    port = twin.ports[2 * host]
    stopped = FIRST + (2 * xoff + 1 - host) * SLOT + DELAY
    sent = stopped // SLOT + 1  # one packet starts at each multiple of SLOT until then
    twin.run(stopped)
    assert (port.paused, port.count.pauses) == (False, 1)
    drained = FIRST + (2 * (sent - xon - 1) + host) * SLOT  # all but xon of them have left the switch
    twin.run(drained + DELAY)
    assert port.count == Equal(pauses=1, packets=sent, paused_ps=0)
    assert port.paused
    twin.run(drained + DELAY + 1)
    assert port.count == Equal(pauses=1, packets=sent + 1, paused_ps=drained + DELAY - stopped)


def test_pauses_cost_no_time_where_enough_is_held_and_hosts_send_none() -> None:
    pfc = Pfc(xoff=8 * PACKET, xon=6 * PACKET)  # xon lasts until what RESUME brings is there
    twin = twin_of(line(3, gigabits=(100, 100, 40, 100), pfc=pfc), [(0, 1, 0, 200 * MSS, ())], control="none")
    result = twin.run()
    assert flow(twin, 0, 1) == Equal(dropped=0, delivered_ps=2 * SLOT + 200 * 832_000 + SLOT + 4 * DELAY)
    assert [link.pauses > 0 for link in result.links] == [True, False, True, False, False, False, False, False]


@pytest.mark.parametrize("delay", [100, 1000])
def test_headroom_is_two_delays_and_three_packets(delay: int) -> None:
    network = star(2, delays_ns=[delay], pfc=Pfc(xoff=50_000, xon=0))
    gate = twin_of(network, [(0, 1, 0, 1, ())]).ports[0].gate
    assert gate is not None
    assert gate.headroom == 2 * delay * 100 // 8 + 3 * PACKET


def rate_control(twin: Twin) -> RateControl:
    """Give the control of the connection from host 0 to host 1."""
    control = twin.connections[0, 1, 0].control
    assert isinstance(control, RateControl)
    return control


def paced(**settings: int) -> Twin:
    """Give one long flow under dcqcn; nothing moves before the test says."""
    network = star(2)
    scenario = Scenario("by hand", network, one([(0, 1, 0, 400 * MSS, ())]), timeout_ps=4_000 * MICROSECOND)
    return build_twin(replace(scenario, control="dcqcn", window="bdp", dcqcn=settings))


@pytest.mark.parametrize("rate", [50, 30, 7])
def test_a_rate_spaces_packets_out(rate: int) -> None:
    twin = paced()
    rate_control(twin).rate = rate * GIGABIT
    twin.run()
    gap = ceil(PACKET * 8000 / rate)
    assert flow(twin, 0, 1) == Equal(delivered_ps=399 * gap + 2 * SLOT + 2 * DELAY)


def test_notifications_in_a_row_halve_the_rate_down_to_the_least() -> None:
    control = rate_control(paced())
    for cuts in range(1, 15):
        before = control.rate
        control.on_cnp()
        assert control.rate == pytest.approx(max(LINE / 2**cuts, LINE / 1000), rel=1e-9)  # alpha stays 1
        assert control.target == before
    assert control.rate == LINE // 1000
    assert control.alpha == 1 << 30


def test_alpha_decays_between_notifications_and_the_next_cut_is_smaller() -> None:
    twin = paced(increase_timer=10**12)
    control = rate_control(twin)
    control.on_cnp()
    twin.env.run(until=10 * 55 * MICROSECOND + 1)
    alpha = (255 / 256) ** 10
    assert control.alpha / (1 << 30) == pytest.approx(alpha, rel=1e-6)
    control.on_cnp()
    assert control.rate == pytest.approx(LINE / 2 * (1 - alpha / 2), rel=1e-5)
    assert control.alpha / (1 << 30) == pytest.approx(alpha * 255 / 256 + 1 / 256, rel=1e-6)


def test_recovery_halves_the_way_to_the_target_and_then_moves_the_target() -> None:
    control = rate_control(paced())
    control.on_cnp()
    control.on_cnp()  # target 50, rate 25 Gb/s
    for step in range(1, 5):
        control.time_is_up()
        assert (control.target, control.rate) == (LINE // 2, LINE // 2 - ceil(LINE / 4 / 2**step))
    target, rate = LINE / 2, float(control.rate)
    for _ in range(20):  # from the fifth on 40 Mb/s at 40 Gb/s: 100 Mb/s
        control.time_is_up()
        target += 100 * 10**6
        rate = (rate + target) / 2
        assert control.target == target
        assert control.rate == pytest.approx(rate, rel=1e-9)


def test_hyper_increase_needs_more_than_f_expirations_of_both() -> None:
    twin = paced(byte_counter=1000, fast_recovery=2)
    control = rate_control(twin)
    control.on_cnp()
    control.on_cnp()
    targets = []
    for _ in range(3):
        control.time_is_up()
        targets.append(control.target)
    for _ in range(3):
        control.gap_ps(1000)
        targets.append(control.target)
    additive, hyper = 100 * 10**6, 1000 * 10**6
    moved = [0, 1, 2, 3, 4, 4]  # times additive
    assert targets == [LINE // 2 + n * additive + (i == 5) * hyper for i, n in enumerate(moved)]


def test_a_large_packet_rings_the_byte_counter_more_than_once() -> None:
    control = rate_control(paced(byte_counter=1000))
    control.on_cnp()
    control.gap_ps(2500)
    assert (control.by_bytes, control.bytes) == (2, 500)
    assert control.rate == LINE - LINE // 8
    assert control.gap_ps(499) == ceil(499 * 8000 / 87.5)
    control.gap_ps(1)
    assert (control.by_bytes, control.bytes) == (3, 0)


def test_a_whole_rate_stops_the_timers() -> None:
    twin = paced(ai=40 * GIGABIT)
    control = rate_control(twin)
    control.on_cnp()
    steps = 0
    while control.cut:
        control.time_is_up()
        steps += 1
    assert steps == ceil(log2(LINE / 2))  # the way that is left is halved each time, and rounds to nothing
    alpha = control.alpha
    twin.run()
    assert (control.rate, control.alpha, control.by_time) == (LINE, alpha, steps)


def test_a_receiver_notifies_at_most_once_an_interval() -> None:
    interval = 50 * MICROSECOND
    twin = twin_of(star(3, at=queue(4000, 0, 0)), incast(2, 400 * MSS))
    result = twin.run()
    # host 2's packets all find host 1's: marked one after another every second slot from FIRST + 2 SLOT + DELAY on
    spacing = ceil(interval / (2 * SLOT)) * 2 * SLOT
    assert result.totals["cnps"] == 2 * ceil(799 * SLOT / spacing)
    assert twin.connections[2, 0, 0].cnp_ps == FIRST + 2 * SLOT + DELAY + 5 * spacing + interval
    assert twin.connections[2, 0, 0].control.gap_ps(PACKET) == 0  # a window hears nothing of it


def test_the_first_cut_takes_effect_when_the_notification_arrives() -> None:
    twin = twin_of(star(3, at=queue(4000, 0, 0)), incast(2, 400 * MSS), control="dcqcn")
    control = twin.connections[2, 0, 0].control
    assert isinstance(control, RateControl)
    heard = FIRST + 2 * SLOT + DELAY + 2 * (ACK + DELAY)
    twin.run(heard)
    assert control.rate == LINE
    twin.run(heard + 1)
    assert control.rate == LINE // 2
    sent = twin.ports[4].count.packets
    start = ceil(heard / SLOT) * SLOT  # the next packet still comes in its old turn
    twin.run(start + 2 * SLOT)
    assert twin.ports[4].count.packets == sent + 1
    twin.run(start + 2 * SLOT + 1)
    assert twin.ports[4].count.packets == sent + 2
