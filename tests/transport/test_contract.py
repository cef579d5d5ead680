"""What every control must fulfil: settings reach its kernels, these are called, its traits are true, it has a twin."""

import ast
from importlib import import_module
from inspect import getsource
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

from netsim.kernel import part
from netsim.transport import CODES, CONTROLS, controls, dispatch
from netsim.transport.control_settings import ControlSettings, FixedPoint, Share
from netsim.transport.registry import CONTROL_SETTINGS, CONTROL_STATES, REGISTRY, Control, with_states
from netsim.transport.settings import Transport
from netsim.transport.traits import Traits
from tests.reference.transport.every import Control as TwinControl

each_control = pytest.mark.parametrize("name", CONTROLS)
SETTINGS = [(name, field) for name in CONTROLS for field in REGISTRY[name].settings.model_fields]
OF_THE_CORE = {"cnp_interval", "base_rtt"}  # settings that the core or the routing reads, under whatever control


def source_of(name: str) -> ast.Module:
    return ast.parse(getsource(import_module(f"netsim.transport.controls.{name}")))


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """The functions of a file and the methods in it."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def read_of(function: ast.FunctionDef, owner: str) -> set[str]:
    """What a function reads of an argument: `rate` of `settings.rate`."""
    read = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return {node.attr for node in read if isinstance(node.value, ast.Name) and node.value.id == owner}


def others(name: str, field: str) -> list[ControlSettings]:
    """The settings of a control with one field changed to other values, as far as they are allowed."""
    settings = REGISTRY[name].settings
    old = getattr(settings(), field)
    values = [10**9, 10**6] if old == "auto" else [not old] if isinstance(old, bool) else [2 * old, old / 2, old + 1]
    found = []
    for value in values if old else [1]:
        try:
            found.append(settings.model_validate({field: value}))
        except ValidationError:
            continue
    return found


def test_each_file_of_a_control_is_registered() -> None:
    files = {file.stem for file in Path(controls.__file__).parent.glob("*.py")}
    assert files - {"__init__"} == set(CONTROLS)
    assert list(CODES) == list(REGISTRY) == list(CONTROLS)
    assert [control.code for control in REGISTRY.values()] == list(range(len(CONTROLS)))


@each_control
def test_the_core_has_room_for_its_state_and_its_settings(name: str) -> None:
    control = REGISTRY[name]
    assert CONTROL_STATES[name] == control.state
    assert list(CONTROL_SETTINGS[name].names or ()) == (control.settings.names() or ["unused"])
    assert control.has_settings == (name in Transport.model_fields and name != "window")


@pytest.mark.parametrize(("name", "field"), SETTINGS)
def test_a_setting_reaches_the_kernels(name: str, field: str) -> None:
    """Whatever a user writes into a table of settings changes the number of that name in the kernels' record."""
    before = Transport.model_validate({"control": name}).control_settings.numbers()
    changed = [each.model_dump() for each in others(name, field)]
    after = [Transport.model_validate({"control": name, name: each}).control_settings.numbers() for each in changed]
    assert after
    assert all(each[field] != before[field] for each in after)


@pytest.mark.parametrize(("name", "field"), SETTINGS)
def test_a_setting_is_used(name: str, field: str) -> None:
    tree = source_of(name)
    read = set().union(*(read_of(function, "settings") for function in functions(tree)))
    derived = [each for each in functions(tree) if {"derived", "property"} & {*map(ast.unparse, each.decorator_list)}]
    read |= set().union(*(read_of(function, "self") for function in derived))
    assert field in read | OF_THE_CORE


@each_control
def test_its_kernels_are_those_that_the_core_calls(name: str) -> None:
    defined = {function.name for function in functions(source_of(name))}
    heard = defined & dispatch.EVENTS.keys()
    assert heard == {kernel for kernel in REGISTRY[name].kernels if kernel in dispatch.EVENTS}, "one is not decorated"
    assert ("on_notification" in heard) == ("cnp_interval" in REGISTRY[name].settings.model_fields)
    assert ("on_telemetry" in heard) == ("base_rtt" in heard)
    credit = {"on_pull", "on_answer", "on_backlog", "on_drained", "first_window", "pull_gap"}
    assert heard & credit in (set(), credit)


