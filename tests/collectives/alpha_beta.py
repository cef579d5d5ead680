"""The alpha-beta model: a row takes a + bytes * b, and a connection carries one row after the other."""

from netsim.collectives import Schedule

MICROSECOND = 1e-6


def completion(schedule: Schedule, a: float, b: float) -> float:
    """Seconds until the last row has arrived; `a` in seconds, `b` in seconds per byte."""
    arrived: list[float] = []
    free: dict[tuple[int, int, int], float] = {}
    for row in range(len(schedule)):
        connection = (int(schedule.source[row]), int(schedule.target[row]), int(schedule.channel[row]))
        start = max([free.get(connection, 0.0), *(arrived[before] for before in schedule.predecessors(row))])
        free[connection] = start + a + int(schedule.bytes[row]) * b
        arrived.append(free[connection])
    return max(arrived)
