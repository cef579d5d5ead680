"""The twin against arithmetic by hand: times to the picosecond, drops and marks to the packet."""

from math import ceil

import pytest

from tests.reference.by_hand import ACK, DELAY, MSS, SLOT, Equal, flow, twin_of
from tests.reference.scenarios.networks import (
    MICROSECOND,
    PACKET,
    incast,
    line,
    queue,
    rails,
    ring,
    shortest_routes,
    star,
)
from tests.reference.scenarios.scenario import Collective, Scenario, build_twin
from tests.reference.state.records import Packet


@pytest.mark.parametrize(("switches", "packets"), [(1, 1), (1, 30), (3, 7), (5, 490)])
def test_one_flow_takes_its_packets_plus_the_pipeline_plus_the_wires(switches: int, packets: int) -> None:
    rows = [(0, 1, 0, packets * 4086, ())]  # in packets of 4150 bytes: 332 ns
    twin = twin_of(line(switches, gigabits=[100]), rows, payload=4086).ended()
    links = switches + 1
    delivered = (packets + links - 1) * 332_000 + links * DELAY
    assert flow(twin, 0, 1) == Equal(start_ps=0, delivered_ps=delivered, acked_ps=delivered + links * (ACK + DELAY))
    assert twin.parts[0][0].finish_ps == packets * 332_000  # has left
    assert twin.parts[0][1].finish_ps == delivered


def test_a_slow_middle_link_sets_the_pace() -> None:
    twin = twin_of(line(2, gigabits=(100, 40, 100)), [(0, 1, 0, 50 * MSS, ())]).ended()
    assert flow(twin, 0, 1) == Equal(delivered_ps=SLOT + 50 * 832_000 + SLOT + 3 * DELAY)


def test_serialisation_is_rounded_up() -> None:
    twin = twin_of(line(1, gigabits=[600]), [(0, 1, 0, 1000, ())], header=0).ended()
    assert flow(twin, 0, 1) == Equal(delivered_ps=2 * ceil(1000 * 8 * 1000 / 600) + 2 * DELAY)


def test_the_last_packet_is_short_and_small_messages_ride_on_one_connection() -> None:
    twin = twin_of(line(1, gigabits=[100]), [(0, 1, 0, 5000, ()), (0, 1, 0, 10, ())])
    result = twin.run()
    assert [count.bytes for count in result.links[::2]] == [4160 + 968 + 74] * 2
    assert flow(twin, 0, 1) == Equal(packets=3, delivered_ps=(4160 + 4160 + 968 + 74) * 80 + 2 * DELAY)


@pytest.mark.parametrize(
    ("senders", "packets", "room", "drops"),
    [(2, 100, 50, 51), (4, 100, 100, 201), (8, 64, 256, 193), (16, 64, 256, 705)],
)
def test_a_synchronous_incast_drops_what_the_slot_model_says(senders: int, packets: int, room: int, drops: int) -> None:
    delay = 100 * MICROSECOND  # so long that no sender hears of its losses while it sends
    network = star(senders + 1, delays_ns=[100_000], at=queue(room))
    twin = twin_of(network, incast(senders, packets * MSS))
    port = twin.ports[1].count  # from the switch to host 0
    accepted = senders * packets - drops
    last_start = SLOT + delay + (accepted - 1) * SLOT
    twin.run(last_start)
    assert port.packets == accepted - 1
    twin.run(last_start + 1)
    assert port.packets == accepted
    assert port.drops == drops == max(0, senders * packets - (packets - 1) - room)
    assert port.max_queue_bytes == PACKET * min(room, senders * packets - (packets - 1))


@pytest.mark.parametrize("window", [1, 2, 5])
def test_a_window_below_the_round_trip_sends_one_window_per_round(window: int) -> None:
    twin = twin_of(line(1, gigabits=[100]), [(0, 1, 0, 6 * window * MSS, ())], window=window).ended()
    round_trip = 2 * (SLOT + ACK) + 4 * DELAY
    assert flow(twin, 0, 1) == Equal(acked_ps=6 * round_trip + (window - 1) * SLOT)


