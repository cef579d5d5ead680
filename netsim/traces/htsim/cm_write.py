"""Writing a trace as an htsim connection matrix: flows, and triggers where one waits for others."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from netsim.errors import InputError
from netsim.traces.graphs.graph import Graph, Joiner, Node
from netsim.traces.graphs.graph_to_trace import graphs_of
from netsim.traces.topological_order import topological_order_of
from netsim.traces.trace import POINT_TO_POINT, Trace
from netsim.writing import write_whole

COMPUTE = "computations, which a connection matrix cannot hold: left out"
LATER = "flows that wait for others would also wait for a time, which htsim does not know: left out"
SHORTER = (
    "flows that wait for others of their operation do not wait for earlier operations as well: "
    "in htsim each end of a flow fires one trigger"
)
ONE_TRIGGER = "htsim starts flows by one trigger for each end of a flow: choose another --algorithm (or no barrier)"
EMPTY = "flows without bytes, which htsim takes for endless: left out"

Event = tuple[int, bool]  # a flow is done: at its source (False), or at its target (True)


def write_htsim_cm(trace: Trace, path: str | Path) -> Counter[str]:
    """Write a matrix; returns what could not be written, counted. Collectives must be made flows first."""
    matrix = _Matrix(trace)
    write_whole(Path(path), matrix.lines())
    return +matrix.left_out


class _Matrix:
    """The flows of a trace in an order in which each comes after those it waits for."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.left_out: Counter[str] = Counter()
        joiner = Joiner(self._graph(), lambda rank, node, what, hint: InputError(f"rank {rank} {what}", hint=hint))
        joiner.join()
        self.joiner, listed = joiner, joiner.waits()
        self.waits = list(map(frozenset, listed))
        self.order = topological_order_of(listed, lambda *_: InputError("flows wait for each other in a cycle"))
        self.dependents: dict[frozenset[Event], list[int]] = {}  # by what they wait for
        self._find_heirs()
        self.trigger = {events: number for number, events in enumerate(self.dependents, 1)}
        self.fires = {event: number for events, number in self.trigger.items() for event in events}
        self.starts = {flow: self.trigger[events] for events, flows in self.dependents.items() for flow in flows}

    def _graph(self) -> Graph:
        graph = graphs_of(self.trace, POINT_TO_POINT, "htsim")
        self.starts_at: dict[tuple[int, int], int] = {}
        for rank, nodes in graph.items():
            for number, node in enumerate(nodes):
                delays = [nodes[each].request for each in node.after if nodes[each].kind == "delay"]
                self.starts_at[rank, number] = max((request.duration_ps for request in delays if request), default=0)
            for node in nodes:
                self.left_out[COMPUTE] += node.kind == "compute"
                self.left_out[EMPTY] += node.kind == "send" and not node.bytes
                if node.kind in ("compute", "delay") or (node.kind in ("send", "receive") and not node.bytes):
                    node.kind = "nothing"
        return graph

    def _find_heirs(self) -> None:
        """Fill `dependents`. Each end of a flow fires one trigger alone: all that wait for it must wait for the same.

        Where that does not hold, flows wait for no earlier operation if they wait for flows of their own.
        """
        clash = self._try_heirs(whole=True)
        if clash:
            clash = self._try_heirs(whole=False)
        if clash:
            what = f"flows {self._name(clash[0])} and {self._name(clash[1])} wait for partly the same flows"
            raise InputError(what, where=self.trace.source or self.trace.name, hint=ONE_TRIGGER)
        for flows in self.dependents.values():
            self.left_out[LATER] += sum(self._start(flow) > 0 for flow in flows)

    def _try_heirs(self, *, whole: bool) -> tuple[int, int] | None:
        """Sort the flows by what they wait for; two that share some of it but not all are the answer."""
        self.dependents = defaultdict(list)
        self.left_out[SHORTER] = 0
        for flow in self.order:
            source = self._ends(flow)[0]
            listed = [each for each in sorted(self.waits[flow]) if not self._is_known(flow, each)]
            own = [each for each in listed if self._send(each).turn == self._send(flow).turn]
            if own and not whole:
                self.left_out[SHORTER] += len(own) < len(listed)
                listed = own
            events = frozenset((each, self._ends(each)[1] == source) for each in listed)
            if events:
                self.dependents[events].append(flow)
        taken: dict[Event, frozenset[Event]] = {}
        for events, flows in self.dependents.items():
            for event in events:
                if taken.setdefault(event, events) != events:
                    return self.dependents[taken[event]][0], flows[0]
        return None

    def _send(self, flow: int) -> Node:
        """The node where a flow starts."""
        rank, number = self.joiner.joined[flow].nodes[0]
        return self.joiner.graph[rank][number]

    def _is_known(self, flow: int, awaited: int) -> bool:
        """Whether another flow that is waited for has itself waited for this one."""
        return any(awaited in self.waits[other] for other in self.waits[flow] if other != awaited)

    def _ends(self, flow: int) -> tuple[int, int]:
        return self.joiner.joined[flow].nodes[0][0], self._send(flow).peer

    def _start(self, flow: int) -> int:
        return self.starts_at.get(self.joiner.joined[flow].nodes[0], 0)

    def _name(self, flow: int) -> str:
        source, target = self._ends(flow)
        return f"{source}->{target}"

    def lines(self) -> Iterator[bytes]:
        """The file, line by line."""
        header = {"Nodes": self.trace.ranks, "Connections": len(self.order), "Triggers": len(self.trigger)}
        yield "".join(f"{name} {number}\n" for name, number in header.items() if number or name != "Triggers").encode()
        for turn, flow in enumerate(self.order, 1):
            when = f"trigger {self.starts[flow]}" if flow in self.starts else f"start {self._start(flow)}"
            line = f"{self._name(flow)} id {turn} {when} size {self._send(flow).bytes}"
            for name, event in (("send_done_trigger", (flow, False)), ("recv_done_trigger", (flow, True))):
                line += f" {name} {self.fires[event]}" if event in self.fires else ""
            yield f"{line}\n".encode()
        for events, trigger in self.trigger.items():
            shape = "oneshot" if len(events) == 1 else f"barrier count {len(events)}"
            yield f"trigger id {trigger} {shape}\n".encode()
