"""What netsim raises: every message is one line that says where, what is wrong and how to mend it."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import accumulate

LONGEST_NAME, LONGEST_LIST = 60, 1000  # characters of a name, and of a list of names, in a message
LONGEST_MESSAGE = 1600  # characters of one, which may repeat what a stranger's file holds


def one_line(text: str) -> str:
    """The same on one line, without its middle where it is long."""
    text, half = " ".join(text.split()), LONGEST_MESSAGE // 2
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:half]} ... {text[-half:]}"


class NetsimError(Exception):
    """The parent of everything netsim raises on purpose; `str` gives "<where>: <what>; <mend>" on one line."""

    def __init__(self, what: str, where: str = "", hint: str = "") -> None:
        self.what, self.where, self.hint = what, where, hint
        super().__init__(what, where, hint)  # pickle and SimPy make an error anew from its arguments

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        text = f"{text}; {self.hint}" if self.hint else text
        return one_line(text)


class InputError(NetsimError, ValueError):
    """A user's mistake in a file, a flag or an argument (exit code 2).

    It is a ValueError as well, so that pydantic adds the name of the field to one raised inside a validator.
    """


class RunError(NetsimError):
    """A run that could not come to its end: a deadlock, a cycle, a time limit (exit code 1)."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name was probably meant: "did you mean 'x'?", or else "one of: a, b, c".

    Known names may come from a stranger's file: long ones are cut short, and no more are listed than people read.
    """
    names = sorted(known)
    lowered = {each.lower(): each for each in reversed(names)}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    return f"did you mean {_short(lowered[close[0]])!r}?" if close else f"one of: {_listed(names)}"


def refuse_unknown(what: str, names: Iterable[str], known: Collection[str], where: str = "") -> None:
    """Raise InputError for the first name that is not known: "no group 'wrld'; did you mean 'world'?"."""
    for name in names:
        if name not in known:
            raise InputError(f"{what} {name!r}", where=where, hint=nearest(name, known))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


def _listed(names: list[str]) -> str:
    """As many as fit into LONGEST_LIST characters, and how many more there are."""
    ends = accumulate(len(_short(each)) + len(", ") for each in names)
    fit = max(1, sum(end <= LONGEST_LIST for end in ends))
    more = f" and {len(names) - fit:,} more" if len(names) > fit else ""
    return ", ".join(map(_short, names[:fit])) + more
