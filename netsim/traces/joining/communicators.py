"""Which handles belong to one communicator, and which global rank each of them is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from netsim.errors import InputError
from netsim.traces.joining.columns import of_kind, wishes_of
from netsim.traces.joining.reports import Findings, Member, Missing
from netsim.traces.joining.strangers import Strangers
from netsim.traces.limits import MAX_OPEN, MAX_RANKS

UNNAMED = "the log names no common communicator (no commId): ranks were joined by size, calls and order of creation"
Owner = tuple[str, ...]  # a rank of the job as its source names it: host and process, a device where one has several


@dataclass(slots=True, eq=False)
class Communicator:
    """Ranks that act together: `members` by position (only those seen), `ranks` their global ranks, all of them."""

    size: int
    members: dict[int, Member] = field(default_factory=dict)
    unplaced: list[Member] = field(default_factory=list)
    first_calls: dict[tuple[str, str], Hashable] = field(default_factory=dict)  # by process
    ranks: tuple[int, ...] = ()
    asks: set[Hashable] = field(default_factory=set)  # what its members call
    guessed: bool = False  # some of its members may be of another communicator

    def seen(self) -> list[Member]:
        """All members that the source shows."""
        return [*self.members.values(), *self.unplaced]

    def absent(self) -> str:
        """Name the positions that are not seen, where the source tells positions: " (not 3, 5 and 4 more)"."""
        if any(member.rank is None for member in self.members.values()):
            return ""
        absent = [str(rank) for rank in range(self.size) if rank not in self.members]
        more = f" and {len(absent) - 8} more" if len(absent) > 8 else ""
        return f" (not {', '.join(absent[:8])}{more})"

    def takes(self, member: Member) -> bool:
        """Tell whether a member of unknown identity may belong here."""
        if self.size != member.size or len(self.members) + len(self.unplaced) >= self.size:
            return False
        if member.rank is not None and member.rank in self.members:
            return False
        if any(each.ranks != member.ranks for each in self.seen()[:1]):
            return False
        # One process may drive several ranks; then they make the same first call.
        return self.first_calls.get(member.process, _first_call(member)) == _first_call(member)

    def takes_all(self, other: Communicator) -> bool:
        """Tell whether all members of another one may belong here."""
        together = len(self.seen()) + len(other.seen())
        return together <= self.size and all(self.takes(member) for member in other.seen())

    def likeness(self, asks: frozenset[Hashable]) -> float:
        """How much of what its members call is what another member does, from 0 to 1."""
        return len(self.asks & asks) / max(1, len(self.asks | asks))


def _asks(member: Member) -> frozenset[Hashable]:
    """What a member calls, each thing once; the two ends of a transfer ask for the same."""
    return frozenset(
        (each.bytes, each.dtype) if each.op in ("send", "recv") else (each.op, each.bytes, each.dtype, each.root)
        for each in wishes_of(member.recorded)
    )


def _first_call(member: Member) -> Hashable:
    first = member.recorded[0] if member.recorded else None
    if first is None:
        return None
    asked = first.request() if first.batch < 0 else (first.bytes, first.dtype)  # whichever end of a transfer
    return first.op_count, asked


def join(members: Iterable[Member], notes: list[str]) -> list[Communicator]:
    """Put members together: by identity where the source gives one, else by size, rank, what they call, and in turn."""
    members = list(members)
    by_identity: dict[Hashable, Communicator] = {}
    for member in members:
        if member.identity is not None:
            communicator = by_identity.setdefault((member.identity, member.size), Communicator(member.size))
            _put(communicator, member)
    unnamed = [each for each in members if each.identity is None]
    joined = _joined(list(by_identity.values()), _in_turn(unnamed, members))
    if any(member.size > 1 for member in unnamed):
        notes.append(UNNAMED)
        times = Counter((each.size, asked) for each in joined for asked in each.asks)
        everyone = len({each.process for each in members})
        for each in joined:
            each.guessed = each.size < everyone or any(times[each.size, asked] > 1 for asked in each.asks)
    _place_the_rest(joined, notes)
    return sorted(joined, key=lambda each: min(member.place for member in each.seen()))


def _joined(communicators: list[Communicator], unnamed: list[Member]) -> list[Communicator]:
    """Put members where others call most like them; those with no such others then go to the first that lacks some."""
    open_ones: dict[int, list[Communicator]] = defaultdict(list)
    for communicator in communicators:
        open_ones[communicator.size].append(communicator)
    new = list[Communicator]()
    for member in unnamed:
        some, asks = open_ones[member.size], _asks(member)
        home = max((each for each in some if each.takes(member)), key=lambda each: each.likeness(asks), default=None)
        if home is None or not home.likeness(asks):
            new.append(home := Communicator(member.size))
            some.append(home)
        if len(some) > MAX_OPEN:
            what = f"more than {MAX_OPEN:,} communicators of {member.size} ranks lack an identity and ranks"
            raise InputError(what, hint="run the job with NCCL_DEBUG_SUBSYS=INIT,COLL, and give the logs of all ranks")
        _put(home, member)
        if len(home.seen()) == home.size:
            some.remove(home)
    for communicator in [each for each in new if len(each.seen()) < each.size]:
        some = open_ones[communicator.size]
        home = next((each for each in some if each is not communicator and each.takes_all(communicator)), None)
        if home is not None:
            for member in communicator.seen():
                _put(home, member)
            new.remove(communicator)
            some.remove(communicator)
    return communicators + new


def _put(communicator: Communicator, member: Member) -> None:
    communicator.first_calls.setdefault(member.process, _first_call(member))
    communicator.asks |= _asks(member)
    if member.rank is None:
        communicator.unplaced.append(member)
    elif member.rank in communicator.members:
        what = f"rank {member.rank} of one communicator of {member.size} reports twice ({_who(member)})"
        raise InputError(what, hint="give the logs of one run of the job, each once")
    else:
        communicator.members[member.rank] = member


def _who(member: Member) -> str:
    return ":".join(part for part in member.process if part) or "a line without host"


def _in_turn(members: list[Member], everyone: list[Member]) -> list[Member]:
    """Order members so that the k-th communicators of all processes come together, processes by their rank in the job.

    Groups that cut the job into even blocks or even steps are then put together rightly, each rank in its turn.
    """
    leading: dict[tuple[str, str], int] = {}
    for member in sorted(everyone, key=lambda each: -each.size):
        leading.setdefault(member.process, -1 if member.rank is None else member.rank)
    count: dict[tuple[object, int], int] = defaultdict(int)
    turns: list[tuple[int, int, tuple[object, ...], Member]] = []
    for member in sorted(members, key=lambda each: each.place):
        turns.append((count[member.process, member.size], leading[member.process], member.turn(), member))
        count[member.process, member.size] += 1
    return [member for *_, member in sorted(turns, key=lambda each: each[:3])]


def _place_the_rest(communicators: list[Communicator], notes: list[str]) -> None:
    """Give members of unknown rank the free positions, in order of host, process and device."""
    guessed = 0
    for communicator in communicators:
        free = [rank for rank in range(communicator.size) if rank not in communicator.members]
        if communicator.size > 1:
            guessed += sum(member.global_rank < 0 for member in communicator.unplaced)
        for member in sorted(communicator.unplaced, key=Member.turn):
            others = {call.root for call in of_kind(member.recorded, transfers=True)}  # nobody only sends to himself
            rank = next((rank for rank in free if rank not in others), free[0])
            free.remove(rank)
            communicator.members[rank] = member
        communicator.unplaced = []
    if guessed:
        notes.append(f"the log does not say which rank is which: {guessed} were numbered by host, process and device")


def number_ranks(communicators: list[Communicator], findings: Findings) -> tuple[int, int]:
    """Set every communicator's global ranks; say how many ranks there are, and how many of them are strangers.

    The largest communicator, made first, is the job's world: its positions are the global ranks. Ranks outside it
    take the numbers that are left. Where the source lists the ranks of every communicator, these hold.
    """
    if all(member.ranks for communicator in communicators for member in communicator.seen()):
        return _as_listed(communicators), 0
    owners = _owners(communicators)
    world = max(communicators, key=lambda each: each.size)
    numbers = {owners[member]: rank for rank, member in world.members.items()}
    others = sorted((member for member in owners if owners[member] not in numbers), key=Member.turn)
    free = iter(rank for rank in range(MAX_RANKS) if rank not in world.members)
    for member in others:
        if owners[member] not in numbers:
            numbers[owners[member]] = next(free, MAX_RANKS)
    if MAX_RANKS in numbers.values():
        raise InputError(f"there are more than {MAX_RANKS:,} ranks in the log", hint="cut it into parts")
    if others:
        what = "no communicator in the log holds all ranks: those outside the largest were numbered by host"
        findings.assumed.append(what)
    world.ranks = tuple(range(world.size))
    strangers = Strangers(max(world.size, *(number + 1 for number in numbers.values())))
    for communicator in communicators:
        known = {rank: numbers[owners[member]] for rank, member in communicator.members.items()}
        if communicator is not world:
            communicator.ranks = _all_ranks(communicator, known, findings.absent, strangers)
    if strangers.placed:
        findings.assumed.append(strangers.note())
    ranks = max(max(communicator.ranks) for communicator in communicators) + 1
    return ranks, strangers.next - strangers.first


def _as_listed(communicators: list[Communicator]) -> int:
    """Set every communicator's global ranks as the source lists them; say how many ranks there are."""
    for communicator in communicators:
        communicator.ranks = communicator.seen()[0].ranks
    return max(max(communicator.ranks) for communicator in communicators) + 1


