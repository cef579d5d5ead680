"""Writes the lines that NCCL 2.23 would log, for tests."""

from pathlib import Path

from netsim.traces import Trace, read
from tests.inputs import saved


def prefix(pid: int, host: str = "node1", device: int = 0) -> str:
    return f"{host}:{pid}:{pid} [{device}] NCCL INFO "


def init(pid: int, comm: int, rank: int, nranks: int, comm_id: str = "", more: str = "", host: str = "node1") -> str:
    """The line of a rank that has entered a communicator; commId is left out where none is given."""
    ident = f" commId {comm_id}" if comm_id else ""
    text = f"comm 0x{comm:x} rank {rank} nranks {nranks} cudaDev {rank} nvmlDev {rank} busId 1000{more}{ident}"
    return f"{prefix(pid, host)}ncclCommInitRank {text} - Init COMPLETE"


def call(
    pid: int,
    comm: int,
    nranks: int,
    op: str = "AllReduce",
    count: int = 10,
    *,
    turn: int = 0,
    datatype: int = 7,
    root: int = 0,
    stream: int = 1,
    host: str = "node1",
) -> str:
    """The line of one call; `turn` is its opCount."""
    return (
        f"{prefix(pid, host)}{op}: opCount {turn:x} sendbuff 0x10 recvbuff 0x20 count {count} datatype {datatype} "
        f"op 0 root {root} comm 0x{comm:x} [nranks={nranks}] stream 0x{stream:x}"
    )


def world(nranks: int) -> list[str]:
    """The init lines of a job with one process (pid 100 + rank) and one communicator (0xa0 + rank) for each rank."""
    return [init(100 + rank, 0xA0 + rank, rank, nranks, "0x77") for rank in range(nranks)]


def calls(nranks: int, op: str = "AllReduce", count: int = 10, comm: int = 0xA0, **more: int) -> list[str]:
    """The lines of a call that every rank of such a job makes."""
    return [call(100 + rank, comm + rank, nranks, op, count, **more) for rank in range(nranks)]


def job(folder: Path, *lines: str, fill: bool = False, partial: bool = False) -> Trace:
    return read(saved(folder / "job.log", lines), fill_missing_ranks=fill, partial=partial)
