"""NetworkBuilder: add hosts, then switches, then cables; numbers and names follow the order of adding."""

from collections.abc import Mapping

from netsim.kernel.settings import KernelSettings
from netsim.queues.disciplines.red import NO_ECN, Ecn
from netsim.queues.disciplines.shared_buffer import SharedBuffer
from netsim.queues.disciplines.trim import Trim
from netsim.topology import limits
from netsim.topology.limits import Counts, check_counts
from netsim.topology.network import Host, Link, Network, Switch
from netsim.topology.pfc import Pfc
from netsim.units import UNLIMITED

_NIC = UNLIMITED, NO_ECN.kmin, NO_ECN.kmax, NO_ECN.pmax  # the queue of a host's port


class NetworkBuilder:
    """Builds a Network step by step.

    >>> builder = NetworkBuilder("pair")
    >>> a, b = builder.host("a"), builder.host("b")
    >>> tor = builder.switch("tor0", "tor")
    >>> for host in (a, b):
    ...     _ = builder.connect(host, tor, rate_bps=100 * 10**9, delay_ps=10**6, kind="tor")
    >>> builder.build()
    Network('pair', 2 hosts, 1 switches, 4 links)
    """

    def __init__(
        self,
        name: str,
        control_class: str = "strict",
        pfc: Pfc | None = None,
        *,
        trim: Trim | None = None,
        shared_buffer: SharedBuffer | None = None,
        queue: Mapping[str, KernelSettings] | None = None,
    ) -> None:
        self.name = name
        self._switch_settings = control_class, pfc, trim, shared_buffer, queue or {}
        self._hosts: list[Host] = []
        self._switches: list[Switch] = []
        self._links: list[Link] = []
        self._names: set[str] = set()

    def host(self, name: str, server: int | None = None, rail: int = 0) -> int:
        """Add a host and return its number; without a server it is one of its own."""
        if self._switches:
            raise ValueError(f"host {name!r} comes after a switch; add all hosts first, so that they are 0..H-1")
        number = len(self._hosts)
        if number == limits.MOST_HOSTS:
            self._refuse_more(hosts=1)
        self._hosts.append(Host(number, self._new(name), number if server is None else server, rail))
        return number

    def switch(self, name: str, tier: str) -> int:
        """Add a switch and return its number."""
        if len(self._switches) == limits.MOST_SWITCHES:
            self._refuse_more(switches=1)
        number = len(self._hosts) + len(self._switches)
        self._switches.append(Switch(number, self._new(name), tier))
        return number

    def connect(
        self,
        a: int,
        b: int,
        rate_bps: int,
        delay_ps: int,
        kind: str,
        buffer_bytes: int = UNLIMITED,
        ecn: Ecn = NO_ECN,
        loss: float = 0.0,
    ) -> int:
        """Lay a cable between two nodes: two directed links l (a to b) and l ^ 1 (b to a); returns l.

        Buffer and ECN are those of switch ports: a NIC pulls what it can send, so hosts drop and mark nothing. Both
        wires lose a packet with probability `loss`.
        """
        nodes = len(self._hosts) + len(self._switches)
        if a == b or not (0 <= a < nodes and 0 <= b < nodes):
            raise ValueError(f"no cable can go from node {a} to node {b}; take two different nodes of 0..{nodes - 1}")
        if not 0.0 <= loss < 1.0:
            raise ValueError(f"a cable cannot lose {loss} of its packets; give 0 up to below 1")
        if rate_bps <= 0 or delay_ps < 0 or buffer_bytes <= 0:
            raise ValueError(
                f"a cable of {rate_bps} bit/s, {delay_ps} ps and {buffer_bytes} bytes of buffer carries nothing; "
                "rate and buffer must be above zero, the delay zero or more"
            )
        if len(self._links) == 2 * limits.MOST_CABLES:
            self._refuse_more(cables=1)
        first, hosts, ports = len(self._links), len(self._hosts), (buffer_bytes, ecn.kmin, ecn.kmax, ecn.pmax)
        self._links += (
            Link(first, a, b, kind, rate_bps, delay_ps, *(_NIC if a < hosts else ports), loss),
            Link(first + 1, b, a, kind, rate_bps, delay_ps, *(_NIC if b < hosts else ports), loss),
        )
        return first

    def build(self) -> Network:
        """Give the finished network."""
        hosts, switches, links = tuple(self._hosts), tuple(self._switches), tuple(self._links)
        return Network(self.name, hosts, switches, links, *self._switch_settings)

    def _refuse_more(self, hosts: int = 0, switches: int = 0, cables: int = 0) -> None:
        """There are as many as may be."""
        check_counts(Counts(len(self._hosts) + hosts, len(self._switches) + switches, len(self._links) // 2 + cables))

    def _new(self, name: str) -> str:
        if name in self._names:
            raise ValueError(f"two nodes are called {name!r}; give every host and switch its own name")
        self._names.add(name)
        return name
