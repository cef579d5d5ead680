"""What a run measured, read off a fabric that has come to rest: plain numpy columns and totals."""

from functools import partial
from typing import Any

import numpy as np

from netsim.core.observe import counters
from netsim.core.state.dtypes import WAITED
from netsim.errors import RunError
from netsim.result.tables import RawResult
from netsim.simulation.deadlock import REPORT
from netsim.simulation.fabric import ActiveCollective, Fabric

Columns = dict[str, Any]


def outcome_of(fabric: Fabric, completion_time_ps: int, simulate_seconds: float) -> RawResult:
    """Read a fabric on which all ended. RunError if a packet was neither delivered nor dropped, nor is in flight."""
    links = _links(fabric, completion_time_ps)
    totals = _totals(fabric, links)
    times = {"completion_time_ps": completion_time_ps, "simulate_seconds": simulate_seconds}
    return RawResult(
        _collectives(fabric.carried),
        _parts(fabric.carried),
        _flows(fabric.carried),
        links,
        fabric.samples.columns(),
        times | totals,
    )


def _collectives(carried: list[ActiveCollective]) -> Columns:
    def column(read: Any, kind: str) -> Any:
        return np.array([read(each) for each in carried], kind)

    return {
        "id": column(lambda each: each.number, "i8"),
        **{name: [each.about[name] for each in carried] for name in ("op", "algorithm", "group", "stream")},
        "ranks": column(lambda each: len(set(each.ranks)), "i8"),
        "bytes": column(lambda each: each.about["bytes"], "i8"),
        "start_ps": column(lambda each: each.start_ps, "i8"),
        "last_start_ps": column(lambda each: each.last_start_ps, "i8"),
        "end_ps": column(lambda each: each.end_ps, "i8"),
        "ideal_ps": column(lambda each: each.admitted.ideal_ps(each.end_ps - each.start_ps), "i8"),
        "recorded_ps": column(lambda each: -1 if (text := each.about.get("recorded_ps")) is None else text, "i8"),
    }


def _joined(carried: list[ActiveCollective], read: Any) -> Any:
    return np.concatenate([np.zeros(0, "i8"), *(np.asarray(read(each), "i8") for each in carried)])


def _parts(carried: list[ActiveCollective]) -> Columns:
    """One row per rank and collective: when the rank began its part and when that was finished."""
    joined = partial(_joined, carried)
    return {
        "collective": joined(lambda each: np.full(len(each.ranks), each.number)),
        "rank": joined(lambda each: each.ranks),
        "start_ps": joined(lambda each: [each.entered[position] for position in range(len(each.ranks))]),
        "end_ps": joined(lambda each: each.finished_ps),
    }


_FLOW_COLUMNS = (
    "channel", "bytes", "start_ps", "delivered_ps", "acked_ps", "ideal_ps",
    "packets", "retransmitted", "marked", "dropped",
)  # fmt: skip


def _flows(carried: list[ActiveCollective]) -> Columns:
    """One row per connection and collective; src and dst are global ranks."""
    joined = partial(_joined, carried)
    ends = {
        "collective": joined(lambda each: np.full(len(each.flows["bytes"]), each.number)),
        "src": joined(lambda each: np.array(each.ranks, "i8")[each.flows["source"]]),
        "dst": joined(lambda each: np.array(each.ranks, "i8")[each.flows["target"]]),
    }
    return ends | {name: joined(lambda each, name=name: each.flows[name]) for name in _FLOW_COLUMNS}


