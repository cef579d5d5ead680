"""World: all tables of one simulation; their rows are those of dtypes.py."""

from typing import NamedTuple

import numpy as np


class World(NamedTuple):
    """Everything that can influence what happens next."""

    settings: np.ndarray  # one row, which no kernel changes
    progress: np.ndarray  # one row
    links: np.ndarray
    link_classes: np.ndarray
    pfc_state: np.ndarray  # per link; used where flow control is on
    nodes: np.ndarray
    pools: np.ndarray  # per node; used where ports share a buffer
    hosts: np.ndarray
    inbound: np.ndarray  # links into node v: inbound[first_in:last_in], in order of number
    outbound: np.ndarray
    port_number: np.ndarray  # number of a link among those its source sends on
    egress_index: np.ndarray  # per link: its place in `outbound`
    next_egress: np.ndarray  # per place in `outbound`, at switches: when that port sends next; see next_egress_at, too
    next_release: np.ndarray  # there, with flow control: when the data packet in transmission has left
    next_pause: np.ndarray  # there: when the next PAUSE or RESUME reaches it
    next_arrival: np.ndarray  # per link: when its first packet arrives
    next_event: np.ndarray  # per node: when it next has something to do
    node_blocks: np.ndarray  # per node: its place in `wakes`, 2 * group + colour; links join nodes of different colour
    next_event_of_group: np.ndarray  # per group and colour: the first of these
    queue_state: np.ndarray  # per link and class: what the disciplines of its queue keep (netsim/queues)
    head_bytes: np.ndarray  # per class: see next_class in netsim/queues/dispatch.py
    packet_pool: np.ndarray  # PACKETs, shared by all rings
    packet_metadata: (
        np.ndarray
    )  # beside the packet pool: PACKET_METADATA of each packet where settings.timestamped, else one row
    telemetry: np.ndarray  # TELEMETRY, MOST_HOPS rows a packet where settings.telemetered, else one row
    last_telemetry: np.ndarray  # TELEMETRY that a connection had last, MOST_HOPS rows each where settings.telemetered
    blocks: np.ndarray  # per size class: first free block of `packet_pool`
    inboxes: np.ndarray  # per port: RING of what reaches it in this window
    pool_events: np.ndarray  # one RING: what comes to a watched buffer in this visit and leaves it
    account_events: np.ndarray  # per port: RING of what happens in this visit to the account of its ingress
    due_ingresses: np.ndarray  # in a visit: the ingresses by which something comes, numbered within their switch
    wire_heads: np.ndarray  # per port: head of the wire into it before this visit; -1 where nothing has come
    unsettled: np.ndarray  # ingresses whose accounts are to be settled after this visit
    busy_egresses: np.ndarray  # egress links to serve in this window
    nodes_due: np.ndarray
    hops: np.ndarray  # [connection * stride + hop] links
    connections: np.ndarray
    messages: np.ndarray
    dependents: np.ndarray
    flows: np.ndarray
    parts: np.ndarray
    collectives: np.ndarray
    finished: np.ndarray  # parts that finished since the caller last took them
    ecmp_group_of: np.ndarray  # per-packet routing: groups by (switch - hosts) * hosts + goal
    ecmp_groups: np.ndarray
    ecmp_links: np.ndarray
    spray_segments: np.ndarray  # per connection
    entropy_cache: np.ndarray  # [connection * CACHE + i] entropies
    flowlets: np.ndarray  # [(switch - hosts) * slots + slot]
    sack_state: np.ndarray  # per connection, with selective repeat
    sack_scoreboard: np.ndarray  # there, in blocks of each connection: what its sender knows, what its receiver has
    scoreboard_blocks: np.ndarray  # per size class: first free block of `sack_scoreboard`
    pullers: np.ndarray  # per link, where receivers pull
    samples: np.ndarray  # of queues, taken since the caller last took them
    packet_trace: np.ndarray  # where settings.tracing, since the caller last took them; else one row
    message_timelines: np.ndarray  # per message where settings.tracing, else one row
