"""PyTorch profiler traces of several ranks and groups, each standing for one trap."""

import re
from pathlib import Path

from netsim.traces import read
from tests.inputs import refusal, saved
from tests.traces.torch.pytorch_files import AR, US, Json, call, job, kernel, kineto, network, one


def test_list_of_ranks_cut_off_in_a_call_is_taken_from_the_list_of_groups(tmp_path: Path) -> None:
    listed = {"Process Group Ranks": "[0, 1, 2, ..., ...]", "Group size": 40}
    big = kernel(1, 2, name="allreduce", sent=4, pg="big", **listed)
    path = kineto(tmp_path, 0, [big], pgs={"big": list(range(0, 80, 2))}, world=80)
    trace = read(path, fill_missing_ranks=True)
    assert trace.ranks == 80
    assert network(trace)[0].ranks == tuple(range(0, 80, 2))


def test_older_calls_tell_first_rank_and_step(tmp_path: Path) -> None:
    group = {"Global rank start": 1, "Global rank stride": 2, "Process Group Ranks": "[1, 3, ...]", "Group size": 3}
    recorded = kernel(1, 2, name="allreduce", sent=4, pg="dp", **group)
    trace = read(kineto(tmp_path, 3, [recorded], pgs=None, world=8), fill_missing_ranks=True)
    assert (trace.ranks, network(trace)[0].ranks) == (8, (1, 3, 5))


