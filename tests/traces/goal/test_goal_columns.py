"""Schedules in columns are joined as graphs of nodes are: `graphs/` does the same with an object for every node."""

from pathlib import Path
from random import Random

import pytest

from netsim.errors import InputError
from netsim.traces import Operation, Trace, read
from netsim.traces.goal.rank import Goal
from netsim.traces.goal.trace_of import trace_of
from netsim.traces.graphs.graph import ANY, Graph, Joiner, Node
from netsim.traces.graphs.graph_trace import operations
from tests.inputs import saved

RANKS = 4
PATH = Path("job.goal")
KIND = {"send": "send", "recv": "receive"}

Action = tuple[str, int, int, int, list[tuple[int, bool]]]  # word, bytes, peer, tag, whom it waits for


def schedule(seed: int) -> list[list[Action]]:
    """The actions of each rank; most receives have their send, and most waits are for earlier actions."""
    random = Random(seed)
    ranks: list[list[Action]] = [[] for _ in range(RANKS)]
    computes, loose = random.random() < 0.5, random.random() < 0.3
    for _ in range(random.randint(1, 25)):
        one, other = random.sample(range(RANKS), 2)
        size, tag = random.choice((0, 1, 77)), random.randint(0, 1)
        if random.random() < 0.3:
            ranks[one].append(("calc", size if computes else 0, ANY, 0, []))
            continue
        ranks[one].append(("send", size, other, tag, []))
        if random.random() < 0.95:
            peer, its_tag = (random.choice((ANY, one)), random.choice((ANY, tag))) if loose else (one, tag)
            ranks[other].append(("recv", size + (random.random() < 0.05), peer, its_tag, []))
    for actions in ranks:
        for number, action in enumerate(actions):
            last = number - 1 if random.random() < 0.98 else len(actions) - 1
            for _ in range(random.randint(0, 2) if last >= 0 else 0):
                action[4].append((random.randint(0, last), random.random() < 0.3))
    return ranks


def over_columns(ranks: list[list[Action]]) -> tuple[tuple[Operation, ...], tuple[str, ...], int]:
    goal = Goal(PATH, RANKS)
    for rank, actions in enumerate(ranks):
        goal.begin(rank, 1)
        for place, (word, size, peer, tag, _) in enumerate(actions):
            goal.add(word, size, place, peer=peer, tag=tag)
        for number, (*_, waits) in enumerate(actions):
            for awaited, started in waits:
                goal.link(number, awaited, started=started)
    trace = trace_of(goal)
    return trace.operations, trace.report.findings, trace.report.records


def over_nodes(ranks: list[list[Action]]) -> tuple[tuple[Operation, ...], tuple[str, ...], int]:
    graph: Graph = {rank: [_node(rank, *each) for each in enumerate(actions)] for rank, actions in enumerate(ranks)}
    joiner = Joiner(graph, lambda rank, node, what, hint: InputError(what, where=f"{PATH}:{node.place}", hint=hint))
    joiner.join()
    made = operations(joiner, str(PATH))
    recorded = tuple(f"{count:,} {what}" for what, count in joiner.notes.items() if count)
    return made, recorded, len(joiner.of_node)


def _node(rank: int, place: int, action: Action) -> Node:
    word, size, peer, tag, waits = action
    node = Node(KIND.get(word, "compute" if size else "nothing"), place, peer=peer, bytes=size, tag=tag)
    node.after = [awaited for awaited, started in waits if not started]
    node.started = [awaited for awaited, started in waits if started]
    if word == "send":
        node.request = Operation("send", None, (rank, peer), size, src=rank, dst=peer, line=place)
    elif word == "calc":
        node.request = Operation("compute", None, (rank,), duration_ps=size * 1000, line=place)
    return node


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_both_ways_give_the_same(first: int) -> None:
    for ranks in map(schedule, range(first, first + 50)):
        outcomes: list[object] = []
        for way in (over_columns, over_nodes):
            try:
                made, findings, records = way(ranks)
                outcomes.append((made, [each.line for each in made], findings, records))
            except InputError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def text_of(ranks: list[list[Action]], label: str, between: str) -> str:
    words = [f"num_ranks {RANKS}"]
    for rank, actions in enumerate(ranks):
        words.append(f"rank {rank} {{")
        for number, (word, size, peer, tag, waits) in enumerate(actions):
            to = "" if word == "calc" else f"b {'to' if word == 'send' else 'from'} {peer} tag {tag}"
            words.append(f"{label}{number}: {word} {size}{to}")
            words += [f"{label}{number} {'i' if only else ''}requires {label}{awaited}" for awaited, only in waits]
        words.append("}")
    return between.join(words) + "\n"


@pytest.mark.parametrize("label", ["l", "l0", "node"])
@pytest.mark.parametrize("between", ["\n", " ", "\n\n", "\r\n", " // why\n", "\n\t"])
def test_lines_taken_whole_say_what_their_words_say(tmp_path: Path, label: str, between: str) -> None:
    for ranks in map(schedule, range(12)):
        outcomes: list[object] = []
        for name, text in (("plain", text_of(ranks, "x.", " ")), ("other", text_of(ranks, label, between))):
            path = tmp_path / f"{name}.goal"
            path.write_text(text, newline="")
            try:
                trace = read(path)
                outcomes.append((trace.operations, trace.notes, trace.report.records))
            except InputError:
                outcomes.append("refused")
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_statement_may_go_on_behind_the_end_of_a_block(tmp_path: Path, off: int) -> None:
    head, statement = "num_ranks 2\nrank 0 {\n", "send 5b to 1\n"
    lines, rest = divmod((1 << 18) + off - len(head) - len(statement), 1000)
    pad = (" " * 999 + "\n") * lines + " " * (rest - 1) + "\n"
    path = saved(tmp_path / "job.goal", f"{head}{pad}{statement}tag 3\n}}\nrank 1 {{ recv 5b from 0 tag 3 }}")
    trace: Trace = read(path)
    assert trace.operations[0].flows == ((0, 1, 5),)
    assert trace.notes == ()


@pytest.mark.parametrize("label", ["l", "x"])
def test_a_label_may_come_after_who_waits_for_it(tmp_path: Path, label: str) -> None:
    text = f"num_ranks 1\nrank 0 {{\n{label}7 requires {label}9\n{label}7: calc 5\n{label}9: calc 6\n}}\n"
    path = saved(tmp_path / "job.goal", text)
    assert [each.duration_ps for each in read(path).operations] == [6_000, 5_000]
