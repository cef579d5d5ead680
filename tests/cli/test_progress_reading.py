"""Bars of a run and of a long read tell how far they are; nobody at the screen, no bar. Of a study a log is told."""

import io
import sys
from pathlib import Path

import pytest

from netsim.cli import main, progress
from netsim.cli.eta import finishing
from tests.cli.command_line import CommandLine
from tests.inputs import saved
from tests.traces.nccl.nccl_lines_of import call, world


class Screen(io.StringIO):
    """What a person would see."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return saved(tmp_path / "big[1].log", [*world(1), call(100, 0xA0, 1), *["x" * 1000] * 3000])


def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Put a screen in place of stderr; not a fixture, as pytest puts its own there after those."""
    found = Screen()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("FORCE_COLOR", "1")
    return found


def test_a_large_file_has_a_bar(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LARGE", 1 << 20)
    shown = screen(monkeypatch)
    assert main(["describe", str(log)]) == 0
    assert "reading big[1].log" in shown.getvalue()
    assert "MB" in shown.getvalue()


def test_a_small_file_has_none(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    assert main(["describe", str(log)]) == 0
    assert shown.getvalue() == ""


def test_nobody_at_the_screen_no_bar(log: Path, cli: CommandLine) -> None:
    assert cli.succeeds("describe", log).err == ""


def test_a_run_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch)
    with progress.watching("a fabric") as tell:
        assert tell is not None
        tell(5_000_000, 3, 7, 1_000_000)
    assert all(each in shown.getvalue() for each in ("a fabric", "3/7", "5 us", "M packet-hops/s"))


def test_a_run_tells_nobody_but_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.watching("a fabric") as tell:
        assert tell is None


def test_a_log_is_told_how_long_a_study_takes(
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
