"""netsim as it is typed, and what it answers."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from netsim.cli import main


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class CommandLine:
    """Runs command lines in this process; a text is split into words, a path is one."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *typed: str | Path) -> Answer:
        words = [word for each in typed for word in (each.split() if isinstance(each, str) else [str(each)])]
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
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        return answer.err