def _links(fabric: Fabric, duration_ps: int) -> Columns:
    network, world = fabric.network, fabric.world
    ports, links = len(network.links), world.links
    lasts_ps = np.maximum(links["free_at"][:ports], max(duration_ps, 1))  # after the end ACKs and copies are sent

    def over_classes(column: Any) -> Any:
        return counters.by_class(world, column).sum(axis=0)

    return {
        "id": np.arange(ports),
        "source": [network.node_name(link.source) for link in network.links],
        "target": [network.node_name(link.target) for link in network.links],
        "kind": network.kinds,
        "rate_bps": network.rate_bps,
        "bytes": links["sent_bytes"][:ports].copy(),
        "packets": counters.packets_sent(fabric.world),
        "busy_fraction": counters.busy_ps(fabric.world) / lasts_ps,
        "drops": over_classes(links["drops"]),
        "lost": links["lost"][:ports].copy(),
        "trims": over_classes(world.pfc_state["trims"]),
        "ecn_marks": over_classes(links["marks"]),
        "pauses_sent": over_classes(world.pfc_state["pauses"]),
        "paused_ps": over_classes(world.pfc_state["paused_ps"]),
        "max_queue_bytes": counters.by_class(world, links["longest"]).max(axis=0),
        "mean_queue_bytes": links["waited"][:ports] * float(1 << WAITED) / lasts_ps,
    }


def _of_classes(fabric: Fabric) -> dict[str, Any]:
    """What several classes of traffic did each; ACKs, headers and what is lost of them count as class 0."""
    world = fabric.world
    classes = int(world.settings[0]["classes"])
    if classes == 1:
        return {}
    of_link = {name: counters.by_class(world, world.links[name]) for name in ("drops", "marks", "longest")}
    of_gate = {name: counters.by_class(world, world.pfc_state[name]) for name in ("trims", "pauses", "paused_ps")}
    rows = []
    for k in range(classes):
        carried = [each for each in fabric.carried if each.traffic_class == k]
        counts = {"drops": of_link["drops"][k], "ecn_marks": of_link["marks"][k]} | {
            n: c[k] for n, c in of_gate.items()
        }
        rows.append(
            {"class": k, "collectives": len(carried), "bytes": int(sum(each.flows["bytes"].sum() for each in carried))}
            | {name: int(column.sum()) for name, column in counts.items()}
            | {"max_queue_bytes": int(of_link["longest"][k].max())}
        )
    return {"classes": rows}


def _totals(fabric: Fabric, links: Columns) -> dict[str, Any]:
    rows = fabric.world.connections[: int(fabric.world.settings[0]["connections"])]
    sums = {
        name: int(rows[name].sum()) for name in ("injected", "received", "dropped", "acks_received", "acks_dropped")
    }
    sack_state = fabric.world.sack_state[: len(rows)]
    headers, pulls = int(sack_state["headers"].sum()), int(sack_state["pulled"].sum())
    held = {"held_by_recovery": int(sack_state["window_limited"].sum())} if sack_state["window_limited"].any() else {}
    data, acks = counters.packets_in_flight(fabric.world)
    pools = fabric.world.pools
    shared = {"max_shared_buffer_bytes": int(pools["fullest"].max())} if pools["room"].any() else {}
    if sums["injected"] != sums["received"] + sums["dropped"] + data:
        raise RunError(f"packets are not conserved: {sums} and {data} in flight", hint=REPORT)
    if sums["received"] + pulls != sums["acks_received"] + sums["acks_dropped"] + acks:
        raise RunError(f"ACKs are not conserved: {sums} and {acks} in flight", hint=REPORT)
    return {
        "packets_injected": sums["injected"],
        "packets_delivered": sums["received"] - headers,
        "packets_trimmed": headers,
        "packets_dropped": sums["dropped"],
        "packets_in_flight": data,
        "acks_injected": sums["received"] + pulls,
        "acks_delivered": sums["acks_received"],
        "acks_dropped": sums["acks_dropped"],
        "acks_in_flight": acks,
        "packet_hops": int(links["packets"].sum()),
        "retransmitted_packets": int(sum(each.flows["retransmitted"].sum() for each in fabric.carried)),
        "queue_interval_ps": fabric.samples.interval_ps,
        "late_entries": int(fabric.world.progress[0]["late_entries"]),
        **shared,
        **held,
        **_of_classes(fabric),
    }
