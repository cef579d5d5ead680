"""The native format: every key is read, and every mistake ends in one line with file, line and mend."""

import gzip
import json
import re
from pathlib import Path

import pytest

from netsim.traces import OPERATIONS, Group, Operation, read
from netsim.traces.native import KEYS
from tests.inputs import check_refusal, refusal, saved

HEADER = '{"netsim": 1, "ranks": 4, "groups": {"tp": [2, 0]}}'


def trace_file(folder: Path, *lines: str) -> Path:
    return saved(folder / "job.jsonl", lines)


def refused(path: Path) -> str:
    text = refusal(read, path)
    assert str(path) in text
    return text


def test_header_gives_ranks_groups_and_name(tmp_path: Path) -> None:
    trace = read(trace_file(tmp_path, HEADER))
    assert (trace.name, trace.ranks, trace.operations) == ("job", 4, ())
    assert trace.groups == {"world": Group("world", (0, 1, 2, 3)), "tp": Group("tp", (2, 0))}


ALL, TP = (0, 1, 2, 3), (2, 0)
READ = {  # a group keeps its order, a root is a position in it; sizes and times may carry units
    '"op": "broadcast", "group": "tp", "bytes": 8, "root": 1': Operation("broadcast", "tp", TP, 8, root=1),
    '"op": "all_reduce", "group": "world", "bytes": "2KiB"': Operation("all_reduce", "world", ALL, 2048),
    '"op": "barrier", "group": "tp", "start": "1.5us"': Operation("barrier", "tp", TP, start_ps=1_500_000),
    '"op": "barrier", "group": "tp", "algorithm": "ring"': Operation("barrier", "tp", TP, algorithm="ring"),
    '"op": "barrier", "group": "tp", "stream": "s"': Operation("barrier", "tp", TP, stream="s"),
    '"op": "barrier", "group": "tp", "recorded": {"start": "1ms", "duration": "20ns"}': Operation(
        "barrier", "tp", TP, recorded_start_ps=10**9, recorded_duration_ps=20_000
    ),
    '"op": "send", "src": 3, "dst": 1, "bytes": 7, "dtype": "bf16"': Operation(
        "send", None, (3, 1), 7, "bf16", src=3, dst=1
    ),
    '"op": "flows", "flows": [[3, 1, 5], [1, 0, "1KiB"]]': Operation(
        "flows", None, (0, 1, 3), 1029, flows=((3, 1, 5), (1, 0, 1024))
    ),
    '"op": "compute", "ranks": [3, 0], "duration": "12us"': Operation("compute", None, (3, 0), duration_ps=12_000_000),
    '"op": "compute", "group": "tp", "duration": "12us"': Operation("compute", "tp", TP, duration_ps=12_000_000),
    '"op": "all_to_all_v", "group": "tp", "sizes": [[1, 2], [30, 4]]': Operation(  # its bytes are the largest row's
        "all_to_all_v", "tp", TP, 34, sizes=((1, 2), (30, 4))
    ),
}


@pytest.mark.parametrize("line", READ)
def test_a_line_is_an_operation(tmp_path: Path, line: str) -> None:
    (operation,) = read(trace_file(tmp_path, HEADER, f"{{{line}}}")).operations
    assert operation == READ[line]


def test_every_operation_has_its_keys() -> None:
    assert set(KEYS) == set(OPERATIONS)


