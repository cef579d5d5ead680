"""Jitter of NICs: core and twin agree on it, it takes no rate, and equal senders share alike."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import netsim
from tests.core_runs import core_figures, differences, play_core, twin_figures
from tests.test_twin_losses import is_of_a_nics_queue
from tests.traffic import flows
from tests.twin_classed import CLASSED
from tests.twin_losses import RECOVERING, drawn_recovering
from tests.twin_lossless import LOSSLESS
from tests.twin_measuring import MEASURED
from tests.twin_random import drawn
from tests.twin_routed import ROUTED
from tests.twin_runs import build_twin
from tests.twin_scenarios import SCENARIOS
from tests.twin_shared import SHARED
from tests.twin_together import TOGETHER

NAMED = SCENARIOS | LOSSLESS | RECOVERING | MEASURED | ROUTED | SHARED | CLASSED | TOGETHER
RANDOM = {scenario.name: scenario for scenario in [*map(drawn, range(20)), *map(drawn_recovering, range(20))]}
SIZES = (1.0, 0.3, 2.5)
JITTERED = {
    name: replace(scenario, jitter=SIZES[n % len(SIZES)]) for n, (name, scenario) in enumerate((NAMED | RANDOM).items())
}


@pytest.mark.parametrize("name", JITTERED)
def test_core_and_twin_agree_with_jitter(name: str) -> None:
    scenario = JITTERED[name]
    twin = build_twin(scenario)
    results = twin.run()
    told = differences(core_figures(play_core(scenario)), twin_figures(twin, results, scenario.queue_pairs))
    assert [each for each in told if not is_of_a_nics_queue(each, scenario)] == []


def tail_drop(senders: int, rate: str = "40Gb/s", buffer: str = "2MB", **fields: Any) -> dict[str, Any]:
    """Hosts on one switch that drops at the tail: no marks, no pauses."""
    shape = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": senders + 2}
    rest = {"delay": "1us", "ecn": "off", "control_class": "shared", "pfc": "off"}
    return {**shape, **rest, "rate": rate, "buffer": buffer, **fields}


def incast(senders: int, size: int, fabric: dict[str, Any], jitter: float = 1, **transport: Any) -> netsim.Result:
    trace = flows(senders + 1, [(s, 0) for s in range(1, senders + 1)], size)
    settings = {"control": "none", "recovery": "go_back_n"} | transport
    return netsim.simulate(trace, fabric, transport=settings, nic={"jitter": jitter})


def spread(result: netsim.Result) -> float:
    """How much sooner the first flow ends than the last, as a share."""
    ends = result.flows["delivered_ps"]
    return float(1 - ends.min() / ends.max())
