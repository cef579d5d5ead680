"""Files that people give where a trace, a topology or a scenario is meant: what they are, and what to do with them.

A file is known by how it starts. A new kind is a line of `MAGIC` or `XML`, or a function in `TEXTS`.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from netsim.errors import InputError

LOOKED_AT = 1 << 13  # characters of a text
UNPACK = "unpack it and give the files in it"
LOG_IT = "log the job with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL"
NOT_NSYS = f"netsim does not read Nsight's files: {LOG_IT}, or profile it with torch.profiler"
SAVED = "see it with netsim report DIR, or run it again: netsim run DIR/run.json"
OWN_FABRIC = "write the fabric as one of netsim's kinds, in TOML (netsim list names them)"
FORMATS = "netsim list names the formats of traces; topologies and scenarios are TOML"


class Other(NamedTuple):
    """What a file is, and what to do with it; `use` is where it belongs, if netsim reads it somewhere."""

    what: str
    hint: str
    use: str = ""


MAGIC = (  # place in the file, and what stands there
    *((0, magic, Other("a ZIP archive", UNPACK)) for magic in (b"PK\x03\x04", b"PK\x05\x06")),
    (0, b"7z\xbc\xaf\x27\x1c", Other("a 7z archive", UNPACK)),
    (0, b"Rar!", Other("a RAR archive", UNPACK)),
    (257, b"ustar", Other("a tar archive", UNPACK)),
    (0, b"\xfd7zXZ\x00", Other("a file packed with xz", "unpack it with xz -d, or pack it with gzip")),
    (0, b"\x28\xb5\x2f\xfd", Other("a file packed with zstd", "unpack it with zstd -d, or pack it with gzip")),
    (0, b"\x04\x22\x4d\x18", Other("a file packed with lz4", "unpack it with lz4 -d, or pack it with gzip")),
    (0, b"\x1f\x9d", Other("a file packed with compress", "unpack it with uncompress, or pack it with gzip")),
    (0, b"OTF2", Other("a trace of Score-P (OTF2)", FORMATS)),
    (0, b"BZh", Other("a file packed with bzip2", "unpack it with bzip2 -d, or pack it with gzip")),
    (0, b"SQLite format 3\x00", Other("an SQLite database, as Nsight Systems exports", NOT_NSYS)),
    (0, b"QDSTRM", Other("a report of Nsight Systems", NOT_NSYS)),
    (0, b"PAR1", Other("a Parquet table, as saved runs hold", SAVED)),
    (0, b"\x89HDF", Other("an HDF5 file", FORMATS)),
    (0, b"\x93NUMPY", Other("a NumPy array", FORMATS)),
    (0, b"\x7fELF", Other("a program", "give what it writes")),
    (0, b"\x89PNG", Other("a picture", FORMATS)),
    (0, b"%PDF", Other("a PDF document", FORMATS)),
    *((0, magic, Other("a capture of packets", FORMATS)) for magic in (b"\xd4\xc3\xb2\xa1", b"\x0a\x0d\x0d\x0a")),
)
SUFFIXES = dict.fromkeys((".nsys-rep", ".qdrep", ".ncu-rep"), Other("a report of Nsight", NOT_NSYS))
XML = {  # by the first element
    "algo": Other("an MSCCL algorithm", "use it as one: --algorithm all_reduce=FILE, if its name ends in .xml"),
    "system": Other("a server as NCCL sees it (NCCL_TOPO_DUMP_FILE)", OWN_FABRIC),
    "graphs": Other("the rings and trees of NCCL (NCCL_GRAPH_DUMP_FILE)", LOG_IT),
    "html": Other("a web page", "download the file itself, not the page about it"),
}
STUDY = Other("a study", "give it to netsim sweep", "study")
SCENARIO = Other("a scenario, which names a trace and a topology", "give it alone: netsim run FILE.toml", "scenario")
TOPOLOGY = Other("a topology", "give it as one: --on FILE", "topology")


def refuse_packed(start: bytes, path: Path, meant: str) -> None:
    """Raise InputError for an archive or another file known by its first bytes; `meant` is what should be there."""
    found = SUFFIXES.get(path.suffix.lower())
    found = next((other for at, magic, other in MAGIC if start[at : at + len(magic)] == magic), found)
    if found is not None:
        raise _error(found, path, meant)


def refuse_other(start: bytes, path: Path, meant: str) -> None:
    """Raise InputError for a text of a kind that is known and is not what is meant."""
    refuse_packed(start, path, meant)
    text = start[:LOOKED_AT].decode("utf-8", errors="replace").lstrip("\ufeff")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in (lines[:-1] if len(text) >= LOOKED_AT else lines) if line]
    for recognise in TEXTS:
        found = recognise(text, lines)
        if found is not None:
            if found.use != meant:
                raise _error(found, path, meant)
            return


def _error(other: Other, path: Path, meant: str) -> InputError:
    hint = other.hint.replace("FILE.toml", str(path)).replace("FILE", str(path)).replace("DIR", str(path.parent))
    rest = "which netsim does not read" if f"{meant} (" in other.what else f"not a {meant}"
    return InputError(f"is {other.what}, {rest}", where=str(path), hint=hint)


def _ns3(text: str, lines: Sequence[str]) -> Other | None:
    """HPCC's files: a topology of "nodes switches links", a list of switches, and links; flows; a configuration."""
    rows = [line.split() for line in lines]
    if not rows:
        return None
    links = [row for row in rows[2:] if len(row) == 5 and row[2].lower().endswith("bps")]
    if links and len(links) == len(rows) - 2 and len(rows[0]) in (3, 6) and all(each.isdecimal() for each in rows[1]):
        return Other(f"{'an HPCC' if len(rows[0]) == 3 else 'a SimAI'} topology (ns-3)", OWN_FABRIC)
    flows = [row for row in rows[1:] if len(row) in (5, 6) and all(re.fullmatch(r"[\d.]+", each) for each in row)]
    if flows and len(flows) == len(rows) - 1 and len(rows[0]) == 1 and rows[0][0].isdecimal():
        hint = 'write a trace of {"op": "flows", "flows": [[0, 1, 200000]]}, or a .cm'
        return Other("an HPCC list of flows (ns-3)", hint)
    keys = {row[0] for row in rows if len(row) > 1}
    if len(keys & {"ENABLE_QCN", "TOPOLOGY_FILE", "FLOW_FILE", "CC_MODE", "PACKET_PAYLOAD_SIZE"}) > 1:
        return Other("an HPCC configuration (ns-3)", "write a scenario in TOML: trace = ..., topology = ...")
    return None