def test_byte_order_mark_blank_lines_and_crlf(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + HEADER.encode() + b'\r\n\r\n{"op": "barrier", "group": "tp"}'
    path = saved(tmp_path / "job.jsonl", content)
    (operation,) = read(path).operations
    assert operation.line == 3


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        ('{"op": "all_reduce", "group": "tp", "bytes": 8', "not JSON", "was the file cut"),
        ('{"op": "allreduce", "group": "tp", "bytes": 8}', "unknown operation", "did you mean 'all_reduce'"),
        ('{"op": "all_reduce", "group": "word", "bytes": 8}', 'no group "word"', "did you mean 'world'"),
        ('{"op": "all_reduce", "group": "tp"}', '"bytes" is missing', 'add "bytes"'),
        ('{"op": "all_reduce", "bytes": 8}', '"group" is missing', 'add "group": "world"'),
        ('{"group": "tp", "bytes": 8}', '"op" is missing', 'add "op"'),
        ('{"op": "all_reduce", "group": "tp", "bytes": -8}', '"bytes" must be between 0', "like"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 8.5}', "not a fraction 8.5", "whole number"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 2e6}', "not a fraction", "whole number"),
        ('{"op": "all_reduce", "group": "tp", "bytes": "8.5B"}', "\"bytes\": '8.5B'", "size like"),
        ('{"op": "all_reduce", "group": "tp", "bytes": "unlimited"}', "must be between", "like"),
        ('{"op": "all_reduce", "group": "tp", "bytes": true}', "not a truth", "whole number"),
        ('{"op": "all_reduce", "group": "tp", "bytes": null}', "not null", "whole number"),
        ('{"op": "all_reduce", "group": "tp", "bytes": NaN}', "NaN is not a number", "whole number"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 1' + 5000 * "0" + "}", "a number is too long", "JSON"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 1' + 4000 * "0" + "}", "must be between", "like"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 8, "bytes": 9}', '"bytes" stands here twice', "keep one"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 8, "byts": 9}', 'no key "byts"', "did you mean 'bytes'"),
        ('{"op": "all_reduce", "group": ["tp"], "bytes": 8}', "must be a text, not a list", "write"),
        ('{"op": "all_reduce", "group": "tp", "bytes": 8, "root": 0}', 'no key "root"', "one of"),
        ('{"op": "broadcast", "group": "tp", "bytes": 8, "root": 2}', '"root" must be between 0 and 1', "like"),
        ('{"op": "barrier", "group": "tp", "start": 5}', "a time with its unit", '"12us"'),
        ('{"op": "barrier", "group": "tp", "start": "5"}', "\"start\": '5' has no unit", "500ns"),
        ('{"op": "barrier", "group": "tp", "start": "-5ns"}', "negative", "500ns"),
        ('{"op": "barrier", "group": "tp", "stream": "a\\nb"}', "not printable", "write"),
        ('{"op": "barrier", "group": "tp", "stream": "\\ud800"}', "not printable", "write"),
        ('{"op": "barrier", "group": "tp", "recorded": 5}', '"recorded" must be an object', "duration"),
        ('{"op": "barrier", "group": "tp", "recorded": {"stop": "1us"}}', 'no key "stop"', "one of"),
        ('{"op": "send", "src": 0, "dst": 4, "bytes": 8}', '"dst" is 4, but the trace has 4 ranks', "0 to 3"),
        ('{"op": "send", "src": -1, "dst": 3, "bytes": 8}', '"src" is -1', "0 to 3"),
        ('{"op": "send", "src": 2, "dst": 2, "bytes": 8}', "from rank 2 to itself", "two different"),
        ('{"op": "flows", "flows": []}', "holds 0 things", "write"),
        ('{"op": "flows", "flows": [[0, 1]]}', "[source, target, bytes]", "write"),
        ('{"op": "flows", "flows": [[0, 0, 5]]}', "from rank 0 to itself", "two different"),
        ('{"op": "flows", "flows": {"0": 1}}', "must be a list, not an object", "write"),
        ('{"op": "all_to_all_v", "group": "tp", "sizes": [[0, 1]]}', "2 rows of 2", "write"),
        ('{"op": "all_to_all_v", "group": "tp", "sizes": [[0, 1], [1, 0, 0]]}', "2 rows of 2", "write"),
        ('{"op": "all_to_all_v", "group": "tp", "sizes": [[0, 1], [-1, 0]]}', "a size must be between", "like"),
        ('{"op": "compute", "ranks": [0, 0], "duration": "1us"}', "names rank 0 twice", "once"),
        ('{"op": "compute", "ranks": [9], "duration": "1us"}', "is 9", "0 to 3"),
        ('{"op": "compute", "ranks": "all", "duration": "1us"}', "must be a list, not a text", "write"),
        ('{"op": "compute", "ranks": [0], "group": "tp", "duration": "1us"}', "both", "keep one"),
        ('["op", "barrier"]', "this is a list", "on each line"),
        (HEADER, "a second header", "the first line"),
        ("[" * 100_000, "nested deeper", "three levels"),
        ('{"op": ' * 100_000, "nested deeper", "three levels"),
        ('{"op": [' + "[]," * 3_000_000 + "0]}", "4,194,304 brackets", "several operations"),
        ('{"op": ' + "[" * 15 + "]" * 15 + "}", "must be a text, not a list", "write"),
    ],
)
def test_a_wrong_operation_is_refused(tmp_path: Path, line: str, what: str, hint: str) -> None:
    text = refused(trace_file(tmp_path, HEADER, '{"op": "barrier", "group": "tp"}', line))
    assert "job.jsonl:3: " in text
    assert what in text
    assert hint in text
    assert len(text) < 500 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ('{"op": "barrier", "group": "world"}', "the header is missing"),
        ('{"netsim": 2, "ranks": 4}', "version 2"),
        ('{"netsim": true, "ranks": 4}', "version true"),
        ('{"netsim": 1}', '"ranks" is missing'),
        ('{"netsim": 1, "ranks": 0}', '"ranks" must be between 1 and'),
        ('{"netsim": 1, "ranks": "4"}', "not a text"),
        ('{"netsim": 1, "ranks": 1000000000000}', '"ranks" must be between 1 and 131,072'),
        ('{"netsim": 1, "ranks": 4, "group": {}}', 'no key "group"'),
        ('{"netsim": 1, "ranks": 4, "groups": []}', '"groups" must be an object'),
        ('{"netsim": 1, "ranks": 4, "groups": {"a": [0, 1, 0]}}', "names rank 0 twice"),
        ('{"netsim": 1, "ranks": 4, "groups": {"a": [0, 4]}}', "is 4, but the trace has 4 ranks"),
        ('{"netsim": 1, "ranks": 4, "groups": {"a": []}}', "holds 0 things"),
        ('{"netsim": 1, "ranks": 4, "groups": {"a": [0], "a": [1]}}', 'the key "a" stands here twice'),
        ('{"netsim": 1, "ranks": 4, "groups": {"a": [0.0]}}', "must be a whole number"),
        ('{"netsim": 1, "ranks": 4, "groups": {"": [0]}}', "a group's name is empty"),
        ('{"netsim": 1, "ranks": 4, "groups": {"world": [1, 0, 2, 3]}}', '"world" always holds all ranks'),
        ('{"netsim": 1, "ranks": 4, "notes": "none"}', '"notes" must be a list'),
    ],
)
def test_a_wrong_header_is_refused(tmp_path: Path, header: str, what: str) -> None:
    check_refusal("job.jsonl:1: ", what, read, trace_file(tmp_path, header))