@each_control
def test_its_traits_are_those_of_its_kernels(name: str) -> None:
    events = [each for each in functions(source_of(name)) if each.name in dispatch.EVENTS]
    names = [node.id for each in events for node in ast.walk(each) if isinstance(node, ast.Name)]
    hears_marks = "marked" in names or any(each.name == "on_notification" for each in events)
    assert REGISTRY[name].traits.reacts_to_ecn == hears_marks
    moving = [each for each in functions(source_of(name)) if each.name != "start" and sets_window(each)]
    assert REGISTRY[name].traits.moves_window == bool(moving)


def sets_window(function: ast.FunctionDef) -> bool:
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Attribute)]
    return any(node.attr == "cwnd" and isinstance(node.ctx, ast.Store) for node in nodes)


def test_every_control_has_a_version_in_the_twin() -> None:
    assert set(TwinControl.by_name) == set(CONTROLS)


def test_what_kernels_cannot_take_is_refused_where_it_is_declared() -> None:
    with pytest.raises(TypeError, match="beta: kernels take whole numbers; mark a fraction"):

        class _Fraction(ControlSettings):
            beta: Annotated[float, Field(gt=0)] = 0.5


def test_numbers_of_every_kind() -> None:
    class Kinds(ControlSettings):
        half: Share = 0.5
        fine: Annotated[float, FixedPoint(20)] = 0.25
        count: int = 7
        on: bool = True
        mode: Literal["slow", "fast"] = "fast"
        limit: Annotated[Annotated[float, Field(gt=0)] | Literal["auto"], FixedPoint()] = "auto"

    assert Kinds().numbers() == {"half": 1 << 15, "fine": 1 << 18, "count": 7, "on": 1, "mode": 1, "limit": 0}
    assert Kinds(limit=1.5).numbers()["limit"] == 3 << 15


def a_control(**kernels: Any) -> dict[str, Control]:
    """A registry with nothing but a control with these kernels."""
    traits = Traits(reacts_to_ecn=False, moves_window=False, unlimited=False)
    return {"new": Control("new", 0, ControlSettings, np.dtype("i8"), traits, kernels)}


def test_an_event_with_other_arguments_or_of_another_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_loss(sender: Any, settings: Any, packets: int, now: int) -> None:
        """As in dispatch.py."""

    @part
    def too_few(sender: Any, settings: Any, now: int) -> None:
        """Not all of them."""

    monkeypatch.setattr(dispatch, "REGISTRY", a_control(on_loss=too_few))
    with pytest.raises(TypeError, match="an event has on_loss"):
        dispatch.event(on_loss)
    monkeypatch.setattr(dispatch, "REGISTRY", a_control(on_los=part(on_loss)))
    with pytest.raises(TypeError, match="new: no event is called on_los"):
        dispatch.refuse_unheard()


def test_the_control_in_contributing_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    file = next(block for block in text.split("```python\n") if block.startswith('"""Reno:')).partition("```")[0]
    module = ModuleType("netsim.transport.controls.reno")
    exec(compile(file, "reno.py", "exec", dont_inherit=True), vars(module))
    control = Control.of("reno", len(CONTROLS), module)
    monkeypatch.setattr(dispatch, "REGISTRY", {"reno": control})
    for event in list(dispatch.EVENTS.values()):
        dispatch.event(event)
    dispatch.refuse_unheard()
    assert control.settings().numbers() == {"beta": 1 << 15}
    assert (control.paced, control.timestamped, control.reacts_to_loss) == (False, False, True)


def test_a_row_with_states_keeps_its_fields_and_lays_the_states_on_each_other() -> None:
    one, other = np.dtype([("x", "i8")]), np.dtype([("y", "i8"), ("z", "i8")])
    row = with_states([("a", "i8"), ("b", "u4"), ("c", "u4")], {"one": one, "other": other})
    table = np.zeros(2, row)
    table["a"], table["b"], table["c"] = 5, 6, 7
    table["other"]["z"] = 9
    table["one"]["x"] = 8
    assert table[1].tolist()[:3] == (5, 6, 7)
    assert (table["other"]["y"][1], table["other"]["z"][1]) == (8, 9)
    assert row.itemsize % 64 == 0


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("timely", {"t_low": "50us", "t_high": "50us"}, "t_low is not below t_high"),
        ("timely", {"beta": 1.5}, "less than or equal to 1"),
        ("swift", {"fs_min_cwnd": 9, "fs_max_cwnd": 9}, "fs_min_cwnd is not below fs_max_cwnd"),
        ("hpcc", {"eta": 0}, "greater than 0"),
        ("nscc", {"max_window": 0.5}, "greater than or equal to 1"),
        ("nscc", {"gama": 0.5}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_be_are_refused(name: str, values: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Transport.model_validate({name: values})
