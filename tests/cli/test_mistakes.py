"""A mistake on the command line ends in one line on stderr, with exit code 2, before anything is compiled."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine

COMPARE = "compare perm16 --on fat_tree_k4_100g --preset ideal"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("compare perm16", "--on: no fabric named"),
        (f"{COMPARE} --seeds 0", "--seeds: 0 seeds"),
        (f"{COMPARE} --jobs -1 --seeds 2", "--jobs: -1 processes"),
        (f"{COMPARE} --routing ecpm", "did you mean 'ecmp'?"),
        (f"{COMPARE} --preset ideel", "did you mean 'ideal'?"),
        (f"{COMPARE} --transport swfit", "--transport: no control is called 'swfit'; did you mean 'swift'?"),
        (f"{COMPARE} --transport uec", "--transport: 'uec' is a preset, no control; write --preset uec"),
        (f"{COMPARE} --controls dctcp,roce", "'roce' is a preset, no control; write --preset roce"),
        (f"{COMPARE} --seeds 20000", "take 10,000 at most"),
        (f"{COMPARE} --prices nowhere.toml", "nowhere.toml: No such file"),
        ("compare perm128 --on fat_tree_k4_100g --seeds 2", "128 ranks and the network 16 hosts"),
        ("compare perm128 --on fat_tree_k4_100g", "128 ranks and the network 16 hosts"),
        ("run perm128 --on fat_tree_k4_100g", "128 ranks and the network 16 hosts"),
        ("plan all_reduce --on rail_optimized_16 --ranks 17 --bytes 64MiB", "17"),
        ("convert perm16 --out {}/job.txt", "its name does not tell the format; end it with one of .jsonl"),
        ("convert perm16 --out {}/job.goal --to gaol", "did you mean 'goal'"),
        ("convert perm16 --out {}/none/job.goal", "cannot be written"),
        ("convert perm61 --out {}/job.goal", "perm16"),
        ("convert all_to_all_16 --out {}/job.goal --algorithm ring", "'ring' is not KEY=VALUE"),
        ("convert all_to_all_16 --out {}/job.goal --chunk big", "--chunk: 'big' is no size"),
        ("convert all_to_all_16 --out {}/job.goal --chunk 0", "--chunk"),
        ("convert {}/*.et --out {}/job.goal", "no file fits this pattern"),
        ("convert {} --out {}/job.goal", "is a directory without files"),
        ("profile --compare perm16 incast16 --out x", "one folder holds one profile"),
        ("profile perm16 --set placement.kind=random", "add --on TOPOLOGY"),
        ("profile perm16 --html nowhere/p.html", "name a file in a folder that is there"),
        ("profile no_such_trace", "no file and no shipped trace"),
        ("profile perm16 --on no_such_fabric", "no_such_fabric"),
        ("explain {}", "is no saved result"),
    ],
)
def test_a_mistake_is_one_line(
    line: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cli: CommandLine
) -> None:
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: False)
    monkeypatch.setattr("netsim.simulation.get_ready", lambda: pytest.fail("it compiles"))
    assert words in cli.refused(line.replace("{}", str(tmp_path)))
