"""Links of one kind share a row, a LINK_CLASS: rate, delay, buffer, ECN, loss, jitter, flow control."""

from typing import Any

import numpy as np

from netsim.core.state import dtypes
from netsim.core.state.dtypes import NEVER
from netsim.core.state.pfc_thresholds import flow_control
from netsim.core.state.shared_buffer_sizes import largest_queues
from netsim.topology.network import SCALE_UP, Network
from netsim.units import picoseconds_per_byte

CHANCE = 1 << 30  # Pmax is held in these units
HEADERS = 2  # with trimming the control class holds twice the bytes of the data class (htsim's NDP queue)


def link_classes_of(network: Network, largest: Any, jitter: int) -> tuple[Any, Any]:
    """One row for every different (rate, delay, buffer, ECN, loss, jitter, flow control), and the row of each link."""
    is_nic = (np.asarray(network.source) < len(network.hosts)) & [kind != SCALE_UP for kind in network.kinds]
    columns = np.stack(
        [
            network.rate_bps,
            network.delay_ps,
            network.buffer_bytes,
            network.kmin,
            network.kmax,
            np.rint(np.asarray(network.pmax) * CHANCE).astype("i8"),
            np.rint(np.asarray(network.loss) * CHANCE).astype("i8"),
            largest_queues(network),
            jitter * is_nic,
            *flow_control(network, largest, jitter * is_nic),
        ]
    ).astype("i8")
    different, class_of = equal_columns(columns)
    link_classes = np.zeros(different.shape[1], dtypes.LINK_CLASS)
    pfc = ("pausable", "headroom", "pause_above", "resume_at", "room")
    for kind, (rate, delay, buffer, kmin, kmax, chance, loss, most, late, *rest) in zip(
        link_classes, different.T.tolist(), strict=True
    ):
        for name, value in zip(pfc, rest, strict=True):
            kind[name] = value
        kind["ps"], kind["per_bytes"] = picoseconds_per_byte(rate)
        kind["delay"], kind["buffer"], kind["mark_from"], kind["mark_all"] = delay, most, kmin, kmax
        kind["mark_chance"], kind["strict"] = chance, network.control_class == "strict"
        kind["loss"], kind["control_room"] = loss, min(buffer * (HEADERS if network.trim else 1), NEVER)
        kind["jitter"] = late
        kind["marks_late"] = network.trim is not None and network.trim.marking == "dequeue"
    return link_classes, class_of


def equal_columns(columns: Any) -> tuple[Any, Any]:
    """The different columns of a table, in the order in which they come; and which of them each one is, i8[n]."""
    rows = np.ascontiguousarray(columns.T)
    text, size, numbers = rows.tobytes(), rows.shape[1] * rows.itemsize, dict[bytes, int]()
    which = [numbers.setdefault(text[at : at + size], len(numbers)) for at in range(0, len(text), size)]
    return np.frombuffer(b"".join(numbers), rows.dtype).reshape(-1, rows.shape[1]).T, np.array(which, "i8")
