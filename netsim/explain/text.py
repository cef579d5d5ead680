"""An explanation in words: where the time went, and what cost more than on an idle network."""

from netsim.explain.explanation import Attribution, Explained, together
from netsim.explain.path import KINDS
from netsim.report.text import NOTHING, columns, counted, listed, microseconds, percent
from netsim.result.reason import ReasonKind
from netsim.units import format_size

MOST_TOLD = 8  # collectives told one by one: those that lost most
MOST_SENTENCES = 4  # of each
MOST_LINKS = 12  # of the whole job
MOST_GROUPS = 2  # named in one sentence
WORTH_TELLING = 0.01  # of the lost time


def explained_text(every: list[Explained]) -> str:
    """Everything for people: the collectives that lost most in sentences, then the job as a table."""
    if not every:
        return "no collectives"
    worst = sorted(every, key=lambda each: (-each.lost_ps, each.number))[:MOST_TOLD]
    timeline = [collective_text(each) for each in sorted(worst, key=lambda each: each.number)]
    if len(every) > len(worst):
        timeline.append(f"({len(every) - len(worst):,} more collectives lost less; --collective ID tells of one)")
    if len(every) == 1:
        return timeline[0]
    return "\n\n".join([*timeline, job_text(every)])


def collective_text(each: Explained) -> str:
    """One collective: its time, its parts, and a sentence for each cause."""
    group = f" of {each.group}" if each.group else ""
    head = f"collective {each.number}: {each.op}{group}, {format_size(each.bytes)}, {microseconds(each.time_ps)} us"
    lines = [head, f"  {_parts(each)}"]
    lines += [f"  {sentence(attribution, each.lost_ps)}" for attribution in _worth_telling(each)]
    return "\n".join(lines)


def _worth_telling(each: Explained) -> list[Attribution]:
    least_ps = WORTH_TELLING * each.lost_ps
    return [attribution for attribution in each.attributions[:MOST_SENTENCES] if attribution.ps >= least_ps]


def _parts(each: Explained) -> str:
    """All parts that are not nothing, as they are of the whole time."""
    there = [f"{name} {percent(ps / each.time_ps)}" for name, ps in each.parts_ps.items() if ps]
    return ", ".join(there) or "took no time"


def sentence(attribution: Attribution, lost_ps: int) -> str:
    """38 % of the lost time is queueing on leaf3->spine1, shared by 3 flows of group dp0 (ECMP collision)."""
    share = percent(attribution.ps / lost_ps) if lost_ps else NOTHING
    joint = "after" if attribution.kind == ReasonKind.LOSS_RECOVERY else "of"  # losses come after something
    cause = f"{attribution.kind} {joint} {attribution.behind}" if attribution.behind else attribution.kind
    kinds = listed([name for name, _ in attribution.parts_ps.most_common()])
    where = _place(attribution) + _sharers(attribution) + _others(attribution)
    return f"{share} of the lost time is {kinds}{where} ({cause})"


def _place(attribution: Attribution) -> str:
    if attribution.rank is not None:
        return f" of rank {attribution.rank}, which came late"
    if attribution.link is None:
        return ""
    most = attribution.waited_at.most_common(1)
    waited = [name for name, ps in most if name != attribution.link and 2 * ps >= attribution.ps]
    return f" on {waited[0]}, because of {attribution.link}" if waited else f" on {attribution.link}"


def _sharers(attribution: Attribution) -> str:
    if attribution.link is None or not attribution.flows:
        return ""
    named, left = ", ".join(attribution.groups[:MOST_GROUPS]), len(attribution.groups) - MOST_GROUPS
    more = f" and {counted(left, 'more group')}" if left > 0 else ""
    of = f" of {'groups' if len(attribution.groups) > 1 else 'group'} {named}{more}" if named else ""
    return f", {'shared' if attribution.flows > 1 else 'used'} by {counted(attribution.flows, 'flow')}{of}"


def _others(attribution: Attribution) -> str:
    return f" from collective {attribution.others.most_common(1)[0][0]}" if attribution.others else ""


def job_text(every: list[Explained]) -> str:
    """The whole job: time of all collectives together by its parts; what was lost by cause and link."""
    job = together(every)
    kinds = [[name, microseconds(job.parts_ps[name]), _share(job.parts_ps[name], job.time_ps)] for name in KINDS]
    table = columns(["time went into", "us", "share"], kinds)
    rows = [_row(attribution, job.lost_ps) for attribution in job.attributions[:MOST_LINKS]]
    left = len(job.attributions) - len(rows)
    more = f"\n({counted(left, 'more cause')} cost less)" if left else ""
    lost = columns(["cause", "where", "lost us", "share", "mostly"], rows, words=(0, 1, 4)) + more if rows else ""
    title = f"all {len(every):,} collectives together, {microseconds(job.time_ps)} us"
    return "\n\n".join(part for part in (f"{title}\n{table}", lost) if part)


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else NOTHING


def _row(attribution: Attribution, lost_ps: int) -> list[str]:
    where = attribution.link or (f"rank {attribution.rank}" if attribution.rank is not None else NOTHING)
    kind = attribution.parts_ps.most_common(1)[0][0]
    return [attribution.kind, where, microseconds(attribution.ps), _share(attribution.ps, lost_ps), kind]
