"""Comparisons made by hand: runs of which nothing is known but how long they took."""

import pandas as pd

from netsim.report.costs import Cost
from netsim.study.comparison import Comparison
from netsim.study.metrics import Measured

US = 1_000_000  # ps


def run(time_us: float) -> Measured:
    time_ps = round(time_us * US)
    figures = {"slowdown": time_us / 100, "max_queue_bytes": 4160, "limited_by": "chance"}
    figures |= {"ecn_marks": 7, "drops": 0, "retransmitted_packets": 0}
    operations = pd.DataFrame(
        {"op": ["flows"], "ranks": [16], "bytes": [1 << 20], "count": [1], "time_ps": [time_ps], "median_ps": [time_ps]}
    ).assign(busbw_gbs=12.5)
    return Measured({"completion_time_ps": time_ps}, figures, operations, "Limited by chance.", 0.1)


def comparison(**times_us: list[float]) -> Comparison:
    seeds = len(next(iter(times_us.values())))
    costs = [Cost(10, 20 * number, 30, 40) for number in range(1, len(times_us) + 1)]
    runs = [[run(time) for time in times] for times in times_us.values()]
    return Comparison("job", list(times_us), list(range(1, seeds + 1)), runs, costs)
