"""A study file: a scenario, and what is varied: a grid of settings, a list of points, or each point with the grid."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from netsim.config import Document, Keys, nested, read_document, validated, vary_scenario
from netsim.config.scenario import Scenario
from netsim.config.validation_errors import dotted
from netsim.errors import InputError, nearest
from netsim.study.metrics import DRAWN
from netsim.traces import Trace
from netsim.units import parse_time
from netsim.version import __version__

MOST_POINTS = 10_000
RANGE = {"from", "to", "step"}


class Picture(BaseModel):
    """What the study's picture shows: which setting goes along x, which are lines, and which figure is drawn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = ""
    x: str = ""
    lines: str | tuple[str, ...] = ()
    y: str = "completion_time_ps"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a point: its dotted key, its value, and where it was written."""

    key: str
    value: Any
    place: str

    @property
    def document(self) -> Document:
        """The setting as a scenario file would hold it."""
        return nested(tuple(self.key.split(".")), self.value, self.place)


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a study: its number, what is set for it, its scenario; points of equal digest are one run."""

    number: int
    settings: dict[str, Any]
    scenario: Scenario
    digest: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All points of a study, and what its file says besides."""

    name: str
    points: list[Point]
    time_limit_ps: int | None
    picture: Picture

    @property
    def varied(self) -> list[str]:
        """The keys that some point sets, in the order of the file."""
        return list(dict.fromkeys(key for point in self.points for key in point.settings))


OWN = ("name", "grid", "points", "time_limit", "picture")  # keys of a study that are none of a scenario


def read_plan(path: Path) -> Plan:
    """Read a study file and make the scenario of every point, before anything runs. Raises InputError."""
    document = read_document(path)
    document.refuse_unknown([*Scenario.model_fields, *OWN])
    limit = _time_limit(document)
    points = list(_points(document, path.parent, limit))
    plan = Plan(str(document.values.get("name", path.stem)), points, limit, _picture(document))
    _check_picture(plan, document)
    return plan


def identity(scenario: Scenario, time_limit_ps: int | None) -> str:
    """What makes a run that run (SHA-256, hex): all of the scenario, the content of its files, netsim's version."""
    parts = [__version__, scenario.digest(), str(time_limit_ps)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _points(document: Document, folder: Path, limit: int | None) -> Iterator[Point]:
    grid, listed = _grid(document), _listed(document)
    count = math.prod(len(axis) for _, axis, _ in grid) * len(listed)
    if count > MOST_POINTS:
        hint = f"take {MOST_POINTS:,} at most, or split the study"
        raise InputError(f"{count:,} points", where=document.name, hint=hint)
    axes = [[Setting(key, value, place) for value in axis] for key, axis, place in grid]
    base = document
    for key in OWN:
        base = base.without(key)
    traces: dict[str, Trace] = {}
    for number, (own, values) in enumerate(product(listed, list(product(*axes)))):
        settings = [*own, *values]
        scenario = vary_scenario(base, [each.document for each in sorted(settings, key=_rank)], folder, traces)
        yield Point(number, {each.key: each.value for each in settings}, scenario, identity(scenario, limit))


def _rank(setting: Setting) -> tuple[int, bool]:
    """What is applied first: whole parts before their keys, a preset before what it would otherwise take away."""
    return min(setting.key.count("."), 1), setting.key != "transport.preset"


def _grid(document: Document) -> list[tuple[str, Sequence[Any], str]]:
    """Each varied key, all its values (a range may be long), and where they are written."""
    grid = document.values.get("grid", {})
    if not isinstance(grid, Mapping):
        raise InputError("grid is no table", where=document.place(("grid",)), hint="write [grid] and seed = [1, 2]")
    axes = []
    for keys, value in _leaves(grid, ("grid",), _is_axis):
        place = document.place(keys)
        axes.append((dotted(keys[1:]), _values(dotted(keys), value, place), place))
    return axes


def _listed(document: Document) -> list[list[Setting]]:
    """The settings of each listed point; one that sets nothing where there is no list."""
    points = document.values.get("points", [{}])
    if not (isinstance(points, list) and points and all(isinstance(point, Mapping) for point in points)):
        hint = "write [[points]] and below it seed = 1"
        raise InputError("points is no list of tables", where=document.place(("points",)), hint=hint)
    found = []
    for number, point in enumerate(points):
        leaves = _leaves(point, ("points", number), lambda keys, value: _is_whole(keys[2:], value))
        found.append([Setting(dotted(keys[2:]), value, document.place(keys)) for keys, value in leaves])
    return found


def _leaves(table: Mapping[str, Any], above: Keys, is_leaf: Any) -> Iterator[tuple[Keys, Any]]:
    for key, value in table.items():
        keys = (*above, key)
        if isinstance(value, Mapping) and value and not is_leaf(keys, value):
            yield from _leaves(value, keys, is_leaf)
        else:
            yield keys, value


def _is_axis(_: Keys, value: Mapping[str, Any]) -> bool:
    return {"from", "to"} <= set(value) <= RANGE


def _is_whole(keys: Keys, value: Mapping[str, Any]) -> bool:
    """Whether a table is one value: a topology that names its base or kind."""
    return keys == ("topology",) and not {"base", "kind"}.isdisjoint(value)


def _values(name: str, value: Any, place: str) -> Sequence[Any]:
    """The values of one axis: a list, or a range of whole numbers with both ends in it."""
    if isinstance(value, Mapping) and {"from", "to"} <= set(value):
        low, high, step = value["from"], value["to"], value.get("step", 1)
        if not all(type(each) is int for each in (low, high, step)) or step < 1 or low > high:
            raise InputError(f"{name} is no range", where=place, hint="write { from = 1, to = 10 }")
        if (high - low) // step >= MOST_POINTS:
            what = f"{name} has {(high - low) // step + 1:,} values"
            raise InputError(what, where=place, hint=f"take {MOST_POINTS:,} at most")
        return range(low, high + 1, step)
    if not isinstance(value, list) or not value:
        hint = f"write {name.removeprefix('grid.')} = [...] with every value, or {{ from = 1, to = 10 }}"
        raise InputError(f"{name} is no list of values", where=place, hint=hint)
    return value


def _time_limit(document: Document) -> int | None:
    if "time_limit" not in document.values:
        return None
    try:
        return parse_time(document.values["time_limit"])
    except InputError as error:
        where = document.place(("time_limit",))
        raise InputError(f"time_limit: {error.what}", where=where, hint=error.hint) from None


def _picture(document: Document) -> Picture:
    if not isinstance(document.values.get("picture", {}), Mapping):
        where = document.place(("picture",))
        raise InputError("picture is no table", where=where, hint='write [picture] and x = "topology"')
    return validated(Picture, document.inside("picture"), ("picture",)) if "picture" in document.values else Picture()


def _check_picture(plan: Plan, document: Document) -> None:
    picture = plan.picture
    lines = [picture.lines] if isinstance(picture.lines, str) else picture.lines
    wanted = [("x", picture.x, plan.varied), *(("lines", line, plan.varied) for line in lines)]
    for key, name, known in [*wanted, ("y", picture.y, list(DRAWN))]:
        if name and name not in known:
            where, others = document.place(("picture", key)), "figure" if key == "y" else "varied setting"
            raise InputError(f"picture.{key} = {name!r} is no {others}", where=where, hint=nearest(name, known))
