"""What limited a run: the one function that turns an explanation into a kind, a link and a sentence."""

from netsim.explain import explain
from netsim.explain.explanation import Explained, together
from netsim.explain.path import DEPENDENCY
from netsim.report.bottleneck import estimate_of
from netsim.report.text import counted, listed, percent
from netsim.result import Result
from netsim.result.reason import Reason, ReasonKind, reason

MOST_HOPS = 1 << 22  # packet hops up to which a run is explained to tell its reason: 0.3 to 2 us of CPU each
NOTHING_LOST = "{parts} of packets that nobody lost: they were overtaken, or answered late"
WORTH_BLAMING = 0.2  # of the time: with less lost it is within 1.25 times what an idle network takes

HOW: dict[str, str] = {  # what is said of a kind; the others: "queueing because of it"
    ReasonKind.STRAGGLER: "waiting for rank {rank}, which came late",
    ReasonKind.WINDOW_LIMIT: "waiting for answers with a full window ({behind}) and nothing in the way",
    ReasonKind.RATE_LIMIT: "waiting for the sender's pace ({behind}) with nothing in the way",
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

    Where little was lost, it is what an idle network takes too: a link's rate, or latency. What ranks of a job waited
    for each other between collectives is no time of its own.
    """
    is_job = each.number < 0
    time_ps = each.time_ps - (each.parts_ps[DEPENDENCY] if is_job else 0)
    lost_ps = sum(attribution.own_ps if is_job else attribution.ps for attribution in each.attributions)
    attributions = each.attributions if lost_ps >= WORTH_BLAMING * time_ps else each.unavoidable
    if not time_ps or not attributions:
        return reason(ReasonKind.NOTHING, "nothing was sent.")
    most = attributions[0]
    equal = [attribution for attribution in attributions if attribution.kind == most.kind]
    shares = [(attribution.own_ps if is_job else attribution.ps) / time_ps for attribution in equal]
    says_how = HOW.get(most.kind, "{parts} because of it{sharers}")
    how = (NOTHING_LOST if most.kind == ReasonKind.LOSS_RECOVERY and most.link is None else says_how).format(
        rank=most.rank,
        behind=most.behind,
        after=f" after {most.behind}" if most.behind else "",
        parts=listed([name for name, _ in most.parts_ps.most_common() if not is_job or name != DEPENDENCY]),
        sharers=f", shared by {counted(most.flows, 'flow')}" if most.flows > 1 else "",
    )
    more = f"; with {len(equal) - 1:,} more of the kind {percent(sum(shares))}" if len(equal) > 1 else ""
    says = f"{percent(shares[0])} of the operations' time is {how}{more}."
    return reason(most.kind, says, most.link, rank=most.rank, share=sum(shares))
