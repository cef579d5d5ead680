"""The builtin traces hold what their names say, and are what `traces/make.py` writes."""

import runpy
from collections import Counter
from pathlib import Path

import pytest

from netsim.traces import Trace, read

FOLDER = Path(__file__).parents[2] / "traces"


def builtin(name: str) -> Trace:
    return read(FOLDER / f"{name}.jsonl")


def test_make_writes_exactly_the_shipped_files(tmp_path: Path) -> None:
    runpy.run_path(str(FOLDER / "make.py"))["main"](tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in FOLDER.glob("*.jsonl*")}


@pytest.mark.parametrize(("name", "size"), [("decode", 14_336), ("prefill", 14_680_064)])
def test_deepseek_v3_has_the_published_counts_and_sizes(name: str, size: int) -> None:
    trace = builtin(f"deepseek_v3_{name}_16")
    assert trace.ranks == 16
    reduced, gathered = ("all_reduce", size), ("all_gather", 258_560)
    assert [(each.op, each.bytes) for each in trace.operations] == [reduced] * 181 + [gathered]
    assert all(each.ranks == tuple(range(16)) for each in trace.operations)


def test_the_later_code_reduces_as_many_bytes_in_fewer_calls() -> None:
    first, later = builtin("deepseek_v3_decode_16"), builtin("deepseek_v3_later_decode_16")
    assert Counter((each.op, each.bytes, each.dtype) for each in later.operations) == {
        ("all_reduce", 14_336, "bf16"): 65,
        ("all_reduce", 28_672, "fp32"): 58,
        ("all_gather", 258_560, "bf16"): 1,
    }
    reduced = [sum(each.bytes for each in job.operations if each.op == "all_reduce") for job in (first, later)]
    assert reduced == [2_594_816, 2_594_816]
    assert [each.bytes for each in later.operations[:9]] == [14_336] * 8 + [28_672]


@pytest.mark.parametrize(
    ("name", "op", "algorithm"),
    [
        ("ring_all_reduce_16", "all_reduce", "ring"),
        ("tree_all_reduce_16", "all_reduce", "tree"),
        ("all_to_all_16", "all_to_all", None),
    ],
)
def test_plain_collectives(name: str, op: str, algorithm: str | None) -> None:
    trace = builtin(name)
    expected = [(op, algorithm, size) for size in (65_536, 1_048_576, 16_777_216)]
    assert [(each.op, each.algorithm, each.bytes) for each in trace.operations] == expected


@pytest.mark.parametrize("ranks", [16, 128])
def test_permutations_move_every_rank_half_way_round(ranks: int) -> None:
    (operation,) = builtin(f"perm{ranks}").operations
    assert operation.flows == tuple((s, (s + ranks // 2) % ranks, 2_000_000) for s in range(ranks))


def test_incast_sends_everything_to_the_last_rank() -> None:
    (operation,) = builtin("incast16").operations
    assert operation.flows == tuple((s, 15, 2_000_000) for s in range(15))
    assert operation.bytes == 30_000_000
