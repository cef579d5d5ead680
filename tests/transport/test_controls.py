"""What every congestion control and flow control must do, through the public face."""

from typing import Any

import numpy as np
import pytest

import netsim
from netsim.result import Result
from netsim.simulation.job import Rank
from netsim.transport import CONTROLS
from netsim.transport.presets import PAPER_2015
from netsim.validate import fairness

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
    result = incast(far_away, "64MiB", control, pfc=LOSSLESS, buffer="unlimited")  # many cuts of each window
    times = (result.flows["delivered_ps"] - result.flows["start_ps"]).to_numpy()
    assert times.max() <= 1.1 * times.min()
    assert times.max() <= 1.15 * result.flows["bytes"].sum() * 8e12 / LINE_BPS


def test_hpcc_leaves_of_each_link_what_eta_says_and_no_queue() -> None:
    """SIGCOMM 2019, section 3.2: the links are held at eta = 95 % of their rate, so that queues are nearly empty."""
    result, arrived = fairness.one_and_a_later_one("hpcc")
    shared = fairness.gigabits(np.concatenate([arrived[4], arrived[8]]), fairness.LATE_US + 200, arrived[8][-1])
    assert shared == pytest.approx(0.95 * 100 * 4096 / 4160, rel=0.03)
    window, _ = fairness.one_and_a_later_one("window")
    assert result.links["mean_queue_bytes"].max() < 0.1 * window.links["mean_queue_bytes"].max()


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
