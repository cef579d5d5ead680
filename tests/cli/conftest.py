"""Commands are tried with the compiled core at hand; what is said while it compiles has tests of its own."""

from collections.abc import Iterator

import pytest

from netsim.simulation import get_ready


@pytest.fixture(scope="session", autouse=True)
def compiled() -> Iterator[None]:
    """Compile the core, if that has not been done. Kernels that other tests define do not count."""
    get_ready()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("netsim.kernel.is_compiled", lambda _: True)
        yield
