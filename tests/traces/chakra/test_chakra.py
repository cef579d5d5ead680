"""Chakra execution traces: each small set of files holds one trap."""

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from netsim.errors import InputError
from netsim.traces import Group, Operation, Trace, format_of, read
from netsim.traces.chakra.nodes import COMM_COLL, COMM_RECV, COMM_SEND, COMP, ChakraNode, metadata_message, node_message
from netsim.traces.chakra.wire import as_varint, behind_length, bytes_field, number_field, packed_field
from netsim.traces.chakra.write import write_chakra
from tests.inputs import check_refusal, refusal, saved
from tests.traces.operations import brief
from tests.traffic import send


def node(number: int, kind: int, *after: int, micros: int = 0, **attributes: Any) -> bytes:
    made = ChakraNode(number, "n", kind, list(after), duration_micros=micros, attributes=attributes)
    return behind_length(node_message(made))


def file(folder: Path, rank: int, *nodes: bytes, name: str = "job") -> Path:
    return saved(folder / f"{name}.{rank}.et", behind_length(metadata_message({"schema": "1.0"})) + b"".join(nodes))


def job(folder: Path, *ranks: list[bytes], **options: bool) -> Trace:
    return read([file(folder, rank, *nodes) for rank, nodes in enumerate(ranks)], **options)


def test_an_all_gather_counts_the_full_buffer_and_a_reduce_scatter_has_it(tmp_path: Path) -> None:
    nodes = [node(0, COMM_COLL, comm_type=2, comm_size=100), node(1, COMM_COLL, 0, comm_type=7, comm_size=100)]
    trace = job(tmp_path, nodes, nodes)
    assert brief(trace) == [("all_gather", (0, 1), 200), ("reduce_scatter", (0, 1), 100)]
    assert {each.stream for each in trace.operations} == {"default"}


IN_SCHEMA = [  # CollectiveCommType of mlcommons/chakra's et_def.proto from 0 on; 8 is REDUCE_SCATTER_BLOCK
    *("all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all"),
    *("reduce_scatter", "reduce_scatter", "barrier"),
]


@pytest.mark.parametrize(("number", "op"), list(enumerate(IN_SCHEMA)))
def test_each_number_is_the_collective_that_the_schema_names(tmp_path: Path, number: int, op: str) -> None:
    one = [node(0, COMM_COLL, comm_type=number, comm_size=64)]
    assert [each.op for each in job(tmp_path, one, one).operations] == [op]


def test_zeros_are_left_out_of_the_wire(tmp_path: Path) -> None:
    """All-reduce is type 0 and the first node has number 0: neither needs a byte of content."""
    empty_type = bytes_field(10, bytes_field(1, b"comm_type"))
    size = bytes_field(10, bytes_field(1, b"comm_size") + number_field(9, 64))
    bare = behind_length(number_field(3, COMM_COLL) + empty_type + size)
    then = node(1, COMM_COLL, 0, comm_type=6, comm_size=8)
    trace = job(tmp_path, [bare, then], [bare, then])
    assert brief(trace) == [("all_reduce", (0, 1), 64), ("all_to_all", (0, 1), 8)]


def test_dependencies_stand_packed_or_one_by_one(tmp_path: Path) -> None:
    head = number_field(3, COMP) + number_field(7, 5)
    packed = behind_length(number_field(1, 3) + head + packed_field(5, [1, 2]))
    single = behind_length(number_field(1, 3) + head + number_field(5, 1) + number_field(5, 2))
    before = [node(1, COMP, micros=3), node(2, COMP, micros=4)]
    traces = [job(tmp_path, [*before, last]) for last in (packed, single)]
    assert traces[0].operations == traces[1].operations
    assert len(traces[0].operations[2].after) == 1  # one goes before it on its stream


