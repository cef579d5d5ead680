"""What the settings of a control are made of: fields that a user sets, and the whole numbers that kernels take of them.

Every field is carried into the kernels' record under its own name; nothing else has to be said.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from netsim.units import Duration


@dataclass(frozen=True)
class FixedPoint:
    """A mark of a field that holds a fraction: kernels take it in units of 2^-bits."""

    bits: int = 16


Share = Annotated[float, Field(gt=0, le=1), FixedPoint()]
Packets = Annotated[float, Field(gt=0, le=1 << 20), FixedPoint()]
Auto = Annotated[Duration, Field(gt=0)] | Literal["auto"]
Whole = Annotated[int, Field(ge=0, le=1 << 20)]
Least = Annotated[int, Field(ge=1, le=10**6, description="the lowest rate is the line's divided by this")]


class derived(property):  # noqa: N801  it decorates, as property does
    """A whole number that kernels take beside the fields, computed from them."""


class ControlSettings(BaseModel):
    """Settings of a control. Times in ps, rates in bit/s, bytes and counts as they are, fractions as FixedPoint says.

    "auto" is 0 in the kernels' record. A field of another kind is refused when its class is made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        for name, field in cls.model_fields.items():
            kinds = _kinds(field.annotation)
            allowed = {int, bool, "auto"} | ({float} if _fixed_point(field) else set())
            if not kinds <= allowed:
                what = f"{cls.__module__}.{cls.__name__}.{name}: kernels take whole numbers"
                raise TypeError(f"{what}; mark a fraction with FixedPoint(), and write other choices as numbers")

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


def _kinds(annotation: Any) -> set[Any]:
    """The types and words that a value may have: int and "auto" of `Annotated[int, ...] | Literal["auto"]`."""
    parts = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _kinds(parts[0])
    return set().union(*map(_kinds, parts)) if parts else {annotation}


def _fixed_point(field: FieldInfo | None) -> FixedPoint | None:
    return next((each for each in field.metadata if isinstance(each, FixedPoint)), None) if field else None


def _number(value: Any, field: FieldInfo | None) -> int:
    mark = _fixed_point(field)
    if value == "auto":
        return 0
    return round(value * (1 << mark.bits)) if mark else int(value)
