"""Input files that a test writes, what netsim says of what it refuses and of runs that fail, and memory taken."""

import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

from netsim.errors import InputError, NetsimError, RunError

Given = TypeVar("Given")


def saved(path: Path, content: str | bytes | Iterable[str]) -> Path:
    """A file of this content, or of these lines."""
    if not isinstance(content, str | bytes):
        content = "\n".join(content) + "\n"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(
    what: Callable[..., object], *arguments: Any, error: type[NetsimError] = InputError, **options: Any
) -> NetsimError:
    """The error in which a call ends, of a mistake if not said otherwise; its message is one line."""
    with pytest.raises(error) as caught:
        what(*arguments, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def refusal(what: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """Its message; it says how to mend the mistake."""
    found = refused(what, *arguments, **options)
    assert found.hint
    return str(found)


def check_refusal(place: str, what: str, call: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """A call is refused with a message that names the place of the mistake, and says what is wrong."""
    text = refusal(call, *arguments, **options)
    assert place in text
    assert what in text


failure = partial(refusal, error=RunError)  # the same of a run that fails


def measured(call: Callable[..., Given], *arguments: Any) -> tuple[Given, int]:
    """What a call gives, and how many bytes it took at most."""
    tracemalloc.start()
    try:
        return call(*arguments), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
