"""A small whole file of every format, as it is read and as it may be damaged."""

import json
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netsim.traces import Group, Operation, Trace, Turn
from netsim.traces.chakra.write import write_chakra
from netsim.traces.goal.write import write_goal, write_goal_binary
from tests.traces.nccl.nccl_lines_of import call, init, world
from tests.traces.nccl.test_inspector import profiled
from tests.traces.test_workload_files import COLUMNS, HEAD, csv, row
from tests.traces.torch import pytorch_files as torch

NATIVE = [
    '{"netsim": 1, "ranks": 4, "groups": {"tp": [0, 1]}}',
    '{"op": "all_reduce", "group": "tp", "bytes": 8}',
    '{"op": "flows", "flows": [[0, 1, 5], {"src": 1, "dst": 0, "bytes": 5, "start": "1us", "after": [0]}]}',
    '{"op": "flows", "flows": [[0, 1, 5]]}',
    '{"op": "send", "src": 0, "dst": 1, "bytes": 8, "start": "1us"}',
    '{"op": "all_to_all_v", "group": "tp", "sizes": [[0, 1], [1, 0]], "recorded": {"start": "1ms"}}',
    '{"op": "compute", "ranks": [0], "duration": "12us"}',
    '{"op": "broadcast", "group": "tp", "bytes": 8, "root": 1}',
]
LOG = [
    *world(2),
    init(100, 0xB0, 0, 1, "", " parent 0xa0 color 1 key 0"),
    *[call(100 + rank, 0xA0 + rank, 2, op, root=1 - rank) for op in ("AllReduce", "Send", "Recv") for rank in (0, 1)],
    *["node1:100:100 NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa0,0x1)", call(100, 0xB0, 1)],
]
MATRIX = [
    *["Nodes 4", "Connections 3", "Triggers 1", "0->1 id 1 start 5e6 size 2000 recv_done_trigger 1"],
    *["1->2 id 2 trigger 1 size 7", "2->3 id 3 msg start 0 size 9 prio 1", "trigger id 1 oneshot"],
]
SIMAI = [HEAD, "2", *[row("1 ALLREDUCE 5", "2 ALLTOALL_EP 6", "3 ALLGATHER_DP_EP 7", 8)] * 2]
AICB = [
    *["[rank0 ~ rank7]", COLUMNS, csv("all_reduce", elapsed=1.5)],
    *[csv("barrier", "all", 8, "None"), csv("all_to_all", "ep_group", "None"), ""],
]
POINT_TO_POINT = (
    Operation("compute", "world", (0, 1), duration_ps=5_000_000),
    Operation("send", None, (0, 1), 5, src=0, dst=1, start_ps=1000),
    Operation("flows", None, (0, 1), 9, flows=((0, 1, 5), (1, 0, 4)), turns=(Turn(), Turn(after=(0,)))),
)
REDUCED = Operation("all_reduce", "pair", (0, 1), 64, dtype="bf16", recorded_duration_ps=7_000_000)
JOB = Trace("job", 2, {"pair": Group("pair", (0, 1))}, (*POINT_TO_POINT, REDUCED))
ALONE = Trace("job", 1, {}, tuple(Operation(op, "world", (0,), 8) for op in ("all_reduce", "broadcast")))


def _written(write: Callable[[Trace, Path], list[Path]], trace: Trace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write(trace, Path(folder) / "job")[0].read_bytes()


def _kineto() -> bytes:
    base = {"name": "_allgather_base", "sent": 10, "received": 20, "pg": "tp"}
    events = [
        torch.call(1, **torch.AR),
        torch.event("nccl:all_reduce", "user_annotation", 2, 1, torch.ANNOTATION),
        torch.call(3, **base),
        torch.kernel(10, 5, **torch.AR),
        torch.kernel(20, 5, op="AllGather", **base),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return torch.kineto(Path(folder), 0, events).read_bytes()


def _host() -> bytes:
    groups = ['[{"pg_name": "0", "ranks": [0, 1], "group_size": 2}]']
    calls = [torch.host_call(9, "allreduce", 10, 10, rank=0), torch.host_call(12, "all_to_all", 8, 8, rank=0)]
    return torch.host_trace([torch.node(2, "## process_group:init ##", groups, ["String"]), *calls]).encode()


ENTRIES = [torch.entry(1), torch.entry(2, "nccl:broadcast", [[3, 4]])]
RECORDED = torch.recorder(0, [*ENTRIES, torch.entry(3, "nccl:send 0->1", [[5]], p2p_seq_id=1)])
PARAM = [{"comms": "init", "pg_id": 0, "world_size": 2}] + [
    {"comms": op, "in_msg_size": 8, "out_msg_size": 8, "dtype": "float", "pg_id": 0} for op in ("all_reduce", "reduce")
]
TWICE = [(number, rank) for number in (1, 2) for rank in (0, 1)]


@dataclass(frozen=True)
class Small:
    """A file; `lacks_ranks` where it is of one of two ranks."""

    format: str
    content: bytes
    lacks_ranks: bool = False


def _lines(name: str, lines: list[str]) -> Small:
    return Small(name, "\n".join(lines).encode())


SMALL = {
    "native": _lines("native", NATIVE),
    "nccl_log": _lines("nccl_log", LOG),
    "htsim_cm": _lines("htsim_cm", MATRIX),
    "simai": _lines("simai", SIMAI),
    "aicb_csv": _lines("aicb_csv", AICB),
    "chakra": Small("chakra", _written(write_chakra, JOB)),  # refused without the file of the other rank
    "chakra alone": Small("chakra", _written(write_chakra, ALONE)),
    "goal": Small("goal", _written(write_goal, Trace("job", 2, {}, POINT_TO_POINT))),
    "goal binary": Small("goal", _written(write_goal_binary, Trace("job", 2, {}, POINT_TO_POINT))),
    "kineto": Small("kineto", _kineto(), lacks_ranks=True),
    "host": Small("pytorch_et", _host(), lacks_ranks=True),
    "recorder": Small("flight_recorder", json.dumps(RECORDED).encode(), lacks_ranks=True),
    "recorder pickle": Small("flight_recorder", pickle.dumps(RECORDED, protocol=2), lacks_ranks=True),
    "inspector": _lines("inspector", [json.dumps(torch.inspected(rank, number)) for number, rank in TWICE]),
    "profiler": _lines("nccl_profiler", ["[", *(f"{profiled(rank, ts=ts)}," for ts, rank in TWICE), ""]),
    "param": Small("param_comms", json.dumps(PARAM, indent=1).encode(), lacks_ranks=True),
}
