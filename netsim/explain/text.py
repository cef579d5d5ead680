"""An explanation in words: where the time went, and who is to blame for what an idle network would not have taken."""

from __future__ import annotations

from netsim.explain.explanation import Blame, Explained, together
from netsim.explain.path import KINDS
from netsim.report.text import NOTHING, columns, counted, listed, microseconds, percent
from netsim.result.reason import ReasonKind
from netsim.units import format_size

MOST_TOLD = 8  # collectives told one by one: those that lost most
MOST_BLAMES = 4  # of each
MOST_LINKS = 12  # of the whole job
MOST_GROUPS = 2  # named in one sentence
WORTH_TELLING = 0.01  # of the lost time


def explained_text(every: list[Explained]) -> str:
    """Everything for people: the collectives that lost most in sentences, then the job as a table."""
    if not every:
        return "no collectives"
    worst = sorted(every, key=lambda each: (-each.lost_ps, each.number))[:MOST_TOLD]
    told = [collective_text(each) for each in sorted(worst, key=lambda each: each.number)]
    if len(every) > len(worst):
        told.append(f"({len(every) - len(worst):,} more collectives lost less; --collective ID tells of one)")
    if len(every) == 1:
        return told[0]
    return "\n\n".join([*told, job_text(every)])


def collective_text(each: Explained) -> str:
    """One collective: its time, its parts, and a sentence for each cause."""
    group = f" of {each.group}" if each.group else ""
    head = f"collective {each.number}: {each.op}{group}, {format_size(each.bytes)}, {microseconds(each.time_ps)} us"
    lines = [head, f"  {_parts(each)}"]
    lines += [f"  {sentence(blame, each.lost_ps)}" for blame in _worth_telling(each)]
    return "\n".join(lines)


def _worth_telling(each: Explained) -> list[Blame]:
    return [blame for blame in each.blames[:MOST_BLAMES] if blame.ps >= WORTH_TELLING * each.lost_ps]


def _parts(each: Explained) -> str:
    """All parts that are not nothing, as they are of the whole time."""
    there = [f"{name} {percent(ps / each.time_ps)}" for name, ps in each.parts_ps.items() if ps]
    return ", ".join(there) or "took no time"


def sentence(blame: Blame, lost_ps: int) -> str:
    """38 % of the lost time is queueing on leaf3->spine1, shared by 3 flows of group dp0 (ECMP collision)."""
    share = percent(blame.ps / lost_ps) if lost_ps else NOTHING
    cause = f"{blame.kind} {_joint(blame.kind)} {blame.behind}" if blame.behind else blame.kind
    kinds = listed([name for name, _ in blame.parts_ps.most_common()])
    return f"{share} of the lost time is {kinds}{_place(blame)}{_sharers(blame)}{_others(blame)} ({cause})"


def _joint(kind: str) -> str:
    """Losses come after something, a limit is somebody's."""
    return "after" if kind == ReasonKind.LOSS_RECOVERY else "of"


def _place(blame: Blame) -> str:
    if blame.rank is not None:
        return f" of rank {blame.rank}, which came late"
    if blame.link is None:
        return ""
    most = blame.waited_at.most_common(1)
    waited = [name for name, ps in most if name != blame.link and 2 * ps >= blame.ps]
    return f" on {waited[0]}, because of {blame.link}" if waited else f" on {blame.link}"


def _sharers(blame: Blame) -> str:
    if blame.link is None or not blame.flows:
        return ""
    named = ", ".join(blame.groups[:MOST_GROUPS])
    more = f" and {counted(len(blame.groups) - MOST_GROUPS, 'more group')}" if len(blame.groups) > MOST_GROUPS else ""
    of = f" of {'groups' if len(blame.groups) > 1 else 'group'} {named}{more}" if named else ""
    return f", {'shared' if blame.flows > 1 else 'used'} by {counted(blame.flows, 'flow')}{of}"


def _others(blame: Blame) -> str:
    return f" from collective {blame.others.most_common(1)[0][0]}" if blame.others else ""


def job_text(every: list[Explained]) -> str:
    """The whole job: time of all collectives together by its parts; what was lost by cause and link."""
    job = together(every)
    kinds = [[name, microseconds(job.parts_ps[name]), _share(job.parts_ps[name], job.time_ps)] for name in KINDS]
    table = columns(["time went into", "us", "share"], kinds)
    rows = [_row(blame, job.lost_ps) for blame in job.blames[:MOST_LINKS]]
    left = len(job.blames) - len(rows)
    more = f"\n({counted(left, 'more cause')} cost less)" if left else ""
    lost = columns(["cause", "where", "lost us", "share", "mostly"], rows, words=(0, 1, 4)) + more if rows else ""
    title = f"all {len(every):,} collectives together, {microseconds(job.time_ps)} us"
    return "\n\n".join(part for part in (f"{title}\n{table}", lost) if part)


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else NOTHING


def _row(blame: Blame, lost_ps: int) -> list[str]:
    where = blame.link or (f"rank {blame.rank}" if blame.rank is not None else NOTHING)
    kind = blame.parts_ps.most_common(1)[0][0]
    return [blame.kind, where, microseconds(blame.ps), _share(blame.ps, lost_ps), kind]