def test_control_dependencies_in_circles_do_not_count_beside_those_of_data(tmp_path: Path) -> None:
    """Converted PyTorch traces: an operator waits for its kernel by data, the kernel for its operator by control."""
    kernel = behind_length(number_field(1, 1) + number_field(3, COMP) + number_field(7, 5) + packed_field(4, [1, 2]))
    trace = job(tmp_path, [kernel, node(2, COMP, 1, micros=7)])
    assert [each.duration_ps for each in trace.operations] == [5_000_000, 7_000_000]
    only_control = behind_length(number_field(1, 2) + number_field(3, COMP) + number_field(7, 5) + packed_field(4, [1]))
    trace = job(tmp_path, [node(1, COMP, micros=3), only_control])
    assert {each.stream for each in trace.operations} == {"default"}
    assert any("dependencies of control" in note for note in trace.notes)


def test_collectives_on_the_cpu_side_are_not_counted_twice(tmp_path: Path) -> None:
    on_gpu = node(1, COMM_COLL, 0, is_cpu_op=False, comm_type=0, comm_size=8)
    nodes = [node(0, COMM_COLL, is_cpu_op=True), on_gpu]
    trace = job(tmp_path, nodes, nodes)
    assert brief(trace) == [("all_reduce", (0, 1), 8)]
    assert list(trace.report.skipped.values()) == [2]


def test_the_collective_type_of_a_send_means_nothing(tmp_path: Path) -> None:
    ends = {"comm_src": 0, "comm_dst": 1, "comm_tag": 3, "comm_size": 7, "comm_type": 5}
    trace = job(tmp_path, [node(0, COMM_SEND, **ends)], [node(0, COMM_RECV, **ends)])
    assert trace.operations[0].flows == ((0, 1, 7),)


