"""Small files as PyTorch writes them, made of what a test wants to say."""

import json
from pathlib import Path
from typing import Any

from netsim.traces import Operation, Trace, read
from tests.inputs import saved

Json = dict[str, Any]
US = 1_000_000  # picoseconds
AR: Json = {"name": "allreduce", "sent": 250}  # 1,000 bytes
ANNOTATION = {"Input Dims": [[250]], "Input type": ["float"]}
PGS = {"0": [0, 1], "tp": [0, 1]}


def comms(name: str, sent: int, received: int | None = None, dtype: str = "Float", pg: str = "0", **more: Any) -> Json:
    """The arguments that a call and its kernel have in newer traces."""
    return {
        "Collective name": name,
        "In msg nelems": sent,
        "Out msg nelems": sent if received is None else received,
        "dtype": dtype,
        "Process Group Name": pg,
        "Group size": 2,
        "In split size": "[]",
        "Out split size": "[]",
        **more,
    }


def event(name: str, cat: str, ts: float, dur: float, args: Json, tid: int = 7) -> Json:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


def call(ts: float, dur: float = 5, **args: Any) -> Json:
    return event("record_param_comms", "cpu_op", ts, dur, comms(**args))


def kernel(ts: float, dur: float, op: str = "AllReduce", stream: int = 20, **args: Any) -> Json:
    name = f"ncclDevKernel_{op}_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    return event(name, "kernel", ts, dur, (comms(**args) if args else {}) | {"stream": stream})


def kineto(
    folder: Path, rank: int | None, events: list[Json], pgs: dict[str, list[int]] | None = PGS, world: int = 2
) -> Path:
    """One rank's profiler trace, laid out as Kineto does."""
    info: Json = {"backend": "nccl", **({} if rank is None else {"rank": rank, "world_size": world})}
    if pgs is not None:
        info["pg_config"] = [{"pg_name": name, "pg_size": len(ranks), "ranks": ranks} for name, ranks in pgs.items()]
    lines = ",\n".join("  " + json.dumps(each, indent=2).replace("\n", "\n  ") for each in events)
    head = f'{{\n  "schemaVersion": 1,\n  "distributedInfo": {json.dumps(info)},\n  "traceEvents": [\n'
    name = "trace.json" if rank is None else f"trace.rank{rank}.json"
    return saved(folder / name, f'{head}{lines}\n  ],\n  "traceName": "x"\n}}\n')


def entry(seq: int, name: str = "nccl:all_reduce", sizes: Any = ((4,),), dtype: str = "Float", **more: Any) -> Json:
    """An entry of the flight recorder."""
    shapes = [list(each) for each in sizes]
    return {
        "record_id": seq,
        "pg_id": 0,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": seq,
        "p2p_seq_id": 0,
        "op_id": seq,
        "profiling_name": name,
        "time_created_ns": 1_000_000 * seq,
        "input_sizes": shapes,
        "input_dtypes": [dtype] * len(shapes),
        "output_sizes": shapes,
        "output_dtypes": [dtype] * len(shapes),
        "state": "completed",
        "is_p2p": False,
        **more,
    }


def recorder(rank: int, entries: list[Json], ranks: str = "[0, 1]") -> Json:
    """A dump of the flight recorder; its keys stand in the order of the alphabet."""
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}
    return {"entries": entries, "nccl_comm_state": {}, "pg_config": config, "pg_status": {}, "version": "2.10"}


def node(number: int, name: str, values: list[Any], types: list[str], **attrs: Any) -> Json:
    """A node of an execution trace of the host."""
    listed = [{"name": "rf_id", "type": "uint64", "value": 1}]
    listed += [{"name": key, "type": "string", "value": value} for key, value in attrs.items()]
    return {"id": number, "name": name, "ctrl_deps": 2, "inputs": {"values": values, "types": types}, "attrs": listed}


def host_call(number: int, name: str, sent: int, received: int, rank: int, **attrs: Any) -> Json:
    recorded = {"collective_name": name, "dtype": "Float", "in_msg_nelems": sent, "out_msg_nelems": received}
    recorded |= {"in_split_size": "[]", "out_split_size": "[]", "pg_name": "0", "pg_size": 2, **attrs}
    return node(number, "record_param_comms", [[], 5, ["0", "default_pg"], rank, name, [], []], [], **recorded)


def host_trace(nodes: list[Json], schema: str = "1.1.1-chakra.0.0.4") -> str:
    return json.dumps({"schema": schema, "pid": 1, "time": "2026-01-01", "start_ts": 1, "nodes": nodes}, indent=2)


def inspected(
    rank: int, number: int, coll: str = "AllReduce", size: int = 4096, us: int = 10, comm: int = 0xABC, **more: Any
) -> Json:
    """An object of NCCL Inspector; processes of different communicators are different."""
    perf = {"coll": coll, "coll_sn": number, "coll_msg_size_bytes": size, "coll_exec_time_us": us, **more}
    return {
        "header": {"id": hex(comm), "rank": rank, "n_ranks": 2, "nnodes": 1},
        "metadata": {"inspector_output_format_version": "v4.0", "hostname": "node1", "pid": 100 * comm + rank},
        "coll_perf": perf,
    }


def network(trace: Trace) -> list[Operation]:
    """What is sent."""
    return [each for each in trace.operations if each.op != "compute"]


def one(folder: Path, *events: dict[str, object]) -> Trace:
    return read(kineto(folder, 0, list(events)), fill_missing_ranks=True)


def job(folder: Path, *ranks: list[Json]) -> Trace:
    return read([kineto(folder, rank, events) for rank, events in enumerate(ranks)])
