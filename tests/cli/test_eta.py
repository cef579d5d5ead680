"""A log is told now and then how far a study is."""

import pytest

from netsim.cli.eta import finishing


def test_a_log_is_told_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rate counts from the first that is done: processes start before it. A line comes every ten seconds."""
    clock = iter([0.0, 5.0, 7.0, 9.0, 16.9, 17.0, 20.0])
    monkeypatch.setattr("netsim.cli.eta.time.monotonic", lambda: next(clock))
    with finishing(100, "runs") as tell:
        for _ in range(6):
            tell(None)
    assert capsys.readouterr().err.splitlines() == [
        "netsim: 2 of 100 runs done, about 3 min left",
        "netsim: 5 of 100 runs done, about 5 min left",
    ]
