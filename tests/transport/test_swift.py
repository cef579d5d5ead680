"""Swift's target delay as the paper draws it."""

from typing import Any

import numpy as np
import pytest

from netsim.kernel import entry
from netsim.transport import swift
from netsim.transport.control_settings import Swift
from netsim.transport.fixed_point import ONE


@entry
def targets(windows, switches, settings, found):  # type: ignore[no-untyped-def]
    """found[i]: the target in ps for a window (packets, fixed point) and so many switches."""
    for i in range(windows.size):
        found[i] = swift.target_delay(windows[i], switches[i], settings[0])


def target_us(window: float, switches: int, chosen: Swift) -> float:
    """By the kernel."""
    settings: Any = np.zeros(1, swift.SETTINGS)
    for name, value in chosen.core.items():
        settings[name] = value
    found = np.zeros(1, "i8")
    targets(np.array([round(window * ONE)]), np.array([switches]), settings, found)
    return float(found[0]) / 1e6


@pytest.mark.parametrize("switches", [0, 1, 5])
@pytest.mark.parametrize("window", [0.01, 0.1, 0.5, 1, 7.3, 50, 100, 1e6])
def test_target_grows_with_switches_and_as_windows_get_small(window: float, switches: int) -> None:
    """SIGCOMM 2020, section 3.5: base + hops h + max(0, min(alpha / sqrt(fcwnd) - beta, fs_range))."""
    few, many = 0.1**-0.5, 100**-0.5
    alpha = 100 / (few - many)
    scaling = max(0, min(alpha * window**-0.5 - alpha * many, 100))
    assert target_us(window, switches, Swift()) == pytest.approx(20 + 3.053 * switches + scaling, rel=1e-3)


def test_ends_of_flow_scaling_are_those_the_settings_name() -> None:
    chosen = Swift(base_target="10us", hop_scale="0s", fs_range="30us", fs_min_cwnd=0.2, fs_max_cwnd=40)
    assert target_us(0.2, 3, chosen) == pytest.approx(40, rel=1e-3)
    assert target_us(40, 3, chosen) == pytest.approx(10, rel=1e-3)
