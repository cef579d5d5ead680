"""`netsim compare`: designs crossed, over seeds, from scenario files."""

from pathlib import Path

import pytest

import netsim
from netsim.cli.choices import settings
from netsim.transport import CONTROLS
from tests.cli.command_line import CommandLine
from tests.inputs import saved

LINE = "compare perm16 --on fat_tree_k4_100g --preset ideal"


def test_over_seeds(tmp_path: Path, cli: CommandLine) -> None:
    page = tmp_path / "page.html"
    text = cli.succeeds(LINE, "--routing ecmp --routing spray --seeds 3 --jobs 1 --html", page).out
    assert text.startswith("perm16, seeds 1 to 3")
    assert "spray is " in text.splitlines()[-2]
    assert "x faster than ecmp (95 %: " in text.splitlines()[-2]
    assert page.read_text().startswith("<!doctype html>")


def test_seeds_are_those_of_single_runs(cli: CommandLine) -> None:
    over = cli.json(LINE, "--seed 5 --seeds 2 --jobs 1")["fat_tree_k4_100g"]["over_seeds"]
    assert over["seeds"] == [5, 6]
    for seed, time_ps in zip((5, 6), over["completion_time_ps"], strict=True):
        assert cli.json(LINE.replace("compare", "run"), f"--seed {seed}")["completion_time_ps"] == time_ps


def test_processes_give_what_one_gives(cli: CommandLine) -> None:
    one, two = (cli.json(LINE, f"--seeds 4 --jobs {jobs}")["fat_tree_k4_100g"]["over_seeds"] for jobs in "12")
    assert one == two


def test_scenario_files_are_designs(tmp_path: Path, cli: CommandLine) -> None:
    files = [tmp_path / f"{name}.toml" for name in ("today", "tomorrow")]
    for file, routing in zip(files, ("ecmp", "single"), strict=True):
        file.write_text(f'trace = "perm16"\ntopology = "fat_tree_k4_100g"\nrouting = "{routing}"\n')
    assert list(cli.json("compare", *files)) == ["today", "tomorrow"]


def test_algorithms_of_one_operation_are_designs(cli: CommandLine) -> None:
    line = "compare ring_all_reduce_16 --on fat_tree_k4_400g --algorithm all_gather=ring"
    designs = cli.json(line, "--algorithm all_reduce=ring --algorithm all_reduce=tree")
    assert list(designs) == ["all_reduce=ring", "all_reduce=tree"]


def test_prices(tmp_path: Path, cli: CommandLine) -> None:
    prices = saved(tmp_path / "prices.toml", 'switch = 10\ncurrency = "EUR"\n')
    assert "price, EUR" in cli.succeeds(LINE, "--prices", prices).out


BASE = "compare incast16 --on fat_tree_k4_100g"


def test_all_controls_on_one_base_which_is_printed(cli: CommandLine) -> None:
    _, text, said = cli.succeeds(BASE, "--controls all")
    base = "preset roce, buffer 1,600 KB per port, PFC where that is used up, ECN 100 KB to 400 KB at 25 Gb/s"
    assert f"only the control differs, on fat_tree_k4_100g: {base}, pmax 0.2, no trimming, go_back_n, ecmp" in text
    assert text.splitlines()[1].split() == ["incast16", *(name for name in CONTROLS if name != "ndp")]
    assert "ndp is left out: it pulls packets one by one, which go_back_n cannot" in said
    assert "hpcc needs INT" in said
    assert "without PFC" not in said


def test_a_control_is_told_what_it_lacks_on_a_lossy_base(cli: CommandLine) -> None:
    lossy = "--set topology.pfc=off --set topology.ecn=off --set transport.recovery=selective_repeat"
    told = cli.json(BASE, "--controls timely,swift,dcqcn,ndp,nscc", lossy)
    assert list(told) == ["timely", "swift", "dcqcn", "ndp", "nscc", "base", "warnings"]
    assert [each.split(" ")[0] for each in told["warnings"]] == "timely swift dcqcn dcqcn ndp nscc nscc".split()
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
    file = saved(tmp_path / "s.toml", f'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n{given}')
    sets = [f"transport.preset={options[1]}"] if options else []
    before = netsim.load_scenario(file, sets)
    after = netsim.load_scenario(file, settings([], preset=options[1] if options else None, transport="swift"))
    assert (after.transport.control, after.transport.preset) == ("swift", preset)
    assert after.transport == before.transport.model_copy(update={"control": "swift"})
    assert (after.topology, after.routing) == (before.topology, before.routing)


def test_saved_runs_side_by_side(tmp_path: Path, cli: CommandLine) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder, seed in zip(folders, "12", strict=True):
        cli.succeeds(f"run perm16 --on fat_tree_k4_100g --seed {seed} --out", folder)
    page = tmp_path / "page.html"
    assert "What changed in the scenario: 1 key." in cli.succeeds("compare", *folders, "--html", page).out
    assert "What changed in the scenario" in page.read_text()
    changes = cli.json("compare", *folders)["changes"]
    assert changes["scenario"] == [{"key": "seed", "before": "1", "after": "2"}]
    assert "a saved run is compared with other saved runs" in cli.refused("compare", folders[0])
    left_out = "saved runs are compared as they are; leave out 'ecmp'"
    assert left_out in cli.refused("compare", *folders, "--routing ecmp")
