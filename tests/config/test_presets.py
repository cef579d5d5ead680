"""Presets fill in what nobody has set, wherever it was set; a control alone starts from none."""

from pathlib import Path
from typing import Any

import pytest

import netsim
from netsim.config import build_scenario
from netsim.config.preset_defaults import filled_in
from netsim.config.scenario import Scenario
from netsim.queues.disciplines.red import Ecn
from netsim.topology import FatTree
from netsim.transport.presets import DEFAULT_PRESET, PRESETS
from netsim.transport.settings import Transport
from netsim.units import UNLIMITED
from tests.defaults import PRESETS_BY_HAND
from tests.inputs import refused, saved

SHIPPED = "fat_tree_k4_100g"


def chosen(scenario: Scenario) -> tuple[str, str, str]:
    return scenario.transport.control, scenario.transport.recovery, scenario.routing.kind


def told(scenario: Scenario) -> str:
    return filled_in(scenario.transport, scenario.routing, scenario.topology, scenario.nic)


EXPECTED = {
    name: (transport["control"], transport["recovery"], routing["kind"])
    for name, (transport, routing, _) in PRESETS_BY_HAND.items()
}


@pytest.mark.parametrize("topology", [SHIPPED, "rail_optimized_16"])
@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_is_what_it_says(name: str, topology: str) -> None:
    scenario = build_scenario("perm16", topology, transport=name)
    assert chosen(scenario) == EXPECTED[name]
    fabric = scenario.topology
    assert (fabric.pfc is not None) == (name in ("roce", "roce-2015", "roce-no-cc", "hpcc"))
    assert bool(fabric.trim) == (name == "uec")
    assert (fabric.buffer == UNLIMITED) == (name == "ideal")
    assert scenario == build_scenario("perm16", topology, transport={"preset": name})
    assert told(scenario).startswith(f"{name}: transport.control = {scenario.transport.control}")
    assert "set otherwise" not in told(scenario)


def test_presets_say_what_they_are_in_a_line() -> None:
    assert all(preset.what and "\n" not in preset.what for preset in PRESETS.values())


def test_roce_is_the_default() -> None:
    assert DEFAULT_PRESET == "roce"
    assert build_scenario("perm16", SHIPPED) == build_scenario("perm16", SHIPPED, transport="roce")
    assert Scenario(trace=netsim.load_trace("perm16"), topology=FatTree(k=4)).topology.pfc is not None
    assert Transport().preset == "roce"
    only_a_window = build_scenario("perm16", SHIPPED, transport={"window": 20})
    assert (only_a_window.transport.control, only_a_window.transport.window) == ("dcqcn", 20)


def test_a_control_alone_starts_from_no_preset() -> None:
    scenario = build_scenario("perm16", SHIPPED, sets=["transport.control=dcqcn"])
    assert chosen(scenario) == ("dcqcn", "go_back_n", "ecmp")
    assert (scenario.transport.preset, scenario.topology.pfc, told(scenario)) == (None, None, "")
    assert build_scenario("perm16", SHIPPED, transport="nscc").transport.recovery == "go_back_n"


@pytest.mark.parametrize(
    ("settings", "topology", "found"),
    [
        ({"transport": {"preset": "uec", "control": "swift"}}, {}, lambda s: s.transport.control == "swift"),
        ({"transport": {"preset": "uec", "nscc": {"alpha": 2}}}, {}, lambda s: s.transport.nscc.target_share == 0.75),
        ({"transport": "uec", "routing": "ecmp"}, {}, lambda s: s.routing.kind == "ecmp"),
        ({"transport": "uec", "routing": {"pxn": False}}, {}, lambda s: s.routing.kind == "spray"),
        ({}, {"pfc": "off"}, lambda s: s.topology.pfc is None),
        ({}, {"pfc": {"xoff": "60KB", "xon": "48KB"}}, lambda s: s.topology.pfc.xoff == 60_000),
        ({"transport": "uec"}, {"trim": False}, lambda s: not s.topology.trim),
        ({"transport": "ideal"}, {"buffer": "1MB"}, lambda s: s.topology.buffer == 1_000_000),
        ({"transport": "ideal"}, {"ecn": {"kmin": "9KB"}}, lambda s: s.topology.ecn.kmax == 332_800),
        ({}, {"buffer": "100KB"}, lambda s: (s.topology.pfc.xoff, s.topology.buffer) == (UNLIMITED, 100_000)),
        ({}, {"buffer": "100KB"}, lambda s: s.topology.ecn.of_link(s.topology.rate).kmin == 25_000),
        ({}, {"buffer": "2MB"}, lambda s: s.topology.ecn.of_link(s.topology.rate).kmin == 400_000),
        ({}, {"buffer": "unlimited"}, lambda s: s.topology.pfc is None),
    ],
)  # fmt: skip
def test_what_is_set_stays(settings: dict[str, Any], topology: dict[str, Any], found: Any) -> None:
    assert found(build_scenario("perm16", {"base": SHIPPED, **topology}, **settings))
    sets = [f"topology.{key}={value}" for key, value in topology.items() if not isinstance(value, dict)]
    if len(sets) == len(topology):
        assert found(build_scenario("perm16", SHIPPED, sets=sets, **settings))


