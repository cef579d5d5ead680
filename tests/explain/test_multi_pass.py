"""Collectives of more packets than can be kept: what is found in several runs is what is found in one."""

from typing import Any

import numpy as np
import pytest

from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.core.observe import packet_tracer
from netsim.core.state.dtypes import NEVER
from netsim.errors import RunError
from netsim.explain import Explained, explain, multi_pass
from netsim.explain.alternatives import Alternatives
from netsim.explain.causes import Causes
from netsim.explain.explanation import explained
from netsim.explain.line import Line, Lines, Unknown
from netsim.explain.message_timelines import Timelines
from netsim.explain.multi_pass import Kept, Passes, Play, player
from netsim.explain.path import Path
from netsim.explain.path_hints import Origins
from netsim.explain.replay_plan import ReplayPlan
from netsim.explain.trace_columns import Rows
from netsim.explain.traffic import Traffic
from netsim.simulation.fabric import Fabric
from netsim.traces import Group, Operation, Trace
from tests.core.scenario_runs import CoreRun
from tests.explain.known import KNOWN, trace_of
from tests.explain.test_causes import SETTINGS
from tests.explain.test_path import EVERY, watched
from tests.odd_links import OddLinks
from tests.traffic import collective

ENOUGH = 1 << 30  # rows


def replayed(run: CoreRun, packet_trace: Any) -> Play:
    """A run that has been: its journal is shown again, a thousand rows at a time."""

    def play(readers: list[Any]) -> Fabric:
        table = packet_trace.view("i8").reshape(-1, 4)
        for first in range(0, len(table), 1000):
            for read in readers:
                read(run.fabric.world, table[first : first + 1000])
        return run.fabric

    return play


def at_once(run: CoreRun, packet_trace: Any) -> list[Explained]:
    lines, network = Lines(Rows(run.fabric.world, packet_trace)), run.fabric.network
    found = [Path(lines, Timelines(run.carried), carried.number) for carried in run.carried]
    return [explained(path, Causes(network, Alternatives(network), "ecmp", path, Traffic(lines))) for path in found]


@pytest.mark.parametrize("name", EVERY)
def test_every_scenario_of_the_twin_is_explained_alike_both_ways(name: str) -> None:
    run, packet_trace = watched(EVERY[name])
    for carried in run.carried:
        carried.about |= {"op": "flows", "group": f"group{carried.number % 3}", "bytes": 1}
    several = Passes(replayed(run, packet_trace), "ecmp", None, set(), ENOUGH)
    assert several.explained() == at_once(run, packet_trace)


def in_passes(scenario: Scenario, most_rows: int = ENOUGH) -> list[Explained]:
    return Passes(player(scenario, None), scenario.routing.kind, None, set(), most_rows).explained()


@pytest.mark.parametrize("known", list(KNOWN))
def test_known_causes_are_found_both_ways(known: str) -> None:
    scenario = KNOWN[known][0]()
    assert in_passes(scenario) == explain(scenario)


