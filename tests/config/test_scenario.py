"""Scenario: equal means equal content; placements are permutations; the file form reads back as the same scenario."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from netsim.config import build_scenario, load_scenario
from netsim.config.scenario import Packet, Placement, Scenario, _toml
from netsim.traces import write_native
from tests.collectives.test_msccl import DIRECT
from tests.inputs import refusal, saved
from tests.outcomes import scenario_of, trace_of

CHANGES = [
    {"seed": 2},
    {"transport": "none"},
    {"transport": {"control": "window", "window": 3}},
    {"packet": Packet(payload=1024)},
    {"routing": "single"},
    {"routing": {"pxn": False}},
    {"algorithms": {"all_reduce": "tree"}},
    {"channels": 2},
    {"chunk": "1MiB"},
    {"placement": "random"},
    {"topology": {"base": "fat_tree_k4_100g", "buffer": "unlimited"}},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_every_choice_changes_the_digest(change: dict[str, object]) -> None:
    changed = scenario_of(**change)  # type: ignore[arg-type]
    assert changed.digest() != scenario_of().digest()
    assert changed != scenario_of()


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_the_file_form_reads_back(change: dict[str, object], tmp_path: Path) -> None:
    scenario = scenario_of(**change)  # type: ignore[arg-type]
    write_native(scenario.trace, tmp_path / "trace.jsonl")
    assert load_scenario(saved(tmp_path / "scenario.toml", scenario.to_toml("trace.jsonl"))) == scenario


def test_equal_scenarios_are_one_key() -> None:
    assert len({scenario_of(), scenario_of(), scenario_of(seed=2)}) == 2
    assert scenario_of().digest() == scenario_of(packet=Packet()).digest()


def test_the_name_of_a_topology_changes_nothing() -> None:
    named = {"base": "fat_tree_k4_100g", "name": "mine"}
    assert scenario_of(named) == scenario_of()  # type: ignore[arg-type]


def test_a_shipped_trace_is_written_by_its_name() -> None:
    scenario = build_scenario("perm16", "fat_tree_k4_100g")
    assert tomllib.loads(scenario.to_toml())["trace"] == "perm16"


def test_frozen_and_printable() -> None:
    scenario = scenario_of(seed=7, algorithms={"all_reduce": "tree"})
    with pytest.raises(ValidationError, match="frozen"):
        scenario.seed = 3  # type: ignore[misc]
    assert str(scenario) == "by_hand on fat_tree_k4_100g, dcqcn + go_back_n, ecmp, packed, seed 7"
    described = scenario.describe()
    assert "by_hand: 16 ranks, 1 operation" in described
    assert "all_reduce = tree" in described


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algorithms": {"all_reduse": "ring"}}, "no operation 'all_reduse'; did you mean 'all_reduce'?"),
        ({"channels": 0}, "channels = 0 is not"),
        ({"chunk": 0}, "chunk = 0 is not greater than 0"),
        ({"seed": -1}, "seed = -1 is not greater than or equal to 0"),
        ({"seed": 1 << 63}, "seed = 9223372036854775808 is not less than"),
        ({"packet": {"ack": "unlimited"}}, "packet.ack = 'unlimited' is not less than"),
        ({"placement": {"kind": "list"}}, "order goes with kind = 'list'"),
        ({"placement": {"order": [1, 2]}}, "order goes with kind = 'list'"),
        ({"placement": {"kind": "list", "order": [1, 2, 1]}}, "order names host 1 twice"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(settings: dict[str, object], message: str) -> None:
    assert message in refusal(scenario_of, **settings)


def test_packed_and_listed_ranks() -> None:
    assert Placement().hosts(4, 16, seed=1) == (0, 1, 2, 3)
    listed = Placement(kind="list", order=(5, 3, 9))
    assert listed.hosts(3, 16, seed=1) == (5, 3, 9)
    assert listed.hosts(2, 16, seed=1) == (5, 3)


@given(hosts=st.integers(1, 40), seed=st.integers(0, 1 << 40), data=st.data())
def test_random_placement_gives_each_rank_a_host_of_its_own(hosts: int, seed: int, data: st.DataObject) -> None:
    ranks = data.draw(st.integers(1, hosts))
    placed = Placement(kind="random").hosts(ranks, hosts, seed)
    assert len(placed) == len(set(placed)) == ranks
    assert set(placed) <= set(range(hosts))
    assert placed == Placement(kind="random").hosts(hosts, hosts, seed)[:ranks]


def test_random_placement_follows_the_seed_and_spreads() -> None:
    placed = {Placement(kind="random").hosts(16, 16, seed) for seed in range(20)}
    assert len(placed) == 20
    assert len({hosts[0] for hosts in placed}) > 5


@pytest.mark.parametrize("kind", ["packed", "random"])
def test_too_many_ranks(kind: str) -> None:
    said = refusal(Placement(kind=kind).hosts, 32, 16, seed=1)
    assert said == "the trace has 32 ranks and the network 16 hosts; take a larger topology"


@pytest.mark.parametrize("order", [(0, 1), (0, 1, 16)])
def test_an_order_must_fit(order: tuple[int, ...]) -> None:
    placement = Placement(kind="list", order=order)
    assert "3 ranks need 3 hosts numbered 0 to 15" in refusal(placement.hosts, 3, 16, seed=1)


texts = st.text(st.characters(codec="utf-8"), max_size=20)
plain = texts | st.integers(-(1 << 60), 1 << 60) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
values = plain | st.lists(plain, max_size=4)


@given(st.dictionaries(texts, values | st.dictionaries(texts, values | st.dictionaries(texts, values, max_size=2))))
def test_what_is_written_as_toml_reads_back(tables: dict[str, object]) -> None:
    assert tomllib.loads(_toml(tables)) == tables


def test_scenarios_are_made_by_hand_too() -> None:
    scenario = Scenario(trace=trace_of(), topology=scenario_of().topology)
    assert scenario == scenario_of()


def test_an_algorithm_file_counts_by_its_content(tmp_path: Path) -> None:

    def digest(name: str, content: str) -> str:
        algorithms = {"broadcast": str(saved(tmp_path / name, content))}
        return build_scenario("perm16", "fat_tree_k4_100g", algorithms=algorithms).digest()

    one = digest("one.xml", DIRECT)
    assert digest("other.xml", DIRECT) == one
    assert digest("one.xml", DIRECT + "<!-- changed -->") != one
    assert build_scenario("perm16", "fat_tree_k4_100g").digest() != one
