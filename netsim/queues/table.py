"""The `[queue]` table of a topology: further disciplines of its switch ports, by name, each with its settings."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from netsim.errors import InputError, nearest
from netsim.kernel.settings import KernelSettings
from netsim.queues.registry import REGISTRY

OWN_KEYS = ("shared_buffer", "trim")  # keys of a topology by themselves


def _read(value: Any) -> Any:
    """Settings of each discipline that is named: a table of them, or true for the defaults; false leaves it out."""
    value = dict(value) if isinstance(value, tuple) else value
    if not isinstance(value, dict):
        raise InputError(f"{value!r} is no table of queue disciplines", hint="write { NAME = { ... } }")
    known = {name: each.settings for name, each in REGISTRY.items() if each.settings and name not in OWN_KEYS}
    chosen: dict[str, KernelSettings] = {}
    for name, given in value.items():
        if (settings := known.get(name)) is None:
            raise InputError(f"no queue discipline {name!r}", hint=nearest(name, known) if known else "see netsim list")
        if given is not False:
            chosen[name] = settings.model_validate({} if given is True else given)
    if len(choosing := [name for name in chosen if "next_class" in REGISTRY[name].kernels]) > 1:
        raise InputError(f"{' and '.join(choosing)} both choose the class that is next", hint="keep one of them")
    return tuple(chosen.items())


def _written(value: tuple[tuple[str, KernelSettings], ...], info: Any) -> Any:
    return {name: settings.model_dump(mode=info.mode) for name, settings in value}


Queues = Annotated[tuple[tuple[str, Any], ...], BeforeValidator(_read), PlainSerializer(_written)]
