"""Nothing depends on absolute time: what starts later is the same, but for its times; and ties have an order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import netsim
from netsim.routing import ROUTINGS
from netsim.traces import Operation, Trace
from netsim.transport import CONTROLS, RECOVERIES
from netsim.transport.presets import PRESETS
from tests.random_cases import later, unlike
from tests.traffic import collective, flows, send

pytestmark = pytest.mark.filterwarnings("ignore:ecn")  # of small buffers

SECOND = 10**12
TIGHT = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4, "rate": "100Gb/s", "buffer": "66560B"}
LOSSY = {**TIGHT, "pfc": "off", "loss": 0.002}
SHIFTS = st.one_of(st.integers(1, 10**7), st.integers(1, SECOND), st.sampled_from([1, 999_999, 10**6, SECOND]))
TRACES = {
    "all_to_all": collective("all_to_all", 8, 8 * 65536),
    "all_reduce": collective("all_reduce", 8, 1 << 20),
    "incast": flows(8, [(s, 0) for s in range(1, 8)], 200_000),
}


def assert_shifted(trace: Trace, fabric: Any, shift: int, by: str, **chosen: Any) -> netsim.Result:
    """The same job so many ps later, by a start that it must not come before or by computing first, is the same."""
    computing = Operation("compute", None, tuple(range(trace.ranks)), 0, duration_ps=shift)
    delayed = later(trace, shift) if by == "start" else replace(trace, operations=(computing, *trace.operations))
    first, second = (netsim.simulate(each, fabric, **chosen) for each in (trace, delayed))
    assert unlike(first, second, shift) == []
    return first


hurried = settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("preset", PRESETS)
@hurried
@given(shift=SHIFTS, trace=st.sampled_from(list(TRACES)), by=st.sampled_from(["start", "compute"]), lossy=st.booleans())
def test_a_shifted_start_changes_nothing_but_times(preset: str, shift: int, trace: str, by: str, lossy: bool) -> None:
    assert_shifted(TRACES[trace], LOSSY if lossy else TIGHT, shift, by, transport={"preset": preset})


@hurried
@given(
    shift=SHIFTS,
    control=st.sampled_from([name for name in CONTROLS if name != "ndp"]),
    recovery=st.sampled_from(list(RECOVERIES)),
    routing=st.sampled_from(list(ROUTINGS)),
    timeout=st.sampled_from(["auto", "20us", "37us"]),
)
@pytest.mark.filterwarnings("ignore:.*reorders packets")
def test_nor_with_any_control_recovery_and_routing(
    shift: int, control: str, recovery: str, routing: str, timeout: str
) -> None:
    transport = {"control": control, "recovery": recovery, "timeout": timeout, "retries": 1 << 20}
    assert_shifted(TRACES["all_to_all"], LOSSY, shift, "start", transport=transport, routing=routing)


def test_time_outs_are_among_what_is_shifted() -> None:
    """An all-to-all that loses much waits for time-outs: a coarse clock would end it sooner or later."""
    transport = {"control": "dctcp", "timeout": "100us"}
    fabric = {**LOSSY, "buffer": "20800B"}
    first = assert_shifted(TRACES["all_to_all"], fabric, 1_230_000, "compute", transport=transport)
    assert first.flows["retransmitted"].sum() > 50


def test_a_time_out_is_due_when_its_time_has_passed_since_the_packet_was_sent() -> None:
    """One packet on wires that lose half of all: it is there after k times 100 us, to the picosecond."""
    trace = Trace("one", 2, {}, (send(0, 1, start_ps=777),))
    transport = {"control": "none", "timeout": "100us", "retries": 100}
    fabric = {**TIGHT, "leaves": 1, "hosts_per_leaf": 2, "delay": "1us", "loss": 0.5}
    alone = 2 * (4160 * 80 + 10**6)
    times = []
    for seed in range(20):
        flow = netsim.simulate(trace, fabric, transport=transport, seed=seed).flows.iloc[0]
        times.append(divmod(flow["delivered_ps"] - 777 - alone, 100_000_000))
    assert {rest for _, rest in times} == {0}
    assert len({rounds for rounds, _ in times}) > 2


def test_ends_of_one_instant_are_in_order_of_operation_and_rank() -> None:
    """Rows of the tables are used again: the order of ends must not follow them."""
    order: list[tuple[int, int]] = []

    def job(rank: netsim.Rank) -> Any:
        for round_ in range(3):
            pair = [rank.number, rank.number ^ 1] if round_ != 1 else [rank.number, 3 - rank.number]
            yield rank.barrier(group=sorted(pair))
            order.append((int(rank.env.now), rank.number))
        yield rank.all_to_all("4KiB")
        order.append((int(rank.env.now), rank.number))

    netsim.simulate(job, {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 4}, ranks=4)
    at_once = [[number for at, number in order if at == when] for when in sorted({at for at, _ in order})]
    assert [len(each) for each in at_once] == [4, 4, 4, 4]
    assert at_once[0] == [0, 1, 2, 3]
    assert at_once[3] == [0, 1, 2, 3]
    assert np.diff([at for at, _ in order]).min() >= 0
