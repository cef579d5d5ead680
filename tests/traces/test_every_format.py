"""What holds for the files of every format, whole, damaged or hostile."""

import gzip
import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces import READERS, Trace, format_of, read
from tests.inputs import refusal, saved
from tests.traces.small_files import LOG, MATRIX, NATIVE, SMALL

WHOLE = [name for name in SMALL if name != "chakra"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
OTHERS_WHEN_CUT = ("aicb_csv", "nccl_log")  # a number's last figures go; sends whose receives go are flows no more
PIECES = st.binary(max_size=8) | st.text("0123456789-:{}, \n\tabcrNEOL", max_size=8).map(str.encode)


def attempt(content: bytes, **options: bool) -> Trace | None:
    """A trace whose ranks and operations exist, or None for an InputError that names the file and says what to do."""
    with tempfile.TemporaryDirectory() as folder:
        path = saved(Path(folder) / "job.rank0.x", content)
        try:
            trace = read(path, **options)
        except InputError as error:
            assert str(path) in str(error)
            assert error.hint
            return None
    assert len(trace.by_rank()) == trace.ranks
    assert all(set(each.ranks) <= set(range(trace.ranks)) for each in trace.operations)
    assert all(number < place for place, each in enumerate(trace.operations) for number in each.after)
    return trace


def recorded(trace: Trace) -> Counter[tuple[str, int, str]]:
    return Counter((each.op, each.bytes, each.dtype) for each in trace.operations if each.op != "compute")


def test_there_is_a_small_file_of_every_format() -> None:
    assert {small.format for small in SMALL.values()} == set(READERS)


@pytest.mark.parametrize("name", SMALL)
def test_the_format_is_known_by_the_content(tmp_path: Path, name: str) -> None:
    assert format_of(saved(tmp_path / "nameless", SMALL[name].content)) == SMALL[name].format


@pytest.mark.parametrize("name", WHOLE)
def test_a_packed_file_reads_the_same(name: str) -> None:
    plain, packed = (attempt(each, partial=True) for each in (SMALL[name].content, gzip.compress(SMALL[name].content)))
    assert plain is not None
    assert packed is not None
    assert plain.operations == packed.operations
    assert recorded(plain).total() >= 1 + (name != "htsim_cm")  # which is one operation


@pytest.mark.parametrize("name", SMALL)
def test_any_prefix_gives_the_same_or_fewer(name: str) -> None:
    content = SMALL[name].content
    whole = attempt(content, partial=True)
    for end in range(1, len(content), 1 + len(content) // 720):
        part = attempt(content[:end], partial=True)
        if whole and part:
            assert part.report.records <= whole.report.records
            assert recorded(part) <= recorded(whole) or name in OTHERS_WHEN_CUT


@pytest.mark.parametrize(("name", "at"), [("kineto", b'"ph"'), ("inspector", b"coll_perf"), ("profiler", b"Datatype")])
def test_what_stands_before_a_cut_is_kept(name: str, at: bytes) -> None:
    content = SMALL[name].content
    whole, part = (attempt(each, partial=True) for each in (content, content[: content.rindex(at)]))
    assert whole is not None
    assert part is not None
    assert recorded(part).total() == recorded(whole).total() - (name == "kineto")  # the others have it of another rank
    assert (whole.report.cut, part.report.cut) == (0, 1)


@pytest.mark.parametrize("name", SMALL)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_piece_replaced_or_moved_is_no_traceback(name: str, data: st.DataObject) -> None:
    content = SMALL[name].content
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(start + 8, len(content))) | st.integers(start, len(content)))
    rest, to = content[:start] + content[end:], data.draw(st.integers(0, len(content)))
    options = data.draw(st.sampled_from(({}, {"fill_missing_ranks": True}, {"partial": True})))
    for changed in (content[:start] + data.draw(PIECES) + content[end:], rest[:to] + content[start:end] + rest[to:]):
        attempt(changed, **options)


