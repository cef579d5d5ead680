"""Settings of a congestion control or a queue discipline: fields that a user sets, whole numbers that kernels take.

Every field is carried into the kernels' record under its own name; nothing else has to be said.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Annotated, Any, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from netsim.kernel.parts import Kernel


@dataclass(frozen=True)
class FixedPoint:
    """A mark of a field that holds a fraction: kernels take it in units of 2^-bits."""

    bits: int = 16


Share = Annotated[float, Field(gt=0, le=1), FixedPoint()]


class derived(property):  # noqa: N801  it decorates, as property does
    """A whole number that kernels take beside the fields, computed from them."""


class KernelSettings(BaseModel):
    """Times in ps, rates in bit/s, bytes and counts as they are, fractions as FixedPoint says.

    A word is its place among those allowed, so "auto" alone is 0. Other fields are refused when the class is made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        for name, field in cls.model_fields.items():
            kinds = {kind for kind in _kinds(field.annotation) if not isinstance(kind, str)}
            if not kinds <= {int, bool} | ({float} if _fixed_point(field) else set()):
                what = f"{cls.__module__}.{cls.__name__}.{name}: kernels take whole numbers"
                raise TypeError(f"{what}; mark a fraction with FixedPoint(), and give other choices as Literal words")

    @classmethod
    def names(cls) -> list[str]:
        """What kernels find in the record: the fields, then what is derived of them."""
        return [*cls.model_fields, *(name for name, value in vars(cls).items() if isinstance(value, derived))]

    @classmethod
    def record(cls) -> np.dtype:
        """The kernels' record; numba wants something in it."""
        return np.dtype([(name, "i8") for name in cls.names() or ["unused"]])

    def numbers(self) -> dict[str, int]:
        """The values in that record."""
        fields = type(self).model_fields
        return {name: _number(getattr(self, name), fields.get(name)) for name in self.names()}


def _kinds(annotation: Any) -> list[Any]:
    """The types and words that a value may have: int and "auto" of `Annotated[int, ...] | Literal["auto"]`."""
    parts = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _kinds(parts[0])
    return [kind for part in parts for kind in _kinds(part)] if parts else [annotation]


def _fixed_point(field: FieldInfo | None) -> FixedPoint | None:
    return next((each for each in field.metadata if isinstance(each, FixedPoint)), None) if field else None


def _number(value: Any, field: FieldInfo | None) -> int:
    if field and isinstance(value, str):
        return [kind for kind in _kinds(field.annotation) if isinstance(kind, str)].index(value)
    mark = _fixed_point(field)
    return round(value * (1 << mark.bits)) if mark else int(value)


def kernels_of(module: ModuleType) -> dict[str, Kernel]:
    """The kernels of a file, by name."""
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


def settings_of(module: ModuleType) -> type[KernelSettings] | None:
    """The class of settings that a file defines, if it does."""
    own = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    return next((each for each in own if issubclass(each, KernelSettings)), None)