def test_acks_clock_the_sender_at_the_pace_of_the_slowest_link() -> None:
    network = line(1, gigabits=(100, 40))
    free, clocked = (twin_of(network, [(0, 1, 0, 200 * MSS, ())], window=window) for window in (1000, 10))
    for twin in (free, clocked):
        twin.run()
    assert flow(free, 0, 1).delivered_ps == flow(clocked, 0, 1).delivered_ps == SLOT + 200 * 832_000 + 2 * DELAY
    assert clocked.ports[2].count.max_queue_bytes <= 10 * PACKET
    assert free.ports[2].count.max_queue_bytes > 110 * PACKET  # 200 * (1 - 40/100), less what drains at first
    ack_leaves_receiver = SLOT + 190 * 832_000 + 2 * DELAY  # the ACK of packet 189 lets packet 199 go
    assert clocked.parts[0][0].finish_ps == ack_leaves_receiver + 12_800 + DELAY + ACK + DELAY + SLOT


def test_after_one_drop_everything_behind_it_is_sent_again() -> None:
    lost, packets = 3, 10
    rows = [(2, 0, 0, packets * MSS, ()), (1, 0, 0, MSS, ())]
    network = star(3, at=queue(1))  # host 1's link has the lower number: its packet takes the only place
    twin = twin_of(network, rows, 0, lost * SLOT, 0)
    result = twin.run()
    nak = (lost + 2) * SLOT + DELAY + SLOT + DELAY + 2 * (ACK + DELAY)  # the answer to the packet after the lost one
    again = packets - lost
    assert flow(twin, 2, 0) == Equal(dropped=1, packets=packets, retransmitted=again)
    assert flow(twin, 2, 0) == Equal(delivered_ps=nak + again * SLOT + SLOT + 2 * DELAY)
    assert result.totals["naks"] == 1
    assert result.totals["data_delivered"] == 1 + packets - 1 + again


@pytest.mark.parametrize(("timeout", "enter"), [(16, 0), (16, 300_000), (16, 1_000_000), (64, 300_000), (8, 1)])
def test_a_lost_last_packet_is_sent_again_when_its_time_out_has_passed(timeout: int, enter: int) -> None:
    twin = twin_of(star(3, at=queue(1)), incast(2, MSS), enter, enter, enter, timeout_ps=timeout * MICROSECOND)
    result = twin.run()
    assert flow(twin, 1, 0) == Equal(retransmitted=0, delivered_ps=enter + 2 * SLOT + 2 * DELAY)
    again = enter + timeout * MICROSECOND
    assert flow(twin, 2, 0) == Equal(retransmitted=1, delivered_ps=again + 2 * SLOT + 2 * DELAY)
    assert result.totals["timeouts"] == 1


def test_sending_more_does_not_put_off_the_time_out_of_what_is_outstanding() -> None:
    later = Collective(incast(2, MSS), enters=(8 * MICROSECOND,) * 3)
    losing = Scenario("by hand", star(3, at=queue(1)), (Collective(incast(2, MSS)), later), timeout_ps=16 * MICROSECOND)
    twin = build_twin(losing).ended()
    for number in range(2):
        delivered = 16 * MICROSECOND + (number + 2) * SLOT + 2 * DELAY
        assert flow(twin, 2, 0, collective=number) == Equal(dropped=1, retransmitted=1, delivered_ps=delivered)


def test_a_late_ack_after_a_time_out_spares_what_it_covers() -> None:
    # The round trip is 276.24 ns longer than the time-out. From then on a second connection takes every other turn,
    # so that two ACKs arrive between two turns of the first: it repeats packets 1, 3, 5, 7 and 9.
    first = Collective([(0, 1, 0, 10 * MSS, ())])
    second = Collective([(0, 1, 1, 10 * MSS, ())], enters=(16 * MICROSECOND, 0))
    network = star(2, delays_ns=[3900])
    twin = build_twin(Scenario("by hand", network, (first, second), timeout_ps=16 * MICROSECOND)).ended()
    assert 2 * (SLOT + ACK) + 4 * 3_900_000 == 16 * MICROSECOND + 275_840
    assert flow(twin, 0, 1) == Equal(retransmitted=5, acked_ps=16 * MICROSECOND + 275_840 + 9 * SLOT)


