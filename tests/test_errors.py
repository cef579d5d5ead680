"""Errors say where, what and the mend on one line, and survive pickling and pydantic."""

import pickle

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from netsim.errors import InputError, NetsimError, RunError, nearest


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NetsimError("it broke"), "it broke"),
        (InputError("no key 'tyers'", where="x.toml:3"), "x.toml:3: no key 'tyers'"),
        (InputError("k is odd", hint="take an even k"), "k is odd; take an even k"),
        (InputError("k" * 5000, hint="take k"), f"{'k' * 800} ... {'k' * 792}; take k"),
        (RunError("deadlock", where="t = 5 us", hint="raise\n the buffer"), "t = 5 us: deadlock; raise the buffer"),
    ],
)
def test_text_is_one_line_with_place_fault_and_mend(error: NetsimError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize("kind", [NetsimError, InputError, RunError])
def test_pickle_keeps_all_parts(kind: type[NetsimError]) -> None:
    again = pickle.loads(pickle.dumps(kind("what", where="where", hint="hint")))
    assert (type(again), again.what, again.where, again.hint) == (kind, "what", "where", "hint")


def test_exit_codes_can_tell_mistakes_from_failed_runs() -> None:
    assert not issubclass(InputError, RunError)
    assert not issubclass(RunError, InputError | ValueError)


def test_pydantic_adds_the_field_to_an_input_error() -> None:
    class Model(BaseModel):
        k: int

        @field_validator("k")
        @classmethod
        def _even(cls, k: int) -> int:
            raise InputError(f"k is {k}", hint="take an even k")

    with pytest.raises(ValidationError) as caught:
        Model(k=3)
    mistake = caught.value.errors()[0]
    assert mistake["loc"] == ("k",)
    assert mistake["ctx"]["error"].hint == "take an even k"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fat_tre", "did you mean 'fat_tree'?"),
        ("FAT_TREE", "did you mean 'fat_tree'?"),
        ("rail", "did you mean 'rail_x'?"),
        ("zzz", "one of: fat_tree, rail_x"),
        ("", "one of: fat_tree, rail_x"),
    ],
)
def test_nearest(name: str, said: str) -> None:
    assert nearest(name, {"rail_x", "fat_tree"}) == said


def test_nearest_gives_the_known_spelling() -> None:
    assert nearest("gib", ["MB", "GiB"]) == "did you mean 'GiB'?"


def test_nearest_says_no_more_than_people_read() -> None:
    """Names may come from a damaged file."""
    known = [f"l{number:03}" + "9" * 190 for number in range(100)]
    said = nearest("x", known)
    assert said.startswith(f"one of: l000{'9' * 56}..., l001")
    assert said.endswith("... and 85 more")
    assert len(said) < 1100
    assert nearest("q" * 71, ["q" * 70]) == f"did you mean '{'q' * 60}...'?"
    assert nearest("x", ["y" * 2000]) == f"one of: {'y' * 60}..."
    assert nearest("x", []) == "one of: "
