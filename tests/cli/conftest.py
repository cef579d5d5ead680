"""Commands are tried with the compiled core at hand; what is said while it compiles has tests of its own."""

import pytest

from netsim.simulation import get_ready


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile the core, if that has not been done."""
    get_ready()