def _htsim(text: str, lines: Sequence[str]) -> Other | None:
    words = [line.split()[0].lower() for line in lines[:4] if not line.startswith("#")]
    is_topo = words[:1] in (["nodes"], ["tiers"], ["podsize"]) and "tiers" in words
    return Other("a topology of htsim (.topo)", TOPOLOGY.hint, "topology") if is_topo else None


def _toml(text: str, lines: Sequence[str]) -> Other | None:
    keys = list[str]()
    for line in lines:
        if line.startswith("["):
            keys.append(line.strip("[]").partition(".")[0])
        elif not line.startswith("#"):
            key, equals, _ = line.partition("=")
            if not equals or not re.fullmatch(r"[\w.\"'-]+ *", key):
                if not keys:
                    return None
                continue  # within a list or a text of several lines
            if "[" not in keys:
                keys.append(key.strip().partition(".")[0])
    if {"grid", "points"} & set(keys) and {"base", "trace", "topology"} & set(keys):
        return STUDY
    if "trace" in keys:
        return SCENARIO
    return TOPOLOGY if {"kind", "base"} & set(keys[:4]) else None


def _json(text: str, lines: Sequence[str]) -> Other | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    if '"netsim": "' in text[:80] and '"scenario"' in text:
        return Other("the run.json of a saved run", "run it again: netsim run FILE", "scenario")
    if '"completion_time_ps"' in text[:80]:
        return Other("the summary of a saved run", SAVED)
    if re.search(r'"(?:attrs?|comm_type|data_?[dD]eps|ctrl_?[dD]eps)"\s*:', text):
        hint = "give the .et files themselves, or JSON of a workload_graph whose nodes have a NodeType"
        return Other("Chakra JSON whose nodes have no type that netsim knows", hint)
    if re.search(r'"(?:scheduling-policy|[a-z-]+-implementation)"\s*:', text):
        return Other("a system of ASTRA-sim", OWN_FABRIC)
    if re.match(r'\s*(?:\[\s*)?\{\s*["}]', text) and not re.search(r'"(?:netsim|op|kind|trace)"\s*:', text):
        hint = f'{FORMATS}; a trace may begin {{"netsim": 1, "ranks": 16}}'
        return Other("JSON of a kind that netsim does not know", hint)
    return None