@pytest.mark.parametrize(("trace", "topology", "settings"), SETTINGS)
def test_shipped_traces_are_explained_alike_both_ways(trace: str, topology: str, settings: dict[str, Any]) -> None:
    scenario = build_scenario(trace, topology, **settings)
    assert in_passes(scenario) == explain(scenario)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Rows kept, run by run, of those runs that keep some."""
    kept: list[int] = []
    packet_trace = Kept.packet_trace
    monkeypatch.setattr(Kept, "packet_trace", lambda self: (kept.append(self.count), packet_trace(self))[1])
    return kept


def ring() -> Scenario:
    return build_scenario(collective("all_reduce", 16, 4 << 20), "rail_optimized_16")


def test_only_what_is_needed_is_kept(monkeypatch: pytest.MonkeyPatch, runs: list[int]) -> None:
    """A ring of 16 has a path through one connection at a time: most_rows holds it, though not the whole."""
    whole = explain(ring())
    monkeypatch.setattr(packet_tracer, "FIRST_ROWS", 1000)
    assert explain(ring(), many_rows=5_000, most_rows=20_000) == whole
    assert runs
    assert max(runs) < 20_000


@pytest.mark.parametrize("origin", [-1, 0, 1 << 60])
def test_a_wrong_guess_costs_runs_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, runs: list[int], origin: int
) -> None:
    """No idea; always the beginning; and later than the packet itself."""
    for scenario in (ring(), build_scenario("perm16", "fat_tree_k4_100g", transport="none")):
        whole = explain(scenario)
        with monkeypatch.context() as context:
            context.setattr(Origins, "of", lambda *_: origin)
            assert in_passes(scenario) == whole
    assert len(runs) >= 2


@pytest.mark.parametrize("share", [1 << 40, 4])
def test_paths_that_stay_longer_than_guessed_are_followed_through_losses(
    monkeypatch: pytest.MonkeyPatch, runs: list[int], share: int
) -> None:
    """Each guess ends too late, between copies of packets; share: whether a connection may be kept as a whole."""
    reduce = Operation("all_reduce", "world", tuple(range(8)), bytes=2 << 20)
    topology = OddLinks(leaves=2, hosts_per_leaf=4, spines=1, odd={"leaf0->spine0": {"loss": 0.01}})
    scenario = build_scenario(trace_of(8, reduce, reduce), topology, transport="dctcp")
    whole, way = explain(scenario), ReplayPlan.way
    assert whole[0].parts_ps["retransmission"] > 0
    monkeypatch.setattr(multi_pass, "SHARE", share)
    monkeypatch.setattr(
        ReplayPlan, "way", lambda *given: [(c, until - (until - since) // 9, until) for c, since, until in way(*given)]
    )
    assert in_passes(scenario, 1 << 20) == whole
    assert len(runs) >= 3


def test_a_part_of_a_line_does_not_take_a_copy_for_the_first() -> None:
    """Whether a packet was sent before the part begins is not known from it: Unknown, where the whole knows."""
    run, packet_trace = watched(EVERY["selective_on_wires_that_lose"])
    rows = Rows(run.fabric.world, packet_trace)
    line = next(each for c in range(len(run.fabric.world.connections)) if has_copies(each := Line(rows, c)))
    place = int(np.flatnonzero(line.first_sent != np.arange(len(line.own)))[0])
    row = int(line.own[place])
    since = int(rows.began_at[row])
    part = Line(rows, line.connection, since, NEVER, new_from=int(rows.sequence[row]) + 1)
    assert part.own[0] == row
    assert part.first_sent[0] == 0  # so it looks
    with pytest.raises(Unknown):
        part.be_sure(0, 0)
    line.be_sure(place, place)
    Line(rows, line.connection, since, NEVER, new_from=int(rows.sequence[row])).be_sure(0, 0)


def has_copies(line: Line) -> bool:
    return len(np.unique(line.rows.sequence[line.own])) < len(line.own)


def test_a_part_of_a_line_says_what_it_does_not_know() -> None:
    run, packet_trace = watched(EVERY["selective_on_wires_that_lose"])
    rows = Rows(run.fabric.world, packet_trace)
    line = next(each for c in range(len(run.fabric.world.connections)) if len((each := Line(rows, c)).own) > 9)
    middle = int(line.own_began[5])
    part = Line(rows, line.connection, middle, NEVER)
    assert part.own.tolist() == line.own[5:].tolist()
    for ask in (
        lambda each: each.arriving(middle, 0, ack=False),
        lambda each: each.own_ps(int(rows.link[line.own[0]]), 0, middle - 1, middle + 1),
        lambda each: each.last_ack(-1, middle),
        lambda each: each.last_data(middle),
    ):
        ask(line)
        with pytest.raises(Unknown):
            ask(part)
    last = int(rows.arrived_at[line.own[-1]])
    assert part.arriving(last, 0, ack=False) == line.arriving(last, 0, ack=False) is not None


def test_guesses_are_good_where_a_ring_is_in_step(runs: list[int]) -> None:
    in_passes(ring())
    assert len(runs) == 1


def test_paths_that_do_not_fit_are_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packet_tracer, "FIRST_ROWS", 1000)
    with pytest.raises(RunError, match=r"critical paths.*more than 100 packet hops.*--collective ID"):
        explain(build_scenario("perm16", "fat_tree_k4_100g"), many_rows=100, most_rows=100)


def many() -> Scenario:
    """Twelve all_to_alls, of two halves of the ranks in turn."""
    groups = {"low": Group("low", tuple(range(6))), "high": Group("high", tuple(range(4, 10)))}
    names = [("low", "high")[n % 2] for n in range(12)]
    operations = tuple(Operation("all_to_all", name, groups[name].ranks, bytes=1 << 17) for name in names)
    return build_scenario(Trace("many", 16, groups, operations), "leaf_spine_32_4to1")


def test_one_of_many_is_explained_alone() -> None:
    every = explain(many())
    found = Passes(player(many(), None), "ecmp", 7, set(), ENOUGH).explained()
    assert found == [every[7]]
    rest = Passes(player(many(), None), "ecmp", None, set(range(12)) - {3, 9}, ENOUGH).explained()
    assert rest == [every[3], every[9]]


def test_batches_are_explained_like_all_together(monkeypatch: pytest.MonkeyPatch, runs: list[int]) -> None:
    whole = explain(many())
    monkeypatch.setattr(multi_pass, "MOST_TOGETHER", 5)
    assert in_passes(many()) == whole
    assert len(runs) == 3


@pytest.mark.slow
def test_an_all_to_all_beyond_the_old_bound(runs: list[int]) -> None:
    """24 million packet hops on 128 GPUs, of which a hundredth part is kept."""
    scenario = build_scenario(collective("all_to_all", 128, 64 << 20), "fat_tree_k8_400g")
    (each,) = explain(scenario)
    assert sum(each.parts_ps.values()) == each.time_ps > 0
    assert 0 < np.max(runs) < 1 << 20
