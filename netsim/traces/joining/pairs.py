"""Sends and receives of the ranks -> sends, groups of flows and all-to-alls.

A communicator's k-th send from i to j belongs to j's k-th receive from i. Calls of one batch (an ncclGroup) start
together, so batches that are tied by such pairs make one operation; NCCL before 2.28 knows an all-to-all only so.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from netsim.errors import InputError
from netsim.traces.joining.columns import of_kind
from netsim.traces.joining.communicators import Communicator
from netsim.traces.joining.line_up import By, partners
from netsim.traces.joining.order import Step
from netsim.traces.joining.reports import Call, Findings, Missing
from netsim.traces.trace import Operation

Batch = tuple[int, int]  # position in the communicator, number of the batch
Batches = dict[Batch, list[Call]]


@dataclass(slots=True)
class Transfer:
    """A send and its receive: positions in the communicator and bytes."""

    source: int
    target: int
    bytes: int
    dtype: str


@dataclass(slots=True)
class Exchange:
    """Batches that are tied together, and what they transfer."""

    batches: list[Batch] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    guessed: bool = False


def transfers(communicator: Communicator, findings: Findings, *, short: bool) -> list[Step]:
    """Make the operations of a communicator's sends and receives; what told their pairs is counted.

    `short` where some collectives of the job are missing in the logs of some ranks.
    """
    batches = _batches(communicator)
    if not batches:
        return []
    steps = []
    for exchange in _exchanges(communicator, batches, findings, short=short):
        calls: dict[int, list[Call]] = defaultdict(list)
        for batch in exchange.batches:
            calls[communicator.ranks[batch[0]]] += batches[batch]
        line = min(call.place for each in calls.values() for call in each).recorded
        operation = _operation(communicator, exchange, line, findings)
        if operation is not None:
            on_group = operation.op.startswith("all_to_all")
            steps.append(Step(operation, dict(calls), on_group=on_group, guessed=exchange.guessed))
    return steps


def _batches(communicator: Communicator) -> Batches:
    batches: Batches = defaultdict(list)
    for rank, member in communicator.members.items():
        for call in of_kind(member.recorded, transfers=True):
            batches[rank, call.batch].append(call)
    return dict(batches)


def _ends(batches: Batches, op: str) -> dict[tuple[int, int], list[tuple[Batch, Call]]]:
    """The calls of one kind by who sends and who receives."""
    found: dict[tuple[int, int], list[tuple[Batch, Call]]] = defaultdict(list)
    for batch, calls in batches.items():
        for call in (each for each in calls if each.op == op):
            found[(batch[0], call.root) if op == "send" else (call.root, batch[0])].append((batch, call))
    return found


def _exchanges(communicator: Communicator, batches: Batches, findings: Findings, *, short: bool) -> list[Exchange]:
    """Tie batches by their pairs; a send or receive whose other end is not seen is told."""
    all_sends, all_receives = _ends(batches, "send"), _ends(batches, "recv")
    unseen = set() if findings.absent is Missing.REFUSE else {*range(communicator.size)} - communicator.members.keys()
    ties, alone = _Ties(batches), list[tuple[Call, str]]()
    for (source, target), sends in all_sends.items():
        receives = all_receives.pop((source, target), [])
        pairs, by = (
            partners([call for _, call in sends], [call for _, call in receives]) if receives else ({}, By.NUMBER)
        )
        findings.told_by[by] += source != target
        for number, (batch, call) in enumerate(sends):
            ties.send(batch, call)
            if number in pairs:
                ties.tie(batch, call, *receives[pairs[number]], findings)
                ties.guessed |= {batch} if by is not By.NUMBER else set()
            elif target not in unseen:
                alone.append((call, f"rank {source} sends to {target}, which does not report the receive; kept"))
        taken = set(pairs.values())
        all_receives[source, target] = [each for number, each in enumerate(receives) if number not in taken]
    for (source, target), left in all_receives.items():
        for batch, call in left:
            ties.transfers[batch].append(Transfer(source, target, call.bytes, call.dtype))
            if source not in unseen:
                alone.append((call, f"rank {target} receives from {source}, which does not report the send; kept"))
    for call, what in sorted(alone, key=lambda each: each[0].place):
        findings.tell(call.place, what)
    return ties.exchanges(short=short or bool(alone))


class _Ties:
    """Batches tied together by pairs (union-find), with their transfers."""

    def __init__(self, batches: Batches) -> None:
        self.parent = {batch: batch for batch in batches}
        self.transfers: dict[Batch, list[Transfer]] = defaultdict(list)
        self.guessed = set[Batch]()

    def root(self, batch: Batch) -> Batch:
        while self.parent[batch] != batch:
            self.parent[batch] = self.parent[self.parent[batch]]
            batch = self.parent[batch]
        return batch

    def send(self, batch: Batch, send: Call) -> None:
        """Keep what a batch sends."""
        self.transfers[batch].append(Transfer(batch[0], send.root, send.bytes, send.dtype))

    def tie(self, batch: Batch, send: Call, other: Batch, receive: Call, findings: Findings) -> None:
        """Tie the batch of a send to that of its receive."""
        self.parent[self.root(other)] = self.root(batch)
        if receive.bytes != send.bytes:
            what = f"{send.bytes:,} bytes are sent where {receive.bytes:,} are received; the sender's hold"
            findings.tell(send.place, f"rank {batch[0]} to {send.root}: {what}")

    def exchanges(self, *, short: bool) -> list[Exchange]:
        """List what is tied together; where calls are missing, what was tied without numbers is a guess."""
        found: dict[Batch, Exchange] = defaultdict(Exchange)
        for batch in self.parent:
            exchange = found[self.root(batch)]
            exchange.batches.append(batch)
            exchange.guessed |= short and batch in self.guessed
            exchange.transfers += self.transfers[batch]
        return list(found.values())


def _operation(communicator: Communicator, exchange: Exchange, line: int, findings: Findings) -> Operation | None:
    """Say what an exchange is: an all-to-all where every rank sends to every other once, else a send, else flows."""
    ranks = communicator.ranks
    between = [each for each in exchange.transfers if each.source != each.target and each.bytes]
    everybody = _all_to_all(communicator, exchange, line, findings.absent)
    if everybody is not None:
        return everybody
    to_itself = sum(each.source == each.target for each in exchange.transfers)
    findings.skipped["sends of a rank to itself"] += to_itself
    findings.skipped["sends of no bytes"] += len(exchange.transfers) - to_itself - len(between)
    if not between:
        return None
    flows = tuple((ranks[each.source], ranks[each.target], each.bytes) for each in between)
    touched = tuple(sorted({rank for source, target, _ in flows for rank in (source, target)}))
    dtype = between[0].dtype
    if len(flows) == 1:
        source, target, size = flows[0]
        return Operation("send", None, (source, target), size, dtype, src=source, dst=target, line=line)
    return Operation("flows", None, touched, sum(flow[2] for flow in flows), flows=flows, line=line)


def _all_to_all(communicator: Communicator, exchange: Exchange, line: int, absent: Missing) -> Operation | None:
    """Recognise an all-to-all; with ranks missing, one seen rank that treats all others alike stands for them."""
    size, sent = communicator.size, {(each.source, each.target): each for each in exchange.transfers}
    seen = communicator.members.keys()
    if len(sent) < len(exchange.transfers) or len(sent) < len(seen) * (2 * size - len(seen) - 1):
        return None  # some rank sends twice to another, or not at all
    sizes = {each.bytes for each in exchange.transfers}
    needed = {(i, j) for i in range(size) for j in range(size) if i != j and (i in seen or j in seen)}
    with_self = any(source == target for source, target in sent)
    if not needed <= sent.keys() or size < 2 or (size == 2 and not with_self):
        return None
    dtype = exchange.transfers[0].dtype
    if len(sizes) == 1:
        (block,) = sizes
        return Operation("all_to_all", None, communicator.ranks, block * size, dtype, line=line)
    if len(seen) < size:
        if absent is Missing.TELL:
            return None
        what = "sends of different sizes to ranks whose logs are not there cannot be filled in"
        raise InputError(what, hint="give the logs of all ranks")
    rows = tuple(tuple(sent[i, j].bytes if (i, j) in sent else 0 for j in range(size)) for i in range(size))
    return Operation("all_to_all_v", None, communicator.ranks, max(map(sum, rows)), dtype, sizes=rows, line=line)
