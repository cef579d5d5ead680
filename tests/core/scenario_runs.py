"""How the core runs a scenario of the twin; and what either of them measured, figure by figure under one name."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import accumulate
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
import simpy

from netsim.config.scenario import Packet
from netsim.core.observe.counters import packets_sent
from netsim.core.switch.ecmp_tables import PerPacketRouting
from netsim.routing.equal_cost_links import equal_cost_links_of
from netsim.simulation.fabric import ActiveCollective, Fabric
from netsim.topology.network import Network
from netsim.transport.settings import GoBackN, SelectiveRepeat, Transport
from tests.reference.flows.collectives import CHANNELS
from tests.reference.link.priorities import ClassedPort
from tests.reference.observe.duplicate_drops import Between, Counted, dropped, together
from tests.reference.scenarios.networks import Row, shortest_routes
from tests.reference.scenarios.scenario import Collective, Scenario, build_twin
from tests.reference.state.records import Flow, Results
from tests.reference.transport.dcqcn import PAPER
from tests.reference.twin import Twin

FLOW = ("bytes", "start_ps", "delivered_ps", "acked_ps", "retransmitted", "marked", "dropped")
GATE = ("pauses", "paused_ps", "trims")
LINK = {"bytes": "sent_bytes", "drops": "drops", "lost": "lost", "ecn_marks": "marks", "max_queue_bytes": "longest"}
Figures = dict[str, int | Between]


@dataclass
class CoreRun:
    """A scenario in the core; finish times by (collective, position), as the ranks saw them."""

    scenario: Scenario
    env: simpy.Environment
    fabric: Fabric
    carried: list[ActiveCollective]
    hosts: list[tuple[int, ...]]
    finish_ps: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def connections(self) -> Any:
        """Those that there are by now."""
        world = self.fabric.world
        return world.connections[: int(world.settings[0]["connections"])]

    def end(self) -> Self:
        """Run on until the last stray packet has arrived."""
        self.env.run()
        self.fabric.drain()
        return self


def build_core(scenario: Scenario) -> CoreRun:
    """The scenario's network in motion, with a process for every position that enters a collective."""
    network = scenario.network
    env = simpy.Environment()
    fabric = Fabric(
        env,
        network,
        by_rows(shortest_routes(network)),
        packet=Packet(**{name: getattr(scenario, name) for name in Packet.model_fields}),
        transport=transport_of(scenario),
        seed=scenario.seed,
        queue_pairs=scenario.queue_pairs,
        split=scenario.split,
        per_packet=routing_of(scenario),
        classes=scenario.classes,
        jitter=scenario.jitter,
    )
    run = CoreRun(scenario, env, fabric, [], [])
    for collective in scenario.collectives:
        run.hosts.append(scenario.members_of(collective))
        schedule = schedule_of(collective.rows, len(run.hosts[-1]))
        run.carried.append(fabric.carry(schedule, run.hosts[-1], collective.traffic_class))
    ended = {(n, p): env.event() for n, hosts in enumerate(run.hosts) for p in range(len(hosts))}
    for n, p in ended:
        env.process(_rank(run, ended, scenario.collectives[n], n, p))
    return run


def routing_of(scenario: Scenario) -> PerPacketRouting | None:
    """How switches choose, as the core takes it."""
    if scenario.per_packet is None:
        return None
    found, how = equal_cost_links_of(scenario.network), scenario.per_packet
    settings = {name: value for name, value in vars(how).items() if name != "mode"}
    return PerPacketRouting(how.mode, found.group_of, found.first, found.links, **settings)


def transport_of(scenario: Scenario) -> Transport:
    """The transport of a scenario as a user would write it."""
    return Transport(
        control=scenario.control,
        window=scenario.window,
        timeout=scenario.timeout_ps,
        **({scenario.control: dict(scenario.chosen)} if scenario.chosen else {}),
        retries=scenario.retries,
        recovery=scenario.recovery,
        go_back_n=GoBackN(naks="every" if scenario.nak_per_packet else "once"),
        selective_repeat=SelectiveRepeat(window=scenario.places, reordering=scenario.reordering),
        ndp={"share": scenario.share},
        dcqcn=PAPER | scenario.dcqcn,
    )


def _rank(run: CoreRun, ended: Any, collective: Collective, n: int, p: int) -> Generator[simpy.Event, Any, None]:
    """Enter one collective when its time has come and what it waits for is finished on the same host."""
    yield run.env.timeout(collective.enters[p] if collective.enters else 0)
    for before in collective.waits:
        yield ended[before, run.hosts[before].index(run.hosts[n][p])]
    run.finish_ps[n, p] = yield run.fabric.enter(run.carried[n], p)
    assert run.env.now == run.finish_ps[n, p], "an event fires at another time than it says"
    ended[n, p].succeed()


def play_core(scenario: Scenario) -> CoreRun:
    return build_core(scenario).end()