def test_groups_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    nodes = {rank: [node(0, COMM_COLL, comm_type=0, comm_size=8, pg_name=str(1 + rank // 2))] for rank in range(4)}
    files = [file(tmp_path, rank, *nodes[rank]) for rank in range(4)]
    trace = read(files)
    assert brief(trace) == [("all_reduce", (0, 1, 2, 3), 8)]
    assert any("no file of groups is named" in note for note in trace.notes)
    groups = saved(tmp_path / "groups.json", '{"1": [0, 1], "2": [2, 3]}')
    assert format_of(groups) == "chakra"
    trace = read(tmp_path)
    assert brief(trace) == [("all_reduce", (0, 1), 8), ("all_reduce", (2, 3), 8)]
    groups.write_text('{"1": [0, 1], "3": [2, 3]}')
    assert re.search(r"there is no group '2'; .*like \{", refusal(read, tmp_path))
    assert "file of groups alone" in refusal(read, groups)


def test_a_missing_rank_is_filled_only_if_asked(tmp_path: Path) -> None:
    groups = saved(tmp_path / "groups.json", '{"1": [0, 1, 2]}')
    one = file(tmp_path, 1, node(0, COMM_COLL, comm_type=0, comm_size=8, pg_name="1"))
    with pytest.raises(InputError, match=r"only 1 of 3 ranks have a file; that of rank 0 is missing; .*--fill-missing"):
        read([one, groups])
    trace = read([one, groups], fill_missing_ranks=True)
    assert brief(trace) == [("all_reduce", (0, 1, 2), 8)]
    assert trace.notes[0].startswith("1 of 3 ranks have a file")


def test_a_packed_file_reads_the_same(tmp_path: Path) -> None:
    plain = file(tmp_path, 0, node(0, COMP, micros=3))
    packed = saved(tmp_path / "job.0.et.gz", gzip.compress(plain.read_bytes()))
    assert read(packed).operations == read(plain).operations
    assert read(packed).name == "job"


@pytest.mark.parametrize("name", [b"n", b"x" * 300], ids=["length of one byte", "of two"])
def test_the_first_message_may_be_empty(tmp_path: Path, name: bytes) -> None:
    first = behind_length(number_field(1, 1) + bytes_field(2, name) + number_field(3, COMP) + number_field(7, 5))
    path = saved(tmp_path / "job.0.et", b"\0" + first)
    assert format_of(path) == "chakra"
    assert [each.duration_ps for each in read(path).operations] == [5_000_000]


@pytest.mark.parametrize(
    ("nodes", "what"),
    [
        ([node(0, COMM_COLL, comm_type=17, comm_size=1)], "node 0 has comm_type 17"),
        ([node(0, COMM_COLL, comm_size=1)], "node 0 has comm_type -1"),
        ([node(0, COMM_COLL, comm_type=0, comm_size=-1)], "node 0 has comm_size -1"),
        ([node(4, COMP, micros=1), node(4, COMP, micros=1)], "node 4 stands there twice"),
        ([node(1, COMP, 2, micros=1), node(2, COMP, 1, micros=1)], "waits for itself by way of others"),
        ([node(0, COMP, micros=10**13)], "takes 10,000,000,000,000 us"),
        ([node(0, COMM_SEND, comm_dst=5, comm_size=1)], "the files and groups are of 1 ranks"),
        ([node(0, COMM_SEND, comm_src=3, comm_dst=0, comm_size=1)], "in the file of rank 0"),
        ([node(0, COMP, micros=1)[:-1]], "ends within its message 2"),
        ([behind_length(b"\x07")], "message 2 is damaged"),
        ([as_varint(1 << 40)], "message 2 is longer than"),
        ([node(0, COMP, netsim="{", micros=1)], "not JSON"),
    ],
)
def test_a_mistake_names_file_and_node(tmp_path: Path, nodes: list[bytes], what: str) -> None:
    check_refusal("job.0.et", what, job, tmp_path, nodes)


def test_dimensions_are_no_ranks(tmp_path: Path) -> None:
    attribute = bytes_field(1, b"involved_dim") + bytes_field(28, packed_field(1, [1, 0]))
    values = [bytes_field(10, attribute), bytes_field(10, bytes_field(1, b"comm_type") + number_field(9, 0))]
    message = behind_length(number_field(1, 7) + number_field(3, COMM_COLL) + b"".join(values))
    assert "node 7 names some dimensions" in refusal(job, tmp_path, [message])


def test_files_are_of_one_job(tmp_path: Path) -> None:
    one, other = file(tmp_path, 0), file(tmp_path, 0, name="other")
    assert "is of rank 0, as job.0.et is" in refusal(read, [one, other])
    assert "has no rank in its name" in refusal(read, [one, saved(tmp_path / "nameless", one.read_bytes())])


def test_a_dependency_on_nothing_is_told(tmp_path: Path) -> None:
    assert any("on nodes that are not there" in note for note in job(tmp_path, [node(0, COMP, 9, micros=1)]).notes)


def test_what_is_written_can_be_read_without_what_netsim_adds(tmp_path: Path) -> None:
    """Another program sees operations, bytes and dependencies in Chakra's own fields."""
    operations = (
        Operation("all_gather", "pair", (0, 1), 8),
        Operation("compute", "pair", (0, 1), duration_ps=2_500_000),
        send(0, 1, 5, stream="copy", after=(0,)),
        Operation("all_reduce", "pair", (0, 1), 6),
    )
    files = write_chakra(Trace("job", 2, {"pair": Group("pair", (0, 1))}, operations), tmp_path / "job.et")
    assert [each.name for each in files] == ["job.0.et", "job.1.et", "job.comm_group.json"]
    for each in files[:2]:
        each.write_bytes(each.read_bytes().replace(b"netsim", b"noname"))  # another attribute of the same length
    again = read(files)
    of_both = [("all_gather", (0, 1), 8), ("all_reduce", (0, 1), 6), ("send", (0, 1), 5)]
    assert sorted(brief(again)) == sorted([*of_both, ("compute", (0,), 0), ("compute", (1,), 0)])
    assert {each.duration_ps for each in again.operations if each.op == "compute"} == {3_000_000}  # whole microseconds
    place = {each.op: number for number, each in enumerate(again.operations)}
    assert place["all_gather"] < place["compute"] < place["all_reduce"]
    sent = again.operations[place["send"]]
    assert sent.after == (place["all_gather"],) or sent.stream == again.operations[0].stream
