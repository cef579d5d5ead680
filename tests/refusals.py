"""What netsim refuses, and how: in one line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from netsim.errors import InputError, NetsimError


def refusal(call: Callable[..., object], *given: object, error: type[NetsimError] = InputError, **named: object) -> str:
    """The one line that a call ends with."""
    with pytest.raises(error) as caught:
        call(*given, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)
