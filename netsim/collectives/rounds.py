"""Messages in rounds: a rank goes on to the next round when it has received what is sent to it in the rounds before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from netsim.collectives.chunking import ALIGNMENT, Pieces, count_pieces, cut, share
from netsim.collectives.schedule import Builder, Int32s, Int64s

NOBODY = -1
EAGER = 128 << 10
"""Bytes of the largest message that MPICH's CH3 sends without a rendezvous (MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE)."""


@dataclass(frozen=True, eq=False, slots=True)
class Round:
    """The messages of one round; a rank sends one at most and receives one at most.

    `source` and `target` are i4[m], `offset` and `size` i8[m]: what part of the source's buffer each carries. The
    buffer is a circle: what goes beyond its end goes on at its beginning.
    """

    source: Int32s
    target: Int32s
    offset: Int64s
    size: Int64s
    reduces: bool = False


def add_rounds(
    builder: Builder, rounds: Sequence[Round], channels: Sequence[int], chunk: int, buffer: int, in_turn: bool = False
) -> None:
    """Share each message among channels and cut it; a piece waits for the pieces received earlier that overlap it.

    A piece that overlaps nothing of the round before waits for the last piece of that. `buffer` is its length in bytes;
    0 stands for messages that are packed from all over it: then a piece waits for all that its source has received.
    `in_turn`, a rank sends large messages one by one: they wait for the acknowledgement of what it sent before.
    """
    _expect(builder, rounds, len(channels), chunk, packed=buffer == 0)
    received: list[_Received] = []
    last = np.full(builder.ranks, NOBODY, dtype=np.int64)  # row that each rank has sent
    built = 0
    for messages in rounds:
        waits_for_own = (messages.size > EAGER) & in_turn
        first, parts, own = built, list[Pieces](), np.where(waits_for_own, last[messages.source], NOBODY)
        for channel, chunks in _shares(messages, channels, chunk):
            source, pairs = messages.source[chunks.block], [_known(own[chunks.block])]
            for each in received:
                pairs += each.overlapping(source, chunks, buffer, latest=each is received[-1])
            piece, row = (np.concatenate(column) for column in zip(*pairs, strict=True))
            builder.add(
                channel,
                source=source,
                target=messages.target[chunks.block],
                size=chunks.bytes,
                offset=chunks.offset % buffer if buffer else chunks.offset,
                reduces=messages.reduces,
                waits=np.bincount(piece, minlength=len(chunks)),
                after=row[np.argsort(piece, kind="stable")] - built,
            )
            last[source] = built + np.arange(len(chunks))  # the last one of each stays
            parts.append(chunks)
            built += len(chunks)
        received.append(_Received(messages, parts, first, builder.ranks))


def _expect(builder: Builder, rounds: Sequence[Round], channels: int, chunk: int, packed: bool) -> None:
    """Announce all rows, and where messages are packed what they wait for: else a row waits for a few of each round."""
    rows, dependencies, received = 0.0, 0.0, np.zeros(builder.ranks)
    for messages in rounds:
        pieces = count_pieces(messages.size, channels, chunk)
        rows += pieces.sum()
        dependencies += packed * float(pieces @ received[messages.source])
        received[messages.target] += pieces
    builder.expect(rows, dependencies)


def _shares(messages: Round, channels: Sequence[int], chunk: int) -> Iterator[tuple[int, Pieces]]:
    for place, channel in enumerate(channels):
        first, size = share(messages.size, len(channels), place, ALIGNMENT)
        yield channel, cut(messages.offset + first, size, chunk)


def _known(rows: Int64s) -> tuple[Int64s, Int64s]:
    """The places where there is a row, and the rows there."""
    there = np.flatnonzero(rows != NOBODY)
    return there, rows[there]


class _Received:
    """The rows of a finished round, found by the rank that receives them and by their place in its message."""

    def __init__(self, messages: Round, parts: list[Pieces], first_row: int, ranks: int) -> None:
        self.messages = messages
        self.message = np.full(ranks, NOBODY, dtype=np.int64)
        self.message[messages.target] = np.arange(len(messages.target))
        block = np.concatenate([part.block for part in parts])
        begin = np.concatenate([part.offset for part in parts]) - messages.offset[block]
        self.stride = int(messages.size.max(initial=0)) + 1
        keys = block * np.int64(self.stride) + begin
        order = np.argsort(keys)
        self.keys, self.row = keys[order], order + first_row

    def overlapping(self, source: Int32s, chunks: Pieces, buffer: int, latest: bool) -> list[tuple[Int64s, Int64s]]:
        """Pairs of a piece and a row that its source has received, whose bytes overlap; of the latest round any row."""
        piece, message = _known(self.message[source])
        length = self.messages.size[message]
        if not buffer:
            return [self._pairs(piece, message, np.zeros_like(length), length)]
        begin = (chunks.offset[piece] - self.messages.offset[message]) % buffer
        end = begin + chunks.bytes[piece]  # it may begin before the message's end and reach its beginning again
        stretches = [(begin, np.minimum(end, length)), (np.zeros_like(begin), np.minimum(end - buffer, length))]
        if latest:
            apart = (begin >= length) & (end <= buffer)
            stretches.append((np.maximum(length - 1, 0), np.where(apart, length, 0)))
        return [self._pairs(piece, message, low, high) for low, high in stretches]

    def _pairs(self, piece: Int64s, message: Int64s, low: Int64s, high: Int64s) -> tuple[Int64s, Int64s]:
        """The rows that carry the bytes [low, high) of messages, if there are any."""
        piece, message, low, high = (column[low < high] for column in (piece, message, low, high))
        first = np.searchsorted(self.keys, message * self.stride + low, "right") - 1
        count = np.searchsorted(self.keys, message * self.stride + high, "left") - first
        nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        return np.repeat(piece, count), self.row[np.repeat(first, count) + nth]
