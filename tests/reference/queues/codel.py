"""CoDel in the twin: the pseudocode of RFC 8289, section 5, where a mark takes the place of a drop."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.reference.queues.discipline import Discipline
from tests.reference.state.records import Packet

if TYPE_CHECKING:
    from tests.reference.link.port import Port


class Codel(Discipline, name="codel"):
    """The RFC's variables under its names."""

    first_above_time = drop_next = count = lastcount = 0
    dropping = False

    def on_dequeue(self, port: Port, packet: Packet) -> bool:
        """Section 5.5, for one packet."""
        now, settings = port.twin.now, self.settings
        ok_to_drop = False
        if now - packet.came_ps < settings.target or port.filled["data"] == packet.bytes:
            self.first_above_time = 0
        elif self.first_above_time == 0:
            self.first_above_time = now + settings.interval
        else:
            ok_to_drop = now >= self.first_above_time
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            elif now >= self.drop_next:
                self.count += 1
                self.drop_next = self.control_law(self.drop_next)
                port.twin.totals["marked_again"] += 1
                return True
            return False
        if ok_to_drop:
            self.dropping = True
            delta = self.count - self.lastcount
            recent = delta > 1 and now - self.drop_next < 16 * settings.interval
            self.count = self.lastcount = delta if recent else 1
            port.twin.totals["resumed_marking"] += recent
            self.drop_next = self.control_law(now)
        return ok_to_drop

    def control_law(self, at: int) -> int:
        """Section 5.3."""
        return at + int(self.settings.interval / math.sqrt(self.count))
