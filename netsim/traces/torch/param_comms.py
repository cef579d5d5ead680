"""Communication traces of facebookresearch/param (JSON): the calls of each rank in order, one file for each."""

from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.json_stream import JsonWalk
from netsim.traces.limits import MAX_CALLS, MAX_RANKS
from netsim.traces.recognise import LIST, recogniser
from netsim.traces.torch.calls import (
    PS_PER_NS,
    RankCall,
    RankFile,
    no_traffic,
    operation_of,
    picoseconds,
    rank_list,
    split_list,
    whole,
)
from netsim.traces.torch.job import reader

recognises = recogniser(LIST, r'\[\s*\{[^{}]*"comms"\s*:|"comms"\s*:\s*"init"')


def scan(path: Path) -> RankFile:
    """Read one file."""
    file = RankFile(path)
    file.assumed.append("a trace of param holds no durations: no computing between operations")
    walk = JsonWalk(path)
    for _, entry in walk:
        file.events += 1
        if isinstance(entry, dict):
            _take(file, entry, walk.line)
        if file.events > MAX_CALLS:
            raise InputError(f"holds more than {MAX_CALLS:,} entries", where=f"{path}:{walk.line}", hint="cut it")
    file.cut = int(walk.cut)
    return file


read = reader(scan, "entries of communication", "trace", "record steps of a distributed job")


def _take(file: RankFile, entry: dict[str, Any], line: int) -> None:
    name, group = entry.get("comms"), entry.get("pg_id", "")
    world = whole(entry.get("world_size"))
    if world and world <= MAX_RANKS and group in ("", 0):
        file.world = max(file.world, world)
    if not isinstance(name, str):
        file.skipped["computing without a time" if "compute" in entry else "entries without a call"] += 1
        return
    ranks = rank_list(entry.get("global_ranks", entry.get("ranks")))
    if ranks:
        file.groups.setdefault(str(group), ranks)
    op = operation_of(name)
    if op is None:
        file.skipped["wait and init" if no_traffic(name) else "unknown calls"] += 1
        return
    recorded = _told(file, entry, op, str(group), line)
    if recorded is None:
        file.skipped["calls that do not tell enough"] += 1
    else:
        file.recorded.append(recorded)


def _told(file: RankFile, entry: dict[str, Any], op: str, group: str, line: int) -> RankCall | None:
    sent, received = whole(entry.get("in_msg_size")), whole(entry.get("out_msg_size"))
    dtype, width = entry.get("dtype"), 0
    if op == "barrier":
        sent, received, dtype = 0, 0, ""
    elif isinstance(dtype, str):
        dtype, width = file.type_of(dtype, line)
    if sent is None or received is None or not isinstance(dtype, str):
        return None
    recorded = RankCall(op, group, sent * width, received * width, dtype, line, file.events)
    recorded.splits = split_list(entry.get("in_split"))
    recorded.start_ps = picoseconds(entry.get("startTime_ns"), PS_PER_NS)
    root, other = whole(entry.get("root")), whole(entry.get("dst_rank" if op == "send" else "src_rank"))
    recorded.peer = -1 if root is None else root
    if op in ("send", "recv") and other is not None:
        recorded.global_peer = other
    return recorded
