"""A file that ends too early, or lacks a piece, gives the same collectives, or fewer, or an InputError of one line."""

from __future__ import annotations

import json
import pickle
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import Trace, read
from tests.traces.nccl.test_inspector import profiled
from tests.traces.torch.pytorch_files import (
    call,
    entry,
    event,
    host_call,
    host_trace,
    inspected,
    kernel,
    kineto,
    node,
    recorder,
)


def _kineto() -> bytes:
    shapes = {"Input Dims": [[250]], "Input type": ["float"]}
    with tempfile.TemporaryDirectory() as folder:
        events = [
            call(1, name="allreduce", sent=250),
            event("nccl:all_reduce", "user_annotation", 2, 1, shapes),
            call(3, name="_allgather_base", sent=10, received=20, pg="tp"),
            kernel(10, 5, name="allreduce", sent=250),
            kernel(20, 5, op="AllGather", name="_allgather_base", sent=10, received=20, pg="tp"),
        ]
        return kineto(Path(folder), 0, events).read_bytes()


def _host() -> bytes:
    groups = node(2, "## process_group:init ##", ['[{"pg_name": "0", "ranks": [0, 1], "group_size": 2}]'], ["String"])
    calls = [host_call(9, "allreduce", 10, 10, rank=0), host_call(12, "all_to_all", 8, 8, rank=0)]
    return host_trace([groups, *calls]).encode()


ENTRIES = [entry(1), entry(2, "nccl:broadcast", [[3, 4]]), entry(3, "nccl:send 0->1", [[5]], p2p_seq_id=1)]
COMMS = [
    {"comms": op, "in_msg_size": 8, "out_msg_size": 8, "dtype": "float", "pg_id": 0} for op in ("all_reduce", "reduce")
]
FILES: dict[str, Callable[[], bytes]] = {
    "kineto.rank0.json": _kineto,
    "host.rank0.json": _host,
    "fr_rank0": lambda: json.dumps(recorder(0, ENTRIES)).encode(),
    "fr_rank0.pickle": lambda: pickle.dumps(recorder(0, ENTRIES), protocol=2),
    "inspector.json": lambda: b"\n".join(json.dumps(inspected(r, n)).encode() for n in (1, 2) for r in (0, 1)),
    "profiler.json": lambda: ("[\n" + "".join(f"{profiled(r, ts=t)},\n" for t in (1, 2) for r in (0, 1))).encode(),
    "param.rank0.json": lambda: json.dumps([{"comms": "init", "pg_id": 0, "world_size": 2}, *COMMS], indent=1).encode(),
}


def recorded(trace: Trace) -> Counter[tuple[str, int, str]]:
    return Counter((each.op, each.bytes, each.dtype) for each in trace.operations if each.op != "compute")


def attempt(name: str, content: bytes) -> Trace | None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            trace = read(path, partial=True)
        except InputError as error:
            assert "\n" not in str(error)
            assert str(path) in str(error)
            assert error.hint
            return None
    assert all(set(each.ranks) <= set(range(trace.ranks)) for each in trace.operations)
    return trace


@pytest.mark.parametrize("name", FILES)
def test_whole_file_is_read(name: str) -> None:
    trace = attempt(name, FILES[name]())
    assert trace is not None
    assert sum(recorded(trace).values()) >= 2


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_prefix_gives_the_same_or_fewer(name: str, data: st.DataObject) -> None:
    whole = FILES[name]()
    full = attempt(name, whole)
    part = attempt(name, whole[: data.draw(st.integers(1, len(whole)))])
    assert full is not None
    if part is not None:
        assert recorded(part) <= recorded(full)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_piece_cut_out_or_changed_is_no_traceback(name: str, data: st.DataObject) -> None:
    whole = FILES[name]()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 60)))
    attempt(name, whole[:start] + data.draw(st.binary(max_size=6)) + whole[end:])
