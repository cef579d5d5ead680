"""Draw docs/queues.svg, the picture in the README: the longest queues of a permutation over a small fat tree.

python docs/draw_queues.py
"""

from pathlib import Path

import pandas as pd

import netsim
from netsim.report.picture import Chart, svg

PICTURE = Path(__file__).with_name("queues.svg")
TRACE, FABRIC, CONTROL, SEED = "perm16", "fat_tree_k4_100g", "dctcp", 1
SHOWN = 6  # queues
KIB, US, MARKED_US = 1024, 10**6, 100


def main() -> None:
    """Simulate, draw, write."""
    PICTURE.write_text(picture(netsim.simulate(TRACE, FABRIC, transport=CONTROL, seed=SEED)), encoding="utf-8")


def picture(result: netsim.Result) -> str:
    """The SVG text: a line per queue, which is empty wherever there is no sample; where ECN begins and is certain."""
    longest = result.queues.groupby("link")["bytes"].max().sort_values(ascending=False, kind="stable").index[:SHOWN]
    interval_us = result.summary["queue_interval_ps"] // US
    end_us = -(-result.summary["completion_time_ps"] // (MARKED_US * US)) * MARKED_US
    every_us = range(0, end_us + 1, interval_us)
    ecn = netsim.load_topology(FABRIC).ecn
    lengths: dict[str, list[int]] = {}
    for link in longest:
        row, samples = result.links.iloc[link], result.queues[result.queues["link"] == link]
        held = samples.set_index(samples["time_ps"] // US)["bytes"].reindex(pd.Index(every_us), fill_value=0)
        lengths[f"{row['source']} → {row['target']}"] = held.tolist()
    lengths |= {"marks begin (kmin)": [ecn.kmin] * len(every_us), "marks all (kmax)": [ecn.kmax] * len(every_us)}
    lines = {name: [(size / KIB,) * 3 for size in sizes] for name, sizes in lengths.items()}
    title = f"netsim run {TRACE} --on {FABRIC} --preset {CONTROL}: the {SHOWN} longest queues over time"
    marks = ["" if time_us % MARKED_US else str(time_us) for time_us in every_us]
    return svg(Chart(title, "simulated time, us", "KiB in the queue", marks, lines, list(every_us)))


if __name__ == "__main__":
    main()
