"""PyTorch execution traces of the host (ExecutionTraceObserver, Chakra host ET in JSON): one file for each rank.

They hold every operator with its inputs, in order, and no times.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.json_search import JsonSearch
from netsim.traces.limits import MAX_CALLS, MAX_RANKS
from netsim.traces.lines import head
from netsim.traces.recognise import recogniser
from netsim.traces.torch.calls import RankCall, RankFile, no_traffic, operation_of, split_list, type_of, whole
from netsim.traces.torch.job import reader
from netsim.traces.trace import ROOTED

GROUPS = "## process_group:init ##"
WANTED = rf'record_param_comms"|nccl:|gloo:|{GROUPS}"'
OWN_RANK = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")  # their rank is the caller's
ARGUMENTS = {  # what the formats since 1.0.2 spell out, as the profiler calls it
    "collective_name": "Collective name",
    "dtype": "dtype",
    "in_msg_nelems": "In msg nelems",
    "out_msg_nelems": "Out msg nelems",
    "in_split_size": "In split size",
    "pg_name": "Process Group Name",
    "pg_size": "Group size",
    "global_rank_start": "Global rank start",
    "global_rank_stride": "Global rank stride",
}
_OPERATOR = re.compile(r'"(?:inputs|input_values|op_schema|rf_id|fw_tid|tid)"\s*:')
_TYPE = re.compile(r"Tensor\(([^)]*)\)")
recognises = recogniser(
    r'\s*\{\s*"(?:schema|nodes|pid|time|start_ts)"', r'"schema"\s*:\s*"[0-9.]+[^"]*"(?s:.*)"nodes"\s*:\s*\['
)


@dataclass(slots=True, eq=False)
class HostFile(RankFile):
    """What one file shows: calls (`record_param_comms`) and annotations of them, which say less."""

    calls: list[RankCall] = field(default_factory=list)
    annotations: list[RankCall] = field(default_factory=list)
    own: Counter[tuple[str, int]] = field(default_factory=Counter)  # (group, the caller's position in it)
    pointers: dict[int, str] = field(default_factory=dict)  # groups of the oldest format, by address

    def choose(self) -> RankFile:
        """Choose calls where there are any, else annotations."""
        if not self.calls and not self.annotations:
            what = "there are no collectives in this execution trace"
            hint = "record steps of a distributed job (ExecutionTraceObserver, PyTorch 2.0 or newer)"
            if not _OPERATOR.search(head(self.path).decode("utf-8", errors="replace")):
                what = "is JSON of nodes that are no operators of PyTorch, and as Chakra's they have no NodeType"
                hint = "give Chakra's .et files themselves, or JSON of a workload_graph whose nodes have a NodeType"
            raise InputError(what, where=str(self.path), hint=hint)
        self.recorded = self.calls
        self.assumed.append("an execution trace of the host holds no times: no computing between operations")
        if not self.calls:
            self.recorded = self.annotations
            self.assumed.append("annotations are read: no node tells process groups, roots or peers")
        if len(self.pointers) == 1:
            for recorded in self.recorded:
                recorded.group = ""
        self._own_rank()
        return self

    def _own_rank(self) -> None:
        """Find out the rank: by what the calls say, else by the file's name."""
        for (group, position), _ in self.own.most_common(1):
            ranks = self.groups.get(group)
            if ranks and position < len(ranks):
                self.rank = ranks[position]
            elif self.rank is None:
                self.rank = position


def scan(path: Path) -> HostFile:
    """Read one file."""
    seen = HostFile(path)
    search = JsonSearch(path, WANTED)
    for _, node, line in search:
        if isinstance(node, dict) and isinstance(node.get("name"), str):
            seen.events += 1
            _take(seen, node, line)
        if seen.events > MAX_CALLS:
            what = f"holds more than {MAX_CALLS:,} nodes of communication"
            raise InputError(what, where=f"{path}:{line}", hint="record fewer steps")
    seen.cut = search.cut + search.damaged
    return seen


read = reader(lambda path: scan(path).choose(), "nodes of communication")


