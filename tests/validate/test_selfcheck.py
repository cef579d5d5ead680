"""`netsim selfcheck`: every invariant holds on sound fabrics, and each can fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from netsim.config import load_topology
from netsim.errors import RunError
from netsim.result import Result
from netsim.topology import FatTree, LeafSpine
from netsim.validate.selfcheck import INVARIANTS, Bench, LawCheck, selfcheck
from tests.cli.command_line import CommandLine
from tests.inputs import refusal

SMALL = LeafSpine(leaves=2, spines=1, hosts_per_leaf=2, name="small")


@pytest.mark.parametrize("name", ["fat_tree_k4_100g", "leaf_spine_32_4to1", "rail_optimized_16", "fat_tree_k8_400g"])
def test_every_invariant_holds_on_shipped_fabrics(name: str) -> None:
    findings = list(selfcheck(load_topology(name)))
    assert [finding.invariant for finding in findings] == list(INVARIANTS)
    assert [finding for finding in findings if not finding.holds] == []


@pytest.mark.parametrize("topology", [SMALL, FatTree(k=2), FatTree(k=4, ecn="off", control_class="shared")])
def test_every_invariant_holds_on_odd_ones(topology: Any) -> None:
    assert [finding for finding in selfcheck(topology) if not finding.holds] == []


def test_losses_and_congestion_are_there() -> None:
    bench = Bench(SMALL)
    assert bench.result(bench.incast("none", 4)).summary["drops"] > 0
    assert bench.result(bench.incast("dctcp")).summary["ecn_marks"] > 0


def scaled(column: str, factor: float) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda table: table.assign(**{column: table[column] * factor})


def with_table(name: str, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Result], Result]:
    return lambda result: replace(result, **{name: change(getattr(result, name))})


def lying_summary(result: Result) -> Result:
    return replace(result, summary=result.summary | {"packets_dropped": result.summary["packets_dropped"] + 1})


def test_each_faulty_run_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are falsified one way at a time; exactly the invariant that the fault breaks must tell."""
    falsified: dict[str, Callable[[Result], Result]] = {
        "busbw is at most the line rate": with_table("collectives", scaled("busbw_gbs", 3)),
        "more bytes never take less time": with_table("collectives", scaled("time_ps", -1)),
        "packets in = packets out + drops": lying_summary,
        "no operation is faster than its ideal": with_table("collectives", scaled("slowdown", 0.3)),
        "no flow is faster than alone": with_table("flows", scaled("slowdown", 0.3)),
        "no link is busy for longer than the run": with_table("links", scaled("busy_fraction", 9)),
        "a run with losses ends": with_table("flows", scaled("acked_ps", -1)),
        "under congestion controls differ": with_table("flows", lambda table: table * 0),
    }
    for invariant, falsify in falsified.items():
        bench = Bench(SMALL)
        honest = bench.result
        monkeypatch.setattr(bench, "result", lambda scenario, honest=honest, falsify=falsify: falsify(honest(scenario)))
        assert not INVARIANTS[invariant](bench)[1], invariant


def test_a_run_that_differs_from_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import netsim.validate.selfcheck as room

    honest, runs = room.simulate, []

    def wavering(scenario: Any) -> Result:
        runs.append(scenario)
        return with_table("links", scaled("bytes", len(runs)))(honest(scenario))

    monkeypatch.setattr(room, "simulate", wavering)
    assert not INVARIANTS["same seed, same bytes"](Bench(SMALL))[1]


def test_a_run_that_fails_is_a_finding_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(bench: Bench) -> tuple[str, bool]:
        raise RunError("nothing moves", hint="look at the links")

    monkeypatch.setitem(INVARIANTS, "no flow is faster than alone", fails)
    findings = {finding.invariant: finding for finding in selfcheck(SMALL)}
    assert findings.pop("no flow is faster than alone") == LawCheck(
        "no flow is faster than alone", "nothing moves; look at the links", False
    )
    assert all(finding.holds for finding in findings.values())


def test_one_host_is_no_fabric() -> None:
    assert "has 1 host" in refusal(list, selfcheck(LeafSpine(leaves=1, spines=1, hosts_per_leaf=1)))


def test_the_command_prints_a_line_each_and_leaves_with_1_if_one_fails(
    monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    lines = cli.succeeds("selfcheck leaf_spine_32_1to1").out.splitlines()
    assert [line[:4] for line in lines] == ["pass"] * len(INVARIANTS)
    column = lines[0].index("at most ", lines[0].index("line rate"))
    assert all(line[column - 2 : column] == "  " and line[column] != " " for line in lines)
    monkeypatch.setitem(INVARIANTS, "same seed, same bytes", lambda bench: ("two answers", False))
    code, out, _ = cli("selfcheck leaf_spine_32_1to1")
    assert (code, out.splitlines()[-1][:27]) == (1, "FAIL  same seed, same bytes")


def test_the_command_speaks_json(cli: CommandLine) -> None:
    findings = cli.json("selfcheck leaf_spine_32_1to1")
    assert [each["invariant"] for each in findings] == list(INVARIANTS)
    assert all(each["holds"] and each["measured"] for each in findings)


def test_a_wrong_name_is_a_users_mistake(cli: CommandLine) -> None:
    assert "did you mean" in cli.refused("selfcheck fat_tree_k5")
