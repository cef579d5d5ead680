"""What limited a run: the one function that turns an explanation into a kind, a link and a sentence."""

from __future__ import annotations

from netsim.blame import explain
from netsim.blame.explanation import Blame, Explained, together
from netsim.report.bottleneck import estimate_of
from netsim.report.text import counted, percent
from netsim.result import Result
from netsim.result.reason import Reason, ReasonKind, reason

MOST_HOPS = 1 << 21  # packet hops up to which a run is explained to tell its reason: 0.5 to 2 us of CPU each
WORTH_BLAMING = 0.2  # of the time: with less lost it is within 1.25 times what an idle network takes

HOW: dict[str, str] = {  # what is said of a kind; the others: "97 % of the operations' time is queueing because of it"
    ReasonKind.STRAGGLER: "others waited for rank {rank}, which came late",
    ReasonKind.WINDOW_LIMIT: "senders waited for answers with a full window ({behind}) and nothing in their way",
    ReasonKind.RATE_LIMIT: "senders waited for their pace ({behind}) with nothing in their way",
    ReasonKind.LOSS_RECOVERY: "{parts} of packets that were lost there{after}",
    ReasonKind.HOST_LINK: "{parts} over it",
    ReasonKind.SLOWER_LINK: "{parts} over it, the slowest link of the route",
    ReasonKind.LATENCY: "propagation, and answers on their way back",
}


def reason_of_run(result: Result) -> Reason:
    """The reason of a run: simulated again and explained, or estimated where that would take long.

    Estimated too where the run now takes other times than the result has, so that it cannot be the same.
    """
    if int(result.summary["packet_hops"]) <= MOST_HOPS:
        found = explain(result.scenario)
        if [each.time_ps for each in found] == result.collectives["time_ps"].tolist():
            return reason_of(together(found))
    return estimate_of(result)


def reason_of(each: Explained) -> Reason:
    """The reason why a collective, or a job, took its time: what cost it most, of a kind that cost most.

    Where little was lost, it is what an idle network takes too: a link's rate, or latency.
    """
    blames = each.blames if each.lost_ps >= WORTH_BLAMING * each.time_ps else each.unavoidable
    if not each.time_ps or not blames:
        return reason(ReasonKind.NOTHING, "nothing was sent.")
    most = blames[0]
    alike = [blame for blame in blames if blame.kind == most.kind]
    share = sum(blame.ps for blame in alike) / each.time_ps
    sharers = f", shared by {counted(most.flows, 'flow')}" if most.flows > 1 else ""
    how = HOW.get(most.kind, "{parts} because of it{sharers}").format(
        rank=most.rank,
        behind=most.behind,
        after=f" after {most.behind}" if most.behind else "",
        parts=" and ".join(name for name, _ in most.parts_ps.most_common()),
        sharers=sharers,
    )
    says = f"{percent(most.ps / each.time_ps)} of the operations' time, {how}{_alike(alike, share)}."
    return reason(most.kind, says, most.link, rank=most.rank, share=share)


def _alike(alike: list[Blame], share: float) -> str:
    """How much it is with all others of the kind, where there are any."""
    return f"; with {len(alike) - 1:,} more of the kind {percent(share)}" if len(alike) > 1 else ""