def by_rows(route: Callable[[int, int, int], tuple[int, ...]]) -> Callable[..., Any]:
    """A route for one connection as a router of whole arrays."""

    def routes(*ends: Any) -> SimpleNamespace:
        found = [route(*(int(each) for each in row)) for row in zip(*ends, strict=True)]
        first = np.array([0, *accumulate(map(len, found))])
        return SimpleNamespace(first=first, links=np.array([link for each in found for link in each], "i4"))

    return routes


def schedule_of(rows: list[Row] | tuple[Row, ...] | Any, ranks: int) -> SimpleNamespace:
    """Rows (source, target, channel, bytes, after) as the columns that the core reads."""
    source, target, channel, sizes, after = zip(*rows, strict=True)
    return SimpleNamespace(
        ranks=ranks,
        source=np.array(source),
        target=np.array(target),
        channel=np.array(channel),
        bytes=np.array(sizes),
        first_after=np.array([0, *accumulate(map(len, after))]),
        after=np.array([row for each in after for row in each], "i4"),
    )


def core_figures(run: CoreRun) -> Figures:
    """Everything the core measured, by name."""
    figures = {f"part {p} of collective {n} finish_ps": at for (n, p), at in run.finish_ps.items()}
    for n, (carried, hosts) in enumerate(zip(run.carried, run.hosts, strict=True)):
        flows = carried.flows
        for i in range(len(flows["bytes"])):
            ends = hosts[flows["source"][i]], hosts[flows["target"][i]], flows["channel"][i]
            figures |= {_flow(n, *ends, name): int(flows[name][i]) for name in FLOW}
            figures[_flow(n, *ends, "packets")] = int(flows["packets"][i])
    links, gates, network = run.fabric.world.links, run.fabric.world.pfc_state, run.fabric.network
    for number, packets in enumerate(packets_sent(run.fabric.world)):
        figures[_link(network, number, "packets")] = int(packets)
    for row in range(len(links)):  # of each link, and of each class above 0
        figures |= {_link(network, row, name): int(links[column][row]) for name, column in LINK.items()}
        figures |= {_link(network, row, name): int(gates[name][row]) for name in GATE}
    pools = run.fabric.world.pools
    figures |= {f"fullest of node {node}": int(pools["fullest"][node]) for node in np.flatnonzero(pools["room"])}
    return figures


def twin_figures(twin: Twin, results: Results, queue_pairs: int = 1) -> Figures:
    """Everything the twin measured, by the same names."""
    ends = {connection.number: key for key, connection in twin.connections.items()}
    figures = {f"part {p} of collective {n} finish_ps": at for (n, p), at in results.parts.items()}
    flows: dict[tuple[int, ...], list[Flow]] = {}
    losses: dict[tuple[int, ...], list[Counted]] = {}
    by_number = {connection.number: connection for connection in twin.connections.values()}
    for (n, connection), flow in results.flows.items():
        source, target, channel = ends[connection]
        key = (n, source, target, channel % CHANNELS // queue_pairs)
        flows.setdefault(key, []).append(flow)
        losses.setdefault(key, []).append(dropped(by_number[connection], flow, twin.network))
    for key, parts in flows.items():
        figures |= {_flow(*key, name): _joined(name, [getattr(flow, name) for flow in parts]) for name in FLOW}
        figures[_flow(*key, "dropped")] = together(losses[key])
        figures[_flow(*key, "packets")] = sum(flow.packets + flow.retransmitted for flow in parts)
    for number, count in enumerate(results.links):
        figures |= {_link(twin.network, number, name): value for name, value in vars(count).items()}
    figures |= {f"fullest of node {node}": pool.fullest for node, pool in twin.pools.items()}
    lanes = [lane for port in twin.ports if isinstance(port, ClassedPort) for lane in port.lanes[1:]]
    for lane in lanes:
        figures |= {_link(twin.network, lane.row, name): getattr(lane.count, name) for name in (*LINK, *GATE)}
    return figures


def _joined(name: str, values: list[int]) -> int:
    """What the queue pairs of a connection come to: counts add up, it begins with the first and ends with the last."""
    return min(values) if name == "start_ps" else max(values) if name.endswith("_ps") else sum(values)


def _flow(collective: int, source: int, target: int, channel: int, name: str) -> str:
    return f"flow {source}->{target} channel {channel} of collective {collective} {name}"


def _link(network: Network, row: int, name: str) -> str:
    level, number = divmod(row, len(network.links))
    return f"{f'class {level} of ' if level else ''}link {number} ({network.link_name(number)}) {name}"


def differences(one: Figures, other: Figures, names: tuple[str, str] = ("core", "twin")) -> list[str]:
    """Every figure that is not the same in both, in words."""
    first, second = names
    return [
        f"{figure}: {first} {one.get(figure, 'has none')}, {second} {other.get(figure, 'has none')}"
        for figure in {**one, **other}
        if one.get(figure) != other.get(figure)
    ]


def of_core(scenario: Scenario) -> Figures:
    return core_figures(play_core(scenario))


def of_twin(scenario: Scenario) -> Figures:
    twin = build_twin(scenario)
    return twin_figures(twin, twin.run(), scenario.queue_pairs)
