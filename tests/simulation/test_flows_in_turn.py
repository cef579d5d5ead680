"""Flows that start at their own time or after others, to the picosecond, from the files that state them."""

from dataclasses import replace
from pathlib import Path

import netsim
from netsim import Result, Trace
from netsim.traces import Turn
from tests.explain.known import flows
from tests.inputs import refusal

US, SLOT, ACK = 1_000_000, 332_800, 5_120  # ps; 4160 and 64 bytes at 100 Gb/s
NEAR, BACK = 2 * SLOT + 2 * US, 2 * ACK + 2 * US  # a full packet to the host beside, and its ACK
FABRIC = "fat_tree_k4_100g"
ONE = 4096
Flow = tuple[int, int, int]


def run(*given: tuple[Flow, Turn], **settings: object) -> Result:
    operation = replace(flows(*(flow for flow, _ in given)), turns=tuple(turn for _, turn in given))
    return netsim.simulate(Trace("by hand", 16, {}, (operation,)), FABRIC, nic={"jitter": 0}, **settings)  # type: ignore[arg-type]


def column(result: Result, name: str) -> dict[tuple[int, int, int], int]:
    rows = result.flows
    return dict(zip(zip(rows["src"], rows["dst"], rows["channel"], strict=True), rows[name], strict=True))


def test_each_flow_starts_at_its_own_time() -> None:
    result = run(((0, 1, ONE), Turn()), ((2, 3, ONE), Turn(7 * US)), ((0, 5, ONE), Turn(30 * US)))
    assert column(result, "start_ps") == {(0, 1, 0): 0, (2, 3, 0): 7 * US, (0, 5, 0): 30 * US}
    assert column(result, "delivered_ps")[2, 3, 0] == 7 * US + NEAR
    assert list(result.collectives["ranks"]) == [5]


def test_a_receiver_forwards_on_delivery_and_a_sender_goes_on_when_acknowledged() -> None:
    result = run(((0, 1, ONE), Turn()), ((1, 0, ONE), Turn(after=(0,))), ((0, 4, ONE), Turn(after=(0,))))
    assert column(result, "start_ps") == {(0, 1, 0): 0, (1, 0, 0): NEAR, (0, 4, 0): NEAR + BACK}


def test_waits_hold_after_a_start_of_ones_own() -> None:
    """The awaited flow starts late, at a rank that has been there from the start."""
    result = run(
        ((0, 5, ONE), Turn()),
        ((0, 1, ONE), Turn(50 * US)),
        ((1, 0, ONE), Turn(after=(1,))),
        ((0, 4, ONE), Turn(after=(1,))),
    )
    late = 50 * US + NEAR
    assert column(result, "start_ps") == {(0, 5, 0): 0, (0, 1, 0): 50 * US, (1, 0, 0): late, (0, 4, 0): late + BACK}


def test_a_start_and_a_wait_are_both_kept() -> None:
    early = run(((0, 1, ONE), Turn()), ((1, 2, ONE), Turn(40 * US, (0,))))
    assert column(early, "start_ps")[1, 2, 0] == 40 * US
    late = run(((0, 1, 100 * ONE), Turn()), ((1, 2, ONE), Turn(9 * US, (0,))))
    assert column(late, "start_ps")[1, 2, 0] == 99 * SLOT + NEAR


def test_one_queue_pair_is_served_in_order_and_two_share_the_link() -> None:
    shared = run(((0, 1, 10 * ONE), Turn()), ((0, 1, 10 * ONE), Turn()))
    assert column(shared, "delivered_ps") == {(0, 1, 0): 19 * SLOT + NEAR}
    two = run(((0, 1, 10 * ONE), Turn()), ((0, 1, 10 * ONE), Turn(channel=1)))
    assert column(two, "delivered_ps") == {(0, 1, 0): 18 * SLOT + NEAR, (0, 1, 1): 19 * SLOT + NEAR}


def test_flows_of_one_queue_pair_with_two_starts_stay_in_order() -> None:
    result = run(((0, 1, 100 * ONE), Turn()), ((0, 1, ONE), Turn(US)))
    assert sorted(result.flows["start_ps"]) == [0, US]
    assert sorted(result.flows["delivered_ps"]) == [99 * SLOT + NEAR, 100 * SLOT + NEAR]  # not 1 us + 2 slots


def test_a_cut_flow_waits_for_every_piece() -> None:
    result = run(
        ((0, 1, 10 * ONE), Turn()), ((1, 2, 10 * ONE), Turn(after=(0,))), channels=2, chunk="4096B", routing="single"
    )
    began = result.flows[result.flows["src"] == 1]["start_ps"]
    assert set(began) == {9 * SLOT + NEAR}
    assert result.summary["packets_delivered"] == 20


def test_flows_that_wait_in_a_circle_are_refused() -> None:
    circle = ((0, 1, ONE), Turn(after=(1,))), ((1, 0, ONE), Turn(after=(0,)))
    assert "wait for each other in a cycle" in refusal(run, *circle)


def test_flows_wait_in_ring_order_as_they_wait_in_a_chain(tmp_path: Path) -> None:
    """A ring of four ranks, three times round, from a matrix: each hop takes its time and an ACK's."""
    hops = [(hop % 4, (hop + 1) % 4) for hop in range(12)]
    lines = [
        f"{source}->{target} id {n + 1} {f'trigger {n}' if n else 'start 2000000'} size 4096"
        + (f" recv_done_trigger {n + 1}" if n < 11 else "")
        for n, (source, target) in enumerate(hops)
    ]
    path = tmp_path / "ring.cm"
    triggers = "".join(f"trigger id {n} oneshot\n" for n in range(1, 12))
    path.write_text("Nodes 4\nConnections 12\nTriggers 11\n" + "\n".join(lines) + "\n" + triggers)
    result = netsim.simulate(netsim.load_trace(path), FABRIC)
    far = 4 * SLOT + 4 * US  # to the other ToR of the pod
    time = 2 * US
    for n, (source, target) in enumerate(hops):
        row = result.flows[(result.flows["src"] == source) & (result.flows["channel"] == n // 4)].iloc[0]
        assert (row["dst"], row["start_ps"]) == (target, time)
        time += NEAR if source // 2 == target // 2 else far
        time += ACK if n else 0  # what acknowledges the hop before leaves first
        assert row["delivered_ps"] == time
