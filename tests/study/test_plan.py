"""Study files: grids, lists, ranges, what a point is, and mistakes in one line with place and mend."""

from pathlib import Path
from typing import Any

import pytest

from netsim.config import build_scenario
from netsim.study.plan import Plan, identity, read_plan
from tests.collectives.test_msccl import xml
from tests.inputs import refusal, saved

BASE = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n'


def plan(folder: Path, text: str) -> Plan:
    return read_plan(saved(folder / "study.toml", text))


def settings(folder: Path, text: str) -> list[dict[str, Any]]:
    return [point.settings for point in plan(folder, BASE + text).points]


def test_a_grid_is_crossed_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = '[grid]\nrouting.kind = ["ecmp", "single"]\nseed = { from = 3, to = 7, step = 2 }\n'
    found = plan(tmp_path, BASE + text)
    assert [point.settings for point in found.points] == [
        {"routing.kind": kind, "seed": seed} for kind in ("ecmp", "single") for seed in (3, 5, 7)
    ]
    assert [point.scenario.routing.kind for point in found.points] == ["ecmp"] * 3 + ["single"] * 3
    assert [point.scenario.seed for point in found.points] == [3, 5, 7] * 2
    assert found.varied == ["routing.kind", "seed"]


def test_keys_may_be_nested_dotted_or_quoted(tmp_path: Path) -> None:
    same = [
        '[grid]\ntransport.control = ["none"]\n',
        '[grid]\n"transport.control" = ["none"]\n',
        '[grid.transport]\ncontrol = ["none"]\n',
    ]
    assert [settings(tmp_path, text) for text in same] == [[{"transport.control": "none"}]] * 3


def test_a_list_is_crossed_with_the_grid(tmp_path: Path) -> None:
    text = '[grid]\nseed = [1, 2]\n[[points]]\nrouting.kind = "ecmp"\n[[points]]\ntransport = { preset = "uec" }\n'
    assert settings(tmp_path, text) == [
        {"routing.kind": "ecmp", "seed": 1},
        {"routing.kind": "ecmp", "seed": 2},
        {"transport.preset": "uec", "seed": 1},
        {"transport.preset": "uec", "seed": 2},
    ]


def test_no_grid_and_no_list_is_one_point(tmp_path: Path) -> None:
    assert settings(tmp_path, "") == [{}]


def test_whole_topologies_as_values(tmp_path: Path) -> None:
    text = (
        '[grid]\ntopology = ["fat_tree_k4_400g", { base = "fat_tree_k4_100g", buffer = "1MB" }]\n'
        '"topology.delay" = ["2us"]\n[[points]]\n'
    )
    first, second = plan(tmp_path, BASE + text).points
    assert first.scenario.topology.rate == 4 * second.scenario.topology.rate
    assert second.scenario.topology.buffer == 10**6
    assert first.scenario.topology.delay == second.scenario.topology.delay == 2_000_000, "whole parts go first"


def test_a_preset_goes_before_what_it_would_take_away(tmp_path: Path) -> None:
    (point,) = plan(tmp_path, BASE + '[grid]\ntransport.control = ["none"]\ntransport.preset = ["uec"]\n').points
    assert point.scenario.transport.control == "none"


def test_paths_are_relative_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "job.jsonl").write_text('{"netsim": 1, "ranks": 2}\n{"op": "send", "src": 0, "dst": 1, "bytes": 9}\n')
    (tmp_path / "net.toml").write_text('base = "fat_tree_k4_100g"\ndelay = "3us"\n')
    found = plan(tmp_path, '[grid]\ntrace = ["job.jsonl", "perm16"]\ntopology = ["net.toml", "fat_tree_k8_100g"]\n')
    assert [point.scenario.trace.ranks for point in found.points] == [2, 2, 16, 16]
    assert [point.scenario.topology.title for point in found.points] == ["net", "fat_tree_k8_100g"] * 2


def test_a_point_is_what_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "job.jsonl"
    header = '{"netsim": 1, "ranks": 2}\n'
    trace.write_text(header + '{"op": "send", "src": 0, "dst": 1, "bytes": 9}\n')

    def digest(text: str = "") -> str:
        return plan(tmp_path, f'trace = "job.jsonl"\ntopology = "fat_tree_k4_100g"\n{text}').points[0].digest

    first = digest()
    assert digest() == digest("[grid]\nseed = [1]\n") == digest('name = "other"\n') == first
    assert digest("seed = 2\n") != first
    assert digest('time_limit = "1ms"\n') != first
    trace.write_text(header + '{"op": "send", "src": 0, "dst": 1, "bytes": 10}\n')
    assert digest() != first, "the content of the trace counts, not its name"
    monkeypatch.setattr("netsim.study.plan.__version__", "9.9")
    assert identity(build_scenario("perm16", "fat_tree_k4_100g"), None) not in (first, digest())


def test_the_content_of_an_algorithm_file_counts(tmp_path: Path) -> None:
    algorithm = tmp_path / "mine.xml"
    found = []
    for chunks in (3, 6):
        algorithm.write_text(xml("", "", "", chunks=chunks))
        text = f"{BASE}[algorithms]\nall_gather = {str(algorithm)!r}\n"
        found.append(plan(tmp_path, text).points[0])
    assert found[0].digest != found[1].digest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sed = 3", "study.toml, line 3: unknown key 'sed'; did you mean 'seed'?"),
        ("[gird]\nseed = [1]", "line 3: unknown key 'gird'; did you mean 'grid'?"),
        ("[grid]\nsed = [3]", "line 4: unknown key 'sed'; did you mean 'seed'?"),
        ("[grid]\nseed = 3", "line 4: grid.seed is no list of values; write seed = [...]"),
        ("[grid]\nseed = []", "line 4: grid.seed is no list of values"),
        ("[grid]\nseed = { from = 3, to = 1 }", "line 4: grid.seed is no range"),
        ("[grid]\nseed = [1, -2]", "line 4: seed = -2 is not"),
        (
            '[grid]\nrouting.kind = ["ecmp", "spry"]',
            "line 4: routing.kind = 'spry' is unknown; did you mean 'spray'?",
        ),
        ('[grid]\ntransport.presett = ["uec"]', "line 4: unknown key 'transport.presett'; did you mean 'preset"),
        ('[grid]\ntopology = ["fat_tree_k5_100g"]', "line 4: no file and no built-in topology is called"),
        ("[grid]\nseed = { from = 1, to = 20000 }", "line 4: grid.seed has 20,000 values; take 10,000"),
        ("grid = 3", "line 3: grid is no table"),
        ("points = 3", "line 3: points is no list of tables"),
        ("[[points]]\nseed = 1\n[[points]]\nsed = 2", "line 6: unknown key 'sed'; did you mean 'seed'?"),
        ('time_limit = "3 parsecs"', "line 3: time_limit: "),
        (
            '[grid]\nseed = [1]\n[picture]\nx = "sed"',
            "line 6: picture.x = 'sed' is no varied setting; did you mean 'seed'",
        ),
        ('[picture]\ny = "slow"', "line 4: picture.y = 'slow' is no figure; did you mean 'slowdown'"),
        ('[picture]\nz = "slow"', "line 4: unknown key 'picture.z'"),
    ],
)
def test_a_mistake_names_its_line_and_the_mend(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(plan, tmp_path, f"{BASE}{text}\n")


def test_too_many_points_are_counted_not_made(tmp_path: Path) -> None:
    axis = "{ from = 1, to = 10000 }"
    cube = f'{BASE}[grid]\nseed = {axis}\n"transport.window" = {axis}\nchannels = {axis}\n'
    assert "study.toml: 1,000,000,000,000 points; take 10,000 at most" in refusal(plan, tmp_path, cube)
    long = f"{BASE}[grid]\nseed = {{ from = 1, to = {2**63 - 1} }}\n"
    assert "line 4: grid.seed has 9,223,372,036,854,775,807 values" in refusal(plan, tmp_path, long)
