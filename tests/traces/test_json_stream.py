"""Walking through JSON and searching it: the same values as decoding it whole, whatever the size of the pieces."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from netsim.traces import json_stream
from netsim.traces.json_search import JsonSearch
from netsim.traces.json_stream import JsonWalk
from tests.inputs import refusal, saved

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
SMALL = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def walked(path: Path, content: str | bytes, *streamed: str, many: bool = False) -> tuple[list[tuple[str, Any]], bool]:
    walk = JsonWalk(saved(path, content), streamed, many=many)
    return list(walk), walk.cut


@SMALL
@given(st.lists(VALUES, max_size=6), st.integers(1, 9), st.sampled_from([None, 1]))
def test_items_come_one_by_one(tmp_path: Path, items: list[Any], size: int, indent: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", size)
        text = json.dumps({"a": 1, "items": items, "b": items}, indent=indent)
        found, cut = walked(tmp_path / "x", text, "items")
    assert found == [("a", 1), *(("items", each) for each in items), ("b", items)]
    assert not cut


@SMALL
@given(st.lists(VALUES, max_size=6), st.data())
def test_any_prefix_gives_a_prefix_of_the_items(tmp_path: Path, items: list[Any], data: st.DataObject) -> None:
    text = json.dumps(items)
    end = data.draw(st.integers(1, len(text) - 1))
    found, cut = walked(tmp_path / "x", text[:end])
    assert [value for _, value in found] == items[: len(found)]
    assert cut


def test_values_one_after_another(tmp_path: Path) -> None:
    found = walked(tmp_path / "x", '{"a": 1}\n\n{\n"a": 2\n}{"a": 3}', many=True)
    assert found == ([("", {"a": 1}), ("", {"a": 2}), ("", {"a": 3})], False)


def test_lines_are_where_values_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK", 5)
    walk = JsonWalk(saved(tmp_path / "x", '[\n\n{"a":\n1},\n  2,\n"x"]'))
    assert [(value, walk.line) for _, value in walk] == [({"a": 1}, 3), (2, 5), ("x", 6)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[" * 100_000, "x:1: .*brackets are nested too deep"),
        ('[1,\n{"a": ' + '{"a":' * 100_000, "x:2: .*nested too deep"),
        ("[1, 2\n, x, 3, 4, 5, 6, 7, 8, 9, 10, 11]", "x:2: this is not JSON"),
        ("[1, 2}", "x:1: .*a comma or ] is missing"),
        ("[1] 2", "something follows the end"),
        ("{1: 2}", "a key in quotes is missing"),
        ("true", "neither an object nor a list"),
        ("[" + "9" * 5000 + "]", "a number is too long"),
    ],
)
def test_what_is_wrong_in_the_middle_is_refused(tmp_path: Path, text: str, what: str) -> None:
    assert re.search(what, refusal(walked, tmp_path / "x", text))


def test_a_value_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_VALUE", 1000)
    monkeypatch.setattr(json_stream, "CHUNK", 100)
    assert "one value is longer than 1,000 characters" in refusal(walked, tmp_path / "x", '["' + "a" * 5000)


def searched(path: Path, text: str, *keys: str) -> tuple[list[tuple[str, Any, int]], int]:
    search = JsonSearch(saved(path, text), "nccl", keys)
    return [tuple(each) for each in search], search.damaged


@pytest.mark.parametrize("sort", [False, True])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("block", [7, 100, 1 << 20])
def test_objects_are_found_by_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: bool, indent: int | None, block: int
) -> None:
    """Whatever the layout: arguments before the name, a brace in a text, an object across two blocks."""
    monkeypatch.setattr(json_stream, "CHUNK", block)
    events = [{"ph": "X", "name": f"nccl{n}", "args": {"a": {"b": [n]}, "t": "{"}, "dur": n} for n in range(20)]
    others = [{"ph": "X", "name": "aten::add", "args": {"x": "nccl"}}]
    text = json.dumps({"events": [*others, *events[:10], *others, *events[10:]]}, indent=indent, sort_keys=sort)
    found, damaged = searched(tmp_path / "x", text)
    assert [value for _, value, _ in found] == events
    assert damaged == 0
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line == "    {"] or [1] * 22
    assert [line for *_, line in found] == (starts[1:11] + starts[12:] if indent else [1] * 20)


def test_values_are_found_by_their_keys(tmp_path: Path) -> None:
    found, _ = searched(tmp_path / "x", '{"events": [{"name": "nccl"}],\n"info" : {"rank": 3}}', "info")
    assert found == [("", {"name": "nccl"}, 1), ("info", {"rank": 3}, 2)]


def test_a_name_inside_a_text_is_no_object(tmp_path: Path) -> None:
    text = json.dumps([{"name": "x", "note": '{"name": "nccl"}'}])
    assert searched(tmp_path / "x", text) == ([], 0)


def test_an_object_that_is_not_whole_is_counted(tmp_path: Path) -> None:
    found, damaged = searched(tmp_path / "x", '[{"name": "nccl1", "x": !}, {"name": "nccl2"}]')
    assert [value for _, value, _ in found] == [{"name": "nccl2"}]
    assert damaged == 1
