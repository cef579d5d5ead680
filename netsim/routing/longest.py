"""How long a packet and its answer take over the longest path of an idle network: one value for all its connections."""

import numpy as np
from numpy.typing import NDArray

from netsim.routing.shortest_paths import UNREACHED, ShortestPaths, shortest_paths_of
from netsim.topology.network import Network
from netsim.transport.settings import Transport
from netsim.units import PS_BITS

_COLUMNS = 256  # hosts handled together: bounds the memory


def base_rtt_ps(network: Network, transport: Transport, packet_bytes: int, ack_bytes: int) -> int:
    """Of the whole network, as a control's settings say it or as its longest path has it; 0 where no control asks."""
    said = getattr(transport.control_settings, "base_rtt", 0)
    return said if isinstance(said, int) else longest_round_trip_ps(network, packet_bytes, ack_bytes)


def longest_round_trip_ps(network: Network, packet_bytes: int, ack_bytes: int) -> int:
    """Picoseconds between the two hosts farthest apart, of shortest ways the slowest; 0 where none reaches another.

    Store and forward, over what lies outside servers; the ACK comes back the same way.
    """
    paths, costs = shortest_paths_of(network).out, _costs(network, packet_bytes, ack_bytes)
    targets = _unlike_hosts(network, paths, costs)
    parts = [targets[i : i + _COLUMNS] for i in range(0, len(targets), _COLUMNS)]
    return max((_longest_to(paths, costs, part) for part in parts), default=0)


def _costs(network: Network, packet_bytes: int, ack_bytes: int) -> NDArray[np.int64]:
    """Of each link, i8[L]: to send a packet over it and its ACK back, ps."""
    back = np.arange(len(network.links)) ^ 1
    sending = sum(_time(network.rate_bps[links], size) for links, size in ((back ^ 1, packet_bytes), (back, ack_bytes)))
    costs: NDArray[np.int64] = sending + network.delay_ps + network.delay_ps[back]
    return costs


def _time(rate_bps: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    times: NDArray[np.int64] = -(-size * PS_BITS // rate_bps)
    return times


def _unlike_hosts(network: Network, paths: ShortestPaths, costs: NDArray[np.int64]) -> NDArray[np.intp]:
    """One of all hosts that hang on the same switches by like cables."""
    last = np.flatnonzero(paths.target < paths.hosts)
    source = np.repeat(np.arange(len(paths.first) - 1), np.diff(paths.first))[last]
    cables: dict[int, list[tuple[int, int]]] = {}
    for host, switch, cost in zip(paths.target[last].tolist(), source.tolist(), costs[paths.links[last]], strict=True):
        cables.setdefault(host, []).append((switch, int(cost)))
    unlike = {tuple(sorted(each)): host for host, each in cables.items()}
    return np.array(sorted(unlike.values()), np.intp)


def _longest_to(paths: ShortestPaths, costs: NDArray[np.int64], targets: NDArray[np.intp]) -> int:
    """The longest time from any host to some (columns), found hop by hop."""
    hops = paths.hops[:, targets]
    time = np.zeros(hops.shape, np.int64)
    nodes = np.flatnonzero(np.diff(paths.first))
    source = np.repeat(np.arange(len(paths.first) - 1), np.diff(paths.first))
    forwards = (paths.target >= paths.hosts)[:, None] | (hops[paths.target] == 0)
    for distance in range(1, int(hops[hops < UNREACHED].max(initial=0)) + 1):
        on_way = forwards & (hops[source] == distance) & (hops[paths.target] == distance - 1)
        onward = np.where(on_way, costs[paths.links][:, None] + time[paths.target], 0)
        time[nodes] = np.maximum(time[nodes], np.maximum.reduceat(onward, paths.first[nodes], axis=0))
    return int(time[: paths.hosts].max(initial=0))
