"""DRR in the twin: figure 2 of Shreedhar and Varghese, where the classes of a link are the queues."""

from itertools import cycle
from typing import Any

from tests.reference.queues.discipline import Discipline
from tests.reference.state.records import Packet


class Drr(Discipline, name="drr"):
    """The paper's variables under its names; the active list is in the order of classes."""

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        self.deficit_counter: dict[int, int] = {}  # of active classes
        self.served = 0

    def next_class(self, head_bytes: dict[int, int]) -> int:
        """Dequeue, of whose loops this is one step: the class being served goes on as long as its deficit lasts."""
        self.deficit_counter = {level: self.deficit_counter.get(level, 0) for level in head_bytes}
        if head_bytes.get(self.served, 1 << 62) <= self.deficit_counter.get(self.served, 0):
            return self.served
        for level in cycle(sorted(head_bytes, key=lambda level: (level <= self.served, level))):
            self.deficit_counter[level] += self.settings.quantum
            if head_bytes[level] <= self.deficit_counter[level]:
                self.served = level
                break
        return self.served

    def on_transmit(self, level: int, packet: Packet) -> None:
        """Charge it."""
        self.deficit_counter[level] -= packet.bytes
