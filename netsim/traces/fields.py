"""Taking typed values out of one JSON object of a file; every mistake names file, line, key and mend."""

import json
import re
from collections.abc import Collection, Hashable, Iterable
from typing import Any

from netsim.errors import InputError, nearest
from netsim.traces.limits import MAX_BRACKETS, MAX_BYTES, MAX_DEPTH, MAX_NAME
from netsim.units import parse_size, parse_time

_BRACKETS = re.compile(r"[\[\]{}]")
_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a fraction", bool: "a truth"}


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Read one line as a JSON object whose keys are all different and whose brackets nest no deeper than needed."""
    _check_depth(text, where)
    try:
        value = json.loads(text, object_pairs_hook=_no_key_twice, parse_constant=_no_constant)
    except InputError as error:
        raise InputError(error.what, where=where, hint=error.hint) from None
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", None) or "a number is too long"
        hint = "each line must be one whole JSON object; was the file cut?"
        raise InputError(f"this is not JSON ({reason})", where=where, hint=hint) from None
    if not isinstance(value, dict):
        raise InputError(f"this is {kind(value)}, not an object", where=where, hint='write {"op": ...} on each line')
    return value


def _check_depth(text: str, where: str) -> None:
    depth = 0
    for number, bracket in enumerate(_BRACKETS.finditer(text)):
        depth += 1 if bracket[0] in "[{" else -1
        if depth > MAX_DEPTH:
            hint = "an operation needs three levels at most"
            raise InputError(f"brackets are nested deeper than {MAX_DEPTH}", where=where, hint=hint)
        if number == MAX_BRACKETS:
            hint = "write the flows in several operations"
            raise InputError(f"there are more than {MAX_BRACKETS:,} brackets on the line", where=where, hint=hint)


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = first_twice(key for key, _ in pairs)
        raise InputError(f"the key {shown(twice)} stands here twice", hint="keep one of them")
    return content


def _no_constant(name: str) -> None:
    raise InputError(f"{name} is not a number netsim can use", hint="write a whole number")


def kind(value: object) -> str:
    """Say in words what a JSON value is."""
    return "null" if value is None else _KINDS[type(value)]


def shown(value: object) -> str:
    """Show a JSON value in a message, cut short; lists and objects only by their kind."""
    if isinstance(value, dict | list):
        return kind(value)
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Fields:
    """One JSON object and where it stands; each method takes one key out and checks it."""

    def __init__(self, values: dict[str, Any], where: str) -> None:
        self.values, self.where = values, where

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def wrong(self, what: str, hint: str) -> InputError:
        """Make the error that says what is wrong on this line and how to mend it."""
        return InputError(what, where=self.where, hint=hint)

    def only(self, known: Collection[str], what: str) -> None:
        """Refuse a key that `what` does not have."""
        for key in self.values:
            if key not in known:
                raise self.wrong(f"{what} has no key {shown(key)}", nearest(key[:MAX_NAME], known))

    def take(self, key: str, example: str) -> Any:
        """Take a value that must be there."""
        if key not in self.values:
            raise self.wrong(f'the key "{key}" is missing', f'add "{key}": {example}')
        return self.values[key]

    def whole(self, key: str, example: str, low: int, high: int) -> int:
        """Take a whole number from low to high, both included."""
        return self.check_whole(self.take(key, example), f'"{key}"', example, low, high)

    def check_whole(self, value: object, name: str, example: str, low: int, high: int) -> int:
        """Check that a value is a whole number from low to high, both included."""
        if isinstance(value, bool) or not isinstance(value, int):
            hint = f"write a whole number, like {example}"
            raise self.wrong(f"{name} must be a whole number, not {kind(value)} {shown(value)}", hint)
        if not low <= value <= high:
            raise self.wrong(f"{name} must be between {low:,} and {high:,}, not {shown(value)}", f"like {example}")
        return value

    def size(self, key: str, example: str = "1048576") -> int:
        """Take a number of bytes: a whole number, or a text with a unit such as "64MiB"."""
        return self.check_size(self.take(key, example), f'"{key}"', example)

    def check_size(self, value: object, name: str, example: str) -> int:
        """Check that a value is a number of bytes from nothing to 1 PiB."""
        if isinstance(value, str):
            value = self._with_unit(parse_size, value, name)
        return self.check_whole(value, name, example, 0, MAX_BYTES)

    def time(self, key: str, example: str = '"12us"') -> int:
        """Take a time with its unit as picoseconds."""
        value = self.take(key, example)
        if not isinstance(value, str):
            raise self.wrong(f'"{key}" must be a time with its unit, not {kind(value)}', f"write {example}")
        return self._with_unit(parse_time, value, f'"{key}"')

    def _with_unit(self, parse: Any, value: str, name: str) -> int:
        try:
            return int(parse(value[:MAX_NAME]))
        except InputError as error:
            raise self.wrong(f"{name}: {error.what}", error.hint) from None

    def text(self, key: str, example: str) -> str:
        """Take a short printable text."""
        return self.check_text(self.take(key, example), f'"{key}"', example)

    def check_text(self, value: object, name: str, example: str) -> str:
        """Check that a value is a short text without control characters."""
        if not isinstance(value, str):
            raise self.wrong(f"{name} must be a text, not {kind(value)}", f"write {example}")
        if not 0 < len(value) <= MAX_NAME or not value.isprintable():
            raise self.wrong(f"{name} is empty, too long or not printable", f"write {example}")
        return value

    def items(self, key: str, example: str, most: int) -> list[Any]:
        """Take a list of 1 to `most` things."""
        return self.check_items(self.take(key, example), f'"{key}"', example, most)

    def check_items(self, value: object, name: str, example: str, most: int) -> list[Any]:
        """Check that a value is a list of 1 to `most` things."""
        if not isinstance(value, list):
            raise self.wrong(f"{name} must be a list, not {kind(value)}", f"write {example}")
        if not 0 < len(value) <= most:
            raise self.wrong(f"{name} holds {len(value):,} things, not 1 to {most:,}", f"write {example}")
        return value

    def ranks(self, value: object, name: str, ranks: int) -> tuple[int, ...]:
        """Check a list of ranks that all exist and are all different."""
        listed = self.check_items(value, name, "[0, 1, 2, 3]", MAX_BYTES)
        checked = tuple(self.rank(rank, f"a rank of {name}", ranks) for rank in listed)
        if len(set(checked)) < len(checked):
            raise self.wrong(f"{name} names rank {first_twice(checked)} twice", "name each rank once")
        return checked

    def rank(self, value: object, name: str, ranks: int) -> int:
        """Check that a rank exists."""
        if isinstance(value, int) and not isinstance(value, bool) and not 0 <= value < ranks:
            hint = f"name ranks from 0 to {ranks - 1}, or raise the header's ranks"
            raise self.wrong(f"{name} is {shown(value)}, but the trace has {ranks:,} ranks", hint)
        return self.check_whole(value, name, "0", 0, ranks - 1)


def first_twice(values: Iterable[Hashable]) -> Hashable:
    """Find the first value that has been there before."""
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    raise AssertionError("no value stands there twice")
