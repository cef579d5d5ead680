"""The bar on a terminal: simulated time, collectives, speed, time left. Ctrl-C ends it with 130 and leaves nothing."""

import os
import pty
import re
import select
import sys
import time
from pathlib import Path

import pytest

from tests.outcomes import result_of, scenario_of
from tests.processes import HOME

LONG = '{"netsim": 1, "ranks": 16}\n' + '{"op": "all_reduce", "group": "world", "bytes": 1073741824}\n' * 99
PATIENCE_SECONDS = 240  # until the bar must have shown what it shows; a first run compiles


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.shown = ""
        self.pid, self.at = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            program = [sys.executable, "-m", "netsim", *arguments]
            os.execve(sys.executable, program, {**os.environ, "PYTHONPATH": str(HOME), "COLUMNS": "160"})

    def read(self) -> bool:
        """Take what is shown, if anything; False at the end."""
        if not select.select([self.at], [], [], 0.1)[0]:
            return True
        try:
            more = os.read(self.at, 1 << 16)
        except OSError:  # how a terminal says that nobody writes to it any more
            return False
        self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", more.decode(errors="replace"))
        return bool(more)

    def until(self, pattern: str) -> str:
        end = time.monotonic() + PATIENCE_SECONDS
        while not (found := re.search(pattern, self.shown)):
            assert time.monotonic() < end, self.shown[-500:]
            assert self.read(), self.shown[-500:]
        return found[0]

    def end(self) -> int:
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_the_bar_lives_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_text(LONG)
    terminal = Terminal(tmp_path, "run", "long.jsonl", "--on", "rail_optimized_16", "--out", "out")
    try:
        terminal.until(
            r"rail_optimized_16 .* \d+/99 collectives  [\d,.]+ us  [1-9][\d.,]* M packet-hops/s  left \d:\d\d"
        )
        os.write(terminal.at, b"\x03")
    finally:
        code = terminal.end()
    assert code == 130
    assert "netsim: interrupted" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert [path.name for path in tmp_path.iterdir()] == ["long.jsonl"]


@pytest.mark.filterwarnings("ignore:.*forkpty:DeprecationWarning")
def test_a_trace_file_tells_how_far_it_is(tmp_path: Path) -> None:
    result_of(scenario_of(), []).save(tmp_path / "run")
    terminal = Terminal(tmp_path, "trace", "run")
    assert terminal.end() == 0
    assert re.search(r"writing run\.perfetto\.json\.gz: [\d,]+ events", terminal.shown)
    assert (tmp_path / "run" / "run.perfetto.json.gz").is_file()
