"""The controls' modules, and one record that has room for the state of any of them."""

from importlib import import_module

import numpy as np

from netsim.transport import CONTROLS

_MODULES = {name: import_module(f"netsim.transport.{name}") for name in CONTROLS}
CONTROL_STATES = {name: module.STATE for name, module in _MODULES.items()}
CONTROL_SETTINGS = np.dtype([(name, module.SETTINGS) for name, module in _MODULES.items()])


def with_states(fields: list[tuple[str, str]], states: dict[str, np.dtype]) -> np.dtype:
    """The row of `fields`, followed by all `states` on top of each other: a connection has only one control."""
    row = np.dtype(fields)
    names = [name for name, _ in fields]
    offsets = [int(np.dtype(fields[:count]).itemsize) for count in range(len(fields))]
    end = row.itemsize + max(state.itemsize for state in states.values())
    return np.dtype(
        {
            "names": names + list(states),
            "formats": [row[name] for name in names] + list(states.values()),
            "offsets": offsets + [row.itemsize] * len(states),
            "itemsize": -(-end // 64) * 64,
        }
    )
