"""A collective as asked for: what, how much, among how many, and how it may be cut."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim.collectives.layout import Layout
from netsim.errors import InputError

MIN_TRAFFIC_PER_CHANNEL = 32 << 10
"""Bytes below which NCCL opens no further channel (enqueue.cc); an all-reduce counts each byte twice."""

MAX_CHANNELS = 1 << 15
"""Channels are held as 16-bit numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """One collective to be planned; ranks are positions 0..n-1 in its group.

    `bytes` is the full buffer, as in nccl-tests: what each rank holds at the end of an all-gather, at the start of
    a reduce-scatter or all-to-all, what the root holds in a gather or scatter. `sizes[i, j]` are the bytes from i
    to j (all_to_all_v), `flows` are (source, target, bytes) (flows); each waits for the flows numbered in its row of
    `after` and goes on its channel of `flow_channels`, where these are given. `channels` and `chunk_bytes` left out
    mean what the algorithm takes by itself. Raises InputError where a value makes no sense.
    """

    op: str
    ranks: int
    bytes: int = 0
    root: int = 0
    sizes: NDArray[np.int64] | None = None
    flows: Sequence[tuple[int, int, int]] | NDArray[np.int64] | None = None
    after: Sequence[Sequence[int]] | None = None
    flow_channels: Sequence[int] | None = None
    channels: int | None = None
    chunk_bytes: int | None = None
    layout: Layout | None = None

    def __post_init__(self) -> None:
        self._demand(self.ranks >= 1, f"ranks = {self.ranks}", "a group has at least 1 rank")
        self._demand(self.bytes >= 0, f"bytes = {self.bytes}", "give 0 or more bytes")
        self._demand(0 <= self.root < self.ranks, f"root = {self.root}", f"give a position in 0..{self.ranks - 1}")
        channels = 1 if self.channels is None else self.channels
        self._demand(1 <= channels < MAX_CHANNELS, f"channels = {channels}", f"give 1 to {MAX_CHANNELS - 1} channels")
        chunk = 1 if self.chunk_bytes is None else self.chunk_bytes
        self._demand(chunk >= 1, f"chunk_bytes = {chunk}", "give at least 1 byte")
        members = self.ranks if self.layout is None else len(self.layout)
        self._demand(members == self.ranks, f"layout has {members} members", f"describe all {self.ranks} ranks")
        if self.sizes is not None:
            self._check_sizes()

    def _check_sizes(self) -> None:
        sizes = np.asarray(self.sizes, dtype=np.int64)
        object.__setattr__(self, "sizes", sizes)
        square = (self.ranks, self.ranks)
        self._demand(sizes.shape == square, f"sizes has shape {sizes.shape}", f"give a matrix of shape {square}")
        for source, target in np.argwhere(sizes < 0)[:1]:
            what = f"sizes[{source}][{target}] = {sizes[source, target]}"
            self._demand(False, what, "give 0 or more bytes")

    def _demand(self, fine: bool, what: str, hint: str) -> None:
        if not fine:
            raise InputError(what, where=self.op, hint=hint)

    @property
    def places(self) -> Layout:
        """The layout, or every rank a server of its own where none was given."""
        return Layout.flat(self.ranks) if self.layout is None else self.layout

    def chunk(self, usual: int) -> int:
        """Most bytes of one chunk flow; `usual` where the request does not say."""
        return usual if self.chunk_bytes is None else self.chunk_bytes

    def rail_channels(self) -> int:
        """Channels of a ring: as asked, else one per rail where the group spans servers of several ranks, else 1.

        By itself a small collective gets no more channels than it has traffic for (MIN_TRAFFIC_PER_CHANNEL).
        """
        if self.channels is not None:
            return self.channels
        if not self.places.spans_servers():
            return 1
        traffic = self.bytes * (2 if self.op == "all_reduce" else 1)
        return max(1, min(len(self.places.rails()), -(-traffic // MIN_TRAFFIC_PER_CHANNEL)))