def test_ranks_are_joined_and_the_gap_is_computing(tmp_path: Path) -> None:
    late = [kernel(110, 20, **AR), kernel(230, 20, **AR)]
    trace = job(tmp_path, [kernel(100, 30, **AR), kernel(200, 50, **AR)], late)
    assert trace.ranks == 2
    assert [(each.op, each.ranks, each.duration_ps // US) for each in trace.operations] == [
        ("compute", (1,), 10),
        ("all_reduce", (0, 1), 0),
        ("compute", (0,), 70),
        ("compute", (1,), 100),
        ("all_reduce", (0, 1), 0),
    ]
    times = [(each.recorded_start_ps, each.recorded_duration_ps) for each in network(trace)]
    assert times == [(10 * US, 20 * US), (130 * US, 20 * US)]


def test_clocks_of_hosts_are_set_by_the_ends_of_collectives(tmp_path: Path) -> None:
    hour = 3_600_000_000
    ahead = [kernel(hour + 110, 20, **AR), kernel(hour + 230, 20, **AR)]
    trace = job(tmp_path, [kernel(100, 30, **AR), kernel(200, 50, **AR)], ahead)
    assert max(each.duration_ps for each in trace.operations) == 100 * US
    assert any("clocks of ranks differ by up to 3,600,000,000 us" in note for note in trace.notes)


def test_clocks_are_set_through_a_rank_that_two_groups_share(tmp_path: Path) -> None:
    """Clocks are 0, 2 and 1 hours ahead; ranks 0 and 1 meet only with 2, whose second call ends 100 us later."""
    hour = 3_600_000_000
    near, far = AR | {"pg": "near"}, AR | {"pg": "far"}
    pgs = {"near": [0, 2], "far": [1, 2]}
    events = {
        0: [kernel(100, 20, **near)],
        1: [kernel(2 * hour + 200, 20, **far)],
        2: [kernel(hour + 100, 20, **near), kernel(hour + 200, 20, **far)],
    }
    trace = read([kineto(tmp_path, rank, own, pgs=pgs, world=3) for rank, own in events.items()])
    assert [(each.ranks, each.recorded_start_ps) for each in network(trace)] == [((0, 2), 0), ((1, 2), 100 * US)]
    assert {each.duration_ps for each in trace.operations if each.op == "compute"} == {80 * US, 100 * US}


def test_two_files_of_one_rank_are_refused(tmp_path: Path) -> None:
    first = kineto(tmp_path, 0, [kernel(1, 2, **AR)])
    again = saved(tmp_path / "again.json", first.read_bytes())
    assert re.search(r"again.json: is of rank 0, and so is .*trace.rank0.json", refusal(read, [first, again]))


def test_ranks_that_disagree_are_a_finding_with_the_line_of_the_event(tmp_path: Path) -> None:
    trace = job(tmp_path, [kernel(1, 2, **AR)], [kernel(9, 2, **AR), kernel(1, 2, name="broadcast", sent=3)])
    text = (tmp_path / "trace.rank1.json").read_text().splitlines()
    (finding,) = [each for each in trace.report.findings if "broadcast" in each]
    line = int(finding.split(":")[1])
    assert "{" in text[line - 1]
    assert '"ts": 1,' in "".join(text[line - 1 : line + 9])


def test_group_that_does_not_hold_the_rank_is_refused(tmp_path: Path) -> None:
    path = kineto(tmp_path, 5, [kernel(1, 2, **AR)], world=8)
    assert "rank 5 calls on process group '0', which is said to hold other ranks" in refusal(read, path)


def test_exchange_of_a_pipeline_is_joined_by_the_global_rank_of_the_peer(tmp_path: Path) -> None:
    pp = {"pp": [4, 6]}
    sent = kernel(10, 5, "SendRecv", name="send", sent=100, pg="pp", **{"Dst Rank": 6, "Rank": 1})
    got = kernel(12, 3, "SendRecv", name="recv", sent=100, pg="pp", **{"Src Rank": 4, "Rank": 0})
    trace = read([kineto(tmp_path, 4, [sent], pp, 8), kineto(tmp_path, 6, [got], pp, 8)])
    (operation,) = network(trace)
    assert (operation.op, operation.src, operation.dst, operation.bytes) == ("send", 4, 6, 400)
    assert operation.recorded_duration_ps == 3 * US


def test_send_without_a_peer_is_skipped_and_counted(tmp_path: Path) -> None:
    trace = one(tmp_path, kernel(1, 2, **AR), kernel(9, 2, op="SendRecv", name="send", sent=5))
    assert [each.op for each in network(trace)] == ["all_reduce"]
    assert trace.report.skipped == {"send without its other end": 1}


def uneven(splits: str) -> Json:
    return kernel(1, 2, "SendRecv", name="all_to_allv", sent=40, **{"In split size": splits})


def test_uneven_all_to_all_is_a_matrix_of_rows_in_bytes(tmp_path: Path) -> None:
    (operation,) = network(job(tmp_path, [uneven("[1, 3]")], [uneven("[2, 2]")]))
    assert operation.op == "all_to_all_v"
    assert operation.sizes == ((40, 120), (80, 80))
    assert operation.bytes == 160


def test_missing_rows_of_an_uneven_all_to_all_are_the_known_one_turned(tmp_path: Path) -> None:
    (operation,) = network(one(tmp_path, uneven("[1, 3]")))
    assert operation.sizes == ((40, 120), (120, 40))


def transfer(ts: float, op: str, peer: int, seq: int = 3) -> Json:
    ends = {"Dst Rank" if op == "send" else "Src Rank": peer, "Rank": peer, "Seq": seq}
    return call(ts, 1, name=op, sent=100, **ends)


def test_exchange_in_one_kernel_is_taken_from_its_calls(tmp_path: Path) -> None:
    """A batch of sends and receives is one kernel, which tells of one of them at most."""
    ranks = []
    for peer in (1, 0):
        both = [transfer(1, "send", peer), transfer(3, "recv", peer)]
        together = kernel(20, 5, op="SendRecv")
        together["args"] |= both[0]["args"]
        ranks.append([*both, call(9, **AR), together, kernel(40, 5, **AR)])
    trace = job(tmp_path, *ranks)
    exchange, reduced = network(trace)
    assert (exchange.op, sorted(exchange.flows)) == ("flows", [(0, 1, 400), (1, 0, 400)])
    assert exchange.recorded_duration_ps is None
    assert reduced.recorded_duration_ps == 5 * US
    assert any("taken from their calls" in note for note in trace.report.assumed)
    assert not trace.report.findings


def test_transfers_of_two_numbers_follow_one_another(tmp_path: Path) -> None:
    first = [transfer(30, "send", 1, 3), transfer(40, "recv", 1, 4)]
    second = [transfer(30, "recv", 0, 3), transfer(40, "send", 0, 4)]
    assert [(each.op, each.src) for each in network(job(tmp_path, first, second))] == [("send", 0), ("send", 1)]
