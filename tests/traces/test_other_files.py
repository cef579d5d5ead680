"""Files that are no trace, topology or scenario are named as what they are, wherever they are given."""

import bz2
import gzip
import io
import lzma
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from netsim.config import load_scenario, load_topology, load_trace
from netsim.errors import InputError
from tests.inputs import refusal, saved
from tests.traces.nccl.nccl_lines_of import calls, world

LOG = "\n".join([*world(2), *calls(2, turn=1), *calls(2, turn=2), ""])
HPCC = "5 1 4\n4\n" + "".join(f"{host} 4 100Gbps 1000ns 0\n" for host in range(4))
SIMAI = "13 8 1 4 24 A100\n8 9 10 11 12\n0 8 2400Gbps 0.000025ms 0\n1 8 2400Gbps 0.000025ms 0\n"


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("job.log", LOG)
    return stream.getvalue()


def tarred(mode: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("job.log")
        member.size = len(LOG)
        archive.addfile(member, io.BytesIO(LOG.encode()))
    return stream.getvalue()


NEITHER: dict[str, tuple[bytes | str, *tuple[str, ...]]] = {  # file: content, what it is, what to do
    "logs.tar.gz": (tarred("w:gz"), "a tar archive", "unpack it and give the files in it"),
    "logs.tar": (tarred("w"), "a tar archive", "unpack"),
    "logs.zip": (zipped(), "a ZIP archive", "unpack"),
    "job.log.xz": (lzma.compress(LOG.encode()), "a file packed with xz", "unpack it with xz -d"),
    "job.log.bz2": (bz2.compress(LOG.encode()), "a file packed with bzip2"),
    "job.log.zst": (b"\x28\xb5\x2f\xfd\x04\x58abcdefgh", "a file packed with zstd", "unpack it with zstd -d"),
    "job.nsys-rep": (bytes(range(256)), "a report of Nsight", "netsim does not read Nsight's files"),
    "links.parquet": (b"PAR1" + bytes(90), "a Parquet table, as saved runs hold"),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(90), "a program", "give what it writes"),
    "flow.txt": ("2\n0 1 3 100 200000 2\n1 2 3 100 200000 2\n", "an HPCC list of flows (ns-3)"),
    "config.txt": ("ENABLE_QCN 1\n\nTOPOLOGY_FILE mix/t.txt\nFLOW_FILE mix/f.txt\n", "an HPCC configuration (ns-3)"),
    "requests.csv": ("TIME,Context,Made\n0.1,374,44\n0.2,7,1\n", "a table (CSV) whose columns netsim does not know"),
    "hostfile": ("node01 slots=8\nnode02 slots=8\n", "a list of hosts"),
    "addresses": ("10.0.0.1\n10.0.0.2\n", "a list of hosts"),
    "rankfile": ("rank 0=node1 slot=0\nrank 1=node1 slot=1\n", "a file of ranks and hosts"),
    "topo.xml": ('<system version="1">\n <cpu/>\n</system>\n', "a server as NCCL sees it"),
    "a.xml": ('<?xml version="1.0"?>\n<!-- free -->\n<svg></svg>\n', "XML of a kind that netsim does not know (<svg>)"),
    "job.log": ("<!DOCTYPE html>\n<html><body>404</body></html>", "a web page", "download the file itself"),
    "lfs.log": ("version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "a pointer of Git LFS"),
    "all_reduce.txt": (
        "# nThread 1 nGpus 8\n#  size  count  time  algbw  busbw\n  8  2  26.1  0  0\n",
        "a table of nccl-tests",
    ),
    "net.dot": ("digraph G {\n a -> b;\n}\n", "a graph (DOT, GML)"),
    "logs.rar": (b"Rar!\x1a\x07\x01\x00", "a RAR archive", "unpack"),
    "job.log.Z": (b"\x1f\x9d\x90ab", "a file packed with compress", "unpack it with uncompress"),
    "none.zip": (b"PK\x05\x06" + bytes(18), "a ZIP archive"),
    "traces.otf2": (b"OTF2" + bytes(9), "a trace of Score-P (OTF2)"),
    "book.ipynb": ('{\n "cells": [],\n "nbformat": 4\n}\n', "JSON of a kind that netsim does not know"),
    "topo.txt": ("\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV18\tPIX\n", "a table of a server's links (nvidia-smi topo -m)"),
    "net2.yml": ("# of 8\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n", "a network of ASTRA-sim"),
    "net.yml": ("topology: [ Ring ]\nnpus_count: [ 8 ]\n", "a network of ASTRA-sim"),
    "nodes.json": (
        '{"id": "1", "name": "a", "attr": [{"name": "comm_size"}]}\n',
        "Chakra JSON whose nodes have no type",
    ),
    "summary.json": ('{\n  "completion_time_ps": 1\n}', "the summary of a saved run", "see it with netsim report"),
    "my.toml": ('trace = "perm16"\ntopology = "fat_tree_k4_100g"\n', "a scenario, which names a trace and a topology"),
    "study.toml": ('trace = "perm16"\ntopology = "fat_tree_k4_100g"\n[grid]\nseed = [1]\n', "a study"),
}


def refused(meant: str, path: Path) -> str:
    text = refusal(load_trace if meant == "trace" else load_topology, path)
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


@pytest.mark.parametrize("name", NEITHER)
def test_what_is_neither_trace_nor_topology(tmp_path: Path, name: str) -> None:
    content, what, *hint = NEITHER[name]
    path = saved(tmp_path / name, content)
    for meant in ("trace", "topology"):
        text = refused(meant, path)
        assert text.startswith(f"is {what}")
        assert f", not a {meant}; {''.join(hint)}" in text


def test_a_database_of_nsight_names_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "report.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table events (a)")
    assert "Nsight Systems exports, not a trace; netsim does not read" in refused("trace", path)


