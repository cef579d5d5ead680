"""Trees: NCCL's double binary tree over servers, with a chain of ranks inside each server.

Half of the channels use tree 0, the others tree 1. A server that has children in one tree is a leaf of the other
(but for one server, where their number is odd), so both together load every server alike (Sanders, Speck, Traeff 2009;
NCCL trees.cc).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netsim.collectives.chunking import ALIGNMENT, Pieces, count_pieces, cut, share
from netsim.collectives.layout import Layout, chains
from netsim.collectives.request import Request
from netsim.collectives.schedule import Builder, Int32s, Int64s, Schedule

TREE_CHUNK = 512 << 10
"""Bytes of one slot of NCCL's Simple protocol: its tree moves one slot at a time."""

NOBODY = -1


def all_reduce(request: Request) -> Schedule:
    """Up the tree adding, then down again, piece by piece."""
    return _over_both_trees(request, up=True, down=True)


def broadcast(request: Request) -> Schedule:
    """The root feeds the roots of two trees over the other servers; each tree carries half."""
    return _over_both_trees(request, up=False, down=True)


def reduce(request: Request) -> Schedule:
    """The broadcast backwards: two trees over the other servers add up and end in the root."""
    return _over_both_trees(request, up=True, down=False)


def server_tree(servers: int, which: int) -> Int32s:
    """Parent of each of `servers` in NCCL's tree 0 or 1, -1 for the root (trees.cc ncclGetBtree, ncclGetDtree).

    Tree 1 is tree 0 mirrored when there is an even number of servers, shifted by one when odd.
    """
    node = np.arange(servers, dtype=np.int32)
    bit = node & -node
    parent = (node ^ bit) | (bit << 1)
    parent = np.where(parent < servers, parent, node ^ bit)
    parent[0] = NOBODY
    if which == 0:
        return parent
    moved = parent[::-1] if servers % 2 == 0 else np.roll(parent, 1)
    renamed = servers - 1 - moved if servers % 2 == 0 else (moved + 1) % servers
    return np.where(moved == NOBODY, NOBODY, renamed).astype(np.int32)


def rank_tree(layout: Layout, channel: int, which: int, root: int | None = None) -> Int32s:
    """Parent of each rank, -1 for the root: heads of servers form a tree, the others hang below them in a chain.

    With a root, its server stands above the tree of the other servers and its chain begins with it.
    """
    walks = chains(layout, channel)
    if root is None:
        above = server_tree(len(walks), which)
    else:
        walks = _root_first(walks, root)
        others = server_tree(len(walks) - 1, which) if len(walks) > 1 else np.zeros(0, np.int32)
        above = np.append(np.int32(NOBODY), others + np.int32(1))
    parent = np.full(len(layout), NOBODY, dtype=np.int32)
    for walk, boss in zip(walks, above, strict=True):
        parent[walk[1:]] = walk[:-1]
        parent[walk[0]] = NOBODY if boss == NOBODY else walks[boss][0]
    return parent


def _root_first(walks: list[Int32s], root: int) -> list[Int32s]:
    """The root's server first and its walk beginning with the root; the other servers follow in ring order."""
    here = next(place for place, walk in enumerate(walks) if root in walk)
    own = np.roll(walks[here], -int(np.flatnonzero(walks[here] == root)[0]))
    return [own, *walks[here + 1 :], *walks[:here]]


def _over_both_trees(request: Request, *, up: bool, down: bool) -> Schedule:
    """The first half of the channels (the larger, if odd) goes over tree 0, the second over tree 1."""
    channels = 2 * request.rail_channels() if request.channels is None else request.channels
    builder, chunk = Builder(request.op, "tree", request.ranks), request.chunk(TREE_CHUNK)
    builder.expect((request.ranks - 1) * (up + down) * float(count_pieces(request.bytes, channels, chunk)))
    for channel in range(channels):
        which, lane = divmod(channel, (channels + 1) // 2)
        parent = rank_tree(request.places, lane, which, None if up and down else request.root)
        chunks = cut(*share(request.bytes, channels, channel, ALIGNMENT), chunk)
        _pipeline(builder, channel, _edges(parent, up=up, down=down), chunks)
    return builder.build()


@dataclass(frozen=True, eq=False, slots=True)
class _Edges:
    """The edges one piece crosses, and for each the edges (by index) it waits for (CSR)."""

    source: Int32s
    target: Int32s
    reduces: NDArray[np.bool_]
    first_wait: Int64s
    waits: Int32s


def _edges(parent: Int32s, *, up: bool, down: bool) -> _Edges:
    """Upward edges from the deepest on, then downward edges from the root on, so that nothing waits for a later one."""
    by_depth = _by_depth(parent)
    risers, fallers = by_depth[::-1] if up else by_depth[:0], by_depth if down else by_depth[:0]
    rise = {int(rank): edge for edge, rank in enumerate(risers)}
    fall = {int(rank): edge + len(risers) for edge, rank in enumerate(fallers)}
    # What has to reach a rank before it can send up, and down: its children's edges, its parent's edge.
    gathered: dict[int, list[int]] = {}
    for rank, edge in rise.items():
        gathered.setdefault(int(parent[rank]), []).append(edge)
    waits = [gathered.get(rank, []) for rank in rise]
    waits += [[fall[boss]] if boss in fall else gathered.get(boss, []) for boss in parent[fallers].tolist()]
    return _Edges(
        source=np.concatenate((risers, parent[fallers])),
        target=np.concatenate((parent[risers], fallers)),
        reduces=np.arange(len(waits)) < len(risers),
        first_wait=np.cumsum([0] + [len(edges) for edges in waits]),
        waits=np.array([edge for edges in waits for edge in edges], dtype=np.int32),
    )


def _by_depth(parent: Int32s) -> Int32s:
    """All ranks but the root, those nearer to the root first."""
    depth, above = np.zeros(len(parent), dtype=np.int32), parent
    while np.any(above != NOBODY):
        depth += above != NOBODY
        above = np.where(above == NOBODY, NOBODY, parent[above])
    order = np.argsort(depth, kind="stable").astype(np.int32)
    return order[depth[order] > 0]


def _pipeline(builder: Builder, channel: int, edges: _Edges, chunks: Pieces) -> None:
    """Every piece crosses every edge; row (edge, piece) waits for the same piece on the edges its edge waits for."""
    count, width = len(edges.source), len(chunks)
    waits = np.repeat(np.diff(edges.first_wait), width)
    row = np.repeat(np.arange(count * width), waits)
    edge, piece = np.divmod(row, max(width, 1))
    nth = np.arange(len(row)) - (np.cumsum(waits) - waits)[row]
    builder.add(
        channel,
        source=np.repeat(edges.source, width),
        target=np.repeat(edges.target, width),
        size=np.tile(chunks.bytes, count),
        offset=np.tile(chunks.offset, count),
        reduces=np.repeat(edges.reduces, width),
        waits=waits.astype(np.int16),
        after=(edges.waits[edges.first_wait[edge] + nth] * width + piece).astype(np.int32),
    )
