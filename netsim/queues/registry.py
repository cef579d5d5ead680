"""The queue disciplines as the simulator knows them, read off their files: settings, state and kernels."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Self

import numpy as np

from netsim.kernel import Kernel
from netsim.kernel.settings import KernelSettings, kernels_of, settings_of
from netsim.queues import QUEUES

UNUSED = ("unused", "i8")  # numba wants something in a record


@dataclass(frozen=True)
class Discipline:
    """A queue discipline. One without settings is always on; another where a topology has its settings."""

    name: str
    settings: type[KernelSettings] | None
    state: np.dtype | None
    kernels: dict[str, Kernel]

    @classmethod
    def of(cls, name: str, module: ModuleType) -> Self:
        """The discipline of a file. Its settings, the one class of them there, and STATE may be missing."""
        return cls(name, settings_of(module), getattr(module, "STATE", None), kernels_of(module))

    @property
    def record(self) -> np.dtype:
        """The kernels' record of its settings."""
        fields = self.settings.names() if self.settings else []
        return np.dtype([(name, "i8") for name in ("on", *fields)])


REGISTRY = {name: Discipline.of(name, import_module(f"netsim.queues.disciplines.{name}")) for name in QUEUES}
QUEUE_SETTINGS = np.dtype([(name, each.record) for name, each in REGISTRY.items()])
_states: list[tuple[str, Any]] = [(name, each.state) for name, each in REGISTRY.items() if each.state]
QUEUE_STATE = np.dtype(_states or [UNUSED])


def fill(record: Any, disciplines: dict[str, KernelSettings]) -> None:
    """Write the settings of those that are on into a row of QUEUE_SETTINGS."""
    for name, settings in disciplines.items():
        record[name]["on"] = 1
        for field, number in settings.numbers().items():
            record[name][field] = number
