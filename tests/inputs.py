"""Input files that a test writes, and what netsim says of what it refuses."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from netsim.errors import InputError


def saved(path: Path, content: str | bytes | Iterable[str]) -> Path:
    """A file of this content, or of these lines."""
    if not isinstance(content, str | bytes):
        content = "\n".join(content) + "\n"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(what: Callable[..., object], *arguments: Any, **options: Any) -> InputError:
    """The InputError in which a call ends; its message is one line."""
    with pytest.raises(InputError) as caught:
        what(*arguments, **options)
    assert "\n" not in str(caught.value)
    return caught.value


def refusal(what: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """Its message; it says how to mend the mistake."""
    error = refused(what, *arguments, **options)
    assert error.hint
    return str(error)


def check_refusal(place: str, what: str, call: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """A call is refused with a message that names the place of the mistake, and says what is wrong."""
    text = refusal(call, *arguments, **options)
    assert place in text
    assert what in text
