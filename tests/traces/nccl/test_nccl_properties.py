"""Any interleaving, any prefix and any cut of a valid log gives the same collectives or fewer, never different ones."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.traces import Trace
from tests.traces.nccl.nccl_lines_of import call, init, world
from tests.traces.test_every_format import attempt

RANKS = 4
COLLECTIVES = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "AlltoAll")
PREFIXES = ("", "2: ", "[1,3]<stdout>:", "(RayWorker pid=7, ip=10.0.0.1) ", "> ", "17:", "[rank0]: ", "│ ", "gpu1505: ")

Step = tuple[str, int, bool]  # operation, count, on the pairs rather than on the world
STEPS = st.lists(st.tuples(st.sampled_from(COLLECTIVES), st.integers(1, 1000), st.booleans()), min_size=1, max_size=8)


def lines_of(rank: int, steps: list[Step]) -> list[str]:
    """The lines of one rank: it enters the world and a pair, then calls."""
    pair, position = divmod(rank, 2)
    lines = [world(RANKS)[rank], init(100 + rank, 0xB0 + rank, position, 2, f"0x{pair}9")]
    turns = {True: 0, False: 0}
    for op, count, on_pair in steps:
        comm, size = (0xB0 + rank, 2) if on_pair else (0xA0 + rank, RANKS)
        lines.append(call(100 + rank, comm, size, op, count, turn=turns[on_pair]))
        turns[on_pair] += 1
    return lines


def recorded(trace: Trace | None) -> Counter[tuple[str, tuple[int, ...], int]]:
    return Counter((each.op, each.ranks, each.bytes) for each in trace.operations) if trace else Counter()


@st.composite
def interleaved(draw: st.DrawFn, steps: list[Step]) -> str:
    """The lines of all ranks in some order that keeps each rank's own, each behind some prefix."""
    waiting = [lines_of(rank, steps) for rank in range(RANKS)]
    prefix = draw(st.sampled_from(PREFIXES))
    text = ""
    while any(waiting):
        rank = draw(st.sampled_from([rank for rank in range(RANKS) if waiting[rank]]))
        text += f"{prefix}{waiting[rank].pop(0)}\n"
    return text


@settings(max_examples=60, deadline=None)
@given(st.data(), STEPS)
def test_any_interleaving_behind_any_prefix_is_the_same_job(data: st.DataObject, steps: list[Step]) -> None:
    in_turn = "\n".join(line for rank in range(RANKS) for line in lines_of(rank, steps))
    expected = recorded(attempt(in_turn.encode()))
    assert expected.total() == sum(2 if on_pair else 1 for _, _, on_pair in steps)
    assert recorded(attempt(data.draw(interleaved(steps)).encode())) == expected


@settings(max_examples=120, deadline=None)
@given(st.data(), STEPS)
def test_a_log_cut_anywhere_holds_the_same_collectives_or_fewer(data: st.DataObject, steps: list[Step]) -> None:
    whole = data.draw(interleaved(steps)).encode()
    expected = recorded(attempt(whole))
    content = whole[: data.draw(st.integers(0, len(whole)))]
    assert recorded(attempt(content)) <= expected
    sizes = Counter((op, len(ranks), size) for op, ranks, size in expected.elements())
    part = recorded(attempt(content, partial=True))
    assert Counter((op, len(ranks), size) for op, ranks, size in part.elements()) <= sizes


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 3))
def test_sends_of_a_log_cut_anywhere_move_no_more_than_the_whole_log(data: st.DataObject, rounds: int) -> None:
    lines = world(3)
    for turn in range(rounds):
        for rank in range(3):
            for peer in range(3):
                lines += [call(100 + rank, 0xA0 + rank, 3, kind, 10, root=peer, turn=turn) for kind in ("Send", "Recv")]
    whole = ("\n".join(lines) + "\n").encode()
    assert [each.op for each in (attempt(whole) or Trace("", 1, {}, ())).operations] == ["all_to_all"] * rounds
    trace = attempt(whole[: data.draw(st.integers(0, len(whole)))])
    moved: Counter[tuple[int, int]] = Counter()
    for each in trace.operations if trace else ():
        flows = each.flows or ((each.src, each.dst, each.bytes),)
        if each.op == "all_to_all":
            flows = tuple((one, other, 40) for one in range(3) for other in range(3) if one != other)
        for source, target, size in flows:
            moved[source, target] += size
    assert all(size <= 40 * rounds for size in moved.values())
