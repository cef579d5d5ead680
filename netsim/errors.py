"""What netsim raises: every message is one line that says where, what is wrong and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class NetsimError(Exception):
    """The parent of everything netsim raises on purpose; `str` gives "<where>: <what>; <mend>" on one line."""

    def __init__(self, what: str, where: str = "", mend: str = "") -> None:
        self.what, self.where, self.mend = what, where, mend
        super().__init__(what, where, mend)  # pickle and SimPy make an error anew from its arguments

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        text = f"{text}; {self.mend}" if self.mend else text
        return " ".join(text.split())


class InputError(NetsimError, ValueError):
    """A user's mistake in a file, a flag or an argument (exit code 2).

    It is a ValueError as well, so that pydantic adds the name of the field to one raised inside a validator.
    """


class RunError(NetsimError):
    """A run that could not come to its end: a deadlock, a cycle, a time limit (exit code 1)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant: "did you mean 'x'?", or else "one of: a, b, c"."""
    names = sorted(known)
    lowered = {each.lower(): each for each in reversed(names)}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return f"did you mean {lowered[close[0]]!r}?" if close else f"one of: {', '.join(names)}"
