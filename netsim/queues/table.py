"""The `[queue]` table of a topology: further disciplines of its switch ports, by name, each with its settings."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)

from netsim.errors import InputError
from netsim.kernel.settings import KernelSettings
from netsim.queues.registry import REGISTRY

OWN_KEYS = ("shared_buffer", "trim")  # keys of a topology by themselves


def _table(value: Any) -> Any:
    """A table of settings, or true for the defaults; false is none."""
    return {True: {}, False: None}[value] if isinstance(value, bool) else value


class _Queues(BaseModel):
    """Settings of those disciplines that are on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @property
    def chosen(self) -> dict[str, KernelSettings]:
        """By name."""
        return {name: settings for name, settings in self if settings is not None}

    @model_validator(mode="after")
    def _one_chooses_the_class(self) -> _Queues:
        if len(choosing := [name for name in self.chosen if "next_class" in REGISTRY[name].kernels]) > 1:
            raise InputError(f"{' and '.join(choosing)} both choose the class that is next", hint="keep one of them")
        return self

    @model_serializer(mode="wrap")
    def _those_that_are_on(self, tables: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: table for name, table in tables(self).items() if table is not None}


_fields: dict[str, Any] = {
    name: (Annotated[each.settings | None, BeforeValidator(_table)], None)
    for name, each in REGISTRY.items()
    if each.settings and name not in OWN_KEYS
}
Queues = create_model("Queues", __base__=_Queues, __module__=__name__, **_fields)
