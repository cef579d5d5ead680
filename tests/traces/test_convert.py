"""From format to format: operations, bytes and dependencies are kept."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings

from netsim.collectives import Request, plan
from netsim.config.builtin_inputs import names, path
from netsim.errors import InputError
from netsim.traces import Group, Operation, Trace, read
from netsim.traces.chakra.write import write_chakra
from netsim.traces.convert import WRITERS, as_flows, convert
from netsim.traces.trace import OPERATIONS
from netsim.units import LARGEST
from tests.inputs import refusal, saved
from tests.traces.test_trace_round_trip import traces
from tests.traffic import collective, compute, send

PLAIN = ("send", "flows", "compute")


def unplaced(trace: Trace) -> list[Operation]:
    """The operations, whatever line they stand on and in whatever order a flow lists what it waits for."""
    sort = [tuple(turn._replace(after=tuple(sorted(turn.after))) for turn in each.turns) for each in trace.operations]
    return [replace(each, line=0, turns=turns) for each, turns in zip(trace.operations, sort, strict=True)]


def there_and_back(trace: Trace, path: Path) -> Trace:
    return read(convert(trace, path).files)


@pytest.mark.parametrize("name", names("traces"))
def test_shipped_traces_come_back_from_chakra(name: str, tmp_path: Path) -> None:
    trace = read(path("traces", name))
    again = there_and_back(trace, tmp_path / "job.et")
    assert unplaced(again) == unplaced(trace)
    assert (again.ranks, again.notes) == (trace.ranks, ())


@settings(max_examples=60, deadline=None)
@given(traces())
@example(Trace("long", 1, {}, (compute(0, 10**18 + 1),)))
@example(Trace("longest", 1, {}, (compute(0, LARGEST),)))
def test_any_trace_comes_back_from_chakra(trace: Trace) -> None:
    short = tuple(each for each in trace.operations if each.op != "all_to_all_v")
    trace = replace(trace, operations=short)
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = write_chakra(trace, Path(folder) / "job.et")
        except InputError as error:  # a matrix may wait in a cycle
            assert "cycle" in str(error)
            return
        again = read(files)
    assert unplaced(again) == unplaced(trace)


SCHEDULES = ("all_reduce ring", "all_reduce tree", "all_gather ring", "broadcast tree", "all_to_all pairwise")


@pytest.mark.parametrize(("op", "algorithm"), [each.split() for each in SCHEDULES], ids=SCHEDULES)
@pytest.mark.parametrize("end", ["goal", "bin", "cm"])
def test_collectives_become_flows_that_wait(op: str, algorithm: str, end: str, tmp_path: Path) -> None:
    """The schedule itself is the truth: who sends how much to whom, after what."""
    schedule = plan(Request(op=op, ranks=8, bytes=1 << 20), algorithm)
    made = convert(collective(op, 8, 1 << 20), tmp_path / f"job.{end}", algorithms={op: algorithm})
    (operation,) = read(tmp_path / f"job.{end}").operations
    rows = list(zip(schedule.source.tolist(), schedule.target.tolist(), schedule.bytes.tolist(), strict=True))
    assert sorted(operation.flows) == sorted(rows)
    assert made.trace.operations[0].flows == tuple(rows)
    turns = [turn.after for turn in operation.turns] or [()] * len(rows)
    waits = sorted(
        (flow, sorted(operation.flows[each] for each in after))
        for flow, after in zip(operation.flows, turns, strict=True)
    )
    wanted = sorted((flow, sorted(rows[each] for each in schedule.predecessors(row))) for row, flow in enumerate(rows))
    assert waits == wanted


@pytest.mark.parametrize("end", ["goal", "bin"])
def test_what_is_done_in_turn_stays_in_turn(end: str, tmp_path: Path) -> None:
    others = send(1, 2, 8, stream="other", after=(0,)), send(1, 2, 9, stream="free")
    trace = Trace("job", 3, {}, (send(0, 1, 5), compute(1, 9_000), send(1, 2, 7), *others))
    again = there_and_back(trace, tmp_path / f"job.{end}")
    place = {each.bytes: number for number, each in enumerate(again.operations)}
    computing = again.operations[place[0]]
    assert (computing.duration_ps, computing.ranks) == (9_000, (1,))
    behind = {(last, first) for last in place for first in place if _is_behind(again, place[last], place[first])}
    assert {(0, 5), (7, 0), (8, 5)} <= behind
    assert not {(8, 0), (9, 5)} & behind


def _is_behind(trace: Trace, later: int, earlier: int) -> bool:
    """Whether an operation waits for another, by its stream or by what it names, on the way or at once."""
    operation = trace.operations[later]
    direct = {
        number
        for number, each in enumerate(trace.operations[:later])
        if number in operation.after
        or (each.stream == operation.stream and {*each.ranks} & {operation.src if operation.op == "send" else 1})
    }
    return earlier in direct or any(_is_behind(trace, number, earlier) for number in direct)


def test_a_matrix_keeps_its_triggers(tmp_path: Path) -> None:
    text = """Nodes 8
