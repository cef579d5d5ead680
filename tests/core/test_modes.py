"""The kernels in the interpreter, and compiled with bounds checks: the same figures as always."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.scenario_runs import differences, of_core
from tests.reference.scenarios.plain import SCENARIOS

ROOT = Path(__file__).parents[2]
PLAIN, CHECKED = {"NUMBA_DISABLE_JIT": "1"}, {"NETSIM_CHECKED": "1"}
INTERPRETED = [
    "incast_drops", "tail_losses_time_out", "dctcp_ramp", "dctcp_shared_queue", "two_collectives_overlap",
    "everybody_over_one_rail_with_losses", "turns_are_skipped_beside_transit", "late_rank_releases_in_row_order",
]  # fmt: skip


def run(mode: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """tests.core.played_figures in a process of its own; wrapping integers warn only in the interpreter."""
    others = {name: value for name, value in os.environ.items() if name not in (*PLAIN, *CHECKED)}
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-m", "tests.core.played_figures", *arguments]
    environment = others | mode | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        pytest.param(PLAIN, INTERPRETED, id="plain"),
        pytest.param(CHECKED, list(SCENARIOS), id="checked"),
    ],
)
def test_kernels_give_the_same_figures_in_every_mode(mode: dict[str, str], names: list[str]) -> None:
    process = run(mode, *names)
    assert process.returncode == 0, process.stderr
    found = json.loads(process.stdout)
    assert list(found) == names
    for name, figures in found.items():
        assert differences(figures, of_core(SCENARIOS[name]), (str(mode), "compiled")) == [], name


@pytest.mark.parametrize("mode", [PLAIN, CHECKED], ids=["plain", "checked"])
def test_both_modes_notice_a_row_that_is_not_there(mode: dict[str, str]) -> None:
    process = run(mode, "--outside")
    assert process.returncode != 0
    assert "IndexError" in process.stderr
