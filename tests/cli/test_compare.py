"""`netsim compare`: designs crossed, over seeds, from scenario files; mistakes in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from netsim.cli import main

Capture = pytest.CaptureFixture[str]
LINE = "compare perm16 --on fat_tree_k4_100g --transport ideal"


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
        (f"{LINE} --transport ideel", "did you mean 'ideal'?"),
        (f"{LINE} --seeds 20000", "take 10,000 at most"),
        (f"{LINE} --prices nowhere.toml", "nowhere.toml: No such file"),
        ("compare perm128 --on fat_tree_k4_100g --seeds 2", "128 ranks and the network 16 hosts"),
    ],
)
def test_a_mistake_is_one_line(line: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("netsim.simulation._get_ready", lambda: pytest.fail("it compiles"))
    assert main(line.split()) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert words in said
