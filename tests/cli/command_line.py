"""netsim as it is typed, and what it answers."""

import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from netsim.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class CommandLine:
    """Runs command lines in this process; a text is split into words as in a shell, a path is one."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *typed: str | Path) -> Answer:
        words = [word for each in typed for word in (shlex.split(each) if isinstance(each, str) else [str(each)])]
        code = main(words)
        return Answer(code, *self.capsys.readouterr())

    def succeeds(self, *typed: str | Path) -> Answer:
        answer = self(*typed)
        assert answer.code == 0, answer.err
        return answer

    def json(self, *typed: str | Path) -> Any:
        """The value printed with --json: nothing else may be on stdout."""
        return json.loads(self.succeeds(*typed, "--json").out)

    def refused(self, *typed: str | Path) -> str:
        """The one line that tells of a mistake; nothing is on stdout."""
        answer = self(*typed)
        assert (answer.code, answer.out, len(answer.err.splitlines())) == (2, "", 1), answer
        assert answer.err.startswith("netsim: ")
        assert "fault in netsim itself" not in answer.err, "a traceback in disguise"
        return answer.err
