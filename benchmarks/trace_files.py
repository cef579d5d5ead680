"""Large files of every format that netsim reads, as the programs write them, made up in a stream.

`MAKERS` has for each a function (megabytes, folder) -> the files, which together have about so many bytes.
"""

import itertools
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

RANKS = 8
OPS = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast")
TORCH_OPS = ("all_reduce", "_all_gather_base", "_reduce_scatter_base", "broadcast")
SIZES = (2_412_336, 2_514_096, 369_603, 7_168, 1)
Json = dict[str, Any]


def write(path: Path, megabytes: float, segments: Iterator[str], head: str = "", tail: str = "") -> list[Path]:
    """Write pieces until there are so many bytes."""
    left, together = int(megabytes * 1e6), 1000 if megabytes > 1 else 10
    with path.open("w", encoding="ascii") as file:
        file.write(head)
        while left > 0:
            text = "".join(itertools.islice(segments, together))
            file.write(text)
            left -= len(text)
        file.write(tail)
    return [path]


def call_line(number: int) -> str:
    """One call of one rank, as NCCL 2.23 logs it; the ranks take turns."""
    turn, rank = divmod(number, RANKS)
    op, count, address = OPS[turn % 4], SIZES[turn % 5], 0x7D4D82000000 + 4096 * (turn % 97)
    return (
        f"node170:{5472 + rank}:{5617 + rank} [{rank}] NCCL INFO {op}: opCount {turn:x} sendbuff {address:#x} "
        f"recvbuff {address:#x} count {count} datatype 7 op 0 root 0 comm {0x59FF33DDEF10 + rank:#x} [nranks={RANKS}] "
        f"stream {0x59FF339578F0 + rank:#x}\n"
    )


def init_lines() -> str:
    """The ranks enter their communicator."""
    return "".join(
        f"node170:{5472 + rank}:{5472 + rank} [{rank}] NCCL INFO ncclCommInitRank comm {0x59FF33DDEF10 + rank:#x} rank "
        f"{rank} nranks {RANKS} cudaDev {rank} nvmlDev {rank} busId 1000 commId 0x77 - Init COMPLETE\n"
        for rank in range(RANKS)
    )


def nccl_calls(megabytes: float, folder: Path) -> list[Path]:
    """A log that is nearly all calls."""
    return write(folder / "calls.log", megabytes, map(call_line, itertools.count()), init_lines())


def nccl_twice(megabytes: float, folder: Path) -> list[Path]:
    """A log that is all calls, each told by INFO and again by CALL."""

    def lines() -> Iterator[str]:
        for number in itertools.count():
            turn, rank = divmod(number, RANKS)
            yield call_line(number)
            called = f"7d4d82000000,7d4d82000000,{SIZES[turn % 5]},7,0,0,{0x59FF33DDEF10 + rank:#x},0x59ff339578f0"
            yield f"node170:{5472 + rank}:{5617 + rank} NCCL CALL nccl{OPS[turn % 4]}({called})\n"

    return write(folder / "twice.log", megabytes, lines(), init_lines())


