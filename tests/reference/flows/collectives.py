"""The twin's collectives: rows that wait for other rows, and ranks' parts that finish."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence

import simpy

from tests.reference.state.records import Connection, Flow, Message, Moment, Part, Route

COMPLETION = 10**9  # a SimPy priority: after everything else of an instant
CHANNELS = 1000  # in the key of a connection every class of traffic has so many


class Ranks(ABC):
    """Schedules under way, and who has entered them."""

    def __init__(self) -> None:
        self.env = simpy.Environment()
        self.connections: dict[tuple[int, int, int], Connection] = {}
        self.messages: list[list[Message]] = []  # by collective and row
        self.parts: list[list[Part]] = []  # by collective and position
        self.hosts: list[Sequence[int]] = []  # by collective and position
        self.flows: dict[tuple[int, int], Flow] = {}
        self.totals: Counter[str] = Counter()
        self.completed: list[Part] = []

    @abstractmethod
    def new_connection(self, number: int, route: Route) -> Connection:
        """Make a connection that goes this way."""

    @abstractmethod
    def release(self, messages: list[Message]) -> None:
        """Append messages to their connections."""

    @abstractmethod
    def start_soon(self, node: int) -> None:
        """Let the idle links of a node start."""

    @property
    def now(self) -> int:
        """The time in ps."""
        return int(self.env.now)

    def later(self, priority: int, delay: int, action: Callable[[], None]) -> None:
        Moment(self.env, priority, delay, action)

    def collective(
        self,
        source: Sequence[int],
        target: Sequence[int],
        channel: Sequence[int],
        sizes: Sequence[int],
        after: Sequence[Sequence[int]],
        *,
        hosts: Sequence[int],
        route: Callable[[int, int, int], Route],
        traffic_class: int = 0,
    ) -> int:
        """Add a schedule by columns; `hosts` says where each position is; new connections get numbers as sorted."""
        above = CHANNELS * traffic_class
        keys = [(hosts[s], hosts[t], c + above) for s, t, c in zip(source, target, channel, strict=True)]
        for s, t, c in sorted(set(zip(source, target, channel, strict=True))):
            key = (hosts[s], hosts[t], c + above)
            if key not in self.connections:
                self.connections[key] = self.new_connection(len(self.connections), route(hosts[s], hosts[t], c))
                self.connections[key].traffic_class = traffic_class
        parts = [Part(self.env.event()) for _ in hosts]
        rows = [self.message(row, self.connections[key], sizes[row]) for row, key in enumerate(keys)]
        for row, message in enumerate(rows):
            message.sender, message.receiver = parts[source[row]], parts[target[row]]
            message.sender.open += 1
            message.receiver.open += 1
            message.missing = len(after[row])
            for before in after[row]:
                rows[before].dependents["delivered" if target[before] == source[row] else "acked"].append(message)
        self.messages.append(rows)
        self.parts.append(parts)
        self.hosts.append(hosts)
        return len(self.messages) - 1

    def message(self, row: int, connection: Connection, size: int) -> Message:
        """Make a row of the collective that is being added."""
        collective = len(self.messages)
        flow = self.flows.setdefault((collective, connection.number), Flow())
        flow.bytes += size
        return Message(collective, row, size, connection, flow)

    def part(self, collective: int, position: int) -> simpy.Event:
        """Give the event that fires when the position's part is finished."""
        return self.parts[collective][position].event

    def enter(self, collective: int, position: int) -> None:
        """Let a rank enter now: its rows that wait for nothing else are released, as they became so."""
        part = self.parts[collective][position]
        part.entered = True
        at_once = [m for m in self.messages[collective] if m.sender is part and m.missing == 0 and m not in part.early]
        self.release([*at_once, *part.early])
        self.finish_if_done(part)
        self.start_soon(self.hosts[collective][position])

    def settle(self, message: Message, when: str) -> None:
        """Release what waited only for this message to be delivered (or acked), in row order."""
        for dependent in message.dependents[when]:
            dependent.missing -= 1
            if dependent.missing == 0 and dependent.sender.entered:
                self.release([dependent])
            elif dependent.missing == 0:
                dependent.sender.early.append(dependent)
                self.totals["early_rows"] += 1

    def close(self, part: Part) -> None:
        """One more row of this part has arrived or has left its NIC."""
        part.open -= 1
        self.finish_if_done(part)

    def finish_if_done(self, part: Part) -> None:
        """Note the finish; all parts that finish at one instant become visible together, at its end."""
        if part.entered and part.open == 0 and part.finish_ps < 0:
            part.finish_ps = self.now
            self.completed.append(part)
            if len(self.completed) == 1:
                self.later(COMPLETION, 0, self.tell_ranks)

    def tell_ranks(self) -> None:
        """Fire the events of the parts that finished now, in order of collective and position."""
        for part in (part for parts in self.parts for part in parts if part in self.completed):
            part.event.succeed()
        self.completed.clear()
