"""Rows as kernels see them: what no kernel changes can be read, and no kernel can write to it."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import config, njit
from numba.core.errors import NumbaError, TypingError

from netsim.kernel import bare

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="the interpreter has records of numpy instead")
INNER = np.dtype([("gain", "i8")])
SETTINGS = np.dtype([("pace", "i4"), ("seed", "i8"), ("controls", INNER)])
COUNT = np.dtype([("steps", "i8")])


class Tables(NamedTuple):
    settings: Any
    counts: Any


@pytest.fixture
def tables() -> Tables:
    settings = np.zeros(1, SETTINGS)
    settings[0] = (-3, 1 << 40, (7,))
    return Tables(settings, np.zeros(2, COUNT))


def test_settings_are_read(tables: Tables) -> None:
    @njit
    def read(owned):  # type: ignore[no-untyped-def]
        world = bare(owned)
        settings = world.settings[0]
        world.counts[1].steps += settings.pace
        return settings.seed + settings.controls.gain, settings.pace

    assert read(tables) == ((1 << 40) + 7, -3)
    assert tables.counts["steps"].tolist() == [0, -3]
    tables.settings["pace"] = 5  # between kernels they may change
    assert read(tables) == ((1 << 40) + 7, 5)


def test_settings_cannot_be_written(tables: Tables) -> None:
    @njit
    def write(owned):  # type: ignore[no-untyped-def]
        bare(owned).settings[0].seed = 1

    with pytest.raises((NumbaError, NotImplementedError)):
        write(tables)
    assert tables.settings["seed"][0] == 1 << 40


@pytest.mark.parametrize("name", ["speed", "size"])
def test_an_unknown_setting_is_refused(tables: Tables, name: str) -> None:
    scope: dict[str, Any] = {"bare": bare}
    exec(f"def read(owned):\n    return bare(owned).settings[0].{name}\n", scope)
    with pytest.raises(TypingError):
        njit(scope["read"])(tables)