Connections 4
Triggers 2
1->0 id 1 start 5 size 5 recv_done_trigger 1
2->0 id 2 start 0 size 6 recv_done_trigger 1
0->3 id 3 trigger 1 size 7 send_done_trigger 2
0->4 id 4 trigger 2 size 8
trigger id 1 barrier count 2
trigger id 2 oneshot
"""
    first = read(saved(tmp_path / "a.cm", text))
    again = there_and_back(first, tmp_path / "b.cm")
    assert again.operations[0].flows == first.operations[0].flows
    turns = [[(turn.start_ps, turn.after) for turn in each.operations[0].turns] for each in (first, again)]
    assert turns[0] == turns[1]


def test_a_chain_of_collectives_is_one_of_triggers(tmp_path: Path) -> None:
    trace = collective("all_reduce", 4, 4096)
    trace = replace(trace, operations=trace.operations * 2)
    made = convert(trace, tmp_path / "job.cm")
    assert any("do not wait for earlier operations as well" in note for note in made.notes)
    (operation,) = read(tmp_path / "job.cm").operations
    half = len(operation.flows) // 2
    firsts = [number for number, turn in enumerate(operation.turns) if not turn.after]
    assert len(firsts) == 4  # the first step of the first ring alone waits for nothing
    assert half * 2 == len(operation.flows) == 2 * 24


def test_what_a_matrix_cannot_hold_is_told_or_refused(tmp_path: Path) -> None:
    made = convert(Trace("job", 2, {}, (compute(0, 5), send(0, 1, 5))), tmp_path / "job.cm")
    assert any(note.startswith("1 computations") for note in made.notes)
    with pytest.raises(InputError, match=r"wait for partly the same flows.*no barrier"):
        convert(collective("barrier", 8, 0), tmp_path / "barrier.cm")
    assert not (tmp_path / "barrier.cm").exists()


def test_an_uneven_all_to_all_goes_to_chakra_as_flows(tmp_path: Path) -> None:
    sizes = ((0, 1), (2, 0))
    trace = Trace("job", 2, {}, (Operation("all_to_all_v", "world", (0, 1), 2, sizes=sizes),))
    made = convert(trace, tmp_path / "job.et")
    assert made.notes == ("1 all_to_all_v became flows",)
    (operation,) = read(made.files).operations
    assert sorted(operation.flows) == [(0, 1, 1), (1, 0, 2)]


def test_flows_and_what_they_wait_for_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of 4 ranks: 2 x 3 steps of 4 flows, of which all but the first 4 wait for one: 24 + 20 cells."""
    trace = collective("all_reduce", 4, 4096)
    monkeypatch.setattr("netsim.traces.convert.MAX_CELLS", 44)
    (operation,) = as_flows(trace, PLAIN, {"all_reduce": "ring"})[0].operations
    assert (len(operation.flows), sum(len(turn.after) for turn in operation.turns)) == (24, 20)
    monkeypatch.setattr("netsim.traces.convert.MAX_CELLS", 43)
    assert "more than 43 flows" in refusal(as_flows, trace, PLAIN, {"all_reduce": "ring"})


def test_a_chunk_cuts_flows() -> None:
    whole, _ = as_flows(collective("broadcast", 8, 1 << 20), PLAIN, {})
    cut, _ = as_flows(collective("broadcast", 8, 1 << 20), PLAIN, {}, chunk=1 << 16)
    assert len(cut.operations[0].flows) > len(whole.operations[0].flows)
    assert cut.operations[0].bytes == whole.operations[0].bytes == 7 << 20


def test_a_group_of_one_sends_nothing_but_keeps_its_turn(tmp_path: Path) -> None:
    alone = Group("alone", (1,))
    operations = (send(0, 1, 5), Operation("all_reduce", "alone", (1,), 64), send(1, 0, 6))
    trace = Trace("job", 2, {"alone": alone}, operations)
    (operation,) = there_and_back(trace, tmp_path / "job.goal").operations
    assert operation.flows == ((0, 1, 5), (1, 0, 6))
    assert [turn.after for turn in operation.turns] == [(), (0,)]


def test_the_format_is_told_by_the_name_or_named(tmp_path: Path) -> None:
    trace = collective("all_reduce", 8, 64)
    with pytest.raises(InputError, match=r"its name does not tell the format; end it with one of .jsonl, .et"):
        convert(trace, tmp_path / "job.txt")
    assert "did you mean 'chakra'" in refusal(convert, trace, tmp_path / "job.txt", to="chakar")
    assert convert(trace, tmp_path / "job.txt", to="goal").format == "goal"
    assert convert(trace, tmp_path / "job.jsonl.gz").format == "native"
    assert all(set(writer.has) <= set(OPERATIONS) for writer in WRITERS.values())


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = saved(tmp_path / "job.goal", "as it was")
    trace = collective("gather", 8, 8)
    assert "unknown algorithm" in refusal(convert, trace, target, algorithms={"gather": "ring"})
    assert target.read_text() == "as it was"
    convert(trace, target)
    assert target.read_text().startswith("num_ranks 8")
    assert [each.name for each in tmp_path.iterdir()] == ["job.goal"]  # no temporary file is left
    assert "cannot be written" in refusal(convert, trace, tmp_path / "missing" / "job.goal")
