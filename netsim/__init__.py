"""netsim replays the collectives of a GPU job over a network, packet by packet, and tells where the time goes.

This module is the face: it loads a name when it is first used, so that `import netsim` costs nothing.

    >>> import netsim
    >>> trace = netsim.load_trace("deepseek_v3_decode_16")
    >>> trace.ranks
    16
    >>> netsim.load_topology("fat_tree_k4_400g").build().counts()["hosts"]
    16
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from netsim import hooks
from netsim.version import __version__

if TYPE_CHECKING:
    from netsim.config import load_scenario, load_topology, load_trace
    from netsim.config.scenario import Packet, Placement, Scenario
    from netsim.errors import InputError, NetsimError, RunError
    from netsim.result import Result
    from netsim.simulation import simulate
    from netsim.topology import Network, Topology
    from netsim.traces import Group, Operation, Trace
    from netsim.transport.settings import Transport

__all__ = [
    "__version__",
    "load_trace",
    "load_topology",
    "load_scenario",
    "simulate",
    "Scenario",
    "Result",
    "Trace",
    "Group",
    "Operation",
    "Topology",
    "Network",
    "Packet",
    "Transport",
    "Placement",
    "NetsimError",
    "InputError",
    "RunError",
]

_HOME = {
    "load_trace": "netsim.config",
    "load_topology": "netsim.config",
    "load_scenario": "netsim.config",
    "simulate": "netsim.simulation",
    "Scenario": "netsim.config.scenario",
    "Packet": "netsim.config.scenario",
    "Placement": "netsim.config.scenario",
    "Result": "netsim.result",
    "Trace": "netsim.traces",
    "Group": "netsim.traces",
    "Operation": "netsim.traces",
    "Topology": "netsim.topology",
    "Network": "netsim.topology",
    "Transport": "netsim.transport.settings",
    "NetsimError": "netsim.errors",
    "InputError": "netsim.errors",
    "RunError": "netsim.errors",
}


def __getattr__(name: str) -> Any:
    """The noun or function called `name`, loaded from the room it lives in."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'netsim' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _reason_of_run(result: Any) -> Any:
    from netsim.explain.reason import reason_of_run

    return reason_of_run(result)


def _summary_text(result: Any) -> str:
    from netsim.report.summary import summary_text

    return summary_text(result)


hooks.reason_of_run, hooks.summary_text = _reason_of_run, _summary_text


def __dir__() -> list[str]:
    return sorted(__all__)
