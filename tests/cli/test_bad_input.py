"""Mistakes of users, through the real command line: exit code 2 and one line that names the place and the mend."""

import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine

HOME = Path(__file__).parents[2]
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


def trace(name: str, lines: str, says: list[str], header: str = HEADER) -> Case:
    return Case(name, f"run t.jsonl {ON} --out out", ["t.jsonl", *says], {"t.jsonl": header + lines})


def fabric(name: str, text: str, says: list[str]) -> Case:
    return Case(name, "run perm16 --on f.toml --out out", ["f.toml", *says], {"f.toml": text})


def scenario(name: str, text: str, says: list[str]) -> Case:
    return Case(name, "run s.toml --out out", ["s.toml", *says], {"s.toml": text})


BASE = 'trace = "perm16"\ntopology = "fat_tree_k4_100g"\n'
NCCL_NO_COLLECTIVE = "node1:10:10 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nNCCL version 2.21.5+cuda12.4\n"

CASES = [
    # traces
    Case("trace missing", f"run nowhere.jsonl {ON} --out out", ["nowhere.jsonl"]),
    Case("trace is a folder", f"run . {ON} --out out", ["."]),
    Case("shipped trace misspelt", f"run deepseek_v3_decod_16 {ON}", ["deepseek_v3_decod_16", "deepseek_v3_decode_16"]),
    trace("trace empty", "", [], header=""),
    trace("line truncated", GOOD + '{"op": "all_reduce", "group": "wor', ["line 3"]),
    trace("line is not an object", GOOD + "17\n", ["line 3"]),
    trace("no header", GOOD, ["line 1", "netsim"], header=""),
    trace("header of a later format", GOOD, ["line 1", "99"], header='{"netsim": 99, "ranks": 4}\n'),
    trace("ranks zero", GOOD, ["line 1", "ranks"], header='{"netsim": 1, "ranks": 0}\n'),
    trace(
        "group names a rank that is not there",
        GOOD,
        ["line 1", "7"],
        '{"netsim": 1, "ranks": 4, "groups": {"g": [0, 7]}}\n',
    ),
    trace("group names a rank twice", GOOD, ["line 1", "g"], '{"netsim": 1, "ranks": 4, "groups": {"g": [0, 0]}}\n'),
    trace("op unknown", '{"op": "all_redcue", "group": "world", "bytes": 8}', ["line 2", "all_redcue", "all_reduce"]),
    trace("op missing", '{"group": "world", "bytes": 8}', ["line 2", "op"]),
    trace("group unknown", '{"op": "all_reduce", "group": "pear", "bytes": 8}', ["line 2", "pear", "pair"]),
    trace("bytes missing", '{"op": "all_reduce", "group": "world"}', ["line 2", "bytes"]),
    trace("bytes negative", '{"op": "all_reduce", "group": "world", "bytes": -8}', ["line 2", "bytes", "-8"]),
    trace("bytes fractional", '{"op": "all_reduce", "group": "world", "bytes": 0.5}', ["line 2", "bytes", "0.5"]),
    trace("bytes a truth", '{"op": "all_reduce", "group": "world", "bytes": true}', ["line 2", "bytes"]),
    trace("key unknown", '{"op": "all_reduce", "group": "world", "byts": 8}', ["line 2", "byts", "bytes"]),
    trace(
        "algorithm of an operation unknown",
        '{"op": "all_reduce", "group": "world", "bytes": 8, "algorithm": "rign"}',
        ["line 2", "rign", "ring"],
    ),
    trace("rank not there", '{"op": "send", "src": 0, "dst": 9, "bytes": 8}', ["line 2", "9"]),
    trace("send to itself", '{"op": "send", "src": 1, "dst": 1, "bytes": 8}', ["line 2", "1"]),
    trace("duration without a unit", '{"op": "compute", "ranks": [0], "duration": "12"}', ["line 2", "12"]),
    trace("duration negative", '{"op": "compute", "ranks": [0], "duration": "-12us"}', ["line 2", "-12us"]),
    trace("flow of three parts too few", '{"op": "flows", "flows": [[0, 1]]}', ["line 2", "flows"]),
    trace("matrix not square", '{"op": "all_to_all_v", "group": "pair", "sizes": [[0, 1]]}', ["line 2", "sizes"]),
    trace(
        "root outside the group", '{"op": "broadcast", "group": "pair", "bytes": 8, "root": 5}', ["line 2", "root", "5"]
    ),
    Case("trace not text", f"run t.jsonl {ON}", ["t.jsonl"], {"t.jsonl": b"\x80\x81\x82\x00\xff"}),
    Case(
        "nccl log without a collective",
        f"run n.log {ON}",
        ["n.log", "NCCL_DEBUG_SUBSYS"],
        {"n.log": NCCL_NO_COLLECTIVE},
    ),
    Case("text that is no trace", f"run n.txt {ON}", ["n.txt"], {"n.txt": "hello\nworld\n"}),
    Case("one of two logs missing", f"run n.log m.log {ON}", ["m.log"], {"n.log": NCCL_NO_COLLECTIVE}),
    # more ranks than hosts
    Case("more ranks than hosts", f"run perm128 {ON} --out out", ["128", "16"]),
    # topologies
    Case("topology missing", "run perm16 --on nowhere.toml --out out", ["nowhere.toml"]),
    Case("shipped topology misspelt", "run perm16 --on fat_tre_k4_100g", ["fat_tre_k4_100g", "fat_tree_k4_100g"]),
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
    Case("compare on nothing", "compare perm16", ["--on"]),
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
def test_mistake_gives_one_line(case: Case, here: Path, cli: CommandLine) -> None:
    lay(case.files, here)
    before = files_in(here)
    assert missing(case.says, cli.refused(case.command)) == []
    assert files_in(here) == before
    assert not (here / "out").exists()


SUBPROCESSED = ["line truncated", "topology key unknown", "command unknown", "setting of an unknown key"]


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SUBPROCESSED], ids=lambda case: case.name)
def test_mistake_in_a_process_of_its_own(case: Case, tmp_path: Path) -> None:
    lay(case.files, tmp_path)
    command = [sys.executable, "-m", "netsim", *shlex.split(case.command)]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(HOME)}, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("netsim: ")
    assert missing(case.says, line) == []


def test_names_of_cases_are_distinct() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))
    assert set(SUBPROCESSED) <= set(names)
