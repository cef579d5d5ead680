"""Every default of every model, and the constants behind them, against values written by hand from their sources."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from pydantic import BaseModel

import netsim
from netsim.queues.disciplines.red import Ecn
from netsim.topology.pfc import Pfc
from netsim.transport.presets import PRESETS
from netsim.transport.settings import SelectiveRepeat
from tests.defaults import CONSTANTS, DEFAULTS, GBPS, OWN, PRESETS_BY_HAND, US


def models() -> Iterator[type[BaseModel]]:
    for module in pkgutil.walk_packages(netsim.__path__, "netsim."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    below = list(BaseModel.__subclasses__())
    while below:
        model = below.pop()
        below += model.__subclasses__()
        if model.__module__.startswith("netsim."):
            yield model


def defaults_of(model: type[BaseModel]) -> dict[str, Any]:
    """What a model states itself, and what it inherits otherwise than from the model that states it."""
    found = {}
    for name, field in model.model_fields.items():
        if not field.is_required() and (name in model.__annotations__ or model.__base__ is BaseModel):
            found[name] = field.get_default(call_default_factory=True, validated_data={})
    return found


def test_every_default_is_the_one_written_by_hand() -> None:
    found = {model.__name__: defaults_of(model) for model in models()}
    for model, values in found.items():
        rows = DEFAULTS[model]
        expected = {name: type(values[name])() if value is OWN else value for name, (value, _) in rows.items()}
        assert values == expected, model
        assert {name: type(value) for name, value in values.items()} == {n: type(v) for n, v in expected.items()}, model
    assert set(found) == set(DEFAULTS), "a model that is gone"


def test_every_row_names_its_source() -> None:
    rows = [row for table in (*DEFAULTS.values(), CONSTANTS) for row in table.values()]
    assert all(source or value is OWN for value, source in rows)


@pytest.mark.parametrize("place", CONSTANTS)
def test_a_constant_is_the_one_written_by_hand(place: str) -> None:
    module, _, name = place.partition(":")
    assert getattr(import_module(f"netsim.{module}"), name) == CONSTANTS[place][0]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_one_written_by_hand(name: str) -> None:
    preset = PRESETS[name]
    assert (preset.transport, preset.routing, preset.topology) == PRESETS_BY_HAND[name]
    assert preset.nic == {"jitter": 0.0 if name == "ideal" else 1.0}  # Floyd and Jacobson 1992: a packet's time


def test_what_is_computed_where_nothing_is_set() -> None:
    assert Pfc().headroom_of(100 * GBPS, 1 * US, 4160) == 2 * 12_500 + 3 * 4160  # 802.1Qbb: there, back, three packets
    repeat = SelectiveRepeat(), SelectiveRepeat(window=100)
    assert [each.limits(in_order=True) for each in repeat] == [("auto", 3), (100, 3)]  # RFC 5681
    assert [each.limits(in_order=False) for each in repeat] == [("auto", "auto"), (100, 25)]  # a quarter
    assert Ecn(kmin=100_000, kmax=400_000, pmax=0.2, rate=25 * GBPS).of_link(100 * GBPS) == Ecn(
        kmin=400_000, kmax=1_600_000, pmax=0.2
    )
