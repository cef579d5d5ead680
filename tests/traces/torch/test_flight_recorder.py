"""Dumps of PyTorch's flight recorder, each standing for one trap."""

import json
import pickle
import re
from pathlib import Path

import pytest

from netsim.errors import InputError
from netsim.traces import Trace, read
from tests.inputs import refusal, saved
from tests.traces.operations import sizes
from tests.traces.torch.pytorch_files import Json, entry, recorder


def dump(folder: Path, rank: int, entries: list[Json], ranks: str = "[0, 1]") -> Path:
    return saved(folder / f"nccl_trace_rank_{rank}", json.dumps(recorder(rank, entries, ranks)))


def job(folder: Path, *ranks: list[Json]) -> Trace:
    return read([dump(folder, rank, entries) for rank, entries in enumerate(ranks)])


def one(folder: Path, *entries: Json) -> Trace:
    return read(dump(folder, 0, list(entries)), fill_missing_ranks=True)


def test_rank_stands_in_the_name_and_ranks_of_a_group_in_a_text(tmp_path: Path) -> None:
    trace = read([dump(tmp_path, rank, [entry(1)], "[3, 1]") for rank in (3, 1)])
    assert trace.ranks == 4
    assert trace.operations[0].ranks == (3, 1)
    assert trace.report.seen == (1, 3)


def test_oldest_calls_fall_out_at_another_place_on_each_rank(tmp_path: Path) -> None:
    entries = [entry(seq, sizes=[[10 * seq]]) for seq in (1, 2, 3)]
    trace = job(tmp_path, entries, entries[1:])
    assert sizes(trace) == [("all_reduce", 40), ("all_reduce", 80), ("all_reduce", 120)]
    (finding,) = trace.report.findings
    assert "all_reduce of 40 bytes" in finding
    assert "reported by 1 of 2 ranks only" in finding


def test_calls_of_equal_size_are_not_shifted_by_what_fell_out(tmp_path: Path) -> None:
    trace = job(tmp_path, *([entry(seq) for seq in range(first, 5)] for first in (1, 2)))
    starts = [each.recorded_start_ps for each in trace.operations]
    assert starts == [0, 1_000_000_000, 2_000_000_000, 3_000_000_000]  # joined by turn, ranks were 1 ms apart


def test_coalesced_calls_share_a_number(tmp_path: Path) -> None:
    both = [entry(1, "nccl:_all_gather_base", [[2]]), entry(1, "nccl:_all_gather_base", [[5]])]
    for each in both:
        each["output_sizes"] = [[2 * each["input_sizes"][0][0]]]
    trace = job(tmp_path, *[[*both, entry(2, "nccl:coalesced", [])]] * 2)
    assert sizes(trace) == [("all_gather", 16), ("all_gather", 40)]
    assert trace.report.skipped == {"entries that end a group": 2}


def test_transfers_of_one_number_start_together(tmp_path: Path) -> None:
    names = [(f"nccl:send {rank}->{1 - rank}", f"nccl:recv {rank}<-{1 - rank}") for rank in (0, 1)]
    ranks = [[entry(0, name, [[8]], is_p2p=True, p2p_seq_id=7) for name in both] for both in names]
    (operation,) = job(tmp_path, *ranks).operations
    assert operation.op == "flows"
    assert sorted(operation.flows) == [(0, 1, 32), (1, 0, 32)]


def test_durations_are_kept_and_gaps_computed_only_where_they_are(tmp_path: Path) -> None:
    trace = job(tmp_path, *[[entry(seq, duration_ms=0.25) for seq in (1, 2)]] * 2)
    assert [each.recorded_duration_ps for each in trace.operations if each.op == "all_reduce"] == [250_000_000] * 2
    (compute,) = (each for each in trace.operations if each.op == "compute")
    assert (compute.ranks, compute.duration_ps) == ((0, 1), 750_000_000)
    plain = job(tmp_path, *[[entry(seq) for seq in (1, 2)]] * 2)
    assert [each.op for each in plain.operations] == ["all_reduce"] * 2
    assert any("TORCH_NCCL_ENABLE_TIMING=1" in note for note in plain.report.assumed)


