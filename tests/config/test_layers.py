"""Each layer of settings goes before the one below it: defaults, built-in file, preset, base, file, point, --set."""

from collections.abc import Callable
from pathlib import Path

import pytest

import netsim
from netsim.config import Document, build_scenario, load_scenario, read_document, vary_scenario
from netsim.config.scenario import Scenario
from netsim.routing import Spray
from netsim.topology import FatTree


def of_file(folder: Path, *sets: str) -> Scenario:
    return load_scenario(folder / "scenario.toml", sets=sets)


def of_point(folder: Path) -> Scenario:
    point = Document({"topology": {"buffer": "4MB"}}, {("topology", "buffer"): "study.toml, line 4"})
    return vary_scenario(read_document(folder / "scenario.toml"), [point], folder)


LAYERS: dict[str, tuple[Callable[[Path], Scenario], int]] = {
    "default": (lambda _: build_scenario("perm16", {"kind": "fat_tree", "k": 4}, transport="none"), 416_000),
    "built-in file": (lambda _: build_scenario("perm16", "rail_optimized_16", transport="none"), 832_000),
    "preset": (
        lambda _: build_scenario("perm16", "rail_optimized_16", transport="roce"),
        6_400_000,
    ),  # kmax at 400 Gb/s
    "base": (lambda folder: build_scenario("perm16", {"base": folder / "base.toml"}, transport="roce"), 2_000_000),
    "file": (of_file, 3_000_000),
    "point": (of_point, 4_000_000),
    "setting": (lambda folder: of_file(folder, "topology.buffer=5MB"), 5_000_000),
    "later setting": (lambda folder: of_file(folder, "topology.buffer=5MB", "topology.buffer=6MB"), 6_000_000),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_each_layer_goes_before_those_below(layer: str, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('base = "rail_optimized_16"\nbuffer = "2MB"\n')
    text = 'trace = "perm16"\ntransport = "roce"\ntopology = { base = "base.toml", buffer = "3MB" }\n'
    (tmp_path / "scenario.toml").write_text(text)
    build, buffer = LAYERS[layer]
    assert build(tmp_path).topology.buffer == buffer


def test_a_setting_over_an_object_leaves_the_rest_to_the_preset() -> None:
    """What nobody set in an object is as free for a preset as what stands in no file."""
    for topology in (FatTree(k=4), netsim.load_topology({"kind": "fat_tree", "k": 4})):
        changed = build_scenario("perm16", topology, sets=["topology.delay=2us"])
        assert changed == build_scenario("perm16", {"kind": "fat_tree", "k": 4, "delay": "2us"})
        assert changed.topology.buffer == 1_600_000
    builtin = build_scenario("perm16", netsim.load_topology("fat_tree_k4_100g"), sets=["topology.delay=2us"])
    assert builtin == build_scenario("perm16", {"base": "fat_tree_k4_100g", "delay": "2us"})
    routed = build_scenario("perm16", "fat_tree_k4_100g", routing=Spray(), transport="ideal", sets=["routing.pxn=off"])
    assert routed.routing.order == "round_robin"


def test_a_part_is_judged_as_it_runs() -> None:
    """A headroom may be larger than a built-in file's buffer where the preset's is what ports have."""
    scenario = build_scenario("perm16", {"base": "fat_tree_k4_100g", "pfc": {"headroom": "1MB"}})
    assert scenario.topology.pfc.headroom < scenario.topology.buffer
    with pytest.raises(netsim.InputError, match=r"the transport's preset does not go with it: .*trim = true"):
        build_scenario("perm16", {"base": "fat_tree_k4_100g", "control_class": "shared"}, transport="uec")
