"""Chakra execution traces (`.et`, mlcommons/chakra, ASTRA-sim): one file of nodes for each NPU."""

import re
from collections.abc import Sequence
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.chakra.groups import Groups, is_group_file
from netsim.traces.chakra.json_nodes import is_json
from netsim.traces.chakra.npu_file import NpuAccount, NpuFile, is_old
from netsim.traces.chakra.wire import BYTES, WireError, fields, varint
from netsim.traces.graphs.graph import Joiner
from netsim.traces.graphs.graph_trace import operations
from netsim.traces.input_files import trace_name
from netsim.traces.limits import MAX_RANKS
from netsim.traces.lines import head
from netsim.traces.read_report import ReadReport
from netsim.traces.trace import Trace

ALONE = "one file makes one rank: nothing crosses the network"
_RANK = re.compile(r"(.*?)\.([0-9]{1,9})\.[^.]+(?:\.gz)?")


def recognises(start: str) -> bool:
    """Tell whether a text is a trace in JSON, or a file of groups, which may stand among the `.et` files."""
    return is_group_file(start) or is_json(start)


def recognises_bytes(start: bytes) -> bool:
    """Tell whether a file that starts so is a Chakra trace, of today's or of the old schema."""
    message = start
    try:
        size, at = varint(start, 0)
        message = start[at : at + size]
        if not message:  # metadata without version and attributes
            begins = varint(start, at)[1] if len(start) > at else at  # of the first node, which may have no number
            return size == 0 and start[begins : begins + 1] in (b"\x08", b"\x12")
        if size > len(message):
            return _begins_metadata(message)
        return all((number, kind) in ((1, BYTES), (2, BYTES)) for number, kind, _ in fields(message)) or is_old(message)
    except WireError:
        return is_old(message) if start else False


def _begins_metadata(message: bytes) -> bool:
    """The start of a first message longer than what was read: a version, or an attribute that starts with its name."""
    inside = varint(message, 1)[1]
    return message[:1] == b"\x0a" or (message[:1] == b"\x12" and message[inside : inside + 1] == b"\x0a")


def read(paths: Sequence[Path], *, fill_missing_ranks: bool = False, partial: bool = False) -> Trace:
    """Read the `.et` files of a job's NPUs, and its file of communicator groups if that is among or beside them.

    A file's number (`job.3.et`) is its rank. Ranks without a file are an InputError, or with `fill_missing_ranks` or
    `partial` take part in what the others do with them.
    """
    texts = [path for path in paths if is_group_file(head(path, 1 << 12).decode("utf-8", errors="replace"))]
    files = _by_rank([path for path in paths if path not in texts], texts)
    groups, account = Groups(texts or _beside(files), max(files) + 1), NpuAccount()
    readers = {rank: NpuFile(rank, path, groups, account) for rank, path in files.items()}
    graph = {rank: reader.nodes() for rank, reader in readers.items()}
    assumed = (*_missing(files, groups.ranks, fill_missing_ranks or partial), *groups.notes)
    joiner = Joiner(graph, lambda rank, node, what, hint: readers[rank].wrong(node.place, what, hint))
    joiner.join()
    first = next(iter(files.values()))
    made = operations(joiner, str(first))
    recorded = tuple(f"{count:,} {what}" for what, count in (joiner.notes + account.notes).items())
    report = ReadReport(
        lines=account.nodes,
        records=len(joiner.of_node),
        skipped=dict(account.skipped),
        seen=tuple(files),
        assumed=assumed,
        findings=recorded,
    )
    skipped = tuple(f"{count:,} {what}: skipped" for what, count in account.skipped.items())
    source = ", ".join(map(str, files.values()))
    return Trace(_name(first), groups.ranks, groups.made, made, source, (*assumed, *recorded, *skipped), report)


def _by_rank(files: list[Path], texts: list[Path]) -> dict[int, Path]:
    if not files:
        raise InputError("is a file of groups alone", where=str(texts[0]), hint="name the .et files with it")
    found: dict[int, Path] = {}
    for path in files:
        match = _RANK.fullmatch(path.name)
        if not match and len(files) > 1:
            raise InputError("has no rank in its name", where=str(path), hint="call it like job.3.et for rank 3")
        rank = int(match[2]) if match else 0
        if rank in found:
            what = f"is of rank {rank}, as {found[rank].name} is"
            raise InputError(what, where=str(path), hint="name the files of one job only")
        if rank >= MAX_RANKS:
            hint = f"number the files from 0 to {MAX_RANKS - 1:,}"
            raise InputError(f"is of rank {rank:,}", where=str(path), hint=hint)
        found[rank] = path
    return dict(sorted(found.items()))


def _name(path: Path) -> str:
    match = _RANK.fullmatch(path.name)
    return (match and match[1]) or trace_name(path, ".et", ".json")


def _beside(files: dict[int, Path]) -> list[Path]:
    """The file of groups that `netsim convert` writes beside the nodes."""
    first = next(iter(files.values()))
    path = first.parent / f"{_name(first)}.comm_group.json"
    return [path] if path.is_file() else []


def _missing(files: dict[int, Path], ranks: int, fill: bool) -> list[str]:
    """What to say of ranks without a file."""
    here, first = len(files), next(iter(files.values()))
    if here == ranks:
        return [ALONE] if ranks == 1 else []
    if not fill:
        lost = next(rank for rank in range(ranks) if rank not in files)
        what = f"only {here} of {ranks} ranks have a file; that of rank {lost} is missing"
        hint = "name all files, or let the others take part: --fill-missing-ranks (fill_missing_ranks=True)"
        raise InputError(what, where=str(first), hint=hint)
    return [f"{here} of {ranks} ranks have a file: the others take part in what these do with them"]
