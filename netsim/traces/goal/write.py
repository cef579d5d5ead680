"""Writing a trace as a GOAL schedule, text or binary: every transfer a send and a receive with a tag of their own."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from netsim.traces.goal.binary import COUNTS, HEAD, MAGIC, NODE, RANGE, WORDS
from netsim.traces.goal.rank import PS_PER_UNIT
from netsim.traces.graphs.graph import Graph, Node
from netsim.traces.graphs.graph_to_trace import graphs_of
from netsim.traces.trace import POINT_TO_POINT, Trace
from netsim.writing import write_whole

WORD_OF = {"send": "send", "receive": "recv"}  # all else is a calc
CODES = {word: number for number, word in WORDS.items()}


def write_goal(trace: Trace, path: str | Path) -> list[Path]:
    """Write a schedule in text. Collectives must be made flows first, since GOAL has none."""
    path = Path(path)
    write_whole(path, _text(graphs_of(trace, POINT_TO_POINT, "GOAL")))
    return [path]


def write_goal_binary(trace: Trace, path: str | Path) -> list[Path]:
    """Write a schedule in LogGOPSim's binary form."""
    path = Path(path)
    write_whole(path, _binary(graphs_of(trace, POINT_TO_POINT, "GOAL")))
    return [path]


def _units(node: Node) -> int:
    """Whole nanoseconds, never less than it takes; a node that only waits takes none."""
    return -(-node.request.duration_ps // PS_PER_UNIT) if node.request is not None else 0


def _text(graph: Graph) -> Iterator[bytes]:
    yield f"num_ranks {len(graph)}\n".encode()
    for rank, nodes in graph.items():
        lines = [f"\nrank {rank} {{"]
        for number, node in enumerate(nodes, 1):
            lines.append(f"l{number}: {_action(node)}")
            lines += [f"l{number} requires l{awaited + 1}" for awaited in node.after]
        yield "\n".join([*lines, "}\n"]).encode()


def _action(node: Node) -> str:
    if node.kind == "send":
        return f"send {node.bytes}b to {node.peer} tag {node.tag}"
    if node.kind == "receive":
        return f"recv {node.bytes}b from {node.peer} tag {node.tag}"
    return f"calc {_units(node)}"


def _binary(graph: Graph) -> Iterator[bytes]:
    ranks = [_rank(nodes) for nodes in graph.values()]
    start = HEAD.size + len(ranks) * RANGE.size
    yield MAGIC.to_bytes(8, "little") + HEAD.pack(len(ranks), 0, 0)
    for content in ranks:
        yield RANGE.pack(start, start + len(content))
        start += len(content)
    yield from ranks


def _rank(nodes: Sequence[Node]) -> bytes:
    dependents: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes):
        for awaited in node.after:
            dependents[awaited].append(number)
    free = [number for number, node in enumerate(nodes) if not node.after]
    content = [COUNTS.pack(len(nodes), len(free)), _numbers(free)]
    at = 0
    for node, own in zip(nodes, dependents, strict=True):
        word = WORD_OF.get(node.kind, "calc")
        size, peer, tag = (_units(node), 0, 0) if word == "calc" else (node.bytes, node.peer, node.tag)
        content.append(NODE.pack(len(node.after), CODES[word], peer, size, tag, 0, 0, len(own), at, 0, at + len(own)))
        at += len(own)
    content += [_numbers(own) for own in dependents]
    return b"".join(content)


def _numbers(values: Sequence[int]) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)
