"""What a control's file must say of it that its kernels do not show by their names."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Traits:
    """All must be said, so that none is forgotten; tests/transport/test_contract.py compares them with the kernels."""

    reacts_to_ecn: bool  # marks, or the notifications that answer them, change something
    moves_window: bool  # after its start; else the window stays as a user set it
    unlimited: bool  # the window "bdp" is no limit to it
