"""Controls in the core's tables: each has a code, a state, settings and its kernels."""

import inspect
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from netsim.transport.states import CONTROL_SETTINGS, CONTROL_STATES, with_states

from netsim.transport import CODES, CONTROLS, UNMOVED_BY_LOSS, dispatch
from tests.core.plain import plain

HEARD = ("on_ack", "on_round_trip", "on_telemetry", "on_notification", "on_send", "on_nack", "on_loss", "on_timeout")
each_control = pytest.mark.parametrize("name", CONTROLS)


@each_control
def test_a_control_has_what_the_core_calls(name: str) -> None:
    module = import_module(f"netsim.transport.{name}")
    assert next(iter(inspect.signature(plain(module.start)).parameters)) == "sender"
    heard = {kernel for kernel in HEARD if hasattr(module, kernel)}
    dispatched = (Path(dispatch.__file__)).read_text(encoding="utf-8")
    assert {kernel for kernel in heard if f"{name}.{kernel}(" in dispatched} == heard, "each kernel it has is called"
    assert CONTROL_STATES[name] == module.STATE
    assert CONTROL_SETTINGS[name] == module.SETTINGS


def test_a_control_takes_notice_of_losses_or_is_listed_as_one_that_does_not() -> None:
    kernels = ("on_nack", "on_loss", "on_timeout", "on_silence")
    noticing = [
        name for name in CONTROLS if any(hasattr(import_module(f"netsim.transport.{name}"), k) for k in kernels)
    ]
    assert set(noticing) == set(CONTROLS) - set(UNMOVED_BY_LOSS)


def test_codes_are_the_places_in_the_registry() -> None:
    assert list(CODES) == list(CONTROLS)
    assert list(CODES.values()) == list(range(len(CONTROLS)))


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
