"""How a command line ends: its exit code, and what it says where."""

import json
import os
import signal
import sys
import time
import warnings
from pathlib import Path

import pytest

from netsim.cli import exit_codes, listing, show
from netsim.errors import InputError, RunError
from tests.cli.command_line import CommandLine
from tests.processes import loaded, started

Capture = pytest.CaptureFixture[str]


def failing(error: BaseException) -> object:
    def command(*_: object, **__: object) -> None:
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("no k", where="a.toml, line 3", hint="add k = 4"), 2, "netsim: a.toml, line 3: no k; add k = 4\n"),
        (RunError("deadlock", hint="look at rank 3"), 1, "netsim: deadlock; look at rank 3\n"),
        (InputError("two\nlines"), 2, "netsim: two lines\n"),
        (KeyboardInterrupt(), 130, "netsim: interrupted\n"),
        (MemoryError(), 1, "netsim: out of memory; take fewer ranks, fewer bytes or bigger chunks\n"),
        (SystemExit(3), 3, ""),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_each_way_to_stop_has_its_code_and_line(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    monkeypatch.setattr(listing, "_names", failing(error))
    # as it would close the test's own stdout
    monkeypatch.setattr(exit_codes, "_close_quietly", lambda: exit_codes.FAILED_RUN)
    assert cli("list") == (code, "", line)


def test_a_fault_of_our_own_is_one_line_too(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    monkeypatch.delenv("NETSIM_TRACEBACK", raising=False)
    monkeypatch.setattr(listing, "_names", failing(ZeroDivisionError("by zero")))
    code, _, line = cli("list")
    assert (code, line.count("\n")) == (1, 1)
    assert line.startswith("netsim: a fault in netsim itself: ZeroDivisionError: by zero")


def test_a_fault_shows_its_traceback_when_asked(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    monkeypatch.setenv("NETSIM_TRACEBACK", "1")
    monkeypatch.setattr(listing, "_names", failing(ZeroDivisionError("by zero")))
    code, _, told = cli("list")
    assert code == 1
    assert "Traceback" in told


def test_a_warning_is_a_line_on_stderr_once(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    def warned() -> dict[str, list[str]]:
        for _ in range(2):
            warnings.warn("cache is\nread-only", RuntimeWarning, stacklevel=1)
        return {}

    monkeypatch.setattr(listing, "_names", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert cli.succeeds("list").err == "netsim: warning: cache is read-only\n"


def test_no_arguments_show_the_help_and_are_a_mistake(cli: CommandLine) -> None:
    code, out, err = cli()
    assert (code, out) == (2, "")
    assert err.startswith("Usage: netsim")


def test_version(cli: CommandLine) -> None:
    import netsim

    assert cli.succeeds("--version").out == f"netsim {netsim.__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    """What takes long to import waits until a command needs it; benchmarks/whole_runs.py tells the seconds."""
    assert loaded("from netsim.cli import main; main(['--help'])") == set()


def test_a_closed_pipe_is_no_drama() -> None:
    with started(*"-m netsim plan all_reduce --ranks 64 --bytes 64MiB --rows 5000".split()) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of a terminal")
def test_control_c_ends_with_one_line() -> None:
    code = "import sys, time; from netsim.cli import listing, main\n"
    code += "listing._names = lambda: (print('ready', flush=True), time.sleep(60))\nsys.exit(main(['list']))"
    with started("-c", code) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=30)
    assert (running.returncode, stderr) == (130, "netsim: interrupted\n")


def test_tables_keep_every_column_in_a_pipe(capsys: Capture) -> None:
    show.table("wide", [f"column {number}" for number in range(12)], [["a" * 30] * 12])
    assert capsys.readouterr().out.count("a" * 30) == 12


def test_tables_print_brackets_as_they_are(capsys: Capture) -> None:
    show.table("", ["after"], [["[red]"]])
    assert "[red]" in capsys.readouterr().out


def test_json_knows_the_numbers_of_numpy(capsys: Capture) -> None:
    import numpy as np

    show.as_json({"a": np.int64(3), "b": np.float64(0.5), "c": Path("x")})
    assert json.loads(capsys.readouterr().out) == {"a": 3, "b": 0.5, "c": "x"}


def test_ctrl_c_in_a_destructor_is_heard(capsys: pytest.CaptureFixture[str]) -> None:
    """Python can raise nothing there: it would print a traceback and go on."""

    class Struck:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def struck_while_at_work() -> None:
        with exit_codes.interrupts_heard():
            Struck()
            time.sleep(60)

    before = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        struck_while_at_work()
    assert sys.unraisablehook is before
    assert capsys.readouterr().err == ""
