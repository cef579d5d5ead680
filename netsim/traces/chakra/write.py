"""Writing a trace as Chakra execution traces: `job.0.et`, `job.1.et` ... and the groups as `job.comm_group.json`."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.chakra import netsim_attribute
from netsim.traces.chakra import nodes as schema
from netsim.traces.chakra.nodes import ChakraNode
from netsim.traces.chakra.wire import behind_length
from netsim.traces.graphs.graph import Graph, Node
from netsim.traces.graphs.graph_to_trace import graphs_of
from netsim.traces.trace import POINT_TO_POINT, WORLD, Operation, Trace
from netsim.units import time_text
from netsim.writing import write_together

PS_PER_MICRO = 10**6
PARTS = ("all_gather", "gather")  # of which one NPU puts in a part only
TYPE_OF = {name: number for number, name in reversed(schema.COLLECTIVES.items())}
NAMED = (*TYPE_OF, *POINT_TO_POINT)


def write_chakra(trace: Trace, path: str | Path) -> list[Path]:
    """Write `job.0.et` ... beside `path` (`job.et`), and `job.comm_group.json` where there are groups.

    Returns the files. What Chakra has no name for (all_to_all_v) must be made flows first.
    """
    path = Path(path)
    graph = graphs_of(trace, NAMED, "Chakra", "let `netsim convert` turn it into flows")
    stem, end = path.name.removesuffix(".gz").removesuffix(".et"), ".et.gz" if path.suffix == ".gz" else ".et"
    if not stem:
        raise InputError("names no file", where=str(path), hint="give a name, as in job.et")
    return write_together(_files(trace, graph, path.parent / stem, end))


def _files(trace: Trace, graph: Graph, base: Path, end: str) -> Iterator[tuple[Path, Iterable[bytes]]]:
    groups = {name: str(number) for number, name in enumerate((n for n in trace.groups if n != WORLD), 1)}
    for rank, nodes in graph.items():
        yield base.with_name(f"{base.name}.{rank}{end}"), _messages(rank, nodes, groups)
    if groups:
        listed = {number: trace.groups[name].ranks for name, number in groups.items()}
        yield base.with_name(f"{base.name}.comm_group.json"), [json.dumps(listed).encode() + b"\n"]


def _messages(rank: int, nodes: list[Node], groups: dict[str, str]) -> Iterator[bytes]:
    yield behind_length(schema.metadata_message({"schema": "netsim"}))
    for number, node in enumerate(nodes):
        made = ChakraNode(id=number, data_deps=node.after)
        made.attributes["is_cpu_op"] = False
        if node.kind in ("send", "receive"):
            _transfer(made, rank, node)
        elif node.kind == "call":
            assert node.request is not None
            _call(made, node.request, _number(node), groups)
        else:
            _compute(made, rank, node, groups)
        yield behind_length(schema.node_message(made))


def _number(node: Node) -> int:
    assert node.turn is not None
    return node.turn


def _transfer(made: ChakraNode, rank: int, node: Node) -> None:
    sends = node.kind == "send"
    source, target = (rank, node.peer) if sends else (node.peer, rank)
    made.type, made.name = schema.COMM_SEND if sends else schema.COMM_RECV, f"{'SEND' if sends else 'RECV'}_{node.tag}"
    made.attributes |= {"comm_src": source, "comm_dst": target, "comm_tag": node.tag, "comm_size": node.bytes}
    assert node.request is not None
    made.attributes[netsim_attribute.KEY] = netsim_attribute.text(_number(node), node.request, node.part)


def _call(made: ChakraNode, request: Operation, number: int, groups: dict[str, str]) -> None:
    members, parts = len(request.ranks), request.op in PARTS
    size = -(-request.bytes // members) if parts else request.bytes
    made.type, made.name = schema.COMM_COLL, f"{request.op.upper()}_{number}"
    made.duration_micros = _micros(request.recorded_duration_ps or 0)
    made.start_micros = (request.recorded_start_ps or 0) // PS_PER_MICRO
    made.attributes |= {"comm_type": TYPE_OF[request.op], "comm_size": size}
    if request.group in groups:
        made.attributes["pg_name"] = groups[str(request.group)]
    more: dict[str, Any] = {"bytes": request.bytes} if parts and size * members != request.bytes else {}
    made.attributes[netsim_attribute.KEY] = netsim_attribute.text(number, request, **more)


def _compute(made: ChakraNode, rank: int, node: Node, groups: dict[str, str]) -> None:
    """A computation; or a node that only waits, which other programs take for a computation as well."""
    made.type = schema.COMP
    made.name = "COMP" if node.kind == "compute" else "WAIT"
    made.attributes[netsim_attribute.KEY] = netsim_attribute.HELPER
    if node.request is not None:
        made.duration_micros = _micros(node.request.duration_ps)
    if node.kind == "compute" and node.request is not None:
        more: dict[str, Any] = {"duration": time_text(node.request.duration_ps)}
        if node.request.group is None and node.request.ranks != (rank,):
            more["ranks"] = node.request.ranks
        if node.request.group in groups:
            made.attributes["pg_name"] = groups[str(node.request.group)]
        made.attributes[netsim_attribute.KEY] = netsim_attribute.text(_number(node), node.request, **more)


def _micros(duration_ps: int) -> int:
    """Whole microseconds, never less than it takes."""
    return -(-duration_ps // PS_PER_MICRO)
