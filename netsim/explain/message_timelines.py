"""What became of all messages of a run: which message a packet belongs to, and what that had to wait for."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from netsim.core.observe.packet_tracer import MessageTimeline
from netsim.simulation.fabric import ActiveCollective

SEQUENCES = 33  # binary digits: a message may end where a connection's last sequence number is


@dataclass(frozen=True)
class Message:
    """Message `row` of collective `number`."""

    number: int
    row: int


class Timelines:
    """Collectives that have a `told`, by number."""

    def __init__(self, carried: list[ActiveCollective]) -> None:
        self.carried = {each.number: each for each in carried if each.timeline is not None}

    def timeline(self, number: int) -> MessageTimeline:
        """What became of the messages of a collective."""
        found = self.carried[number].timeline
        assert found is not None
        return found

    @cached_property
    def messages(self) -> dict[str, Any]:
        """All messages by connection and sequence: connection, released_at, first, end; their number and row."""
        every = [(number, self.timeline(number)) for number in self.carried]
        parts = {
            name: [getattr(timeline, name) for _, timeline in every]
            for name in ("connection", "released_at", "first", "end")
        }
        parts["number"] = [np.full(len(timeline.end), number) for number, timeline in every]
        parts["row"] = [np.arange(len(timeline.end)) for _, timeline in every]
        columns = {name: np.concatenate([np.zeros(0, "i8"), *each]) for name, each in parts.items()}
        order = np.lexsort((columns["end"], columns["connection"]))
        return {name: column[order] for name, column in columns.items()}

    def message_at(self, place: int) -> Message:
        """The message at a place of `messages`."""
        return Message(int(self.messages["number"][place]), int(self.messages["row"][place]))

    @cached_property
    def _ends(self) -> Any:
        return (self.messages["connection"] << SEQUENCES) + self.messages["end"]

    def message_of(self, connection: int, sequence: int) -> Message | None:
        """The message that a packet belongs to; None where it is not known."""
        place = int(np.searchsorted(self._ends, (connection << SEQUENCES) + sequence, side="right"))
        if place == len(self._ends) or self._ends[place] >> SEQUENCES != connection:
            return None
        return self.message_at(place)

    def released_at(self, message: Message) -> int:
        """When it waited for nothing more, ps."""
        return int(self.timeline(message.number).released_at[message.row])

    def released_by(self, message: Message) -> tuple[Message, bool] | None:
        """The message whose delivery (True) or acknowledgement (False) freed it last; None if its rank's entry did."""
        timeline, row = self.timeline(message.number), message.row
        before = timeline.before[timeline.first_before[row] : timeline.first_before[row + 1]]
        delivered = timeline.target[before] == timeline.source[row]
        at = np.where(delivered, timeline.delivered_at[before], timeline.acked_at[before])
        found = np.flatnonzero(at == timeline.released_at[row])
        if not len(found):
            return None
        return Message(message.number, int(before[found[0]])), bool(delivered[found[0]])

    def entry_of(self, message: Message) -> tuple[int, int]:
        """The rank that sends it, and when that began its part of the collective."""
        carried, position = self.carried[message.number], int(self.timeline(message.number).source[message.row])
        return carried.ranks[position], carried.entered[position]

    @cached_property
    def _spans(self) -> dict[int, list[tuple[int, int, int]]]:
        """By rank: when it was in which collective."""
        spans: dict[int, list[tuple[int, int, int]]] = {}
        for number, carried in self.carried.items():
            finished = self.timeline(number).finished_at
            for position, began in carried.entered.items():
                spans.setdefault(carried.ranks[position], []).append((began, int(finished[position]), number))
        return {rank: sorted(each) for rank, each in spans.items()}

    def spans(self, rank: int, start_ps: int, end_ps: int, but: int) -> list[tuple[int, int, int]]:
        """When that rank was in which collective (but that one) between two times, without overlap, in order."""
        found, reached = [], start_ps
        for began, ended, number in self._spans.get(rank, []):
            began, ended = max(began, reached), min(ended, end_ps)
            if number != but and ended > began:
                found.append((began, ended, number))
                reached = ended
        return found
