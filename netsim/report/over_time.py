"""What the samples say of links over time: what waited, and what was sent, marked, dropped since the last look."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netsim.result import Result

PS_PER_SECOND = 1e12
SINCE = ("sent_bytes", "ecn_marks", "drops", "paused_ps")  # counted from the beginning of the run in `queues`


def samples_of(result: Result) -> pd.DataFrame:
    """time_ps, link, bytes, rate_bps (f8), utilisation (f8), ecn_marks, drops, paused_ps; by link, then time.

    A link is sampled only while packets wait in its queue. Where it had no queue at the look before, what it sent since
    cannot be told from what it sent earlier: its rate is NaN there. A link in use all the time sends at its rate, to a
    byte. Marks, drops and pauses are those since its last sample.
    """
    rows = result.queues.sort_values(["link", "time_ps"], ignore_index=True)
    link, time_ps = rows["link"].to_numpy(), rows["time_ps"].to_numpy()
    is_first = np.concatenate([np.ones(min(1, len(rows)), bool), np.diff(link) != 0])
    gone = np.diff(time_ps, prepend=0)
    since = {name: _since(rows[name].to_numpy(), is_first) for name in SINCE}
    interval_ps = result.summary["queue_interval_ps"]
    known = ~is_first & (gone == interval_ps)
    known |= is_first & (time_ps == interval_ps)  # nothing was sent before the run
    gone = np.where(is_first, time_ps, gone)
    rate = np.full(len(rows), np.nan)
    np.divide(since["sent_bytes"] * 8 * PS_PER_SECOND, gone, out=rate, where=known & (gone > 0))
    capacity = result.links["rate_bps"].to_numpy(float)[link]
    utilisation = np.minimum(rate / capacity, 1)  # counts are whole bytes
    return pd.DataFrame(
        {"time_ps": time_ps, "link": link, "bytes": rows["bytes"], "rate_bps": rate, "utilisation": utilisation}
        | {name: since[name] for name in SINCE[1:]}
    )


def _since(counted: NDArray[np.int64], is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Differences of a count from sample to sample; from the beginning of the run at a link's first."""
    return np.where(is_first, counted, np.diff(counted, prepend=0))
