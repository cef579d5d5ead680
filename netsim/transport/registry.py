"""The controls as the simulator knows them, read off their files: code, settings, state, kernels and needs."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Self

import numpy as np

from netsim.kernel import Kernel
from netsim.kernel.settings import KernelSettings, kernels_of, settings_of
from netsim.transport import CODES, CONTROLS
from netsim.transport.control_settings import ControlSettings
from netsim.transport.traits import Traits

NO_STATE = np.dtype([("unused", "i8")])  # numba wants something in a record


@dataclass(frozen=True)
class Control:
    """A congestion control. kernels: those of its file, by name; what it needs of the core follows from them."""

    name: str
    code: int
    settings: type[KernelSettings]
    state: np.dtype
    traits: Traits
    kernels: dict[str, Kernel]

    @classmethod
    def of(cls, name: str, code: int, module: ModuleType) -> Self:
        """The control of a file. Its settings, the one class of them there, and STATE may be missing."""
        settings, state = settings_of(module) or ControlSettings, getattr(module, "STATE", NO_STATE)
        return cls(name, code, settings, state, module.TRAITS, kernels_of(module))

    def _has(self, *kernels: str) -> bool:
        return not self.kernels.keys().isdisjoint(kernels)

    @property
    def has_settings(self) -> bool:
        """A scenario may have a table of its settings."""
        return bool(self.settings.model_fields)

    @property
    def paced(self) -> bool:
        """It spaces packets out in time."""
        return self._has("on_send")

    @property
    def telemetered(self) -> bool:
        """Links must say of themselves how full they are (INT)."""
        return self._has("on_telemetry")

    @property
    def timestamped(self) -> bool:
        """It must know of a packet when it was sent: packets have metadata."""
        return self._has("on_round_trip", "on_telemetry")

    @property
    def receiver_credit(self) -> bool:
        """Receivers pull packets one by one, which takes selective repeat."""
        return self._has("on_pull")

    @property
    def reacts_to_loss(self) -> bool:
        """A lost packet, a NACK or a time-out changes something."""
        return self._has("on_nack", "on_loss", "on_timeout")

    @property
    def measures_delay_alone(self) -> bool:
        """It hears of nothing but round trips."""
        return self._has("on_round_trip") and not self.traits.reacts_to_ecn

    @property
    def limits_by_rate(self) -> bool:
        """It holds a sender back by its pace, not by its window."""
        return self.paced and not self.traits.moves_window


REGISTRY = {
    name: Control.of(name, CODES[name], import_module(f"netsim.transport.controls.{name}")) for name in CONTROLS
}
CONTROL_STATES = {name: control.state for name, control in REGISTRY.items()}
CONTROL_SETTINGS = np.dtype([(name, control.settings.record()) for name, control in REGISTRY.items()])


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
