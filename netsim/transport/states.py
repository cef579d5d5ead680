"""The controls' modules and codes, and one record that has room for the state of any of them."""

from importlib import import_module

import numpy as np

from netsim.transport import CONTROLS

CODES = {name: code for code, name in enumerate(CONTROLS)}
_MODULES = {name: import_module(f"netsim.transport.{name}") for name in CONTROLS}
CONTROL_STATES = {name: module.STATE for name, module in _MODULES.items()}
CONTROL_SETTINGS = np.dtype([(name, module.SETTINGS) for name, module in _MODULES.items()])


def with_states(fields: list[tuple], states: dict[str, np.dtype]) -> np.dtype:
    """The row of `fields`, followed by all `states` on top of each other: a connection has only one control."""
    row = np.dtype(fields)
    names = [*row.names, *states]
    formats = [*(row[name] for name in row.names), *states.values()]
    offsets = [*(row.fields[name][1] for name in row.names), *([row.itemsize] * len(states))]
    itemsize = row.itemsize + max(state.itemsize for state in states.values())
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-itemsize // 64) * 64})