def _xml(text: str, lines: Sequence[str]) -> Other | None:
    if not text.lstrip().startswith("<"):
        return None
    bare = re.sub(r"<!--.*?-->|<\?.*?\?>|<!(?:doctype|DOCTYPE)[^>]*>", "", text, flags=re.DOTALL)
    first = re.match(r"\s*<([A-Za-z][\w:-]*)", bare)
    if not first:
        return None
    unknown = Other(f"XML of a kind that netsim does not know (<{first[1][:40]}>)", FORMATS)
    return XML.get(first[1].lower(), unknown)


def _hosts(text: str, lines: Sequence[str]) -> Other | None:
    host = r"(?:[A-Za-z][\w.-]*\d[\w.-]*|\d+\.\d+\.\d+\.\d+|localhost)(?:[ \t:]+(?:\w+ *= *)?\d+)*"
    rows = [line.partition("#")[0].strip() for line in lines]
    if lines and all(re.fullmatch(host, row) for row in rows if row):
        return Other("a list of hosts", "give a log or a trace of the job that runs there")
    if lines and re.fullmatch(r"rank +\d+ *=.*", lines[0]):
        return Other("a file of ranks and hosts", "give a log or a trace of the job that runs there")
    return None


def _known_starts(text: str, lines: Sequence[str]) -> Other | None:
    first = lines[0] if lines else ""
    if first.startswith("version https://git-lfs"):
        return Other("a pointer of Git LFS", "fetch the file: git lfs pull")
    if re.match(r"(?:\x1b\[4m)?\s*GPU0\s+(?:GPU1|NIC0|CPU Affinity)", first):
        return Other("a table of a server's links (nvidia-smi topo -m)", OWN_FABRIC)
    if any("algbw" in line and "busbw" in line for line in lines) or first.startswith("# nThread"):
        return Other("a table of nccl-tests", LOG_IT)
    if re.match(r"(?:strict +)?(?:di)?graph\b.*[\[{]", first):
        return Other("a graph (DOT, GML)", OWN_FABRIC)
    if any(re.match(r"topology *: *\[", line) for line in lines):
        return Other("a network of ASTRA-sim", OWN_FABRIC)
    return None


def _table(text: str, lines: Sequence[str]) -> Other | None:
    for mark in (",", "\t", ";"):
        columns = {line.count(mark) for line in lines[:4]}
        if len(lines) > 1 and len(columns) == 1 and min(columns) > 1:
            return Other("a table (CSV) whose columns netsim does not know", FORMATS)
    return None


Recogniser = Callable[[str, Sequence[str]], Other | None]
TEXTS: tuple[Recogniser, ...] = (_ns3, _htsim, _json, _xml, _known_starts, _toml, _hosts, _table)
