"""What every congestion control and flow control must do, through the public face."""

from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import netsim
from netsim.result import Result
from netsim.simulation.job import Rank
from netsim.transport import CONTROLS
from netsim.transport.presets import PAPER_2015

pytestmark = pytest.mark.filterwarnings("ignore:ecn")  # of small buffers

LINE_BPS = 100 * 10**9
PACKETS = 4160
STEP_ECN = {"kmin": 40 * PACKETS, "kmax": 160 * PACKETS, "pmax": 0.2}
LOSSLESS = {"xoff": 512 * 1024, "xon": 480 * 1024}
QUICK_TIMELY = {"delta": "200Mb/s", "beta_patched": 0.1}
QUICK = {"ai": "2Gb/s", "hai": "4Gb/s", "increase_timer": "10us", "alpha_timer": "10us"}


def incast(
    senders: int | tuple[int, ...], size: str, control: str = "dcqcn", *, paper: bool = False, **topology: Any
) -> Result:
    """So many hosts (or these) send to host 0 of a 16-host fat tree at once."""
    sources = tuple(range(1, senders + 1)) if isinstance(senders, int) else senders

    def job(rank: Rank) -> Any:
        if rank.number == 0:
            yield rank.env.all_of([rank.recv(source, size) for source in sources])
        elif rank.number in sources:
            yield rank.send(0, size)

    fabric = {"base": "fat_tree_k4_100g", "ecn": STEP_ECN, **topology}
    quick = {"dcqcn": PAPER_2015} if paper else {"dcqcn": QUICK, "timely": QUICK_TIMELY}
    transport = {"control": control, "retries": 1000, **quick}
    return netsim.simulate(job, fabric, ranks=max(sources) + 1, transport=transport)


@pytest.mark.parametrize("control", [name for name in CONTROLS if name != "none"])
def test_two_long_flows_share_a_link_equally(control: str) -> None:
    """Same start, same end: neither is more than 10 % behind the other, and together they fill the link."""
    far_away = (4, 8)  # equally far: a fixed window shares by distance
    result = incast(far_away, "16MiB", control, pfc=LOSSLESS, buffer="unlimited")
    times = (result.flows["delivered_ps"] - result.flows["start_ps"]).to_numpy()
    assert times.max() <= 1.1 * times.min()
    assert times.max() <= 1.15 * result.flows["bytes"].sum() * 8e12 / LINE_BPS


PIECE = 128 << 10  # bytes
LATE_US = 300


@cache
def one_and_a_later_one(control: str) -> tuple[Result, dict[int, Any]]:
    """Host 4 sends 24 MB to host 0 piece by piece; host 8 sends 8 MB later. When each piece has arrived, in us."""
    pieces = {4: 192, 8: 64}

    def job(rank: Rank) -> Any:
        if rank.number == 8:
            yield rank.compute(f"{LATE_US}us")
        if rank.number in pieces:
            yield rank.env.all_of([rank.send(0, PIECE) for _ in range(pieces[rank.number])])
        if rank.number == 0:
            yield rank.env.all_of([rank.recv(source, PIECE) for source, count in pieces.items() for _ in range(count)])

    fabric = {"base": "fat_tree_k4_100g", "ecn": STEP_ECN, "pfc": LOSSLESS, "buffer": "unlimited"}
    transport = {"control": control, "dcqcn": QUICK, "timely": QUICK_TIMELY}
    result = netsim.simulate(job, fabric, ranks=9, transport=transport)
    arrived = {host: np.sort(result.flows["delivered_ps"][result.flows["src"] == host]) / 1e6 for host in pieces}
    return result, arrived


def gigabits(arrived: Any, since: float, until: float) -> float:
    """The rate at which pieces arrived between two times."""
    return float(((arrived > since) & (arrived <= until)).sum() * PIECE * 8 / (until - since) / 1000)


SHARING = [name for name in CONTROLS if name != "none"]


