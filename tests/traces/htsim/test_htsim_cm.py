"""htsim's connection matrices: each small file holds one trap."""

from pathlib import Path

import pytest

from netsim.traces import Trace, format_of, read
from tests.inputs import check_refusal, refusal, saved

Waits = list[tuple[int, ...]]  # of each flow, the flows that it waits for


def matrix(folder: Path, text: str) -> Trace:
    return read(saved(folder / "small.cm", text))


def chained(folder: Path, flows: str, *triggers: str, nodes: int = 8) -> Trace:
    """A matrix whose header counts its lines."""
    lines = [line.strip() for line in flows.strip().splitlines()]
    header = f"Nodes {nodes}\nConnections {len(lines)}\nTriggers {len(triggers)}\n"
    return matrix(folder, header + "\n".join([*lines, *(f"trigger {each}" for each in triggers)]) + "\n")


def waits(trace: Trace) -> Waits:
    (operation,) = trace.operations
    return [turn.after for turn in operation.turns] or [()] * len(operation.flows)


def test_a_plain_matrix(tmp_path: Path) -> None:
    trace = matrix(tmp_path, "Nodes 4\nConnections 2\n0->2 start 0 size 100\n3->1 start 0 size 7\n")
    assert (trace.name, trace.ranks, trace.notes) == ("small", 4, ())
    (operation,) = trace.operations
    assert (operation.op, operation.ranks, operation.bytes) == ("flows", (0, 1, 2, 3), 107)
    assert operation.flows == ((0, 2, 100), (3, 1, 7))
    assert operation.turns == ()


STARTS = ("Nodes 4", "# a comment\n\nNodes 4", "Connections 1", "0->1 start 0 size 5", "\ufeffNodes 4", "  Nodes\t4")


@pytest.mark.parametrize("start", STARTS)
def test_content_tells_a_matrix(tmp_path: Path, start: str) -> None:
    assert format_of(saved(tmp_path / "nameless", f"{start}\n")) == "htsim_cm"


@pytest.mark.parametrize("start", ["node1:1:1 [0] NCCL INFO Bootstrap\n", '{"netsim": 1}\n', "Nodes\n", "0 -> 1\n"])
def test_other_content_is_no_matrix(tmp_path: Path, start: str) -> None:
    assert format_of(saved(tmp_path / "nameless.cm", start)) != "htsim_cm"


def test_a_start_is_in_picoseconds_and_may_be_a_fraction(tmp_path: Path) -> None:
    starts = ("5000000", "5000000.9", "5e6", "1234567890123456789")
    trace = chained(tmp_path, "\n".join(f"{n}->7 start {start} size 5" for n, start in enumerate(starts)))
    assert [turn.start_ps for turn in trace.operations[0].turns] == [5_000_000] * 3 + [1_234_567_890_123_456_789]


def test_keys_stand_in_any_order_and_a_priority_is_told(tmp_path: Path) -> None:
    trace = chained(tmp_path, "0->1 size 5 prio 3 start 0 id 7")
    assert trace.operations[0].flows == ((0, 1, 5),)
    assert trace.notes == ("1 flows have a prio, which is not used",)