def _take(seen: HostFile, node: dict[str, Any], line: int) -> None:
    name, values, types = node["name"], _inputs(node, "values"), _inputs(node, "types")
    order = whole(node.get("id"))
    order = seen.events if order is None else order
    if name == GROUPS:
        _take_groups(seen, values)
    elif name == "record_param_comms":
        attrs = _attrs(node)
        recorded = seen.call({name: attrs[key] for key, name in ARGUMENTS.items() if key in attrs}, line, order)
        recorded = recorded or _by_position(seen, node, values, types, line, order)
        if recorded is not None:
            _take_rank(seen, recorded, values)
            seen.calls.append(recorded)
    else:
        op, data = operation_of(name), _tensors(values, types, f"{seen.path}:{line}")
        if op is not None and (data is not None or op == "barrier"):
            size, dtype = data or (0, "")
            seen.annotations.append(RankCall(op, "", size, 0, dtype, line, order))


def _inputs(node: dict[str, Any], what: str) -> list[Any]:
    """Values or types of the inputs: in an object in newer formats, beside it in the oldest."""
    inputs = node.get("inputs")
    found = inputs.get(what) if isinstance(inputs, dict) else inputs if what == "values" else node.get("input_types")
    return found if isinstance(found, list) else []


def _attrs(node: dict[str, Any]) -> dict[str, Any]:
    listed = node.get("attrs")
    return {
        each["name"]: each.get("value")
        for each in (listed if isinstance(listed, list) else [])
        if isinstance(each, dict) and isinstance(each.get("name"), str)
    }


def _take_groups(file: RankFile, values: list[Any]) -> None:
    if values and isinstance(values[0], str):
        try:
            file.add_groups(json.loads(values[0]))
        except (ValueError, RecursionError):
            file.skipped["lists of process groups that cannot be read"] += 1


def _by_position(
    seen: HostFile, node: dict[str, Any], values: list[Any], types: list[Any], line: int, order: int
) -> RankCall | None:
    """Read a call by the places of its inputs: tensors, number, group, rank, name, sizes of parts."""
    at = next((number for number, each in enumerate(values) if isinstance(each, str) and operation_of(each)), -1)
    named = [each for each in values if isinstance(each, str) and no_traffic(each)]
    if at < 4:
        why = "wait and init" if named or no_traffic(str(_attrs(node).get("collective_name"))) else "unknown calls"
        seen.skipped[why] += 1
        return None
    where = f"{seen.path}:{line}"
    op, data = operation_of(values[at]), _tensors(values[:1], types[:1], where)
    outputs = node.get("outputs")
    got = _tensors(outputs, node.get("output_types"), where) if isinstance(outputs, list) else None
    if op is None or (data is None and op != "barrier"):
        seen.skipped["calls that do not tell enough"] += 1
        return None
    size, dtype = data or (0, "")
    recorded = RankCall(op, _pointed(seen, values[at - 2]), size, got[0] if got else 0, dtype, line, order)
    recorded.splits = split_list(values[at + 1]) if len(values) > at + 1 else ()
    return recorded


def _pointed(seen: HostFile, group: object) -> str:
    """Name a group by its name, or by its address: in the order in which they come."""
    if isinstance(group, list) and group and isinstance(group[0], str):
        return group[0]
    if isinstance(group, int):
        return seen.pointers.setdefault(group, f"group {len(seen.pointers) + 1}")
    return ""


def _take_rank(seen: HostFile, recorded: RankCall, values: list[Any]) -> None:
    """The rank in a call is the root, the other end, or else the caller's own position in the group."""
    position = whole(values[3]) if len(values) > 3 else None
    if position is None or position >= MAX_RANKS:
        return
    if recorded.op in OWN_RANK:
        seen.own[recorded.group, position] += 1
    elif recorded.op in (*ROOTED, "send", "recv"):
        recorded.peer = position


def _tensors(values: object, types: object, where: str) -> tuple[int, str] | None:
    """Bytes and type of tensors, each [id, storage, offset, elements, bytes of one, device], or of lists of them."""
    if not isinstance(values, list) or not isinstance(types, list):
        return None
    kinds = [found[1] for each in types if isinstance(each, str) and (found := _TYPE.search(each))]
    flat = [part for each in values for part in (each if _is_list_of_lists(each) else [each])]
    sizes = [_tensor_bytes(each) for each in flat]
    total = sum(size for size in sizes if size is not None)
    if not kinds or all(size is None for size in sizes):
        return None
    return total, type_of(kinds[0], where)[0]


def _is_list_of_lists(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, list) for each in value)


def _tensor_bytes(value: object) -> int | None:
    if not isinstance(value, list) or len(value) < 6:
        return None
    count, width = whole(value[3]), whole(value[4])
    return None if count is None or width is None else count * width