@pytest.mark.parametrize("whole", [NATIVE, LOG, MATRIX], ids=["native", "nccl_log", "htsim_cm"])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_lines_in_any_order(whole: list[str], data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(whole), max_size=25))
    for fill in (False, True):
        attempt("\n".join(lines).encode(), fill_missing_ranks=fill)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    attempt(content)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NATIVE), st.data())
def test_a_native_line_with_another_value(line: str, data: st.DataObject) -> None:
    values = json.loads(line)
    key = data.draw(st.sampled_from([*values, "root", "sizes", "stream"]))
    values[key] = data.draw(VALUES)
    attempt("\n".join([*NATIVE[: line != NATIVE[0]], json.dumps(values)]).encode())


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name].lacks_ranks])
def test_missing_ranks_are_refused_filled_in_or_a_finding(tmp_path: Path, name: str) -> None:
    path = saved(tmp_path / "job.rank0.x", SMALL[name].content)
    text = refusal(read, path)
    assert re.search(r"job.rank0.x:\d+: only 1 of 2 ranks of a communicator are in the log \(not 1\)", text)
    assert "--fill-missing-ranks (fill_missing_ranks=True)" in text
    filled, partial = read(path, fill_missing_ranks=True), read(path, partial=True)
    assert filled.report.seen == partial.report.seen == (0,)
    assert any("by symmetry" in each for each in filled.report.assumed)
    assert not any("by symmetry" in each for each in partial.notes)
    assert any("1 of 2 ranks" in each for each in partial.report.findings)
    assert not any("of 2 ranks of a communicator" in each for each in filled.report.findings)


@pytest.mark.parametrize("name", ["native", "htsim_cm", "goal", "goal binary", "simai", "aicb_csv"])
def test_one_file_holds_all_ranks(tmp_path: Path, name: str) -> None:
    paths = [saved(tmp_path / each, SMALL[name].content) for each in "ab"]
    assert "is one file, not 2; give one file" in refusal(read, paths)


PARAM_CALL, TOO_DEEP = '"name": "record_param_comms", ', ":1: this is not JSON"
BOMBS = [  # what stands before the brackets
    ("native", '{"netsim": 1, "ranks": 2}\n', ":2: brackets are nested deeper than 16"),
    ("chakra", '{"workload_graph": [', TOO_DEEP),
    ("nccl_profiler", '[\n{"name": "AllReduce", "cat": "COLL", "ph": "b", "args": ', "no collective or transfer"),
    ("kineto", '{"traceEvents": [{"ph": "X", ' + PARAM_CALL + '"args": ', TOO_DEEP),
    ("kineto", '{"traceEvents": [{"ph": "X", "name": "ncclX", "cat": "kernel", "args": ', TOO_DEEP),
    ("kineto", '{"traceEvents": [{"ph": "X", "cat": "kernel", "args": ', "there are no NCCL collectives"),
    ("inspector", '{"coll_perf": ', TOO_DEEP),
    ("flight_recorder", '{"entries": [{"profiling_name": ', TOO_DEEP),
    ("flight_recorder", '{"pg_config": {}, "entries": [', TOO_DEEP),
    ("pytorch_et", '{"schema": "1.1.1-chakra.0.0.4", "nodes": [{' + PARAM_CALL + '"inputs": ', TOO_DEEP),
    ("pytorch_et", '{"schema": "1.0.1", "nodes": [{' + PARAM_CALL + '"inputs": ', TOO_DEEP),
    ("param_comms", '[{"comms": "init"}, ', TOO_DEEP),
    ("param_comms", '[{"comms": "init", "pg_id": ', TOO_DEEP),
]


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
@pytest.mark.parametrize(("name", "before", "what"), BOMBS)
def test_100_000_brackets_are_refused(tmp_path: Path, name: str, before: str, what: str, bracket: str) -> None:
    path = saved(tmp_path / "job.rank0.json", before + bracket * 100_000)
    assert format_of(path) == name
    text = refusal(read, path, fill_missing_ranks=True)
    assert f"{path}{what}" in text if what.startswith(":") else what in text
    assert "nested" in text or not what.startswith(":")
    assert len(text) < 500
