"""GOAL schedules: each small file holds one trap."""

from pathlib import Path

import pytest

from netsim.traces import Operation, Trace, Turn, format_of, read
from netsim.traces.goal.binary import HEAD, NODE, RANGE
from netsim.traces.goal.write import write_goal, write_goal_binary
from netsim.traces.trace import Flows
from tests.inputs import check_refusal, refusal, saved
from tests.traffic import compute, send


def goal(folder: Path, *ranks: str, head: str = "") -> Trace:
    """A schedule of the statements of each rank."""
    parts = [f"rank {number} {{\n{text}\n}}" for number, text in enumerate(ranks)]
    return read(saved(folder / "small.goal", [head or f"num_ranks {len(ranks)}", *parts]))


Waits = list[tuple[int, ...]]
FLOWS = {  # the statements of each rank, the flows, what each waits for
    "a send waits for what its rank receives": (
        ["send 5b to 1", "a: recv 5b from 0\nb: send 7b to 2 tag 3\nb requires a", "recv 7b from 1 tag 3"],
        ((0, 1, 5), (1, 2, 7)),
        [(), (0,)],
    ),
    "both may send before they receive": (
        [f"s: send 5b to {peer}\nr: recv 5b from {peer}\nr requires s" for peer in (1, 0)],
        ((0, 1, 5), (1, 0, 5)),
        [],
    ),
    "a rank goes on behind a receive that is ready only when the send before it has gone as well": (
        [
            "a: send 1b to 1\nb: recv 2b from 1\nb requires a\nc: send 3b to 2\nc requires b",
            *("recv 1b from 0\nsend 2b to 0", "recv 3b from 0"),
        ],
        ((0, 1, 1), (1, 0, 2), (0, 2, 3)),
        [(), (), (0, 1)],
    ),
    "a start is waited for by waiting for what it waits for": (
        [
            "a: recv 1b from 1\nb: send 2b to 1\nb requires a\nc: send 3b to 1 tag 1\nc irequires b",
            "send 1b to 0\nrecv 2b from 0\nrecv 3b from 0 tag 1",
        ],
        ((1, 0, 1), (0, 1, 2), (0, 1, 3)),
        [(), (0,), (0,)],
    ),
    "a calc of nothing only ties": (
        [
            "a: recv 1b from 1\nb:recv 2b from 2\nj: calc 0\nj requires a\nj requires b\nc: send 3b to 1\nc requires j",
            *("send 1b to 0\nrecv 3b from 0", "send 2b to 0"),
        ],
        ((1, 0, 1), (2, 0, 2), (0, 1, 3)),
        [(), (), (0, 1)],
    ),
}


@pytest.mark.parametrize(("ranks", "flows", "after"), FLOWS.values(), ids=FLOWS)
def test_flows_wait_for_what_their_rank_needs(tmp_path: Path, ranks: list[str], flows: Flows, after: Waits) -> None:
    trace = goal(tmp_path, *ranks)
    (operation,) = trace.operations
    assert (trace.name, trace.ranks, trace.notes) == ("small", len(ranks), ())
    assert (operation.flows, [turn.after for turn in operation.turns]) == (flows, after)


def test_comments_and_statements_stand_anywhere(tmp_path: Path) -> None:
    first = "rank 0{l1:send 5b to 1 tag 0 cpu 1 nic 2//x\n}"
    path = saved(tmp_path / "nameless", f"// first\nnum_ranks /* two\nranks */ 2 {first}rank 1 {{ recv 5 from 0 }}")
    assert format_of(path) == "goal"
    assert read(path).operations[0].flows == ((0, 1, 5),)


def test_both_that_receive_before_they_send_hang(tmp_path: Path) -> None:
    text = "r: recv 5b from {0}\ns: send 5b to {0}\ns requires r"
    assert "ranks wait for each other in a cycle" in refusal(goal, tmp_path, text.format(1), text.format(0))


def test_computing_makes_operations_on_streams(tmp_path: Path) -> None:
    trace = goal(
        tmp_path,
        "a: calc 7\nb: send 5b to 1\nb requires a\nc: send 6b to 1 tag 1",
        "a: recv 5b from 0\nb: calc 9\nb requires a\nrecv 6b from 0 tag 1",
    )
    first, behind, free, after = sorted(trace.operations, key=lambda each: (each.ranks[0], each.op, each.bytes))
    assert (first.duration_ps, after.duration_ps, after.ranks) == (7_000, 9_000, (1,))
    assert (behind.bytes, free.bytes) == (5, 6)
    assert behind.stream == first.stream == after.stream != free.stream
    assert {each.after for each in trace.operations} == {()}
    assert "calc counts nanoseconds" in trace.notes