def nccl_mixed(megabytes: float, folder: Path) -> list[Path]:
    """A log of which 4 % are calls."""
    dull = "node170:5472:5617 [0] NCCL INFO Channel 05/0 : 0[0] -> 1[1] via P2P/CUMEM/read and some more of the like\n"
    lines = (call_line(number // 25) if number % 25 == 0 else dull for number in itertools.count())
    return write(folder / "mixed.log", megabytes, lines, init_lines())


def inspector(megabytes: float, folder: Path) -> list[Path]:
    """Dumps of NCCL Inspector, the ranks' objects in one file."""

    def lines() -> Iterator[str]:
        for number in itertools.count():
            turn, rank = divmod(number, RANKS)
            size = SIZES[turn % 5] * 4
            told = {
                "coll": OPS[turn % 4],
                "coll_sn": turn,
                "coll_msg_size_bytes": size,
                "coll_exec_time_us": 61 + turn % 9,
            }
            told |= {"coll_timing_source": "kernel_gpu", "coll_algobw_gbs": 276.038818, "coll_busbw_gbs": 483.067932}
            about = {"inspector_output_format_version": "v4.0", "git_rev": "", "rec_mechanism": "profiler_plugin"}
            about |= {"dump_timestamp_us": 1748030377748202 + number, "hostname": "node1", "pid": 100 + rank}
            header = {"id": "0x7f8c496ae9f661", "rank": rank, "n_ranks": RANKS, "nnodes": 1}
            yield json.dumps({"header": header, "metadata": about, "coll_perf": told}) + "\n"

    return write(folder / "inspector.json", megabytes, lines())


def nccl_profiler(megabytes: float, folder: Path) -> list[Path]:
    """A trace of NCCL's example profiler; half of its events are collectives."""

    def lines() -> Iterator[str]:
        for number in itertools.count():
            turn, rank = divmod(number, RANKS)
            start = {"cat": "COLL", "id": number, "pid": 3937375 + rank, "tid": 1}
            args = {"SeqNum": turn, "CommHash": 12715772615376301750, "Rank": rank, "Count": SIZES[turn % 5]}
            args |= {"Datatype": "ncclFloat32", "Algorithm": "RING", "Protocol": "SIMPLE", "nChannels": 16}
            name, at = {"name": OPS[turn % 4]}, turn * 100.0 + 0.097656
            yield json.dumps(name | start | {"ph": "b", "ts": at, "args": args}) + ",\n"
            other = {"name": "KernelCh", "cat": "GPU", "ph": "b", "id": number, "pid": 1, "tid": 1, "ts": at}
            yield json.dumps(other | {"args": {"Channel": 16, "StartGpuClk": 1765223116927674080}}) + ",\n"
            yield json.dumps(name | start | {"ph": "e", "ts": at + 50}) + ",\n"

    return write(folder / "profiler.json", megabytes, lines(), "[\n", '{"name": "end"}]\n')


def recorded(number: int, *, json_only: bool = True) -> Json:
    """An entry of the flight recorder."""
    shape = [SIZES[number % 5]]
    entry: Json = {
        "record_id": number, "pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": number + 1,
        "p2p_seq_id": 0, "op_id": number + 1, "profiling_name": f"nccl:{TORCH_OPS[number % 4]}",
        "time_created_ns": 1796007132660218264 + number * 1000, "input_sizes": [shape], "input_dtypes": ["Float"],
        "output_sizes": [shape], "output_dtypes": ["Float"], "state": "completed", "retired": True,
        "time_discovered_started_ns": 0, "time_discovered_completed_ns": 0, "timeout_ms": 1800000, "is_p2p": False,
        "thread_id": "140694518233984", "thread_name": "python",
    }  # fmt: skip
    if not json_only:
        frames = [
            {"name": f"step{each}", "filename": "/opt/torch/distributed/c10d_logger.py", "line": 75 + each}
            for each in range(12)
        ]
        entry |= {"process_group": ("0", "default_pg"), "frames": frames}
    return entry


def recorder_config() -> Json:
    """What stands beside the entries."""
    return {"0": {"name": "0", "desc": "default_pg", "ranks": str([0])}}


def flight_recorder(megabytes: float, folder: Path) -> list[Path]:
    """A dump of the flight recorder in JSON."""
    texts = (json.dumps(recorded(number)) + ",\n" for number in itertools.count())
    tail = f'{json.dumps(recorded(10**9))}], "pg_config": {json.dumps(recorder_config())}, "version": "2.10"}}'
    return write(folder / "fr_rank0.json", megabytes, texts, '{"entries": [', tail)


def flight_pickle(megabytes: float, folder: Path) -> list[Path]:
    """A dump of the flight recorder with its stacks, pickled."""
    one = len(pickle.dumps([recorded(number, json_only=False) for number in range(1000)], 2)) / 1000
    entries = [recorded(number, json_only=False) for number in range(int(megabytes * 1e6 / one))]
    path = folder / "nccl_trace_rank_0"
    path.write_bytes(pickle.dumps({"entries": entries, "pg_config": recorder_config(), "version": "2.10"}, 2))
    return [path]


def param_comms(megabytes: float, folder: Path) -> list[Path]:
    """A communication trace of param."""
    names = ("all_reduce", "all_gather_base", "reduce_scatter_base", "broadcast")

    def entries() -> Iterator[str]:
        for number in itertools.count():
            told = {"comms": names[number % 4], "req": [number, False], "in_msg_size": SIZES[number % 5]}
            told |= {"out_msg_size": SIZES[number % 5], "dtype": "float", "pg_id": 0, "world_size": 1, "root": 0}
            yield json.dumps(told) + ",\n"

    return write(folder / "comms.rank0.json", megabytes, entries(), "[", '{"comms": "wait", "req": [0, false]}]')


def kineto_text(megabytes: float, path: Path, share: int) -> list[Path]:
    """A trace of the profiler of which every so-manyth event is a collective."""
    args = {"External id": 7}
    plain = {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 7, "ts": 1.5, "dur": 2, "args": args}
    dull = json.dumps(plain) + ",\n"

    def events() -> Iterator[str]:
        for number in itertools.count():
            if number % share:
                yield dull
                continue
            args = {
                "Collective name": "allreduce",
                "In msg nelems": SIZES[number % 5],
                "Out msg nelems": SIZES[number % 5],
            }
            args |= {"dtype": "Float", "Process Group Name": "0", "Group size": 1, "In split size": "[]", "stream": 20}
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
            event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 20, "ts": number * 10.5, "dur": 5.25}
            yield json.dumps(event | {"args": args}) + ",\n"

    info = {"backend": "nccl", "rank": 0, "world_size": 1, "pg_config": [{"pg_name": "0", "pg_size": 1, "ranks": [0]}]}
    head = f'{{"schemaVersion": 1, "distributedInfo": {json.dumps(info)}, "traceEvents": [\n'
    return write(path, megabytes, events(), head, '{"name": "end"}], "traceName": "x"}')


def kineto(megabytes: float, folder: Path) -> list[Path]:
    """A profiler's trace as they are: one event in a hundred is a collective."""
    return kineto_text(megabytes, folder / "trace.rank0.json", 100)


def kineto_dense(megabytes: float, folder: Path) -> list[Path]:
    """A profiler's trace of which half the events are collectives."""
    return kineto_text(megabytes, folder / "dense.rank0.json", 2)


def pytorch_et(megabytes: float, folder: Path) -> list[Path]:
    """An execution trace of the host; one node in twenty is a collective."""

    def nodes() -> Iterator[str]:
        for number in itertools.count():
            attrs: Json = {"rf_id": number}
            name, values = "aten::add", [[5, 6, 0, 64, 4, "cuda:0"], 1]
            if number % 20 == 0:
                name, values = "record_param_comms", [[], 5, ["0", "default_pg"], 0, "allreduce", [], []]
                attrs |= {"collective_name": "allreduce", "dtype": "Float", "in_msg_nelems": SIZES[number % 5]}
                attrs |= {"out_msg_nelems": SIZES[number % 5], "pg_name": "0", "pg_size": 1}
            listed = [{"name": key, "type": "string", "value": value} for key, value in attrs.items()]
            node = {
                "id": number,
                "name": name,
                "ctrl_deps": 2,
                "inputs": {"values": values, "types": []},
                "attrs": listed,
            }
            yield json.dumps(node) + ",\n"

    head = '{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "2026-01-01", "start_ts": 1, "nodes": ['
    return write(folder / "host.rank0.json", megabytes, nodes(), head, '{"id": 0, "name": "end"}]}')


def native(megabytes: float, folder: Path) -> list[Path]:
    """netsim's own lines."""
    line = '{"op": "all_reduce", "group": "world", "bytes": %d, "dtype": "bf16", "stream": "s%d"}\n'
    lines = (line % (SIZES[number % 5], number % 3) for number in itertools.count())
    return write(folder / "native.jsonl", megabytes, lines, '{"netsim": 1, "ranks": 8}\n')


def goal(megabytes: float, folder: Path) -> list[Path]:
    """A GOAL text of two ranks: computing, sending, receiving, one after another."""
    pairs = int(megabytes * 1e6 / 210)

    def rank(own: int) -> Iterator[str]:
        yield f"rank {own} {{\n"
        for number in range(pairs):
            at, kind, way = 3 * number, ("send", "to") if own == 0 else ("recv", "from"), 1 - own
            yield f"l{at}: calc 100\nl{at + 1}: {kind[0]} {SIZES[number % 5]}b {kind[1]} {way} tag {number % 9}\n"
            yield f"l{at + 1} requires l{at}\n" + (f"l{at} requires l{at - 2}\n" if number else "")
        yield "}\n"

    path = folder / "job.goal"
    with path.open("w", encoding="ascii") as file:
        file.write("num_ranks 2\n")
        file.writelines(itertools.chain(rank(0), rank(1)))
    return [path]


def aicb_csv(megabytes: float, folder: Path) -> list[Path]:
    """A workload of AICB as CSV."""
    head = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,busbw,count\n"
    line = "CommType.all_reduce,CommGroup.dp_group,8,%d,forward.layer%d,None,None,,0.15667200088500977,0.0,0.0,1\n"
    return write(folder / "aicb.csv", megabytes, (line % (SIZES[n % 5], n % 40) for n in itertools.count()), head)


def simai(megabytes: float, folder: Path) -> list[Path]:
    """A workload of SimAI."""
    row = "layernorm\t-1\t1\tALLGATHER\t%d\t1\tALLREDUCE\t%d\t1\tNONE\t0\t100\n"
    rows = int(megabytes * 1e6 / len(row % (SIZES[0], SIZES[0])))
    path = folder / "simai.txt"
    head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8"
    head += " checkpoints: 0 checkpoint_initiates: 0"
    with path.open("w", encoding="ascii") as file:
        file.write(f"{head}\n{rows}\n")
        file.writelines(row % (SIZES[number % 5], SIZES[number % 3]) for number in range(rows))
    return [path]


def htsim_cm(megabytes: float, folder: Path) -> list[Path]:
    """A connection matrix of htsim."""
    line = "%d->%d id %d start %d size 2000000\n"
    flows = int(megabytes * 1e6 / len(line % (500, 501, 500000, 5000000)))
    path = folder / "matrix.cm"
    with path.open("w", encoding="ascii") as file:
        file.write(f"Nodes 1024\nConnections {flows}\n")
        file.writelines(
            line % (n % 1024, (n * 7 + 1) % 1024, n + 1, n) for n in range(flows) if n % 1024 != (n * 7 + 1) % 1024
        )
    return [path]


def field(number: int, value: int | bytes) -> bytes:
    """A field of a protobuf message: a number, or bytes behind their length."""
    head, content = (number << 3 | 2, value) if isinstance(value, bytes) else (number << 3, b"")
    numbers = (head, len(value)) if isinstance(value, bytes) else (head, value)
    return b"".join(map(varint, numbers)) + content


def varint(value: int) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    groups = [value >> shift & 127 for shift in range(0, max(1, value.bit_length()), 7)]
    return bytes([each | 128 for each in groups[:-1]] + groups[-1:])


def chakra(megabytes: float, folder: Path) -> list[Path]:
    """A trace of Chakra's converter: one node in fifty is a collective, and most have attributes nobody needs."""
    names = (b"rf_id", b"fw_parent", b"seq_id", b"scope", b"tid", b"fw_tid", b"op_schema", b"kernel_backend")
    idle = b"".join(field(10, field(1, name) + field(29, b"aten::native_batch_norm(Tensor input)")) for name in names)
    size, number, path = 0, 0, folder / "job.0.et"
    with path.open("wb") as file:
        file.write(b"\x00")
        while size < megabytes * 1e6:
            number += 1
            told = [
                field(1, number),
                field(2, b"void at::native::vectorized_elementwise_kernel<4, at::native::AUnary>"),
            ]
            if number % 50:
                told += [field(3, 4), field(7, 12), idle]
            else:
                told += [field(3, 7), field(7, 300), field(10, field(1, b"comm_type") + field(9, 0))]
                told += [field(10, field(1, b"comm_size") + field(9, 4 * SIZES[number % 5])), idle]
            node = b"".join([*told, field(5, varint(number - 1))])
            size += file.write(varint(len(node)) + node)
    return [path]


Maker = Callable[[float, Path], list[Path]]
MAKERS: dict[str, Maker] = {
    each.__name__: each
    for each in (
        *(nccl_calls, nccl_twice, nccl_mixed, inspector, nccl_profiler, flight_recorder, flight_pickle, param_comms),
        *(kineto, kineto_dense, pytorch_et, native, chakra, goal, aicb_csv, simai, htsim_cm),
    )
}
