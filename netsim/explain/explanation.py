"""What explains a collective's time: its parts; for those that an idle network has not, causes and where they lie."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from netsim.explain.causes import Cause, Causes
from netsim.explain.message_timelines import Timelines
from netsim.explain.path import DEPENDENCY, IDLE, KINDS, NO_LINK, Path, Segment
from netsim.explain.traffic import Traffic

MOST_NAMED = 64  # connections at a link whose groups are looked up


@dataclass
class Attribution:
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

    `attributions` are for what an idle network would not have taken, `unavoidable` for the rest; in both the kind that
    cost most comes first, and of a kind the link. In a job that is without `dependency`, which counts for others there.
    """

    number: int
    op: str
    group: str
    bytes: int
    time_ps: int
    ideal_ps: int
    parts_ps: dict[str, int]
    attributions: list[Attribution]
    unavoidable: list[Attribution] = field(default_factory=list)

    @property
    def lost_ps(self) -> int:
        """Time that is neither propagation nor serialisation."""
        return sum(attribution.ps for attribution in self.attributions)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        links = [attribution.as_json() for attribution in self.attributions]
        return {"id": self.number, "time_ps": self.time_ps, "parts_ps": self.parts_ps, "links": links}


def explained(path: Path, causes: Causes) -> Explained:
    """Explain one collective by its critical path."""
    carried = path.timelines.carried[path.number]
    return Explained(
        number=path.number,
        op=carried.about["op"],
        group=carried.about["group"],
        bytes=carried.about["bytes"],
        time_ps=path.end_ps - path.start_ps,
        ideal_ps=carried.admitted.ideal_ps(path.end_ps - path.start_ps),
        parts_ps=_parts(path.segments),
        attributions=_attributions(path, causes),
        unavoidable=_unavoidable(path, causes),
    )


def _parts(segments: Iterable[Segment]) -> dict[str, int]:
    parts = dict.fromkeys(KINDS, 0)
    for segment in segments:
        parts[segment.kind] += segment.ps
    return parts


def _attributions(path: Path, causes: Causes) -> list[Attribution]:
    network = causes.network
    found: dict[Cause, Attribution] = {}
    spans: dict[Cause, tuple[int, int]] = {}
    for segment in path.segments:
        cause = causes.of(segment)
        if cause is None:
            continue
        attribution = found.get(cause) or found.setdefault(cause, _attribution(causes, cause))
        attribution.parts_ps[segment.kind] += segment.ps
        attribution.behind = attribution.behind or causes.behind(cause, segment.connection)
        if segment.link != NO_LINK:
            attribution.waited_at[network.link_name(segment.link)] += segment.ps
        if segment.other >= 0:
            attribution.others[segment.other] += segment.ps
        first, last = spans.get(cause, (segment.start_ps, segment.end_ps))
        spans[cause] = min(first, segment.start_ps), max(last, segment.end_ps)
    for cause, attribution in found.items():
        if cause.link != NO_LINK:
            attribution.flows, attribution.groups = _sharers(causes.traffic, path.timelines, cause.link, *spans[cause])
    return _in_order(found.values())


def _unavoidable(path: Path, causes: Causes) -> list[Attribution]:
    equal: dict[tuple[str, int, int], list[Segment]] = {}
    for segment in path.segments:
        if segment.kind in IDLE:
            equal.setdefault((segment.kind, segment.link, segment.connection), []).append(segment)
    found: dict[Cause, Attribution] = {}
    for segments in equal.values():
        cause = causes.unavoidable(segments[0])
        attribution = found.get(cause) or found.setdefault(cause, _attribution(causes, cause))
        attribution.parts_ps[segments[0].kind] += sum(segment.ps for segment in segments)
    return _in_order(found.values())


def _attribution(causes: Causes, cause: Cause) -> Attribution:
    name = causes.network.link_name(cause.link) if cause.link != NO_LINK else None
    return Attribution(cause.kind, name, cause.rank if cause.rank >= 0 else None)


def _in_order(attributions: Iterable[Attribution], *, is_job: bool = False) -> list[Attribution]:
    """The kind that cost most in all first; of a kind the link or rank that cost most."""
    attributions, of_kind = list(attributions), Counter[str]()

    def cost(attribution: Attribution) -> int:
        return attribution.own_ps if is_job else attribution.ps

    for attribution in attributions:
        of_kind[attribution.kind] += cost(attribution)
    return sorted(
        attributions, key=lambda each: (-of_kind[each.kind], each.kind, -cost(each), each.link or "", each.rank or 0)
    )


def _sharers(
    traffic: Traffic, timelines: Timelines, link: int, start_ps: int, end_ps: int
) -> tuple[int, tuple[str, ...]]:
    """How many connections' data a link carried in that time, and the groups whose collectives they belong to."""
    connections, first = traffic.senders(link, start_ps, end_ps)
    groups = set()
    for connection, sequence in list(zip(connections.tolist(), first.tolist(), strict=True))[:MOST_NAMED]:
        message = timelines.message_of(connection, sequence)
        groups.add(timelines.carried[message.number].about["group"] if message else "")
    return len(connections), tuple(sorted(groups - {""}))


def together(every: list[Explained]) -> Explained:
    """A whole job: the parts of all its collectives, and one attribution for each cause and link."""
    parts = {kind: sum(each.parts_ps[kind] for each in every) for kind in KINDS}
    totals = {name: sum(getattr(each, name) for each in every) for name in ("bytes", "time_ps", "ideal_ps")}
    attributions, unavoidable = (
        _joined(attribution for each in every for attribution in getattr(each, name))
        for name in ("attributions", "unavoidable")
    )
    return Explained(
        number=-1, op="job", group="", parts_ps=parts, attributions=attributions, unavoidable=unavoidable, **totals
    )


def _joined(attributions: Iterable[Attribution]) -> list[Attribution]:
    found: dict[tuple[str, str | None, int | None], Attribution] = {}
    for attribution in attributions:
        key = attribution.kind, attribution.link, attribution.rank
        known = found.setdefault(key, Attribution(*key))
        known.parts_ps += attribution.parts_ps
        known.waited_at += attribution.waited_at
        known.behind = known.behind or attribution.behind
        known.flows = max(known.flows, attribution.flows)
        known.groups = tuple(sorted({*known.groups, *attribution.groups}))
    return _in_order(found.values(), is_job=True)
