"""One idea, one word, and the word is the field's: private words that were replaced do not come back."""

import ast
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests.test_architecture import FILES, SOURCE

# identifiers anywhere in netsim
GONE = """
air heirs first_heir favours_own complained complaints file_into put_on_wire pick_up put_down take_in put_in tick_off
ask_ahead after_silence unravel Meeting Carried Told Ledger Ground Witness Diary diary wish Wish blame Blame told gates
let_in send_waiting let_go obey hear REPAIR GATE JOURNAL album Album story stories journal journaling journaled witness
stuck uneven mistakes countdown steering repairs ledger outcome parked unpark park acts hears wakes
""".split()
# and in the kernels, where these have a name in the field
GONE_FROM_CORE = """
label content c l m p v places KIND way wake due lot learn judge offer launch signal come reserve patience tries
readings looks look heard pieces alike
""".split()
MODULES = """
blame wish meeting carried stuck diary pace shipped outcome plane pieces alike uneven unravel told finding mistakes
exits countdown figures telling rows sieve passes answers trail origins coupled switches steering candidates departures
repairs reception losses failures ground ledger witness looks readings words notes places air
""".split()
CORE = [path for path in FILES if path.is_relative_to(SOURCE / "core")]


def identifiers(path: Path) -> set[str]:
    with path.open("rb") as source:
        return {token.string for token in tokenize.tokenize(source.readline) if token.type == tokenize.NAME}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_replaced_word_is_an_identifier(path: Path) -> None:
    gone = {*GONE, *(GONE_FROM_CORE if path in CORE else [])}
    assert sorted(identifiers(path) & gone) == []
    assert path.stem not in MODULES


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_texts_use_the_words_of_the_field(path: Path) -> None:
    """In docstrings and messages: retransmitted, dependents, time-out, cycle, at random."""
    strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    texts = " ".join(" ".join(text.split()) for text in strings if isinstance(text, str))
    gone = r"\b(sen(t|ds?) again|by lot|heirs?|the air|in a circle|diary|witness|journal)\b"
    assert re.findall(gone, texts, re.IGNORECASE) == []


def test_a_public_class_has_a_name_of_its_own() -> None:
    names = Counter(
        node.name
        for path in FILES
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []
