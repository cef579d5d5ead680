"""`netsim compare`: designs crossed, over seeds, from scenario files; mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import netsim
from netsim.cli import main
from netsim.cli.choices import settings
from netsim.transport import CONTROLS

Capture = pytest.CaptureFixture[str]
LINE = "compare perm16 --on fat_tree_k4_100g --preset ideal"


def test_over_seeds(tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "page.html"
    assert main([*LINE.split(), *"--routing ecmp --routing spray --seeds 3 --jobs 1 --html".split(), str(page)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("perm16, seeds 1 to 3")
    assert "spray is " in text.splitlines()[-2]
    assert "x faster than ecmp (95 %: " in text.splitlines()[-2]
    assert page.read_text().startswith("<!doctype html>")


def test_seeds_are_those_of_single_runs(capsys: Capture) -> None:
    assert main([*LINE.split(), "--seed", "5", "--seeds", "2", "--jobs", "1", "--json"]) == 0
    over = json.loads(capsys.readouterr().out)["fat_tree_k4_100g"]["over_seeds"]
    assert over["seeds"] == [5, 6]
    for seed, time_ps in zip((5, 6), over["completion_time_ps"], strict=True):
        assert main(["run", *LINE.split()[1:], "--seed", str(seed), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["completion_time_ps"] == time_ps


def test_processes_give_what_one_gives(capsys: Capture) -> None:
    times = []
    for jobs in "12":
        assert main([*LINE.split(), "--seeds", "4", "--jobs", jobs, "--json"]) == 0
        times.append(json.loads(capsys.readouterr().out)["fat_tree_k4_100g"]["over_seeds"])
    assert times[0] == times[1]


def test_scenario_files_are_designs(tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / f"{name}.toml" for name in ("today", "tomorrow")]
    for file, routing in zip(files, ("ecmp", "single"), strict=True):
        file.write_text(f'trace = "perm16"\ntopology = "fat_tree_k4_100g"\nrouting = "{routing}"\n')
    assert main(["compare", *map(str, files), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["today", "tomorrow"]


def test_algorithms_of_one_operation_are_designs(capsys: Capture) -> None:
    line = "compare ring_all_reduce_16 --on fat_tree_k4_400g --algorithm all_gather=ring"
    assert main([*line.split(), "--algorithm", "all_reduce=ring", "--algorithm", "all_reduce=tree", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["all_reduce=ring", "all_reduce=tree"]


def test_prices(tmp_path: Path, capsys: Capture) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('switch = 10\ncurrency = "EUR"\n')
    assert main([*LINE.split(), "--prices", str(prices)]) == 0
    assert "price, EUR" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("compare perm16", "--on: no fabric named"),
        (f"{LINE} --seeds 0", "--seeds: 0 seeds"),
        (f"{LINE} --jobs -1 --seeds 2", "--jobs: -1 processes"),
        (f"{LINE} --routing ecpm", "did you mean 'ecmp'?"),
        (f"{LINE} --preset ideel", "did you mean 'ideal'?"),
        (f"{LINE} --transport swfit", "--transport: no control is called 'swfit'; did you mean 'swift'?"),
        (f"{LINE} --transport uec", "--transport: 'uec' is a preset, no control; write --preset uec"),
        (f"{LINE} --controls dctcp,roce", "'roce' is a preset, no control; write --preset roce"),
        (f"{LINE} --seeds 20000", "take 10,000 at most"),
        (f"{LINE} --prices nowhere.toml", "nowhere.toml: No such file"),
        ("compare perm128 --on fat_tree_k4_100g --seeds 2", "128 ranks and the network 16 hosts"),
    ],
)
def test_a_mistake_is_one_line(line: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("netsim.simulation.get_ready", lambda: pytest.fail("it compiles"))
    assert main(line.split()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert words in said


BASE = "compare incast16 --on fat_tree_k4_100g"


def test_all_controls_on_one_base_which_is_printed(capsys: Capture) -> None:
    assert main([*BASE.split(), "--controls", "all"]) == 0
    text, said = capsys.readouterr()
    base = "preset roce, buffer 1,600 KB per port, PFC where that is used up, ECN 100 KB to 400 KB at 25 Gb/s"
    assert f"only the control differs, on fat_tree_k4_100g: {base}, pmax 0.2, no trimming, go_back_n, ecmp" in text
    assert text.splitlines()[1].split() == ["incast16", *(name for name in CONTROLS if name != "ndp")]
    assert "ndp is left out: it pulls packets one by one, which go_back_n cannot" in said
    assert "hpcc needs INT" in said
    assert "without PFC" not in said


def test_a_control_is_told_what_it_lacks_on_a_lossy_base(capsys: Capture) -> None:
    lossy = "--set topology.pfc=off --set topology.ecn=off --set transport.recovery=selective_repeat"
    assert main([*BASE.split(), "--controls", "timely,swift,dcqcn,ndp", *lossy.split(), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["timely", "swift", "dcqcn", "ndp", "base", "warnings"]
    assert [each.split(" ")[0] for each in told["warnings"]] == ["timely", "swift", "dcqcn", "dcqcn", "ndp"]
    assert sum("without PFC" in each for each in told["warnings"]) == 3


@pytest.mark.parametrize(
    ("given", "options", "preset"),
    [
        ("", [], "roce"),
        ("", ["--preset", "uec"], "uec"),
        ('transport = "uec"\n', [], "uec"),
        ('transport.recovery = "selective_repeat"\nrouting = "spray"\n', [], "roce"),
        ('transport.control = "nscc"\n', [], None),
    ],
)
def test_transport_changes_the_control_and_nothing_else(
    given: str, options: list[str], preset: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(f'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n{given}')
    sets = [f"transport.preset={options[1]}"] if options else []
    before = netsim.load_scenario(file, sets)
    after = netsim.load_scenario(file, settings([], options[1] if options else None, "swift", None, None, []))
    assert (after.transport.control, after.transport.preset) == ("swift", preset)
    assert after.transport == before.transport.model_copy(update={"control": "swift"})
    assert (after.topology, after.routing) == (before.topology, before.routing)
