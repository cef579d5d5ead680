"""The unpickler builds plain data as Python's own does, and refuses everything else."""

import pickle
import pickletools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.errors import InputError
from netsim.traces.torch.plain_pickle import load
from tests.inputs import refusal

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 200), 1 << 200) | st.floats(allow_nan=False) | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(PLAIN, st.sampled_from([2, 3, 4, 5]))
def test_plain_data_comes_back(value: Any, protocol: int) -> None:
    assert load(pickle.dumps(value, protocol=protocol), "f") == value


@settings(max_examples=300, deadline=None)
@given(PLAIN, st.sampled_from([2, 4]), st.data())
def test_damaged_pickles_give_plain_data_or_an_error(value: Any, protocol: int, data: st.DataObject) -> None:
    content = pickle.dumps(value, protocol=protocol)
    place = data.draw(st.integers(0, len(content) - 1))
    changed = content[:place] + data.draw(st.binary(max_size=3)) + content[place + 1 :]
    for each in (content[:place], changed):
        try:
            load(each, "f")
        except InputError as error:
            assert str(error).startswith("f: ")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("GLOBAL", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R."),
        ("STACK_GLOBAL", pickle.dumps(print, protocol=4)),
        ("EXT1", b"\x80\x02\x82\x01."),
        ("EXT2", b"\x80\x02\x83\x01\x00."),
        ("EXT4", b"\x80\x02\x84\x01\x00\x00\x00."),
        ("BINPERSID", b"\x80\x02X\x01\x00\x00\x00xQ."),
        ("PERSID", b"Pabc\n."),
        ("INST", b"(ios\nsystem\n."),
        ("BUILD", b"\x80\x02}}b."),
        ("BYTEARRAY8", b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b"."),
        ("NEXT_BUFFER", b"\x80\x05\x97."),
    ],
)
def test_what_could_run_a_program_or_take_memory_is_refused(name: str, content: bytes) -> None:
    assert f"f: asks for more than plain data ({name} at byte" in refusal(load, content, "f")


def test_every_instruction_that_calls_or_imports_is_unknown_here() -> None:
    for each in pickletools.opcodes:
        if each.name in ("REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "GLOBAL", "STACK_GLOBAL"):
            assert f"{each.name} at byte 2" in refusal(load, b"\x80\x02" + each.code.encode("latin-1"), "f")


def test_a_large_number_in_the_memo_takes_no_memory() -> None:
    content = b"\x80\x02]r" + (1 << 31).to_bytes(4, "little") + b"."
    assert load(content, "f") == []


def test_a_text_longer_than_the_file_is_damage() -> None:
    with pytest.raises(InputError, match=r"f: is a damaged or cut pickle \(at byte 11"):
        load(b"\x80\x04\x8d" + (1 << 62).to_bytes(8, "little") + b"abc.", "f")


def test_lists_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netsim.traces.torch.plain_pickle.MAX_BUILT", 100)
    assert "f: holds more than 100 lists" in refusal(load, b"\x80\x02(" + b"]" * 1000 + b"t.", "f")
