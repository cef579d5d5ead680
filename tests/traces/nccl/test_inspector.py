"""Dumps of NCCL Inspector and traces of NCCL's profiler plugin, each standing for one trap."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from netsim.errors import InputError
from netsim.traces import read
from tests.inputs import refusal, saved
from tests.traces.operations import sizes
from tests.traces.torch.pytorch_files import Json, inspected

US = 1_000_000  # picoseconds
CALLS = [(sn, rank) for sn in (1, 2) for rank in (0, 1)]


def dump(folder: Path, objects: list[Json], name: str = "insp.log", indent: int | None = None) -> Path:
    return saved(folder / name, [json.dumps(each, indent=indent) for each in objects])


@pytest.mark.parametrize("indent", [None, 2])
def test_objects_on_a_line_or_indented(tmp_path: Path, indent: int | None) -> None:
    trace = read(dump(tmp_path, [inspected(rank, sn) for sn, rank in CALLS], indent=indent))
    assert sizes(trace) == [("all_reduce", 4096)] * 2
    assert [each.recorded_duration_ps for each in trace.operations] == [10 * US] * 2


@pytest.mark.parametrize("coll", ["AllGather", "ReduceScatter"])
def test_size_is_one_ranks_part(tmp_path: Path, coll: str) -> None:
    assert sizes(read(dump(tmp_path, [inspected(rank, 1, coll) for rank in (0, 1)])))[0][1] == 8192


def test_bandwidth_shows_that_a_size_is_already_of_all_ranks(tmp_path: Path) -> None:
    rate = 4096 / 10_000  # GB/s: bytes a nanosecond
    trace = read(dump(tmp_path, [inspected(rank, 1, "AllGather", coll_algobw_gbs=rate) for rank in (0, 1)]))
    assert sizes(trace) == [("all_gather", 4096)]
    assert any("as their bandwidth shows" in note for note in trace.notes)


def test_dump_is_a_sample_joined_by_number_not_by_turn(tmp_path: Path) -> None:
    mine = [inspected(0, sn, size=sn * 100) for sn in (1, 5, 9)]
    yours = [inspected(1, sn, size=sn * 100) for sn in (5, 9)]
    trace = read([dump(tmp_path, mine, "a"), dump(tmp_path, yours, "b")])
    assert sizes(trace) == [("all_reduce", 100), ("all_reduce", 500), ("all_reduce", 900)]
    assert any("6 collectives between those it holds" in note for note in trace.report.assumed)
    assert ["100 bytes is reported by 1 of 2 ranks" in each for each in trace.report.findings] == [True]


def test_collective_dumped_twice_is_one(tmp_path: Path) -> None:
    trace = read(dump(tmp_path, [inspected(rank, 1) for rank in (0, 1, 0)]))
    assert len(sizes(trace)) == 1
    assert trace.report.skipped == {"collectives that were dumped before": 1}


def test_verbose_dump_gives_starts_and_computing(tmp_path: Path) -> None:
    starts = {(sn, rank): {"coll_start_ts": 1000 + 100 * sn + rank, "kernel_events": []} for sn, rank in CALLS}
    trace = read(dump(tmp_path, [inspected(rank, sn, event_trace_ts=starts[sn, rank]) for sn, rank in CALLS]))
    assert [each.duration_ps for each in trace.operations if each.op == "compute"] == [90 * US]
    assert [each.recorded_start_ps for each in trace.operations if each.op != "compute"] == [0, 100 * US]


def test_missing_rank_is_refused_unless_filled_in(tmp_path: Path) -> None:
    path = dump(tmp_path, [inspected(1, 1)])
    assert re.search(r"insp.log:1: only 1 of 2 ranks .*\(not 0\)", refusal(read, path))
    assert sizes(read(path, fill_missing_ranks=True)) == [("all_reduce", 4096)]


def test_excerpts_of_two_communicators_of_one_size_are_one_job(tmp_path: Path) -> None:
    other = inspected(1, 4)
    other["header"]["id"] = "0xdef"
    trace = read(dump(tmp_path, [inspected(0, 1), other]), fill_missing_ranks=True)
    assert (trace.ranks, len(sizes(trace))) == (2, 2)


def test_two_groups_that_share_no_process_are_not_one(tmp_path: Path) -> None:
    trace = read(dump(tmp_path, [inspected(rank, 1, comm=comm) for comm in (0xA0, 0xA1) for rank in (0, 1)]))
    assert [each.ranks for each in trace.operations] == [(0, 1), (2, 3)]


def test_transfer_is_paired_by_its_peer(tmp_path: Path) -> None:
    ends = [
        {"p2p": name, "p2p_sn": 3, "p2p_peer": peer, "p2p_msg_size_bytes": 77}
        for name, peer in (("Send", 1), ("Recv", 0))
    ]
    objects = [{"header": inspected(rank, 1)["header"], "p2p_perf": end} for rank, end in enumerate(ends)]
    (operation,) = read(dump(tmp_path, objects)).operations
    assert (operation.op, operation.src, operation.dst, operation.bytes) == ("send", 0, 1, 77)


def test_objects_that_tell_too_little_are_counted(tmp_path: Path) -> None:
    strange = inspected(0, 1, "PutSignal")
    beyond = inspected(0, 2)
    beyond["header"]["rank"] = 9
    trace = read(dump(tmp_path, [inspected(rank, 1) for rank in (0, 1)] + [strange, beyond, {"header": 1}]))
    assert trace.report.skipped == {"objects that tell no whole collective": 3}


BARE = '{{"name": "{name}", "cat": "{cat}", "ph": "b", "id": {id}, "pid": {pid}, "tid": 1, "ts": {ts}, "args": {args}}}'
END = '{{"name": "", "cat": "{cat}", "ph": "e", "id": {id}, "pid": {pid}, "tid": 1, "ts": {ts}}}'


def profiled(rank: int, name: str = "AllReduce", cat: str = "COLL", ts: float = 10.5, **args: Any) -> str:
    recorded = {"SeqNum": 0, "CommHash": 5, "Rank": rank, "Count": 250, "Datatype": "ncclFloat32", **args}
    text = json.dumps(recorded).replace('"ncclFloat32"', "ncclFloat32")
    return BARE.format(name=name, cat=cat, id=0, pid=100 + rank, ts=ts, args=text)


def lines(folder: Path, *events: str, name: str = "prof.json") -> Path:
    return saved(folder / name, "[\n" + "".join(each + ",\n" for each in events))


def test_values_without_quotes_a_comma_too_many_and_no_end(tmp_path: Path) -> None:
    with_hex = BARE.format(name="KernelLaunch", cat="KERNEL_LAUNCH", id=0, pid=1, ts=0, args='{"Stream": 0x262ca50}')
    trace = read(lines(tmp_path, with_hex, profiled(0), profiled(1)))
    assert [(each.op, each.bytes, each.dtype) for each in trace.operations] == [("all_reduce", 1000, "fp32")]
    assert trace.report.skipped == {"events that are no collective or transfer": 1}


def test_end_of_an_event_gives_its_duration(tmp_path: Path) -> None:
    ends = [END.format(cat="COLL", id=0, pid=100 + rank, ts=10.5 + 4 + rank) for rank in (0, 1)]
    trace = read(lines(tmp_path, profiled(0), profiled(1), *ends))
    assert [each.recorded_duration_ps for each in trace.operations if each.op == "all_reduce"] == [4 * US]


def test_calls_of_the_interface_are_not_counted_again(tmp_path: Path) -> None:
    trace = read(lines(tmp_path, profiled(0, cat="COLL_API"), profiled(0), profiled(1)))
    assert len(sizes(trace)) == 1


def test_number_of_ranks_is_what_the_highest_asks_for(tmp_path: Path) -> None:
    trace = read(lines(tmp_path, *(profiled(rank, "AllGather") for rank in range(3))))
    assert sizes(trace) == [("all_gather", 3000)]
    assert any("does not tell how many ranks" in note for note in trace.report.assumed)


def test_unknown_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"prof.json:2: the type of data .* is none that netsim knows"):
        read(lines(tmp_path, profiled(0, Datatype="ncclFloat7")))


def test_a_header_that_stands_once_holds_for_what_follows(tmp_path: Path) -> None:
    objects = [inspected(0, 1), {"coll_perf": inspected(0, 2)["coll_perf"]}]
    objects += [{"header": inspected(1, 1)["header"]}, *({"coll_perf": inspected(1, sn)["coll_perf"]} for sn in (1, 2))]
    trace = read(dump(tmp_path, objects))
    assert sizes(trace) == [("all_reduce", 4096)] * 2
    assert trace.report.assumed[1] == "3 objects without a header are taken to go with the last one above them"
    assert not trace.report.skipped


def test_nothing_is_borrowed_before_the_first_header(tmp_path: Path) -> None:
    objects = [{"coll_perf": inspected(0, 1)["coll_perf"]}, inspected(0, 2), inspected(1, 2)]
    trace = read(dump(tmp_path, objects))
    assert sizes(trace) == [("all_reduce", 4096)]
    assert trace.report.skipped == {"objects that tell no whole collective": 1}
