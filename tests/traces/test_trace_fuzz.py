"""Whatever a file holds, reading it gives a trace whose ranks exist, or an InputError of one line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import Trace, read
from tests.traces.nccl.nccl_lines_of import call, init, world

LINES = [
    *['{"netsim": 1, "ranks": 4, "groups": {"tp": [0, 1]}}', '{"op": "all_reduce", "group": "tp", "bytes": 8}'],
    '{"op": "flows", "flows": [[0, 1, 5], {"src": 1, "dst": 0, "bytes": 5, "start": "1us", "after": [0]}]}',
    *['{"op": "flows", "flows": [[0, 1, 5]]}', '{"op": "send", "src": 0, "dst": 1, "bytes": 8, "start": "1us"}'],
    *['{"op": "all_to_all_v", "group": "tp", "sizes": [[0, 1], [1, 0]], "recorded": {"start": "1ms"}}'],
    *[
        '{"op": "compute", "ranks": [0], "duration": "12us"}',
        '{"op": "broadcast", "group": "tp", "bytes": 8, "root": 1}',
    ],
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LOG = [
    *world(2),
    init(100, 0xB0, 0, 1, "", " parent 0xa0 color 1 key 0"),
    *[call(100 + rank, 0xA0 + rank, 2, op, root=1 - rank) for op in ("AllReduce", "Send", "Recv") for rank in (0, 1)],
    *["n:1:1 NCCL CALL ncclAllReduce(10,20,10,7,0,0,0xa0,0x1)", call(100, 0xB0, 1)],
]


def safe(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        for fill in (False, True):
            trace = _read(path, fill)
            if trace is not None:
                assert len(trace.by_rank()) == trace.ranks
                assert all(set(each.ranks) <= set(range(trace.ranks)) for each in trace.operations)


def _read(path: Path, fill: bool) -> Trace | None:
    try:
        return read(path, fill_missing_ranks=fill)
    except InputError as error:
        text, hint = str(error), error.hint
    assert "\n" not in text
    assert str(path) in text
    assert hint
    return None


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    safe(content)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(LINES), st.data())
def test_a_native_line_with_another_value(line: str, data: st.DataObject) -> None:
    values = json.loads(line)
    key = data.draw(st.sampled_from([*values, "root", "sizes", "stream"]))
    values[key] = data.draw(VALUES)
    lines = [json.dumps(values)] if "netsim" in line else [LINES[0], json.dumps(values)]
    safe("\n".join(lines).encode())


@pytest.mark.parametrize("whole", [LINES, LOG], ids=["native", "nccl_log"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_file_with_a_piece_cut_out_or_moved(whole: list[str], data: st.DataObject) -> None:
    content = "\n".join(whole).encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    to = data.draw(st.integers(0, len(content)))
    rest = content[:start] + content[end:]
    safe(rest)
    safe(rest[:to] + content[start:end] + rest[to:])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(LOG), max_size=25))
def test_lines_of_a_log_in_any_order(lines: list[str]) -> None:
    safe("\n".join(lines).encode())
