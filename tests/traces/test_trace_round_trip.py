"""Whatever trace there is: written and read back, it is the same."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.traces import Group, Operation, Trace, read, write_native
from netsim.traces.matrix import matrix
from netsim.traces.trace import ROOTED, Flows, Turn

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
BYTES = st.integers(0, 1 << 50)
TIMES = st.integers(0, 1 << 61)
RANKS = 5
SOME_RANKS = st.lists(st.integers(0, RANKS - 1), min_size=1, unique=True).map(tuple)
TWO = st.tuples(st.integers(0, RANKS - 1), st.integers(0, RANKS - 1)).filter(lambda ends: ends[0] != ends[1])


@st.composite
def operations(draw: st.DrawFn, groups: dict[str, Group]) -> Operation:
    when: dict[str, Any] = {
        "start_ps": draw(TIMES),
        "stream": draw(st.just("default") | NAMES),
        "recorded_start_ps": draw(st.none() | TIMES),
        "recorded_duration_ps": draw(st.none() | TIMES),
    }
    kinds = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", *ROOTED)
    op = draw(st.sampled_from((*kinds, "all_to_all_v", "barrier", "send", "flows", "compute")))
    group = groups[draw(st.sampled_from(sorted(groups)))]
    if op == "compute":
        name, ranks = draw(st.just((group.name, group.ranks)) | st.tuples(st.none(), SOME_RANKS))
        return Operation(op, name, ranks, duration_ps=draw(TIMES), **when)
    when["algorithm"] = draw(st.none() | NAMES)
    if op == "flows":
        flows = tuple((*ends, size) for ends, size in draw(st.lists(st.tuples(TWO, BYTES), min_size=1, max_size=4)))
        return Operation(op, **matrix(flows, draw(turns(flows))), **when)
    if op == "barrier":
        return Operation(op, group.name, group.ranks, **when)
    when["dtype"] = draw(st.just("") | NAMES)
    if op == "send":
        src, dst = draw(TWO)
        return Operation(op, None, (src, dst), draw(BYTES), src=src, dst=dst, **when)
    if op == "all_to_all_v":
        row = st.tuples(*[BYTES] * len(group.ranks))
        sizes = draw(st.tuples(*[row] * len(group.ranks)))
        return Operation(op, group.name, group.ranks, max(map(sum, sizes)), sizes=sizes, **when)
    root = draw(st.integers(0, len(group.ranks) - 1)) if op in ROOTED else 0
    return Operation(op, group.name, group.ranks, draw(BYTES), root=root, **when)


@st.composite
def turns(draw: st.DrawFn, flows: Flows) -> list[Turn]:
    """Each flow waits for some that touch its source; those without bytes neither wait nor are awaited."""
    able = [number for number, flow in enumerate(flows) if flow[2]]
    listed = []
    for number, flow in enumerate(flows):
        near = [each for each in able if each != number and flow[0] in flows[each][:2] and flow[2]]
        after = draw(st.lists(st.sampled_from(near), unique=True)) if near else []
        listed.append(Turn(draw(st.just(0) | TIMES), tuple(after), draw(st.integers(0, 3))))
    return listed


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    names = draw(st.lists(NAMES.filter(lambda name: name != "world"), max_size=3, unique=True))
    groups = {name: Group(name, draw(SOME_RANKS)) for name in names}
    groups["world"] = Group("world", tuple(range(RANKS)))
    listed = draw(st.lists(operations(groups), max_size=6))
    notes = draw(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=2))
    return Trace(draw(NAMES), RANKS, groups, tuple(listed), notes=tuple(notes))


@settings(max_examples=150, deadline=None)
@given(traces(), st.sampled_from(["t.jsonl", "t.jsonl.gz"]))
def test_written_and_read_back_it_is_the_same(trace: Trace, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_native(trace, path)
        again = read(path)
        first = path.read_bytes()
        write_native(again, path)
        assert path.read_bytes() == first
    assert again.operations == trace.operations
    assert (again.name, again.ranks, again.groups, again.notes) == (trace.name, RANKS, trace.groups, trace.notes)
    assert again.digest() == trace.digest()
    assert [operation.line for operation in again.operations] == list(range(2, 2 + len(trace.operations)))