SENT, ARRIVED = "start 0 send_done_trigger 1", "start 0 recv_done_trigger 1"  # what fires the trigger
NEXT = "trigger 1"
TRIGGERED = {  # flows, trigger, the flows that each waits for, the note
    "what a receiver gets starts what it sends": (
        [f"0->1 {ARRIVED}", f"1->2 {NEXT}", f"1->3 {NEXT}"], "oneshot", [(), (0,), (0,)], "",
    ),
    "what a sender has acknowledged starts what it sends next": (
        [f"0->1 {SENT}", f"0->2 {NEXT}"], "oneshot", [(), (0,)], "",
    ),
    "a release by an acknowledgement at the receiver is told": (
        [f"0->1 {SENT}", f"1->2 {NEXT}"], "oneshot", [(), (0,)], "1 flows start when the awaited data has arrived",
    ),
    "a release by an arrival at the sender is told": (
        [f"0->1 {ARRIVED}", f"0->2 {NEXT}"], "oneshot", [(), (0,)],
        "1 flows start when the awaited data is acknowledged",
    ),
    "a barrier waits for all": (
        [f"1->0 {ARRIVED}", f"2->0 {ARRIVED}", f"0->3 {SENT}", f"0->5 {NEXT}", f"0->6 {NEXT}"], "barrier count 3",
        [(), (), (), (0, 1, 2), (0, 1, 2)], "",
    ),
    "a flow may fire a barrier at both ends": (
        [f"1->0 {SENT} recv_done_trigger 1", f"1->3 {NEXT}"], "barrier count 2", [(), (0,)],
        "1 flows start when the awaited data is acknowledged",
    ),
    "a multishot starts one at a time": (
        [f"0->1 {SENT}", f"0->2 {SENT}", f"0->3 {SENT}", f"0->4 {NEXT}", f"0->5 {NEXT}"], "multishot",
        [(), (), (), (0,), (1,)], "2 flows of a multishot trigger",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("flows", "trigger", "after", "note"), TRIGGERED.values(), ids=TRIGGERED)
def test_triggered_flows_wait(tmp_path: Path, flows: list[str], trigger: str, after: Waits, note: str) -> None:
    numbered = [f"{flow} id {number} size 5" for number, flow in enumerate(flows)]
    trace = chained(tmp_path, "\n".join(numbered), f"id 1 {trigger}")
    assert waits(trace) == after
    assert len(trace.notes) == bool(note)
    assert "".join(trace.notes).startswith(note)


def test_triggers_may_stand_before_the_flows_and_start_nothing(tmp_path: Path) -> None:
    text = "Nodes 4\nTriggers 1\nConnections 1\ntrigger id 3 oneshot\n0->1 start 0 size 5 recv_done_trigger 3\n"
    assert waits(matrix(tmp_path, text)) == [()]


@pytest.mark.parametrize(
    ("flows", "channels"),
    [
        (["0->1", "0->1", "1->0", "0->1"], [0, 1, 0, 2]),
        (["0->1 id 1 msg", "0->1 id 1 msg 2", "0->1 id 2 msg", "0->1 id 3"], [0, 0, 1, 2]),  # messages of one id
    ],
)
def test_flows_of_the_same_nodes_have_own_queue_pairs(tmp_path: Path, flows: list[str], channels: list[int]) -> None:
    trace = chained(tmp_path, "\n".join(f"{flow} start 0 size 5" for flow in flows))
    assert [turn.channel for turn in trace.operations[0].turns] == channels


def test_too_many_flows_of_a_pair_share_queue_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.traces.htsim.cm.MAX_QUEUE_PAIRS", 2)
    trace = chained(tmp_path, "0->1 start 0 size 5\n0->1 start 0 size 6\n0->1 start 0 size 7")
    assert [turn.channel for turn in trace.operations[0].turns] == [0, 1, 0]
    assert trace.notes[0].startswith("1 flows share the")


HEAD = "Nodes 4\nConnections 1\n"


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ("0->1 start 0 sise 5", "a flow has no key 'sise'; did you mean 'size'?"),
        ("0->1 start 0 size", "size must be a whole number, not ''"),
        ("0->1 start 0 size 5.5", "size must be a whole number, not '5.5'"),
        ("0->1 start 0 size 0", "a flow has size 0: to htsim a size of 0 means without end"),
        (f"0->1 start 0 size {1 << 51}", "give 1 to"),
        ("0->1 start 0", "a flow has no size"),
        ("0->1 size 5", "a flow has no start and no trigger"),
        ("0->1 start 0 trigger 1 size 5", "both a start and a trigger"),
        ("0->1 start 0 start 1 size 5", "start stands here twice"),
        ("0->1 start -1 size 5", "start must be a time in picoseconds, not '-1'"),
        ("0->1 start 1e99 size 5", "start must be a time in picoseconds"),
        ("0->1 start 5us size 5", "write for example start 1000000 for 1 us"),
        ("1->1 start 0 size 5", "from node 1 to itself"),
        ("1->-1 start 0 size 5", "'1->-1' does not name two nodes"),
        ("0->4 start 0 size 5", "node 4 is named, but the header says Nodes 4; name nodes from 0 to 3"),
    ],
)
def test_a_mistake_in_a_flow_names_its_line(tmp_path: Path, flow: str, said: str) -> None:
    check_refusal("small.cm:3: ", said, matrix, tmp_path, f"{HEAD}{flow}\n")


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (HEAD + "0->1 start 0 size 5\n1->0 start 0 size 5\n", ": ", "says Connections 1, but 2 are there"),
        (HEAD + "0->1 start 0 size 5\ntrigger id 1 oneshot\n", ": ", "says Triggers 0, but 1 are there"),
        (HEAD, ": ", "says Connections 1, but 0 are there"),
        ("Nodes 4\nConnections 0\n", ": ", "there is no flow"),
        ("Connections 1\n0->1 start 0 size 5\n", ": ", "there is no line Nodes"),
        ("Nodes 0\nConnections 1\n0->1 start 0 size 5\n", ": ", "Nodes must be between 1 and"),
        (HEAD + "Nodes 4\n", ":3: ", "Nodes must stand once"),
        ("Nodes 4 5\n", ":1: ", "Nodes must stand once, with one number"),
        ("Nodes 4\nConections 1\n", ":2: ", "cannot start with 'Conections'; did you mean 'Connections'?"),
        ("Nodes 4\nFailures 1\n", ": ", "failures are not simulated"),
        (HEAD + "failure switch_type TOR switch_id 0 link_id 1\n", ":3: ", "failures are not simulated"),
        (HEAD + "trigger oneshot\n", ":3: ", "a trigger needs an id and one of oneshot, multishot, barrier"),
        (HEAD + "trigger id 1\n", ":3: ", "a trigger needs an id"),
        (HEAD + "trigger id 1 barrier oneshot\n", ":3: ", "a trigger needs an id and one of"),
        (HEAD + "trigger id 1 oneshot\ntrigger id 1 oneshot\n", ":4: ", "trigger 1 is described twice"),
    ],
)
def test_a_mistake_names_its_line(tmp_path: Path, text: str, place: str, said: str) -> None:
    check_refusal(f"small.cm{place}", said, matrix, tmp_path, text)