def test_gloo_names_no_ranks_so_who_calls_on_a_group_is_in_it(tmp_path: Path) -> None:
    paths = []
    for rank in range(4):
        own = entry(1, "gloo:all_reduce", process_group=[str(1 + rank // 2), "tp"])
        paths.append(dump(tmp_path, rank, [entry(1, "gloo:all_reduce", [[9]]), own], "[]"))
    trace = read(paths)
    called = sorted((each.bytes, each.ranks) for each in trace.operations)
    assert called == [(16, (0, 1)), (16, (2, 3)), (36, (0, 1, 2, 3))]
    assert any("process group '2' is taken as of the ranks that call on it (2, 3)" in each for each in trace.notes)


def test_group_larger_than_what_reports_is_refused(tmp_path: Path) -> None:
    gather = entry(1, "gloo:all_gather", [[4]], process_group=["7", "dp"])
    gather["output_sizes"] = [[16]]
    with pytest.raises(InputError, match="process group '7' has 4 ranks, of which 1 report"):
        read(dump(tmp_path, 0, [gather], "[]"), partial=True)


def test_tensors_of_a_call_are_added_up(tmp_path: Path) -> None:
    several = entry(1, sizes=[[2, 3], [5], []])
    several["input_dtypes"] = ["Float", "Half", "Double"]
    assert sizes(one(tmp_path, several)) == [("all_reduce", 24 + 10 + 8)]


def test_pickle_and_json_of_one_dump_say_the_same(tmp_path: Path) -> None:
    entries = [entry(1), entry(2, "nccl:broadcast", [[3, 4]])]
    for each in entries:
        each["process_group"] = tuple(each["process_group"])
        each |= {"time_discovered_started_ns": None, "frames": [{"name": "f", "filename": "x.py", "line": 3}]}
    path = saved(tmp_path / "dump_rank0.pickle", pickle.dumps(recorder(0, entries), protocol=2))
    packed = read(path, fill_missing_ranks=True)
    assert sizes(packed) == [("all_reduce", 16), ("broadcast", 48)]
    assert sizes(packed) == sizes(one(tmp_path, *entries))


class Hostile:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("pwned",))


def test_hostile_pickle_is_refused_and_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path / "dump_rank0", pickle.dumps({"entries": [Hostile()]}, protocol=2))
    assert re.search(r"asks for more than plain data \(GLOBAL at byte \d+\)", refusal(read, path))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [[1, 2], {"entries": 7}, {}])
def test_pickle_of_something_else(tmp_path: Path, content: object) -> None:
    whole = {"x": content} if isinstance(content, list) else content
    path = saved(tmp_path / "dump_rank0", pickle.dumps(whole, protocol=2))
    assert re.search(r"dump_rank0: (is a pickle, but not|there is no collective)", refusal(read, path))


def test_dump_as_python_prints_it_is_told_from_the_file(tmp_path: Path) -> None:
    text = json.dumps(recorder(0, [entry(1)]), indent=2)
    printed = text.replace(
        '"process_group": [\n        "0",\n        "default_pg"\n      ]', '"process_group": ("0", "x")'
    )
    assert printed != text
    path = saved(tmp_path / "printed_rank0", printed)
    assert re.search(r"printed_rank0:\d+: this is not JSON .*as Python prints it", refusal(read, path))


def test_dump_cut_before_its_groups_is_refused(tmp_path: Path) -> None:
    path = dump(tmp_path, 0, [entry(1), entry(2)])
    path.write_text(path.read_text()[: path.read_text().index('"pg_config"')])
    assert "ends in the middle, and what is left does not tell the ranks" in refusal(read, path, partial=True)


def test_entries_that_tell_too_little_are_counted(tmp_path: Path) -> None:
    bad = [entry(2, profiling_name=None), entry(3, input_sizes="x"), entry(4, "nccl:mystery")]
    trace = one(tmp_path, entry(1), *bad)
    assert len(trace.operations) == 1
    without = ("entries without a name or a group", "entries without sizes", "entries of no operation")
    assert trace.report.skipped == dict.fromkeys(without, 1)
