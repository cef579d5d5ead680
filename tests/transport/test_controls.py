"""What HPCC and DCQCN are for, through the public face (shares, incasts: tests/validate)."""

import numpy as np
import pytest

import netsim
from netsim.result import Result
from netsim.transport.presets import PAPER_2015
from netsim.validate import fairness
from tests.traffic import flows

pytestmark = pytest.mark.filterwarnings("ignore:ecn")  # of small buffers


def test_hpcc_leaves_of_each_link_what_eta_says_and_no_queue() -> None:
    """SIGCOMM 2019, section 3.2: the links are held at eta = 95 % of their rate, so that queues are nearly empty."""
    result, arrived = fairness.one_and_a_later_one("hpcc")
    shared = fairness.gigabits(np.concatenate([arrived[4], arrived[8]]), fairness.LATE_US + 200, arrived[8][-1])
    assert shared == pytest.approx(0.95 * 100 * 4096 / 4160, rel=0.03)
    window, _ = fairness.one_and_a_later_one("window")
    assert result.links["mean_queue_bytes"].max() < 0.1 * window.links["mean_queue_bytes"].max()


def incast(control: str) -> Result:
    """Eight hosts send to host 0 of a 16-host fat tree at once."""
    ecn = {"kmin": 40 * 4160, "kmax": 160 * 4160, "pmax": 0.2}
    pfc = {"xoff": 512 * 1024, "xon": 480 * 1024}
    fabric = {"base": "fat_tree_k4_100g", "ecn": ecn, "pfc": pfc, "buffer": "unlimited"}
    transport = {"control": control, "retries": 1000, "dcqcn": PAPER_2015}
    return netsim.simulate(flows(9, [(source, 0) for source in range(1, 9)], 4 << 20), fabric, transport=transport)


def test_dcqcn_keeps_queues_short_and_pauses_few_beside_line_rate() -> None:
    """What it is for: flow control alone lets the queue stand at its limit."""
    alone, controlled = incast("none"), incast("dcqcn")
    assert controlled.links["mean_queue_bytes"].max() < 0.25 * alone.links["mean_queue_bytes"].max()
    assert controlled.summary["pauses"] < 0.5 * alone.summary["pauses"]