def test_two_things_awaited_on_two_streams(tmp_path: Path) -> None:
    trace = goal(tmp_path, "a: calc 7\nb: calc 8\nc: send 5b to 1\nc requires a\nc requires b", "recv 5b from 0")
    *computes, sent = trace.operations
    assert [each.op for each in computes] == ["compute", "compute"]
    assert len({each.stream for each in computes}) == 2
    (other,) = sent.after
    assert computes[other].stream != sent.stream
    assert computes[1 - other].stream == sent.stream


def test_any_source_takes_the_first_that_fits(tmp_path: Path) -> None:
    trace = goal(tmp_path, "recv 5b from -1 tag -1\nrecv 6b from 2 tag 4", "send 5b to 0 tag 9", "send 6b to 0 tag 4")
    assert sorted(trace.operations[0].flows) == [(1, 0, 5), (2, 0, 6)]
    assert trace.notes == ("1 receives take from any source or tag: the first send that fits",)


@pytest.mark.parametrize(
    ("sender", "receiver", "said"),
    [
        ("send 5b to 1 tag 1", "calc 1", "1 sends that nobody receives, kept"),
        ("send 5b to 1 tag 1", "recv 5b from 0 tag 2", "1 receives that nobody sends to, left out"),
        ("send 5b to 1", "recv 6b from 0", "1 transfers of which sender and receiver give different sizes"),
        ("send 0b to 1", "recv 0b from 0", "1 transfers carry nothing: they count as one byte"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path: Path, sender: str, receiver: str, said: str) -> None:
    assert any(note.startswith(said) for note in goal(tmp_path, sender, receiver).notes)


@pytest.mark.parametrize(
    ("first", "line", "what"),
    [
        ("send 5b to 2", 3, "cannot send to rank 2"),
        ("send 5b to 0", 3, "cannot send to rank 0"),
        ("sned 5b to 1", 3, "'sned' is no statement; did you mean 'send'"),
        ("a: sned 5b to 1", 3, "did you mean 'send'"),
        ("a: calc 1\na: calc 1", 4, "the label 'a' stands there twice"),
        ("a: calc 1\na requires b", 4, "no label 'b'"),
        ("send 5x to 1", 3, "'5x'"),
        ("send 5b on 1", 3, "'on' stands where 'to' is needed"),
        ("send 99999999999999999b to 1", 3, "too much"),
        ("send 5b to 1 tag 1 tag 2", 3, "tag stands here twice"),
        ("a: calc 1\nb: calc 1\na requires b\nb requires a", 3, "waits for itself by way of others"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, first: str, line: int, what: str) -> None:
    check_refusal(f"small.goal:{line}: ", what, goal, tmp_path, first, "")


@pytest.mark.parametrize(
    "head", ["num_ranks 0", "num_ranks 999999999", "num_ranks 1 rank 0 {} rank 0 {}", "num_ranks 2 rank 5 {}"]
)
def test_ranks_must_exist(tmp_path: Path, head: str) -> None:
    assert "rank" in refusal(goal, tmp_path, head=head)


# --- binary -----------------------------------------------------------------------------------------------------------

EXCHANGE = Operation("flows", None, (1, 2), 30, flows=((1, 2, 10), (2, 1, 20)), turns=(Turn(), Turn(after=(0,))))
SMALL = Trace("small", 3, {}, (compute(0, 5_000), send(0, 1, 4096), EXCHANGE))


def test_text_and_binary_are_the_same(tmp_path: Path) -> None:
    text, binary = read(write_goal(SMALL, tmp_path / "job.goal")), read(write_goal_binary(SMALL, tmp_path / "job.bin"))
    said = [[(each.op, each.bytes, each.after) for each in trace.operations] for trace in (text, binary)]
    assert said[0] == said[1]
    sends = sorted((each.src, each.dst, each.bytes) for each in text.operations if each.op == "send")
    assert sends == [(0, 1, 4096), (1, 2, 10), (2, 1, 20)]


@pytest.mark.parametrize(
    ("at", "content", "what"),
    [
        (0, (2342).to_bytes(8, "little"), "not finished by txt2bin"),
        (8, (0).to_bytes(4, "little"), "is of 0 ranks"),
        (8, (1 << 30).to_bytes(4, "little"), "is of 1,073,741,824 ranks"),
        (8 + HEAD.size, (1 << 40).to_bytes(8, "little"), "holds rank 0 in bytes"),
        (8 + HEAD.size + 3 * RANGE.size, (1 << 31).to_bytes(4, "little"), "ends within rank 0"),
        (8 + HEAD.size + 3 * RANGE.size + 12 + 4, b"\x07", "a node of type 7"),
    ],
)
def test_a_damaged_binary_is_refused(tmp_path: Path, at: int, content: bytes, what: str) -> None:
    (path,) = write_goal_binary(SMALL, tmp_path / "job.bin")
    whole = path.read_bytes()
    path.write_bytes(whole[:at] + content + whole[at + len(content) :])
    assert what in refusal(read, path)
    assert NODE.size == 39  # packed, as txt2bin writes it
