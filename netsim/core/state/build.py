"""A World made from a Network: every link idle, no connection yet."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from netsim.core.state import dtypes
from netsim.core.state.checks import check
from netsim.core.state.dtypes import MOST_HOPS, NEVER, NODE_BLOCK
from netsim.core.state.link_classes import link_classes_of
from netsim.core.state.memory import aligned_zeros
from netsim.core.state.packet_pool import FIRST_SIZE
from netsim.core.state.packet_trace_dtypes import MESSAGE_TIMELINE, PACKET_TRACE
from netsim.core.state.settings import PROGRESS, SETTINGS
from netsim.core.state.shared_buffer_sizes import pools
from netsim.core.state.world import World
from netsim.queues.registry import QUEUE_STATE, fill
from netsim.topology.network import SCALE_UP, Network
from netsim.transport.registry import REGISTRY

STRIDE = 8  # links of a route that fit before `hops` is laid out anew
SIZE_CLASSES = 64
ROOM_PER_PACKET = 8  # entries of `packet_pool` that a packet can cost while rings double
FIRST_RESERVE, RESERVE = 1 << 14, 1 << 22  # entries: at least and at most kept free for a visit to a node
FIRST_POOL = 1 << 22  # entries: 100 MB of addresses; memory is taken when it is first used
FIRST_TIMESTAMPED_POOL = 1 << 16  # where the rows beside it take ten times as much
SAMPLE_BUFFER = 1 << 14  # samples of queues that the core keeps before the caller takes them

Parameters = Mapping[str, int]  # settings of the control, by name in its record


class Bytes(NamedTuple):
    """Bytes of a header, of an ACK, and of the payload of a packet and of one that stays inside a server."""

    header: int
    ack: int
    payload: int
    scale_up_payload: int


def new_world(
    network: Network,
    sizes: Bytes,
    *,
    seed: int,
    control: str,
    parameters: Parameters,
    selective: bool = False,
    nak_per_packet: bool = False,
    classes: int = 1,
    jitter: float = 0,
) -> World:
    """The network at rest.

    selective: repeat, not go-back-N. classes: of traffic. jitter: of NICs, in times to send a packet. Raises InputError
    where the largest packet does not fit, a pause would travel in no time, what is trimmed could not be retransmitted,
    or several classes have no control class above them.
    """
    inside = np.array([kind == SCALE_UP for kind in network.kinds], bool)
    largest = sizes.header + np.where(inside, max(sizes[2:]), sizes.payload)  # what goes on crosses NVLink too
    link_classes, class_of = link_classes_of(network, largest, round(jitter * 65536))
    check(network, link_classes, class_of, largest, sizes, is_selective=selective, classes=classes)
    nodes = _nodes(network)
    settings = _settings(network, sizes, largest, control, parameters)
    row = settings[0]
    row["seed"] = np.uint64(seed % 2**64).astype(np.int64)
    row["selective"], row["nak_per_packet"], row["classes"] = selective, nak_per_packet, classes
    row["event_driven"], row["jittery"] = classes > 1, link_classes["jitter"].any()
    _limit_windows(row, network, link_classes[class_of], nodes["node_blocks"])
    rows, pool_used = _links(network, link_classes, class_of, REGISTRY[control].receiver_credit, classes)
    return World(
        settings=settings,
        progress=_progress(pool_used),
        link_classes=link_classes,
        **nodes,
        **rows,
        **_times(len(class_of) * classes, len(class_of), len(nodes["nodes"])),
        **_packet_pool(row, pool_used),
        **_nothing_carried(),
    )


def _times(links: int, egresses: int, nodes: int) -> dict[str, Any]:
    """When something happens next at a link, a port and a node: never, so far."""
    sizes = {
        "next_arrival": links,
        "next_egress": egresses,
        "next_release": egresses,
        "next_pause": egresses,
        "next_event": nodes,
        "next_event_of_group": 2 * ((nodes >> NODE_BLOCK) + 1),
    }
    never = {name: np.full(size, NEVER, "i8") for name, size in sizes.items()}
    return {**never, "nodes_due": np.zeros(nodes + 1, "i8")}


def _packet_pool(row: Any, used: int) -> dict[str, Any]:
    """Room for packets, and beside it for their metadata."""
    room = 4 * used + int(row["pool_reserve"]) + (FIRST_TIMESTAMPED_POOL if row["timestamped"] else FIRST_POOL)
    return {
        "packet_pool": np.zeros(room, dtypes.PACKET),
        "packet_metadata": np.zeros(room if row["timestamped"] else 1, dtypes.PACKET_METADATA),
        "telemetry": np.zeros(room * MOST_HOPS if row["telemetered"] else 1, dtypes.TELEMETRY),
        "blocks": np.full(SIZE_CLASSES, -1, "i8"),
    }


def _nothing_carried() -> dict[str, Any]:
    """The tables of what is carried, empty; a kernel wants a row where it might look at the first."""
    empty = {
        "connections": dtypes.CONNECTION,
        "messages": dtypes.MESSAGE,
        "dependents": "u4",
        "flows": dtypes.FLOW,
        "parts": dtypes.PART,
        "collectives": dtypes.COLLECTIVE,
        "ecmp_group_of": "u4",
        "ecmp_groups": dtypes.ECMP_GROUP,
        "ecmp_links": "u4",
        "spray_segments": dtypes.SPRAY_SEGMENT,
        "entropy_cache": "u4",
        "flowlets": dtypes.FLOWLET,
        "sack_state": dtypes.SACK_STATE,
        "sack_scoreboard": "u4",
    }
    rows = {"last_telemetry": dtypes.TELEMETRY, "packet_trace": PACKET_TRACE, "message_timelines": MESSAGE_TIMELINE}
    return {
        **{name: np.zeros(0, row) for name, row in empty.items()},
        **{name: np.zeros(1, row) for name, row in rows.items()},
        "hops": np.zeros(STRIDE, "u4"),
        "scoreboard_blocks": np.full(SIZE_CLASSES, -1, "i8"),
        "finished": np.zeros(64, dtypes.FINISHED),
    }


def _progress(pool_used: int) -> Any:
    progress = np.zeros(1, PROGRESS)
    progress["next_sample_at"] = progress["failed_at"] = NEVER
    progress["pool_used"] = pool_used
    return progress


def _settings(network: Network, sizes: Bytes, largest: Any, control: str, parameters: Parameters) -> Any:
    settings = np.zeros(1, SETTINGS)
    row = settings[0]
    row["hosts"], row["stride"] = len(network.hosts), STRIDE
    row["ports"] = len(network.links)
    if network.pfc:
        row["lossless"], row["xoff"], row["xon"] = 1, network.pfc.xoff, network.pfc.xon
    if network.shared_buffer:
        row["pooling"] = 1
    row["header_bytes"], row["ack_bytes"] = sizes.header, sizes.ack
    row["max_packet_bytes"] = max(sizes.ack, int(largest.max(initial=sizes.header)))
    row["disciplined"] = bool(network.disciplines)
    fill(row["queues"], network.disciplines)
    row["lossy"] = any(chance > 0 for chance in network.loss)
    for need in ("paced", "timestamped", "telemetered", "receiver_credit"):
        row[need] = getattr(REGISTRY[control], need)
    row["cnp_interval"] = parameters.get("cnp_interval", 0)
    for name in REGISTRY[control].settings.names():
        row["controls"][control][name] = parameters[name]
    return settings


def _limit_windows(row: Any, network: Network, link_classes: Any, blocks: Any) -> None:
    """How far nodes may run by themselves, and the room that one of them may need then.

    No link is faster than its delay plus its smallest packet; a pause frame takes the delay alone. What a node receives
    and sends in a visit lies in an inbox, a queue and on a wire, in rings that may have doubled more than once.
    """
    smallest = min(int(row["ack_bytes"]), int(row["header_bytes"]) + (not network.trim))
    time = -(-smallest * link_classes["ps"] // link_classes["per_bytes"])
    window = int((link_classes["delay"] + (0 if network.pfc else time)).min())
    span = 2 * window if (blocks & 1).any() else window
    rings = 3 + (network.pfc is not None)  # and the events of ingress accounts
    per_ps = np.bincount(np.asarray(network.source), rings / np.maximum(time, 1)).max(initial=0)
    room = min(RESERVE, int(ROOM_PER_PACKET * per_ps * span) + FIRST_RESERVE)
    if per_ps > 0:
        span = min(span, max(1, int(room / (ROOM_PER_PACKET * per_ps))))
    row["lookahead"], row["lookahead_across"], row["pool_reserve"] = window, span, room


def _node_blocks(network: Network) -> Any:
    """Per node twice its group, plus its colour: 0 and 1 in turn along every link; 0 everywhere if that cannot be."""
    source, target = np.asarray(network.source), np.asarray(network.target)
    count = len(network.hosts) + len(network.switches)
    colour = np.full(count, -1)
    while (colour < 0).any():
        reached: Any = np.flatnonzero(colour < 0)[:1]
        colour[reached] = 0
        while len(reached):
            leaving = np.isin(source, reached)
            following = np.unique(target[leaving][colour[target[leaving]] < 0])
            colour[following], reached = 1 - colour[reached[0]], following
    two = (colour[source] != colour[target]).all()
    return (2 * (np.arange(count) >> NODE_BLOCK) + (colour if two else 0)).astype("u4")


def _nodes(network: Network) -> dict[str, Any]:
    """Per node its ranges of `inbound` and `outbound` (link numbers in order); per link its number at its source."""
    count = len(network.hosts) + len(network.switches)
    source, target = np.asarray(network.source), np.asarray(network.target)
    outbound, inbound = np.argsort(source, kind="stable"), np.argsort(target, kind="stable")
    nodes, rows = np.zeros(count, dtypes.NODE), np.zeros(count, dtypes.POOL)
    nodes["next_egress"] = nodes["next_pause"] = NEVER
    rows["room"] = pools(network)
    everyone = np.arange(count)
    nodes["first_out"] = np.searchsorted(source[outbound], everyone)
    nodes["last_out"] = np.searchsorted(source[outbound], everyone, side="right")
    nodes["first_in"] = np.searchsorted(target[inbound], everyone)
    nodes["last_in"] = np.searchsorted(target[inbound], everyone, side="right")
    port_of = np.empty(len(source), "u4")
    port_of[outbound] = np.arange(len(source)) - nodes["first_out"][source[outbound]]
    return {
        "nodes": nodes,
        "pools": rows,
        "inbound": inbound.astype("u4"),
        "outbound": outbound.astype("u4"),
        "port_number": port_of,
        "egress_index": np.argsort(outbound, kind="stable").astype("u4"),
        "node_blocks": _node_blocks(network),
    }


def _links(
    network: Network, link_classes: Any, class_of: Any, pulling: bool, classes: int
) -> tuple[dict[str, Any], int]:
    """The tables of links and ports; and how many entries of the packet pool their rings, small at first, take."""
    count = len(network.links) * classes
    ports = int(np.bincount(network.source)[len(network.hosts) :].max(initial=1))  # of the largest switch
    links, pfc_state = aligned_zeros(count, dtypes.LINK), aligned_zeros(count, dtypes.PFC_STATE)
    of_ports = {name: np.zeros(ports, dtypes.RING) for name in ("inboxes", "account_events")}
    of_ports["pool_events"] = np.zeros(1, dtypes.RING)
    for name, column in (("link_class", class_of), ("source", network.source), ("target", network.target)):
        links[name] = np.tile(column, classes)
    pfc_state["paused_by"] = dtypes.NONE
    pfc_state["is_pausable"] = np.tile(link_classes["pausable"][class_of], classes)
    pfc_state["leaving_row"] = np.tile(np.arange(len(network.links)), classes)
    pullers = np.zeros(len(network.links) if pulling else 0, dtypes.PULLER)
    hosts = np.zeros(len(network.hosts), dtypes.HOST)
    hosts["expires"] = NEVER
    start = 0
    rings_of_links = (links[name] for name in ("in_flight", "payload", "control", "send_ring"))
    rings_of_pfc = pfc_state["signals"], pfc_state["paced_queue"]
    for rings in (*rings_of_links, *rings_of_pfc, pullers["pull_ring"], hosts["timers"], *of_ports.values()):
        rings["start"] = start + FIRST_SIZE * np.arange(len(rings))
        rings["mask"] = FIRST_SIZE - 1
        start += FIRST_SIZE * len(rings)
    tables = {
        "links": links,
        "pfc_state": pfc_state,
        "pullers": pullers,
        "hosts": hosts,
        "queue_state": aligned_zeros(count, QUEUE_STATE),
        "head_bytes": np.zeros(classes, "i8"),
        "busy_egresses": np.zeros(ports + 1, "u4"),
        "due_ingresses": np.zeros(ports, "u4"),
        "wire_heads": np.full(ports, -1, "i8"),
        "unsettled": np.zeros(ports, "u4"),
        "samples": np.zeros(count + SAMPLE_BUFFER, dtypes.SAMPLE),
    }
    return tables | of_ports, start
