"""Settings of the controls that measure: their sources, and mistakes are refused."""

from typing import Any

import pytest

from netsim.transport.controls.swift import BASE_PS
from netsim.transport.settings import Transport


def test_defaults_are_those_of_their_sources() -> None:
    """Papers, the ns-3 model of HPCC's authors, csg-htsim and uet-htsim."""
    chosen = Transport()
    assert (chosen.timely.alpha, chosen.timely.beta, chosen.timely.delta) == (0.875, 0.8, 10**7)
    assert (BASE_PS, chosen.swift.fs_range) == (20_000_000, 100_000_000)
    assert chosen.swift.hop_scale == pytest.approx(BASE_PS / 6.55, rel=1e-3)
    assert (chosen.hpcc.eta, chosen.hpcc.max_stage, chosen.hpcc.ai) == (0.95, 0, 10**7)
    assert (chosen.nscc.alpha, chosen.nscc.fi, chosen.nscc.eta, chosen.nscc.gamma) == (4, 5, 0.15, 0.8)
    assert (chosen.nscc.max_window, chosen.nscc.qa_gate, chosen.nscc.delay_alpha) == (1.5, 3, 0.0125)


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("timely", {"t_low": "50us", "t_high": "50us"}, "t_low is not below t_high"),
        ("timely", {"beta": 1.5}, "less than or equal to 1"),
        ("swift", {"fs_min_cwnd": 9, "fs_max_cwnd": 9}, "fs_min_cwnd is not below fs_max_cwnd"),
        ("hpcc", {"eta": 0}, "greater than 0"),
        ("nscc", {"max_window": 0.5}, "greater than or equal to 1"),
        ("nscc", {"gama": 0.5}, "Extra inputs"),
    ],
)
def test_mistakes_are_refused(name: str, values: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Transport.model_validate({name: values})
