"""Follow the critical path of each collective through its packets: where its time went, at which link, and why.

The run is simulated once more, packet by packet, with every packet written down. The time of a collective splits
without remainder into propagation, serialisation, queueing, pause (flow control), throttling (congestion
control), retransmission, dependency (a rank still in another collective) and compute (a rank that came late).
"Lost" is all but the first two. What limited the whole job is said last, as `netsim run` says it.

Where collectives have more packets than can be kept (16.7 million packet hops at a time), the run is simulated
three to five times, and only those are kept that matter; --collective ID then spares the others' share.

\b
  netsim run all_to_all_16 --on leaf_spine_32_4to1 --out results/slow
  netsim explain results/slow
  netsim explain results/slow --collective 0
  netsim explain results/slow --json
"""

from netsim.cli import choices, show


def explain(
    folder: choices.SavedRun,
    collective: choices.Collective = None,
    as_json: choices.Json = False,
) -> None:
    from netsim.cli.progress import watching
    from netsim.cli.work import say_if_compiling
    from netsim.explain import explain_saved, together
    from netsim.explain.reason import reason_of
    from netsim.explain.text import explained_text
    from netsim.result import Result

    result = Result.load(folder)
    say_if_compiling()
    with watching(result.scenario.topology.title) as progress:
        found = explain_saved(result, collective=collective, progress=progress)
    job = together(found)
    if as_json:
        every = [each.as_json() | {"reason": reason_of(each).as_json()} for each in found]
        whole = {name: value for name, value in job.as_json().items() if name != "id"}
        show.as_json({"collectives": every, "job": whole | {"reason": reason_of(job).as_json()}})
    else:
        print(explained_text(found))
        if collective is None:
            print(f"\n{reason_of(job).text}")
