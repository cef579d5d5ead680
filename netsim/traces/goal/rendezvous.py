"""Which receive of a GOAL schedule takes which send: of equal source, target and tag the k-th takes the k-th."""

from collections import Counter

import numpy as np

from netsim.traces.goal.nodes import Nodes
from netsim.traces.goal.rank import RECEIVE, SEND
from netsim.traces.graphs.graph import ANY, Node, Sends
from netsim.traces.topological_order import Ints

LOOSE = "receives take from any source or tag: the first send that fits"
UNEQUAL = "transfers of which sender and receiver give different sizes: the sender's holds"
UNSENT = "receives that nobody sends to, left out"
UNRECEIVED = "sends that nobody receives, kept"


def senders(nodes: Nodes, order: Ints, notes: Counter[str]) -> Ints:
    """For each node the send that it receives, -1 if none; `order` is that of all ranks' nodes in their turn."""
    kinds = nodes.kinds[order]
    sends, receives = order[kinds == SEND], order[kinds == RECEIVE]
    exact = (nodes.peers[receives] != ANY) & (nodes.tags[receives] != ANY)
    found = np.full(len(nodes.kinds), -1, dtype=np.int64)
    found[receives[exact]] = _exact(nodes, sends, receives[exact])
    _tell(nodes, receives[exact], found, notes)
    _take_loose(nodes, sends, receives[~exact], found, notes)
    left = len(sends) - np.count_nonzero(found >= 0)
    if left:
        notes[UNRECEIVED] += int(left)
    return found


def _exact(nodes: Nodes, sends: Ints, receives: Ints) -> Ints:
    """The sends that receives take which name their source and tag."""
    _, tags = np.unique(np.concatenate([nodes.tags[sends], nodes.tags[receives]]), return_inverse=True)
    sources = np.concatenate([nodes.ranks[sends], nodes.peers[receives]]).astype(np.int64)
    targets = np.concatenate([nodes.peers[sends], nodes.ranks[receives]])
    keys = (sources * nodes.count + targets) * (len(tags) + 1) + tags
    sent, received = keys[: len(sends)], keys[len(sends) :]
    by_send, by_receive = np.argsort(sent, kind="stable"), np.argsort(received, kind="stable")
    sent, received = sent[by_send], received[by_receive]
    turn = np.arange(len(received)) - np.searchsorted(received, received)
    at = np.searchsorted(sent, received) + turn
    met = at < np.searchsorted(sent, received, side="right")
    found = np.full(len(receives), -1, dtype=np.int64)
    found[by_receive[met]] = sends[by_send[at[met]]]
    return found


def _tell(nodes: Nodes, receives: Ints, found: Ints, notes: Counter[str]) -> None:
    """Count what does not fit, in the order in which it comes."""
    sent = found[receives]
    unequal = (sent >= 0) & (nodes.sizes[receives] != nodes.sizes[np.maximum(sent, 0)])
    events = ((sent >= 0, LOOSE, 0), (unequal, UNEQUAL, 1), (sent < 0, UNSENT, 1))
    for _, _, what, number in sorted(
        (int(np.argmax(hit)), place, what, by * int(np.count_nonzero(hit)))
        for place, (hit, what, by) in enumerate(events)
        if hit.any()
    ):
        notes[what] += number


def _take_loose(nodes: Nodes, sends: Ints, receives: Ints, found: Ints, notes: Counter[str]) -> None:
    """Let receives from any source or tag take what is left."""
    waiting = Sends()
    taken = np.zeros(len(nodes.kinds), dtype=bool)
    taken[found[found >= 0]] = True
    for send in sends[~taken[sends]].tolist() if len(receives) else ():
        node = Node("send", 0, peer=int(nodes.peers[send]), tag=int(nodes.tags[send]))
        waiting.add((int(nodes.ranks[send]), send), node)
    for receive in receives.tolist():
        node = Node("receive", 0, peer=int(nodes.peers[receive]), tag=int(nodes.tags[receive]))
        key = waiting.take(int(nodes.ranks[receive]), node)
        notes[LOOSE if key else UNSENT] += 1
        if key:
            found[receive] = key[1]
            if nodes.sizes[key[1]] != nodes.sizes[receive]:
                notes[UNEQUAL] += 1
