"""A schedule as a table for people."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from netsim.collectives.checking import depths
from netsim.collectives.schedule import Schedule


def columns(schedule: Schedule, limit: int | None = None) -> dict[str, NDArray[Any]]:
    """Columns row, step, source, target, channel, bytes, offset, reduces and after, of the first `limit` rows.

    `step` is how many rows have to follow one another before this one starts; `after` is text: "3 7", "-" for nothing.
    """
    shown = slice(0, len(schedule) if limit is None else min(limit, len(schedule)))
    after = [" ".join(map(str, schedule.predecessors(row).tolist())) or "-" for row in range(shown.stop)]
    return {
        "row": np.arange(shown.stop),
        "step": depths(schedule)[shown],
        "source": schedule.source[shown],
        "target": schedule.target[shown],
        "channel": schedule.channel[shown],
        "bytes": schedule.bytes[shown],
        "offset": schedule.offset[shown],
        "reduces": schedule.reduces[shown],
        "after": np.array(after, dtype=np.str_),
    }
