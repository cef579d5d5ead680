"""Queue disciplines in the twin: what a port asks those that its network's `[queue]` table names."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tests.reference.state.records import Packet

if TYPE_CHECKING:
    from tests.reference.link.port import Port

OF_PORTS = {"tail_drop", "red", "shared_buffer", "trim", "strict_priority"}  # Port and ClassedPort do these themselves


class Discipline:
    """One discipline of one queue, or of one link where it chooses among classes."""

    by_name: ClassVar[dict[str, type[Discipline]]] = {}

    def __init_subclass__(cls, *, name: str) -> None:
        cls.by_name[name] = cls

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    def refuses(self, port: Port, packet: Packet) -> bool:
        """Whether a packet that comes finds no room."""
        return False

    def on_enqueue(self, port: Port, packet: Packet) -> bool:
        """Whether a packet that joins the queue is marked."""
        return False

    def on_dequeue(self, port: Port, packet: Packet) -> bool:
        """Whether a packet that leaves the queue is marked."""
        return False

    def on_transmit(self, level: int, packet: Packet) -> None:
        """A packet of a class begins to be sent."""

    def next_class(self, head_bytes: dict[int, int]) -> int | None:
        """The class that is next among those that may send, with the bytes of their first packets; None: no opinion."""
        return None


def disciplines_of(port: Port) -> list[Discipline]:
    """New ones for a port."""
    return [Discipline.by_name[name](settings) for name, settings in port.twin.network.queue.items()]


for path in Path(__file__).parent.glob("*.py"):
    if path.stem != "discipline":
        import_module(f"tests.reference.queues.{path.stem}")