def _owners(communicators: list[Communicator]) -> dict[Member, Owner]:
    """Name the rank of the job that each member is: its process, and its device where a process drives several."""
    largest = max(each.size for each in communicators)
    crowded, uniform = set[tuple[str, str]](), set[tuple[str, str]]()
    for communicator in communicators:
        members = communicator.members.values()
        crowded |= _twice([member.process for member in members])
        uniform |= {process for process, _ in _twice([(member.process, member.device) for member in members])}
    owners: dict[Member, Owner] = {}
    for communicator in communicators:
        for rank, member in communicator.members.items():
            owners[member] = member.process
            if member.process in uniform and communicator.size < largest:
                what = f"{_who(member)} drives several ranks, and the log does not say which of them joins a group"
                raise InputError(what, hint="run the job with NCCL_DEBUG_SUBSYS=INIT,COLL, or one process for each GPU")
            if member.process in crowded:
                owners[member] = (*member.process, f"rank {rank}" if member.process in uniform else member.device)
    return owners


def _twice(things: list[Any]) -> set[Any]:
    return {thing for thing, times in Counter(things).items() if times > 1}


def _all_ranks(
    communicator: Communicator, known: dict[int, int], absent: Missing, strangers: Strangers
) -> tuple[int, ...]:
    """Give all global ranks of a communicator; those not seen follow the even steps of those that were."""
    if len(known) == communicator.size:
        return tuple(known[rank] for rank in range(communicator.size))
    if absent is Missing.REFUSE:
        raise missing(communicator)
    (first, low), *_, (last, high) = sorted(known.items()) if len(known) > 1 else [(0, 0), (0, 0)]
    step, rest = divmod(high - low, last - first) if last > first else (0, 1)
    ranks = tuple(low + (rank - first) * step for rank in range(communicator.size))
    if not (rest or step < 1 or ranks[0] < 0 or any(ranks[rank] != number for rank, number in known.items())):
        return ranks
    if absent is Missing.FILL:
        what = f"{len(known)} of {communicator.size} ranks of a communicator are in the log"
        raise InputError(f"{what}, and they do not tell who the others are", hint="give the logs of all its ranks")
    return strangers.join(communicator.size, known)


def missing(communicator: Communicator) -> InputError:
    """Make the error for a communicator of which not all ranks report."""
    seen = f"only {len(communicator.members)} of {communicator.size} ranks of a communicator are in the log"
    hint = "give the logs of all ranks, or pass --fill-missing-ranks (fill_missing_ranks=True): the others do the same"
    return InputError(seen + communicator.absent(), hint=hint)