@pytest.mark.parametrize(("text", "what"), [(HPCC, "an HPCC topology (ns-3)"), (SIMAI, "a SimAI topology (ns-3)")])
def test_topologies_of_ns3(tmp_path: Path, text: str, what: str) -> None:
    path = saved(tmp_path / "topology.txt", text)
    hint = "write the fabric as one of netsim's kinds"
    assert f"is {what}, which netsim does not read; {hint}" in refused("topology", path)
    assert f"is {what}, not a trace" in refused("trace", path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("job.log", LOG, "is a trace (nccl_log), not a topology; give it as one: netsim run"),
        ("job.jsonl", '{"netsim": 1, "ranks": 2}\n', "is a trace (native), not a topology"),
        ("job.cm", "Nodes 4\nConnections 1\n0->1 id 1 start 0 size 2000\n", "is a trace (htsim_cm), not a topology"),
    ],
)
def test_a_trace_is_no_topology(tmp_path: Path, name: str, text: str, told: str) -> None:
    assert told in refused("topology", saved(tmp_path / name, text))
    assert told in refused("topology", saved(tmp_path / f"{name}.gz", gzip.compress(text.encode())))


def test_a_topology_is_no_trace_and_no_scenario(tmp_path: Path) -> None:
    topo, fabric = tmp_path / "net.topo", tmp_path / "fabric.toml"
    topo.write_text("Nodes 16\nTiers 2\nPodsize 4\n")
    assert f"is a topology of htsim (.topo), not a trace; give it as one: --on {topo}" in refused("trace", topo)
    with pytest.raises(InputError, match="tier 0 is missing"):  # its own mistakes are still told
        load_topology(topo)
    fabric.write_text('# mine\nbase = "fat_tree_k4_100g"\n')
    assert "is a topology, not a trace; give it as one: --on" in refused("trace", fabric)
    assert "is a topology, not a scenario; give it as one: --on" in refusal(load_scenario, fabric)
    fabric.write_text('kind = "fat_tree"\nk = \n')
    assert "line 2: is not TOML" in refusal(load_topology, fabric)


def test_shipped_names_are_known_on_both_sides() -> None:
    told = "'perm16' is a built-in trace, not a topology; netsim run perm16 --on TOPOLOGY"
    assert told in refusal(load_topology, "perm16")
    assert "'fat_tree_k4_100g' is a built-in topology, not a trace" in refusal(load_trace, "fat_tree_k4_100g")


def test_a_saved_run_is_neither(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{\n  "netsim": "0.1.0",\n  "scenario": {}\n}')
    assert "is the folder of a saved run, not a trace; see it with netsim report" in refusal(load_trace, tmp_path)
    assert "is the folder of a saved run, not a topology" in refusal(load_topology, tmp_path)
    assert "is the run.json of a saved run, not a topology" in refused("topology", tmp_path / "run.json")


@pytest.mark.parametrize("width", [80, 100, 132])
def test_a_log_that_is_wrapped_says_where(tmp_path: Path, width: int) -> None:
    path = tmp_path / "job.log"
    lines = LOG.splitlines()
    path.write_text("\n".join(line[at : at + width] for line in lines for at in range(0, len(line), width)) + "\n")
    assert f"the log seems to be wrapped at {width} characters: write it to a file" in refused("trace", path)
    path.write_text(path.read_text() + LOG)
    assert any(f"wrapped at {width} characters" in note for note in load_trace(path).notes)


def test_chakra_nodes_without_types(tmp_path: Path) -> None:
    path = saved(tmp_path / "job.0.json", '{"workload_graph": [{"Id": 1, "Name": "x", "data_deps": []}]}')
    assert "a node of Chakra has no NodeType" in refusal(load_trace, path)
    path.write_text('{"schema": "1.0", "nodes": [{"id": 1, "name": "a", "data_deps": [], "attrs": {}}]}')
    assert "no operators of PyTorch" in refusal(load_trace, path)
