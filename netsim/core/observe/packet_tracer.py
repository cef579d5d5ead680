"""A packet tracer: takes away what the core writes down of packets, and what became of messages when they end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from netsim.core.state import packet_trace_dtypes
from netsim.core.state.world import World

FIRST_ROWS = 1 << 18  # of the packet trace in the core, beside what a visit to a node may need
# A packet that a node receives and sends may cost a row, or two and a signal, and 8 entries of the pool for each.
ENTRIES_PER_ROW = 4
ROWS_PER_PORT = 4  # what was under way when the visit began
MESSAGE_TIMELINE = ("released_at", "delivered_at", "acked_at", "first", "end")


@dataclass(frozen=True, eq=False)
class MessageTimeline:
    """What became of the messages of one collective; times in ps, packets as sequence numbers of their connection.

    Columns have a row per message; source and target are positions in the group. Message i had to wait for
    before[first_before[i] : first_before[i + 1]].
    """

    connection: Any
    source: Any
    target: Any
    bytes: Any
    released_at: Any
    delivered_at: Any
    acked_at: Any
    first: Any
    end: Any
    first_before: Any
    before: Any
    finished_at: Any  # per part


class AdmittedRows(Protocol):
    """Which rows of the core's tables a collective has."""

    @property
    def first_message(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def first_part(self) -> int: ...
    @property
    def parts(self) -> int: ...


class PacketTracer:
    """Rows of the packet trace, in order per link, piece by piece; `on_full` is called past `most` rows.

    Whoever watches a run changes nothing of it, but time: switches go from event to event.
    """

    def __init__(self, most: int, on_full: Callable[[World], None]) -> None:
        self.chunks: list[Any] = []
        self.rows = 0
        self._most, self._on_full = most, on_full

    def begin(self, world: World) -> World:
        """The world, before anything has moved in it, with room to write down what will."""
        row = world.settings[0]
        row["event_driven"] = row["tracing"] = 1
        row["trace_reserve"] = row["pool_reserve"] // ENTRIES_PER_ROW + ROWS_PER_PORT * len(world.busy_egresses)
        packet_trace = np.zeros(FIRST_ROWS + int(row["trace_reserve"]), packet_trace_dtypes.PACKET_TRACE)
        return world._replace(
            packet_trace=packet_trace,
            message_timelines=np.zeros(len(world.messages) or 1, packet_trace_dtypes.MESSAGE_TIMELINE),
        )

    def is_due(self, world: World) -> bool:
        """Whether the core waits for its packet trace to be taken away."""
        return int(world.progress[0]["trace_rows"] + world.settings[0]["trace_reserve"]) > len(world.packet_trace)

    def take(self, world: World, *, at_end: bool = False) -> None:
        """Take the packet trace away."""
        row = world.progress[0]
        self.chunks.append(world.packet_trace[: row["trace_rows"]].copy())
        self.rows += int(row["trace_rows"])
        row["trace_rows"] = 0
        if self.rows > self._most and not at_end:
            self._on_full(world)

    def keep(self, chunks: list[Any], until: int) -> None:
        """Forget all but these, and call `on_full` again past so many rows."""
        self.chunks, self.rows, self._most = chunks, sum(map(len, chunks)), until

    def timeline_of(self, world: World, admitted: AdmittedRows) -> MessageTimeline:
        """What became so far of the messages of a collective whose rows have not been given back."""
        messages = slice(admitted.first_message, admitted.first_message + admitted.messages)
        timelines, rows = world.message_timelines[messages], world.messages[messages]
        flows = world.flows[rows["flow"]]
        bounds = world.messages["first_dependent"][admitted.first_message : messages.stop + 1].astype("i8")
        first_before, before = _turned_round(world, bounds, admitted.first_message)
        return MessageTimeline(
            connection=flows["connection"].astype("i8"),
            source=flows["source_part"].astype("i8") - admitted.first_part,
            target=flows["target_part"].astype("i8") - admitted.first_part,
            bytes=rows["bytes"].copy(),
            **{name: timelines[name].copy() for name in MESSAGE_TIMELINE},
            first_before=first_before,
            before=before,
            finished_at=world.parts["finished_at"][admitted.first_part : admitted.first_part + admitted.parts].copy(),
        )


def _turned_round(world: World, bounds: Any, first_message: int) -> tuple[Any, Any]:
    """Who each message waited for (CSR), from who waited for each."""
    count = len(bounds) - 1
    dependents: Any = world.dependents[bounds[0] : bounds[-1]].astype("i8") - first_message
    before = np.repeat(np.arange(count), np.diff(bounds))
    order = np.argsort(dependents, kind="stable")
    first_before = np.concatenate([[0], np.cumsum(np.bincount(dependents, minlength=count))])
    return first_before, before[order]
