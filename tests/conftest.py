"""How the properties are tried: the same examples everywhere, however slow the machine. And Ctrl-C works everywhere."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

import netsim
from netsim.cli import main

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
def complaint(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Gives the one line that a command with a mistake prints."""

    def of(*command: object, code: int = 2) -> str:
        assert main(list(map(str, command))) == code
        output = capsys.readouterr()
        assert (output.out, len(output.err.splitlines())) == ("", 1), output
        assert output.err.startswith("netsim: ")
        assert "fault in netsim itself" not in output.err, "a traceback in disguise"
        return output.err

    return of


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved run, not to be changed."""
    folder = tmp_path_factory.mktemp("saved") / "run"
    netsim.simulate("perm16", "fat_tree_k4_100g").save(folder)
    return folder
