"""Invariants that must hold on any fabric, tried out on the user's own: each was a public fault of some simulator."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd

from netsim.collectives import Request, plan
from netsim.config import build_scenario
from netsim.config.scenario import Scenario
from netsim.errors import InputError, NetsimError
from netsim.result import Result
from netsim.simulation import simulate
from netsim.topology import Network, Topology
from netsim.traces import Operation, Trace
from netsim.transport import CONTROLS
from netsim.units import format_rate, format_size, format_time

MOST_RANKS = 16  # enough for rings, trees and congestion, and done in seconds
LARGE = 4 << 20  # bytes of a collective that should fill the links
SIZES = tuple(1 << power for power in range(10, 24, 2))  # 1 KiB to 4 MiB
FLOW = 1 << 20  # bytes of a flow in the incast: more than the windows of all congestion controls at first
TIGHT = 4  # full packets that a switch queue holds where loss is wanted
HASTY = {"t_low": "1us"}  # TIMELY does nothing below it, and short queues never reach its default
ALL_TO_ONE = "all to one"


@dataclass(frozen=True)
class LawCheck:
    """What one invariant says, what was measured, and whether it holds."""

    invariant: str
    measured: str
    holds: bool


class Bench:
    """A fabric and the small runs that the invariants share; equal runs are made once."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.result = lru_cache(maxsize=None)(simulate)

    @cached_property
    def network(self) -> Network:
        return self.topology.build()

    @cached_property
    def ranks(self) -> int:
        return min(MOST_RANKS, len(self.network.hosts))

    @cached_property
    def line_rate_bps(self) -> int:
        """The least that any rank's host can send at once, over all its links."""
        sent = np.bincount(self.network.source, self.network.rate_bps, len(self.network.hosts))
        return int(sent[: self.ranks].min())

    def collective(self, op: str, size: int, algorithm: str | None = None) -> Result:
        """One collective among the first hosts."""
        members = tuple(range(self.ranks))
        return self.result(self._scenario(Operation(op, "world", members, size, algorithm=algorithm)))

    def incast(self, control: str = "dctcp", packets: int | None = None, seed: int = 1) -> Scenario:
        """All hosts of an even choice send to the first; switch queues hold so many packets where that is said."""
        flows = tuple((rank, 0, FLOW) for rank in range(1, self.ranks))
        whole = Operation("flows", None, tuple(range(self.ranks)), FLOW * len(flows), flows=flows)
        hosts = [rank * len(self.network.hosts) // self.ranks for rank in range(self.ranks)]
        place = {"kind": "list", "order": hosts}
        transport = {"control": control, "timely": HASTY}
        return self._scenario(whole, packets, transport=transport, seed=seed, placement=place)

    def _scenario(self, operation: Operation, packets: int | None = None, **settings: Any) -> Scenario:
        trace = Trace(ALL_TO_ONE if operation.flows else operation.op, self.ranks, {}, (operation,))
        topology = self.topology if packets is None else _with_queues_of(self.topology, packets)
        return build_scenario(trace, topology, **settings)


def _with_queues_of(topology: Topology, packets: int) -> Topology:
    """The same fabric with short queues: those that a tier states for itself stay."""
    full_packet = 4160  # the default payload and header
    return topology.model_copy(update={"buffer": packets * full_packet})


def selfcheck(topology: Topology) -> Iterator[LawCheck]:
    """Try every invariant on a fabric; InputError where it has no two hosts."""
    bench = Bench(topology)
    if bench.ranks < 2:
        raise InputError(f"{topology.title} has {bench.ranks} host", hint="a fabric joins two hosts or more")
    for invariant, measure in INVARIANTS.items():
        try:
            yield LawCheck(invariant, *measure(bench))
        except NetsimError as error:
            yield LawCheck(invariant, str(error), False)


def _busbw_below_line_rate(bench: Bench) -> tuple[str, bool]:
    ops = ("all_reduce", "all_gather", "all_to_all")
    best = max(float(bench.collective(op, LARGE).collectives["busbw_gbs"].max()) for op in ops)
    share = best * 8e9 / bench.line_rate_bps
    return f"at most {best:,.2f} GB/s, {share:.1%} of {format_rate(bench.line_rate_bps)}", share <= 1


def _more_bytes_take_longer(bench: Bench) -> tuple[str, bool]:
    times = [int(bench.collective("all_reduce", size).collectives["time_ps"].iloc[0]) for size in SIZES]
    wrong = [place for place, (less, more) in enumerate(pairwise(times)) if more < less]
    if wrong:
        less, more = SIZES[wrong[0]], SIZES[wrong[0] + 1]
        return f"{format_size(more)} is faster than {format_size(less)}", False
    return f"{format_time(times[0])} to {format_time(times[-1])} for 1 KiB to {format_size(SIZES[-1])}", True


def _controls_differ(bench: Bench) -> tuple[str, bool]:
    results = {control: bench.result(bench.incast(control)) for control in CONTROLS}
    if not results["dcqcn"].summary["ecn_marks"]:
        del results["dcqcn"]  # it hears nothing but marks: without them it sends at line rate
    if not any(each.summary["drops"] or each.summary["ecn_marks"] for each in results.values()):
        return "nothing to tell: no packet of an incast was marked or dropped", True
    tables = {control: each.flows for control, each in results.items()}
    pairs = [*combinations(("dcqcn", "hpcc", "timely"), 2), *((name, "none") for name in tables if name != "none")]
    known = [pair for pair in pairs if tables.keys() >= set(pair)]  # two others may act alike
    same = [f"{one} = {other}" for one, other in known if tables[one].equals(tables[other])]
    times = ", ".join(f"{name} {format_time(int(flows['delivered_ps'].max()))}" for name, flows in tables.items())
    return times if not same else f"the same flow table: {', '.join(same)}", not same


def _packets_are_conserved(bench: Bench) -> tuple[str, bool]:
    runs = [bench.result(bench.incast("none", packets)) for packets in (None, TIGHT)]
    text = [each.summary for each in runs]
    injected, delivered, dropped = (
        sum(each[name] for each in text) for name in ("packets_injected", "packets_delivered", "packets_dropped")
    )
    on_flows = sum(int(each.flows["packets"].sum()) for each in runs)
    measured = f"{injected:,} in = {delivered:,} out + {dropped:,} dropped; {on_flows:,} in the flow table"
    return measured, injected == delivered + dropped == on_flows


def _assorted(bench: Bench) -> list[Result]:
    """Runs at rest, under congestion, and with losses."""
    results = [bench.collective("all_reduce", size) for size in SIZES]
    ops = ("all_to_all", "gather", "scatter", "reduce_scatter", "broadcast")
    results += [bench.collective(op, size) for op in ops for size in (SIZES[2], LARGE)]
    return [*results, bench.result(bench.incast()), bench.result(bench.incast("none", TIGHT))]


def _nothing_beats_its_ideal(table: str, bench: Bench) -> tuple[str, bool]:
    found = pd.concat([getattr(each, table)["slowdown"] for each in _assorted(bench)])
    return f"slowdown {found.min():.4f} and more, over {len(found):,} {table}", bool(found.min() >= 1)


def _busy_at_most_all_the_time(bench: Bench) -> tuple[str, bool]:
    most = max(float(each.links["busy_fraction"].max()) for each in _assorted(bench))
    return f"the busiest link {most:.1%} of the time", most <= 1


def _tree_is_no_ring(bench: Bench) -> tuple[str, bool]:
    plans = {name: plan(Request(op="all_reduce", ranks=bench.ranks, bytes=LARGE), name) for name in ("ring", "tree")}
    pairs = {name: set(zip(each.source.tolist(), each.target.tolist(), strict=True)) for name, each in plans.items()}
    only = len(pairs["ring"] ^ pairs["tree"])
    times = [bench.collective("all_reduce", LARGE, name).collectives["time_ps"].iloc[0] for name in plans]
    measured = f"{only} of {len(pairs['ring'] | pairs['tree'])} pairs differ; ring {format_time(int(times[0]))}"
    return f"{measured}, tree {format_time(int(times[1]))}", only > 0 or bench.ranks < 4


def _loss_ends(bench: Bench) -> tuple[str, bool]:
    result = bench.result(bench.incast("none", TIGHT))
    lost, again = result.summary["packets_dropped"], result.summary["retransmitted_packets"]
    done = bool((result.flows["acked_ps"] > 0).all())
    return f"{lost:,} packets lost, {again:,} retransmitted, all acknowledged: {'yes' if done else 'no'}", done


def _same_seed_same_bytes(bench: Bench) -> tuple[str, bool]:
    runs = [simulate(bench.incast(seed=seed)) for seed in (7, 7)]
    names = ("collectives", "parts", "flows", "links", "queues")
    rows = sum(len(getattr(runs[0], name)) for name in names)
    same = all(getattr(runs[0], name).equals(getattr(runs[1], name)) for name in names)
    return f"{rows:,} rows of {len(names)} tables, run twice", same


INVARIANTS: dict[str, Callable[[Bench], tuple[str, bool]]] = {
    "busbw is at most the line rate": _busbw_below_line_rate,
    "more bytes never take less time": _more_bytes_take_longer,
    "under congestion controls differ": _controls_differ,
    "packets in = packets out + drops": _packets_are_conserved,
    "no operation is faster than its ideal": partial(_nothing_beats_its_ideal, "collectives"),
    "no flow is faster than alone": partial(_nothing_beats_its_ideal, "flows"),
    "no link is busy for longer than the run": _busy_at_most_all_the_time,
    "a tree's flows are not a ring's": _tree_is_no_ring,
    "a run with losses ends": _loss_ends,
    "same seed, same bytes": _same_seed_same_bytes,
}
