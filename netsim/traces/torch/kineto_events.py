"""The events of a PyTorch profiler trace that tell of collectives: kernels, calls and annotations of one file."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.json_search import JsonSearch
from netsim.traces.limits import MAX_CALLS
from netsim.traces.torch.calls import PS_PER_US, RankCall, RankFile, elements, no_traffic, operation_of, picoseconds

WANTED = r'nccl|gloo:|record_param_comms"|void \w+::(?:ep::)?int(?:er|ra)node'
KERNELS = {  # the operation in a kernel's name -> what PyTorch may have called it for
    "AllReduce": ("all_reduce", "barrier"),
    "AllGather": ("all_gather",),
    "ReduceScatter": ("reduce_scatter",),
    "Broadcast": ("broadcast",),
    "Reduce": ("reduce",),
    "SendRecv": ("all_to_all", "send", "recv", "gather"),
}
_KERNEL_NAME = re.compile(r"nccl\w*?(?:Kernel|KernelDebug|SymDevKernel)_?([A-Za-z]+)")


@dataclass(slots=True)
class Event:
    """An event that may stand for a collective: what is in it, and the call it tells of, if it says enough."""

    op: str
    start_ps: int
    duration_ps: int
    thread: str
    recorded: RankCall | None = None


@dataclass(slots=True, eq=False)
class KinetoFile(RankFile):
    """What one file shows: kernels on the GPU, calls (`record_param_comms`) and annotations of calls, and the rest."""

    kernels: list[Event] = field(default_factory=list)
    calls: list[Event] = field(default_factory=list)
    annotations: list[Event] = field(default_factory=list)
    waits: int = 0
    nameless: int = 0  # record_param_comms of older versions, which say nothing
    others: Counter[str] = field(default_factory=Counter)  # what is not NCCL's


def scan(path: Path) -> KinetoFile:
    """Read one file, without choosing yet which events to believe."""
    seen = KinetoFile(path)
    search = JsonSearch(path, WANTED, ("distributedInfo",))
    for key, value, line in search:
        if key:
            seen.take_info(value)
        elif isinstance(value, dict):
            _take(seen, value, line)
        if len(seen.kernels) + len(seen.calls) + len(seen.annotations) > 4 * MAX_CALLS:
            what = f"holds more than {4 * MAX_CALLS:,} events of collectives"
            raise InputError(what, where=f"{path}:{line}", hint="profile fewer steps")
    seen.cut = search.cut + search.damaged
    return seen


def _take(seen: KinetoFile, event: dict[str, Any], line: int) -> None:
    name, kind = event.get("name"), event.get("cat")
    if not isinstance(name, str) or not isinstance(kind, str):
        return
    args = event["args"] if isinstance(event.get("args"), dict) else {}
    seen.events += 1
    if kind.lower() == "kernel":
        _take_kernel(seen, name, event, args, line)
    elif name == "record_param_comms":
        _take_call(seen, event, args, line)
    elif kind == "user_annotation" and name.startswith("nccl:"):
        _take_annotation(seen, name, event, args, line)
    elif kind == "user_annotation":
        seen.others[name] += 1


def _take_kernel(seen: KinetoFile, name: str, event: dict[str, Any], args: dict[str, Any], line: int) -> None:
    if not name.startswith("nccl"):
        seen.others["kernels of DeepEP, which do not tell sizes"] += 1
        return
    named = _KERNEL_NAME.match(name)
    op = next((each for each in KERNELS if named and named[1].startswith(each)), named[1] if named else "other")
    at = _when(event)
    if at is None:
        seen.skipped["events without a time"] += 1
        return
    recorded = seen.call(args, line)
    if recorded is not None:
        recorded.stream = str(args.get("stream", ""))[:32]
        recorded.start_ps, recorded.duration_ps = at
    seen.kernels.append(Event(op, *at, "", recorded))


def _take_call(seen: KinetoFile, event: dict[str, Any], args: dict[str, Any], line: int) -> None:
    name, at = args.get("Collective name"), _when(event)
    if not isinstance(name, str):
        seen.nameless += 1
    elif no_traffic(name):
        seen.waits += 1
    elif at is None:
        seen.skipped["events without a time"] += 1
    else:
        recorded = seen.call(args, line)
        if recorded is None:
            seen.skipped["calls that do not tell enough"] += 1
            return
        recorded.start_ps = at[0]
        seen.calls.append(Event(recorded.op, *at, f"{event.get('pid')}/{event.get('tid')}", recorded))


def _take_annotation(seen: KinetoFile, name: str, event: dict[str, Any], args: dict[str, Any], line: int) -> None:
    op, at = operation_of(name), _when(event)
    if op is None or at is None:
        seen.skipped["annotations of no operation"] += not no_traffic(name)
        return
    types, recorded = args.get("Input type"), None
    sent = elements(args.get("Input Dims"))
    if sent is not None and isinstance(types, list) and types and isinstance(types[0], str):
        dtype, width = seen.type_of(types[0], line)
        recorded = RankCall(op, "", sent * width, 0, dtype, line, 0)
    seen.annotations.append(Event(op, *at, "", recorded))


def _when(event: dict[str, Any]) -> tuple[int, int] | None:
    start, duration = picoseconds(event.get("ts"), PS_PER_US), picoseconds(event.get("dur", 0), PS_PER_US)
    return None if start is None or duration is None else (start, max(0, duration))
