"""Times of the alpha-beta model: a row takes a + bytes * b, and a connection carries one row after the other."""

from collections.abc import Callable

import pytest

from netsim.collectives import Request, Schedule, depths, plan
from netsim.collectives.tree import server_tree

A, B = 5e-6, 1 / 50e9  # seconds, and seconds per byte


def completion(schedule: Schedule) -> float:
    """Seconds until the last row has arrived."""
    arrived: list[float] = []
    free: dict[tuple[int, int, int], float] = {}
    for row in range(len(schedule)):
        connection = (int(schedule.source[row]), int(schedule.target[row]), int(schedule.channel[row]))
        start = max([free.get(connection, 0.0), *(arrived[before] for before in schedule.predecessors(row))])
        free[connection] = start + A + int(schedule.bytes[row]) * B
        arrived.append(free[connection])
    return max(arrived)


KNOWN: dict[tuple[str, str], Callable[[int, int, int], float]] = {  # of n ranks, log2 n and S bytes
    ("all_reduce", "ring"): lambda n, log, size: 2 * (n - 1) * (A + size / n * B),
    ("all_to_all", "pairwise"): lambda n, log, size: (n - 1) * (A + size / n * B),
    # Thakur, Rabenseifner, Gropp 2005, without the time to add up; all-to-all sends half the buffer per round
    ("all_reduce", "recursive_doubling"): lambda n, log, size: log * (A + size * B),
    ("all_reduce", "halving_doubling"): lambda n, log, size: 2 * log * A + 2 * (n - 1) / n * size * B,
    ("all_gather", "bruck"): lambda n, log, size: log * A + (n - 1) / n * size * B,
    ("all_to_all", "bruck"): lambda n, log, size: log * (A + size / 2 * B),
}


@pytest.mark.parametrize(("op", "algorithm"), KNOWN)
@pytest.mark.parametrize("ranks", [2, 8, 64])
@pytest.mark.parametrize("size", [1 << 10, 8 << 10, 1 << 20, 1 << 30])
def test_of_uncut_messages(op: str, algorithm: str, ranks: int, size: int) -> None:
    schedule = plan(Request(op=op, ranks=ranks, bytes=size, chunk_bytes=1 << 30), algorithm)
    assert completion(schedule) == pytest.approx(KNOWN[op, algorithm](ranks, ranks.bit_length() - 1, size))


@pytest.mark.parametrize("op", ["broadcast", "reduce"])
@pytest.mark.parametrize("root", [0, 3])
def test_a_chain_is_pipelined(op: str, root: int) -> None:
    """(n - 2 + S / c) (a + c b): the first piece makes n - 1 hops, the others follow one by one."""
    ranks, chunk, pieces = 6, 1 << 16, 10
    request = Request(op=op, ranks=ranks, bytes=pieces * chunk, chunk_bytes=chunk, root=root)
    assert completion(plan(request, "ring")) == pytest.approx((ranks - 2 + pieces) * (A + chunk * B))


@pytest.mark.parametrize("ranks", [2, 5, 8, 14, 16])
@pytest.mark.parametrize(("pieces", "chunk"), [(1, 1 << 19), (10, 1 << 16)])
def test_pieces_go_up_and_down_the_tree_one_after_another(ranks: int, pieces: int, chunk: int) -> None:
    """2 depth + pieces - 1 times (a + c b); each tree carries half."""
    schedule = plan(Request(op="all_reduce", ranks=ranks, bytes=2 * pieces * chunk, chunk_bytes=chunk), "tree")
    height = tree_depth(server_tree(ranks, 0).tolist())
    assert depths(schedule).max() + 1 == 2 * height
    assert completion(schedule) == pytest.approx((2 * height + pieces - 1) * (A + chunk * B))


def tree_depth(parent: list[int]) -> int:
    """The longest way from a node to the root."""

    def below(node: int) -> int:
        return 0 if parent[node] == -1 else 1 + below(parent[node])

    return max(below(node) for node in range(len(parent)))
