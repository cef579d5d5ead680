"""Each layer of settings goes before the one below it: defaults, shipped file, preset, base, file, point, --set."""

from __future__ import annotations

from pathlib import Path

import pytest

import netsim
from netsim.config import Document, build_scenario, load_scenario, read_document, vary_scenario
from netsim.config.scenario import Scenario
from netsim.routing import Spray
from netsim.topology import FatTree


def at_default(folder: Path) -> Scenario:
    return build_scenario("perm16", {"kind": "fat_tree", "k": 4}, transport="none")


def at_shipped_file(folder: Path) -> Scenario:
    return build_scenario("perm16", "rail_optimized_16", transport="none")


def at_preset(folder: Path) -> Scenario:
    return build_scenario("perm16", "rail_optimized_16", transport="roce")


def at_base(folder: Path) -> Scenario:
    (folder / "base.toml").write_text('base = "rail_optimized_16"\nbuffer = "2MB"\n')
    return build_scenario("perm16", {"base": folder / "base.toml"}, transport="roce")


def at_file(folder: Path) -> Scenario:
    at_base(folder)
    text = 'trace = "perm16"\ntransport = "roce"\ntopology = { base = "base.toml", buffer = "3MB" }\n'
    (folder / "scenario.toml").write_text(text)
    return load_scenario(folder / "scenario.toml")


def at_point(folder: Path) -> Scenario:
    at_file(folder)
    point = Document({"topology": {"buffer": "4MB"}}, {("topology", "buffer"): "study.toml, line 4"})
    return vary_scenario(read_document(folder / "scenario.toml"), [point], folder)


def at_setting(folder: Path) -> Scenario:
    at_file(folder)
    return load_scenario(folder / "scenario.toml", sets=["topology.buffer=5MB"])


def at_later_setting(folder: Path) -> Scenario:
    at_file(folder)
    return load_scenario(folder / "scenario.toml", sets=["topology.buffer=5MB", "topology.buffer=6MB"])


@pytest.mark.parametrize(
    ("layer", "buffer"),
    [
        (at_default, 416_000),
        (at_shipped_file, 832_000),
        (at_preset, 6_400_000),  # kmax at 400 Gb/s
        (at_base, 2_000_000),
        (at_file, 3_000_000),
        (at_point, 4_000_000),
        (at_setting, 5_000_000),
        (at_later_setting, 6_000_000),
    ],
)  # fmt: skip
def test_each_layer_goes_before_those_below(layer: object, buffer: int, tmp_path: Path) -> None:
    assert layer(tmp_path).topology.buffer == buffer  # type: ignore[operator]


def test_a_setting_over_an_object_leaves_the_rest_to_the_preset() -> None:
    """What nobody set in an object is as free for a preset as what stands in no file."""
    for topology in (FatTree(k=4), netsim.load_topology({"kind": "fat_tree", "k": 4})):
        changed = build_scenario("perm16", topology, sets=["topology.delay=2us"])
        assert changed == build_scenario("perm16", {"kind": "fat_tree", "k": 4, "delay": "2us"})
        assert changed.topology.buffer == 1_600_000
    shipped = build_scenario("perm16", netsim.load_topology("fat_tree_k4_100g"), sets=["topology.delay=2us"])
    assert shipped == build_scenario("perm16", {"base": "fat_tree_k4_100g", "delay": "2us"})
    routed = build_scenario("perm16", "fat_tree_k4_100g", routing=Spray(), transport="ideal", sets=["routing.pxn=off"])
    assert routed.routing.order == "round_robin"


def test_a_part_is_judged_as_it_runs() -> None:
    """A headroom may be larger than a shipped file's buffer where the preset's is what ports have."""
    scenario = build_scenario("perm16", {"base": "fat_tree_k4_100g", "pfc": {"headroom": "1MB"}})
    assert scenario.topology.pfc.headroom < scenario.topology.buffer
    with pytest.raises(netsim.InputError, match=r"the transport's preset does not go with it: .*trim = true"):
        build_scenario("perm16", {"base": "fat_tree_k4_100g", "control_class": "shared"}, transport="uec")
