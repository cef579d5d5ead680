"""SharedBuffer: one memory for all ports of a switch, of which no queue may take more than a share of what is left."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from netsim.errors import InputError
from netsim.kernel import inner, part
from netsim.kernel.settings import FixedPoint, KernelSettings
from netsim.units import Size

LARGEST_SIZE = 1 << 36  # bytes; so that 16 binary digits of alpha fit beside it into 63
LARGEST_ALPHA = 1024
ALPHA = 16  # binary digits of alpha behind the point
EXAMPLE = 'write a table { size = "16MB", alpha = 1 }, or "off"'


class SharedBuffer(KernelSettings):
    """Instead of a limit per port: a queue may hold at most `alpha` times what is left of `size` bytes.

    Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on
    Networking 6 (1998), section II. So n congested queues together get n alpha / (1 + n alpha) of the memory, and the
    rest stays free for those that come. Real switches offer powers of two from 1/128 to 8.
    """

    size: Size = Field(gt=0, le=LARGEST_SIZE)
    alpha: Annotated[float, Field(gt=0, le=LARGEST_ALPHA), FixedPoint(ALPHA)] = 1.0

    @classmethod
    def names(cls) -> list[str]:
        """Kernels find the size in the rows of switches."""
        return ["alpha"]

    def most_of(self, queues: int) -> float:
        """Bytes that so many congested queues hold together, to within a packet each."""
        return self.size * queues * self.alpha / (1 + queues * self.alpha)


def _off(value: Any) -> Any:
    """Let `shared_buffer = "off"` (also None and False, from Python) mean a buffer per port."""
    if value is None or value is False or value == "off":
        return None
    if isinstance(value, SharedBuffer | dict):
        return value
    raise InputError(f"{value!r} is no shared buffer", hint=EXAMPLE)


Shared = Annotated[SharedBuffer | None, BeforeValidator(_off)]


@inner
def share(settings, pool, held):
    """Bytes by which something that holds `held` of a pool may grow, so that it holds alpha times what is then left."""
    return (settings.alpha * (pool.room - pool.taken) - (held << ALPHA)) // (settings.alpha + (1 << ALPHA))


@part
def refuses(settings, state, limits, pool, backlog, wire_bytes, now):
    return pool.room > 0 and wire_bytes > share(settings, pool, backlog)