@pytest.mark.parametrize("control", SHARING)
def test_a_flow_that_comes_later_gets_its_half(control: str) -> None:
    """They do not begin alike: who has the link must give half of it away. In the second half of their common time."""
    _, arrived = one_and_a_later_one(control)
    end = arrived[8][-1]
    first, later = (gigabits(arrived[host], (LATE_US + end) / 2, end) for host in (4, 8))
    assert abs(first - later) <= 0.1 * max(first, later) + PIECE * 8 / 1000 / ((end - LATE_US) / 2)  # and half a piece
    assert first + later > 0.85 * 96.9  # 4096 of 4160 bytes at 100 Gb/s and what HPCC leaves free


@pytest.mark.parametrize("control", SHARING)
def test_a_flow_that_leaves_lets_the_other_take_the_link(control: str) -> None:
    _, arrived = one_and_a_later_one(control)
    assert gigabits(arrived[4], arrived[8][-1] + 150, arrived[4][-1]) > 0.85 * 96.9


def test_hpcc_leaves_of_each_link_what_eta_says_and_no_queue() -> None:
    """SIGCOMM 2019, section 3.2: the links are held at eta = 95 % of their rate, so that queues are nearly empty."""
    result, arrived = one_and_a_later_one("hpcc")
    shared = gigabits(np.concatenate([arrived[4], arrived[8]]), LATE_US + 200, arrived[8][-1])
    assert shared == pytest.approx(0.95 * 100 * 4096 / 4160, rel=0.03)
    window, _ = one_and_a_later_one("window")
    assert result.links["mean_queue_bytes"].max() < 0.1 * window.links["mean_queue_bytes"].max()


def test_nscc_alone_is_as_fast_as_published() -> None:
    """uet-htsim: 2 MB (490 packets of 4150 bytes) over six links of 100 Gb/s to the last ACK in 176.2 us."""
    operation = netsim.Operation("flows", "world", (0, 8), bytes=490 * 4086, flows=((0, 8, 490 * 4086),))
    trace = netsim.Trace("one", 16, {}, (operation,))
    packet = {"payload": "4086B", "header": "64B"}
    result = netsim.simulate(trace, "fat_tree_k4_100g", transport="nscc", packet=packet)
    assert int(result.flows["acked_ps"].max()) / 1e6 == pytest.approx(176.2, rel=0.002)


INCAST_US = {"nscc": 2478.5, "dctcp": 2490.8}  # uet-htsim, NSCC there with trimming