def test_the_path_is_checked(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "nothing.jsonl")
    assert "is a directory without files" in refused(tmp_path)
    assert "is empty" in refused(saved(tmp_path / "empty.jsonl", ""))
    assert "no trace file is named" in refusal(read, [])


def test_the_same_file_twice_and_two_formats_are_refused(tmp_path: Path) -> None:
    path, log = trace_file(tmp_path, HEADER), tmp_path / "x.log"
    log.write_text("node:1:1 [0] NCCL INFO Bootstrap\n")
    assert "is named twice" in refusal(read, [path, path])
    assert "format nccl_log" in refusal(read, [path, log])


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = saved(tmp_path / "job.jsonl", HEADER.encode() + b'\n{"op": "barrier", "group": "t\xff"}\n')
    assert re.search(r"job\.jsonl:2: byte 30 .* not UTF-8", refused(path))
    path.write_bytes(HEADER.encode("utf-16"))
    assert "not a text file" in refused(path)


def test_damaged_gzip(tmp_path: Path) -> None:
    whole = gzip.compress((HEADER + 3000 * '\n{"op": "barrier", "group": "tp"}').encode())
    path = saved(tmp_path / "job.jsonl.gz", whole[:-12])
    assert "damaged gzip" in refused(path)
    path.write_bytes(whole[:10] + b"\xff" * 40)
    assert "damaged gzip" in refused(path)


def test_a_line_without_end_is_refused_and_not_kept_in_memory(tmp_path: Path) -> None:
    path = saved(tmp_path / "bomb.jsonl.gz", gzip.compress(HEADER.encode() + b"\n" + b" " * (1 << 26)))
    assert "is longer than" in refused(path)


def test_a_gzip_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.traces.lines.MAX_UNPACKED", 1000)
    path = saved(tmp_path / "bomb.jsonl.gz", gzip.compress(HEADER.encode() + b"\n" * 2000))
    assert "unpacks to more than 1,000 bytes" in refused(path)
    monkeypatch.setattr("netsim.traces.lines.MAX_UNPACKED_LINES", 20)
    path.write_bytes(gzip.compress(b"NCCL INFO" + b"\n" * 500))
    assert "or 20 lines" in refused(path)


@pytest.mark.parametrize(
    ("limit", "value", "what"),
    [
        ("MAX_OPERATIONS", 2, "more than 2 operations"),
        ("MAX_CELLS", 3, "3 flows and sizes"),
        ("MAX_PARTS", 5, "name more than 5 ranks"),
        ("MAX_LINES", 3, "3 lines"),
    ],
)
def test_counts_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, what: str) -> None:
    flows = json.dumps({"op": "flows", "flows": [[0, 1, 5], [1, 2, 5]]})
    path = trace_file(tmp_path, HEADER, flows, flows, flows)
    assert len(read(path).operations) == 3
    monkeypatch.setattr(f"netsim.traces.native.{limit}", value)
    assert what in refused(path)


def test_json_of_another_program_is_told_what_is_missing(tmp_path: Path) -> None:
    path = saved(tmp_path / "kineto.json", '{"schemaVersion": 1, "traceEvents": []}\n')
    assert "there are no NCCL collectives in this profiler trace" in refused(path)
    path.write_text('{"schema": 1, "events": []}\n')
    missing = "is JSON of a kind that netsim does not know, not a trace; netsim list names the formats of traces"
    assert missing in refused(path)
    assert 'a trace may begin {"netsim": 1, "ranks": 16}' in refused(path)
    path.write_text('[{"comms": "init"}]\n')
    assert "there is no collective in this trace of 1 entries" in refused(path)
    path.write_text('[{"other": 1}]\n')
    assert missing in refused(path)
