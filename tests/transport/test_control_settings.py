"""Settings of the controls that measure: mistakes are refused."""

from typing import Any

import pytest

from netsim.transport.settings import Transport


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
