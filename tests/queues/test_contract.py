"""What every queue discipline must fulfil: settings reach its kernels, these are asked, it has a twin."""

import ast
from dataclasses import replace
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import create_model

from netsim.kernel import part
from netsim.kernel.settings import KernelSettings
from netsim.queues import QUEUES, disciplines, dispatch, table
from netsim.queues.registry import QUEUE_SETTINGS, QUEUE_STATE, REGISTRY, Discipline, fill
from netsim.topology import FatTree
from tests.reference.queues.discipline import OF_PORTS
from tests.reference.queues.discipline import Discipline as TwinDiscipline
from tests.reference.scenarios.disciplines import DISCIPLINED
from tests.reference.scenarios.scenario import build_twin

ROOT = Path(__file__).parents[2]
WITH_SETTINGS = {name: each.settings for name, each in REGISTRY.items() if each.settings}
SETTINGS = [(name, field) for name, settings in WITH_SETTINGS.items() for field in settings.names()]
IN_THE_TABLE = [name for name in QUEUES if name not in OF_PORTS]


def test_each_file_of_a_discipline_is_registered() -> None:
    files = {file.stem for file in Path(disciplines.__file__).parent.glob("*.py")}
    assert files - {"__init__"} == set(QUEUES) == set(REGISTRY)


@pytest.mark.parametrize("name", QUEUES)
def test_the_core_has_room_for_its_state_and_its_settings(name: str) -> None:
    discipline = REGISTRY[name]
    assert QUEUE_SETTINGS[name] == discipline.record
    assert discipline.state is None or QUEUE_STATE[name] == discipline.state
    assert not discipline.kernels.keys().isdisjoint(dispatch.EVENTS), "no port asks it anything"


@pytest.mark.parametrize(("name", "field"), SETTINGS)
def test_a_setting_reaches_the_kernels_and_is_used(name: str, field: str) -> None:
    record = np.zeros(1, QUEUE_SETTINGS)[0]
    given = {"shared_buffer": {"size": 1 << 20}}.get(name, {})
    settings: KernelSettings = WITH_SETTINGS[name].model_validate(given)
    fill(record, {name: settings})
    assert record[name]["on"] == 1
    assert record[name][field] == settings.numbers()[field]
    kernels = ast.parse(getsource(import_module(f"netsim.queues.disciplines.{name}")))
    attributes = [each for each in ast.walk(kernels) if isinstance(each, ast.Attribute)]
    read = {each.attr for each in attributes if ast.unparse(each.value) == "settings"}
    assert field in read


def test_every_discipline_has_a_version_in_the_twin_and_a_scenario() -> None:
    assert set(TwinDiscipline.by_name) == set(IN_THE_TABLE), "the twin's classes"
    assert set(QUEUES) >= OF_PORTS
    assert {name for each in DISCIPLINED.values() for name in each.network.queue} == set(IN_THE_TABLE), "scenarios"


@pytest.mark.parametrize("name", IN_THE_TABLE)
def test_a_topology_takes_its_settings_and_keeps_them(name: str) -> None:
    fabric = FatTree(k=4, queue={name: True})
    assert fabric.build().disciplines == {name: WITH_SETTINGS[name]()}
    assert FatTree.model_validate(fabric.model_dump(mode="json")) == fabric
    assert FatTree(k=4, queue={name: False}) == FatTree(k=4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"codle": True}, "codle"),
        ({"trim": True}, "trim"),
        (7, "queue"),
        ({"codel": {"taget": "5us"}}, "taget"),
    ],
)
def test_what_is_no_discipline_is_refused(given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FatTree(k=4, queue=given)


def a_discipline(**kernels: Any) -> dict[str, Discipline]:
    """A registry with nothing but a discipline with these kernels."""
    return {"new": Discipline("new", KernelSettings, None, kernels)}


def test_a_question_with_other_arguments_or_of_another_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    @part
    def too_few(settings: Any, now: int) -> bool:
        """Not all of them."""
        return False

    monkeypatch.setattr(dispatch, "REGISTRY", a_discipline(refuses=too_few))
    with pytest.raises(TypeError, match=r"new\.refuses.*: a port asks refuses"):
        dispatch.question(dispatch.EVENTS["refuses"])
    monkeypatch.setattr(dispatch, "REGISTRY", a_discipline(on_deque=too_few))
    with pytest.raises(TypeError, match="new: no port asks on_deque"):
        dispatch.refuse_unasked()


def test_two_that_choose_the_class_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = REGISTRY["strict_priority"].kernels
    both = {name: Discipline(name, KernelSettings, None, kernels) for name in ("one", "other")}
    monkeypatch.setattr(table, "REGISTRY", both)
    queues = create_model("Both", __base__=table.Queues, one=(int | None, None), other=(int | None, None))
    with pytest.raises(ValueError, match="one and other both choose the class that is next"):
        queues(one=1, other=1)


def test_the_discipline_in_contributing_is_that_of_the_file() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    file = next(block for block in text.split("```python\n") if block.startswith('"""CoDel:')).partition("```")[0]
    assert file == (ROOT / "netsim/queues/disciplines/codel.py").read_text(encoding="utf-8")
    assert (ROOT / "tests/reference/queues/codel.py").read_text(encoding="utf-8") in text


@pytest.mark.parametrize("name", ["drr_shares_a_link_of_a_switch", "drr_shares_a_nic"])
def test_classes_that_take_turns_end_together(name: str) -> None:
    """Under strict priority the higher one takes half the time of the other."""
    scenario = DISCIPLINED[name]
    strict = replace(scenario, network=replace(scenario.network, queue={}))
    (low, high), (last, first) = (
        [flow.delivered_ps for flow in build_twin(each).run().flows.values()] for each in (scenario, strict)
    )
    assert abs(low - high) < 0.01 * low
    assert first < 0.6 * last