def test_two_connections_of_a_nic_take_turns() -> None:
    twin = twin_of(star(3), [(0, 1, 0, 20 * MSS, ()), (0, 2, 0, 20 * MSS, ())]).ended()
    assert flow(twin, 0, 1) == Equal(start_ps=0, delivered_ps=39 * SLOT + SLOT + 2 * DELAY)
    assert flow(twin, 0, 2) == Equal(start_ps=0, delivered_ps=40 * SLOT + SLOT + 2 * DELAY)


def test_two_senders_share_a_port_packet_by_packet_lower_link_first() -> None:
    twin = twin_of(star(3), incast(2, 20 * MSS)).ended()
    assert flow(twin, 1, 0) == Equal(delivered_ps=SLOT + 39 * SLOT + 2 * DELAY)
    assert flow(twin, 2, 0) == Equal(delivered_ps=SLOT + 40 * SLOT + 2 * DELAY)


def test_transit_and_own_packets_take_turns_at_a_nic() -> None:
    slot, hop, nanosecond = 83_200, 9_245, 1000  # 4160 bytes at 400 Gb/s and, rounded up, at 3.6 Tb/s
    twin = twin_of(rails(2, 2), [(1, 3, 0, 20 * MSS, ()), (0, 3, 0, 20 * MSS, ())], control="none").ended()
    alone = ceil((2 * hop + 600 * nanosecond) / slot)  # own packets sent before the first transit packet is there
    assert alone == 8
    last_own = alone + 2 * (20 - alone) - 1  # then transit, own, transit, own ...
    last_transit = last_own + 20 - (20 - alone)
    for source, last in ((1, last_own), (0, last_transit)):
        assert flow(twin, source, 3) == Equal(delivered_ps=(last + 1) * slot + slot + 1000 * nanosecond)


def test_transit_goes_first_at_first() -> None:
    twin = twin_of(rails(2, 2), [(1, 3, 0, MSS, ()), (0, 3, 0, MSS, ())])
    nic = twin.ports[twin.connections[1, 3, 0].route[0]]
    twin.enter(0, 1)
    transit = Packet(twin.connections[0, 3, 0], nic.twin.connections[0, 3, 0].route, PACKET, 0, twin.messages[0][1])
    nic.accept(transit)
    assert nic.take() is transit
    own = nic.take()
    assert own is not None
    assert own.connection is twin.connections[1, 3, 0]


@pytest.mark.parametrize(("control_class", "data_before"), [("strict", 8), ("shared", 16)])
def test_an_ack_waits_for_one_packet_or_for_the_whole_queue(control_class: str, data_before: int) -> None:
    rows = [(0, 1, 0, MSS, ()), (2, 0, 0, 20 * MSS, ()), (3, 0, 0, 20 * MSS, ())]
    twin = twin_of(star(4, control_class=control_class), rows).ended()
    first = SLOT + DELAY  # data for host 0, two packets per slot from here on, one of which is sent
    reaches_switch = 2 * SLOT + ACK + 3 * DELAY
    assert data_before == {"strict": 1, "shared": 2}[control_class] * ceil((reaches_switch - first) / SLOT)
    assert flow(twin, 0, 1) == Equal(acked_ps=first + data_before * SLOT + ACK + DELAY)


def test_a_ring_takes_its_steps_and_no_longer_than_its_acks() -> None:
    twin = twin_of(star(4), ring(4, 6, 20 * MSS))
    result = twin.run()
    steps = 6 * (20 * SLOT + SLOT + 2 * DELAY)
    last = max(each.delivered_ps for each in result.flows.values())
    assert steps <= last <= steps + 6 * 22 * ACK


def test_a_part_ends_with_its_last_send_or_its_last_receive_whichever_is_later() -> None:
    twin = twin_of(star(2), [(0, 1, 0, MSS, ()), (1, 0, 0, 100, ())], 2 * MICROSECOND, 0).ended()
    assert 2 * MICROSECOND < flow(twin, 1, 0).delivered_ps < 2 * MICROSECOND + SLOT
    assert twin.parts[0][0].finish_ps == 2 * MICROSECOND + SLOT


