"""World: all tables of one simulation; their rows are the nouns of tables.py."""

from typing import NamedTuple

import numpy as np


class World(NamedTuple):
    """Everything that can influence what happens next."""

    settings: np.ndarray  # one row, which no kernel changes
    progress: np.ndarray  # one row
    links: np.ndarray
    kinds: np.ndarray
    gates: np.ndarray  # per link; used where flow control is on
    nodes: np.ndarray
    pools: np.ndarray  # per node; used where ports share a buffer
    hosts: np.ndarray
    inbound: np.ndarray  # links into node v: inbound[first_in:last_in], in order of number
    outbound: np.ndarray
    port_of: np.ndarray  # number of a link among those its source sends on
    out_place: np.ndarray  # per link: its place in `outbound`
    acts: np.ndarray  # per place in `outbound`, at switches: when that port sends; event by event also when it ends to
    releases: np.ndarray  # there, where flow control is on: when the data packet in transmission has left
    hears: np.ndarray  # there: when the next PAUSE or RESUME reaches it
    due: np.ndarray  # per link: when its first packet arrives
    wake: np.ndarray  # per node: when it next has something to do
    slots: np.ndarray  # per node: its place in `wakes`, 2 * group + colour; links join nodes of different colour
    wakes: np.ndarray  # per group and colour: the first of these
    packet_pool: np.ndarray  # PACKETs, shared by all rings
    notes: np.ndarray  # beside the air: NOTE of each packet where settings.noted, else one row
    telemetry: np.ndarray  # TELEMETRY, MOST_HOPS rows a packet where settings.telemetered, else one row
    heard: np.ndarray  # TELEMETRY that a connection had last, MOST_HOPS rows each where settings.telemetered
    blocks: np.ndarray  # per size class: first free block of `air`
    inboxes: np.ndarray  # per port: RING of what reaches it in this window
    account_notes: np.ndarray  # per port: RING of what happened in this visit to the account of its ingress
    heads: np.ndarray  # per port: of the wire into it, before this visit; -1 where nothing has come
    unsettled: np.ndarray  # ingresses whose accounts are to be settled after this visit
    busy: np.ndarray  # egress links to serve in this window
    nodes_due: np.ndarray
    hops: np.ndarray  # [connection * stride + hop] links
    connections: np.ndarray
    messages: np.ndarray
    dependents: np.ndarray
    flows: np.ndarray
    parts: np.ndarray
    collectives: np.ndarray
    finished: np.ndarray  # parts that finished since the seam last looked
    group_of: np.ndarray  # per-packet routing: groups by (switch - hosts) * hosts + goal
    groups: np.ndarray
    group_links: np.ndarray
    ways: np.ndarray  # per connection
    cache: np.ndarray  # [connection * CACHE + i] entropies
    flowlets: np.ndarray  # [(switch - hosts) * slots + slot]
    repairs: np.ndarray  # per connection, with selective repeat
    places: np.ndarray  # there, in blocks of each connection: what its sender knows, what its receiver has
    place_blocks: np.ndarray  # per size class: first free block of `places`
    pullers: np.ndarray  # per link, where receivers pull
    samples: np.ndarray  # of queues, taken since the seam last looked
    packet_trace: np.ndarray  # where settings.journaling, since the seam last looked; else one row
    stories: np.ndarray  # per message where settings.journaling, else one row
