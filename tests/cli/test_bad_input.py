"""Mistakes, through the real command line: exit code 2, one line of place and mend, nothing compiled."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.processes import finished, started

HEADER = '{"netsim": 1, "ranks": 4, "groups": {"pair": [0, 1]}}\n'
GOOD = '{"op": "all_reduce", "group": "world", "bytes": 1024}\n'
TREE = 'kind = "fat_tree"\nk = 4\nrate = "100Gb/s"\ndelay = "1us"\n'
ON = "--on fat_tree_k4_100g"


@dataclass
class Case:
    """A command line, the files it reads, and pieces of text that its one line of complaint must hold."""

    name: str
    command: str
    says: list[str]
    files: dict[str, str | bytes] = field(default_factory=dict)


def trace(name: str, lines: str, says: list[str]) -> Case:
    return Case(name, f"run t.jsonl {ON} --out out", ["t.jsonl", *says], {"t.jsonl": HEADER + lines})


def fabric(name: str, text: str, says: list[str]) -> Case:
    return Case(name, "run perm16 --on f.toml --out out", ["f.toml", *says], {"f.toml": text})


def scenario(name: str, text: str, says: list[str]) -> Case:
    return Case(name, "run s.toml --out out", ["s.toml", *says], {"s.toml": text})


BASE = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n'
NCCL_NO_COLLECTIVE = "node1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nNCCL version 2.21.5+cuda12.4\n"

CASES = [
    # traces; tests/traces/test_trace_native.py has every mistake in one
    Case("trace missing", f"run nowhere.jsonl {ON} --out out", ["nowhere.jsonl"]),
    Case("trace is a folder", f"run . {ON} --out out", ["."]),
    Case(
        "built-in trace misspelt", f"run deepseek_v3_decod_16 {ON}", ["deepseek_v3_decod_16", "deepseek_v3_decode_16"]
    ),
    trace("line truncated", GOOD + '{"op": "all_reduce", "group": "wor', ["line 3"]),
    trace(
        "algorithm of an operation unknown",
        '{"op": "all_reduce", "group": "world", "bytes": 8, "algorithm": "rign"}',
        ["line 2", "rign", "ring"],
    ),
    Case("trace not text", f"run t.jsonl {ON}", ["t.jsonl"], {"t.jsonl": b"\x80\x81\x82\x00\xff"}),
    Case("one of two logs missing", f"run n.log m.log {ON}", ["m.log"], {"n.log": NCCL_NO_COLLECTIVE}),
    # topologies
    Case("topology missing", "run perm16 --on nowhere.toml --out out", ["nowhere.toml"]),
    Case("built-in topology misspelt", "run perm16 --on fat_tre_k4_100g", ["fat_tre_k4_100g", "fat_tree_k4_100g"]),
    Case("topology not named", "run perm16", ["--on"]),
    fabric("topology empty", "", ["kind"]),
    fabric("topology key unknown", TREE + "oversubscripton = 2\n", ["line 5", "oversubscripton", "oversubscription"]),
    fabric("k negative", TREE.replace("k = 4", "k = -4"), ["k", "-4", "even"]),
    fabric("k a text", TREE.replace("k = 4", 'k = "four"'), ["line 2", "k"]),
    fabric("topology built on itself", 'base = "f.toml"\nk = 4\n', ["line 1", "base"]),
    fabric("servers zero", 'kind = "rail_optimized"\nservers = 0\n', ["line 2", "servers"]),
    # scenario files and settings
    scenario(
        "base unknown", 'trace = "perm16"\ntopology = { base = "fat_tre_k4_100g" }\n', ["line 2", "fat_tree_k4_100g"]
    ),
    Case("setting of an unknown key", f"run perm16 {ON} --set transport.contrl=none", ["--set", "contrl", "control"]),
    Case("seed negative", f"run perm16 {ON} --seed -3", ["seed", "-3"]),
    Case("seed a word", f"run perm16 {ON} --seed lucky", ["--seed", "integer"]),
    Case("transport unknown", f"run perm16 {ON} --transport dctpc", ["dctpc", "dctcp"]),
    Case("routing unknown", f"run perm16 {ON} --routing ecpm", ["ecpm", "ecmp"]),
    Case("algorithm without a name", f"run perm16 {ON} --algorithm tree", ["--algorithm", "tree"]),
    Case("algorithm unknown", f"run ring_all_reduce_16 {ON} --algorithm all_reduce=rign", ["rign", "ring"]),
    # the command line itself
    Case("command unknown", "runn perm16", ["runn", "--help"]),
    Case("option unknown", f"run perm16 {ON} --sed 3", ["--sed"]),
    Case("nothing to run", "run", ["TRACE"]),
    Case("compare with one bad fabric", f"compare perm16 {ON} --on nowhere", ["nowhere"]),
    Case("describe nothing there", "describe nowhere", ["nowhere"]),
    Case("plan of an unknown op", "plan all_redcue --ranks 4 --bytes 1MiB", ["all_redcue", "all_reduce"]),
    Case("plan of an unknown algorithm", "plan all_reduce --algorithm rign --ranks 4 --bytes 1MiB", ["rign", "ring"]),
    Case("plan of no ranks", "plan all_reduce --ranks 0 --bytes 1MiB", ["--ranks", "1"]),
    Case("plan of half a byte", "plan all_reduce --ranks 4 --bytes 0.5B", ["0.5B"]),
    Case("plan without bytes", "plan all_reduce --ranks 4", ["--bytes"]),
    Case("out is a file", f"run perm16 {ON} --out taken", ["taken"], {"taken": "mine"}),
    Case("out holds something else", f"run perm16 {ON} --out taken", ["taken"], {"taken/letter.txt": "mine"}),
]
COMPARE = "compare perm16 --on fat_tree_k4_100g --preset ideal"
MISTYPED = [  # command lines that need no file
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
    ("plan all_reduce --on rail_optimized_16 --ranks 17 --bytes 64MiB", "17"),
    ("convert perm16 --out job.txt", "its name does not tell the format; end it with one of .jsonl"),
    ("convert perm16 --out job.goal --to gaol", "did you mean 'goal'"),
    ("convert perm16 --out none/job.goal", "cannot be written"),
    ("convert perm61 --out job.goal", "perm16"),
    ("convert all_to_all_16 --out job.goal --algorithm ring", "'ring' is not KEY=VALUE"),
    ("convert all_to_all_16 --out job.goal --chunk big", "--chunk: 'big' is no size"),
    ("convert all_to_all_16 --out job.goal --chunk 0", "--chunk"),
    ("convert *.et --out job.goal", "no file fits this pattern"),
    ("convert . --out job.goal", "is a directory without files"),
    ("profile --compare perm16 incast16 --out x", "one folder holds one profile"),
    ("profile perm16 --set placement.kind=random", "add --on TOPOLOGY"),
    ("profile perm16 --html nowhere/p.html", "name a file in a folder that is there"),
    ("profile no_such_trace", "no file and no built-in trace"),
    ("profile perm16 --on no_such_fabric", "no_such_fabric"),
    ("explain .", "is no saved result"),
]
CASES += [Case(line, line, [says]) for line, says in MISTYPED]


def lay(files: dict[str, str | bytes], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def missing(pieces: list[str], line: str) -> list[str]:
    """The pieces that the line does not hold; "line 3" may also be written as compilers do, file:3."""
    return [piece for piece in pieces if piece not in line and f"{piece.replace('line ', ':')}:" not in line]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mistake_gives_one_line(case: Case, here: Path, cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.kernel.is_compiled", lambda _: False)
    monkeypatch.setattr("netsim.simulation.get_ready", lambda: pytest.fail("it compiles"))
    lay(case.files, here)
    before = files_in(here)
    assert missing(case.says, cli.refused(case.command)) == []
    assert files_in(here) == before
    assert not (here / "out").exists()


SUBPROCESSED = ["line truncated", "topology key unknown", "command unknown", "setting of an unknown key"]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SUBPROCESSED], ids=lambda case: case.name)
def test_mistake_in_a_process_of_its_own(case: Case, tmp_path: Path) -> None:
    lay(case.files, tmp_path)
    code, out, told = finished(started("-m", "netsim", *shlex.split(case.command), folder=tmp_path))
    assert (code, out) == (2, "")
    (line,) = told.splitlines()
    assert line.startswith("netsim: ")
    assert missing(case.says, line) == []


def test_names_of_cases_are_distinct() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert set(SUBPROCESSED) <= set(names)