@pytest.mark.parametrize("control", INCAST_US)
def test_incasts_take_as_long_as_published(control: str) -> None:
    """15 hosts send 490 packets each to one with a queue of 5 bandwidth-delay products: within 5 %, above the floor."""
    flows = tuple((source, 0, 490 * 4086) for source in range(1, 16))
    operation = netsim.Operation("flows", "world", tuple(range(16)), bytes=15 * 490 * 4086, flows=flows)
    trace, product = netsim.Trace("incast", 16, {}, (operation,)), 150_000
    queue = {"buffer": 5 * product, "ecn": {"kmin": product // 5, "kmax": product * 4 // 5, "pmax": 1}}
    fabric, packet = {"base": "fat_tree_k4_100g", **queue}, {"payload": "4086B", "header": "64B"}
    times = [
        netsim.simulate(trace, fabric, transport=each, packet=packet).flows["acked_ps"].max() / 1e6
        for each in (control, "window")
    ]
    assert times[0] == pytest.approx(INCAST_US[control], rel=0.05)
    assert times[0] > 15 * 490 * 0.332
    assert times[1] > 1.1 * times[0], "a fixed window is clearly worse"


def test_dcqcn_keeps_queues_short_and_pauses_few_beside_line_rate() -> None:
    """What it is for: flow control alone lets the queue stand at its limit."""
    alone = incast(8, "4MiB", "none", pfc=LOSSLESS, buffer="unlimited")
    controlled = incast(8, "4MiB", "dcqcn", paper=True, pfc=LOSSLESS, buffer="unlimited")
    assert controlled.links["mean_queue_bytes"].max() < 0.25 * alone.links["mean_queue_bytes"].max()
    assert controlled.summary["pauses"] < 0.5 * alone.summary["pauses"]


@cache
def congested(control: str) -> Any:
    """The flows of an incast."""
    return incast(8, "1MiB", control).flows


@pytest.mark.parametrize("control", SHARING)
def test_a_control_does_something_under_congestion(control: str) -> None:
    assert not congested(control).equals(congested("none"))


def test_dcqcn_hpcc_and_timely_differ_under_congestion() -> None:
    """The complaint about a peer: they gave the same file byte for byte."""
    peers = combinations(("dcqcn", "hpcc", "timely"), 2)
    assert [pair for pair in peers if congested(pair[0]).equals(congested(pair[1]))] == []


@pytest.mark.parametrize("control_class", ["strict", "shared"])
def test_flow_control_with_headroom_never_drops_and_without_it_does(control_class: str) -> None:
    """Closed form: 2 d R + 2 MTU and the packet being sent come after the pause (closed_forms 5.4)."""
    common = {"buffer": "unlimited", "control_class": control_class}
    enough = incast(15, "1MiB", "none", pfc="on", **common)
    assert enough.summary["drops"] == 0
    assert enough.summary["pauses"] > 0
    none = incast(15, "1MiB", "none", pfc={"xoff": 4 * PACKETS, "xon": PACKETS, "headroom": 0}, **common)
    lossy = none.links[none.links["drops"] > 0]
    assert len(lossy) > 0
    assert set(none.flows["bytes"]) == {1 << 20}, "and all is delivered all the same"


def test_a_pause_holds_up_a_flow_that_goes_elsewhere() -> None:
    """Head-of-line blocking: while an incast pauses the shared uplink, an innocent flow behind it waits too."""

    def job(with_incast: bool) -> Any:
        def walk(rank: Rank) -> Any:
            steps = []
            if rank.number == 0:
                steps.append(rank.send(4, "2MiB"))  # from pod 0 to the incast's ToR, but to its other host
            if rank.number == 4:
                steps.append(rank.recv(0, "2MiB"))
            if with_incast and rank.number in (1, 2, 3, 6, 7, 8):
                steps.append(rank.send(5, "2MiB"))
            if with_incast and rank.number == 5:
                steps.extend(rank.recv(source, "2MiB") for source in (1, 2, 3, 6, 7, 8))
            yield rank.env.all_of(steps)

        return walk

    def time_of_the_innocent(with_incast: bool) -> int:
        fabric = {"base": "fat_tree_k4_100g", "pfc": "on", "ecn": "off", "buffer": "unlimited"}
        flows = netsim.simulate(job(with_incast), fabric, ranks=9, transport="none", routing="single").flows
        own = flows[(flows["src"] == 0) & (flows["dst"] == 4)]
        return int((own["delivered_ps"] - own["start_ps"]).iloc[0])

    assert time_of_the_innocent(True) > 1.5 * time_of_the_innocent(False)


def test_a_deadlock_of_paused_links_is_named() -> None:
    """A circle of switches, each sending two hops on: every buffer waits for the next."""
    with pytest.raises(netsim.RunError, match="stopped links that wait for each other"):
        netsim.simulate(*_cycle(), transport="none")


def _cycle() -> tuple[Any, Any]:
    from netsim.topology import Topology
    from netsim.topology.builder import NetworkBuilder
    from netsim.topology.network import Network
    from netsim.topology.pfc import Pfc

    class Circle(Topology):
        """Five switches in a cycle with a host each; the shortest way to the host two on is always clockwise."""

        kind: str = "circle"

        def build(self) -> Network:
            builder = NetworkBuilder("circle", "strict", Pfc(xoff=4 * PACKETS, xon=2 * PACKETS))
            hosts = [builder.host(f"h{i}") for i in range(5)]
            switches = [builder.switch(f"s{i}", "tor") for i in range(5)]
            for host, switch in zip(hosts, switches, strict=True):
                builder.connect(host, switch, LINE_BPS, 10**6, "tor", 10**9)
            for here, there in zip(switches, switches[1:] + switches[:1], strict=True):
                builder.connect(here, there, LINE_BPS, 10**6, "ring", 10**9)
            return builder.build()

    flows = tuple((i, (i + 2) % 5, 1 << 20) for i in range(5))
    everyone = tuple(range(5))
    operation = netsim.Operation("flows", "world", everyone, bytes=int(np.sum([f[2] for f in flows])), flows=flows)
    return netsim.Trace("circle", 5, {}, (operation,)), Circle()
