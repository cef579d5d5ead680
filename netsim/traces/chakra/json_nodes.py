"""Chakra's nodes in JSON, as its feeder reads them: `{"workload_graph": [{"Id": 0, "NodeType": 7, ...}]}`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.chakra.nodes import COMM_COLL, COMM_RECV, COMM_SEND, COMP, MEM_LOAD, MEM_STORE, METADATA, ChakraNode
from netsim.traces.json_stream import JsonWalk

GRAPH = "workload_graph"
TYPES = {  # by the names of the schema's enum
    "METADATA_NODE": METADATA,
    "MEM_LOAD_NODE": MEM_LOAD,
    "MEM_STORE_NODE": MEM_STORE,
    "COMP_NODE": COMP,
    "COMM_SEND_NODE": COMM_SEND,
    "COMM_RECV_NODE": COMM_RECV,
    "COMM_COLL_NODE": COMM_COLL,
}
ATTRIBUTES = {  # what each type has a use for: writers give every node all keys, with zeros
    COMM_COLL: ("is_cpu_op", "comm_type", "comm_size", "pg_name"),
    COMM_SEND: ("comm_size", "comm_src", "comm_dst", "comm_tag"),
    COMM_RECV: ("comm_size", "comm_src", "comm_dst", "comm_tag"),
}
LARGEST = 1 << 62
AS_WRITTEN = "give the file as the program wrote it"
TYPED = "give the .et files themselves, or JSON whose nodes tell their NodeType, from 1 (METADATA) to 7 (COMM_COLL)"
NEAR = 1 << 12  # characters in which the graph begins
_START = re.compile(r'"workload_graph"\s{0,20}:\s{0,20}\[')


def is_json(start: str) -> bool:
    """Tell whether a text that starts so is a Chakra trace in JSON."""
    return start.lstrip("\ufeff \t\r\n").startswith("{") and _START.search(start[:NEAR]) is not None


def json_nodes(path: Path) -> Iterator[ChakraNode]:
    """Yield the nodes of one NPU, in the order of the file. InputError for what is no node, with its line."""
    walk = JsonWalk(path, (GRAPH,))
    for key, value in walk:
        if key == GRAPH:
            if not isinstance(value, dict):
                raise InputError("a node must be an object", where=f"{path}:{walk.line}", hint="take it out")
            yield _node(value, f"{path}:{walk.line}")
    if walk.cut:
        raise InputError("ends in the middle", where=str(path), hint="copy the file again")


def _node(recorded: dict[str, Any], where: str) -> ChakraNode:
    kind = recorded.get("NodeType")
    if kind is None:
        raise InputError("a node of Chakra has no NodeType, so what it does is not known", where=where, hint=TYPED)
    number = TYPES.get(kind.upper(), -1) if isinstance(kind, str) else _number(recorded, "NodeType", where)
    if number < 0:
        hint = "give 1 (METADATA) to 7 (COMM_COLL)"
        raise InputError(f"NodeType {str(kind)[:40]!r} is not known", where=where, hint=hint)
    data, control = _numbers(recorded, "data_deps", where), _numbers(recorded, "ctrlDeps", where)
    control = control or _numbers(recorded, "ctrl_deps", where)
    made = ChakraNode(_number(recorded, "Id", where), "", number, data, control)
    made.duration_micros = round(_number(recorded, "runtime", where, int | float, "a number"))
    for name in ATTRIBUTES.get(number, ()):
        value = recorded.get(name)
        if name in ("comm_src", "comm_dst") and value == -1:
            continue
        if isinstance(value, bool | str):
            made.attributes[name] = value
        elif value is not None:
            made.attributes[name] = _number(recorded, name, where)
    if made.attributes.get("is_cpu_op") and number == COMM_COLL and not made.attributes.get("comm_size"):
        made.attributes.pop("comm_type", None)  # a zero that every node has: it stands again on the GPU side
    return made


def _number(recorded: dict[str, Any], name: str, where: str, kind: Any = int, what: str = "a whole number") -> Any:
    value = recorded.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, kind) or not 0 <= value < LARGEST:
        raise InputError(f'"{name}" must be {what}', where=where, hint=AS_WRITTEN)
    return value


def _numbers(recorded: dict[str, Any], name: str, where: str) -> list[int]:
    value = recorded.get(name) or []
    if not isinstance(value, list) or not all(type(each) is int and 0 <= each < LARGEST for each in value):
        raise InputError(f'"{name}" must be a list of nodes', where=where, hint=AS_WRITTEN)
    return value