CHAIN = "0->1 id 1 start 0 size 5 recv_done_trigger 1\n"


@pytest.mark.parametrize(
    ("flows", "trigger", "line", "said"),
    [
        ("0->1 id 1 trigger 1 size 5", "id 1 oneshot", 5, "trigger 1 is a oneshot, but 0 flows fire it"),
        (2 * CHAIN + "1->2 id 3 trigger 1 size 5", "id 1 oneshot", 7, "but 2 flows fire it; let one flow fire it"),
        (CHAIN + "1->2 id 3 trigger 1 size 5", "id 1 barrier count 2", 6, "counts to 2, but 1 flows fire it"),
        (CHAIN + "1->2 id 3 trigger 1 size 5", "id 1 barrier", 6, "counts to 0, but 1 flows fire it; write count 1"),
        (
            CHAIN + "1->2 id 3 trigger 1 size 5\n1->2 id 4 trigger 1 size 5",
            "id 1 multishot",
            7,
            "starts 2 flows one by one, but only 1 fire it",
        ),
        (
            CHAIN + "2->1 id 3 trigger 1 size 5",
            "id 1 oneshot",
            5,
            "the flow of line 5 waits for the flow of line 4, but starts at rank 2, where that one neither ends nor",
        ),
        ("0->1 id 1 trigger 1 size 5 send_done_trigger 1", "id 1 oneshot", 4, "the flow of line 4 waits for itself"),
        (CHAIN + "1->2 id 3 trigger 2 size 5", "id 1 oneshot", 5, "trigger 2 is used here but described nowhere"),
    ],
)
def test_a_trigger_that_cannot_work_is_refused(tmp_path: Path, flows: str, trigger: str, line: int, said: str) -> None:
    check_refusal(f"small.cm:{line}: ", said, chained, tmp_path, flows, trigger)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flows = "1->0 id 1 start 0 size 5 recv_done_trigger 1\n" * 2 + "0->2 id 3 trigger 1 size 5\n" * 2
    chained(tmp_path, flows, "id 1 barrier count 2")
    for module, limit, said in [
        ("htsim.cm", 3, "more than 3 flows"),
        ("htsim.triggers", 3, "wait for more than 3 others"),
    ]:
        with monkeypatch.context() as patch:
            patch.setattr(f"netsim.traces.{module}.MAX_CELLS", limit)
            assert said in refusal(chained, tmp_path, flows, "id 1 barrier count 2")
    assert "is longer than 4,096 bytes a line" in refusal(matrix, tmp_path, HEAD + "0->1 start 0 size " + 5000 * "1")
