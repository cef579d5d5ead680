"""What a job asks of the network, without a simulation: counts, sizes, who talks to whom, and when."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from netsim.config.scenario import Scenario
from netsim.errors import InputError
from netsim.profile import sizes
from netsim.profile.moved import MovedBytes, Placed, traffic
from netsim.profile.requested import calls_by_rank, requests
from netsim.profile.timing import Bursts, bursts
from netsim.traces import Trace

__all__ = ["Bursts", "Profile", "MovedBytes", "profile"]


@dataclass(frozen=True, eq=False, repr=False)
class Profile:
    """The communication of one trace, as tables.

    `operations`, `groups` and `streams` count requests and their bytes (full buffers; `part_bytes` is one rank's part);
    `sizes` is the histogram in powers of two, `distribution` the exact sizes; `ranks` says what each rank calls, sends
    and receives; `traffic` is the matrix. `bursts` is None where the trace holds no recorded times; `server` is the
    server of each rank, None where no fabric was named.
    """

    trace: Trace
    requests: pd.DataFrame
    operations: pd.DataFrame
    sizes: pd.DataFrame
    distribution: pd.DataFrame
    groups: pd.DataFrame
    streams: pd.DataFrame
    ranks: pd.DataFrame
    traffic: MovedBytes
    bursts: Bursts | None
    server: NDArray[np.int32] | None
    fabric: str

    def __repr__(self) -> str:
        return f"Profile({self.trace.name}: {len(self.requests):,} requests of {self.trace.ranks:,} ranks)"

    @property
    def read(self) -> dict[str, Any]:
        """What the reader made of the files."""
        return self.trace.report.as_table(self.known_ranks)

    @property
    def known_ranks(self) -> int:
        """Ranks of the job, without members of groups of which nothing tells who they are."""
        return self.trace.ranks - self.trace.report.unplaced

    @property
    def leaving_bytes(self) -> int | None:
        """Bytes that leave a server; None where no fabric was named."""
        return None if self.server is None else self.traffic.leaving(self.server)

    @property
    def leaving_share(self) -> float | None:
        """The share of all bytes that leaves a server; None where no fabric was named, or nothing moves."""
        leaving = self.leaving_bytes
        return None if leaving is None or not self.traffic.bytes else leaving / self.traffic.bytes

    def parallelism(self) -> list[tuple[int, int]]:
        """The groups that communicate: (how many, ranks in each), the largest first."""
        groups = self.trace.groups
        used = {groups[name].ranks for name in self.groups["group"].unique() if name in groups}
        by_size = Counter(map(len, used))
        return [(number, size) for size, number in sorted(by_size.items(), reverse=True)]


def profile(trace: Trace, scenario: Scenario | None = None) -> Profile:
    """Profile a trace; a scenario of the same trace says on which servers its ranks run, and with which algorithms.

    >>> from netsim.config import load_trace
    >>> decode = profile(load_trace("deepseek_v3_decode_16"))
    >>> print(decode.operations[["op", "count", "bytes_median"]].head(1).to_string(index=False))
            op  count  bytes_median
    all_reduce    181       14336.0
    """
    placed = Placed.apart(trace.ranks) if scenario is None else _placed(trace, scenario)
    table, moved = requests(trace), traffic(trace, placed)
    calls = pd.concat([calls_by_rank(trace), moved.by_rank(trace.ranks)], axis=1)
    seen = trace.report.seen
    return Profile(
        trace=trace,
        requests=table,
        operations=sizes.by(table, ["op"]),
        sizes=sizes.histogram(table),
        distribution=sizes.distribution(table),
        groups=sizes.by(table, ["group", "ranks", "op"]),
        streams=sizes.by(table, ["stream", "op"]),
        ranks=calls if seen is None else calls[calls["rank"].isin(seen)].reset_index(drop=True),
        traffic=moved,
        bursts=bursts(table),
        server=None if scenario is None else placed.server,
        fabric="" if scenario is None else scenario.topology.title,
    )


def _placed(trace: Trace, scenario: Scenario) -> Placed:
    if trace.report.unplaced:
        what = f"the log does not tell who {trace.report.unplaced} members of its groups are, so they have no place"
        raise InputError(what, where=trace.source, hint="give the logs of all ranks, or leave --on out")
    network = scenario.topology.build()
    hosts = np.array(scenario.placement.hosts(trace.ranks, len(network.hosts), scenario.seed))
    return Placed(network.server_of[hosts], network.rail_of[hosts], scenario.algorithms, scenario.channels)
