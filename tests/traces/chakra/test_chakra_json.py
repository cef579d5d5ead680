"""Chakra's JSON says the same as its protobuf."""

import json
from pathlib import Path
from typing import Any

import pytest

from netsim.traces import Group, Operation, Trace, read
from netsim.traces.chakra.json_nodes import is_json
from netsim.traces.chakra.nodes import node as node_of
from netsim.traces.chakra.wire import messages
from netsim.traces.chakra.write import write_chakra
from tests.inputs import refusal

PLAIN = {"Id": 0, "Name": "x", "NodeType": 7, "comm_type": 0, "comm_size": 64}


def saved(folder: Path, *ranks: list[dict[str, Any]]) -> list[Path]:
    paths = []
    for rank, nodes in enumerate(ranks):
        paths.append(folder / f"job.{rank}.json")
        paths[-1].write_text(json.dumps({"schema": "0.0.4", "workload_graph": nodes}, indent=2))
    return paths


def as_json(path: Path) -> list[dict[str, Any]]:
    """The nodes of a binary file as Chakra's JSON has them: every key on every node, of no use or not."""
    stream = messages(path)
    next(stream)
    nodes = []
    for message in stream:
        made = node_of(message)
        kinds = {"is_cpu_op": False, "comm_type": 0, "comm_size": 0, "comm_src": -1, "comm_dst": -1, "comm_tag": 0}
        recorded = {name: value for name, value in made.attributes.items() if name in (*kinds, "pg_name")}
        main = {"Id": made.id, "Name": made.name, "NodeType": made.type, "ctrlDeps": [], "data_deps": made.data_deps}
        nodes.append(main | {"runtime": made.duration_micros, "tensor_size": 0} | kinds | recorded)
    return nodes


def test_the_same_job_in_both_is_the_same_trace(tmp_path: Path) -> None:
    world = Group("world", (0, 1))
    operations = (
        Operation("all_reduce", "world", (0, 1), 1 << 20, "bf16"),
        Operation("compute", None, (1,), duration_ps=7_000_000),
        Operation("send", None, (1, 0), 4096, src=1, dst=0),
        Operation("all_gather", "world", (0, 1), 2048),
    )
    binary = write_chakra(Trace("job", 2, {"world": world}, operations), tmp_path / "job.et")
    nodes = [as_json(path) for path in binary if path.suffix == ".et"]
    (tmp_path / "json").mkdir()
    trace = read(saved(tmp_path / "json", *nodes))
    assert trace.report.format == "chakra"
    recorded = [(each.op, each.ranks, each.bytes, each.duration_ps) for each in trace.operations]
    assert sorted(recorded) == sorted((each.op, each.ranks, each.bytes, each.duration_ps) for each in operations)


def test_types_may_be_named_and_the_cpus_calls_do_not_count(tmp_path: Path) -> None:
    nodes = [
        PLAIN | {"NodeType": "COMM_COLL_NODE", "is_cpu_op": True, "comm_size": 0},
        PLAIN | {"Id": 1, "data_deps": [0]},
        {"Id": 2, "NodeType": "COMP_NODE", "runtime": 2.5, "data_deps": [1]},
    ]
    trace = read(saved(tmp_path, nodes, nodes))
    assert [(each.op, each.bytes, each.duration_ps) for each in trace.operations] == [
        ("all_reduce", 64, 0), ("compute", 0, 2_000_000), ("compute", 0, 2_000_000),
    ]  # fmt: skip
    assert trace.report.skipped == {"collectives on the CPU side, which stand again on the GPU side": 2}


@pytest.mark.parametrize(
    ("nodes", "recorded"),
    [
        ([7], "job.0.json:4: a node must be an object"),
        ([PLAIN | {"NodeType": "COMA_NODE"}], "NodeType 'COMA_NODE' is not known"),
        ([PLAIN | {"Id": -1}], '"Id" must be a whole number'),
        ([PLAIN | {"comm_size": 1.5}], '"comm_size" must be a whole number'),
        ([PLAIN | {"runtime": "long"}], '"runtime" must be a number'),
        ([PLAIN | {"data_deps": [True]}], '"data_deps" must be a list of nodes'),
        ([PLAIN | {"comm_type": 12}], "has comm_type 12"),
        ([PLAIN, PLAIN], "node 0 stands there twice"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, nodes: list[Any], recorded: str) -> None:
    assert recorded in refusal(read, saved(tmp_path, nodes))


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    (path,) = saved(tmp_path, [PLAIN])
    path.write_text(path.read_text()[:-5])
    assert "ends in the middle" in refusal(read, path)


def test_what_is_no_json_of_chakra_is_seen_at_once() -> None:
    """Keys and commas without end once took the pattern hours (found by benchmarks/fuzz_readers.py)."""
    repeated = '"src": 0, "dst": 1, "bytes": 9}", '
    for start in ("{" + '"a":,' * 5000, '{"7p": """all_reduce", ' + repeated * 1000, "{" + '"a": 1, ' * 5000):
        assert not is_json(start)
    assert is_json('\ufeff\n{"schema": "0.0.4",\n "workload_graph": [')
