"""Communication traces of facebookresearch/param (JSON): the calls of each rank in order, one file for each."""

from pathlib import Path
from typing import Any

from netsim.errors import InputError
from netsim.traces.json_stream import JsonWalk
from netsim.traces.limits import MAX_CALLS, MAX_RANKS
from netsim.traces.recognise import LIST, recogniser
from netsim.traces.torch.calls import PS_PER_NS, RankFile, no_traffic, operation_of, picoseconds, rank_list, whole
from netsim.traces.torch.job import reader

recognises = recogniser(LIST, r'\[\s*\{[^{}]*"comms"\s*:|"comms"\s*:\s*"init"')
ARGUMENTS = {  # of an entry, as the profiler calls them
    "comms": "Collective name",
    "in_msg_size": "In msg nelems",
    "out_msg_size": "Out msg nelems",
    "dtype": "dtype",
    "in_split": "In split size",
    "root": "Rank",
    "dst_rank": "Dst Rank",
    "src_rank": "Src Rank",
}
BARRIER = {"In msg nelems": 0, "Out msg nelems": 0, "dtype": "byte"}  # whatever its entry says


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
    if op != "barrier" and isinstance(entry.get("dtype"), str):
        file.type_of(entry["dtype"], line)  # an unknown one is refused, whatever else the entry lacks
    args = {name: entry[key] for key, name in ARGUMENTS.items() if key in entry} | {"Process Group Name": str(group)}
    recorded = file.call(args | (BARRIER if op == "barrier" else {}), line, file.events)
    if recorded is None:
        file.skipped["calls that do not tell enough"] += 1
    else:
        recorded.start_ps = picoseconds(entry.get("startTime_ns"), PS_PER_NS)
        file.recorded.append(recorded)
