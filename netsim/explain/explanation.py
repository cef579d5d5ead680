"""What explains a collective's time: its parts; for those that an idle network has not, causes and where they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from netsim.explain.causes import Cause, Causes
from netsim.explain.message_timelines import Stories
from netsim.explain.path import DEPENDENCY, IDLE, KINDS, NO_LINK, Path, Piece
from netsim.explain.traffic import Traffic

MOST_NAMED = 64  # connections at a link whose groups are looked up


@dataclass
class Blame:
    """Time lost to one cause at one link (or for one late rank): parts_ps by kind, ps.

    Where a full queue lost packets, `behind` is why it was full. `flows` connections of `groups` shared the link in
    that time; at the links `waited_at` packets stood; `others` are the collectives that a late rank was still in.
    """

    kind: str
    link: str | None
    rank: int | None
    parts_ps: Counter[str] = field(default_factory=Counter)
    behind: str = ""
    flows: int = 0
    groups: tuple[str, ...] = ()
    waited_at: Counter[str] = field(default_factory=Counter)
    others: Counter[int] = field(default_factory=Counter)

    @property
    def ps(self) -> int:
        """All of it."""
        return sum(self.parts_ps.values())

    @property
    def own_ps(self) -> int:
        """All but waiting for ranks in other collectives: what held those up is told of them."""
        return self.ps - self.parts_ps[DEPENDENCY]

    def as_json(self) -> dict[str, Any]:
        """Plain values; a rank only of stragglers."""
        plain: dict[str, Any] = {"link": self.link, "kind": self.kind, "parts_ps": dict(self.parts_ps)}
        plain |= {"flows": self.flows, "groups": list(self.groups)}
        more = {"behind": self.behind or None, "rank": self.rank}
        return plain | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True)
class Explained:
    """One collective: all its time_ps in parts_ps, by kind.

    `blames` are for what an idle network would not have taken, `unavoidable` for the rest; in both the kind that cost
    most comes first, and of a kind the link. In a job that is without `dependency`, which counts for others there.
    """

    number: int
    op: str
    group: str
    bytes: int
    time_ps: int
    ideal_ps: int
    parts_ps: dict[str, int]
    blames: list[Blame]
    unavoidable: list[Blame] = field(default_factory=list)

    @property
    def lost_ps(self) -> int:
        """Time that is neither propagation nor serialisation."""
        return sum(blame.ps for blame in self.blames)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        links = [blame.as_json() for blame in self.blames]
        return {"id": self.number, "time_ps": self.time_ps, "parts_ps": self.parts_ps, "links": links}


def explained(path: Path, causes: Causes) -> Explained:
    """Explain one collective by its critical path."""
    carried = path.stories.carried[path.number]
    return Explained(
        number=path.number,
        op=carried.about["op"],
        group=carried.about["group"],
        bytes=carried.about["bytes"],
        time_ps=path.end_ps - path.start_ps,
        ideal_ps=carried.admitted.ideal_ps(path.end_ps - path.start_ps),
        parts_ps=_parts(path.pieces),
        blames=_blames(path, causes),
        unavoidable=_unavoidable(path, causes),
    )


def _parts(pieces: Iterable[Piece]) -> dict[str, int]:
    parts = dict.fromkeys(KINDS, 0)
    for piece in pieces:
        parts[piece.kind] += piece.ps
    return parts


def _blames(path: Path, causes: Causes) -> list[Blame]:
    network = causes.network
    found: dict[Cause, Blame] = {}
    spans: dict[Cause, tuple[int, int]] = {}
    for piece in path.pieces:
        cause = causes.of(piece)
        if cause is None:
            continue
        blame = found.get(cause) or found.setdefault(cause, _blame(causes, cause))
        blame.parts_ps[piece.kind] += piece.ps
        blame.behind = blame.behind or causes.behind(cause, piece.connection)
        if piece.link != NO_LINK:
            blame.waited_at[network.link_name(piece.link)] += piece.ps
        if piece.other >= 0:
            blame.others[piece.other] += piece.ps
        first, last = spans.get(cause, (piece.start_ps, piece.end_ps))
        spans[cause] = min(first, piece.start_ps), max(last, piece.end_ps)
    for cause, blame in found.items():
        if cause.link != NO_LINK:
            blame.flows, blame.groups = _sharers(causes.traffic, path.stories, cause.link, *spans[cause])
    return _in_order(found.values())


def _unavoidable(path: Path, causes: Causes) -> list[Blame]:
    alike: dict[tuple[str, int, int], list[Piece]] = {}
    for piece in path.pieces:
        if piece.kind in IDLE:
            alike.setdefault((piece.kind, piece.link, piece.connection), []).append(piece)
    found: dict[Cause, Blame] = {}
    for pieces in alike.values():
        cause = causes.unavoidable(pieces[0])
        blame = found.get(cause) or found.setdefault(cause, _blame(causes, cause))
        blame.parts_ps[pieces[0].kind] += sum(piece.ps for piece in pieces)
    return _in_order(found.values())


def _blame(causes: Causes, cause: Cause) -> Blame:
    name = causes.network.link_name(cause.link) if cause.link != NO_LINK else None
    return Blame(cause.kind, name, cause.rank if cause.rank >= 0 else None)


def _in_order(blames: Iterable[Blame], *, is_job: bool = False) -> list[Blame]:
    """The kind that cost most in all first; of a kind the link or rank that cost most."""
    blames, of_kind = list(blames), Counter[str]()

    def cost(blame: Blame) -> int:
        return blame.own_ps if is_job else blame.ps

    for blame in blames:
        of_kind[blame.kind] += cost(blame)
    return sorted(
        blames, key=lambda each: (-of_kind[each.kind], each.kind, -cost(each), each.link or "", each.rank or 0)
    )


def _sharers(traffic: Traffic, stories: Stories, link: int, start_ps: int, end_ps: int) -> tuple[int, tuple[str, ...]]:
    """How many connections' data a link carried in that time, and the groups whose collectives they belong to."""
    connections, first = traffic.senders(link, start_ps, end_ps)
    groups = set()
    for connection, sequence in list(zip(connections.tolist(), first.tolist(), strict=True))[:MOST_NAMED]:
        message = stories.message_of(connection, sequence)
        groups.add(stories.carried[message.number].about["group"] if message else "")
    return len(connections), tuple(sorted(groups - {""}))


def together(every: list[Explained]) -> Explained:
    """A whole job: the parts of all its collectives, and one blame for each cause and link."""
    parts = {kind: sum(each.parts_ps[kind] for each in every) for kind in KINDS}
    totals = {name: sum(getattr(each, name) for each in every) for name in ("bytes", "time_ps", "ideal_ps")}
    blames, unavoidable = (
        _joined(blame for each in every for blame in getattr(each, name)) for name in ("blames", "unavoidable")
    )
    return Explained(number=-1, op="job", group="", parts_ps=parts, blames=blames, unavoidable=unavoidable, **totals)


def _joined(blames: Iterable[Blame]) -> list[Blame]:
    found: dict[tuple[str, str | None, int | None], Blame] = {}
    for blame in blames:
        key = blame.kind, blame.link, blame.rank
        known = found.setdefault(key, Blame(*key))
        known.parts_ps += blame.parts_ps
        known.waited_at += blame.waited_at
        known.behind = known.behind or blame.behind
        known.flows = max(known.flows, blame.flows)
        known.groups = tuple(sorted({*known.groups, *blame.groups}))
    return _in_order(found.values(), is_job=True)
