"""Every scenario of the twin: watching changes nothing, and each critical path covers its collective without a gap."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from netsim.core.observe.counters import packets_sent
from netsim.core.observe.packet_tracer import PacketTracer
from netsim.explain.line import Lines
from netsim.explain.message_timelines import Timelines
from netsim.explain.path import KINDS, NO_LINK, PROPAGATION, SERIALISATION, Path
from netsim.explain.trace_columns import Rows
from tests.core.scenario_runs import CoreRun, build_core, core_figures, differences, play_core
from tests.reference.scenarios.every import NAMED
from tests.reference.scenarios.measuring import MEASURED
from tests.reference.scenarios.networks import line
from tests.reference.scenarios.scenario import Scenario, one

EVERY = {name: scenario for name, scenario in NAMED.items() if name not in MEASURED}


def watched(scenario: Scenario) -> tuple[CoreRun, Any]:
    """A scenario played before a packet tracer, and the whole journal."""
    run, tracer = build_core(scenario), PacketTracer(1 << 40, lambda _: None)
    run.fabric.watch(tracer)
    tracer.take(run.end().fabric.world, at_end=True)
    return run, np.concatenate(tracer.chunks)


def paths(run: CoreRun, packet_trace: Any) -> list[Path]:
    lines, timelines = Lines(Rows(run.fabric.world, packet_trace)), Timelines(run.carried)
    return [Path(lines, timelines, carried.number) for carried in run.carried]


@pytest.mark.parametrize("name", EVERY)
def test_watching_changes_nothing_and_paths_have_no_gap(name: str) -> None:
    run, packet_trace = watched(EVERY[name])
    assert differences(core_figures(run), core_figures(play_core(EVERY[name])), ("watched", "alone")) == []
    rows = Rows(run.fabric.world, packet_trace)
    assert (
        np.bincount(rows.link[rows.began_at >= 0], minlength=rows.ports).tolist()
        == packets_sent(run.fabric.world).tolist()
    )
    for path in paths(run, packet_trace):
        assert path.start_ps == min(path.timelines.carried[path.number].entered.values())
        if not path.segments:
            assert path.start_ps == path.end_ps
            continue
        in_order = sorted(path.segments, key=lambda segment: segment.start_ps)
        assert in_order[0].start_ps == path.start_ps
        assert in_order[-1].end_ps == path.end_ps
        assert all(before.end_ps == after.start_ps for before, after in pairwise(in_order))
        assert all(segment.ps > 0 and segment.kind in KINDS for segment in in_order)


@pytest.mark.parametrize("rates", [(100,), (100, 40, 100)])
@pytest.mark.parametrize("size", [1, 4096, 5000, 200_000])
def test_alone_it_is_propagation_and_serialisation(size: int, rates: tuple[int, ...]) -> None:
    """Nothing is in its way, on links as fast as each other or with a slow one in the middle."""
    scenario = Scenario("alone", line(2, gigabits=rates), one([(0, 1, 0, size, ())]), control="none")
    run, packet_trace = watched(scenario)
    (path,) = paths(run, packet_trace)
    links = run.fabric.network.links
    route = [segment.link for segment in path.segments if segment.kind == PROPAGATION]
    by_kind = {kind: sum(segment.ps for segment in path.segments if segment.kind == kind) for kind in KINDS}
    assert by_kind[PROPAGATION] == sum(links[each].delay_ps for each in route)
    assert by_kind[PROPAGATION] + by_kind[SERIALISATION] == path.end_ps - path.start_ps
    assert path.end_ps - path.start_ps == run.carried[0].admitted.floor_ps
    assert all(segment.link != NO_LINK for segment in path.segments if segment.kind in (PROPAGATION, SERIALISATION))