def test_a_rank_goes_on_at_the_instant_its_part_is_finished() -> None:
    second = Collective([(1, 0, 0, MSS, ())], waits=(0,))
    scenario = Scenario("by hand", star(2), (Collective([(0, 1, 0, MSS, ())]), second))
    twin = build_twin(scenario).ended()
    delivered = 2 * SLOT + 2 * DELAY
    assert twin.parts[0][1].finish_ps == delivered
    after_its_ack = delivered + ACK + 2 * SLOT + 2 * DELAY  # only the ACK goes before it
    assert flow(twin, 1, 0, collective=1) == Equal(start_ps=delivered, delivered_ps=after_its_ack)


def test_a_rank_sends_on_without_a_gap_when_its_last_packet_has_left() -> None:
    rounds = Collective([(0, 1, 0, 3 * MSS, ())]), Collective([(0, 1, 1, MSS, ())], waits=(0,), members=(0, 1))
    twin = build_twin(Scenario("by hand", star(3), rounds)).ended()
    assert flow(twin, 0, 1, 1, collective=1).start_ps == twin.parts[0][0].finish_ps == 3 * SLOT


def test_ranks_that_enter_at_one_instant_all_come_before_the_first_departure() -> None:
    rows = [[(0, 1, channel, 2 * MSS, ())] for channel in range(2)]
    twin = build_twin(Scenario("by hand", star(2), tuple(Collective(each) for each in rows))).ended()
    assert [flow(twin, 0, 1, n, n).start_ps for n in range(2)] == [0, 0]
    ends = [(3 + n) * SLOT + SLOT + 2 * DELAY for n in range(2)]  # they take turns from the first packet on
    assert [flow(twin, 0, 1, n, n).delivered_ps for n in range(2)] == ends


def test_a_flow_starts_when_its_first_message_is_released_not_when_it_is_sent() -> None:
    rows = [(0, 1, 0, 10 * MSS, ()), (2, 0, 0, MSS, ()), (0, 1, 1, MSS, (1,))]
    twin = twin_of(star(3), rows, 0, 0, MICROSECOND).ended()
    released = MICROSECOND + 2 * SLOT + 2 * DELAY
    assert flow(twin, 2, 0).delivered_ps == flow(twin, 0, 1, 1).start_ps == released
    assert flow(twin, 0, 1, 1).delivered_ps > released + 2 * SLOT + 2 * DELAY  # its NIC was busy


def test_rows_of_a_late_rank_go_in_the_order_in_which_they_became_ready() -> None:
    rows = [
        (1, 0, 0, 9 * MSS, ()), (2, 0, 0, MSS, ()),
        (0, 1, 0, MSS, (0,)), (0, 1, 0, MSS, (1,)), (0, 1, 0, MSS, ()),
    ]  # fmt: skip
    twin = twin_of(star(3), rows, 50 * MICROSECOND, 0, 0).ended()
    assert [message.row for message in twin.connections[0, 1, 0].messages] == [4, 3, 2]


def test_a_marked_packet_that_comes_again_or_too_late_is_not_counted() -> None:
    twin = twin_of(star(2), [(0, 1, 0, 3 * MSS, ())])
    connection, message = twin.connections[0, 1, 0], twin.messages[0][0]
    twin.enter(0, 0)
    connection.expected = 1
    for sequence in (0, 1, 1, 2):
        twin.on_data(Packet(connection, connection.route, PACKET, sequence, message, marked=True), message)
    assert flow(twin, 0, 1).marked == 2  # packets 1 and 2; 0 and the second 1 are copies


def test_a_connection_inside_a_server_has_larger_packets() -> None:
    twin = twin_of(rails(1, 2), [(0, 1, 0, 40_000, ())]).ended()
    assert flow(twin, 0, 1) == Equal(packets=3)


def test_routes_between_servers_use_the_target_rail() -> None:
    network = rails(2, 2)
    links = [network.links[number] for number in shortest_routes(network)(0, 3, 0)]
    assert [link.kind for link in links] == ["nvlink", "nvlink", "rail", "rail"]
    assert [link.target for link in links] == [4, 1, 7, 3]