def test_the_summary_says_which_preset_filled_in_what() -> None:
    scenario = build_scenario(
        "perm16", {"base": SHIPPED, "pfc": "off"}, transport={"preset": "roce", "control": "swift"}
    )
    assert told(scenario) == (
        "roce: transport.recovery = go_back_n, routing.kind = ecmp, "
        "topology.ecn = { kmin = 100KB, kmax = 400KB, pmax = 0.2, rate = 25Gb/s }, topology.buffer = 1600000, "
        "nic.jitter = 1.0; set otherwise: transport.control, topology.pfc"
    )
    assert told(scenario) in scenario.describe()
    text = netsim.simulate("ring_all_reduce_16", SHIPPED).summary_text()
    assert "preset roce: transport.control = dcqcn" in text
    assert "topology.pfc = { xoff = unlimited, xon = unlimited }" in text


def test_a_users_own_file_goes_before_a_preset_and_a_shipped_one_does_not(tmp_path: Path) -> None:
    own = saved(tmp_path / "own.toml", 'kind = "fat_tree"\nk = 4\npfc = "off"\nbuffer = "416000B"\n')
    assert build_scenario("perm16", own).topology.pfc is None
    assert build_scenario("perm16", own, transport="ideal").topology.buffer == 416_000
    own.write_text(f'base = "{SHIPPED}"\npfc = "off"\n')
    scenario = build_scenario("perm16", own, transport="ideal")
    assert (scenario.topology.pfc, scenario.topology.buffer) == (None, UNLIMITED)
    assert build_scenario("perm16", netsim.load_topology(SHIPPED)).topology.pfc is not None


@pytest.mark.parametrize("name", PRESETS)
def test_a_saved_scenario_says_everything(name: str, tmp_path: Path) -> None:
    scenario = build_scenario("perm16", "rail_optimized_16", transport=name)
    again = netsim.load_scenario(saved(tmp_path / "s.toml", scenario.to_toml()))
    assert (again, again.transport.preset, told(again)) == (scenario, name, told(scenario))


@pytest.mark.parametrize(("preset", "off"), [("roce", "pfc"), ("hpcc", "pfc"), ("uec", "trim")])
def test_what_a_user_switched_off_stays_off(preset: str, off: str, tmp_path: Path) -> None:
    """Saved, read again, run with another seed: a preset would fill it in."""
    scenario = build_scenario("perm16", {"base": SHIPPED, off: "off"}, transport={"preset": preset})
    path = saved(tmp_path / "s.toml", scenario.to_toml())
    for again in (netsim.load_scenario(path), scenario.changed(seed=2)):
        assert getattr(again.topology, off) is None
    netsim.simulate(scenario).save(tmp_path / "saved")
    assert netsim.Result.load(tmp_path / "saved").scenario == scenario


def test_a_preset_on_the_command_line_replaces_the_files_choice(tmp_path: Path) -> None:
    lines = ['trace = "perm16"', f'topology = "{SHIPPED}"', 'routing = "ecmp"']
    path = saved(tmp_path / "s.toml", [*lines, "[transport]", 'control = "dctcp"', "window = 20"])
    scenario = netsim.load_scenario(path, sets=["transport.preset=uec"])
    assert chosen(scenario) == EXPECTED["uec"]
    assert scenario.transport.window == 20
    kept = netsim.load_scenario(path, sets=["transport.preset=uec", "transport.control=swift"])
    assert chosen(kept) == ("swift", "selective_repeat", "spray")


def test_a_name_in_the_digest_changes_nothing() -> None:
    by_name = build_scenario("perm16", SHIPPED, transport="swift")
    assert by_name == build_scenario("perm16", SHIPPED, transport={"control": "swift"})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"transport": "roec"}, "did you mean 'roce'"),
        ({"transport": {"preset": "uce"}}, "did you mean 'uec'"),
        ({"transport": "uec", "topology": {"base": SHIPPED, "control_class": "shared"}}, "control_class"),
        ({"topology": {"base": SHIPPED, "pfc": {"xoff": "1KB", "xon": "2KB"}}}, "above xoff"),
        ({"topology": {"base": SHIPPED, "ecn": {"kmin": "2MB", "kmax": "1MB"}}}, "above kmax"),
        ({"topology": {"base": SHIPPED, "pfc": {"headroom": "2MB"}}}, "larger than the buffer"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_line(settings: dict[str, Any], said: str) -> None:
    assert said in str(refused(build_scenario, **({"trace": "perm16", "topology": SHIPPED} | settings)))


def test_spray_with_go_back_n_is_a_warning() -> None:
    with pytest.warns(UserWarning, match="go_back_n takes for losses"):
        netsim.simulate("ring_all_reduce_16", SHIPPED, routing="spray")


def test_the_constants_of_2015_are_what_makes_a_permutation_slow() -> None:
    """128 hosts at 100 Gb/s, 2 MB each: hashing puts four flows on a link, 650 us; DCTCP takes 936."""
    times = {
        name: netsim.simulate("perm128", "fat_tree_k8_100g", transport=name).summary["completion_time_ps"] / 1e6
        for name in ("roce", "roce-2015", "dctcp")
    }
    assert 650 < times["roce"] < 1.2 * times["dctcp"]
    assert times["roce-2015"] > 2.5 * times["roce"]


@pytest.mark.parametrize(("tier", "kmin"), [("tor", 400_000), ("agg", 1_600_000), ("core", 800_000)])
def test_thresholds_scale_with_the_rate_of_each_link(tier: str, kmin: int) -> None:
    rates = {"agg": {"rate": "400Gb/s"}, "core": {"rate": "200Gb/s"}}
    network = build_scenario("perm16", {"base": SHIPPED, **rates}).topology.build()
    links = [link for link in network.links if link.kind == tier]
    assert links
    assert {link.ecn_kmin_bytes for link in links if link.ecn_kmin_bytes < UNLIMITED} == {kmin}
    assert Ecn(kmin=UNLIMITED, kmax=UNLIMITED, rate=1).of_link(10**12).kmax == UNLIMITED
