"""A whole profile: the published table of DeepSeek-V3 inference, groups, placement, and ranks that are not there."""

from pathlib import Path

import pytest

from netsim.config import build_scenario, load_trace
from netsim.profile import Profile, profile
from netsim.traces import Group, Operation, Trace, read
from tests.inputs import refusal, saved
from tests.traces.nccl.nccl_lines_of import call, init, world


def rows(found: Profile) -> dict[str, tuple[int, int, float]]:
    """Operation -> (count, bytes in all, the usual part of one rank)."""
    table = found.operations.to_dict("records")
    return {row["op"]: (row["count"], row["bytes_total"], row["part_bytes_median"]) for row in table}


@pytest.mark.parametrize(
    ("name", "size", "in_all"),
    [("deepseek_v3_decode_16", 14_336, 2_594_816), ("deepseek_v3_prefill_16", 14_680_064, 2_657_091_584)],
)
def test_the_table_of_deepseek_v3(name: str, size: int, in_all: int) -> None:
    found = profile(load_trace(name))
    assert rows(found) == {"all_reduce": (181, in_all, size), "all_gather": (1, 258_560, 16_160)}
    assert found.distribution["bytes"].tolist() == sorted([size, 258_560])
    assert found.distribution["count"].tolist() == ([181, 1] if size < 258_560 else [1, 181])
    assert len(found.ranks) == 16
    assert found.ranks["requests"].unique().tolist() == [182]
    assert found.bursts is None
    assert found.parallelism() == [(1, 16)]


def test_the_later_code_of_deepseek_v3_calls_less_often() -> None:
    found = profile(load_trace("deepseek_v3_later_decode_16"))
    table = found.operations.to_dict("records")
    assert {row["op"]: (row["count"], row["bytes_total"]) for row in table} == {
        "all_reduce": (123, 2_594_816), "all_gather": (1, 258_560),
    }  # fmt: skip
    assert found.distribution[["bytes", "count"]].to_numpy().tolist() == [[14_336, 65], [28_672, 58], [258_560, 1]]


def test_placement_says_what_leaves_a_server() -> None:
    trace = load_trace("all_to_all_16")
    found = profile(trace, build_scenario(trace, "rail_optimized_16"))
    assert found.leaving_share == pytest.approx(8 / 15)  # of 15 others 8 are on the other server
    assert (found.fabric, found.read["ranks"]) == ("rail_optimized_16", 16)
    assert profile(trace).leaving_share is None


def test_a_ring_that_keeps_to_its_rails_leaves_once_in_eight() -> None:
    trace = load_trace("deepseek_v3_prefill_16")
    assert profile(trace, build_scenario(trace, "rail_optimized_16")).leaving_share == pytest.approx(1 / 8)


def test_parallelism_counts_groups_that_are_used_once_each() -> None:
    groups = {f"tp{n}": Group(f"tp{n}", (2 * n, 2 * n + 1)) for n in range(2)} | {"idle": Group("idle", (0, 3))}
    again = Group("again", (0, 1))
    operations = [Operation("all_reduce", name, groups[name].ranks, 8) for name in ("tp0", "tp1", "tp0")]
    operations += [Operation("all_reduce", "again", (0, 1), 8), Operation("all_reduce", "world", (0, 1, 2, 3), 8)]
    trace = Trace("job", 4, {**groups, "again": again}, tuple(operations))
    assert profile(trace).parallelism() == [(1, 4), (2, 2)]


def test_ranks_that_no_log_shows_have_no_row_and_no_place(tmp_path: Path) -> None:
    lines = [world(8)[0], init(100, 0xB0, 0, 4, "0x5"), call(100, 0xB0, 4), call(100, 0xA0, 8)]
    trace = read(saved(tmp_path / "job.log", lines), partial=True)
    found = profile(trace)
    assert found.ranks["rank"].tolist() == [0]
    assert found.known_ranks == 8
    assert {
        rank for pair in found.traffic.table[["source", "target"]].to_numpy().tolist() for rank in pair if rank
    } == {
        *(1, 7),  # its neighbours in the world
        *(8, 10),  # and in the group whose members nothing names
    }
    assert "leave --on out" in refusal(profile, trace, build_scenario(trace, "rail_optimized_16"))
