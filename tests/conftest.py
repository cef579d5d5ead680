"""How the properties are tried: the same examples everywhere, however slow the machine. And Ctrl-C works everywhere."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

import netsim
from tests.cli.command_line import CommandLine

settings.register_profile("netsim", derandomize=True, deadline=None)
settings.load_profile("netsim")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job; what tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the test is."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Gives what netsim answers to a command line."""
    return CommandLine(capsys)


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved run, not to be changed."""
    folder = tmp_path_factory.mktemp("saved") / "run"
    netsim.simulate("perm16", "fat_tree_k4_100g").save(folder)
    return folder
